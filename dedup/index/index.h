#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/sample.h"
#include "common/stop.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/policy/names.h"
#include "dedup/table/fingerprints.h"

namespace winnow::dedup {

// An index is a growing folder of fingerprints (docs/formats/index.md). It holds tables of what was
// added, which rows were deleted since, and the links between codes up to a radius.
// Adding to it, and deduplicating it at any threshold up to the radius, therefore needs no search
// among the rows already there.
// Decisions about an index equal those about one table of its live rows.

// The hash and radius of an index. The same for everything added to it.
struct IndexKind {
  std::string hash;  // a row of hashes.h, with its scale
  std::uint32_t version = 0;
  int bits = 64;
  int radius = 8;  // bits; links up to this distance are stored
  friend bool operator==(const IndexKind&, const IndexKind&) = default;
};

// A data set in an index. Its number is the upper part of its sample ids and never changes.
struct IndexSource {
  std::string name;  // never an absolute path
  std::string format;
  std::uint64_t inputs = 0;
  std::string listing_hash;  // identifies the data set, together with name and format
  std::vector<std::string> class_names;
  // The rows added from it: their number, and XXH3-128 of their positions, file hashes and pixel
  // hashes. Empty: not computed yet.
  std::uint64_t rows = 0;
  std::string content;
};

// A row of a table with a duplicate in an index.
struct Match {
  std::uint32_t row = 0;
  SampleId id = 0;             // the nearest one in the index; ties go to the lowest id
  std::uint32_t distance = 0;  // bits; 0 for equal files or pixels
  friend bool operator==(const Match&, const Match&) = default;
};

class OpenIndex;
class KnownLandmarks;
struct FittedModel;

// An index as it was when opened. Later changes do not affect it, nor what it returned.
//
// Files      Are compared with their hashes when first read.
// Landmarks  Are memory-mapped. If their file is removed under a reader, as on NFS from another
//            machine, reading it ends the process (SIGBUS).
// Threads    One at a time. What it returns may outlive it.
// Errors     FormatError from every function: names the file that is damaged, truncated, missing or
//            too new.
class StoredIndex {
 public:
  // UsageError if there is no index, or a cache; SystemError if that cannot be determined.
  static StoredIndex open(const std::filesystem::path& folder);
  // nullopt if there is no index.
  static std::optional<StoredIndex> find(const std::filesystem::path& folder);

  const std::filesystem::path& folder() const noexcept;
  const IndexKind& kind() const noexcept;
  const std::vector<IndexSource>& sources() const noexcept;
  const std::vector<std::string>& classes() const noexcept;  // by label
  std::uint64_t live_rows() const noexcept;
  std::uint64_t deleted_rows() const noexcept;  // rows that a compaction would drop
  std::uint64_t bytes() const noexcept;         // size of its files
  std::size_t segments() const noexcept;

  // The live rows, as deduplicate() takes them. The only codes are those of kind().hash.
  ColumnSource columns() const;
  // Thumbnails of the live rows. Empty if something was added to the index without thumbnails.
  ThumbnailSource thumbnails() const;
  // The landmarks of some live rows, ascending (verify/known_landmarks.h).
  //
  // Storage  The index's folder has a file of landmarks for each table of fingerprints, which is
  //          mapped.
  // If a file is missing, damaged or of another version
  // - The landmarks of all pictures of the table are computed, 0.5 ms each.
  // - They are stored if possible. A folder that is read-only, full or being changed is no error.
  // Errors   UsageError if thumbnails() has none; StoppedError.
  struct Landmarks {
    std::shared_ptr<KnownLandmarks> known;
    std::uint64_t made = 0;     // pictures whose landmarks had to be computed
    std::string not_kept = {};  // why the computed landmarks were not stored; empty: they were
  };
  Landmarks landmarks(std::span<const std::uint32_t> rows, const SearchOptions& search = {}) const;
  // The verification model of the live rows (fitted.h). Stored in the index's folder if possible,
  // as landmarks are. Refitted, in a second or two, if the rows have changed.
  // Errors  UsageError if thumbnails() has none; StoppedError.
  FittedModel fitted(const StopRequested& stop = {}) const;
  // Average number of landmarks a picture: the stored figure, else measured on 160 pictures.
  double landmarks_a_picture() const;

