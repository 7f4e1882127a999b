#include "datasets/webdataset.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "common/counted.h"
#include "common/error.h"
#include "common/json.h"
#include "common/list_text.h"
#include "datasets/class_labels.h"
#include "datasets/layout.h"
#include "datasets/look.h"
#include "datasets/tar_set.h"

namespace winnow::datasets {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kMaxLabelBytes = 1 << 10;
constexpr std::uint64_t kMaxJsonBytes = 1 << 20;
constexpr std::uint64_t kMaxNamesBytes = 1 << 24;
constexpr std::uint64_t kNoAddress = ~std::uint64_t{0};  // address of a hard link without a target

// "n01/0001.Seg.PNG" is {"n01/0001", "seg.png"}.
struct MemberName {
  std::string_view key;
  std::string ending;
};

std::optional<MemberName> parse_member_name(std::string_view name) {
  const std::size_t base = name.rfind('/') + 1;
  const std::size_t dot = name.find('.', base);
  if (dot == name.npos || dot == base) return std::nullopt;
  std::string ending(name.substr(dot + 1));
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return MemberName{name.substr(0, dot), std::move(ending)};
}

bool is_image_ending(const std::string& ending) { return is_image_name("." + ending); }

// "seg.png" is {"seg", "png"}, "png" is {"", "png"}.
struct Ending {
  std::string_view view;  // the text between the key and the last dot
  std::string_view last;
};

Ending parse_ending(std::string_view ending) {
  const std::size_t dot = ending.rfind('.');
  if (dot == ending.npos) return {"", ending};
  return {ending.substr(0, dot), ending.substr(dot + 1)};
}

// Whether these names include a sample with an image and a label file.
bool look_like_samples(const std::vector<std::string>& names) {
  std::string key;
  bool image = false;
  bool said = false;
  std::set<std::string> images;  // views of the key that are images, and those with labels
  std::set<std::string> labels;
  for (const std::string& name : names) {
    const auto member = parse_member_name(name);
    if (!member) continue;
    if (member->key != key) {
      image = said = false;
      images.clear();
      labels.clear();
    }
    key = member->key;
    const Ending ending = parse_ending(member->ending);
    const std::string view(ending.view);
    if (is_image_ending(member->ending)) {
      image = true;
      images.insert(view);
    } else if (ending.last == "cls" || ending.last == "json") {
      labels.insert(view);
    }
    said = said || member->ending == "cls" || member->ending == "json" || member->ending == "txt";
    if ((image && said) || (images.contains(view) && labels.contains(view))) return true;
  }
  return false;
}

// The labels of a JSON value, as texts; nullopt if its type cannot be a label.
std::optional<std::vector<std::string>> labels_of(const Json& value) {
  if (value.is_null()) return std::vector<std::string>{};
  if (value.is_string()) return std::vector{value.text()};
  if (value.is_whole()) return std::vector{value.dump()};
  if (!value.is_array()) return std::nullopt;
  std::vector<std::string> all;
  for (const Json& one : value) {
    const auto label = one.is_array() ? std::nullopt : labels_of(one);
    if (!label) return std::nullopt;
    all.insert(all.end(), label->begin(), label->end());
  }
  return all;
}

// The split in a shard's name; `name` is relative, without ending.
std::optional<Split> split_of_shard(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash != name.npos) {
    const auto split = parse_split(name.substr(0, slash));
    if (split && *split != Split::kNone) return split;
  }
  return split_in_stem(name.substr(name.rfind('/') + 1));
}

std::vector<Split> splits_of(const fs::path& path, const std::vector<TarPath>& shards) {
  std::vector<Split> splits;
  const TarPath* with = nullptr;
  const TarPath* without = nullptr;
  for (const TarPath& shard : shards) {
    const std::string file = shard.path.filename().string();
    const auto split =
        split_of_shard(shard.name.empty() ? tar_stem(file).value_or(file) : shard.name);
    splits.push_back(split.value_or(Split::kNone));
    (split ? with : without) = &shard;
  }
  if (with != nullptr && without != nullptr) {
    throw UsageError(path.string() + " has shards of a split (" + with->path.filename().string() +
                     ") and others of none (" + without->path.filename().string() +
                     "); rename those, or move them to a folder of their own");
  }
  return splits;
}

struct GivenNames {
  std::vector<std::string> names;
  std::string where;
};

GivenNames read_class_names(const fs::path& shard) {
  const fs::path folder = shard.parent_path();
  for (const fs::path& at : {folder, folder / ".."}) {
    // Class names beside the folder belong to the set only if the folder is one of its splits.
    if (at != folder &&
        parse_split(folder.filename().string()).value_or(Split::kNone) == Split::kNone) {
      break;
    }
    for (const char* name : {"classnames.txt", "classes.txt"}) {
      const fs::path path = at / name;
      if (!file_at(path)) continue;
      if (fs::file_size(path) > kMaxNamesBytes) {
        throw UsageError(path.string() + " is too large for a list of class names");
      }
      GivenNames given{{}, path.string()};
      for (const std::string& line : read_list_lines(path)) given.names.emplace_back(trimmed(line));
      return given;
    }
  }
  return {};
}

