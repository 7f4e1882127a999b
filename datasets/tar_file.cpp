#include "datasets/tar_file.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "common/error.h"

namespace winnow::datasets {
namespace {

struct FreeArchive {
  void operator()(archive* a) const noexcept { archive_read_free(a); }
};
using Archive = std::unique_ptr<archive, FreeArchive>;

Archive new_archive() {
  Archive a(archive_read_new());
  if (!a) throw std::bad_alloc();
  return a;
}

// A range of a file as libarchive reads it. Errors are recorded here, because exceptions must not
// pass through C.
class Range {
 public:
  Range(const InputFile& file, std::uint64_t begin, std::uint64_t end, std::size_t piece_bytes)
      : file_(file), at_(begin), end_(end), piece_(piece_bytes) {}

  void open(archive* a) {
    archive_read_set_callback_data(a, this);
    archive_read_set_read_callback(a, read);
    archive_read_set_skip_callback(a, skip);
    opened_ = archive_read_open1(a);
  }
  bool opened() const noexcept { return opened_ == ARCHIVE_OK; }

  // Throws the recorded error.
  void check() const {
    if (!problem_.empty()) throw SystemError(problem_);
  }

 private:
  static la_ssize_t read(archive*, void* self, const void** out) {
    return static_cast<Range*>(self)->read_piece(out);
  }
  static la_int64_t skip(archive*, void* self, la_int64_t request) {
    auto* range = static_cast<Range*>(self);
    const auto bytes = std::min(static_cast<std::uint64_t>(std::max<la_int64_t>(request, 0)),
                                range->end_ - range->at_);
    range->at_ += bytes;
    return static_cast<la_int64_t>(bytes);
  }

  la_ssize_t read_piece(const void** out) {
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(piece_.size(), end_ - at_));
    try {
      file_.read_at(at_, std::span(piece_).first(bytes));
    } catch (const std::exception& error) {
      problem_ = error.what();
      return -1;
    }
    at_ += bytes;
    *out = piece_.data();
    return static_cast<la_ssize_t>(bytes);
  }

  const InputFile& file_;
  std::uint64_t at_;
  std::uint64_t end_;
  Bytes piece_;
  int opened_ = ARCHIVE_FATAL;
  std::string problem_;
};

// A subset of libarchive's filters: some of the others start external programs.
void support_compression(archive* a) {
  archive_read_support_filter_gzip(a);
  archive_read_support_filter_bzip2(a);
  archive_read_support_filter_xz(a);
  archive_read_support_filter_zstd(a);
  archive_read_support_filter_lz4(a);
}

std::string message_of(archive* a) {
  const char* text = archive_error_string(a);
  return text != nullptr ? text : "no reason given";
}

[[noreturn]] void fail(const std::string& where, const std::string& problem) {
  throw UsageError(where + " " + problem + "; it is damaged or cut short, get it again");
}

// PAX allows a hard link to carry the bytes of its file; then it is a file like any other.
bool is_hard_link(archive_entry* entry) {
  return archive_entry_hardlink(entry) != nullptr && archive_entry_size(entry) <= 0;
}

TarMember::Kind kind_of(archive_entry* entry) {
  switch (archive_entry_filetype(entry)) {
    case AE_IFREG:
      return archive_entry_sparse_count(entry) > 0 ? TarMember::Kind::kSparse
                                                   : TarMember::Kind::kFile;
    case AE_IFDIR:
      return TarMember::Kind::kFolder;
    case AE_IFLNK:
      return TarMember::Kind::kLink;
    default:
      return TarMember::Kind::kOther;
  }
}

std::string name_of(archive_entry* entry) {
  // Names in PAX archives are UTF-8, which the C locale cannot represent.
  const char* name = archive_entry_pathname(entry);
  if (name == nullptr) name = archive_entry_pathname_utf8(entry);
  return name == nullptr ? "" : tar_name(name);
}

std::string target_of(archive_entry* entry) {
  const char* name = archive_entry_hardlink(entry);
  if (name == nullptr) name = archive_entry_hardlink_utf8(entry);
  return name == nullptr ? "" : tar_name(name);
}

using TarHeader = std::array<char, 512>;

// The end mark is two blocks of zeros; some writers only write one.
bool ends_in_zeros(const InputFile& file, std::uint64_t begin, std::uint64_t end) {
  TarHeader last{};
  if (end - begin < last.size()) return false;
  file.read_at(end - last.size(), std::as_writable_bytes(std::span(last)));
  return last == TarHeader{};
}

// The sum of a header's bytes, with blanks in place of the checksum, as octal digits at offset 148.
bool checksum_is_right(const TarHeader& header) {
  unsigned long sum = 0;
  for (std::size_t i = 0; i < header.size(); ++i) {
    sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(header[i]);
  }
  const std::string field(&header[148], 8);
  const char* begin = field.c_str();
  char* end = nullptr;
  const unsigned long stored = std::strtoul(begin, &end, 8);
  return end != begin && stored == sum && sum != 8UL * ' ';
}

}  // namespace

