#include "dedup/deduplicate.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "common/error.h"
#include "dedup/cluster/cluster.h"
#include "dedup/hash/hashes.h"

namespace winnow::dedup {
namespace {

constexpr std::string_view kExact = "exact";

// The codes to compare; nullptr for "exact".
const CodeColumn* column_for(const Fingerprints& table, const Options& options) {
  if (options.hash == kExact) return nullptr;
  const CodeColumn* column = table.find_codes(options.hash);
  if (column == nullptr) {
    find_hash(options.hash);  // an unknown name is the likelier mistake, and is told apart
    throw UsageError("these fingerprints hold no codes of '" + options.hash +
                     "'; add them with winnow fingerprint --hash " + options.hash);
  }
  if (options.threshold < 0 || options.threshold > column->bits) {
    throw UsageError("a threshold of " + std::to_string(options.threshold) +
                     " bits makes no sense for '" + options.hash + "'; choose one from 0 to " +
                     std::to_string(column->bits));
  }
  return column;
}

bool can_match(const Fingerprints& table, std::uint32_t row) { return table.quality[row] > 0; }

void link(UnionFind& links, const Fingerprints& table, std::span<const std::uint32_t> rows,
          const CodeColumn* column, int threshold) {
  links.unite(equal_edges(table.file_hashes, rows));
  links.unite(equal_edges(table.pixel_hashes, rows));
  if (column == nullptr) return;
  std::vector<std::uint32_t> matchable;
  std::ranges::copy_if(rows, std::back_inserter(matchable),
                       [&](std::uint32_t row) { return can_match(table, row); });
  links.unite(edges_within(*column, matchable, threshold));
}

std::vector<std::uint32_t> rows_of_split(const Fingerprints& table, Split split) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < table.size(); ++row) {
    if (table.splits[row] == split) rows.push_back(row);
  }
  return rows;
}

Components link_across(const Fingerprints& table, const CodeColumn* column, int threshold) {
  std::vector<std::uint32_t> rows(table.size());
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  UnionFind links(table.size());
  link(links, table, rows, column, threshold);
  return std::move(links).components();
}

// Split by split, for two rows of one split may be linked through one of another only.
Components link_within(const Fingerprints& table, const CodeColumn* column, int threshold) {
  UnionFind links(table.size());
  for (int split = 0; split < kSplitCount; ++split) {
    link(links, table, rows_of_split(table, static_cast<Split>(split)), column, threshold);
  }
  return std::move(links).components();
}

std::uint16_t distance_between(const Fingerprints& table, const CodeColumn* column, std::uint32_t a,
                               std::uint32_t b) {
  if (column == nullptr || table.file_hashes[a] == table.file_hashes[b] ||
      table.pixel_hashes[a] == table.pixel_hashes[b]) {
    return 0;
  }
  return static_cast<std::uint16_t>(hamming(column->code(a), column->code(b)));
}

std::string settings_json(const Options& options, const CodeColumn* column) {
  nlohmann::json settings{{"hash", options.hash},
                          {"threshold", effective_threshold(options)},
                          {"keep", keep_policy_name(options.keep)},
                          {"scope", scope_name(options.scope)}};
  if (column != nullptr) settings["hash_version"] = column->version;
  return settings.dump();
}

// Everybody stays, alone.
Selection keep_all(const Fingerprints& table, std::vector<std::uint32_t> groups) {
  Selection selection;
  selection.mode = SelectionMode::kKeep;
  selection.ids = table.ids;
  selection.weights.assign(table.size(), 1.0F);
  selection.groups = std::move(groups);
  selection.kept = table.ids;
  selection.distances.assign(table.size(), 0);
  selection.rules.assign(table.size(), Rule::kKept);
  return selection;
}

}  // namespace

int effective_threshold(const Options& options) noexcept {
  return options.hash == kExact ? 0 : options.threshold;
}

Scope parse_scope(std::string_view name) {
  for (const Scope scope : {Scope::kAll, Scope::kWithin}) {
    if (scope_name(scope) == name) return scope;
  }
  throw UsageError("there is no scope '" + std::string(name) + "'; choose one of all, within");
}

std::string_view scope_name(Scope scope) noexcept {
  return scope == Scope::kAll ? "all" : "within";
}

ColumnNames columns_for(const Options& options) {
  ColumnNames names{"labels", "file_hashes", "pixel_hashes", "quality"};
  if (options.hash != kExact) names.insert("codes:" + options.hash);
  names.merge(columns_for(options.keep));
  return names;
}

Result deduplicate(const Fingerprints& table, const Options& options) {
  const ColumnNames needed = columns_for(options);
  check_table(table, "what is to be deduplicated", &needed);
  const CodeColumn* column = column_for(table, options);
  Components deciding = link_across(table, column, options.threshold);

  Result result;
  result.leaks = count_leaks(deciding, table.splits);
  if (options.scope == Scope::kWithin) deciding = link_within(table, column, options.threshold);
  result.low_quality = static_cast<std::uint64_t>(
      std::ranges::count_if(table.quality, [](float quality) { return !(quality > 0); }));
  Selection& selection = result.selection;
  std::vector<std::vector<std::uint32_t>> groups = members_of_groups(deciding);
  selection = keep_all(table, std::move(deciding.of_row));
  selection.settings = settings_json(options, column);
  for (std::vector<std::uint32_t>& rows : groups) {
    const std::uint32_t kept_row = choose_kept(table, rows, options.keep);
    const std::vector<Fate> fates = decide_group(table.splits, rows, kept_row);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::uint32_t row = rows[i];
      if (fates[i].rule == Rule::kKept) continue;
      selection.weights[row] = 0;
      selection.kept[row] = table.ids[kept_row];
      selection.distances[row] = distance_between(table, column, row, kept_row);
      selection.rules[row] = fates[i].rule;
      ++result.removed;
    }
    const bool conflict = labels_differ(table.labels, rows);
    const bool leak = is_leak(table.splits, rows);
    result.conflicts += conflict ? 1 : 0;
    result.groups.push_back({std::move(rows), kept_row, conflict, leak});
  }
  result.kept = table.size() - result.removed;
  return result;
}

}  // namespace winnow::dedup
