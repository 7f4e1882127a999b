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
#include "dedup/deduplicate.h"
#include "dedup/fingerprints.h"

namespace winnow::dedup {

// An index is a folder of fingerprints that grows (docs/formats/index.md): tables of what was
// added, what of it was deleted since, and the links between codes up to a radius, so that neither
// adding to it nor deduplicating it at any threshold up to the radius searches among what is there.
// What is decided of an index is what is decided of one table of its live rows.

// What an index compares by; the same for all that is added.
struct IndexKind {
  std::string hash;  // a row of hashes.h, with its scale
  std::uint32_t version = 0;
  int bits = 64;
  int radius = 8;  // links of codes so many bits apart are kept
  friend bool operator==(const IndexKind&, const IndexKind&) = default;
};

// A data set in an index. Its number is the upper part of the ids of its samples, and stays.
struct IndexSource {
  std::string name;  // never an absolute path
  std::string format;
  std::uint64_t inputs = 0;
  std::string listing_hash;  // what tells it from others, together with name and format
  std::vector<std::string> class_names;
  // Of the rows that were added of it: how many, and XXH3-128 of their positions, file and pixel
  // hashes. Empty where that is yet to be found.
  std::uint64_t rows = 0;
  std::string content;
};

// Takes samples and what people call them, in ascending order of their ids.
using NameSink = std::function<void(SampleId, std::string_view)>;
// Gives them, and perhaps those of others; each time it is called.
using NameSource = std::function<void(const NameSink&)>;

// A row of a table that has a duplicate in an index.
struct Match {
  std::uint32_t row = 0;
  SampleId id = 0;             // of the nearest one in the index, of those the lowest
  std::uint32_t distance = 0;  // bits; 0 for equal files or pixels
  friend bool operator==(const Match&, const Match&) = default;
};

class OpenIndex;
class KnownLandmarks;
struct FittedModel;

// An index as it is when it is opened: later changes do not reach it, nor what it gave.
//
// Files      are compared with their hashes when they are first read
// Landmarks  are mapped: where their file is removed under a reader, as on NFS from another
//            machine, reading it ends the process (SIGBUS)
// Threads    one at a time. What it gives may outlive it
// Throws     FormatError, from everything: it names the file that is damaged, cut, missing or newer
class StoredIndex {
 public:
  // UsageError when there is none, or a cache; SystemError when that cannot be told.
  static StoredIndex open(const std::filesystem::path& folder);
  // Nothing when there is none.
  static std::optional<StoredIndex> find(const std::filesystem::path& folder);

  const std::filesystem::path& folder() const noexcept;
  const IndexKind& kind() const noexcept;
  const std::vector<IndexSource>& sources() const noexcept;
  const std::vector<std::string>& classes() const noexcept;  // by label
  std::uint64_t live_rows() const noexcept;
  std::uint64_t deleted_rows() const noexcept;  // that a compaction would drop
  std::uint64_t bytes() const noexcept;         // of its files
  std::size_t segments() const noexcept;

  // The live rows: what deduplicate() takes. Of codes it has those of kind().hash only.
  ColumnSource columns() const;
  // Of the live rows; empty where what was added to the index was not all with thumbnails.
  ThumbnailSource thumbnails() const;
  // The landmarks of some live rows, ascending (verify/known_landmarks.h). They are kept in the
  // index's folder, each table's beside it, and mapped from there. Those that are missing, damaged
  // or of another version are made of all pictures of their table, 0.5 ms each, and kept where that
  // can be: not where the folder cannot be written to, is full, or is being changed. That is no
  // error. UsageError where thumbnails() has none; StoppedError.
  struct Landmarks {
    std::shared_ptr<KnownLandmarks> known;
    std::uint64_t made = 0;     // pictures whose landmarks were not there
    std::string not_kept = {};  // why the landmarks that were made are not; empty: they are
  };
  Landmarks landmarks(std::span<const std::uint32_t> rows, const SearchOptions& search = {}) const;
  // What the pictures of the live rows say (fitted.h). It is kept in the index's folder, and fitted
  // anew, in a second or two, where the rows are others; as landmarks are where it cannot be kept.
  // UsageError where thumbnails() has none; StoppedError.
  FittedModel fitted(const StopRequested& stop = {}) const;
  // How many landmarks a picture has, on average: as it is kept there, else of 160 of them.
  double landmarks_a_picture() const;

