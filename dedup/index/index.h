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

// An index: a folder of fingerprints to which data sets are added (docs/formats/index.md). It holds
// - tables of what was added, and which rows were deleted since; the others are live
// - links: pairs of rows whose codes are within a radius
//
// Adding to it, and deduplicating it at any threshold up to the radius, therefore needs no search
// among the rows already there.
// Decisions about an index equal those about one table of its live rows.

// The hash and radius of an index, which are the same for everything added to it.
struct IndexKind {
  std::string hash;  // name of the hash with its scale (hash_name.h)
  std::uint32_t version = 0;
  int bits = 64;
  int radius = 8;  // bits; pairs up to this distance are stored as links
  friend bool operator==(const IndexKind&, const IndexKind&) = default;
};

// A data set that was added to an index. Its number is the upper part of its sample ids and never
// changes.
struct IndexSource {
  std::string name;  // never an absolute path
  std::string format;
  std::uint64_t inputs = 0;
  std::string listing_hash;  // identifies the data set, together with name and format
  std::vector<std::string> class_names;
  // The rows that were added from the data set: their number, and `content`, XXH3-128 of their
  // positions, file hashes and pixel hashes as text. Empty: not computed yet.
  std::uint64_t rows = 0;
  std::string content;
};

// A row of a queried table that has a duplicate in an index.
struct Match {
  std::uint32_t row = 0;
  SampleId id = 0;             // nearest image in the index; the lowest id on a tie
  std::uint32_t distance = 0;  // bits between both codes; 0 for equal files or pixels
  friend bool operator==(const Match&, const Match&) = default;
};

class OpenIndex;
class KnownLandmarks;
struct FittedModel;

// A snapshot of an index, for reading. Later changes of the index affect neither it nor what it
// returned.
//
// Files      Each file is compared with its hash when first read.
// Landmarks  Are memory-mapped. If their file is removed meanwhile, as on NFS from another machine,
//            reading them ends the process (SIGBUS).
// Threads    One at a time. What its functions return may outlive it.
// Errors     Every function may throw FormatError, which names the file that is damaged, truncated,
//            missing or too new.
class StoredIndex {
 public:
  // Opens the index in `folder`. Throws UsageError if there is none, or a cache; SystemError if
  // that cannot be determined.
  static StoredIndex open(const std::filesystem::path& folder);
  // Like open(), but returns nullopt if there is no index.
  static std::optional<StoredIndex> find(const std::filesystem::path& folder);

  const std::filesystem::path& folder() const noexcept;
  const IndexKind& kind() const noexcept;
  const std::vector<IndexSource>& sources() const noexcept;
  const std::vector<std::string>& classes() const noexcept;  // by label
  std::uint64_t live_rows() const noexcept;
  std::uint64_t deleted_rows() const noexcept;  // number of rows that compact_index() would remove
  std::uint64_t bytes() const noexcept;         // size of its files
  std::size_t segments() const noexcept;

  // The columns of the live rows, as deduplicate() takes them. Codes are only those of kind().hash.
  ColumnSource columns() const;
  // Thumbnails of the live rows. Empty if some rows were added without thumbnails.
  ThumbnailSource thumbnails() const;
  // The landmarks (keypoints with descriptors) of some live rows, ascending
  // (verify/known_landmarks.h).
  //
  // Storage  The index's folder has a file of landmarks for each of its tables, which is
  //          memory-mapped.
  // If a file is missing, damaged or of another version
  // - The landmarks of all pictures of its table are computed, 0.5 ms each.
  // - They are stored if possible. It is no error if the folder is read-only, full or being
  //   changed.
  // Errors   UsageError if thumbnails() is empty; StoppedError.
  struct Landmarks {
    std::shared_ptr<KnownLandmarks> known;
    std::uint64_t made = 0;     // number of pictures whose landmarks had to be computed
    std::string not_kept = {};  // why computed landmarks could not be stored; empty: they were
  };
  Landmarks landmarks(std::span<const std::uint32_t> rows, const SearchOptions& search = {}) const;
  // The verification model for the live rows (fitted.h), from the index's folder. If the rows have
  // changed, it is fitted again, in a second or two, and stored if possible, as landmarks are.
  // Errors  UsageError if thumbnails() is empty; StoppedError.
  FittedModel fitted(const StopRequested& stop = {}) const;
  // Average number of landmarks of a picture: the stored figure, else measured on 160 pictures.
  double landmarks_a_picture() const;

