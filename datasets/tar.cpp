#include "datasets/tar.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>
#include <utility>

#include "common/counted.h"
#include "common/error.h"
#include "common/known_bytes.h"
#include "datasets/layout.h"
#include "datasets/look.h"
#include "datasets/skips.h"
#include "datasets/tar_set.h"

namespace winnow::datasets {
namespace fs = std::filesystem;
namespace {

// Addresses of unreadable members.
constexpr std::uint64_t kSparse = ~std::uint64_t{0};
constexpr std::uint64_t kLost = kSparse - 1;

std::string_view first_of_path(std::string_view name) { return name.substr(0, name.find('/')); }

std::size_t shared_length(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

Split split_named(std::string_view name) { return parse_split(name).value_or(Split::kNone); }

// Images in the order in which they are found, with their addresses. Names are stored in one text,
// because there may be millions.
class Images {
 public:
  struct Row {
    std::size_t name_at;
    std::uint64_t address;
    std::uint64_t bytes;
  };

  void add(std::string_view name, std::uint64_t address, std::uint64_t bytes) {
    rows_.push_back({text_.size(), address, bytes});
    text_.append(name);
    text_ += '\0';
  }
  std::size_t size() const noexcept { return rows_.size(); }
  const Row& operator[](std::size_t i) const noexcept { return rows_[i]; }
  std::string_view name(std::size_t i) const noexcept { return &text_[rows_[i].name_at]; }

  // Whether each image from `first` on is in a folder that is_it() accepts.
  bool all_in(std::size_t first, const auto& is_it) const {
    for (std::size_t i = first; i < size(); ++i) {
      const std::string_view top = first_of_path(name(i));
      if (top.size() == name(i).size() || !is_it(top)) return false;
    }
    return first < size();
  }

  // Adds `prefix` to the names of images from `first` on.
  void put_before(std::size_t first, std::string_view prefix) {
    if (first == size() || prefix.empty()) return;
    std::string old = text_.substr(rows_[first].name_at);
    const std::size_t begin = rows_[first].name_at;
    text_.resize(begin);
    for (std::size_t i = first; i < size(); ++i) {
      const char* name = &old[rows_[i].name_at - begin];
      rows_[i].name_at = text_.size();
      text_.append(prefix).append(name);
      text_ += '\0';
    }
  }

  // Keeps only the last of images with the same name. Returns the number of removed ones.
  std::size_t drop_replaced() {
    std::vector<std::size_t> order(size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
      const int way = std::strcmp(&text_[rows_[a].name_at], &text_[rows_[b].name_at]);
      return way != 0 ? way < 0 : a < b;
    });
    std::vector<bool> goes(size());
    std::size_t count = 0;
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (name(order[i - 1]) != name(order[i])) continue;
      goes[order[i - 1]] = true;
      ++count;
    }
    std::size_t at = 0;
    std::erase_if(rows_, [&](const Row&) { return goes[at++]; });
    return count;
  }

 private:
  std::string text_;  // each name is followed by a zero byte, which no name contains
  std::vector<Row> rows_;
};

// Collects the content of archives as one tree.
class Gatherer {
 public:
  Gatherer(const TarSet& set, const std::vector<TarPath>& tars, const OpenOptions& options)
      : set_(set), tars_(tars), options_(options) {}

  void gather() {
    const bool by_split = all_of_different_splits();
    for (std::size_t tar = 0; tar < set_.size(); ++tar) {
      const std::string& name = tars_[tar].name;
      const std::string as =
          by_split ? std::string(split_name(*split_in_stem(last_part(name)))) : name;
      begin_folder();
      const bool ended = set_.list(tar, [&](const TarMember& member) {
        add(tar, member, true);
        return true;
      });
      unended_ += ended ? 0 : 1;
      end_folder(as);
    }
    replaced_ = images_.drop_replaced();
    leave_off_wrapper();
  }

  const Images& images() const noexcept { return images_; }
  std::string_view name(std::size_t i) const { return images_.name(i).substr(wrapper_.size()); }

  // Folders of depth 1 and 2, sorted.
  std::vector<std::string> folders() const {
    std::set<std::string> found;
    const auto add_upper = [&](std::string_view folder) {
      if (!folder.starts_with(wrapper_)) return;
      folder.remove_prefix(wrapper_.size());
      const std::size_t first = std::min(folder.find('/'), folder.size());
      if (first > 0) found.emplace(folder.substr(0, first));
      if (first == folder.size()) return;
      found.emplace(folder.substr(0, std::min(folder.find('/', first + 1), folder.size())));
    };
    for (const std::string& folder : folders_) add_upper(folder);
    for (std::size_t i = 0; i < images_.size(); ++i) {
      const std::string_view file = images_.name(i);
      const std::size_t slash = file.rfind('/');
      if (slash != file.npos) add_upper(file.substr(0, slash));
    }
    return {found.begin(), found.end()};
  }

