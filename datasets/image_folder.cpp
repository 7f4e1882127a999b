#include "datasets/image_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "common/error.h"
#include "common/file.h"

namespace winnow::datasets {
namespace fs = std::filesystem;
namespace {

constexpr std::array<std::string_view, 9> kEndings{".jpg", ".jpeg", ".png",  ".ppm", ".bmp",
                                                   ".pgm", ".tif",  ".tiff", ".webp"};

// Folders of Synology, QNAP, NetApp, Windows and macOS that hold no data of the user's.
constexpr std::array<std::string_view, 9> kSystemFolders{
    "@eaDir",    "#recycle",     "#snapshot",  "@Recycle", "@Recently-Snapshot",
    "~snapshot", "$RECYCLE.BIN", "lost+found", "__MACOSX"};

template <class Range>
bool contains(const Range& range, std::string_view value) {
  return std::find(range.begin(), range.end(), value) != range.end();
}

bool is_image_name(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  std::string ending(name.substr(dot));
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return contains(kEndings, ending);
}

// Everything below the root that counts: images, and folders down to the deepest class level.
struct Tree {
  NameColumn files;                  // sorted; relative, '/' between parts
  std::vector<std::uint64_t> bytes;  // of each file
  std::vector<std::string> folders;  // sorted; of depth 1 and 2
};

// What a folder lists, sorted. The name of a folder ends in '/': so whole paths come out sorted
// when each folder's names are gone through in order.
class SortedNames {
 public:
  void add(const std::string& name) {
    begins_.push_back(text_.size());
    text_.append(name.c_str(), name.size() + 1);
  }
  void sort() {
    std::sort(begins_.begin(), begins_.end(), [this](std::size_t a, std::size_t b) {
      return std::strcmp(&text_[a], &text_[b]) < 0;
    });
  }
  std::size_t size() const noexcept { return begins_.size(); }
  std::string_view operator[](std::size_t i) const noexcept { return &text_[begins_[i]]; }

 private:
  std::string text_;  // each name followed by a zero, which none can contain
  std::vector<std::size_t> begins_;
};

class Walker {
 public:
  explicit Walker(fs::path root) : root_(std::move(root)) {}

  Tree walk() {
    visit("", 0);
    std::sort(tree_.folders.begin(), tree_.folders.end());
    return std::move(tree_);
  }

 private:
  using FolderKey = std::pair<dev_t, ino_t>;

  void visit(const std::string& folder, int depth) {
    const fs::path path = folder.empty() ? root_ : root_ / folder;
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) throw_errno("cannot look at " + path.string());
    const FolderKey key{info.st_dev, info.st_ino};
    if (std::find(above_.begin(), above_.end(), key) != above_.end()) return;  // a link back up
    if (depth == 1 || depth == 2) tree_.folders.push_back(folder);
    above_.push_back(key);
    const SortedNames names = list(path);
    for (std::size_t i = 0; i < names.size(); ++i) {
      std::string relative = folder.empty() ? "" : folder + "/";
      relative += names[i];
      if (relative.ends_with('/')) {
        relative.pop_back();
        visit(relative, depth + 1);
      } else {
        add_file(relative);
      }
    }
    above_.pop_back();
  }

  static SortedNames list(const fs::path& path) {
    SortedNames names;
    std::error_code error;
    fs::directory_iterator entry(path, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (name.starts_with('.') || contains(kSystemFolders, name)) continue;
      if (is_folder(*entry)) {
        names.add(name + "/");
      } else if (is_image_name(name)) {
        names.add(name);
      }
    }
    if (error) throw SystemError("cannot list " + path.string() + ": " + error.message());
    names.sort();
    return names;
  }

  static bool is_folder(const fs::directory_entry& entry) {
    std::error_code error;
    return entry.is_directory(error);
  }

  // Pipes, sockets and devices are no inputs. What cannot be looked at is one that cannot be read.
  void add_file(const std::string& relative) {
    struct stat info {};
    const bool seen = ::stat((root_ / relative).c_str(), &info) == 0;
    if (seen && !S_ISREG(info.st_mode)) return;
    tree_.files.push_back(relative);
    tree_.bytes.push_back(seen ? static_cast<std::uint64_t>(info.st_size) : 0);
  }

