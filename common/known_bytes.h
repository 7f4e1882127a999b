#pragma once

#include <string_view>

#include "common/bytes.h"

namespace winnow {

// The type of a file that is neither an image nor a list.
struct KnownBytes {
  std::string_view what;    // "a Git LFS pointer"
  std::string_view advice;  // advice, to continue a sentence
  bool is_packed = false;   // archives and compressed files; some data set formats are
};

// Recognises the first hundred bytes or so of a file: Git LFS pointers, web pages, SVGs, PDFs, zips
// and compressed files. Null for others. Pure.
const KnownBytes* known_bytes(BytesView first) noexcept;

// Whether a file is probably an image (JPEG, PNG, GIF, BMP, WebP or TIFF) by its first twelve or
// more bytes. For names that do not tell. Pure.
bool begins_as_image(BytesView first) noexcept;

}  // namespace winnow
