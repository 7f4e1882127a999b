#include "dedup/search/search.h"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "common/rng.h"
#include "dedup/search/between_part.h"
#include "dedup/search/join.h"

namespace winnow::dedup {
namespace {

// Rows ordered by code, then by row, and the start of each distinct code.
struct SortedCodes {
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> starts;  // and the end

  std::size_t distinct() const noexcept { return starts.size() - 1; }
  std::span<const std::uint32_t> rows_of(std::size_t code) const noexcept {
    return std::span(rows).subspan(starts[code], starts[code + 1] - starts[code]);
  }
};

SortedCodes sort_codes(const CodeColumn& codes, std::span<const std::uint32_t> rows) {
  struct Entry {  // the first word beside the row: most comparisons need no more
    std::uint64_t word;
    std::uint32_t row;
  };
  const auto rest_of = [&](std::uint32_t row) { return codes.code(row).subspan(1); };
  std::vector<Entry> entries(rows.size());
  tbb::parallel_for(std::size_t{0}, rows.size(), [&](std::size_t i) {
    entries[i] = {codes.code(rows[i])[0], rows[i]};
  });
  tbb::parallel_sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    if (a.word != b.word) return a.word < b.word;
    const auto order = std::lexicographical_compare_three_way(
        rest_of(a.row).begin(), rest_of(a.row).end(), rest_of(b.row).begin(), rest_of(b.row).end());
    return order != 0 ? order < 0 : a.row < b.row;
  });
  SortedCodes sorted;
  sorted.rows.resize(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    sorted.rows[i] = entries[i].row;
    if (i > 0 && entries[i].word == entries[i - 1].word &&
        std::ranges::equal(rest_of(entries[i].row), rest_of(entries[i - 1].row))) {
      continue;
    }
    sorted.starts.push_back(static_cast<std::uint32_t>(i));
  }
  sorted.starts.push_back(static_cast<std::uint32_t>(entries.size()));
  return sorted;
}

// One side of a search. Unsorted if the other side is so much smaller that sorting would dominate;
// then each row is its own code, even where codes are equal.
SortedCodes sort_unless_many(const CodeColumn& codes, std::span<const std::uint32_t> rows,
                             std::size_t others) {
  constexpr std::size_t kMany = 16;
  if (rows.size() / kMany <= others) return sort_codes(codes, rows);
  SortedCodes as_they_are{{rows.begin(), rows.end()}, std::vector<std::uint32_t>(rows.size() + 1)};
  std::iota(as_they_are.starts.begin(), as_they_are.starts.end(), std::uint32_t{0});
  return as_they_are;
}

// The distinct codes of a column as planes, with their row numbers.
struct DistinctCodes {
  std::vector<std::uint64_t> words;  // plane w: words[w * names.size() + j]
  std::vector<std::uint32_t> names;
  std::size_t words_per_code;

  JoinSide side() const noexcept {
    return {{words.data(), names.size(), words_per_code, names.size()}, names.data()};
  }
};

// The codes of one orientation; only all orientations together are distinct.
DistinctCodes distinct_codes(const CodeColumn& codes, const SortedCodes& sorted, int orientation) {
  const std::size_t count = sorted.distinct();
  const std::size_t per_code = static_cast<std::size_t>(codes.most_distance()) / 64;
  const std::size_t first = static_cast<std::size_t>(orientation) * per_code;
  DistinctCodes out{std::vector<std::uint64_t>(count * per_code), std::vector<std::uint32_t>(count),
                    per_code};
  tbb::parallel_for(std::size_t{0}, count, [&](std::size_t j) {
    out.names[j] = sorted.rows_of(j).front();
    const auto code = codes.code(out.names[j]).subspan(first, per_code);
    for (std::size_t w = 0; w < per_code; ++w) out.words[w * count + j] = code[w];
  });
  return out;
}

// Passes edges on in batches.
class Batches {
 public:
  explicit Batches(const EdgeSink& sink) : sink_(sink) {}
  void add(const Edge& edge) {
    edges_.push_back(edge);
    if (edges_.size() >= kBatch) flush();
  }
  void flush() {
    if (!edges_.empty()) sink_(edges_);
    edges_.clear();
  }

