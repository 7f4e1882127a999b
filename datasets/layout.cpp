#include "datasets/layout.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <map>
#include <set>

#include "common/counted.h"
#include "common/error.h"
#include "datasets/skips.h"

namespace winnow::datasets {
namespace {

// Formats that are read, and image formats that are not, which must not be lost silently.
constexpr std::array<std::string_view, 28> kEndings{
    ".jpg", ".jpeg", ".jpe", ".jfif", ".png",  ".apng", ".ppm",  ".pgm",  ".pbm", ".pnm",
    ".bmp", ".dib",  ".tif", ".tiff", ".webp", ".gif",  ".heic", ".heif", ".hif", ".avif",
    ".jxl", ".jp2",  ".j2k", ".j2c",  ".jpx",  ".psd",  ".psb",  ".exr"};

template <class Range>
bool contains(const Range& range, std::string_view value) {
  return std::find(range.begin(), range.end(), value) != range.end();
}

std::string_view first_part(std::string_view name) { return name.substr(0, name.find('/')); }

std::string_view without_first_part(std::string_view name) {
  const std::size_t slash = name.find('/');
  return slash == std::string_view::npos ? std::string_view() : name.substr(slash + 1);
}

int depth_of(std::string_view name) {
  return 1 + static_cast<int>(std::count(name.begin(), name.end(), '/'));
}

std::optional<Split> split_of_folder(std::string_view name) {
  const auto split = parse_split(name);
  return split == Split::kNone ? std::nullopt : split;
}

using NameSet = std::set<std::string, std::less<>>;

void insert(NameSet& names, std::string_view name) {
  if (!names.contains(name)) names.emplace(name);
}

// At most three names, then the number of the others.
template <class Names>
std::string some_of(const Names& names) {
  std::string text;
  std::size_t shown = 0;
  for (const auto& name : names) {
    if (shown == 3) return text + " and " + std::to_string(names.size() - shown) + " more";
    text += (shown++ == 0 ? "'" : ", '") + std::string(name) + "'";
  }
  return text;
}

// Up to this many images beside split folders count as previews and are left out; more are a part
// of the set that must not be lost silently.
constexpr std::size_t kMaxStrayImages = 10;
constexpr std::size_t kNamedStrays = 3;

class LayoutMaker {
 public:
  LayoutMaker(const Place& place, const NamedFiles& tree, const OpenOptions& options)
      : root_(place.path), kind_(place.kind), tree_(tree), options_(options) {}

  Layout make() {
    if (tree_.files.empty()) {
      throw UsageError(root_ +
                       " holds no images (files ending in .jpg, .jpeg, .png, .ppm, .bmp, "
                       ".pgm, .tif, .tiff or .webp); name the folder that does");
    }
    find_splits();
    find_classes();
    judge_empty_classes();
    Layout layout{make_entries(), classes_, describe(), {}, {}};
    if (!leaves_root_out_) return layout;
    layout.left_out = files_at_root();
    layout.skipped = {{"beside the " + beside(), at_root_}};
    return layout;
  }

 private:
  std::string_view below_wrapper(std::string_view name) const {
    return name.substr(tree_.wrapper.size());
  }

  void find_splits() {
    NameSet split_folders;
    NameSet others;       // folders with images beside them
    NameSet with_images;  // split folders with images directly in them
    for (const std::string& name : tree_.files) {
      const std::string_view file = below_wrapper(name);
      const std::string_view top = first_part(file);
      const int depth = depth_of(file);
      if (depth > 2 && deep_.empty()) deep_ = file;
      if (depth == 1) {
        if (++at_root_ <= kNamedStrays) strays_.emplace_back(file);
      } else if (!split_of_folder(top)) {
        insert(others, top);
      } else {
        insert(split_folders, top);
        if (depth == 2) insert(with_images, top);
      }
    }
    folders_ = others.size();
    if (split_folders.empty()) return;
    if (others.empty() && at_root_ <= kMaxStrayImages) {
      splits_ = true;
      leaves_root_out_ = at_root_ > 0;
      return;
    }
    const bool may_be_classes = with_images.size() == split_folders.size() && at_root_ == 0;
    const bool as_classes = options_.labels == LabelsFrom::kFolder && may_be_classes;
    if (options_.labels == LabelsFrom::kNone || as_classes) {
      note_ += "; " + some_of(split_folders) + " not taken as " +
               (split_folders.size() == 1 ? "a split" : "splits");
      return;
    }
    const bool one = split_folders.size() == 1;
    throw UsageError(
        root_ + " has the split " + (one ? "folder " : "folders ") + some_of(split_folders) +
        " and next to " + (one ? "it " : "them ") +
        (others.empty() ? count_of(at_root_, "image", "images") : "images in " + some_of(others)) +
        "; move the other images away, name the folder of one split, or read the whole tree as one "
        "unlabelled set (--labels none)" +
        (may_be_classes ? ", or read all folders as classes (--labels folder)" : ""));
  }