  // The links between live rows, numbered as in columns(), as find_edges() finds them.
  // Up to kind().radius they are read without a search; beyond it find_edges() runs. Rows must
  // ascend and have enough quality. Needs 12 bytes a row.
  // search  How to search beyond the radius; progress and stop always apply.
  LinkSource links(const SearchOptions& search = {}) const;
  NameSource names() const;  // for the live rows
  // Error for an id that is not live; 16 bytes a row.
  std::function<std::string(SampleId)> name_of() const;

  // 32 hex digits that depend on the live rows alone, not on how they were added.
  std::string digest() const;

  // The rows of a table that have a duplicate among the live rows, ascending: equal files or pixels
  // or, if both have enough quality, codes at most `threshold` bits apart.
  // Errors  UsageError for a table without the index's codes, or with another version of them, and
  //         as check_quality().
  std::vector<Match> find_matches(const ColumnSource& table, int threshold,
                                  const SearchOptions& search = {},
                                  LeastQuality least_quality = {}) const;
  // UsageError if images of lower quality shall match than the index has links for.
  void check_quality(LeastQuality least) const;

 private:
  explicit StoredIndex(std::shared_ptr<const OpenIndex> index);
  std::shared_ptr<const OpenIndex> index_;
};

// New rows for an index: from some sources, in ascending order of ids. The upper part of an id is
// the position of its source in this list.
struct Addition {
  std::vector<IndexSource> sources;
  // Names of the labels in `columns`; further labels have no name.
  std::vector<std::string> classes;
  ColumnSource columns;
  NameSource names;
  ThumbnailSource thumbnails = {};  // empty: the index will have none for these rows
};

inline constexpr std::string_view kUsualIndexHash = "phash16";

// Settings of an index that is new or still empty. For any other index they must match it.
struct IndexOptions {
  std::optional<std::string> hash;  // default: kUsualIndexHash if `columns` has it, else phash
  // Default: an eighth of the largest distance of two codes, or the hash's usual threshold + 4 if
  // that is more.
  std::optional<int> radius;
};

struct Added {
  std::uint64_t rows = 0;
  std::vector<std::string> sources;  // names of the new ones
  std::vector<std::string> known;    // names of those that were in the index already
};

// Changes of an index.
//
// Atomic    Each happens completely or not at all, even if it throws or the process dies. If the
//           process dies while making a new index, an empty one may remain.
// Durable   When the function returns.
// Errors    UsageError while another change is running.
// Stop      `search.stop` is asked throughout: StoppedError, and what was written is removed.
// Progress  `search.progress` reports searches.

// Adds the rows of sources that are not in the index. Makes the index if there is none.
// - Labels are translated by class names. New classes come last.
// - The new codes are searched among themselves and against those already there.
// - A source whose rows are all deleted can be added again.
// Errors  UsageError for another hash, version or radius, and for a known source with other rows.
Added add_to_index(const std::filesystem::path& folder, const Addition& addition,
                   const IndexOptions& options = {}, const SearchOptions& search = {});

// Appends the live rows of another index of the same kind. Only its new rows are searched against
// those already there.
Added merge_indexes(const std::filesystem::path& folder, const std::filesystem::path& other,
                    const SearchOptions& search = {});

// Which live rows to delete: those with these names or ids, within `source` if given. With a source
// alone: all of it.
struct Deletion {
  std::vector<std::string> names;
  std::vector<SampleId> ids;
  std::optional<std::uint32_t> source;
};
// Returns the number of deleted rows. UsageError, and nothing is deleted, for an unknown name or
// id, and for a name that occurs in several sources.
std::uint64_t delete_from_index(const std::filesystem::path& folder, const Deletion& deletion,
                                const StopRequested& stop = {});

// Drops deleted rows permanently and merges all segments into one. Ids do not change. Returns the
// number of dropped rows.
std::uint64_t compact_index(const std::filesystem::path& folder, const StopRequested& stop = {});

}  // namespace winnow::dedup