 private:
  static constexpr std::size_t kBatch = 16384;
  const EdgeSink& sink_;
  std::vector<Edge> edges_;
};

// One way to compare two images: one of them in an orientation, the other as it is.
struct Way {
  int orientation;
  bool turns_b;  // else a is turned
};
// The missing quarter turn is equivalent to the other one applied to the other image.
constexpr std::array<Way, 13> kWays{{{0, false},
                                     {1, false},
                                     {1, true},
                                     {2, false},
                                     {2, true},
                                     {3, false},
                                     {3, true},
                                     {4, false},
                                     {4, true},
                                     {5, false},
                                     {5, true},
                                     {7, false},
                                     {7, true}}};

constexpr std::size_t ways_of(int orientations) noexcept {
  return orientations == 8 ? kWays.size() : 2 * static_cast<std::size_t>(orientations) - 1;
}

struct Nearest {
  int distance;
  std::size_t way;  // the first one at that distance
};

Nearest nearest(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                int orientations) noexcept {
  const std::size_t words = a.size() / static_cast<std::size_t>(orientations);
  const auto in = [&](std::span<const std::uint64_t> row, int orientation) {
    return row.subspan(static_cast<std::size_t>(orientation) * words, words);
  };
  Nearest best{std::numeric_limits<int>::max(), 0};
  for (std::size_t way = 0; way < ways_of(orientations); ++way) {
    const auto [orientation, turns_b] = kWays[way];
    const int bits = hamming(in(a, turns_b ? 0 : orientation), in(b, turns_b ? orientation : 0));
    if (bits < best.distance) best = {bits, way};
  }
  return best;
}

// The sink for search number `index` of `count`, reported to `progress` as one search.
ProgressSink nth_of(const ProgressSink& progress, std::size_t index, std::size_t count) {
  if (!progress) return {};
  return [&progress, index, count](const Progress& part) {
    progress({(index * part.total + part.done) / count, part.total, part.note});
  };
}

// Searches each orientation. A pair is reported once, where it is nearest.
std::uint64_t find_turned_edges(const CodeColumn& codes, const SortedCodes& sorted, int radius,
                                const SearchPart& part, const EdgeSink& sink,
                                const SearchOptions& options) {
  std::uint64_t division = 0;
  const int orientations = codes.orientations;
  const DistinctCodes upright = distinct_codes(codes, sorted, 0);
  SearchOptions one_way = options;
  for (std::size_t way = 0; way < ways_of(orientations); ++way) {
    const auto [orientation, turns_b] = kWays[way];
    if (turns_b) continue;  // a pair is found from both sides
    one_way.progress = nth_of(options.progress, way, ways_of(orientations));
    const EdgeSink nearest_only = [&](std::span<const Edge> edges) {
      Batches out(sink);
      for (Edge edge : edges) {
        if (edge.a == edge.b) continue;  // a picture that looks the same in two orientations
        const bool swapped = edge.a > edge.b;
        if (swapped) std::swap(edge.a, edge.b);
        const std::size_t this_way = way + (swapped ? 1 : 0);
        const auto best = nearest(codes.code(edge.a), codes.code(edge.b), orientations);
        if (best.way == this_way) out.add(edge);
      }
      out.flush();
    };
    if (orientation == 0) {
      division += join(upright.side(), std::nullopt, radius, part, one_way, nearest_only);
    } else {
      const DistinctCodes turned = distinct_codes(codes, sorted, orientation);
      division += join(turned.side(), upright.side(), radius, part, one_way, nearest_only);
    }
  }
  return division;
}

}  // namespace

int hamming(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) noexcept {
  int bits = 0;
  for (std::size_t w = 0; w < a.size(); ++w) bits += std::popcount(a[w] ^ b[w]);
  return bits;
}

int code_distance(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                  int orientations) noexcept {
  return nearest(a, b, orientations).distance;
}

bool have_one_code(const CodeColumn& codes, const Edge& edge) noexcept {
  return edge.distance == 0 && std::ranges::equal(codes.code(edge.a), codes.code(edge.b));
}

