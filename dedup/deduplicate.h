#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dedup/fingerprints.h"
#include "dedup/index/index.h"
#include "dedup/leak/leak.h"
#include "dedup/policy/policy.h"
#include "dedup/selection.h"

namespace winnow::dedup {

// Gives the links between these rows of codes within the threshold, up to equal codes: as
// find_edges.
using LinkSource = std::function<void(const CodeColumn&, std::span<const std::uint32_t> rows,
                                      int threshold, const EdgeSink&)>;

enum class Scope {
  kAll,     // duplicates within and across splits are one group
  kWithin,  // only inside each split; leaks between splits are still counted
};

struct Options {
  std::string hash = "phash";  // a row of hashes.h, or "exact" for equal files and pixels only
  int threshold = 4;           // bits; exact duplicates are found at any. Not used by "exact"
  KeepPolicy keep = KeepPolicy::kFirst;
  Scope scope = Scope::kAll;
};

// Samples that are, by links of at most the threshold, one picture. Rows ascending, two or more.
// Links chain, so two members may be further apart than the threshold.
struct Group {
  std::vector<std::uint32_t> rows;
  std::uint32_t kept_row = 0;   // the member that stands for the group; see choose_kept
  bool label_conflict = false;  // members carry different labels; see labels_differ
  bool leak = false;            // members lie in two or more of train, val, test (never in kWithin)
};

struct Result {
  Selection selection;           // name and cache_digest empty: the caller's to fill in
  std::vector<Group> groups;     // ordered by first row
  std::vector<LeakCount> leaks;  // over links within and across splits, whatever the scope
  std::uint64_t removed = 0;
  std::uint64_t kept = 0;
  std::uint64_t conflicts = 0;    // groups whose labels differ
  std::uint64_t low_quality = 0;  // rows of quality 0: only equal files and pixels link them
};

// Decides which samples stay. Pure; the result depends on the table and options alone, not on
// threads. Linked are rows of equal file hash, of equal pixel hash, and, both having quality above
// 0, of codes within the threshold; a group is a connected component of links.
//
// Samples in val and test are never removed, so that the benchmark people compare on stays what it
// was. In a group that has some, every other member (train or none) is removed as kLeak, in favour
// of the group's kept row, a test sample before a val one. In a group of train and none alone the
// kept row stays, a train sample before one of no split, and the rest are removed as kDuplicate.
// Between equals of one split the policy chooses, the lowest id breaking ties. Under kWithin a
// group lies in one split; hence nothing is removed as kLeak, and in val and test nothing is
// removed.
//
// Throws UsageError for an unknown hash or one the table lacks, or a threshold outside 0..bits;
// FormatError for a table that check_table refuses.
Result deduplicate(const Fingerprints& table, const Options& options);
// The same without holding the table: at most two of its columns at once, read when they are
// needed, some of them twice. `links`: a search with the result of find_edges; empty: that.
Result deduplicate(const ColumnSource& columns, const Options& options,
                   const LinkSource& links = {});

// The rows with enough in them to match by codes: of quality above 0. Ascending.
std::vector<std::uint32_t> matchable_rows(const Fingerprints& table);

// The codes of a hash in a table. UsageError where there are none, or no such hash.
const CodeColumn& codes_of(const Fingerprints& table, const std::string& hash);

// The threshold in force: 0 for the hash "exact".
int effective_threshold(const Options& options) noexcept;

Scope parse_scope(std::string_view name);  // all, within; UsageError
std::string_view scope_name(Scope scope) noexcept;

}  // namespace winnow::dedup
