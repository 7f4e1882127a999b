#include "datasets/image_folder.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <system_error>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "datasets/file_input.h"
#include "datasets/layout.h"
#include "datasets/look.h"
#include "datasets/skips.h"

namespace winnow::datasets {
namespace fs = std::filesystem;
namespace {

// The sorted names in a folder. Names of folders end in '/', so that visiting folders in this order
// gives sorted paths.
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
  std::string text_;  // each name is followed by a zero byte, which no name contains
  std::vector<std::size_t> begins_;
};

// The name of the input that represents the content of a folder that may not be listed.
constexpr std::string_view kUnlisted = "*";

// The type of an entry in a folder.
enum class EntryKind { kFolder, kFile, kOther };

class Walker {
 public:
  Walker(fs::path root, const OpenOptions& options) : root_(std::move(root)), options_(options) {}

  NamedFiles walk() {
    look_through();
    const auto above = static_cast<int>(std::ranges::count(tree_.wrapper, '/'));
    visit("", -above);
    std::sort(tree_.folders.begin(), tree_.folders.end());
    return std::move(tree_);
  }

  const Skips& skips() const noexcept { return skips_; }

 private:
  using FolderKey = std::pair<dev_t, ino_t>;

  // Skips wrapper folders, as downloads leave them: each contains only one folder, which is no
  // split and contains only folders. With kFolder, the first folders are the classes, unless these
  // contain splits.
  void look_through() {
    constexpr int kMost = 16;  // links may be circular
    std::string wrapper;
    SortedNames names = names_in(wrapper);
    for (int depth = 0; depth < kMost && holds_one_folder(names); ++depth) {
      const std::string inner = wrapper + std::string(names[0]);
      names = names_in(inner);
      if (!holds_folders(names)) break;
      wrapper = inner;
    }
    const bool splits = any_split(names_in(wrapper));
    if (splits || options_.labels != LabelsFrom::kFolder) tree_.wrapper = std::move(wrapper);
  }

  static bool is_split(std::string_view folder) {
    return parse_split(folder.substr(0, folder.size() - 1)).value_or(Split::kNone) != Split::kNone;
  }
  static bool any_split(const SortedNames& names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i].ends_with('/') && is_split(names[i])) return true;
    }
    return false;
  }
  static bool holds_folders(const SortedNames& names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!names[i].ends_with('/')) return false;
    }
    return names.size() > 0;
  }
  static bool holds_one_folder(const SortedNames& names) {
    return names.size() == 1 && names[0].ends_with('/') && !is_split(names[0]);
  }

  // Empty if it cannot be listed; the walk reports that later.
  SortedNames names_in(const std::string& folder) const {
    SortedNames names;
    Skips ignored;
    const std::string name = folder.substr(0, folder.empty() ? 0 : folder.size() - 1);
    const fs::path path = name.empty() ? root_ : root_ / name;
    if (list_once(name, path, names, ignored) != 0) return {};
    return names;
  }

  // `depth` is counted below the wrapper.
  void visit(const std::string& folder, int depth) {
    const fs::path path = folder.empty() ? root_ : root_ / folder;
    struct stat info {};
    if (const int code = look(path, info); code != 0) {
      throw SystemError("cannot look at " + path.string() + ": " +
                        std::generic_category().message(code));
    }
    const FolderKey key{info.st_dev, info.st_ino};
    if (std::find(above_.begin(), above_.end(), key) != above_.end() ||
        ++visits_[key] > kMaxVisits) {
      skips_.add("links in a circle");
      return;
    }
    if (!folder.empty() && is_own(path)) {
      skips_.add("caches and indexes of winnow");
      return;
    }
    if (depth == 1 || depth == 2) tree_.folders.push_back(folder);
    above_.push_back(key);
    const SortedNames names = list(folder, path);
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

  SortedNames list(const std::string& folder, const fs::path& path) {
    SortedNames names;
    Skips skips;
    const int code = try_patiently([&] {
      names = {};
      skips = {};
      return list_once(folder, path, names, skips);
    });
    if (code == EACCES && !folder.empty()) {
      add_unlisted(folder);
      return {};
    }
    if (code != 0) {
      throw SystemError("cannot list " + path.string() + ": " +
                        std::generic_category().message(code));
    }
    skips_.add(skips);
    names.sort();
    return names;
  }

  // Returns errno or 0.
  int list_once(const std::string& folder, const fs::path& path, SortedNames& names,
                Skips& skips) const {
    std::error_code error;
    fs::directory_iterator entry(path, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      const std::string relative = folder.empty() ? name : folder + "/" + name;
      if (const auto reason = skip_reason(relative, options_)) {
        skips.add(*reason);
        continue;
      }
      std::error_code ignored;
      if (!options_.follow_links && entry->is_symlink(ignored)) {
        skips.add("symbolic links");
        continue;
      }
      switch (kind_of(*entry)) {
        case EntryKind::kFolder:
          names.add(name + "/");
          break;
        case EntryKind::kOther:
          skips.add("pipes, sockets and devices");
          break;
        case EntryKind::kFile:
          if (is_listed_image(name, entry->path())) {
            names.add(name);
          } else {
            skips.add_no_image(name);
          }
      }
    }
    return error.value();
  }

  // Whether winnow made the folder for its own files: a cache or an index, finished or not.
  static bool is_own(const fs::path& path) {
    return first_bytes(path / "manifest.json", 120).find("\"format\": \"winnow-") !=
               std::string::npos ||
           first_bytes(path / "unfinished", 7) == "winnow ";
  }

  // Folder listings usually know the type; stat() is called only if they do not. A missing target
  // (a dangling link) counts as an unreadable file.
  static EntryKind kind_of(const fs::directory_entry& entry) {
    std::error_code ignored;
    if (!entry.is_symlink(ignored) && !ignored) {
      if (entry.is_directory(ignored)) return EntryKind::kFolder;
      if (entry.is_regular_file(ignored)) return EntryKind::kFile;
    }
    struct stat info {};
    const int code = look(entry.path(), info);
    if (code == ENOENT || code == ENOTDIR || code == ELOOP) return EntryKind::kFile;
    if (code != 0) {
      // An image name becomes an unreadable input. Anything else could be a folder and must not be
      // lost.
      if (is_image_name(entry.path().filename().string())) return EntryKind::kFile;
      throw SystemError("cannot look at " + entry.path().string() + ": " +
                        std::generic_category().message(code));
    }
    return S_ISDIR(info.st_mode)   ? EntryKind::kFolder
           : S_ISREG(info.st_mode) ? EntryKind::kFile
                                   : EntryKind::kOther;
  }

  // Returns errno or 0.
  static int look(const fs::path& path, struct stat& info) {
    return try_patiently([&] { return ::stat(path.c_str(), &info) == 0 ? 0 : errno; });
  }

  // The content of a folder that may not be listed is one unreadable input.
  void add_unlisted(const std::string& folder) {
    tree_.files.push_back(folder + "/" + std::string(kUnlisted));
    tree_.bytes.push_back(0);
  }

  // A file that stat() fails on is an unreadable input.
  void add_file(const std::string& relative) {
    struct stat info {};
    const bool seen = look(root_ / relative, info) == 0;
    tree_.files.push_back(relative);
    tree_.bytes.push_back(seen ? static_cast<std::uint64_t>(info.st_size) : 0);
  }

  // Limit against links: they can lead through the same folders in as many ways as there are orders
  // of them. Nobody has that many links to one folder on purpose.
  static constexpr int kMaxVisits = 100;

  fs::path root_;
  const OpenOptions& options_;
  std::vector<FolderKey> above_;  // the parents of the current folder
  std::map<FolderKey, int> visits_;
  NamedFiles tree_;
  Skips skips_;
};

