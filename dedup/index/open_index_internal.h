#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/file.h"
#include "dedup/index/files_internal.h"
#include "dedup/index/index.h"
#include "dedup/index/manifest_internal.h"

namespace winnow::dedup {

// The open files of one manifest. Rows are numbered across all segments, live or deleted.
class OpenIndex {
 public:
  OpenIndex(std::filesystem::path folder, IndexManifest manifest);
  OpenIndex(const OpenIndex&) = delete;
  OpenIndex& operator=(const OpenIndex&) = delete;

  const std::filesystem::path& folder() const noexcept { return folder_; }
  const IndexManifest& manifest() const noexcept { return manifest_; }
  std::uint64_t rows() const noexcept { return live_.size(); }
  std::uint64_t live_rows() const noexcept { return rows() - manifest_.deleted; }
  const std::vector<bool>& live() const noexcept { return live_; }  // by row

  Fingerprints columns(const ColumnNames& names) const;
  Fingerprints columns(std::size_t segment, const ColumnNames& names) const;
  Fingerprints live_columns(const ColumnNames& names) const;
  // Read from the files. The results may outlive this object.
  ThumbnailSource thumbnails() const;
  ThumbnailSource thumbnails(std::size_t segment) const;
  ThumbnailSource live_thumbnails() const;
  // For each row of the index the first row with the same code, or kNoCode.
  std::vector<std::uint32_t> read_firsts() const;
  // Calls `sink` with the links between first rows (of one code each) at these distances, ascending
  // by distance.
  void for_each_link(int nearest, int furthest, const EdgeSink& sink) const;
  void for_each_name(const std::function<void(std::uint64_t row, std::string_view)>& take) const;
  NamesFile open_names(std::size_t segment) const;
  std::uint64_t first_row(std::size_t segment) const noexcept { return first_rows_[segment]; }

 private:
  struct File {
    std::shared_ptr<const InputFile> input;
    mutable bool checked = false;
  };
  struct SegmentFiles {
    File table;
    File names;
    File links;
  };
  File open(const SealedFile& sealed) const;
  // Opens a file and checks its hash.
  const std::shared_ptr<const InputFile>& checked(const File& file, const SealedFile& sealed) const;
  LinksFile open_links(std::size_t segment) const;
  [[noreturn]] void refuse_rows(std::size_t segment) const;

  std::filesystem::path folder_;
  IndexManifest manifest_;
  std::vector<SegmentFiles> segments_;
  std::vector<std::uint64_t> first_rows_;  // number of the first row of each segment, and the end
  std::vector<bool> live_;
};

// Opens the index in a folder. nullptr if there is none. UsageError for a cache; FormatError for
// the files of an index without a manifest.
std::shared_ptr<const OpenIndex> find_index(const std::filesystem::path& folder);
// Opens the index in a folder. UsageError if there is none.
std::shared_ptr<const OpenIndex> open_index(const std::filesystem::path& folder);

// Writes a file that can be computed again, such as landmarks, for all segments up to this one:
// calls `write`. Returns why it was not written; empty: it was.
// Takes the lock of a change: two writers would spoil the file, and a table that is just being
// removed must get none.
std::string keep_beside(const OpenIndex& index, const Segment& segment,
                        const std::function<void()>& write);

// The name of the column of the index's codes: "codes:phash".
std::string codes_name(const IndexKind& kind);
// The codes of a table that was read with them. UsageError if they are missing or of another
// version; `what` names the table in it.
const CodeColumn& comparable_codes(const Fingerprints& table, const IndexKind& kind,
                                   std::string_view what);
// Throws UsageError for a threshold beyond the largest distance of two codes.
void check_threshold(const CodeColumn& codes, int threshold);

// For each row the first of `rows` (ascending) with the same code, found by the links of distance
// 0. kNoCode for a row that is not in `rows`.
std::vector<std::uint32_t> first_rows_of(const CodeColumn& codes,
                                         std::span<const std::uint32_t> rows, std::size_t row_count,
                                         const LinkSource& links);
// Throws StoppedError if a stop was requested.
void check_stop(const StopRequested& stop);
// The rows that are the first with their code.
std::vector<std::uint32_t> own_firsts(std::span<const std::uint32_t> first_of);

}  // namespace winnow::dedup
