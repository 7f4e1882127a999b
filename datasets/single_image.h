#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// Whether `path` is a file that an image folder would list: by the ending of its name or, if there
// is none, by its first bytes.
bool single_image_found_at(const std::filesystem::path& path);

// Reads one image file as a data set of one input, without label or split, named like the file. It
// is listed whatever its content, as in an image folder.
// Errors  UsageError if there is no file at `path`.
std::unique_ptr<Source> open_single_image(const std::filesystem::path& path,
                                          const OpenOptions& options);

}  // namespace winnow::datasets
