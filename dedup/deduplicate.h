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
#include "dedup/fingerprints.h"
#include "dedup/leak/leak.h"
#include "dedup/policy/policy.h"
#include "dedup/search/search.h"
#include "dedup/selection.h"

namespace winnow::dedup {

struct Decided;

// Gives the links between these rows of codes within the threshold, up to equal codes: as
// find_edges.
using LinkSource = std::function<void(const CodeColumn&, std::span<const std::uint32_t> rows,
                                      int threshold, const EdgeSink&)>;

// The least quality of images that match by codes, 0 to 100; nothing: what is advised for the hash.
using LeastQuality = std::optional<double>;

// In place of a hash: equal files and pixels only.
inline constexpr std::string_view kExact = "exact";

// Where duplicates are removed.
enum class Scope {
  kAll,     // inside train, and between splits
  kWithin,  // only inside train; leaks between splits are counted all the same
  kAcross,  // only between splits; train is not thinned
};

// What the images chose of hash and threshold. Decides nothing.
struct ChosenBy {
  std::string demand = {};  // "risk 0.5"; empty: people said both
  bool hash = false;        // and not the threshold alone
};

// What else decides whether two images match.
struct Matching {
  LeastQuality least_quality = {};  // of images that match by codes
  // The least probability of links that were verified (verify/verified_links.h). The LinkSource
  // gives those; hash and threshold only say which pairs it was asked of beside others.
  std::optional<double> verified = {};
  // Name of the features that are compared in place of codes (features/feature_links.h).
  std::string features = {};
};

struct Options {
  std::string hash = "phash";  // a row of hashes.h, or kExact
  int threshold = 4;           // bits; exact duplicates are found at any. Not used by kExact
  Scope scope = Scope::kAll;
  std::optional<GroupKind> groups = {};  // nothing: see group_kind
  Policy policy = {};
  std::shared_ptr<const Decided> decided = {};  // by people, of the rows of the table
  ChosenBy chosen_by = {};
  Matching matching = {};
};

// Samples that are, by links of at most the threshold, one picture. Rows ascending, two or more.
struct Group {
  std::vector<std::uint32_t> rows;
  bool label_conflict = false;  // members carry different labels; see labels_differ
  bool leak = false;            // members lie in two or more of train, val, test (never in kWithin)
  GroupShape shape = {};        // by codes; of verified links these tell whether it is a chain
};

struct Result {
  Selection selection;           // name and cache_digest empty: the caller's to fill in
  std::vector<Group> groups;     // ordered by first row
  std::vector<LeakCount> leaks;  // of links, whatever the scope
  std::uint64_t removed = 0;
  std::uint64_t kept = 0;
  std::uint64_t moved = 0;      // of the kept: in another split
  std::uint64_t conflicts = 0;  // groups whose labels differ
  // Of these under ConflictAction::kStay, those with images that are merely near: each label has
  // its own that stays.
  std::uint64_t near_conflicts = 0;
  std::uint64_t chains = 0;  // groups with members that are linked through others only
  std::uint64_t low_quality =
      0;  // rows of too little quality: only equal files and pixels link them
  // In val and in test, samples that another of their group in the same split could stand for. They
  // stay unless policy.thin has the split.
  std::array<std::uint64_t, kSplitCount> repeated{};
  std::uint64_t overruled = 0;        // of decided->kept, those of which no row is kept
  std::uint64_t protected_leaks = 0;  // components left in several splits, by protected samples
  std::vector<IssueSet> issues{};     // of each row that was removed for them; empty: not asked for
  // By decided->dropped, and of drop_issues' but for decided->spared.
  std::uint64_t dropped_by_review = 0;
  std::uint64_t spared_by_review = 0;
  std::uint64_t protected_drops = 0;  // of decided->dropped, those that are protected and stay
};

// Decides which samples stay. Pure; the result depends on the table and options alone, not on
// threads. Linked are rows of equal file hash, of equal pixel hash, and, both having quality
// enough, of codes within the threshold; options.groups says what groups are made of links.
//
// What the splits share is settled first (settle_leak), for whole connected components: none is
// left, through any chain of copies. Then what remains of each group is thinned (thin_group). Under
// kWithin a group lies in one split, and nothing is settled; under kAcross groups are thinned of
// conflicts only.
//
// Of stars whatever goes, as a copy or as a leak, is linked to what stays in its place, which comes
// before it in the order of choice; and nothing stays that would go beside another that stays. What
// is moved to another split is moved with its whole component.
//
// `decided`: rows that are the same are linked. Links by codes are cut so that no two rows that are
// apart are in one component (components_apart, by all pairs of rows): links between two parts do
// not exist. `policy.precedence` comes before the keep policy, and protected samples stay.
//
// Two kinds of samples go before anything is linked, and all else is decided as if they were not
// there: those that `decided` drops, from any split; then those with one of `policy.drop_issues`,
// from train, and from val and test where `policy.thin` has these. None that is protected, and none
// of the second that `decided` spares.
//
// The selection's components are those across all splits, whatever was asked for: what may not be
// cut by a hold-out, and what an evaluation looks for leaks in. `splits` is empty unless
// something was moved. `mode` is kWeight where conflicts are weighed under kKeep.
//
// Throws UsageError for an unknown hash or one the table lacks, a threshold outside 0..bits, or an
// issue that is told by pictures beside each other, or by measures the table lacks;
// FormatError for a table that check_table refuses.
Result deduplicate(const Fingerprints& table, const Options& options);
// The same without holding the table: at most two of its columns at once, read when they are
// needed, some of them twice. `links`: a search with the result of find_edges; empty: that.
Result deduplicate(const ColumnSource& columns, const Options& options,
                   const LinkSource& links = {});

// The links by codes that deduplicate() goes by, among `rows`, which match. `table` has the codes.
void find_links(const Fingerprints& table, const Options& options, const LinkSource& links,
                std::span<const std::uint32_t> rows, const EdgeSink& sink);

// Puts to `distances` the bits between the codes of each row and of the one that stands for it,
// where that is another; 0 where their files or pixels are equal.
void measure_distances(const CodeColumn& codes, const ColumnSource& columns,
                       std::span<const std::uint32_t> kept_rows,
                       std::vector<std::uint16_t>& distances);

// What the authors of a hash advise (Hash::least_quality); 0 where they advise nothing.
float advised_quality(std::string_view hash) noexcept;
// Whether images of a quality have enough in them to match by codes of a hash, or of any: above 0,
// and at least what is said, or else advised.
std::function<bool(float quality)> is_enough_for(std::string_view hash = {},
                                                 LeastQuality least = {});
// The rows that have. Ascending.
std::vector<std::uint32_t> matchable_rows(const Fingerprints& table, std::string_view hash = {},
                                          LeastQuality least = {});

// The codes of a hash in a table. UsageError where there are none, or no such hash.
const CodeColumn& codes_of(const Fingerprints& table, const std::string& hash);

// UsageError for issues that are told by pictures beside each other: all of these would be dropped.
void check_drop_issues(IssueSet issues);

// The threshold in force: 0 for kExact.
int effective_threshold(const Options& options) noexcept;
// The kind of groups in force. Unless one is named: stars where links were verified, for then each
// is a picture that was shown to be another; else components, which no order changes.
GroupKind group_kind(const Options& options) noexcept;

Scope parse_scope(std::string_view name);  // all, within, across; UsageError
std::string_view scope_name(Scope scope) noexcept;

}  // namespace winnow::dedup
