#include "datasets/listed_files.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "common/counted.h"
#include "common/error.h"
#include "datasets/file_input.h"
#include "datasets/layout.h"
#include "datasets/look.h"
#include "datasets/tar_file.h"

namespace winnow::datasets {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kLookedAt = 100;   // number of files to try
constexpr std::size_t kMaxFolders = 64;  // number of folders to try

class ListOfFilesSource final : public Source {
 public:
  ListOfFilesSource(std::string_view format, fs::path root, Listing entries,
                    std::vector<std::string> class_names, std::vector<std::size_t> outside,
                    std::string description)
      : format_(format),
        root_(std::move(root)),
        entries_(std::move(entries)),
        class_names_(std::move(class_names)),
        outside_(std::move(outside)),
        description_(std::move(description)) {}

  std::string_view format() const noexcept override { return format_; }
  const Listing& entries() const noexcept override { return entries_; }
  std::span<const std::string> class_names() const noexcept override { return class_names_; }
  std::string description() const override { return description_; }

  Expected<Payload, ReadError> read(std::size_t position) const override {
    if (std::binary_search(outside_.begin(), outside_.end(), position)) {
      return ReadError{ReadError::Kind::kMissing,
                       "leads out of the list's folder; put the list above its files"};
    }
    return read_file_input(root_ / entries_.names()[position]);
  }
  std::optional<fs::path> file_of(std::size_t position) const override {
    if (std::binary_search(outside_.begin(), outside_.end(), position)) return std::nullopt;
    return root_ / entries_.names()[position];
  }

 private:
  std::string_view format_;
  fs::path root_;
  Listing entries_;
  std::vector<std::string> class_names_;
  std::vector<std::size_t> outside_;
  std::string description_;
};

// The path without "." and empty parts, with ".." resolved by name; nullopt if the result is above
// or at its beginning.
std::optional<std::string> resolved(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(part.size() + 1, path.size()));
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (parts.empty()) {
      return std::nullopt;
    } else {
      parts.pop_back();
    }
  }
  if (parts.empty()) return std::nullopt;
  std::string name;
  for (const std::string_view part : parts) {
    if (!name.empty()) name += '/';
    name += part;
  }
  return name;
}

// "; 2 files are named several times, 1 of them in several splits ..."; empty if there are none.
std::string note_of_repeats(const Listing& entries) {
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto& names = entries.names();
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return names[a] < names[b]; });
  std::size_t repeated = 0;
  std::size_t in_splits = 0;
  std::size_t of_labels = 0;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    const std::size_t first = order[begin];
    bool same_split = true;
    bool same_labels = true;
    for (end = begin + 1; end < order.size() && names[order[end]] == names[first]; ++end) {
      same_split = same_split && entries.split(order[end]) == entries.split(first);
      same_labels =
          same_labels && std::ranges::equal(entries.labels(order[end]), entries.labels(first));
    }
    repeated += end > begin + 1 ? 1 : 0;
    in_splits += same_split ? 0 : 1;
    of_labels += same_labels ? 0 : 1;
  }
  if (repeated == 0) return "";
  std::string text = "; " + count_of(repeated, "file is", "files are") + " named several times";
  if (in_splits > 0) text += ", " + std::to_string(in_splits) + " in several splits";
  if (of_labels > 0) text += ", " + std::to_string(of_labels) + " with several labels";
  return text + ": each row counts as an image; keep one row for each file";
}

std::vector<std::string> folders_in(const fs::path& root) {
  std::vector<std::string> folders;
  for_each_in(root, [&](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    if (!is_passed_over(name) && is_folder(entry)) folders.push_back(name + "/");
    return true;
  });
  std::sort(folders.begin(), folders.end());
  if (folders.size() > kMaxFolders) folders.resize(kMaxFolders);
  return folders;
}

}  // namespace

ListedFiles::ListedFiles(fs::path list, const OpenOptions& options)
    : list_(std::move(list)),
      root_(list_.has_parent_path() ? list_.parent_path() : fs::path(".")),
      with_labels_(options.labels != LabelsFrom::kNone) {
  absolute_root_ = fs::absolute(root_).lexically_normal().string();
  if (!absolute_root_.ends_with('/')) absolute_root_ += '/';
}

void ListedFiles::add(ListedFile file) {
  if (place_) {
    push(file);
    return;
  }
  first_.push_back(std::move(file));
  if (first_.size() == kLookedAt) choose_place();
}

