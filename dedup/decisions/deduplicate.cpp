#include "dedup/decisions/deduplicate.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "common/error.h"
#include "common/named.h"
#include "dedup/decisions/cut_links.h"
#include "dedup/decisions/decisions_internal.h"
#include "dedup/decisions/issues.h"
#include "dedup/decisions/settings.h"
#include "dedup/hash/hash_name.h"
#include "dedup/hash/hashes.h"
#include "dedup/review/decided.h"

namespace winnow::dedup {
namespace {

constexpr std::array<Named<Scope>, 3> kScopes{
    {{"all", Scope::kAll}, {"within", Scope::kWithin}, {"across", Scope::kAcross}}};

// The compared codes of a table that was read with them.
const CodeColumn& codes_of(const Fingerprints& table, const Options& options) {
  const CodeColumn& column = codes_of(table, options.hash);
  if (options.threshold < 0 || options.threshold > column.most_distance()) {
    throw UsageError("a threshold of " + std::to_string(options.threshold) +
                     " bits is out of range for '" + options.hash + "'; choose one from 0 to " +
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

// Unites `rows`, link by link.
class LinkedGroups {
 public:
  LinkedGroups(std::span<const std::uint32_t> rows, std::span<const Split> splits,
               const Options& options)
      : rows_(rows),
        splits_(splits),
        within_(options.scope == Scope::kWithin),
        keeps_links_(group_kind(options) != GroupKind::kComponents || options.matching.verified),
        across_(splits.size()),
        groups_(is_across() ? 0 : splits.size()),
        same_(keeps_links_ ? splits.size() : 0) {}

  // Adds the links of one kind between them, from `find_among(rows, sink)`; `same(edge)` says
  // whether the linked rows are the same.
  // Inside splits it is asked split by split, because two rows of one split may be linked only
  // through a row of another.
  template <class FindAmong, class Same>
  void add(const FindAmong& find_among, const Same& same) {
    const auto take_for_groups = [&](std::span<const Edge> edges) {
      if (!is_across()) groups_.unite(edges);
      for (const Edge& edge : edges) {
        if (keeps_links_ && same(edge)) {
          same_.unite(edge);
        } else if (keeps_links_) {
          edges_.push_back(edge);
        }
      }
    };
    find_among({rows_.begin(), rows_.end()}, [&](std::span<const Edge> edges) {
      across_.unite(edges);
      if (!within_) take_for_groups(edges);
    });
    for (int split = 0; within_ && split < kSplitCount; ++split) {
      find_among(rows_of_split(rows_, splits_, static_cast<Split>(split)), take_for_groups);
    }
  }
  // Whether components() equals across().
  bool is_across() const noexcept { return !within_; }
  bool keeps_links() const noexcept { return keeps_links_; }
  // Each may be called once.
  Components across() { return std::move(across_).components(); }
  Components components() { return std::move(groups_).components(); }
  LinkedNodes nodes() { return {std::move(same_).components(), edges_}; }

 private:
  std::span<const std::uint32_t> rows_;
  std::span<const Split> splits_;
  bool within_;
  bool keeps_links_;
  UnionFind across_;
  UnionFind groups_;         // inside splits
  UnionFind same_;           // if links are kept
  std::vector<Edge> edges_;  // links that are not `same`
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
// The selection, without distances.
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

// The distances between rows and their representatives, and the shapes of groups.
void measure(Reader& read, const Options& options, std::span<const std::uint32_t> kept_rows,
             Result& result) {
  if (options.hash == kExact || result.groups.empty()) return;
  const Fingerprints table = read({codes_name(options)});
  const CodeColumn& codes = codes_of(table, options);
  for (Group& group : result.groups) {
    const bool chain = group.shape.chain;  // set by verified links
    group.shape = shape_of(codes, group.rows, options.threshold);
    if (options.matching.verified) group.shape.chain = chain;
  }
  measure_distances(codes, std::ref(read), kept_rows, result.selection.distances);
}

// Adds the links by codes, files and pixels. Returns the selection's record of the search.
std::string find_all_links(Reader& read, const Fingerprints& table, const Options& options,
                           const LinkSource& source, LinkedGroups& links) {
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
        [&](const Edge& edge) { return !options.matching.verified && have_one_code(codes, edge); });
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

// The cuts that reviews require; nullopt: none.
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
  for (const auto& members : members_of_groups(components)) {  // components that stay whole
    if (cut.is_cut[members.front()]) continue;
    for (const std::uint32_t row : members) always.push_back({members.front(), row, 0});
  }
  cut.parts = components_apart(table.size(), always, std::move(links), apart);
  return cut;
}

// Components across all splits and for groups, and the selection's record of the search.
struct Connected {
  Components across;
  std::optional<Components> inside_splits;  // nullopt: not needed
  std::optional<LinkedNodes> nodes;         // if links were kept
  std::string settings;
};

Connected connect(std::span<const std::uint32_t> rows, Reader& read, const Fingerprints& table,
                  const Options& options, const LinkSource& source) {
  Connected out;
  LinkedGroups links(rows, table.splits, options);
  out.settings = find_all_links(read, table, options, source, links);
  out.across = links.across();
  const std::optional<Cut> cut = cut_by_review(read, table, options, source, out.across);
  if (cut && (!links.is_across() || links.keeps_links())) {
    links = LinkedGroups(rows, table.splits, options);
    find_all_links(read, table, options, links_inside(*cut, source), links);
  }
  if (cut) out.across = cut->parts;
  if (!links.is_across()) out.inside_splits = links.components();
  if (links.keeps_links()) out.nodes = links.nodes();
  return out;
}

// The pixel hashes that divide groups by label, if there may be such groups.
std::vector<Hash128> pixels_to_part_by(Reader& read, const RowLists& components,
                                       const Ragged<std::int32_t>& labels, const Policy& policy) {
  const bool parts = policy.on_conflict == ConflictAction::kStay &&
                     std::ranges::any_of(components, [&](std::span<const std::uint32_t> rows) {
                       return labels_differ(labels, rows);
                     });
  return parts ? read({"pixel_hashes"}).pixel_hashes : std::vector<Hash128>();
}

// Finds the groups and decides their rows.
void decide_groups(const Connected& connected, const Deciding& by, Fingerprints& table,
                   Decisions& decisions, Result& result) {
  const GroupKind kind = group_kind(by.options);
  if (kind == GroupKind::kStars) {
    decide_stars(by, *connected.nodes, table, decisions, result);
    return;
  }
  RowLists groups = kind == GroupKind::kCliques ? members_of_groups(cliques_of(*connected.nodes))
                    : connected.inside_splits   ? members_of_groups(*connected.inside_splits)
                                                : by.components;
  result.groups = describe_groups(std::move(groups), by.labels, table.splits);
  decide(by, table, decisions, result);
}

// Where links are kept, they decide which groups are chains; otherwise codes do.
void mark_chains(const Connected& connected, Result& result) {
  if (!connected.nodes) return;
  for (Group& group : result.groups) {
    group.shape.chain = !connected.nodes->are_all_linked(group.rows);
  }
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
  find_hash(hash);  // report an unknown name first, as the more likely mistake
  throw UsageError("these fingerprints hold no codes of '" + hash +
                   "'; compare those they hold, which winnow info lists, or ingest with --hash " +
                   hash);
}

void check_drop_issues(IssueSet issues) {
  check_of_one_picture(issues,
                       ", which would drop all of them; dedup itself removes duplicates, and "
                       "--on-conflict handles differing labels");
}

int effective_threshold(const Options& options) noexcept {
  return options.hash == kExact ? 0 : options.threshold;
}

GroupKind group_kind(const Options& options) noexcept {
  return options.groups.value_or(options.matching.verified ? GroupKind::kStars
                                                           : GroupKind::kComponents);
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
  drop_issues(std::ref(read), options, own, decisions, result);
  Connected connected = connect(decisions.staying(), read, table, options, source);
  result.leaks = count_leaks(connected.across, table.splits);
  result.low_quality = static_cast<std::uint64_t>(std::ranges::count_if(
      table.quality, std::not_fn(is_enough_for(options.hash, options.matching.least_quality))));
  {
    const Ragged<std::int32_t> labels = read({"labels"}).labels;
    const RowLists components = members_of_groups(connected.across);
    const std::vector<Hash128> pixels = pixels_to_part_by(read, components, labels, options.policy);
    decide_groups(connected, {options, labels, components, pixels}, table, decisions, result);
  }
  mark_chains(connected, result);
  const std::vector<std::uint32_t> kept_rows = decisions.kept_rows;
  result.selection = selection_of(std::move(decisions), std::move(table.ids),
                                  std::move(connected.across.of_row), own);
  result.selection.settings = std::move(connected.settings);
  result.selection.mode = mode_of(result.selection, options.policy);
  table = {};  // free it before the next step
  measure(read, options, kept_rows, result);
  count_up(own, options, result);
  return result;
}

}  // namespace winnow::dedup
