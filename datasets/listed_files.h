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

// A row of a list of images: path, labels, split and group of an image.
struct ListedFile {
  std::string path;                 // as written
  std::vector<std::string> labels;  // as written
  Split split = Split::kNone;
  std::string group;
};

// Makes a data set from the rows of a list of images, in their order.
//
// files    Paths are relative to the list's folder or to one of its subfolders, whichever holds
//          most of the first hundred files. If none exists as written, tries to append .jpg, .jpeg
//          or .png, then to replace '\' by '/'. Absolute paths inside the list's folder are
//          accepted.
// outside  A path that leads out of the list's folder is listed as unreadable: a foreign list must
//          not select any file of this machine.
// missing  A file that does not exist is listed as an input, too.
// labels   As in class_labels.h; empty and -1 mean no label.
class ListedFiles {
 public:
  ListedFiles(std::filesystem::path list, const OpenOptions& options);

  void add(ListedFile file);
  // Returns the data set, when all rows were added.
  // format  Name of the list's format in formats.h.
  // notes   Appended to the data set's description.
  // Errors  UsageError if none of the first files exists, or nothing was added.
  std::unique_ptr<Source> finish(std::string_view format, const std::string& notes);

 private:
  // How paths in the list are turned into paths below the list's folder.
  struct Place {
    std::string folder;        // "" or with a trailing '/'
    std::string ending;        // appended to each path
    bool backslashes = false;  // replaced by '/'
  };

  // Turns a path as the list has it into a path below the list's folder; nullopt if it leads out of
  // the folder.
  std::optional<std::string> inside(const Place& place, std::string_view path) const;
  std::size_t count_there(const Place& place) const;
  void choose_place();
  void push(const ListedFile& file);

  std::filesystem::path list_;
  std::filesystem::path root_;
  std::string absolute_root_;  // with a trailing '/'
  bool with_labels_;
  std::vector<ListedFile> first_;  // rows that wait until place_ is known
  std::optional<Place> place_;
  Listing rows_;
  ClassLabels labels_;
  // Positions of rows whose paths lead out of the folder, ascending.
  std::vector<std::size_t> outside_;
  std::size_t labelled_ = 0;
  std::size_t missing_ = 0;
};

}  // namespace winnow::datasets
