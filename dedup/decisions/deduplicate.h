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

// Finds the links (pairs of rows within the threshold) between these rows. Equal codes are
// represented by their first row, as in find_edges().
using LinkSource = std::function<void(const CodeColumn&, std::span<const std::uint32_t> rows,
                                      int threshold, const EdgeSink&)>;

// Minimum quality (amount of detail, 0 to 100) of images that match by codes. nullopt: the hash's
// advised quality.
using LeastQuality = std::optional<double>;

// Used in place of a hash's name: only equal files and equal pixels are duplicates.
inline constexpr std::string_view kExact = "exact";

// Where duplicates are removed.
enum class Scope {
  kAll,     // duplicates within train and between splits
  kWithin,  // only duplicates within train; leaks are still counted
  kAcross,  // only duplicates between splits; those within train stay
};

// How hash and threshold were chosen if winnow chose them by measuring the images. For reports
// only.
struct ChosenBy {
  // Demand of the user, such as "risk 0.5"; empty: the user gave hash and threshold.
  std::string demand = {};
  bool hash = false;  // whether the hash was chosen too, not only the threshold
};

// Further criteria for two images to match.
struct Matching {
  LeastQuality least_quality = {};  // minimum quality of images that match by codes
  // If pictures are compared: minimum probability that two show one picture
  // (verify/verified_links.h). The LinkSource supplies such links; hash and threshold only select
  // some of the candidates.
  std::optional<double> verified = {};
  // Name of the feature vectors that are compared instead of codes (features/feature_links.h).
  // Empty: codes are compared.
  std::string features = {};
};

struct Options {
  std::string hash = "phash";  // a name of hashes.h, or kExact
  int threshold = 4;           // bits; equal files and pixels always match. Unused for kExact
  Scope scope = Scope::kAll;
  std::optional<GroupKind> groups = {};  // nullopt: see group_kind()
  Policy policy = {};
  // Review decisions, by row of the table; nullptr: none.
  std::shared_ptr<const Decided> decided = {};
  ChosenBy chosen_by = {};
  Matching matching = {};
};

// A group of duplicates: two or more rows, ascending.
struct Group {
  std::vector<std::uint32_t> rows;
  bool label_conflict = false;  // whether members have different labels; see labels_differ()
  bool leak = false;  // whether members lie in several of train, val, test; never in kWithin
  // Diameter by codes. Chain by verified links if pictures were compared, else by codes.
  GroupShape shape = {};
};

struct Result {
  Selection selection;           // the caller fills in name and cache_digest
  std::vector<Group> groups;     // ordered by first row
  std::vector<LeakCount> leaks;  // pairs of splits that share duplicates, whatever the scope
  std::uint64_t removed = 0;
  std::uint64_t kept = 0;
  std::uint64_t moved = 0;      // number of kept samples that are now in another split
  std::uint64_t conflicts = 0;  // groups whose labels differ
  // Number of groups with different labels and images that are only similar, under
  // ConflictAction::kStay: one image of each label stays.
  std::uint64_t near_conflicts = 0;
  std::uint64_t chains = 0;  // number of groups with members that are only linked through others
  // Number of rows with too little detail for codes; only equal files and pixels link them.
  std::uint64_t low_quality = 0;
  // By split, for val and test: number of samples that another one of their group in the same split
  // could represent. They stay unless policy.thin has the split.
  std::array<std::uint64_t, kSplitCount> repeated{};
  std::uint64_t overruled = 0;  // number of sets in decided->kept of which no row is kept
  // Number of components left in several splits because of protected samples.
  std::uint64_t protected_leaks = 0;
  // By row, the issues (such as "dark") that it was removed for. Empty if no issues were to be
  // removed.
  std::vector<IssueSet> issues{};
  // Number of rows that decided->dropped removed, and of rows that decided->spared kept in spite of
  // an issue.
  std::uint64_t dropped_by_review = 0;
  std::uint64_t spared_by_review = 0;
  // Number of entries of decided->dropped that stay because they are protected.
  std::uint64_t protected_drops = 0;
};

