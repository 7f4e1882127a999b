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

// What the readers of files that hold many images each have in common.
namespace winnow::datasets {

// A source whose listing was made when it was opened; read() is all that is left to do.
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

// A name as an entry's, "folder/00012"; at least five digits, as many as the last of `count` has.
std::string numbered_name(std::string_view folder, std::uint64_t index, std::uint64_t count = 1);

// What comes from elsewhere and may be a relative name: no empty part, "." or "..", no control
// character, at most 1024 bytes.
bool is_safe_name(std::string_view name) noexcept;

// `text` for messages: at most 60 bytes, control characters as '?'.
std::string shown(std::string_view text);

// One file (or folder) of a set.
struct Part {
  std::filesystem::path path;
  std::string name;  // without the ending; what its entries' names begin with
  Split split = Split::kNone;
};

// `path` itself, or those in the folder `path` that `fits` takes, in the order of train, val, test
// and within each by name. `stem` makes a Part's name of a file's. Throws UsageError where only
// some say their split or two have one name, SystemError where the folder cannot be listed.
std::vector<Part> find_parts(const std::filesystem::path& path,
                             const std::function<bool(const std::filesystem::path&)>& fits,
                             const std::function<std::string(const std::string&)>& stem);

// Names in a folder, sorted; nothing where it cannot be listed.
std::vector<std::string> names_in(const std::filesystem::path& folder);

// Whether one of them is such. For found_at: folders of millions are not unusual.
bool any_name_in(const std::filesystem::path& folder,
                 const std::function<bool(const std::string&)>& is_such);

// The files of a set, each with a run of entries. Once all are added, safe from many threads.
class PartFiles {
 public:
  // Entries up to `end` that are of none before are of this one.
  void add(InputFile file, std::size_t end);
  // Calls with the file that holds the entry at `position`. SystemError.
  void use(std::size_t position, const std::function<void(const InputFile&)>& call) const;

 private:
  OpenFiles files_;
  std::vector<std::size_t> ends_;  // by file
};

// An input as its file describes it.
struct Row {
  std::string name;
  Split split = Split::kNone;
  std::vector<std::int64_t> labels = {};  // any numbers from 0 on, each once
  std::string text = {};  // what the class of the one label is called, "" = nobody says
  std::uint64_t input_bytes = 0;
};

// Makes a listing of rows. Classes are the labels that occur, in numeric order, named by their
// text, or by their number where there is none, an unfit one or several. A text that several labels
// have gets the number behind it, "crane (134)".
class RowGatherer {
 public:
  explicit RowGatherer(LabelsFrom labels) : labelled_(labels != LabelsFrom::kNone) {}

  // `file` and `index` for messages: UsageError for labels that are no set of classes, such as
  // negative ones or a vector of zeros and ones.
  void add(Row row, const std::filesystem::path& file, std::uint64_t index);
  std::size_t size() const noexcept { return names_.size(); }
  // Leaves nothing behind. The second are the names of the classes.
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
