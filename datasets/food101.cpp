#include "datasets/food101.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "common/error.h"
#include "common/file.h"
#include "common/list_text.h"
#include "datasets/class_labels.h"
#include "datasets/listed_files.h"
#include "datasets/look.h"

namespace winnow::datasets {
namespace fs = std::filesystem;
namespace {

// Calls `take` with each non-empty line, trimmed, and its number.
void for_each_line(const fs::path &path,
                   const std::function<void(std::string_view, std::size_t)> &take) {
  std::size_t number = 0;
  for (const std::string &line : read_list_lines(path)) {
    ++number;
    if (!trimmed(line).empty()) take(trimmed(line), number);
  }
}

std::set<std::string, std::less<>> read_classes(const fs::path &path) {
  std::set<std::string, std::less<>> classes;
  for_each_line(path, [&](std::string_view line, std::size_t) { classes.emplace(line); });
  return classes;
}

}  // namespace

bool food101_found_at(const fs::path &path) {
  const fs::path meta = path / "meta";
  return folder_at(path / "images") && file_at(meta / "classes.txt") &&
         (file_at(meta / "train.txt") || file_at(meta / "test.txt"));
}

std::unique_ptr<Source> open_food101(const fs::path &path, const OpenOptions &options) {
  if (!food101_found_at(path)) {
    throw UsageError(path.string() +
                     " is not a folder of Food-101: it must contain images, meta/classes.txt, and "
                     "meta/train.txt or meta/test.txt");
  }
  const fs::path meta = path / "meta";
  const auto classes = read_classes(meta / "classes.txt");
  ListedFiles files(meta, options);
  for (const Split split : {Split::kTrain, Split::kTest}) {
    const fs::path list = meta / (std::string(split_name(split)) + ".txt");
    if (!file_at(list)) continue;
    for_each_line(list, [&](std::string_view line, std::size_t number) {
      const auto fail = [&](const std::string &problem) {
        throw UsageError(list.string() + ": line " + std::to_string(number) + " " + problem +
                         "; correct it, or get the file again");
      };
      const std::string name(line.substr(0, line.find('/')));
      if (name.empty() || name.size() + 1 >= line.size()) fail("is not of the form CLASS/ID");
      if (!classes.contains(name)) fail("is of class '" + name + "', which is not in classes.txt");
      files.add({.path = "images/" + std::string(line) + ".jpg",
                 .labels = {name},
                 .split = split,
                 .group = {}});
    });
  }
  return files.finish("food101", "");
}

}  // namespace winnow::datasets
