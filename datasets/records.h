#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

// The split that a word of a file's name says: "train-00003-of-01024", "cifar10_test"; also t10k.
// kNone where none does, or several that differ.
Split split_in_name(std::string_view name) noexcept;

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

// Names of regular files (true) or of anything in a folder; nothing where it cannot be listed.
std::vector<std::string> names_in(const std::filesystem::path& folder);

// Labels as files have them, any numbers from 0 on, to indices of classes: those that occur, in
// numeric order, named by their number or, where there is one for each, by their text.
class ClassNumbers {
 public:
  // A label that has several texts, or an unfit one, is named by its number.
  void add(std::int64_t label, std::string_view text = {});
  // Afterwards. A text that several labels have gets the number behind it, "crane (134)".
  std::vector<std::string> finish();
  std::int32_t index(std::int64_t label) const { return indices_.at(label); }

 private:
  struct Text {
    std::string text;
    bool several = false;
  };
  std::map<std::int64_t, Text> texts_;
  std::map<std::int64_t, std::int32_t> indices_;
};

// Labels of one image that are no set of classes, such as a vector of zeros and ones.
bool repeats(std::vector<std::int64_t> labels);
[[noreturn]] void refuse_labels(const std::filesystem::path& file, std::uint64_t index);

// "4 images (train 3, test 1), 10 classes", for description().
std::string counted(const Listing& entries, std::size_t classes);

}  // namespace winnow::datasets
