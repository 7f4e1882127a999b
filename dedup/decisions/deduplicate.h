#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dedup/audit/issue.h"
#include "dedup/cluster/cluster.h"
#include "dedup/leak/leak.h"
#include "dedup/policy/policy.h"
#include "dedup/search/search.h"
#include "dedup/table/fingerprints.h"
#include "dedup/table/selection.h"

namespace winnow::dedup {

struct Decided;

// Finds the links within the threshold between these rows, up to equal codes, as find_edges() does.
using LinkSource = std::function<void(const CodeColumn&, std::span<const std::uint32_t> rows,
                                      int threshold, const EdgeSink&)>;

// Minimum quality of images that match by codes, 0 to 100. nullopt: as advised for the hash.
using LeastQuality = std::optional<double>;

// Used in place of a hash name: match equal files and equal pixels only.
inline constexpr std::string_view kExact = "exact";

// Where duplicates are removed.
enum class Scope {
  kAll,     // inside train and between splits
  kWithin,  // only inside train; leaks between splits are still counted
  kAcross,  // only between splits; train is not thinned
};

// Whether hash and threshold were chosen from the images. For reports only.
struct ChosenBy {
  std::string demand = {};  // e.g. "risk 0.5"; empty: the user gave both
  bool hash = false;        // the hash was chosen too, not only the threshold
};

// Further criteria for a match.
struct Matching {
  LeastQuality least_quality = {};  // for images that match by codes
  // Minimum probability of verified links (verify/verified_links.h). The LinkSource supplies these
  // links; hash and threshold only say which candidates were compared, among others.
  std::optional<double> verified = {};
  // Name of the features that are compared instead of codes (features/feature_links.h).
  std::string features = {};
};

struct Options {
  std::string hash = "phash";  // a row of hashes.h, or kExact
  int threshold = 4;           // bits; exact duplicates are always found. Not used by kExact
  Scope scope = Scope::kAll;
  std::optional<GroupKind> groups = {};  // nullopt: see group_kind()
  Policy policy = {};
  std::shared_ptr<const Decided> decided = {};  // review decisions about the rows of the table
  ChosenBy chosen_by = {};
  Matching matching = {};
};

// Samples that links within the threshold make one picture. Two or more rows, ascending.
struct Group {
  std::vector<std::uint32_t> rows;
  bool label_conflict = false;  // members have different labels; see labels_differ()
  bool leak = false;            // members lie in two or more of train, val, test (never in kWithin)
  GroupShape shape = {};        // by codes; for verified links, these decide whether it is a chain
};

struct Result {
  Selection selection;           // name and cache_digest are empty; the caller fills them in
  std::vector<Group> groups;     // ordered by first row
  std::vector<LeakCount> leaks;  // pairs of splits with leaks, whatever the scope
  std::uint64_t removed = 0;
  std::uint64_t kept = 0;
  std::uint64_t moved = 0;      // kept samples that are now in another split
  std::uint64_t conflicts = 0;  // groups whose labels differ
  // Conflicts under ConflictAction::kStay that contain merely similar images: one image of each
  // label stays.
  std::uint64_t near_conflicts = 0;
  std::uint64_t chains = 0;       // groups with members that are only linked through others
  std::uint64_t low_quality = 0;  // rows of too low quality: only equal files and pixels link them
  // Redundant samples inside val and inside test: another of their group in the same split could
  // represent them. They stay unless policy.thin has the split.
  std::array<std::uint64_t, kSplitCount> repeated{};
  std::uint64_t overruled = 0;  // entries of decided->kept of which no row is kept
  // Components left in several splits because of protected samples.
  std::uint64_t protected_leaks = 0;
  // By row, the issues it was removed for; empty: issues were not asked for.
  std::vector<IssueSet> issues{};
  // Rows removed by decided->dropped, and rows with a dropped issue that decided->spared kept.
  std::uint64_t dropped_by_review = 0;
  std::uint64_t spared_by_review = 0;
  // Entries of decided->dropped that stay because they are protected.
  std::uint64_t protected_drops = 0;
};

// Decides which samples stay. Pure: the result depends on the table and the options alone, not on
// threads.
//
// Linked  Rows of equal file hash, of equal pixel hash, and, if both have enough quality, of codes
//         within the threshold. options.groups says how groups are made of links.
//
// Order of the decisions:
// 1. Rows that `decided` drops are removed, from any split. They are not linked.
// 2. Rows with an issue of `policy.drop_issues` are removed from train, and from val and test if
//    `policy.thin` has these. Not those that `decided` spares. They are not linked either.
// 3. Leaks are settled (settle_leak) for whole connected components. None is left, through any
//    chain of copies.
// 4. What remains of each group is thinned (thin_group).
//
// Scope       kWithin: a group lies in one split and step 3 is skipped. kAcross: groups are only
//             thinned of conflicts.
// Stars       Each removed row is linked to its representative, which comes first in the order of
//             choice. No two rows stay of which one would represent the other. A move takes the
//             whole component.
// Reviews     Rows that are the same are linked. Links by codes are cut (components_apart) so that
//             no two rows that are apart share a component; the cut links do not exist.
// Policy      `policy.precedence` comes before the keep policy. Protected samples always stay.
// Components  Those of the selection span all splits, whatever the scope: a hold-out may not cut
//             them, and an evaluation looks for leaks in them.
// Splits      Empty unless a sample was moved.
// Mode        kWeight if conflicts are weighted under kKeep.
// Errors      UsageError: a hash that is unknown or not in the table, a threshold outside 0..bits,
//             an issue that needs several pictures or measures that the table lacks. FormatError:
//             check_table() refuses the table.
Result deduplicate(const Fingerprints& table, const Options& options);
// Deduplicates without holding the table: at most two of its columns at once. Columns are read when
// needed, some of them twice.
// links  A search with the result of find_edges(); empty: find_edges() itself.
Result deduplicate(const ColumnSource& columns, const Options& options,
                   const LinkSource& links = {});

// The links by codes among `rows` (which are matchable) that deduplicate() uses. `table` has the
// codes.
void find_links(const Fingerprints& table, const Options& options, const LinkSource& links,
                std::span<const std::uint32_t> rows, const EdgeSink& sink);

// Sets `distances` to the bits between the codes of each row and of its representative. 0 for rows
// that represent themselves, and for equal files or pixels.
void measure_distances(const CodeColumn& codes, const ColumnSource& columns,
                       std::span<const std::uint32_t> kept_rows,
                       std::vector<std::uint16_t>& distances);

// Minimum quality that the authors of a hash advise (Hash::least_quality); 0 if they advise none.
float advised_quality(std::string_view hash) noexcept;
// A predicate: is the quality of an image high enough to match by codes of `hash` (empty: of any)?
// It must be above 0, and at least `least`, or the advised quality if `least` is nullopt.
std::function<bool(float quality)> is_enough_for(std::string_view hash = {},
                                                 LeastQuality least = {});
// The rows with enough quality, ascending.
std::vector<std::uint32_t> matchable_rows(const Fingerprints& table, std::string_view hash = {},
                                          LeastQuality least = {});

// The codes of a hash in a table. UsageError if the table has none, or if there is no such hash.
const CodeColumn& codes_of(const Fingerprints& table, const std::string& hash);

// UsageError for issues between several pictures: all of these pictures would be dropped.
void check_drop_issues(IssueSet issues);

// The threshold in force: 0 for kExact.
int effective_threshold(const Options& options) noexcept;
// The kind of groups in force. Defaults to stars for verified links, where each match was shown by
// a comparison of pictures; else to components, which do not depend on any order.
GroupKind group_kind(const Options& options) noexcept;

Scope parse_scope(std::string_view name);  // all, within, across; UsageError
std::string_view scope_name(Scope scope) noexcept;

}  // namespace winnow::dedup
