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

// The files of an index beside its tables. What is read is vouched for by its hash; readers check
// what could lead them astray all the same, and throw FormatError naming the file. Writers are
// durable and return the XXH3-128 of the file.
namespace winnow::dedup {

// Of a row that matches nothing by its code.
inline constexpr std::uint32_t kNoCode = 0xFFFFFFFF;

// What a segment adds, by numbers of rows in the index: the first row of each row's code, or
// kNoCode, and the links between first rows. A link goes from a row of the segment to another of it
// or of an earlier one.
struct CodeLinks {
  std::vector<std::uint32_t> firsts;  // of the segment's rows
  std::vector<Edge> edges;
};
Hash128 write_links(const std::filesystem::path& path, int radius, CodeLinks links);

class LinksFile {
 public:
  // Of rows [first_row, first_row + rows).
  LinksFile(std::shared_ptr<const InputFile> file, int radius, std::uint64_t first_row,
            std::uint64_t rows);
  std::vector<std::uint32_t> read_firsts() const;
  // Those of a distance in this range, ascending.
  void for_each(int nearest, int furthest, const EdgeSink& sink) const;

 private:
  std::shared_ptr<const InputFile> file_;
  std::vector<std::uint64_t> starts_;  // of the links of each distance, and the end
  std::uint64_t first_row_;
  std::uint64_t rows_;
  std::uint64_t firsts_at_ = 0;
  std::uint64_t a_at_ = 0;
  std::uint64_t b_at_ = 0;
};

// Names of the samples `ids`, ascending. FormatError when `names` lacks one.
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
