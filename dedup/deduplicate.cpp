#include "dedup/deduplicate.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "common/error.h"
#include "dedup/cluster/cluster.h"
#include "dedup/hash/hashes.h"

namespace winnow::dedup {
namespace {

constexpr std::string_view kExact = "exact";

bool is_matchable(const Fingerprints& table, std::uint32_t row) { return table.quality[row] > 0; }

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

std::vector<std::uint32_t> rows_of_split(std::span<const Split> splits, Split split) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < splits.size(); ++row) {
    if (splits[row] == split) rows.push_back(row);
  }
  return rows;
}

// The rows that hang together across all splits and, if that is asked for, inside each. Split by
// split, for two rows of one split may be linked through one of another only.
class Links {
 public:
  Links(std::span<const Split> splits, Scope scope) : splits_(splits), across_(splits.size()) {
    if (scope == Scope::kWithin) within_.emplace(splits.size());
  }
  // `find_among(rows, sink)` gives the links of one kind between them.
  template <class FindAmong>
  void add(const FindAmong& find_among) {
    std::vector<std::uint32_t> rows(splits_.size());
    std::iota(rows.begin(), rows.end(), std::uint32_t{0});
    find_among(std::move(rows), [&](std::span<const Edge> edges) { across_.unite(edges); });
    for (int split = 0; within_ && split < kSplitCount; ++split) {
      find_among(rows_of_split(splits_, static_cast<Split>(split)),
                 [&](std::span<const Edge> edges) { within_->unite(edges); });
    }
  }
  Components across() { return std::move(across_).components(); }
  std::optional<Components> within() {
    if (!within_) return std::nullopt;
    return std::move(*within_).components();
  }

 private:
  std::span<const Split> splits_;
  UnionFind across_;
  std::optional<UnionFind> within_;
};

std::string settings_json(const Options& options, const CodeColumn* column) {
  nlohmann::json settings{{"hash", options.hash},
                          {"threshold", effective_threshold(options)},
                          {"keep", keep_policy_name(options.keep)},
                          {"scope", scope_name(options.scope)}};
  if (column != nullptr) settings["hash_version"] = column->version;
  return settings.dump();
}

// Everybody stays, alone.
Selection keep_all(std::vector<SampleId> ids, std::vector<std::uint32_t> groups) {
  Selection selection;
  selection.mode = SelectionMode::kKeep;
  selection.weights.assign(ids.size(), 1.0F);
  selection.groups = std::move(groups);
  selection.kept = ids;
  selection.distances.assign(ids.size(), 0);
  selection.rules.assign(ids.size(), Rule::kKept);
  selection.ids = std::move(ids);
  return selection;
}

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

// Calls `take(row, kept_row)` for every row that is removed.
template <class Take>
void for_each_removed(const Result& result, const Take& take) {
  for (const Group& group : result.groups) {
    for (const std::uint32_t row : group.rows) {
      if (result.selection.rules[row] != Rule::kKept) take(row, group.kept_row);
    }
  }
}

// Bits between codes, but 0 where files or pixels are equal.
void measure_distances(Reader& read, const Options& options, Result& result) {
  if (options.hash == kExact || result.removed == 0) return;
  std::vector<std::uint16_t>& distances = result.selection.distances;
  {
    const Fingerprints table = read({codes_name(options)});
    const CodeColumn& codes = codes_of(table, options);
    for_each_removed(result, [&](std::uint32_t row, std::uint32_t kept) {
      distances[row] = static_cast<std::uint16_t>(row_distance(codes, row, kept));
    });
  }
  const auto clear_equal = [&](const std::vector<Hash128>& hashes) {
    for_each_removed(result, [&](std::uint32_t row, std::uint32_t kept) {
      if (hashes[row] == hashes[kept]) distances[row] = 0;
    });
  };
  clear_equal(read({"file_hashes"}).file_hashes);
  clear_equal(read({"pixel_hashes"}).pixel_hashes);
}

}  // namespace

std::vector<std::uint32_t> matchable_rows(const Fingerprints& table) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < table.size(); ++row) {
    if (is_matchable(table, row)) rows.push_back(row);
  }
  return rows;
}

const CodeColumn& codes_of(const Fingerprints& table, const std::string& hash) {
  if (const CodeColumn* column = table.find_codes(hash)) return *column;
  find_scaled_hash(hash);  // an unknown name is the likelier mistake, and is told apart
  throw UsageError("these fingerprints hold no codes of '" + hash +
                   "'; compare those they hold, which winnow info lists, or ingest with --hash " +
                   hash);
}

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

Result deduplicate(const Fingerprints& table, const Options& options) {
  check_table(table, "what is to be deduplicated");
  return deduplicate([&](const ColumnNames& names) { return select_columns(table, names); },
                     options);
}

Result deduplicate(const ColumnSource& columns, const Options& options, const LinkSource& source) {
  Reader read(columns);
  ColumnNames needed = columns_for(options.keep);
  needed.insert("quality");
  Fingerprints table = read(needed);
  Links links(table.splits, options.scope);
  std::string settings = settings_json(options, nullptr);
  if (options.hash != kExact) {
    const Fingerprints with_codes = read({codes_name(options)});
    const CodeColumn& codes = codes_of(with_codes, options);
    settings = settings_json(options, &codes);
    links.add([&](std::vector<std::uint32_t> rows, const EdgeSink& sink) {
      std::erase_if(rows, [&](std::uint32_t row) { return !is_matchable(table, row); });
      if (source) {
        source(codes, rows, options.threshold, sink);
      } else {
        find_edges(codes, rows, options.threshold, sink);
      }
    });
  }
  const auto link_equal = [&](const std::vector<Hash128>& hashes) {
    links.add([&](const std::vector<std::uint32_t>& rows, const EdgeSink& sink) {
      sink(equal_edges(hashes, rows));
    });
  };
  link_equal(read({"file_hashes"}).file_hashes);
  link_equal(read({"pixel_hashes"}).pixel_hashes);

  Result result;
  Components deciding = links.across();
  result.leaks = count_leaks(deciding, table.splits);
  if (auto within = links.within()) deciding = *std::move(within);
  result.low_quality = static_cast<std::uint64_t>(
      std::ranges::count_if(table.quality, [](float quality) { return !(quality > 0); }));
  std::vector<std::vector<std::uint32_t>> groups = members_of_groups(deciding);
  Selection& selection = result.selection;
  selection = keep_all(std::move(table.ids), std::move(deciding.of_row));
  selection.settings = std::move(settings);
  Ragged<std::int32_t> labels = read({"labels"}).labels;
  for (std::vector<std::uint32_t>& rows : groups) {
    const std::uint32_t kept_row = choose_kept(table, rows, options.keep);
    const std::vector<Fate> fates = decide_group(table.splits, rows, kept_row);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::uint32_t row = rows[i];
      if (fates[i].rule == Rule::kKept) continue;
      selection.weights[row] = 0;
      selection.kept[row] = selection.ids[kept_row];
      selection.rules[row] = fates[i].rule;
      ++result.removed;
    }
    const bool conflict = labels_differ(labels, rows);
    const bool leak = is_leak(table.splits, rows);
    result.conflicts += conflict ? 1 : 0;
    result.groups.push_back({std::move(rows), kept_row, conflict, leak});
  }
  result.kept = selection.size() - result.removed;
  table = {};  // neither is needed beside what comes now
  labels = {};
  measure_distances(read, options, result);
  return result;
}

}  // namespace winnow::dedup