  void find_classes() {
    if (options_.labels == LabelsFrom::kNone) return;
    if (splits_) {
      find_split_classes();
    } else if (options_.labels == LabelsFrom::kFolder) {
      if (at_root_ > 0) {
        throw UsageError(count_of(at_root_, "image is", "images are") + " directly in " + root_ +
                         ", not in a class folder (" + some_of_strays() + "); move " +
                         (at_root_ == 1 ? "it" : "them") +
                         " into one, or read the set as unlabelled (--labels none)");
      }
      labelled_ = {Split::kNone};
    } else if (are_class_folders()) {
      labelled_ = {Split::kNone};
      leaves_root_out_ = at_root_ > 0;
    } else if (folders_ > 0) {
      note_ += why_unlabelled();
    }
    std::set<std::string_view> names;
    for (const std::string& name : tree_.folders) {
      const std::string_view folder = below_wrapper(name);
      if (is_class_folder(folder)) names.insert(class_of(folder));
    }
    classes_.assign(names.begin(), names.end());
  }

  // Without splits: a few images beside several folders count as previews. With more images than
  // folders, it is a heap of images, some of which are in folders.
  bool are_class_folders() const {
    if (folders_ == 0 || !deep_.empty()) return false;
    return at_root_ == 0 || (folders_ > 1 && at_root_ <= std::min(folders_, kMaxStrayImages));
  }

  std::string why_unlabelled() const {
    if (!deep_.empty()) {
      return ", because '" + deep_ +
             "' is deeper than CLASS/FILE; use the first folder as the class with --labels folder";
    }
    return ", because " + count_of(at_root_, "image is", "images are") +
           " beside the folders: " + some_of_strays();
  }

  std::string some_of_strays() const {
    const std::size_t more = at_root_ - strays_.size();
    return some_of(strays_) + (more > 0 ? " and " + std::to_string(more) + " more" : "");
  }

  std::string beside() const { return splits_ ? "splits" : "class folders"; }

  void find_split_classes() {
    std::map<Split, NameSet> found;
    for (const std::string& name : tree_.files) {
      const std::string_view file = below_wrapper(name);
      if (depth_of(file) < 3) continue;
      insert(found[*split_of_folder(first_part(file))], class_of(file));
    }
    if (found.empty() && options_.labels == LabelsFrom::kFolder) {
      throw UsageError(root_ +
                       " has splits but no class folders in them; make one folder per class, " +
                       "or read the set as unlabelled (--labels none)");
    }
    const NameSet& of_train = found[Split::kTrain];
    for (const auto& [split, names] : found) {
      if (names.empty()) continue;
      const bool shares =
          of_train.empty() || std::any_of(names.begin(), names.end(), [&](std::string_view name) {
            return of_train.contains(name);
          });
      if (shares || options_.labels == LabelsFrom::kFolder) {
        labelled_.insert(split);
      } else {
        note_ += "; " + std::string(split_name(split)) +
                 " taken as unlabelled, because its folder " + some_of(names) +
                 (names.size() == 1 ? " is no class" : " are no classes") + " of train";
      }
    }
  }

  Split split_of(std::string_view name) const {
    return splits_ ? split_of_folder(first_part(name)).value_or(Split::kNone) : Split::kNone;
  }

  // The name of the class folder in the name of a file below it, or of the folder itself.
  std::string_view class_of(std::string_view name) const {
    return first_part(splits_ ? without_first_part(name) : name);
  }

  // The part of a file's name that is_class_folder() judges.
  std::string_view class_folder_of(std::string_view file) const {
    const std::size_t top = splits_ ? first_part(file).size() + 1 : 0;
    return file.substr(0, top + class_of(file).size());
  }

