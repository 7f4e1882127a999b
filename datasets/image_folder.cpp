#include "datasets/image_folder.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

#include "common/error.h"
#include "datasets/file_input.h"
#include "datasets/layout.h"

namespace winnow::datasets {
namespace fs = std::filesystem;
namespace {

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

  NamedFiles walk() {
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
      if (is_passed_over(name)) continue;
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
  NamedFiles tree_;
};

class ImageFolder final : public Source {
 public:
  ImageFolder(fs::path root, Layout layout) : root_(std::move(root)), layout_(std::move(layout)) {}

  std::string_view format() const noexcept override { return "image_folder"; }
  const Listing& entries() const noexcept override { return layout_.entries; }
  std::span<const std::string> class_names() const noexcept override { return layout_.class_names; }
  std::string description() const override { return layout_.description; }

  Expected<Payload, ReadError> read(std::size_t position) const override {
    return read_file_input(root_ / layout_.entries.names()[position]);
  }

 private:
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
  const NamedFiles files = Walker(path).walk();
  return std::make_unique<ImageFolder>(path,
                                       lay_out({path.string(), "image folder"}, files, options));
}

}  // namespace winnow::datasets