int row_distance(const CodeColumn& codes, std::uint32_t a, std::uint32_t b) noexcept {
  if (codes.between) return static_cast<int>(codes.between(a, b));
  return code_distance(codes.code(a), codes.code(b), codes.orientations);
}

void find_edges(const CodeColumn& codes, std::span<const std::uint32_t> rows, int radius,
                const EdgeSink& sink, const SearchOptions& options) {
  find_edges_of_part(codes, rows, radius, {}, sink, options);
}

std::uint64_t find_edges_of_part(const CodeColumn& codes, std::span<const std::uint32_t> rows,
                                 int radius, const SearchPart& part, const EdgeSink& sink,
                                 const SearchOptions& options) {
  SortedCodes sorted = sort_codes(codes, rows);
  Batches equal(sink);
  const auto parts = static_cast<std::size_t>(part.count);
  for (auto code = static_cast<std::size_t>(part.index); code < sorted.distinct(); code += parts) {
    const auto same = sorted.rows_of(code);
    for (const std::uint32_t row : same.subspan(1)) equal.add({same.front(), row, 0});
  }
  equal.flush();
  if (codes.orientations > 1) {
    return find_turned_edges(codes, sorted, radius, part, sink, options);
  }
  if (radius == 0) return sorted.distinct();
  const DistinctCodes distinct = distinct_codes(codes, sorted, 0);
  sorted = {};  // free it before the next step
  return join(distinct.side(), std::nullopt, radius, part, options, sink);
}

std::vector<Edge> edges_within(const CodeColumn& codes, std::span<const std::uint32_t> rows,
                               int radius, const SearchOptions& options) {
  std::vector<Edge> edges;
  find_edges(
      codes, rows, radius,
      [&](std::span<const Edge> batch) { edges.insert(edges.end(), batch.begin(), batch.end()); },
      options);
  // Edges are distinct, so sorting removes any dependence on threads.
  tbb::parallel_sort(edges.begin(), edges.end());
  return edges;
}

void find_edges_between(const CodedRows& a, const CodedRows& b, int radius, const EdgeSink& sink,
                        const SearchOptions& options) {
  find_edges_between_part(a, b, radius, {}, sink, options);
}

std::uint64_t find_edges_between_part(const CodedRows& a, const CodedRows& b, int radius,
                                      const SearchPart& part, const EdgeSink& sink,
                                      const SearchOptions& options) {
  const SortedCodes sorted_a = sort_unless_many(a.codes, a.rows, b.rows.size());
  const SortedCodes sorted_b = sort_unless_many(b.codes, b.rows, a.rows.size());
  const auto numbered = [](const CodeColumn& codes, const SortedCodes& sorted, int orientation) {
    DistinctCodes distinct = distinct_codes(codes, sorted, orientation);
    std::iota(distinct.names.begin(), distinct.names.end(), std::uint32_t{0});
    return distinct;
  };
  const int orientations = a.codes.orientations;
  std::uint64_t division = 0;
  for (std::size_t way = 0; way < ways_of(orientations); ++way) {
    const auto [orientation, turns_b] = kWays[way];
    const DistinctCodes distinct_a = numbered(a.codes, sorted_a, turns_b ? 0 : orientation);
    const DistinctCodes distinct_b = numbered(b.codes, sorted_b, turns_b ? orientation : 0);
    const EdgeSink to_rows = [&](std::span<const Edge> edges) {
      Batches out(sink);
      for (const Edge& edge : edges) {
        const auto same_a = sorted_a.rows_of(edge.a);
        const auto same_b = sorted_b.rows_of(edge.b);
        // Reports each pair once, where it is nearest.
        if (nearest(a.codes.code(same_a.front()), b.codes.code(same_b.front()), orientations).way !=
            way) {
          continue;
        }
        for (const std::uint32_t row_a : same_a) {
          for (const std::uint32_t row_b : same_b) out.add({row_a, row_b, edge.distance});
        }
      }
      out.flush();
    };
    division += join(distinct_a.side(), distinct_b.side(), radius, part, options, to_rows);
  }
  return division;
}

