#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/file.h"

namespace winnow::datasets {

// A member (file) of a tar archive.
struct TarMember {
  enum class Kind {
    kFile,
    kSparse,  // a sparse file, whose bytes are not contiguous
    kFolder,
    kLink,      // symbolic
    kLostLink,  // a hard link to a name that no earlier member has
    kOther      // pipes, devices
  };
  std::string name;  // name as by tar_name(); never empty
  Kind kind = Kind::kFile;
  std::uint64_t offset = 0;  // offset of the member's first byte in the archive's file
  std::uint64_t bytes = 0;
};

// Makes a relative name from that of a tar member: '/' between parts, without "." and empty parts;
// ".." removes the part before it, if there is one. Empty for the root itself. Nothing is ever
// written to such a path.
std::string tar_name(std::string_view raw);

// Lists the members of a tar archive, which is bytes [begin, end) of `file`, until `take` returns
// false. Skips the members' bytes.
//
// Formats     POSIX, PAX, GNU and old tar; long names; several archives one after the other.
// Hard links  Listed as the file they refer to, under their own name. An archive with hard links is
//             read three times.
// where       Name of the archive in messages.
// Returns     False if it was listed to its end and has no end mark, as when a copy was cut off
//             between two members.
// Errors      UsageError naming the place: a damaged header, a member beyond the end.
bool list_tar(const InputFile& file, std::uint64_t begin, std::uint64_t end,
              const std::string& where, const std::function<bool(const TarMember&)>& take);

// Whether a tar header with a correct checksum is at `begin`.
bool tar_begins_at(const InputFile& file, std::uint64_t begin, std::uint64_t end);

// Whether the file is compressed, by its first bytes: gzip, bzip2, xz, zstd or lz4.
bool is_compressed(const InputFile& file);

// Whether the file, plain or compressed, begins like a tar archive.
bool tar_begins(const InputFile& file);

// The names (tar_name()) of the first `count` files in an archive, plain or compressed; fewer if it
// is damaged.
std::vector<std::string> first_tar_names(const InputFile& file, std::size_t count);

// Appends the inflated bytes of a compressed file to `to`. Returns their number.
// Errors  UsageError: damaged. SystemError: no space.
std::uint64_t inflate(const InputFile& file, ScratchFile& to);

}  // namespace winnow::datasets
