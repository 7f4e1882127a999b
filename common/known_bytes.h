#pragma once

#include <string_view>

#include "common/bytes.h"

namespace winnow {

// What bytes are that stand where an image or a list was meant.
struct KnownBytes {
  std::string_view what;    // "a Git LFS pointer"
  std::string_view advice;  // what to do, to go on a sentence
  bool is_packed = false;   // archives and compressed files, which some formats are
};

// By the first bytes of a file, a hundred or so; null for what is none of these: pointers of Git
// LFS, web pages, SVGs, PDFs, zips and what is compressed. Pure.
const KnownBytes* known_bytes(BytesView first) noexcept;

// Whether a file is probably an image by its first bytes, twelve or more: JPEG, PNG, GIF, BMP, WebP
// or TIFF. For names that do not say. Pure.
bool begins_as_image(BytesView first) noexcept;

}  // namespace winnow
