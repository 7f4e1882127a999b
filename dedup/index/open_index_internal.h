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

// The files of one manifest, open. Rows are numbered through all segments, dead or alive.
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
  // What they give may outlive this.
  ThumbnailSource thumbnails() const;
  ThumbnailSource thumbnails(std::size_t segment) const;
  ThumbnailSource live_thumbnails() const;
  // By row: the first one of the same code, or kNoCode.
  std::vector<std::uint32_t> read_firsts() const;
  // The links between first rows of these distances, ascending by distance.
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
  // Its bytes are those that were written.
  const std::shared_ptr<const InputFile>& checked(const File& file, const SealedFile& sealed) const;
  LinksFile open_links(std::size_t segment) const;
  [[noreturn]] void refuse_rows(std::size_t segment) const;

  std::filesystem::path folder_;
  IndexManifest manifest_;
  std::vector<SegmentFiles> segments_;
  std::vector<std::uint64_t> first_rows_;  // of the segments, and the end
  std::vector<bool> live_;
};

// Nothing where there is no index. UsageError for a cache, FormatError for files of an index that
// has lost its manifest.
std::shared_ptr<const OpenIndex> find_index(const std::filesystem::path& folder);
// UsageError where there is none.
std::shared_ptr<const OpenIndex> open_index(const std::filesystem::path& folder);

// Has `write` make a file that can be made again, of what ends with this segment. Returns why it
// did not, if not. Alone, as a change of the index is: two who write one file at a time spoil it,
// and of a table that a change removes nothing is to be kept.
std::string keep_beside(const OpenIndex& index, const Segment& segment,
                        const std::function<void()>& write);

// "codes:phash", as a column is asked for.
std::string codes_name(const IndexKind& kind);
// The codes of a table that was asked for them. UsageError, naming `what` it is, for codes of
// another version, or none.
const CodeColumn& comparable_codes(const Fingerprints& table, const IndexKind& kind,
                                   std::string_view what);
// UsageError for more bits than two codes can be apart.
void check_threshold(const CodeColumn& codes, int threshold);

// By row: the first of `rows` with the same code, as links() of distance 0 tell; kNoCode for a row
// that is not among them. `rows` ascending.
std::vector<std::uint32_t> first_rows_of(const CodeColumn& codes,
                                         std::span<const std::uint32_t> rows, std::size_t row_count,
                                         const LinkSource& links);
// StoppedError where that is asked for.
void check_stop(const StopRequested& stop);
// The rows that are their own first ones.
std::vector<std::uint32_t> own_firsts(std::span<const std::uint32_t> first_of);

}  // namespace winnow::dedup
