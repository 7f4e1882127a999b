#include "dedup/deduplicate.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "common/error.h"
#include "common/named.h"
#include "dedup/audit/issues.h"
#include "dedup/hash/hash_name.h"
#include "dedup/hash/hashes.h"
#include "dedup/review/cut_links.h"
#include "dedup/review/decided.h"
#include "dedup/settings.h"

namespace winnow::dedup {
namespace {

constexpr std::array<Named<Scope>, 3> kScopes{
    {{"all", Scope::kAll}, {"within", Scope::kWithin}, {"across", Scope::kAcross}}};

// The codes to compare, of a table that was asked for them.
const CodeColumn& codes_of(const Fingerprints& table, const Options& options) {
  const CodeColumn& column = codes_of(table, options.hash);
  if (options.threshold < 0 || options.threshold > column.most_distance()) {
    throw UsageError("a threshold of " + std::to_string(options.threshold) +
                     " bits makes no sense for '" + options.hash + "'; choose one from 0 to " +
                     std::to_string(column.most_distance()));
  }
  return column;
}

std::string codes_name(const Options& options) { return "codes:" + options.hash; }

std::vector<std::uint32_t> rows_of_split(std::span<const std::uint32_t> rows,
                                         std::span<const Split> splits, Split split) {
  std::vector<std::uint32_t> out;
  std::ranges::copy_if(rows, std::back_inserter(out),
                       [&](std::uint32_t row) { return splits[row] == split; });
  return out;
}

// How `rows` hang together, link by link.
class Links {
 public:
  Links(std::span<const std::uint32_t> rows, std::span<const Split> splits, const Options& options)
      : rows_(rows),
        splits_(splits),
        within_(options.scope == Scope::kWithin),
        kind_(options.groups),
        across_(splits.size()),
        groups_(is_across() ? 0 : splits.size()) {}

  // `find_among(rows, sink)` gives the links of one kind between them, `same(edge)` says whether
  // what is linked is the same. Inside splits it is asked split by split, for two rows of one may
  // be linked through one of another only.
  template <class FindAmong, class Same>
  void add(const FindAmong& find_among, const Same& same) {
    const auto take_for_groups = [&](std::span<const Edge> edges) {
      if (kind_ == GroupKind::kComponents) return groups_.unite(edges);
      for (const Edge& edge : edges) {
        if (same(edge)) {
          groups_.unite(std::span(&edge, 1));
        } else {
          edges_.push_back(edge);
        }
      }
    };
    find_among({rows_.begin(), rows_.end()}, [&](std::span<const Edge> edges) {
      across_.unite(edges);
      if (!within_ && !is_across()) take_for_groups(edges);
    });
    for (int split = 0; within_ && split < kSplitCount; ++split) {
      find_among(rows_of_split(rows_, splits_, static_cast<Split>(split)), take_for_groups);
    }
  }
  // Whether groups() would be the components of across().
  bool is_across() const noexcept { return !within_ && kind_ == GroupKind::kComponents; }
  // Once each.
  Components across() { return std::move(across_).components(); }
  Components groups() {
    Components groups = std::move(groups_).components();
    return kind_ == GroupKind::kComponents ? groups : group_rows(std::move(groups), edges_, kind_);
  }

 private:
  std::span<const std::uint32_t> rows_;
  std::span<const Split> splits_;
  bool within_;
  GroupKind kind_;
  UnionFind across_;
  UnionFind groups_;         // components within splits; of other kinds, rows that are the same
  std::vector<Edge> edges_;  // of other kinds
};

// Columns of one table, which must not change from one reading to the next.
class Reader {
 public:
  explicit Reader(const ColumnSource& source) : source_(source) {}

  Fingerprints operator()(const ColumnNames& names) {
    Fingerprints table = source_(names);
    check_table(table, kWhat, &names);
    if (!rows_) rows_ = table.size();
    if (table.size() != *rows_) throw FormatError(std::string(kWhat) + " changed meanwhile");
    return table;
  }

