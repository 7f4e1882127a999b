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

// Shared code of readers for formats whose files have many images each.
namespace winnow::datasets {

// Base class of data sets whose listing is complete when they are opened. Subclasses only implement
// read().
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

// The name of a numbered input, "folder/00012". At least five digits, and as many as the largest of
// `count` numbers needs.
std::string numbered_name(std::string_view folder, std::uint64_t index, std::uint64_t count = 1);

// Whether a text from a foreign file is a safe relative path: no empty part, "." or "..", no
// control character, at most 1024 bytes.
bool is_safe_name(std::string_view name) noexcept;

// A text for messages: at most 60 bytes, with '?' for control characters.
std::string shown(std::string_view text);

// One file or folder of a data set that has several.
struct Part {
  std::filesystem::path path;
  std::string name;  // file name without its ending; names of its images begin with it
  Split split = Split::kNone;
};

// Finds the files of a data set: `path` itself, or the files in the folder `path` that `fits`
// accepts. Ordered by split (train, val, test), then by name.
// stem    Makes the name of a part from its file name.
// Errors  UsageError if only some names contain a split, or two are equal; SystemError if the
//         folder cannot be listed.
std::vector<Part> find_parts(const std::filesystem::path& path,
                             const std::function<bool(const std::filesystem::path&)>& fits,
                             const std::function<std::string(const std::string&)>& stem);

// The names in a folder, sorted; empty if it cannot be listed.
std::vector<std::string> names_in(const std::filesystem::path& folder);

// Whether a folder has a name that `is_such` accepts. Fast enough for recognising formats in
// folders of millions of files.
bool any_name_in(const std::filesystem::path& folder,
                 const std::function<bool(const std::string&)>& is_such);

// The files of a data set, each with a range of images. Thread-safe when all are added.
class PartFiles {
 public:
  // Adds a file. It has the images from the end of the previous file up to, but without, position
  // `end`.
  void add(InputFile file, std::size_t end);
  // Calls `call` with the file that has the image at `position`. Throws SystemError if it cannot be
  // opened.
  void use(std::size_t position, const std::function<void(const InputFile&)>& call) const;

 private:
  OpenFiles files_;
  std::vector<std::size_t> ends_;  // one for each file
};

// An image and its labels, as its file describes them.
struct Row {
  std::string name;
  Split split = Split::kNone;
  std::vector<std::int64_t> labels = {};  // any numbers of 0 or more, without repeats
  std::string text = {};                  // class name, if there is one label; empty: unknown
  std::uint64_t input_bytes = 0;
};

// Builds the listing of a data set from rows.
// Classes  The labels that occur, in numeric order. Named by Row::text. Named by the number if
//          there is no text, an unsafe one, or several. If labels share a text, the number is
//          appended: "crane (134)".
class RowGatherer {
 public:
  explicit RowGatherer(LabelsFrom labels) : labelled_(labels != LabelsFrom::kNone) {}

  // Adds a row. Throws UsageError for labels that are no set of classes, such as negative ones or a
  // 0/1 vector; `file` and `index` say in the message where.
  void add(Row row, const std::filesystem::path& file, std::uint64_t index);
  std::size_t size() const noexcept { return names_.size(); }
  // Returns the listing and the class names. This object is empty afterwards.
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

// Counts in words, for Source::description(): "4 images (train 3, test 1), 10 classes".
std::string counted(const Listing& entries, std::size_t classes);

}  // namespace winnow::datasets