  // The links between live rows, numbered as in columns(); the same as find_edges() finds. Up to
  // kind().radius they are read without a search; beyond it find_edges() runs.
  // in      Requested rows must ascend and have enough quality.
  // search  How to search beyond the radius; its progress and stop always apply.
  // Memory  12 bytes a row.
  LinkSource links(const SearchOptions& search = {}) const;
  NameSource names() const;  // for the live rows
  // Returns a function from ids to names, which throws Error for an id that is not live. Memory: 16
  // bytes a row.
  std::function<std::string(SampleId)> name_of() const;

  // A digest of the live rows as 32 hex digits. It does not depend on how they were added.
  std::string digest() const;

  // Finds the rows of a table that have a duplicate among the live rows: equal files or pixels or,
  // if both have enough quality, codes at most `threshold` bits apart. Rows ascend.
  // Errors  UsageError if the table lacks the index's codes or has another version of them, or as
  //         check_quality().
  std::vector<Match> find_matches(const ColumnSource& table, int threshold,
                                  const SearchOptions& search = {},
                                  LeastQuality least_quality = {}) const;
  // Throws UsageError if `least` is so low that it admits images for which the index has no links.
  void check_quality(LeastQuality least) const;

 private:
  explicit StoredIndex(std::shared_ptr<const OpenIndex> index);
  std::shared_ptr<const OpenIndex> index_;
};

// Rows to be added to an index, from some data sets, in ascending order of ids. The upper part of
// an id is the position of its data set in `sources`.
struct Addition {
  std::vector<IndexSource> sources;
  // The class names of the labels in `columns`, by label. Labels beyond the list have no name.
  std::vector<std::string> classes;
  ColumnSource columns;
  NameSource names;
  ThumbnailSource thumbnails = {};  // empty: the index will have no thumbnails
};

inline constexpr std::string_view kUsualIndexHash = "phash16";

// Settings for an index that is new or still empty. Any other index must have the same.
struct IndexOptions {
  std::optional<std::string> hash;  // default: kUsualIndexHash if `columns` has it, else phash
  // Radius in bits. Default: an eighth of the largest distance of two codes, or the hash's usual
  // threshold + 4 if that is more.
  std::optional<int> radius;
};

struct Added {
  std::uint64_t rows = 0;
  std::vector<std::string> sources;  // names of the data sets that were added
  std::vector<std::string> known;    // names of the data sets that were in the index already
};

// Functions that change an index.
//
// Atomic    A change happens completely or not at all, even if it throws or the process dies. If
//           the process dies while making a new index, an empty one may remain.
// Durable   The change is on disk when the function returns.
// Errors    UsageError while another change is running.
// Stop      `search.stop` is asked throughout: StoppedError, and what was written is removed.
// Progress  `search.progress` reports searches.

// Adds the rows of those data sets that are not in the index. Makes the index if there is none.
// - Labels are translated by class names. New classes come last.
// - The new codes are searched among themselves and against those in the index.
// - A data set whose rows are all deleted can be added again.
// Errors  UsageError for another hash, version or radius than the index's, and if a data set of the
//         index now has other rows.
Added add_to_index(const std::filesystem::path& folder, const Addition& addition,
                   const IndexOptions& options = {}, const SearchOptions& search = {});

// Adds the live rows of another index of the same kind. Only the new rows are searched, against
// each other and those in `folder`.
Added merge_indexes(const std::filesystem::path& folder, const std::filesystem::path& other,
                    const SearchOptions& search = {});

// Selects live rows to delete: by these names or ids, only in `source` if given. `source` alone
// selects all rows of that data set.
struct Deletion {
  std::vector<std::string> names;
  std::vector<SampleId> ids;
  std::optional<std::uint32_t> source;
};
// Deletes rows. Returns their number. Throws UsageError and deletes nothing if a name or id is
// unknown, or a name occurs in several data sets.
std::uint64_t delete_from_index(const std::filesystem::path& folder, const Deletion& deletion,
                                const StopRequested& stop = {});

// Removes deleted rows from the index's files and merges its tables into one. Ids do not change.
// Returns the number of removed rows.
std::uint64_t compact_index(const std::filesystem::path& folder, const StopRequested& stop = {});

}  // namespace winnow::dedup