 private:
  static constexpr const char* kWhat = "what is to be deduplicated";
  const ColumnSource& source_;
  std::optional<std::size_t> rows_;
};

// What is decided of each row, first that all stay.
struct Decisions {
  explicit Decisions(std::vector<Split> splits_of_table)
      : splits(std::move(splits_of_table)),
        weights(splits.size(), 1.0F),
        kept_rows(splits.size()),
        rules(splits.size(), Rule::kKept) {
    std::iota(kept_rows.begin(), kept_rows.end(), std::uint32_t{0});
  }

  bool stays(std::uint32_t row) const noexcept { return weights[row] > 0; }
  std::vector<std::uint32_t> staying() const {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < weights.size(); ++row) {
      if (stays(row)) rows.push_back(row);
    }
    return rows;
  }
  void take(std::span<const std::uint32_t> rows, std::span<const Fate> fates) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::uint32_t row = rows[i];
      splits[row] = fates[i].split;
      weights[row] = fates[i].weight;
      kept_rows[row] = fates[i].kept_row;
      // What was moved and then kept was moved.
      if (fates[i].rule != Rule::kKept) rules[row] = fates[i].rule;
    }
  }

  std::vector<Split> splits;  // in which each is used
  std::vector<float> weights;
  std::vector<std::uint32_t> kept_rows;
  std::vector<Rule> rules;
};

// First of all, what people said is to go.
void drop_judged(const Options& options, Decisions& decisions, Result& result) {
  if (!options.decided) return;
  for (const std::uint32_t row : options.decided->dropped) {
    const bool stays = options.policy.protects(row);
    ++(stays ? result.protected_drops : result.dropped_by_review);
    if (stays) continue;
    decisions.weights[row] = 0;
    decisions.rules[row] = Rule::kReview;
  }
}

// Then what nobody wants to look at.
void drop_issues(Reader& read, const Options& options, std::span<const Split> splits,
                 Decisions& decisions, Result& result) {
  if (options.policy.drop_issues.empty()) return;
  result.issues = find_issues(options.policy.drop_issues, std::ref(read), "");
  std::vector<bool> spared(splits.size());
  if (options.decided) {
    for (const std::uint32_t row : options.decided->spared) spared[row] = true;
  }
  for (std::uint32_t row = 0; row < splits.size(); ++row) {
    if (result.issues[row].empty()) continue;
    const Split split = splits[row];
    const bool goes =
        decisions.stays(row) && !options.policy.protects(row) &&
        (!is_evaluation(split) || options.policy.thin[static_cast<std::size_t>(split)]);
    result.spared_by_review += goes && spared[row] ? 1 : 0;
    if (goes && !spared[row]) {
      decisions.weights[row] = 0;
      decisions.rules[row] = Rule::kIssue;
    } else {
      result.issues[row] = {};
    }
  }
}

// Before what leaks is settled, for a picture that leaves train by its labels leaks nowhere.
void drop_conflicts(const std::vector<Group>& groups, const Ragged<std::int32_t>& labels,
                    const Fingerprints& table, const Policy& policy, Decisions& decisions) {
  std::vector<std::uint32_t> rows;
  for (const Group& group : groups) {
    if (!group.label_conflict) continue;
    rows = group.rows;
    std::erase_if(rows, [&](std::uint32_t row) { return is_evaluation(table.splits[row]); });
    if (!labels_differ(labels, rows)) continue;
    for (const std::uint32_t row : rows) {
      if (policy.protects(row)) continue;
      decisions.weights[row] = 0;
      decisions.rules[row] = Rule::kConflict;
    }
  }
}

// Of a component. `table`: its splits are put to what is decided of them. Returns how many leaks
// are left: 1 where protected samples lie in several splits.
std::uint64_t settle(std::vector<std::uint32_t> rows, const Policy& policy, Fingerprints& table,
                     Decisions& decisions) {
  const auto is_gone = [&](std::uint32_t row) { return !decisions.stays(row); };
  std::erase_if(rows, is_gone);
  if (!is_leak(table.splits, rows)) return 0;
  const std::uint32_t kept_row = choose_kept(table, rows, policy);
  decisions.take(rows, settle_leak(table.splits, rows, kept_row, policy));
  for (const std::uint32_t row : rows) table.splits[row] = decisions.splits[row];
  std::erase_if(rows, is_gone);
  return is_leak(table.splits, rows) ? 1 : 0;
}