std::optional<std::string> ListedFiles::inside(const Place& place, std::string_view path) const {
  if (path.find('\0') != path.npos) return std::nullopt;
  std::string with_slashes;
  if (place.backslashes) {
    with_slashes = path;
    std::ranges::replace(with_slashes, '\\', '/');
    path = with_slashes;
  }
  if (path.starts_with(absolute_root_)) {
    return resolved(std::string(path.substr(absolute_root_.size())) + place.ending);
  }
  if (path.starts_with('/')) return std::nullopt;
  return resolved(place.folder + std::string(path) + place.ending);
}

std::size_t ListedFiles::count_there(const Place& place) const {
  return static_cast<std::size_t>(
      std::count_if(first_.begin(), first_.end(), [&](const ListedFile& file) {
        const auto name = inside(place, file.path);
        return name && file_at(root_ / *name);
      }));
}

void ListedFiles::choose_place() {
  std::vector<std::string> folders = folders_in(root_);
  folders.insert(folders.begin(), "");
  std::size_t best = 0;
  Place chosen;
  const bool has_backslashes = std::ranges::any_of(
      first_, [](const ListedFile& file) { return file.path.find('\\') != std::string::npos; });
  for (const bool backslashes : {false, true}) {
    if (backslashes && !has_backslashes) break;
    for (const char* ending : {"", ".jpg", ".jpeg", ".png"}) {
      for (const std::string& folder : folders) {
        const Place place{folder, ending, backslashes};
        const std::size_t there = count_there(place);
        if (there <= best) continue;
        best = there;
        chosen = place;
      }
      if (best > 0) break;  // try endings only if nothing exists as written
    }
    if (best > 0) break;
  }
  if (best == 0 && !first_.empty()) {
    throw UsageError("none of the first " + count_of(first_.size(), "file", "files") + " of " +
                     list_.string() + " ('" + first_.front().path + "') is below " +
                     root_.string() +
                     "; put the list into the folder that its paths are relative to");
  }
  place_ = chosen;
  for (const ListedFile& file : std::exchange(first_, {})) push(file);
}

void ListedFiles::push(const ListedFile& file) {
  Entry entry;
  entry.split = file.split;
  entry.group = file.group;
  if (const auto name = inside(*place_, file.path)) {
    entry.name = *name;
    const auto bytes = size_at(root_ / *name);
    entry.input_bytes = bytes.value_or(0);
    missing_ += bytes ? 0 : 1;
  } else {
    outside_.push_back(rows_.size());
    entry.name = tar_name(file.path);
    if (entry.name.empty()) entry.name = "(no path)";
  }
  for (const std::string& label : file.labels) {
    const auto number = with_labels_ ? labels_.add_if_any(label) : std::nullopt;
    if (number) entry.labels.push_back(*number);
  }
  labelled_ += entry.labels.empty() ? 0 : 1;
  rows_.push_back(entry);
}

std::unique_ptr<Source> ListedFiles::finish(std::string_view format, const std::string& notes) {
  if (!place_) choose_place();
  if (rows_.empty()) throw UsageError(list_.string() + " names no files");
  ClassLabels::Classes classes = labels_.finish({}, "");
  Listing entries = relabelled(rows_, classes.index_of);
  std::array<bool, kSplitCount> has_split{};
  for (std::size_t i = 0; i < entries.size(); ++i) {
    has_split[static_cast<std::size_t>(entries.split(i))] = true;
  }
  const auto splits =
      static_cast<std::size_t>(std::count(has_split.begin() + 1, has_split.end(), true));
  std::string text = std::string(format) + ": " + count_of(entries.size(), "file", "files");
  if (splits > 0) text += ", " + count_of(splits, "split", "splits");
  text += classes.names.empty() ? ", unlabelled"
                                : ", " + count_of(classes.names.size(), "class", "classes");
  const auto note = [&](std::size_t count, const char* one, const char* many) {
    if (count > 0) text += "; " + count_of(count, one, many);
  };
  if (!place_->folder.empty()) text += "; paths are relative to '" + place_->folder + "'";
  if (place_->backslashes) text += "; '\\' in paths read as '/'";
  if (!place_->ending.empty()) text += "; '" + place_->ending + "' added to each path";
  if (labelled_ > 0)
    note(entries.size() - labelled_, "file without a label", "files without a label");
  note(missing_, "file is missing", "files are missing");
  text += note_of_repeats(entries) + labels_.note();
  note(outside_.size(), "path points outside the folder of the list",
       "paths point outside the folder of the list");
  return std::make_unique<ListOfFilesSource>(format, root_, std::move(entries),
                                             std::move(classes.names), std::move(outside_),
                                             text + notes);
}

}  // namespace winnow::datasets
