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

// Compares all pairs, beginning with members far from `first`.
std::uint32_t diameter_of_few(const CodeColumn& codes, std::uint32_t first,
                              std::span<const std::uint32_t> distinct) {
  struct Member {
    std::uint32_t to_first;
    std::uint32_t row;
  };
  std::vector<Member> members;
  for (const std::uint32_t row : distinct)
    members.push_back({bits_between(codes, first, row), row});
  // Triangle inequality: no pair is further apart than the sum of both distances to the first.
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

// The row furthest from `row`, and its distance.
Neighbour furthest_from(const CodeColumn& codes, std::uint32_t row,
                        std::span<const std::uint32_t> others) {
  Neighbour furthest{row, 0};
  for (const std::uint32_t other : others) {
    const std::uint32_t distance = bits_between(codes, row, other);
    if (distance > furthest.distance) furthest = {other, distance};
  }
  return furthest;
}

// A lower bound of the diameter, usually close: from some rows spread over all, steps to the
// furthest row while the distance grows.
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

// Two codes are far apart if one is near the complement of the other. Pairs further apart than the
// known bound are searched like duplicates, with a small radius if the diameter is large.
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
  // If a small radius finds any pair, the furthest pair is among them.
  for (const std::uint32_t radius : {bits / 16, bits / 8, most}) {
    find_edges_between({upright, all}, {complement, all}, static_cast<int>(std::min(radius, most)),
                       take);
    if (radius >= most || bits - diameter <= radius) break;
  }
  return diameter;
}

}  // namespace

GroupKind parse_group_kind(std::string_view name) {
  return parse_named(kKinds, "kind of groups", name);
}

std::string_view group_kind_name(GroupKind kind) noexcept { return name_in(kKinds, kind); }

Components cliques_of(const LinkedNodes& nodes) {
  std::vector<std::uint32_t> group_of(nodes.size(), kNone);
  std::uint32_t groups = 0;
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    if (group_of[node] != kNone) continue;
    group_of[node] = groups;
    std::vector<std::uint32_t> free;
    std::ranges::copy_if(nodes.linked_to(node), std::back_inserter(free),
                         [&](std::uint32_t other) { return group_of[other] == kNone; });
    while (!free.empty()) {
      const std::uint32_t joined = free.front();
      group_of[joined] = groups;
      std::vector<std::uint32_t> linked;
      std::ranges::set_intersection(free, nodes.linked_to(joined), std::back_inserter(linked));
      free = std::move(linked);
    }
    ++groups;
  }
  Components rows{.of_row = nodes.of_rows(), .count = groups};
  for (std::uint32_t& row : rows.of_row) row = group_of[row];
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

}  // namespace winnow::dedup