using RowLists = std::vector<std::vector<std::uint32_t>>;

// Of a group, or of a part of one.
void thin_one(std::span<const std::uint32_t> members, const Ragged<std::int32_t>& labels,
              bool thins, const Policy& policy, const Fingerprints& table, Decisions& decisions,
              Result& counts) {
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> judged;  // of these, not in an evaluation split
  std::array<std::uint64_t, kSplitCount> in_split{};
  for (const std::uint32_t row : members) {
    if (!decisions.stays(row)) continue;
    rows.push_back(row);
    ++in_split[static_cast<std::size_t>(table.splits[row])];
    if (!is_evaluation(table.splits[row])) judged.push_back(row);
  }
  if (rows.empty()) return;
  for (const Split split : {Split::kVal, Split::kTest}) {
    const std::uint64_t samples = in_split[static_cast<std::size_t>(split)];
    if (samples > 1) counts.repeated[static_cast<std::size_t>(split)] += samples - 1;
  }
  const bool conflict = labels_differ(labels, judged);
  decisions.take(rows, thin_group(table.splits, rows, choose_kept(table, rows, policy), conflict,
                                  thins, policy));
}

// `pixels`: of the rows, where groups are parted by label; else empty.
void thin(const std::vector<Group>& groups, const Ragged<std::int32_t>& labels,
          std::span<const Hash128> pixels, const Options& options, const Fingerprints& table,
          Decisions& decisions, Result& counts) {
  const bool thins = options.scope != Scope::kAcross;
  const Policy& policy = options.policy;
  for (const Group& group : groups) {
    if (!group.label_conflict || pixels.empty()) {
      thin_one(group.rows, labels, thins, policy, table, decisions, counts);
      continue;
    }
    const std::vector<Edge> said =
        options.decided ? same_edges(*options.decided, group.rows) : std::vector<Edge>();
    const RowLists parts = part_by_label(labels, pixels, said, group.rows);
    for (const auto& part : parts) {
      thin_one(part, labels, thins, policy, table, decisions, counts);
    }
    counts.near_conflicts += parts.size() > 1 ? 1 : 0;
  }
  // What stood for others by the first decision may have gone by the second.
  for (std::uint32_t& kept : decisions.kept_rows) kept = decisions.kept_rows[kept];
}

// Of everything but distances.
Selection selection_of(Decisions decisions, std::vector<SampleId> ids,
                       std::vector<std::uint32_t> components, const std::vector<Split>& own) {
  Selection selection;
  selection.components = std::move(components);
  selection.kept.reserve(ids.size());
  for (const std::uint32_t row : decisions.kept_rows) selection.kept.push_back(ids[row]);
  selection.ids = std::move(ids);
  selection.weights = std::move(decisions.weights);
  selection.distances.assign(selection.ids.size(), 0);
  selection.rules = std::move(decisions.rules);
  if (decisions.splits != own) selection.splits = std::move(decisions.splits);
  return selection;
}

// How far rows are from those that stand for them, and the shapes of groups.
void measure(Reader& read, const Options& options, std::span<const std::uint32_t> kept_rows,
             Result& result) {
  if (options.hash == kExact || result.groups.empty()) return;
  const Fingerprints table = read({codes_name(options)});
  const CodeColumn& codes = codes_of(table, options);
  if (!options.matching.verified) {
    for (Group& group : result.groups) {
      group.shape = shape_of(codes, group.rows, options.threshold);
    }
  }
  measure_distances(codes, std::ref(read), kept_rows, result.selection.distances);
}