  fs::path root_;
  std::vector<FolderKey> above_;  // the folders the present one lies in
  Tree tree_;
};

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

std::string count_of(std::size_t count, const std::string& one, const std::string& many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

using NameSet = std::set<std::string, std::less<>>;

void insert(NameSet& names, std::string_view name) {
  if (!names.contains(name)) names.emplace(name);
}

// At most three names, then how many more.
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

// How a tree is understood; a pure function of the tree and the options.
struct Layout {
  Listing entries;
  std::vector<std::string> class_names;
  std::string description;
};

// So many images beside split folders are taken for previews and left out; more are a part of the
// set that must not be lost silently.
constexpr std::size_t kMaxStrayImages = 10;

class LayoutMaker {
 public:
  LayoutMaker(const fs::path& root, const Tree& tree, const OpenOptions& options)
      : root_(root.string()), tree_(tree), options_(options) {}

  Layout make() {
    if (tree_.files.empty()) {
      throw UsageError(root_ +
                       " holds no images (files ending in .jpg, .jpeg, .png, .ppm, .bmp, "
                       ".pgm, .tif, .tiff or .webp); name the folder that holds them");
    }
    find_splits();
    find_classes();
    judge_empty_classes();
    return {make_entries(), classes_, describe()};
  }

 private:
  void find_splits() {
    NameSet split_folders;
    NameSet others;       // folders with images beside them
    NameSet with_images;  // split folders with images directly in them
    for (const std::string& file : tree_.files) {
      const std::string_view top = first_part(file);
      const int depth = depth_of(file);
      all_in_folders_ = all_in_folders_ && depth == 2;
      if (depth == 1) {
        ++at_root_;
      } else if (!split_of_folder(top)) {
        insert(others, top);
      } else {
        insert(split_folders, top);
        if (depth == 2) insert(with_images, top);
      }
    }
    if (split_folders.empty()) return;
    if (others.empty() && at_root_ <= kMaxStrayImages) {
      splits_ = true;
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
        " and beside " + (one ? "it " : "them ") +
        (others.empty() ? count_of(at_root_, "image", "images") : "images in " + some_of(others)) +
        "; move the others away, or name one split's folder alone, or take the whole tree as one "
        "unlabelled set (--labels none)" +
        (may_be_classes ? ", or take all folders as classes (--labels folder)" : ""));
  }

  void find_classes() {
    if (options_.labels == LabelsFrom::kNone) return;
    if (splits_) {
      find_split_classes();
    } else if (options_.labels == LabelsFrom::kFolder) {
      if (at_root_ > 0) {
        throw UsageError(count_of(at_root_, "image lies", "images lie") + " directly in " + root_ +
                         " and so in no class folder; move " + (at_root_ == 1 ? "it" : "them") +
                         " into one, or take the set as unlabelled (--labels none)");
      }
      labelled_ = {Split::kNone};
    } else if (all_in_folders_) {
      labelled_ = {Split::kNone};
    }
    std::set<std::string_view> names;
    for (const std::string& folder : tree_.folders) {
      if (is_class_folder(folder)) names.insert(class_of(folder));
    }
    classes_.assign(names.begin(), names.end());
  }

  void find_split_classes() {
    std::map<Split, NameSet> found;
    for (const std::string& file : tree_.files) {
      if (depth_of(file) < 3) continue;
      insert(found[*split_of_folder(first_part(file))], class_of(file));
    }
    if (found.empty() && options_.labels == LabelsFrom::kFolder) {
      throw UsageError(root_ +
                       " has splits but no class folders in them; make one folder a class, " +
                       "or take the set as unlabelled (--labels none)");
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

  // The class folder's name within the name of a file below it, or of the folder itself.
  std::string_view class_of(std::string_view name) const {
    return first_part(splits_ ? without_first_part(name) : name);
  }

  // What of a file's name is_class_folder() would be asked about.
  std::string_view class_folder_of(std::string_view file) const {
    const std::size_t top = splits_ ? first_part(file).size() + 1 : 0;
    return file.substr(0, top + class_of(file).size());
  }

  bool is_class_folder(std::string_view folder) const {
    if (depth_of(folder) != (splits_ ? 2 : 1)) return false;
    if (splits_ && !split_of_folder(first_part(folder))) return false;
    return labelled_.contains(split_of(folder));
  }

  // A class that lost its images, to a copy that was cut short say, should not go unnoticed.
  void judge_empty_classes() {
    NameSet empty;
    for (const std::string& folder : tree_.folders) {
      if (is_class_folder(folder)) empty.insert(folder);
    }
    for (const std::string& file : tree_.files) {
      const auto folder = empty.find(class_folder_of(file));
      if (folder != empty.end()) empty.erase(folder);
    }
    if (empty.empty()) return;
    const std::string what = count_of(empty.size(), "class folder", "class folders") +
                             " without images: " + some_of(empty);
    if (!options_.allow_empty_classes) {
      throw UsageError(root_ + " has " + what +
                       "; remove what is no class, or keep it as one with --allow-empty");
    }
    note_ += "; " + what;
  }

  Listing make_entries() const {
    Listing entries;
    entries.reserve(tree_.files.size());
    auto bytes = tree_.bytes.begin();
    for (const std::string& file : tree_.files) {
      Entry entry;
      entry.name = file;
      entry.split = split_of(file);
      entry.input_bytes = *bytes++;
      if (splits_ && depth_of(file) == 1) continue;
      if (labelled_.contains(entry.split) && depth_of(file) >= (splits_ ? 3 : 2)) {
        const auto at = std::lower_bound(classes_.begin(), classes_.end(), class_of(file));
        entry.labels = {static_cast<std::int32_t>(at - classes_.begin())};
      }
      entries.push_back(entry);
    }
    return entries;
  }

  std::string describe() const {
    std::set<Split> splits;
    for (const std::string& file : tree_.files) splits.insert(split_of(file));
    splits.erase(Split::kNone);
    std::string text = "image folder: ";
    if (splits_) text += count_of(splits.size(), "split", "splits") + ", ";
    text += labelled_.empty() ? "unlabelled" : count_of(classes_.size(), "class", "classes");
    if (splits_ && at_root_ > 0) {
      text += "; " + count_of(at_root_, "image", "images") + " beside the splits left out";
    }
    return text + note_;
  }

  const std::string root_;
  const Tree& tree_;
  const OpenOptions& options_;
  bool splits_ = false;
  std::size_t at_root_ = 0;     // images directly at the root
  bool all_in_folders_ = true;  // every image, one level down
  std::set<Split> labelled_;    // those whose images have classes; kNone for all, without splits
  std::vector<std::string> classes_;  // sorted
  std::string note_;
};

class ImageFolder final : public Source {
 public:
  ImageFolder(fs::path root, Layout layout) : root_(std::move(root)), layout_(std::move(layout)) {}

  std::string_view format() const noexcept override { return "image_folder"; }
  const Listing& entries() const noexcept override { return layout_.entries; }
  std::span<const std::string> class_names() const noexcept override { return layout_.class_names; }
  std::string description() const override { return layout_.description; }

  Expected<Payload, ReadError> read(std::size_t position) const override {
    const fs::path path = root_ / layout_.entries.names()[position];
    constexpr std::array kPauses{std::chrono::milliseconds(20), std::chrono::milliseconds(200)};
    Bytes bytes;
    int code = read_once(path, bytes);
    for (const auto pause : kPauses) {
      if (code != EIO && code != ESTALE) break;
      std::this_thread::sleep_for(pause);
      code = read_once(path, bytes);
    }
    if (code == 0 && bytes.empty()) return ReadError{ReadError::Kind::kEmpty, "has no bytes"};
    if (code == 0) return Payload(std::move(bytes));
    const bool missing = code == ENOENT || code == ENOTDIR || code == ELOOP;
    return ReadError{missing ? ReadError::Kind::kMissing : ReadError::Kind::kIo,
                     std::generic_category().message(code)};
  }

 private:
  // errno, or 0 and the whole file.
  static int read_once(const fs::path& path, Bytes& bytes) {
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat info {};
    if (!fd || ::fstat(fd.get(), &info) != 0) return errno;
    if (!S_ISREG(info.st_mode)) return EINVAL;
    bytes.resize(static_cast<std::size_t>(info.st_size));
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t got = ::read(fd.get(), bytes.data() + done, bytes.size() - done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return errno;
      if (got == 0) break;  // cut short while we read
      done += static_cast<std::size_t>(got);
    }
    bytes.resize(done);
    return 0;
  }

  fs::path root_;
  Layout layout_;
};

}  // namespace

bool image_folder_found_at(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

std::unique_ptr<Source> open_image_folder(const fs::path& path, const OpenOptions& options) {
  if (!image_folder_found_at(path)) {
    throw UsageError(path.string() + " is not a folder, as an image folder must be");
  }
  const Tree tree = Walker(path).walk();
  return std::make_unique<ImageFolder>(path, LayoutMaker(path, tree, options).make());
}

}  // namespace winnow::datasets