// Collects samples from the members of shards, one shard after the other.
class SampleReader {
 public:
  SampleReader(const TarSet& set, bool with_labels) : set_(set), with_labels_(with_labels) {}

  void read_shard(std::size_t tar, const fs::path& path, const std::string& prefix, Split split) {
    tar_ = tar;
    path_ = path.string();
    prefix_ = prefix;
    split_ = split;
    const bool ended = set_.list(tar, [&](const TarMember& member) {
      add(member);
      return true;
    });
    unended_ += ended ? 0 : 1;
    finish_sample();
  }

  Listing rows;  // with labels numbered by `labels`
  std::vector<std::uint64_t> addresses;
  ClassLabels labels;

  bool labelled() const noexcept { return labelled_ > 0; }
  std::string notes() const {
    std::string text;
    const auto note = [&](std::size_t count, const char* one, const char* many) {
      if (count > 0) text += "; " + count_of(count, one, many);
    };
    note(without_image_, "skipped sample without an image", "skipped samples without an image");
    note(more_images_, "additional image of a sample left out",
         "additional images of samples left out");
    if (!dotted_.empty()) {
      text += ", as '" + dotted_ +
              "' (the key of a sample ends at the first dot of a name: if these are separate "
              "samples, rename them without dots)";
    }
    if (labelled_ > 0) {
      note(rows.size() - labelled_, "image without a label", "images without a label");
    }
    note(not_files_, "skipped link or device", "skipped links and devices");
    note(unended_, "shard without an end mark, possibly cut short",
         "shards without an end mark, possibly cut short");
    return text;
  }

 private:
  struct Image {
    std::string view;
    TarMember member;
  };

  void add(const TarMember& member) {
    if (member.kind == TarMember::Kind::kFolder) return;
    const auto name = parse_member_name(member.name);
    const bool is_lost = member.kind == TarMember::Kind::kLostLink && name;
    if (member.kind != TarMember::Kind::kFile && !is_lost) {
      ++not_files_;
      return;
    }
    if (!name) return;
    if (name->key != key_) finish_sample();
    key_ = name->key;
    if (!endings_.insert(name->ending).second && with_labels_) {
      throw UsageError(path_ + " has '" + member.name +
                       "' twice in one sample, so its labels are ambiguous; rename the second "
                       "sample, or unpack the archive and make it again");
    }
    const std::string view(parse_ending(name->ending).view);
    const std::string_view last = parse_ending(name->ending).last;
    if (is_image_ending(name->ending)) {
      images_.push_back({view, member});
    } else if (last == "cls") {
      cls_.emplace(view, member);
    } else if (last == "json") {
      json_.emplace(view, member);
    }
  }

  // Images are separate samples if one has a label of its own ("a.0.jpg" beside "a.0.cls") and none
  // belongs to the key itself, unlike "a.jpg" beside its mask "a.seg.png".
  void finish_sample() {
    const auto has_own = [&](const Image& image) {
      return cls_.contains(image.view) || json_.contains(image.view);
    };
    const auto is_the_sample = [](const Image& image) { return image.view.empty(); };
    if (std::ranges::none_of(images_, is_the_sample) && std::ranges::any_of(images_, has_own)) {
      std::set<std::string> views;
      for (const Image& image : images_) {
        if (views.insert(image.view).second) {
          add_row(image.member, image.view);
        } else {
          ++more_images_;
        }
      }
    } else if (!images_.empty()) {
      add_row(images_.front().member, "");
      more_images_ += images_.size() - 1;
      if (images_.size() > 1 && !images_.front().view.empty() && dotted_.empty()) {
        dotted_ = images_[1].member.name;
      }
    } else if (!key_.empty()) {
      ++without_image_;
    }
    key_.clear();
    endings_.clear();
    images_.clear();
    cls_.clear();
    json_.clear();
  }

  // Takes the labels of its view, else of its key.
  void add_row(const TarMember& image, const std::string& view) {
    Entry entry{prefix_ + image.name, split_, {}, "", image.bytes};
    if (with_labels_) {
      for (const std::string& text : texts_of(view)) {
        if (const auto number = labels.add_if_any(text)) entry.labels.push_back(*number);
      }
    }
    labelled_ += entry.labels.empty() ? 0 : 1;
    rows.push_back(entry);
    addresses.push_back(image.kind == TarMember::Kind::kLostLink ? kNoAddress : image.offset);
  }

  std::vector<std::string> texts_of(const std::string& view) const {
    if (const auto at = cls_.find(view); at != cls_.end()) return {label_of_text(at->second)};
    if (const auto at = json_.find(view); at != json_.end()) {
      auto texts = labels_of_json(at->second);
      if (!texts.empty() || view.empty()) return texts;
    }
    return view.empty() ? std::vector<std::string>{} : texts_of("");
  }

  std::string label_of_text(const TarMember& member) const {
    check_there(member);
    if (member.bytes > kMaxLabelBytes) {
      fail(member, "has " + std::to_string(member.bytes) + " bytes, too many for a label");
    }
    return std::string(trimmed(set_.text(tar_, member)));
  }

