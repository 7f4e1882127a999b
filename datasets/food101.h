#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// True for a folder with images/, meta/classes.txt and meta/train.txt or
// meta/test.txt.
bool food101_found_at(const std::filesystem::path &path);

// Food-101's layout (Bossard, Guillaumin, Van Gool, "Food-101 - Mining
// Discriminative Components with Random Forests", 2014): images/CLASS/ID.jpg,
// and lists of CLASS/ID, one a line, that say which are of the split train and
// which of test. Listed as these have them, train first; what is in neither is
// left out. Files and labels: listed_files.h; classes are sorted by name.
// Throws UsageError naming the line: one that is no CLASS/ID, a class that
// classes.txt has not; no image is there.
std::unique_ptr<Source> open_food101(const std::filesystem::path &path, const OpenOptions &options);

}  // namespace winnow::datasets