  std::string notes() const {
    std::string text;
    const auto note = [&](std::size_t count, const char* one, const char* many) {
      if (count > 0) text += "; " + count_of(count, one, many);
    };
    if (!wrapper_.empty()) text += "; all in '" + wrapper_.substr(0, wrapper_.size() - 1) + "'";
    note(sparse_, "image stored sparsely", "images stored sparsely");
    note(lost_, "hard link to a missing file", "hard links to missing files");
    note(replaced_, "image replaced by a later image with its name",
         "images replaced by later images with their names");
    note(unended_, "archive without an end mark, possibly cut short",
         "archives without an end mark, possibly cut short");
    if (set_.inflated_bytes() > 0) {
      text +=
          "; inflated into a temporary file of " + std::to_string(set_.inflated_bytes()) + " bytes";
    }
    return text + skips_.note();
  }

  const Skips& skips() const noexcept { return skips_; }

 private:
  static std::string_view last_part(std::string_view name) {
    return name.substr(name.rfind('/') + 1);
  }

  bool all_of_different_splits() const {
    std::set<Split> splits;
    for (const TarPath& tar : tars_) {
      const auto split = split_in_stem(last_part(tar.name));
      if (!split || tar.name.find('/') != tar.name.npos || !splits.insert(*split).second) {
        return false;
      }
    }
    return true;
  }

  void begin_folder() {
    first_image_.push_back(images_.size());
    first_folder_.push_back(folders_.size());
  }

  // Moves everything added since begin_folder() into the folder `as`.
  void end_folder(const std::string& as) {
    const std::size_t first_image = first_image_.back();
    const std::size_t first_folder = first_folder_.back();
    first_image_.pop_back();
    first_folder_.pop_back();
    if (as.empty()) return;
    const std::string_view last = last_part(as);
    const bool named_so = images_.all_in(first_image, [&](std::string_view top) {
      return top == last ||
             (split_named(last) != Split::kNone && split_named(top) == split_named(last));
    });
    const std::string before = named_so ? as.substr(0, as.size() - last.size()) : as + "/";
    images_.put_before(first_image, before);
    for (std::size_t i = first_folder; i < folders_.size(); ++i) {
      folders_[i].insert(0, before);
    }
    if (!named_so) folders_.push_back(as);
  }

  void add(std::size_t tar, const TarMember& member, bool outermost) {
    if (const auto reason = skip_reason_anywhere(member.name, options_)) {
      skips_.add(*reason);
      return;
    }
    switch (member.kind) {
      case TarMember::Kind::kFolder:
        folders_.push_back(member.name);
        return;
      case TarMember::Kind::kLink:
        skips_.add("links");
        return;
      case TarMember::Kind::kOther:
        skips_.add("pipes, sockets and devices");
        return;
      case TarMember::Kind::kSparse:
        if (!is_image_name(member.name)) return;
        ++sparse_;
        images_.add(member.name, kSparse, 0);
        return;
      case TarMember::Kind::kLostLink:
        if (!is_image_name(member.name)) return;
        ++lost_;
        images_.add(member.name, kLost, 0);
        return;
      case TarMember::Kind::kFile:
        break;
    }
    if (is_image_name(member.name) || (has_no_ending(member.name) && is_image(member))) {
      images_.add(member.name, member.offset, member.bytes);
    } else if (const auto stem = tar_stem(member.name)) {
      if (outermost && member.name.ends_with(".tar")) {
        add_inside(tar, member, std::string(*stem));
      } else {
        skips_.add("archives within archives");
      }
    } else {
      skips_.add_no_image(member.name);
    }
  }

  // Judged by its first bytes.
  bool is_image(const TarMember& member) const {
    const auto first = set_.read(member.offset, std::min<std::uint64_t>(member.bytes, 12));
    return first && begins_as_image(std::get<Bytes>(*first));
  }

  void add_inside(std::size_t tar, const TarMember& inner, const std::string& as) {
    begin_folder();
    const bool ended = set_.list_inside(tar, inner, [&](const TarMember& member) {
      add(tar, member, false);
      return true;
    });
    unended_ += ended ? 0 : 1;
    end_folder(as);
  }

