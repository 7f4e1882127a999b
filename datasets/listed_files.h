#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/file.h"
#include "datasets/class_labels.h"
#include "datasets/source.h"

namespace winnow::datasets {

// One input as a list of files has it.
struct ListedFile {
  std::string path;                 // as it is written
  std::vector<std::string> labels;  // as they are written
  Split split = Split::kNone;
  std::string group;
};

// Makes a source of the rows of a list, in their order.
//
//   files    Paths are relative to the list's folder, or to one of its folders: to that in which
//            most of the first hundred files are. Where none is there as it is written, .jpg, .jpeg
//            and .png are tried behind it, then '/' for each '\'. Absolute paths below that folder
//            are taken as well. What leads out of it is listed, as unreadable: a list from
//            elsewhere must not choose among all files of this machine. A file that is missing is
//            listed.
//   labels   As class_labels.h says; nothing and -1 are no label.
class ListedFiles {
 public:
  ListedFiles(std::filesystem::path list, const OpenOptions& options);

  void add(ListedFile file);
  // `format` is its row in formats.h; `notes` ends the description. Throws UsageError when none of
  // the first files is there, or nothing was added.
  std::unique_ptr<Source> finish(std::string_view format, const std::string& notes);

 private:
  // Where the files of a list are, below its folder.
  struct Place {
    std::string folder;        // "" or ending in '/'
    std::string ending;        // put behind each path
    bool backslashes = false;  // stand for '/'
  };

  // The path below the list's folder that a written one stands for, if it stays in it.
  std::optional<std::string> inside(const Place& place, std::string_view path) const;
  std::size_t count_there(const Place& place) const;
  void choose_place();
  void push(const ListedFile& file);

  std::filesystem::path list_;
  std::filesystem::path root_;
  std::string absolute_root_;  // ending in '/'
  bool with_labels_;
  std::vector<ListedFile> first_;  // until the place is chosen
  std::optional<Place> place_;
  Listing rows_;
  ClassLabels labels_;
  std::vector<std::size_t> outside_;  // ascending positions of what leads out
  std::size_t labelled_ = 0;
  std::size_t missing_ = 0;
};

}  // namespace winnow::datasets