std::string tar_name(std::string_view raw) {
  std::vector<std::string_view> parts;
  while (!raw.empty()) {
    const std::string_view part = raw.substr(0, raw.find('/'));
    raw.remove_prefix(std::min(part.size() + 1, raw.size()));
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (!parts.empty()) {
      parts.pop_back();
    }
  }
  std::string name;
  for (const std::string_view part : parts) {
    if (!name.empty()) name += '/';
    name += part;
  }
  return name;
}

namespace {

// Calls `take` with each stored member, and with the target of a hard link, until it returns false.
// Returns whether the archive has its end mark.
bool list_stored(const InputFile& file, std::uint64_t begin, std::uint64_t end,
                 const std::string& where,
                 const std::function<bool(const TarMember&, const std::string* target)>& take) {
  const Archive a = new_archive();
  archive_read_support_format_tar(a.get());
  archive_read_set_format_option(a.get(), "tar", "read_concatenated_archives", "1");
  // Small pieces, because only the headers are needed.
  Range range(file, begin, end, 4096);
  range.open(a.get());
  range.check();
  if (!range.opened()) fail(where, "cannot be read as a tar archive (" + message_of(a.get()) + ")");
  TarMember member;
  while (true) {
    archive_entry* entry = nullptr;
    const int code = archive_read_next_header(a.get(), &entry);
    range.check();
    if (code == ARCHIVE_EOF) return ends_in_zeros(file, begin, end);
    const auto at = begin + static_cast<std::uint64_t>(archive_filter_bytes(a.get(), 0));
    if (code != ARCHIVE_OK && code != ARCHIVE_WARN) {
      fail(where, "has a member before byte " + std::to_string(at) + " that cannot be listed (" +
                      message_of(a.get()) + ")");
    }
    const bool is_link = is_hard_link(entry);
    const std::string target = is_link ? target_of(entry) : "";
    member.name = name_of(entry);
    member.kind = is_link ? TarMember::Kind::kLostLink : kind_of(entry);
    member.offset = at;
    member.bytes =
        member.kind == TarMember::Kind::kFile
            ? static_cast<std::uint64_t>(std::max<la_int64_t>(archive_entry_size(entry), 0))
            : 0;
    if (at > end || member.bytes > end - at) {
      fail(where, "says that '" + member.name + "' has " + std::to_string(member.bytes) +
                      " bytes from byte " + std::to_string(at) + " on, but only " +
                      std::to_string(end - std::min(at, end)) + " bytes are left");
    }
    if (!member.name.empty() && !take(member, is_link ? &target : nullptr)) return true;
  }
}

// The files that the hard links of an archive refer to, in the order of the links; kLostLink if no
// earlier member has the target's name. Reads the archive twice, and holds the names of link
// targets.
std::vector<TarMember> resolve_links(const InputFile& file, std::uint64_t begin, std::uint64_t end,
                                     const std::string& where) {
  std::map<std::string, TarMember> linked;
  list_stored(file, begin, end, where, [&](const TarMember&, const std::string* target) {
    if (target != nullptr) linked.try_emplace(*target, TarMember{});
    return true;
  });
  for (auto& [name, member] : linked) member.kind = TarMember::Kind::kLostLink;
  std::vector<TarMember> files;
  list_stored(file, begin, end, where, [&](const TarMember& member, const std::string* target) {
    if (target != nullptr) files.push_back(linked.at(*target));
    const auto found = linked.find(member.name);
    if (found != linked.end()) found->second = target != nullptr ? files.back() : member;
    return true;
  });
  return files;
}

}  // namespace

