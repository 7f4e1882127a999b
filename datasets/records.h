#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/file.h"
#include "datasets/open_files.h"
#include "datasets/source.h"

// Shared code of readers for files with many images each.
namespace winnow::datasets {

// A source whose listing is complete when opened; subclasses only implement read().
class ListedSource : public Source {
 public:
  std::string_view format() const noexcept final { return format_; }
  const Listing& entries() const noexcept final { return entries_; }
  std::span<const std::string> class_names() const noexcept final { return class_names_; }
  std::string description() const final { return description_; }

 protected:
  explicit ListedSource(std::string_view format) : format_(format) {}

  Listing entries_;
  std::vector<std::string> class_names_;
  std::string description_;

 private:
  std::string_view format_;
};

// The name of a numbered entry, "folder/00012": at least five digits, and as many as the last of
// `count` needs.
std::string numbered_name(std::string_view folder, std::uint64_t index, std::uint64_t count = 1);

// Whether a foreign text is a safe relative name: no empty part, "." or "..", no control character,
// at most 1024 bytes.
bool is_safe_name(std::string_view name) noexcept;

// `text` for messages: at most 60 bytes, with '?' for control characters.
std::string shown(std::string_view text);

// One file or folder of a set.
struct Part {
  std::filesystem::path path;
  std::string name;  // without the ending; prefix of its entries' names
  Split split = Split::kNone;
};

// The parts of a set: `path` itself, or the files in the folder `path` that `fits` accepts. Ordered
// by split (train, val, test), then by name.
// stem    Makes a part's name from a file name.
// Errors  UsageError if only some names contain a split, or two are equal; SystemError if the
//         folder cannot be listed.
std::vector<Part> find_parts(const std::filesystem::path& path,
                             const std::function<bool(const std::filesystem::path&)>& fits,
                             const std::function<std::string(const std::string&)>& stem);

// Names in a folder, sorted; empty if it cannot be listed.
std::vector<std::string> names_in(const std::filesystem::path& folder);

// Whether a folder has a name that `is_such` accepts. Fast enough for found_at() in folders of
// millions.
bool any_name_in(const std::filesystem::path& folder,
                 const std::function<bool(const std::string&)>& is_such);

// The files of a set, each with a range of entries. Thread-safe once all are added.
class PartFiles {
 public:
  // Adds the file of all entries before `end` that belong to no earlier file.
  void add(InputFile file, std::size_t end);
  // Calls `call` with the file of the entry at `position`. SystemError.
  void use(std::size_t position, const std::function<void(const InputFile&)>& call) const;

 private:
  OpenFiles files_;
  std::vector<std::size_t> ends_;  // one for each file
};

// An input as described in its file.
struct Row {
  std::string name;
  Split split = Split::kNone;
  std::vector<std::int64_t> labels = {};  // any numbers from 0 on, without repeats
  std::string text = {};                  // class name of its only label; "": unknown
  std::uint64_t input_bytes = 0;
};

// Builds a listing from rows.
// Classes  The labels that occur, in numeric order. Named by their text; by their number if there
//          is no text, an unsafe one, or several. If labels share a text, the number is appended:
//          "crane (134)".
class RowGatherer {
 public:
  explicit RowGatherer(LabelsFrom labels) : labelled_(labels != LabelsFrom::kNone) {}

  // `file` and `index` are for messages. UsageError for labels that are no set of classes, such as
  // negative ones or a 0/1 vector.
  void add(Row row, const std::filesystem::path& file, std::uint64_t index);
  std::size_t size() const noexcept { return names_.size(); }
  // Returns the listing and the class names. Leaves this object empty.
  std::pair<Listing, std::vector<std::string>> finish();

 private:
  struct Class {
    std::string text;
    bool several = false;
    std::int32_t index = 0;
  };
  void add_class(std::int64_t label, const std::string& text);
  std::vector<std::string> name_classes();

  bool labelled_;
  std::map<std::int64_t, Class> classes_;
  NameColumn names_;
  std::vector<Split> splits_;
  std::vector<std::int64_t> labels_;
  std::vector<std::size_t> label_ends_;
  std::vector<std::uint64_t> input_bytes_;
};

// "4 images (train 3, test 1), 10 classes", for description().
std::string counted(const Listing& entries, std::size_t classes);

}  // namespace winnow::datasets
