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

// The part of a file's name before .tar, .tar.gz, .tgz, .tar.bz2, .tbz2, .tar.xz, .txz, .tar.zst,
// .tzst or .tar.lz4; nothing where it ends otherwise.
std::optional<std::string_view> tar_stem(std::string_view file_name);

// Whether the path is one like "shard-{000000..000012}.tar", which stands for many.
bool is_shard_range(const std::filesystem::path& path);

struct TarPath {
  std::filesystem::path path;
  std::string name;  // relative, without its ending; empty where there is only this one file
};

// The archives that a path stands for, sorted by name: a file is itself; a range is its files; a
// folder is the archives in it or, where it has none, those in its folders named like splits. Empty
// where a folder has none, or has folders or images beside them. Throws UsageError for a range with
// a file that is missing.
std::vector<TarPath> find_tars(const std::filesystem::path& path);

// Archives side by side, each byte of what they hold (inflated) at one address. Compressed ones are
// inflated once, into a temporary file; of others those read last stay open. Safe from many
// threads. Throws UsageError for what is no archive, SystemError.
class TarSet {
 public:
  explicit TarSet(const std::vector<TarPath>& tars);

  std::size_t size() const noexcept { return parts_.size(); }
  std::uint64_t inflated_bytes() const noexcept { return inflated_bytes_; }

  // Every member of one archive until `take` returns false, with offsets that are addresses.
  // Returns what list_tar() does.
  bool list(std::size_t tar, const std::function<bool(const TarMember&)>& take) const;
  // Those of an archive that is a member of archive `tar`; none when it is no archive.
  bool list_inside(std::size_t tar, const TarMember& inner,
                   const std::function<bool(const TarMember&)>& take) const;

  // An input as Source::read() has it.
  Expected<Payload, ReadError> read(std::uint64_t address, std::uint64_t bytes) const;
  // The same of a small member while it is listed. Throws SystemError.
  std::string text(std::size_t tar, const TarMember& member) const;

 private:
  struct Part {
    std::filesystem::path path;
    std::uint64_t address;  // of its first byte
    std::uint64_t begin;    // and where that lies in its file
    std::uint64_t bytes;
    std::optional<std::size_t> file;  // its number in files_; none: it is inflated
  };

  // Calls with the file that holds the part.
  void with_file(const Part& part, const std::function<void(const InputFile&)>& use) const;
  bool list_range(const Part& part, std::uint64_t begin, std::uint64_t end,
                  const std::string& where,
                  const std::function<bool(const TarMember&)>& take) const;

  std::vector<Part> parts_;
  OpenFiles files_;  // those that are not inflated
  std::optional<InputFile> inflated_;
  std::uint64_t inflated_bytes_ = 0;
};

}  // namespace winnow::datasets