  // The links between live rows, numbered as in columns(): the result of find_edges, without a
  // search up to kind().radius, by find_edges beyond. Rows are to ascend and to be of quality
  // enough. Needs 12 bytes a row. `search`: how, beyond the radius; and whom to tell and ask at
  // any.
  LinkSource links(const SearchOptions& search = {}) const;
  NameSource names() const;                              // of the live rows
  std::function<std::string(SampleId)> name_of() const;  // Error for no live row; 16 bytes a row

  // 32 hex digits that are the same for the same live rows, however they came to be there.
  std::string digest() const;

  // The rows of a table that have a duplicate among the live ones, ascending: equal files or
  // pixels or, where both have quality enough, codes at most `threshold` bits apart.
  // UsageError for a table without the index's codes, or with codes of another version, and as
  // check_quality().
  std::vector<Match> find_matches(const ColumnSource& table, int threshold,
                                  const SearchOptions& search = {},
                                  LeastQuality least_quality = {}) const;
  // UsageError where images of less quality are to match than the index has links of.
  void check_quality(LeastQuality least) const;

 private:
  explicit StoredIndex(std::shared_ptr<const OpenIndex> index);
  std::shared_ptr<const OpenIndex> index_;
};

// What is put into an index: rows of some sources, in ascending order of ids that begin with the
// number of the source in this list.
struct Addition {
  std::vector<IndexSource> sources;
  std::vector<std::string> classes;  // names of the labels in `columns`; labels beyond have none
  ColumnSource columns;
  NameSource names;
  ThumbnailSource thumbnails = {};  // empty: the index will have none, at least not of these
};

inline constexpr std::string_view kUsualIndexHash = "phash16";

// Of a new index, or one that nothing was added to; of another that is there, what it must be.
struct IndexOptions {
  std::optional<std::string> hash;  // default: kUsualIndexHash if `columns` has it, else phash
  // Default: an eighth of what two codes can be apart, or 4 beyond the hash's usual threshold if
  // that is more.
  std::optional<int> radius;
};

struct Added {
  std::uint64_t rows = 0;
  std::vector<std::string> sources;  // names of those that are new
  std::vector<std::string> known;    // and of those that are in the index already
};

// Changes. Each happens wholly or not at all, also when it throws or the process dies; where a new
// index was to be made, an empty one may stay when the process dies. Durable when they return.
// UsageError while another change goes on. `search.stop` is asked throughout: StoppedError, and
// what was written is removed again. `search.progress` is told of searches.

// Adds the rows of sources that are not in the index; makes the index where there is none.
// Labels are translated by the names of their classes. New classes come last.
// Searches the new codes among themselves and against those that are there.
// A source whose rows are all deleted can be added again.
// UsageError for another hash, version or radius, and for a source that is there with other rows.
Added add_to_index(const std::filesystem::path& folder, const Addition& addition,
                   const IndexOptions& options = {}, const SearchOptions& search = {});

// Adds the live rows of another index of the same kind, behind those that are there; searches what
// is new of it only against what is there.
Added merge_indexes(const std::filesystem::path& folder, const std::filesystem::path& other,
                    const SearchOptions& search = {});

// Which live rows go: those of these names and ids and, where a source is given, of it. With a
// source alone, all of it.
struct Deletion {
  std::vector<std::string> names;
  std::vector<SampleId> ids;
  std::optional<std::uint32_t> source;
};
// Returns how many went. UsageError, and nothing goes, for a name or id that is not there, and for
// a name that several sources have.
std::uint64_t delete_from_index(const std::filesystem::path& folder, const Deletion& deletion,
                                const StopRequested& stop = {});

// Drops deleted rows for good and makes one segment of all. Ids stay. Returns how many were
// dropped.
std::uint64_t compact_index(const std::filesystem::path& folder, const StopRequested& stop = {});

}  // namespace winnow::dedup