class ImageFolder final : public Source {
 public:
  ImageFolder(fs::path root, Layout layout, const Skips& skips)
      : root_(std::move(root)), layout_(std::move(layout)), skipped_(skips.rows()) {
    skipped_.insert(skipped_.end(), layout_.skipped.begin(), layout_.skipped.end());
    std::ranges::sort(skipped_, {}, &Skipped::reason);
    layout_.description += skips.note();
  }

  std::string_view format() const noexcept override { return "image_folder"; }
  const Listing& entries() const noexcept override { return layout_.entries; }
  std::span<const std::string> class_names() const noexcept override { return layout_.class_names; }
  std::string description() const override { return layout_.description; }
  std::vector<Skipped> skipped() const override { return skipped_; }

  Expected<Payload, ReadError> read(std::size_t position) const override {
    const std::string& name = layout_.entries.names()[position];
    auto input = read_file_input(root_ / name);
    if (!input && name.ends_with("/" + std::string(kUnlisted))) {
      return ReadError{ReadError::Kind::kIo,
                       "is a folder that cannot be listed; allow it (chmod u+rx) and ingest again"};
    }
    return input;
  }

  std::optional<fs::path> file_of(std::size_t position) const override {
    return root_ / layout_.entries.names()[position];
  }

 private:
  fs::path root_;
  Layout layout_;
  std::vector<Skipped> skipped_;
};

}  // namespace

bool image_folder_found_at(const fs::path& path) { return folder_at(path); }

std::unique_ptr<Source> open_image_folder(const fs::path& path, const OpenOptions& options) {
  if (!image_folder_found_at(path)) {
    throw UsageError(path.string() + " is not a folder; an image folder must be one");
  }
  Walker walker(path, options);
  const NamedFiles files = walker.walk();
  const std::string wrapper = files.wrapper.substr(0, files.wrapper.rfind('/'));
  const std::filesystem::path within = wrapper.empty() ? path : path / wrapper;
  Layout layout = lay_out({within.string(), "image folder"}, files, options);
  if (!wrapper.empty()) layout.description += "; all in '" + wrapper + "'";
  return std::make_unique<ImageFolder>(path, std::move(layout), walker.skips());
}

}  // namespace winnow::datasets
