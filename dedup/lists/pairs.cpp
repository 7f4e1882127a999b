#include "dedup/lists/pairs.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "dedup/cluster/cluster.h"
#include "dedup/review/decided.h"

namespace winnow::dedup {
namespace {

// Rows that are equal in one respect.
struct Classes {
  explicit Classes(Components components)
      : members(rows_by_component(components)), of_row(std::move(components.of_row)) {}

  Ragged<std::uint32_t> members;  // by class
  std::vector<std::uint32_t> of_row;
};

Classes classes_of(std::size_t rows, const std::vector<Hash128>& hashes) {
  std::vector<std::uint32_t> all(rows);
  std::iota(all.begin(), all.end(), std::uint32_t{0});
  return Classes(connected_components(rows, equal_edges(hashes, all)));
}

// Rows grouped by code, and links between codes within the threshold.
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
  std::vector<Edge> links;  // from class a to class b, sorted
};

Codes codes_within(const ColumnSource& columns, const Options& options, const LinkSource& source,
                   std::size_t rows) {
  std::vector<Edge> same;
  std::vector<Edge> edges;
  if (options.hash != kExact) {
    const Fingerprints table = columns({"codes:" + options.hash, "quality"});
    const CodeColumn& codes = codes_of(table, options.hash);
    const EdgeSink keep = [&](std::span<const Edge> found) {
      for (Edge edge : found) {
        // Compared pictures may differ although their codes agree, and may match although their
        // codes differ: such a link is reported at no more than the threshold.
        const bool by_pictures = options.matching.verified.has_value();
        if (by_pictures) {
          edge.distance = static_cast<std::uint32_t>(row_distance(codes, edge.a, edge.b));
        }
        (!by_pictures && have_one_code(codes, edge) ? same : edges).push_back(edge);
      }
    };
    find_links(table, options, source,
               matchable_rows(table, options.hash, options.matching.least_quality), keep);
  }
  return {rows, same, edges};
}

// Review decisions about pairs; rows of one class count as one.
class Judged {
 public:
  Judged(const Decided* decided, std::size_t rows, std::span<const Classes* const> equal)
      : linked_(decided == nullptr || decided->apart.empty() ? 0 : rows) {
    if (decided == nullptr || decided->apart.empty()) return;
    const auto unite = [&](std::span<const std::uint32_t> same) {
      for (const std::uint32_t row : same) linked_.unite({same.front(), row, 0});
    };
    for (const Classes* classes : equal) {
      for (std::size_t i = 0; i < classes->members.size(); ++i) unite(classes->members[i]);
    }
    for (const auto& same : decided->same) unite(same);
    for (std::uint32_t set = 0; set < decided->apart.size(); ++set) {
      for (const std::uint32_t row : decided->apart[set]) {
        sets_of_[linked_.root_of(row)].insert(set);
      }
    }
  }
  bool are_apart(std::uint32_t a, std::uint32_t b) {
    if (sets_of_.empty()) return false;
    const auto of_a = sets_of_.find(linked_.root_of(a));
    const auto of_b = sets_of_.find(linked_.root_of(b));
    if (of_a == sets_of_.end() || of_b == sets_of_.end() || of_a == of_b) return false;
    return std::ranges::any_of(of_a->second,
                               [&](std::uint32_t set) { return of_b->second.contains(set); });
  }

 private:
  UnionFind linked_;
  std::map<std::uint32_t, std::set<std::uint32_t>> sets_of_;  // by root
};

// All pairs of rows that reviewers called the same, sorted.
std::vector<Edge> same_pairs(const ColumnSource& columns, const Options& options) {
  std::vector<Edge> pairs;
  if (!options.decided || options.decided->same.empty()) return pairs;
  const bool by_codes = options.hash != kExact;
  const Fingerprints table = by_codes ? columns({"codes:" + options.hash}) : Fingerprints{};
  for (const auto& rows : options.decided->same) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t j = i + 1; j < rows.size(); ++j) {
        const int bits =
            by_codes ? row_distance(codes_of(table, options.hash), rows[i], rows[j]) : 0;
        pairs.push_back({rows[i], rows[j], static_cast<std::uint32_t>(bits)});
      }
    }
  }
  std::ranges::sort(pairs);
  return pairs;
}

}  // namespace

void for_each_pair(const ColumnSource& columns, const Options& options, const LinkSource& source,
                   const std::function<void(const Edge&)>& take) {
  const std::vector<Split> splits = columns({}).splits;
  const std::size_t rows = splits.size();
  const Codes codes = codes_within(columns, options, source, rows);
  const Classes files = classes_of(rows, columns({"file_hashes"}).file_hashes);
  const Classes pixels = classes_of(rows, columns({"pixel_hashes"}).pixel_hashes);
  const std::vector<Edge> same = same_pairs(columns, options);
  Judged judged(options.decided.get(), rows, std::array{&files, &pixels});
  std::vector<Edge> pairs;  // pairs of one row with later ones
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
    const auto said = std::ranges::lower_bound(same, row, {}, &Edge::a);
    pairs.insert(pairs.end(), said, std::ranges::upper_bound(same, row, {}, &Edge::a));
    std::ranges::sort(pairs);
    std::uint32_t last = row;
    for (const Edge& pair : pairs) {
      // A nearer link of the same pair came first.
      if (std::exchange(last, pair.b) == pair.b) continue;
      if (judged.are_apart(pair.a, pair.b)) continue;
      const bool one_split = splits[pair.a] == splits[pair.b];
      if (options.scope == Scope::kWithin && !one_split) continue;
      if (options.scope == Scope::kAcross && one_split) continue;
      take(pair);
    }
  }
}

}  // namespace winnow::dedup