// By codes, files and pixels. Returns what the selection is to say of the search.
std::string find_all_links(Reader& read, const Fingerprints& table, const Options& options,
                           const LinkSource& source, Links& links) {
  std::string settings = settings_of(options, std::nullopt);
  if (options.hash != kExact) {
    const Fingerprints with_codes = read({codes_name(options)});
    const CodeColumn& codes = codes_of(with_codes, options);
    const auto is_enough = is_enough_for(options.hash, options.matching.least_quality);
    settings = settings_of(options, codes.version);
    links.add(
        [&](std::vector<std::uint32_t> rows, const EdgeSink& sink) {
          std::erase_if(rows, [&](std::uint32_t row) { return !is_enough(table.quality[row]); });
          find_links(with_codes, options, source, rows, sink);
        },
        [&](const Edge& edge) { return have_one_code(codes, edge); });
  }
  const auto link_equal = [&](const std::vector<Hash128>& hashes) {
    links.add([&](const std::vector<std::uint32_t>& rows,
                  const EdgeSink& sink) { sink(equal_edges(hashes, rows)); },
              [](const Edge&) { return true; });
  };
  link_equal(read({"file_hashes"}).file_hashes);
  link_equal(read({"pixel_hashes"}).pixel_hashes);
  if (options.decided) {
    links.add([&](const std::vector<std::uint32_t>& rows,
                  const EdgeSink& sink) { sink(same_edges(*options.decided, rows)); },
              [](const Edge&) { return true; });
  }
  return settings;
}

// How components are cut by what people said; nothing where they are not.
std::optional<Cut> cut_by_review(Reader& read, const Fingerprints& table, const Options& options,
                                 const LinkSource& source, const Components& components) {
  if (!options.decided || options.hash == kExact) return std::nullopt;
  const RowSets& apart = options.decided->apart;
  std::vector<std::uint32_t> rows = rows_to_cut(components, apart);
  if (rows.empty()) return std::nullopt;
  Cut cut{.parts = {}, .is_cut = std::vector<bool>(table.size()), .stands_out = {}};
  for (const std::uint32_t row : rows) cut.is_cut[row] = true;
  std::vector<Edge> always = same_edges(*options.decided, rows);
  const auto add = [&](const std::vector<Edge>& edges) {
    always.insert(always.end(), edges.begin(), edges.end());
  };
  add(equal_edges(read({"file_hashes"}).file_hashes, rows));
  add(equal_edges(read({"pixel_hashes"}).pixel_hashes, rows));
  const Fingerprints with_codes = read({codes_name(options)});
  const CodeColumn& codes = codes_of(with_codes, options);
  cut.stands_out = rows_that_stand_out(codes, rows, always, apart);
  const auto is_enough = is_enough_for(options.hash, options.matching.least_quality);
  std::erase_if(rows, [&](std::uint32_t row) { return !is_enough(table.quality[row]); });
  std::vector<Edge> links =
      links_of_all_pairs(codes, rows, cut.stands_out, options.threshold, source);
  for (const auto& members : members_of_groups(components)) {  // those that stay whole
    if (cut.is_cut[members.front()]) continue;
    for (const std::uint32_t row : members) always.push_back({members.front(), row, 0});
  }
  cut.parts = components_apart(table.size(), always, std::move(links), apart);
  return cut;
}

// What hangs together, across all splits and for groups, and what the selection is to say of it.
struct Connected {
  Components across;
  std::optional<Components> groups;  // nothing: they are those
  std::string settings;
};

Connected connect(std::span<const std::uint32_t> rows, Reader& read, const Fingerprints& table,
                  const Options& options, const LinkSource& source) {
  Connected out;
  Links links(rows, table.splits, options);
  out.settings = find_all_links(read, table, options, source, links);
  out.across = links.across();
  const std::optional<Cut> cut = cut_by_review(read, table, options, source, out.across);
  if (cut && !links.is_across()) {
    links = Links(rows, table.splits, options);
    find_all_links(read, table, options, links_inside(*cut, source), links);
  }
  if (cut) out.across = cut->parts;
  if (!links.is_across()) out.groups = links.groups();
  return out;
}

