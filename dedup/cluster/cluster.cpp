#include "dedup/cluster/cluster.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <numeric>
#include <utility>

#include "common/named.h"

namespace winnow::dedup {
namespace {

constexpr std::array<Named<GroupKind>, 3> kKinds{{{"components", GroupKind::kComponents},
                                                  {"stars", GroupKind::kStars},
                                                  {"cliques", GroupKind::kCliques}}};

constexpr std::uint32_t kNone = ~std::uint32_t{0};

// Of every node, those linked to it, ascending.
struct Neighbours {
  std::vector<std::size_t> offsets;
  std::vector<std::uint32_t> nodes;

  std::span<const std::uint32_t> of(std::uint32_t node) const noexcept {
    return std::span(nodes).subspan(offsets[node], offsets[node + 1] - offsets[node]);
  }
};

// Links between rows as links between the nodes that the rows are of.
Neighbours neighbours_among(const Components& nodes, std::span<const Edge> edges) {
  const auto for_each_link = [&](const auto& take) {
    for (const Edge& edge : edges) {
      const std::uint32_t a = nodes.of_row[edge.a];
      const std::uint32_t b = nodes.of_row[edge.b];
      if (a == b) continue;
      take(a, b);
      take(b, a);
    }
  };
  Neighbours out;
  out.offsets.resize(nodes.count + std::size_t{1});
  for_each_link([&](std::uint32_t from, std::uint32_t) { ++out.offsets[from + std::size_t{1}]; });
  std::partial_sum(out.offsets.begin(), out.offsets.end(), out.offsets.begin());
  out.nodes.resize(out.offsets.back());
  std::vector<std::size_t> next(out.offsets.begin(), out.offsets.end() - 1);
  for_each_link([&](std::uint32_t from, std::uint32_t to) { out.nodes[next[from]++] = to; });
  for (std::uint32_t node = 0; node < nodes.count; ++node) {
    std::sort(out.nodes.begin() + static_cast<std::ptrdiff_t>(out.offsets[node]),
              out.nodes.begin() + static_cast<std::ptrdiff_t>(out.offsets[node + 1]));
  }
  return out;
}

std::uint32_t bits_between(const CodeColumn& codes, std::uint32_t a, std::uint32_t b) noexcept {
  return static_cast<std::uint32_t>(row_distance(codes, a, b));
}

// One row of each code, by code.
std::vector<std::uint32_t> distinct_codes(const CodeColumn& codes,
                                          std::span<const std::uint32_t> rows) {
  std::vector<std::uint32_t> distinct(rows.begin(), rows.end());
  std::ranges::sort(distinct, [&](std::uint32_t a, std::uint32_t b) {
    return std::ranges::lexicographical_compare(codes.code(a), codes.code(b));
  });
  const auto equal = [&](std::uint32_t a, std::uint32_t b) {
    return std::ranges::equal(codes.code(a), codes.code(b));
  };
  distinct.erase(std::unique(distinct.begin(), distinct.end(), equal), distinct.end());
  return distinct;
}

// By all pairs, those of the members that are furthest from `first` before others.
std::uint32_t diameter_of_few(const CodeColumn& codes, std::uint32_t first,
                              std::span<const std::uint32_t> distinct) {
  struct Member {
    std::uint32_t to_first;
    std::uint32_t row;
  };
  std::vector<Member> members;
  for (const std::uint32_t row : distinct)
    members.push_back({bits_between(codes, first, row), row});
  // Two members are no further apart than both are from the first together, in a metric.
  const bool metric = codes.orientations == 1 && !codes.between;
  std::ranges::stable_sort(members, std::ranges::greater{}, &Member::to_first);
  constexpr std::size_t kAllPairs = 2000;
  if (!metric && members.size() > kAllPairs) members.resize(kAllPairs);
  std::uint32_t diameter = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (metric && 2 * members[i].to_first <= diameter) break;
    for (std::size_t j = i + 1; j < members.size(); ++j) {
      if (metric && members[i].to_first + members[j].to_first <= diameter) break;
      diameter = std::max(diameter, bits_between(codes, members[i].row, members[j].row));
    }
  }
  return diameter;
}

// The furthest row from `row`, and how far it is.
Neighbour furthest_from(const CodeColumn& codes, std::uint32_t row,
                        std::span<const std::uint32_t> others) {
  Neighbour furthest{row, 0};
  for (const std::uint32_t other : others) {
    const std::uint32_t distance = bits_between(codes, row, other);
    if (distance > furthest.distance) furthest = {other, distance};
  }
  return furthest;
}

// A distance that two of the rows have, nearly the largest: from some rows, spread over all, on to
// the furthest, as long as that is further each time.
std::uint32_t diameter_at_least(const CodeColumn& codes, std::span<const std::uint32_t> distinct) {
  constexpr std::size_t kStarts = 16;
  std::uint32_t diameter = 0;
  for (std::size_t start = 0; start < kStarts; ++start) {
    std::uint32_t row = distinct[start * distinct.size() / kStarts];
    std::uint32_t reached = 0;
    for (Neighbour next = furthest_from(codes, row, distinct); next.distance > reached;
         next = furthest_from(codes, row, distinct)) {
      row = next.row;
      reached = next.distance;
    }
    diameter = std::max(diameter, reached);
  }
  return diameter;
}

// The bits in which some of the rows differ.
std::vector<std::uint64_t> varying_bits(const CodeColumn& codes,
                                        std::span<const std::uint32_t> distinct) {
  std::vector<std::uint64_t> varying(codes.words_per_code());
  const auto first = codes.code(distinct.front());
  for (const std::uint32_t row : distinct) {
    const auto code = codes.code(row);
    for (std::size_t w = 0; w < varying.size(); ++w) varying[w] |= code[w] ^ first[w];
  }
  return varying;
}

// Two codes are far apart where the one is near the complement of the other: what is further apart
// than is known is searched for as duplicates are, in few bits where the diameter is large.
std::uint32_t diameter_of_many(const CodeColumn& codes, std::span<const std::uint32_t> distinct) {
  std::uint32_t diameter = diameter_at_least(codes, distinct);
  const std::vector<std::uint64_t> varying = varying_bits(codes, distinct);
  std::uint32_t bits = 0;
  for (const std::uint64_t word : varying) bits += static_cast<std::uint32_t>(std::popcount(word));
  if (diameter == bits) return diameter;
  constexpr std::size_t kMostScanned = std::size_t{1} << 18;
  std::uint32_t most = bits - diameter - 1;
  if (distinct.size() > kMostScanned) most = std::min(most, bits / 6);

  CodeColumn upright{codes.hash, codes.version, codes.bits, {}};
  CodeColumn complement = upright;
  for (const std::uint32_t row : distinct) {
    const auto code = codes.code(row);
    for (std::size_t w = 0; w < varying.size(); ++w) {
      upright.words.push_back(code[w] & varying[w]);
      complement.words.push_back(~code[w] & varying[w]);
    }
  }
  std::vector<std::uint32_t> all(distinct.size());
  std::iota(all.begin(), all.end(), std::uint32_t{0});
  const EdgeSink take = [&](std::span<const Edge> edges) {
    for (const Edge& edge : edges) diameter = std::max(diameter, bits - edge.distance);
  };
  // Where a small radius finds any pair, it has found the furthest, among few.
  for (const std::uint32_t radius : {bits / 16, bits / 8, most}) {
    find_edges_between(upright, all, complement, all, static_cast<int>(std::min(radius, most)),
                       take);
    if (radius >= most || bits - diameter <= radius) break;
  }
  return diameter;
}

}  // namespace

