#include "dedup/pairs.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "dedup/cluster/cluster.h"

namespace winnow::dedup {
namespace {

// Rows that are equal in something.
struct Classes {
  explicit Classes(Components components)
      : members(rows_by_component(components)), of_row(std::move(components.of_row)) {}

  Ragged<std::uint32_t> members;  // of each class
  std::vector<std::uint32_t> of_row;
};

Classes classes_of(std::size_t rows, const std::vector<Hash128>& hashes) {
  std::vector<std::uint32_t> all(rows);
  std::iota(all.begin(), all.end(), std::uint32_t{0});
  return Classes(connected_components(rows, equal_edges(hashes, all)));
}

// Rows by their codes, and which codes are within the threshold of which.
struct Codes {
  Codes(std::size_t rows, std::span<const Edge> same, std::span<const Edge> edges)
      : classes(connected_components(rows, same)) {
    for (const Edge& edge : edges) {
      const std::uint32_t a = classes.of_row[edge.a];
      const std::uint32_t b = classes.of_row[edge.b];
      links.push_back({a, b, edge.distance});
      links.push_back({b, a, edge.distance});
    }
    std::ranges::sort(links);
  }

  std::span<const Edge> links_of(std::uint32_t number) const {
    return {std::ranges::lower_bound(links, number, {}, &Edge::a),
            std::ranges::upper_bound(links, number, {}, &Edge::a)};
  }

  Classes classes;
  std::vector<Edge> links;  // of class a to class b, sorted
};

Codes codes_within(const ColumnSource& columns, const Options& options, const LinkSource& source,
                   std::size_t rows) {
  std::vector<Edge> same;
  std::vector<Edge> edges;
  if (options.hash != kExact) {
    const Fingerprints table = columns({"codes:" + options.hash, "quality"});
    const CodeColumn& codes = codes_of(table, options.hash);
    const EdgeSink keep = [&](std::span<const Edge> found) {
      for (const Edge& edge : found) (have_one_code(codes, edge) ? same : edges).push_back(edge);
    };
    find_links(table, options, source, matchable_rows(table), keep);
  }
  return {rows, same, edges};
}

}  // namespace

void for_each_pair(const ColumnSource& columns, const Options& options, const LinkSource& source,
                   const std::function<void(const Edge&)>& take) {
  const std::vector<Split> splits = columns({}).splits;
  const std::size_t rows = splits.size();
  const Codes codes = codes_within(columns, options, source, rows);
  const Classes files = classes_of(rows, columns({"file_hashes"}).file_hashes);
  const Classes pixels = classes_of(rows, columns({"pixel_hashes"}).pixel_hashes);
  std::vector<Edge> pairs;  // of one row with later ones
  const auto add = [&](std::uint32_t row, std::span<const std::uint32_t> others,
                       std::uint32_t distance) {
    for (const std::uint32_t other : others) {
      if (other > row) pairs.push_back({row, other, distance});
    }
  };
  for (std::uint32_t row = 0; row < rows; ++row) {
    pairs.clear();
    add(row, files.members[files.of_row[row]], 0);
    add(row, pixels.members[pixels.of_row[row]], 0);
    const std::uint32_t code = codes.classes.of_row[row];
    add(row, codes.classes.members[code], 0);
    for (const Edge& link : codes.links_of(code)) {
      add(row, codes.classes.members[link.b], link.distance);
    }
    std::ranges::sort(pairs);
    std::uint32_t last = row;
    for (const Edge& pair : pairs) {
      if (std::exchange(last, pair.b) == pair.b) continue;  // nearer by something else
      const bool one_split = splits[pair.a] == splits[pair.b];
      if (options.scope == Scope::kWithin && !one_split) continue;
      if (options.scope == Scope::kAcross && one_split) continue;
      take(pair);
    }
  }
}

}  // namespace winnow::dedup
