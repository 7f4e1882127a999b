#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/expected.h"
#include "common/file.h"
#include "datasets/open_files.h"
#include "datasets/source.h"
#include "datasets/tar_file.h"

namespace winnow::datasets {

// The name of a tar archive without its ending: .tar, .tar.gz, .tgz, .tar.bz2, .tbz2, .tar.xz,
// .txz, .tar.zst, .tzst or .tar.lz4; nullopt for other endings.
std::optional<std::string_view> tar_stem(std::string_view file_name);

// Whether the path stands for a range of archives, as "shard-{000000..000012}.tar".
bool is_shard_range(const std::filesystem::path& path);

struct TarPath {
  std::filesystem::path path;
  std::string name;  // the archive's relative name without ending; empty if it is the only one
};

// Finds the archives that a path stands for, sorted by name.
// - a file: itself
// - a range: its files; UsageError if one is missing
// - a folder: the archives in it or, if there are none, those in its folders named like splits.
//   Empty if there are none, or if there are other folders or images beside them.
std::vector<TarPath> find_tars(const std::filesystem::path& path);

// Several tar archives as one sequence of bytes. An address is a position in it. Compressed
// archives are inflated once, into a temporary file. The others stay in their files, of which the
// most recently used ones stay open. Thread-safe.
// Errors  UsageError for a file that is no archive; SystemError.
class TarSet {
 public:
  explicit TarSet(const std::vector<TarPath>& tars);

  std::size_t size() const noexcept { return parts_.size(); }
  std::uint64_t inflated_bytes() const noexcept { return inflated_bytes_; }

  // Lists the members of archive number `tar` until `take` returns false. Offsets of members are
  // addresses. Returns the result of list_tar().
  bool list(std::size_t tar, const std::function<bool(const TarMember&)>& take) const;
  // Lists the members of an archive that is itself a member of archive number `tar`; no calls if it
  // is no archive.
  bool list_inside(std::size_t tar, const TarMember& inner,
                   const std::function<bool(const TarMember&)>& take) const;

  // Reads the bytes of a member at its address. Returns what Source::read() would.
  Expected<Payload, ReadError> read(std::uint64_t address, std::uint64_t bytes) const;
  // The content of a small member as text, for use during listing. Throws SystemError.
  std::string text(std::size_t tar, const TarMember& member) const;

 private:
  struct Part {
    std::filesystem::path path;
    std::uint64_t address;  // address (see TarSet) of the archive's first byte
    std::uint64_t begin;    // offset of the archive's first byte in the file that has it
    std::uint64_t bytes;
    std::optional<std::size_t> file;  // number in files_; nullopt: the archive was inflated
  };

  // Calls `use` with the file that has the bytes of the archive.
  void with_file(const Part& part, const std::function<void(const InputFile&)>& use) const;
  bool list_range(const Part& part, std::uint64_t begin, std::uint64_t end,
                  const std::string& where,
                  const std::function<bool(const TarMember&)>& take) const;

  std::vector<Part> parts_;
  OpenFiles files_;  // files of archives that need not be inflated
  std::optional<InputFile> inflated_;
  std::uint64_t inflated_bytes_ = 0;
};

}  // namespace winnow::datasets
