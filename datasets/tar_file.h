#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/file.h"

namespace winnow::datasets {

// What a tar archive holds, one member after the other.
struct TarMember {
  enum class Kind {
    kFile,
    kSparse,  // a file with its holes left out: its bytes do not lie together
    kFolder,
    kLink,      // symbolic
    kLostLink,  // hard, to what the archive does not have before it
    kOther      // pipes, devices
  };
  std::string name;  // as tar_name() gives it; never empty
  Kind kind = Kind::kFile;
  std::uint64_t offset = 0;  // where its bytes begin in the file
  std::uint64_t bytes = 0;
};

// A member's name as names in listings are: relative, '/' between parts, without "." and empty
// parts;
// ".." takes away the part before it, where there is one. Empty for the root itself. It is a name
// only: nothing is ever written where it leads.
std::string tar_name(std::string_view raw);

// Lists an archive (POSIX, PAX, GNU and old tar; long names; several archives one behind the other)
// that lies in bytes [begin, end) of `file`, until `take` returns false. The members' bytes are
// skipped, not read. A hard link is the file it leads to, under its own name; an archive that has
// some is gone through three times. `where` names the archive in messages. False when it was listed
// to its end and no end mark is there, as where a copy was cut short between two members. Throws
// UsageError naming the place: a damaged header, a member that reaches beyond the end.
bool list_tar(const InputFile& file, std::uint64_t begin, std::uint64_t end,
              const std::string& where, const std::function<bool(const TarMember&)>& take);

// Whether something that a tar may begin with lies there: a header with a right checksum.
bool tar_begins_at(const InputFile& file, std::uint64_t begin, std::uint64_t end);

// Whether the file is compressed, by its first bytes: gzip, bzip2, xz, zstd or lz4.
bool is_compressed(const InputFile& file);

// Whether the file, plain or compressed, begins as a tar does.
bool tar_begins(const InputFile& file);

// The names of the first files in an archive, plain or compressed, as tar_name() gives them; fewer
// where it is damaged.
std::vector<std::string> first_tar_names(const InputFile& file, std::size_t count);

// Inflates all of a compressed file to the end of `to`, and returns how many bytes that took.
// Throws UsageError for damage, SystemError where there is no room for it.
std::uint64_t inflate(const InputFile& file, ScratchFile& to);

}  // namespace winnow::datasets
