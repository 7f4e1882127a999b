#pragma once

#include <string_view>

#include "common/bytes.h"

namespace winnow {

// A type of file that is neither an image nor a list, recognised by its first bytes.
struct KnownBytes {
  std::string_view what;    // "a Git LFS pointer"
  std::string_view advice;  // advice for the user, as the end of a sentence
  bool is_packed = false;   // archives and compressed files, which some data sets consist of
};

// The type of a file by its first hundred bytes or so: Git LFS pointers, web pages, SVGs, PDFs,
// zips and compressed files. nullptr for any other. Pure.
const KnownBytes* known_bytes(BytesView first) noexcept;

// Whether a file is probably an image (JPEG, PNG, GIF, BMP, WebP or TIFF), by its first twelve or
// more bytes. For files whose names do not say so. Pure.
bool begins_as_image(BytesView first) noexcept;

}  // namespace winnow
