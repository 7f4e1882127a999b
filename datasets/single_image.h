#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// True for a file that an image folder would list: one whose name ends as an image's, or that
// begins as an image where its name has no ending.
bool single_image_found_at(const std::filesystem::path& path);

// One image file as a data set of one, without label or split; its name is the file's. It is listed
// whatever it holds, as in an image folder.
// Throws UsageError where there is no file at `path`.
std::unique_ptr<Source> open_single_image(const std::filesystem::path& path,
                                          const OpenOptions& options);

}  // namespace winnow::datasets
