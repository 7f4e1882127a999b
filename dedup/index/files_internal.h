#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "common/checksum.h"
#include "common/file.h"
#include "dedup/index/index.h"

// The files of an index besides its tables. Their content is checked by hashes when read. Readers
// still check whatever could cause invalid access, and throw FormatError naming the file. Writers
// are durable and return the XXH3-128 of the file.
namespace winnow::dedup {

// Marks a row that does not match by its code.
inline constexpr std::uint32_t kNoCode = 0xFFFFFFFF;

// The codes and links of one segment (rows that were added together), by row numbers of the index:
// for each row the first row with its code (or kNoCode), and the links between these first rows. A
// link goes from a row of the segment to another one in it, or in an earlier segment.
struct CodeLinks {
  std::vector<std::uint32_t> firsts;  // first row with the code of each row of the segment
  std::vector<Edge> edges;
};
Hash128 write_links(const std::filesystem::path& path, int radius, CodeLinks links);

class LinksFile {
 public:
  // Opens the file of rows [first_row, first_row + rows).
  LinksFile(std::shared_ptr<const InputFile> file, int radius, std::uint64_t first_row,
            std::uint64_t rows);
  std::vector<std::uint32_t> read_firsts() const;
  // Calls `sink` with the links whose distance is in this range, by ascending distance.
  void for_each(int nearest, int furthest, const EdgeSink& sink) const;

 private:
  std::shared_ptr<const InputFile> file_;
  std::vector<std::uint64_t> starts_;  // where the links of each distance begin, and the end
  std::uint64_t first_row_;
  std::uint64_t rows_;
  std::uint64_t firsts_at_ = 0;
  std::uint64_t a_at_ = 0;
  std::uint64_t b_at_ = 0;
};

// Writes the names of the samples `ids` (ascending). FormatError if `names` lacks one.
Hash128 write_names(const std::filesystem::path& path, std::span<const SampleId> ids,
                    const NameSource& names);

class NamesFile {
 public:
  NamesFile(std::shared_ptr<const InputFile> file, std::uint64_t rows);
  std::string name(std::size_t row) const;
  void for_each(const std::function<void(std::size_t row, std::string_view name)>& take) const;

 private:
  std::shared_ptr<const InputFile> file_;
  std::vector<std::uint64_t> offsets_;
  std::uint64_t text_at_ = 0;
};

// The numbers of deleted rows, ascending.
Hash128 write_tombstones(const std::filesystem::path& path, std::span<const std::uint32_t> rows);
std::vector<std::uint32_t> read_tombstones(const InputFile& file, std::uint64_t rows,
                                           std::uint64_t count);

}  // namespace winnow::dedup