UnionFind::UnionFind(std::size_t row_count) : parent_(row_count) {
  std::iota(parent_.begin(), parent_.end(), std::uint32_t{0});
}

std::uint32_t UnionFind::root_of(std::uint32_t row) noexcept {
  while (parent_[row] != row) row = parent_[row] = parent_[parent_[row]];
  return row;
}

void UnionFind::unite(std::span<const Edge> edges) {
  for (const Edge& edge : edges) unite(edge);
}

bool UnionFind::unite(const Edge& edge) {
  // The smaller row becomes the root, so a root is the first row of its component.
  const std::uint32_t a = root_of(edge.a);
  const std::uint32_t b = root_of(edge.b);
  if (a < b) parent_[b] = a;
  if (b < a) parent_[a] = b;
  return a != b;
}

Components UnionFind::components() && {
  Components out;
  // A root comes before the rows below it, whose numbers are overwritten by their component's.
  for (std::uint32_t row = 0; row < parent_.size(); ++row) {
    parent_[row] = parent_[row] == row ? out.count++ : parent_[parent_[row]];
  }
  out.of_row = std::move(parent_);
  return out;
}

Components connected_components(std::size_t row_count, std::span<const Edge> edges) {
  UnionFind rows(row_count);
  rows.unite(edges);
  return std::move(rows).components();
}