bool list_tar(const InputFile& file, std::uint64_t begin, std::uint64_t end,
              const std::string& where, const std::function<bool(const TarMember&)>& take) {
  std::optional<std::vector<TarMember>> links;
  std::size_t next = 0;
  return list_stored(file, begin, end, where, [&](const TarMember& stored, const std::string* to) {
    if (to == nullptr) return take(stored);
    if (!links) links = resolve_links(file, begin, end, where);
    TarMember member = links->at(next++);
    member.name = stored.name;
    return take(member);
  });
}

bool tar_begins_at(const InputFile& file, std::uint64_t begin, std::uint64_t end) {
  TarHeader header{};
  if (end - begin < header.size()) return false;
  file.read_at(begin, std::as_writable_bytes(std::span(header)));
  return checksum_is_right(header);
}

bool is_compressed(const InputFile& file) {
  std::array<char, 6> first{};
  if (file.size() < first.size()) return false;
  file.read_at(0, std::as_writable_bytes(std::span(first)));
  const std::string_view text(first.data(), first.size());
  using namespace std::string_view_literals;
  const auto begins = [&](std::string_view magic) { return text.starts_with(magic); };
  return begins("\x1f\x8b"sv) || begins("BZh"sv) ||
         begins(
             "\xfd"
             "7zXZ\0"sv) ||
         begins("\x28\xb5\x2f\xfd"sv) || begins("\x04\x22\x4d\x18"sv);
}

namespace {

// Passes on the content of a compressed file in pieces, until `take` returns false.
void inflate_pieces(const InputFile& file, const std::function<bool(BytesView)>& take) {
  const Archive a = new_archive();
  support_compression(a.get());
  archive_read_support_format_raw(a.get());
  Range range(file, 0, file.size(), 1 << 16);
  range.open(a.get());
  archive_entry* entry = nullptr;
  int code = range.opened() ? archive_read_next_header(a.get(), &entry) : ARCHIVE_FATAL;
  while (code == ARCHIVE_OK) {
    const void* data = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    code = archive_read_data_block(a.get(), &data, &size, &offset);
    if (code != ARCHIVE_OK) break;
    if (!take({static_cast<const std::byte*>(data), size})) return;
  }
  range.check();
  if (code != ARCHIVE_EOF) {
    fail(file.path().string(), "cannot be inflated (" + message_of(a.get()) + ")");
  }
}

}  // namespace

bool tar_begins(const InputFile& file) {
  if (!is_compressed(file)) return tar_begins_at(file, 0, file.size());
  TarHeader header{};
  std::size_t have = 0;
  try {
    inflate_pieces(file, [&](BytesView bytes) {
      const std::size_t more = std::min(bytes.size(), header.size() - have);
      std::memcpy(header.data() + have, bytes.data(), more);
      have += more;
      return have < header.size();
    });
  } catch (const UsageError&) {
    return false;
  }
  return have == header.size() && checksum_is_right(header);
}

std::vector<std::string> first_tar_names(const InputFile& file, std::size_t count) {
  const Archive a = new_archive();
  support_compression(a.get());
  archive_read_support_format_tar(a.get());
  Range range(file, 0, file.size(), 4096);
  range.open(a.get());
  std::vector<std::string> names;
  archive_entry* entry = nullptr;
  while (range.opened() && names.size() < count &&
         archive_read_next_header(a.get(), &entry) >= ARCHIVE_WARN) {
    if (archive_entry_filetype(entry) == AE_IFREG) names.push_back(name_of(entry));
  }
  range.check();
  return names;
}

std::uint64_t inflate(const InputFile& file, ScratchFile& to) {
  std::uint64_t total = 0;
  std::string no_room;
  inflate_pieces(file, [&](BytesView bytes) {
    try {
      to.append(bytes);
    } catch (const SystemError& error) {
      no_room = error.what();
      return false;
    }
    total += bytes.size();
    return true;
  });
  if (!no_room.empty()) {
    throw SystemError("cannot inflate " + file.path().string() + " beyond " +
                      std::to_string(total) + " bytes (" + no_room +
                      "); set TMPDIR to a folder with more room, or unpack it by hand");
  }
  return total;
}

}  // namespace winnow::datasets