  std::vector<std::string> labels_of_json(const TarMember& member) const {
    check_there(member);
    if (member.bytes > kMaxJsonBytes) {
      fail(member, "has " + std::to_string(member.bytes) +
                       " bytes, too many for the description of an image");
    }
    const std::string text = set_.text(tar_, member);
    const std::optional<Json> json = Json::parse_if_json(text);
    if (!json) fail(member, "is not JSON");
    for (const char* key : {"label", "cls", "class"}) {
      const Json* found = json->find(key);
      if (found == nullptr) continue;
      auto labels = labels_of(*found);
      if (!labels) fail(member, "has a \"" + std::string(key) + "\" that is not a label");
      return *std::move(labels);
    }
    return {};
  }

  void check_there(const TarMember& member) const {
    if (member.kind == TarMember::Kind::kLostLink) {
      fail(member, "is a hard link to a file that does not come before it in the archive");
    }
  }

  [[noreturn]] void fail(const TarMember& member, const std::string& problem) const {
    throw UsageError(path_ + ": " + member.name + " " + problem +
                     "; correct it, or read the set as unlabelled (--labels none)");
  }

  const TarSet& set_;
  const bool with_labels_;
  std::size_t tar_ = 0;
  std::string path_;
  std::string prefix_;
  Split split_ = Split::kNone;
  std::string key_;  // key of the current sample
  std::set<std::string> endings_;
  std::vector<Image> images_;
  std::map<std::string, TarMember> cls_;  // by view
  std::map<std::string, TarMember> json_;
  std::string dotted_;  // the first image left out of a sample in which all images have a view
  std::size_t labelled_ = 0;
  std::size_t without_image_ = 0;
  std::size_t more_images_ = 0;
  std::size_t not_files_ = 0;
  std::size_t unended_ = 0;
};

class WebDataset final : public Source {
 public:
  WebDataset(const fs::path& path, const std::vector<TarPath>& shards, const OpenOptions& options)
      : set_(shards) {
    const std::vector<Split> splits = splits_of(path, shards);
    SampleReader reader(set_, options.labels != LabelsFrom::kNone);
    for (std::size_t i = 0; i < shards.size(); ++i) {
      const std::string prefix = shards[i].name.empty() ? "" : shards[i].name + "/";
      reader.read_shard(i, shards[i].path, prefix, splits[i]);
    }
    const GivenNames given =
        reader.labelled() ? read_class_names(shards.front().path) : GivenNames{};
    auto classes = reader.labels.finish(given.names, given.where);
    entries_ = relabelled(reader.rows, classes.index_of);
    class_names_ = std::move(classes.names);
    addresses_ = std::move(reader.addresses);
    describe(splits, reader.notes() + reader.labels.note());
  }

  std::string_view format() const noexcept override { return "webdataset"; }
  const Listing& entries() const noexcept override { return entries_; }
  std::span<const std::string> class_names() const noexcept override { return class_names_; }
  std::string description() const override { return description_; }

  Expected<Payload, ReadError> read(std::size_t position) const override {
    if (addresses_[position] == kNoAddress) {
      return ReadError{ReadError::Kind::kMissing,
                       "is a hard link to a file that does not come before it in the archive; make "
                       "the archive again, with that file"};
    }
    return set_.read(addresses_[position], entries_.input_bytes(position));
  }

 private:
  void describe(std::vector<Split> splits, const std::string& notes) {
    description_ = "webdataset: " + count_of(splits.size(), "shard", "shards");
    std::sort(splits.begin(), splits.end());
    splits.erase(std::unique(splits.begin(), splits.end()), splits.end());
    if (splits.front() != Split::kNone) {
      description_ += ", " + count_of(splits.size(), "split", "splits");
    }
    description_ += class_names_.empty() ? ", unlabelled"
                                         : ", " + count_of(class_names_.size(), "class", "classes");
    description_ += notes;
    if (set_.inflated_bytes() > 0) {
      description_ +=
          "; inflated into a temporary file of " + std::to_string(set_.inflated_bytes()) + " bytes";
    }
  }

  TarSet set_;
  Listing entries_;
  std::vector<std::string> class_names_;
  std::vector<std::uint64_t> addresses_;
  std::string description_;
};

}  // namespace

bool webdataset_found_at(const fs::path& path) {
  const bool is_file = file_at(path);
  if (is_file && !tar_begins(InputFile(path))) return false;
  if (!is_file && !folder_at(path) && !is_shard_range(path)) return false;
  const std::vector<TarPath> shards = find_tars(path);
  return !shards.empty() && look_like_samples(first_tar_names(InputFile(shards.front().path), 64));
}

std::unique_ptr<Source> open_webdataset(const fs::path& path, const OpenOptions& options) {
  const std::vector<TarPath> shards = find_tars(path);
  if (shards.empty()) {
    throw UsageError(path.string() +
                     " is not a folder of tar shards only; name a shard, a range of them, or a "
                     "folder with shards and no images or other folders");
  }
  return std::make_unique<WebDataset>(path, shards, options);
}

}  // namespace winnow::datasets
