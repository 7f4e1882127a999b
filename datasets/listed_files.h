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

// One input as given in a list of files.
struct ListedFile {
  std::string path;                 // as written
  std::vector<std::string> labels;  // as written
  Split split = Split::kNone;
  std::string group;
};

// Makes a source from the rows of a list, in their order.
//
// files    Paths are relative to the list's folder or to one of its subfolders, whichever holds
//          most of the first hundred files. If none exists as written, tries to append .jpg, .jpeg
//          or .png, then to replace '\' by '/'. Absolute paths below that folder are accepted.
// outside  A path that leads out of the folder is listed as unreadable: a foreign list must not
//          select any file of this machine.
// missing  A missing file is listed.
// labels   As in class_labels.h; empty and -1 mean no label.
class ListedFiles {
 public:
  ListedFiles(std::filesystem::path list, const OpenOptions& options);

  void add(ListedFile file);
  // Finishes the source.
  // format  Its row in formats.h.
  // notes   End of the description.
  // Errors  UsageError if none of the first files exists, or nothing was added.
  std::unique_ptr<Source> finish(std::string_view format, const std::string& notes);

 private:
  // The location of a list's files below its folder.
  struct Place {
    std::string folder;        // "" or with a trailing '/'
    std::string ending;        // appended to each path
    bool backslashes = false;  // replaced by '/'
  };

  // The path of a file below the list's folder, from its path as the list has it; nullopt if that
  // leads out of the folder.
  std::optional<std::string> inside(const Place& place, std::string_view path) const;
  std::size_t count_there(const Place& place) const;
  void choose_place();
  void push(const ListedFile& file);

  std::filesystem::path list_;
  std::filesystem::path root_;
  std::string absolute_root_;  // with a trailing '/'
  bool with_labels_;
  std::vector<ListedFile> first_;  // kept until the location is known
  std::optional<Place> place_;
  Listing rows_;
  ClassLabels labels_;
  std::vector<std::size_t> outside_;  // ascending positions of paths that lead out
  std::size_t labelled_ = 0;
  std::size_t missing_ = 0;
};

}  // namespace winnow::datasets