  bool is_class_folder(std::string_view folder) const {
    if (depth_of(folder) != (splits_ ? 2 : 1)) return false;
    if (splits_ && !split_of_folder(first_part(folder))) return false;
    return labelled_.contains(split_of(folder));
  }

  // A class without images, perhaps because a copy was interrupted, must not go unnoticed.
  void judge_empty_classes() {
    NameSet empty;
    for (const std::string& name : tree_.folders) {
      const std::string_view folder = below_wrapper(name);
      if (is_class_folder(folder)) empty.emplace(folder);
    }
    for (const std::string& name : tree_.files) {
      const auto folder = empty.find(class_folder_of(below_wrapper(name)));
      if (folder != empty.end()) empty.erase(folder);
    }
    if (empty.empty()) return;
    const std::string what = count_of(empty.size(), "class folder", "class folders") +
                             " without images: " + some_of(empty);
    if (!options_.allow_empty_classes) {
      throw UsageError(
          root_ + " has " + what +
          "; remove folders that are not classes, or keep them as classes with --allow-empty");
    }
    note_ += "; " + what;
  }

  Listing make_entries() const {
    Listing entries;
    entries.reserve(tree_.files.size());
    auto bytes = tree_.bytes.begin();
    for (const std::string& name : tree_.files) {
      const std::string_view file = below_wrapper(name);
      Entry entry;
      entry.name = name;
      entry.split = split_of(file);
      entry.input_bytes = *bytes++;
      if (leaves_root_out_ && depth_of(file) == 1) continue;
      if (labelled_.contains(entry.split) && depth_of(file) >= (splits_ ? 3 : 2)) {
        const auto at = std::lower_bound(classes_.begin(), classes_.end(), class_of(file));
        entry.labels = {static_cast<std::int32_t>(at - classes_.begin())};
      }
      entries.push_back(entry);
    }
    return entries;
  }

  std::vector<std::size_t> files_at_root() const {
    std::vector<std::size_t> found;
    std::size_t at = 0;
    for (const std::string& name : tree_.files) {
      if (depth_of(below_wrapper(name)) == 1) found.push_back(at);
      ++at;
    }
    return found;
  }

  std::string describe() const {
    std::set<Split> splits;
    for (const std::string& name : tree_.files) splits.insert(split_of(below_wrapper(name)));
    splits.erase(Split::kNone);
    std::string text = kind_ + ": ";
    if (splits_) text += count_of(splits.size(), "split", "splits") + ", ";
    text += labelled_.empty() ? "unlabelled" : count_of(classes_.size(), "class", "classes");
    if (leaves_root_out_) {
      text += "; " + count_of(at_root_, "image", "images") + " beside the " + beside() +
              " left out: " + some_of_strays();
    }
    return text + note_;
  }

  const std::string root_;
  const std::string kind_;
  const NamedFiles& tree_;
  const OpenOptions& options_;
  bool splits_ = false;
  bool leaves_root_out_ = false;
  std::size_t at_root_ = 0;          // images directly at the root
  std::vector<std::string> strays_;  // the first few of them
  std::size_t folders_ = 0;          // folders with images that are no splits
  std::string deep_;                 // the first image in a nested folder; "": none
  // Splits with classes; kNone stands for all images if there are no splits.
  std::set<Split> labelled_;
  std::vector<std::string> classes_;  // sorted
  std::string note_;
};

}  // namespace

bool is_image_name(std::string_view name) {
  name = name.substr(0, name.find_last_not_of(' ') + 1);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  std::string ending(name.substr(dot));
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return contains(kEndings, ending);
}

bool has_no_ending(std::string_view name) noexcept {
  return name.substr(name.rfind('/') + 1).find('.') == std::string_view::npos;
}

bool is_passed_over(std::string_view name) { return name.starts_with('.') || is_of_system(name); }

std::optional<Split> split_in_stem(std::string_view name) {
  constexpr std::string_view kBetween = "-_. ";
  while (!name.empty()) {
    const std::size_t end = std::min(name.find_first_of(kBetween), name.size());
    if (const auto split = split_of_folder(name.substr(0, end))) return split;
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return std::nullopt;
}

Layout lay_out(const Place& place, const NamedFiles& files, const OpenOptions& options) {
  return LayoutMaker(place, files, options).make();
}

}  // namespace winnow::datasets