std::vector<Group> describe_groups(RowLists lists, const Ragged<std::int32_t>& labels,
                                   std::span<const Split> splits) {
  std::vector<Group> groups;
  groups.reserve(lists.size());
  for (std::vector<std::uint32_t>& rows : lists) {
    const bool conflict = labels_differ(labels, rows);
    const bool leak = is_leak(splits, rows);
    groups.push_back({std::move(rows), conflict, leak});
  }
  return groups;
}

// `components`: empty where the groups are these. `table`: its splits become those decided.
void decide(const std::vector<Group>& groups, const RowLists& components,
            const Ragged<std::int32_t>& labels, std::span<const Hash128> pixels,
            const Options& options, Fingerprints& table, Decisions& decisions, Result& counts) {
  if (options.policy.on_conflict == ConflictAction::kDrop) {
    drop_conflicts(groups, labels, table, options.policy, decisions);
  }
  if (options.scope != Scope::kWithin) {
    const auto settle_all = [&](const std::vector<std::uint32_t>& rows) {
      counts.protected_leaks += settle(rows, options.policy, table, decisions);
    };
    for (const auto& rows : components) settle_all(rows);
    if (components.empty()) {
      for (const Group& group : groups) settle_all(group.rows);
    }
  }
  thin(groups, labels, pixels, options, table, decisions, counts);
}

// Those by which groups are parted, where some are.
std::vector<Hash128> pixels_to_part_by(Reader& read, const std::vector<Group>& groups,
                                       const Policy& policy) {
  const bool parts = policy.on_conflict == ConflictAction::kStay &&
                     std::ranges::any_of(groups, &Group::label_conflict);
  return parts ? read({"pixel_hashes"}).pixel_hashes : std::vector<Hash128>();
}

SelectionMode mode_of(const Selection& selection, const Policy& policy) {
  const auto is_part = [](float weight) { return weight > 0 && weight < 1; };
  const bool weighs = std::ranges::any_of(selection.weights, is_part);
  return policy.mode == SelectionMode::kKeep && weighs ? SelectionMode::kWeight : policy.mode;
}

void count_up(std::span<const Split> own, const Options& options, Result& result) {
  const Selection& selection = result.selection;
  if (options.decided) {
    result.overruled = static_cast<std::uint64_t>(
        std::ranges::count_if(options.decided->kept, [&](const auto& rows) {
          return std::ranges::none_of(
              rows, [&](std::uint32_t row) { return selection.weights[row] > 0; });
        }));
  }
  for (std::size_t row = 0; row < selection.size(); ++row) {
    const bool stays = selection.weights[row] > 0;
    ++(stays ? result.kept : result.removed);
    result.moved += stays && selection.split_of(row, own[row]) != own[row] ? 1 : 0;
  }
  for (const Group& group : result.groups) {
    result.conflicts += group.label_conflict ? 1 : 0;
    result.chains += group.shape.chain ? 1 : 0;
  }
}

}  // namespace

float advised_quality(std::string_view hash) noexcept {
  float least = 0;
  const std::optional<HashName> name = parse_hash_name(hash);
  for (const HashKind& kind : hash_kinds()) {
    if (name && kind.row->name == name->row) least = kind.row->least_quality;
  }
  return least;
}

std::function<bool(float)> is_enough_for(std::string_view hash, LeastQuality least) {
  return [least = least.value_or(advised_quality(hash))](float quality) {
    return quality > 0 && double{quality} >= least;
  };
}

std::vector<std::uint32_t> matchable_rows(const Fingerprints& table, std::string_view hash,
                                          LeastQuality least) {
  const auto is_enough = is_enough_for(hash, least);
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < table.size(); ++row) {
    if (is_enough(table.quality[row])) rows.push_back(row);
  }
  return rows;
}

void find_links(const Fingerprints& table, const Options& options, const LinkSource& links,
                std::span<const std::uint32_t> rows, const EdgeSink& sink) {
  const CodeColumn& codes = codes_of(table, options);
  if (links) {
    links(codes, rows, options.threshold, sink);
  } else {
    find_edges(codes, rows, options.threshold, sink);
  }
}

