#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/file.h"

namespace winnow::datasets {

// One member of a tar archive.
struct TarMember {
  enum class Kind {
    kFile,
    kSparse,  // a sparse file: its bytes are not contiguous
    kFolder,
    kLink,      // symbolic
    kLostLink,  // hard link without an earlier member of that name
    kOther      // pipes, devices
  };
  std::string name;  // as tar_name() gives it; never empty
  Kind kind = Kind::kFile;
  std::uint64_t offset = 0;  // where its bytes begin in the file
  std::uint64_t bytes = 0;
};

// A member's name in the form of listings: relative, with '/' between parts, without "." and empty
// parts. ".." removes the part before it, if there is one. Empty for the root itself. Nothing is
// ever written to such a path.
std::string tar_name(std::string_view raw);

// Lists the archive in bytes [begin, end) of `file` until `take` returns false. Skips the members'
// bytes.
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

// Whether a tar header with a correct checksum lies there.
bool tar_begins_at(const InputFile& file, std::uint64_t begin, std::uint64_t end);

// Whether the file is compressed, by its first bytes: gzip, bzip2, xz, zstd or lz4.
bool is_compressed(const InputFile& file);

// Whether the file, plain or compressed, begins as a tar does.
bool tar_begins(const InputFile& file);

// The names (tar_name()) of the first files in an archive, plain or compressed; fewer if it is
// damaged.
std::vector<std::string> first_tar_names(const InputFile& file, std::size_t count);

// Inflates a compressed file to the end of `to`, and returns the number of bytes.
// Errors  UsageError: damaged. SystemError: no space.
std::uint64_t inflate(const InputFile& file, ScratchFile& to);

}  // namespace winnow::datasets