// Decides which samples stay. Pure: the result depends on the table and the options alone, not on
// threads.
//
// Linked  Rows of equal file hash, rows of equal pixel hash and, if both have enough quality, rows
//         of codes within the threshold. options.groups says how groups are made of links.
//
// Decisions, in this order:
// 1. Rows that a review drops (decided->dropped) are removed from any split. They are not linked.
// 2. Rows with an issue of `policy.drop_issues` are removed from train, and from val and test if
//    `policy.thin` has these, unless a review spares them. They are not linked either.
// 3. Leaks are resolved (settle_leak) for whole connected components. None is left, through any
//    chain of copies.
// 4. The rest of each group is thinned (thin_group).
//
// Scope       kWithin: a group lies in one split and step 3 is skipped. kAcross: in step 4 samples
//             are only removed because of label conflicts.
// Stars       Each removed row is linked to its representative, which comes first in the order of
//             choose_kept(). Of two rows that stay, neither would represent the other. A move takes
//             the whole component.
// Reviews     Rows that a review calls one picture are linked. Links by codes are cut
//             (components_apart) such that rows that it calls different share no component; the cut
//             links do not exist.
// Policy      Wishes (`policy.precedence`) come before the keep policy. Protected samples always
//             stay.
// Components  Those of the selection span all splits, whatever the scope: a hold-out must not
//             divide them, and an evaluation looks for leaks in them.
// Splits      Selection::splits is empty unless a sample was moved.
// Mode        Selection::mode is policy.mode, but kWeight if that is kKeep and conflicts share a
//             weight.
// Errors      UsageError: a hash that is unknown or not in the table, a threshold outside 0..bits,
//             an issue that needs several pictures or measures that the table lacks. FormatError:
//             check_table() refuses the table.
Result deduplicate(const Fingerprints& table, const Options& options);
// Deduplicates without holding the whole table: at most two of its columns at once. Columns are
// read when needed, some of them twice.
// links  A search with the same result as find_edges(); empty: find_edges() itself.
Result deduplicate(const ColumnSource& columns, const Options& options,
                   const LinkSource& links = {});

// The links by codes that deduplicate() uses. `table` has the codes.
// rows  Only rows of enough quality (matchable_rows).
void find_links(const Fingerprints& table, const Options& options, const LinkSource& links,
                std::span<const std::uint32_t> rows, const EdgeSink& sink);

// Sets for each row the distance in bits between its code and that of its representative. 0 for
// rows that represent themselves, and for equal files or pixels.
void measure_distances(const CodeColumn& codes, const ColumnSource& columns,
                       std::span<const std::uint32_t> kept_rows,
                       std::vector<std::uint16_t>& distances);

// Minimum quality (amount of detail, 0 to 100) that the authors of a hash advise; 0 if they advise
// none.
float advised_quality(std::string_view hash) noexcept;
// Returns a predicate: is the quality of an image high enough to match by codes of `hash`? It must
// be above 0 and at least `least`, or at least the advised quality if `least` is nullopt. Empty
// `hash`: no advised quality.
std::function<bool(float quality)> is_enough_for(std::string_view hash = {},
                                                 LeastQuality least = {});
// The rows whose quality is high enough to match by codes, ascending.
std::vector<std::uint32_t> matchable_rows(const Fingerprints& table, std::string_view hash = {},
                                          LeastQuality least = {});

// The codes of this hash in a table. Throws UsageError if the table has none, or if there is no
// such hash.
const CodeColumn& codes_of(const Fingerprints& table, const std::string& hash);

// Throws UsageError for issues that concern several pictures, such as duplicates: all of these
// pictures would be removed.
void check_drop_issues(IssueSet issues);

// The threshold that is used, in bits: 0 for kExact.
int effective_threshold(const Options& options) noexcept;
// The kind of groups that is used. Default: stars for verified links, each of which was found by
// comparing pictures; else components, which do not depend on any order.
GroupKind group_kind(const Options& options) noexcept;

Scope parse_scope(std::string_view name);  // all, within, across; UsageError
std::string_view scope_name(Scope scope) noexcept;

}  // namespace winnow::dedup