std::vector<Neighbour> neighbours_of(std::span<const std::uint64_t> code, const CodeColumn& codes,
                                     std::span<const std::uint32_t> rows, int radius) {
  std::vector<Neighbour> near;
  const int orientations = codes.orientations;
  for (const std::uint32_t row : rows) {
    const int distance = code_distance(code, codes.code(row), orientations);
    if (distance <= radius) near.push_back({row, static_cast<std::uint32_t>(distance)});
  }
  return near;
}

SelfCheck check_edges(const CodeColumn& codes, std::span<const std::uint32_t> rows, int radius,
                      std::span<const Edge> edges, std::uint64_t queries, std::uint64_t seed) {
  SelfCheck check;
  check.queries = std::min<std::uint64_t>(queries, rows.size());
  CounterRng rng(seed, 0, 0, RandomUse::kTest);
  std::vector<std::uint32_t> order(rows.begin(), rows.end());  // shuffled as far as it is used
  std::vector<std::uint32_t> checked;                          // the first rows of the drawn codes
  std::vector<Edge> want;
  for (std::size_t i = 0; i < check.queries; ++i) {
    std::swap(order[i], order[i + rng.below(static_cast<std::uint32_t>(order.size() - i))]);
    const std::uint32_t drawn = order[i];
    // Equal codes are represented by their first row.
    std::map<std::vector<std::uint64_t>, std::uint32_t> first_rows;
    const auto near = neighbours_of(codes.code(drawn), codes, rows, radius);
    for (const auto& [row, distance] : near) {
      const auto code = codes.code(row);
      const auto [at, added] = first_rows.try_emplace({code.begin(), code.end()}, row);
      at->second = std::min(at->second, row);
    }
    const auto own = codes.code(drawn);
    const std::uint32_t query = first_rows.at({own.begin(), own.end()});
    checked.push_back(query);
    for (const auto& [row, distance] : near) {
      const auto code = codes.code(row);
      if (row == query) continue;
      const bool equal = std::ranges::equal(code, own);
      if (!equal && first_rows.at({code.begin(), code.end()}) != row) continue;
      want.push_back({std::min(query, row), std::max(query, row), distance});
    }
  }
  std::ranges::sort(checked);
  const auto is_checked = [&](const Edge& edge) {
    return std::ranges::binary_search(checked, edge.a) ||
           std::ranges::binary_search(checked, edge.b);
  };
  std::vector<Edge> got;
  std::ranges::copy_if(edges, std::back_inserter(got), is_checked);
  for (std::vector<Edge>* list : {&want, &got}) {
    std::ranges::sort(*list);
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
  check.edges = want.size();
  std::ranges::set_difference(want, got, std::back_inserter(check.missing));
  std::ranges::set_difference(got, want, std::back_inserter(check.wrong));
  return check;
}

std::vector<Edge> equal_edges(std::span<const Hash128> hashes,
                              std::span<const std::uint32_t> rows) {
  struct Entry {  // part of the hash beside the row: most comparisons need no more
    std::uint64_t part;
    std::uint32_t row;
  };
  std::vector<Entry> sorted(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::memcpy(&sorted[i].part, hashes[rows[i]].bytes.data(), sizeof(std::uint64_t));
    sorted[i].row = rows[i];
  }
  tbb::parallel_sort(sorted.begin(), sorted.end(), [&](const Entry& a, const Entry& b) {
    if (a.part != b.part) return a.part < b.part;
    const auto order = hashes[a.row] <=> hashes[b.row];
    return order != 0 ? order < 0 : a.row < b.row;
  });
  std::vector<Edge> edges;
  std::size_t first = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const bool equal =
        sorted[i].part == sorted[first].part && hashes[sorted[i].row] == hashes[sorted[first].row];
    if (equal) {
      edges.push_back({sorted[first].row, sorted[i].row, 0});
    } else {
      first = i;
    }
  }
  std::sort(edges.begin(), edges.end());
  return edges;
}

}  // namespace winnow::dedup
