#include "datasets/tar_set.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "common/error.h"
#include "datasets/layout.h"
#include "datasets/look.h"

namespace winnow::datasets {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kMaxShards = 1'000'000;

// The parts of "a-{000..012}.tar".
struct ShardRange {
  std::string before;
  std::string after;
  std::uint64_t first;
  std::uint64_t last;
  std::size_t digits;
};

std::optional<std::uint64_t> number_of(std::string_view text) {
  if (text.empty() || text.size() > 9) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

std::optional<ShardRange> parse_range(const std::string& path) {
  const std::size_t open = path.find('{');
  const std::size_t close = path.find('}', open == path.npos ? 0 : open);
  if (open == path.npos || close == path.npos) return std::nullopt;
  const std::string_view inside = std::string_view(path).substr(open + 1, close - open - 1);
  const std::size_t dots = inside.find("..");
  if (dots == inside.npos) return std::nullopt;
  const std::string_view low = inside.substr(0, dots);
  const auto first = number_of(low);
  const auto last = number_of(inside.substr(dots + 2));
  if (!first || !last) return std::nullopt;
  return ShardRange{path.substr(0, open), path.substr(close + 1), *first, *last, low.size()};
}

std::string relative_name(const fs::path& path) {
  const std::string name = path.filename().string();
  return std::string(tar_stem(name).value_or(name));
}

std::vector<TarPath> expand(const std::string& path) {
  const auto range = parse_range(path);
  if (range->last < range->first || range->last - range->first >= kMaxShards) {
    throw UsageError(path + " is not a range of shards: it must ascend, over less than " +
                     std::to_string(kMaxShards));
  }
  std::vector<TarPath> tars;
  for (std::uint64_t i = range->first; i <= range->last; ++i) {
    std::string digits = std::to_string(i);
    if (digits.size() < range->digits) digits.insert(0, range->digits - digits.size(), '0');
    const fs::path file = range->before + digits + range->after;
    if (!file_at(file)) {
      throw UsageError("there is no file " + file.string() + ", one of " + path +
                       "; get it, or name only the shards that exist");
    }
    tars.push_back({file, relative_name(file)});
  }
  return tars;
}

// The content of a folder, as far as it decides whether it is a folder of archives.
struct FolderLook {
  std::vector<TarPath> tars;
  std::vector<fs::path> splits;  // folders named like splits
  bool others = false;           // other folders, or images
};

FolderLook look_at(const fs::path& folder, const std::string& prefix) {
  FolderLook look;
  for_each_in(folder, [&](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    if (is_passed_over(name)) return true;
    if (is_folder(entry)) {
      const bool split = parse_split(name).value_or(Split::kNone) != Split::kNone;
      if (split) look.splits.push_back(entry.path());
      look.others = look.others || !split;
    } else if (is_image_name(name)) {
      look.others = true;
    } else if (tar_stem(name) && file_at(entry.path())) {
      look.tars.push_back({entry.path(), prefix + relative_name(entry.path())});
    }
    return !look.others;
  });
  return look.others ? FolderLook{} : look;
}

}  // namespace

std::optional<std::string_view> tar_stem(std::string_view file_name) {
  constexpr std::array<std::string_view, 10> kEndings{".tar",  ".tar.gz", ".tgz", ".tar.bz2",
                                                      ".tbz2", ".tar.xz", ".txz", ".tar.zst",
                                                      ".tzst", ".tar.lz4"};
  for (const std::string_view ending : kEndings) {
    if (file_name.size() > ending.size() && file_name.ends_with(ending)) {
      return file_name.substr(0, file_name.size() - ending.size());
    }
  }
  return std::nullopt;
}

bool is_shard_range(const fs::path& path) {
  std::error_code error;
  return parse_range(path.string()).has_value() && !fs::exists(path, error);
}

std::vector<TarPath> find_tars(const fs::path& path) {
  if (is_shard_range(path)) return expand(path.string());
  if (!folder_at(path)) {
    if (!file_at(path)) throw UsageError(path.string() + " is neither file nor folder");
    return {{path, ""}};
  }
  FolderLook look = look_at(path, "");
  if (look.tars.empty()) {
    for (const fs::path& split : look.splits) {
      FolderLook inside = look_at(split, split.filename().string() + "/");
      if (inside.tars.empty() || !inside.splits.empty()) return {};
      look.tars.insert(look.tars.end(), inside.tars.begin(), inside.tars.end());
    }
  } else if (!look.splits.empty()) {
    return {};
  }
  std::sort(look.tars.begin(), look.tars.end(), [](const TarPath& a, const TarPath& b) {
    return std::pair(a.name, a.path) < std::pair(b.name, b.path);
  });
  return look.tars;
}

TarSet::TarSet(const std::vector<TarPath>& tars) {
  std::optional<ScratchFile> scratch;
  std::uint64_t address = 0;
  for (const TarPath& tar : tars) {
    InputFile file(tar.path);
    Part part{tar.path, address, 0, file.size(), std::nullopt};
    if (is_compressed(file)) {
      if (!scratch) scratch.emplace();
      part.begin = inflated_bytes_;
      part.bytes = inflate(file, *scratch);
      inflated_bytes_ += part.bytes;
    } else {
      part.file = files_.size();
      files_.add(std::move(file));
    }
    address += part.bytes;
    parts_.push_back(std::move(part));
  }
  if (scratch) inflated_ = std::move(*scratch).read();
}

void TarSet::with_file(const Part& part, const std::function<void(const InputFile&)>& use) const {
  use(part.file ? *files_.get(*part.file) : *inflated_);
}

bool TarSet::list_range(const Part& part, std::uint64_t begin, std::uint64_t end,
                        const std::string& where,
                        const std::function<bool(const TarMember&)>& take) const {
  bool ended = false;
  with_file(part, [&](const InputFile& file) {
    ended = list_tar(file, begin, end, where, [&](TarMember member) {
      member.offset += part.address - part.begin;
      return take(member);
    });
  });
  return ended;
}

bool TarSet::list(std::size_t tar, const std::function<bool(const TarMember&)>& take) const {
  const Part& part = parts_[tar];
  return list_range(part, part.begin, part.begin + part.bytes, part.path.string(), take);
}

bool TarSet::list_inside(std::size_t tar, const TarMember& inner,
                         const std::function<bool(const TarMember&)>& take) const {
  const Part& part = parts_[tar];
  const std::uint64_t begin = inner.offset - part.address + part.begin;
  bool is_tar = false;
  with_file(part, [&](const InputFile& file) {
    is_tar = tar_begins_at(file, begin, begin + inner.bytes);
  });
  if (!is_tar) return true;
  return list_range(part, begin, begin + inner.bytes, part.path.string() + ": " + inner.name, take);
}

Expected<Payload, ReadError> TarSet::read(std::uint64_t address, std::uint64_t bytes) const {
  if (bytes == 0) return ReadError{ReadError::Kind::kEmpty, "has no bytes"};
  const auto behind =
      std::upper_bound(parts_.begin(), parts_.end(), address,
                       [](std::uint64_t at, const Part& part) { return at < part.address; });
  const Part& part = *std::prev(behind);
  Bytes out(static_cast<std::size_t>(bytes));
  try {
    with_file(part, [&](const InputFile& file) {
      file.read_at(address - part.address + part.begin, out);
    });
  } catch (const SystemError& error) {
    return ReadError{ReadError::Kind::kIo, error.what()};
  }
  return Payload(std::move(out));
}

std::string TarSet::text(std::size_t tar, const TarMember& member) const {
  std::string out(static_cast<std::size_t>(member.bytes), '\0');
  with_file(parts_[tar], [&](const InputFile& file) {
    file.read_at(member.offset - parts_[tar].address + parts_[tar].begin,
                 std::as_writable_bytes(std::span(out)));
  });
  return out;
}

}  // namespace winnow::datasets