void measure_distances(const CodeColumn& codes, const ColumnSource& columns,
                       std::span<const std::uint32_t> kept_rows,
                       std::vector<std::uint16_t>& distances) {
  const auto for_each = [&](const auto& take) {
    for (std::uint32_t row = 0; row < kept_rows.size(); ++row) {
      if (kept_rows[row] != row) take(row, kept_rows[row]);
    }
  };
  for_each([&](std::uint32_t row, std::uint32_t kept) {
    distances[row] = static_cast<std::uint16_t>(row_distance(codes, row, kept));
  });
  const auto clear_equal = [&](const std::vector<Hash128>& hashes) {
    for_each([&](std::uint32_t row, std::uint32_t kept) {
      if (hashes[row] == hashes[kept]) distances[row] = 0;
    });
  };
  clear_equal(columns({"file_hashes"}).file_hashes);
  clear_equal(columns({"pixel_hashes"}).pixel_hashes);
}

const CodeColumn& codes_of(const Fingerprints& table, const std::string& hash) {
  if (const CodeColumn* column = table.find_codes(hash)) return *column;
  find_hash(hash);  // an unknown name is the likelier mistake, and is told apart
  throw UsageError("these fingerprints hold no codes of '" + hash +
                   "'; compare those they hold, which winnow info lists, or ingest with --hash " +
                   hash);
}

void check_drop_issues(IssueSet issues) {
  check_of_one_picture(issues,
                       ", so that all would be dropped; duplicates are thinned by dedup itself, "
                       "and differing labels by --on-conflict");
}

int effective_threshold(const Options& options) noexcept {
  return options.hash == kExact ? 0 : options.threshold;
}

Scope parse_scope(std::string_view name) { return parse_named(kScopes, "scope", name); }

std::string_view scope_name(Scope scope) noexcept { return name_in(kScopes, scope); }

Result deduplicate(const Fingerprints& table, const Options& options) {
  check_table(table, "what is to be deduplicated");
  return deduplicate([&](const ColumnNames& names) { return select_columns(table, names); },
                     options);
}

Result deduplicate(const ColumnSource& columns, const Options& options, const LinkSource& source) {
  Reader read(columns);
  check_drop_issues(options.policy.drop_issues);
  ColumnNames needed =
      columns_for(options.policy.keep, options.hash == kExact ? "" : codes_name(options));
  needed.insert("quality");
  Fingerprints table = read(needed);
  const std::vector<Split> own = table.splits;
  Result result;
  Decisions decisions(own);
  drop_judged(options, decisions, result);
  drop_issues(read, options, own, decisions, result);
  Connected connected = connect(decisions.staying(), read, table, options, source);
  result.leaks = count_leaks(connected.across, table.splits);
  result.low_quality = static_cast<std::uint64_t>(std::ranges::count_if(
      table.quality, std::not_fn(is_enough_for(options.hash, options.matching.least_quality))));
  {
    const Ragged<std::int32_t> labels = read({"labels"}).labels;
    RowLists across = members_of_groups(connected.across);
    if (!connected.groups) {
      result.groups = describe_groups(std::move(across), labels, own);
      decide(result.groups, {}, labels, pixels_to_part_by(read, result.groups, options.policy),
             options, table, decisions, result);
    } else {
      result.groups = describe_groups(members_of_groups(*connected.groups), labels, own);
      connected.groups.reset();
      decide(result.groups, across, labels, pixels_to_part_by(read, result.groups, options.policy),
             options, table, decisions, result);
    }
  }
  const std::vector<std::uint32_t> kept_rows = decisions.kept_rows;
  result.selection = selection_of(std::move(decisions), std::move(table.ids),
                                  std::move(connected.across.of_row), own);
  result.selection.settings = std::move(connected.settings);
  result.selection.mode = mode_of(result.selection, options.policy);
  table = {};  // not needed beside what comes now
  measure(read, options, kept_rows, result);
  count_up(own, options, result);
  return result;
}

}  // namespace winnow::dedup
