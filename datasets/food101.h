#pragma once

#include <filesystem>
#include <memory>

#include "datasets/source.h"

namespace winnow::datasets {

// Whether `path` has the layout of Food-101: a folder with images/, meta/classes.txt, and
// meta/train.txt or meta/test.txt.
bool food101_found_at(const std::filesystem::path &path);

// Reads the layout of Food-101: images/CLASS/ID.jpg, and lists of CLASS/ID, one a line, for train
// and test.
//
// Order    As in the lists, train first. Images in neither list are left out.
// Labels   As listed_files.h; classes are sorted by name.
// Errors   UsageError naming the line: not CLASS/ID, or a class that classes.txt lacks. UsageError
//          if no image exists.
// Source   Bossard, Guillaumin, Van Gool, "Food-101 - Mining Discriminative Components with Random
//          Forests", 2014.
std::unique_ptr<Source> open_food101(const std::filesystem::path &path, const OpenOptions &options);

}  // namespace winnow::datasets