  // Removes the wrapper: "cifar10/train/cat/1.jpg" becomes "train/cat/1.jpg". A user who names a
  // folder means the one with the splits, but archives are often made from outside of it.
  void leave_off_wrapper() {
    if (images_.size() == 0) return;
    std::string_view shared = images_.name(0);  // common prefix of all names
    std::string_view deepest;                   // the deepest common folder
    std::ptrdiff_t most = 0;
    for (std::size_t i = 0; i < images_.size(); ++i) {
      const std::string_view file = images_.name(i);
      shared = shared.substr(0, shared_length(shared, file));
      const auto depth = std::ranges::count(file, '/');
      if (depth > most) deepest = file.substr(0, file.rfind('/'));
      most = std::max(most, depth);
    }
    // A wrapper contains folders: the last common folder may be a class.
    shared = shared.substr(0, std::min(shared.rfind('/') + 1, deepest.rfind('/') + 1));
    while (wrapper_.size() < shared.size()) {
      const std::string_view top = first_of_path(shared.substr(wrapper_.size()));
      if (split_named(top) != Split::kNone) return;
      wrapper_.append(top) += '/';
    }
  }

  const TarSet& set_;
  const std::vector<TarPath>& tars_;
  const OpenOptions& options_;
  Images images_;
  std::vector<std::string> folders_;
  std::vector<std::size_t> first_image_;
  std::vector<std::size_t> first_folder_;
  std::string wrapper_;
  Skips skips_;
  std::size_t sparse_ = 0;
  std::size_t lost_ = 0;
  std::size_t replaced_ = 0;
  std::size_t unended_ = 0;
};

class TarSource final : public Source {
 public:
  TarSource(const fs::path& path, const std::vector<TarPath>& tars, const OpenOptions& options)
      : set_(tars) {
    Gatherer gatherer(set_, tars, options);
    gatherer.gather();
    const Images& images = gatherer.images();
    NamedFiles files;
    for (std::size_t i = 0; i < images.size(); ++i) {
      files.files.push_back(gatherer.name(i));
      files.bytes.push_back(images[i].bytes);
    }
    files.folders = gatherer.folders();
    layout_ = lay_out({path.string(), "tar"}, files, options);
    layout_.description += gatherer.notes();
    skipped_ = gatherer.skips().rows();
    skipped_.insert(skipped_.end(), layout_.skipped.begin(), layout_.skipped.end());
    std::ranges::sort(skipped_, {}, &Skipped::reason);
    addresses_.reserve(images.size());
    auto left_out = layout_.left_out.begin();
    for (std::size_t i = 0; i < images.size(); ++i) {
      if (left_out != layout_.left_out.end() && *left_out == i) {
        ++left_out;
      } else {
        addresses_.push_back(images[i].address);
      }
    }
  }

  std::string_view format() const noexcept override { return "tar"; }
  const Listing& entries() const noexcept override { return layout_.entries; }
  std::span<const std::string> class_names() const noexcept override { return layout_.class_names; }
  std::string description() const override { return layout_.description; }
  std::vector<Skipped> skipped() const override { return skipped_; }

  Expected<Payload, ReadError> read(std::size_t position) const override {
    if (addresses_[position] == kLost) {
      return ReadError{ReadError::Kind::kMissing,
                       "is a hard link to a file that does not come before it in the archive; make "
                       "the archive again, with that file"};
    }
    if (addresses_[position] == kSparse) {
      return ReadError{ReadError::Kind::kIo,
                       "is stored as a sparse file; unpack the archive and name the folder"};
    }
    return set_.read(addresses_[position], layout_.entries.input_bytes(position));
  }

 private:
  TarSet set_;
  Layout layout_;
  std::vector<Skipped> skipped_;
  std::vector<std::uint64_t> addresses_;
};

}  // namespace

bool tar_found_at(const fs::path& path) {
  if (file_at(path)) return tar_begins(InputFile(path));
  return is_shard_range(path) || (folder_at(path) && !find_tars(path).empty());
}

std::unique_ptr<Source> open_tar(const fs::path& path, const OpenOptions& options) {
  const std::vector<TarPath> tars = find_tars(path);
  if (tars.empty()) {
    throw UsageError(path.string() +
                     " is not a folder of tar archives only; name the archive, or a folder with "
                     "archives and no images or other folders");
  }
  return std::make_unique<TarSource>(path, tars, options);
}

}  // namespace winnow::datasets