GroupKind parse_group_kind(std::string_view name) {
  return parse_named(kKinds, "kind of groups", name);
}

std::string_view group_kind_name(GroupKind kind) noexcept { return name_in(kKinds, kind); }

Components group_rows(Components same, std::span<const Edge> edges, GroupKind kind) {
  Components rows = std::move(same);
  const Neighbours neighbours = neighbours_among(rows, edges);
  std::vector<std::uint32_t> group_of(rows.count, kNone);
  std::uint32_t groups = 0;
  for (std::uint32_t node = 0; node < rows.count; ++node) {
    if (group_of[node] != kNone) continue;
    group_of[node] = groups;
    std::vector<std::uint32_t> free;
    std::ranges::copy_if(neighbours.of(node), std::back_inserter(free),
                         [&](std::uint32_t other) { return group_of[other] == kNone; });
    while (!free.empty()) {
      if (kind == GroupKind::kStars) {
        for (const std::uint32_t other : free) group_of[other] = groups;
        break;
      }
      const std::uint32_t joined = free.front();
      group_of[joined] = groups;
      std::vector<std::uint32_t> linked;
      std::ranges::set_intersection(free, neighbours.of(joined), std::back_inserter(linked));
      free = std::move(linked);
    }
    ++groups;
  }
  for (std::uint32_t& row : rows.of_row) row = group_of[row];
  rows.count = groups;
  return rows;
}

GroupShape shape_of(const CodeColumn& codes, std::span<const std::uint32_t> rows, int threshold) {
  const std::vector<std::uint32_t> distinct = distinct_codes(codes, rows);
  constexpr std::size_t kFew = 4000;
  const bool many = codes.orientations == 1 && !codes.between && distinct.size() > kFew;
  GroupShape shape;
  shape.diameter =
      many ? diameter_of_many(codes, distinct) : diameter_of_few(codes, rows.front(), distinct);
  shape.chain = threshold >= 0 && shape.diameter > static_cast<std::uint32_t>(threshold);
  return shape;
}

Ragged<std::uint32_t> rows_by_component(const Components& components) {
  Ragged<std::uint32_t> out;
  out.offsets.assign(components.count + std::size_t{1}, 0);
  for (const std::uint32_t number : components.of_row) ++out.offsets[number + std::size_t{1}];
  std::partial_sum(out.offsets.begin(), out.offsets.end(), out.offsets.begin());
  out.values.resize(components.of_row.size());
  std::vector<std::uint32_t> next(out.offsets.begin(), out.offsets.end() - 1);
  for (std::uint32_t row = 0; row < components.of_row.size(); ++row) {
    out.values[next[components.of_row[row]]++] = row;
  }
  return out;
}

std::vector<std::vector<std::uint32_t>> members_of_groups(const Components& components) {
  const Ragged<std::uint32_t> rows = rows_by_component(components);
  std::vector<std::vector<std::uint32_t>> groups;
  for (std::size_t number = 0; number < rows.size(); ++number) {
    const auto members = rows[number];
    if (members.size() >= 2) groups.emplace_back(members.begin(), members.end());
  }
  return groups;
}

}  // namespace winnow::dedup
