#include "dedup/features/neighbours.h"

#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>

#include "common/error.h"
#include "dedup/cluster/cluster.h"
#include "dedup/search/scan.h"
#include "dedup/search/search.h"

namespace winnow::dedup {
namespace {

void check_cosine(double cosine) {
  if (cosine > 0 && cosine <= 1) return;
  throw UsageError("the smallest cosine of near pairs is above 0 and at most 1, for example 0.95");
}

std::vector<Hash128> hashes_of(const FeatureTable& table) {
  std::vector<Hash128> hashes(table.size());
  tbb::parallel_for(std::size_t{0}, table.size(),
                    [&](std::size_t row) { hashes[row] = xxh3_128(table.bytes_of(row)); });
  return hashes;
}

std::vector<Hash128> hashes_of(const CodeColumn& codes, std::size_t rows) {
  std::vector<Hash128> hashes(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    hashes[row] = xxh3_128(std::as_bytes(codes.code(row)));
  }
  return hashes;
}

// Compares rows by their vectors and reports those that are near enough.
class Comparing {
 public:
  Comparing(const FeatureIndex& index, double cosine, const PairSink& sink)
      : index_(index), cosine_(cosine), sink_(sink) {}

  void pair(std::uint32_t a, std::uint32_t b) {
    const float cosine = index_.cosine(a, b);
    if (double{cosine} < cosine_) return;
    near_.push_back({std::min(a, b), std::max(a, b), cosine});
    if (near_.size() == kBatch) flush();
  }
  void within(std::span<const std::uint32_t> rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t j = i + 1; j < rows.size(); ++j) pair(rows[i], rows[j]);
    }
  }
  void between(std::span<const std::uint32_t> some, std::span<const std::uint32_t> others) {
    for (const std::uint32_t a : some) {
      for (const std::uint32_t b : others) pair(a, b);
    }
  }
  void flush() {
    if (!near_.empty()) sink_(near_);
    near_.clear();
  }

 private:
  static constexpr std::size_t kBatch = 16384;
  const FeatureIndex& index_;
  double cosine_;
  const PairSink& sink_;
  std::vector<CosinePair> near_;
};

// Codes to search, and how far.
struct Search {
  CodeColumn codes;
  int radius;
};

// Relative to the mean, unrelated vectors are further apart if all vectors point in similar
// directions, but so are pairs near the mean.
Search plan_search(const FeatureIndex& index, std::span<const std::uint32_t> rows, double cosine,
                   double recall) {
  const UnitVectors& vectors = index.vectors();
  const Viewpoint origin = seen_from_origin(vectors);
  const auto plan = [&](const Viewpoint& from) {
    return plan_projections(vectors, from, rows, cosine, recall, index.seed());
  };
  const ProjectionPlan by_origin = plan(origin);
  const ProjectionPlan by_mean = plan(index.mean());
  if (by_mean.candidates < by_origin.candidates) return {index.codes(), by_mean.radius};
  return {project(vectors, origin, index.seed()), by_origin.radius};
}

// Finds pairs among `rows`, which have distinct vectors.
void find_pairs_of_distinct(const FeatureIndex& index, std::span<const std::uint32_t> rows,
                            double cosine, const PairSink& sink, const NeighbourOptions& options) {
  const Search search = plan_search(index, rows, cosine, options.recall);
  const std::vector<Hash128> of_codes = hashes_of(search.codes, index.size());
  const Components components = connected_components(index.size(), equal_edges(of_codes, rows));
  const Ragged<std::uint32_t> members = rows_by_component(components);
  const auto members_of = [&](std::uint32_t row) { return members[components.of_row[row]]; };
  Comparing comparing(index, cosine, sink);
  for (std::size_t code = 0; code < members.size(); ++code) comparing.within(members[code]);
  find_edges(search.codes, rows, search.radius,
             [&](std::span<const Edge> edges) {
               for (const Edge& edge : edges) {  // between the first rows of two codes
                 if (edge.distance > 0) comparing.between(members_of(edge.a), members_of(edge.b));
               }
             },
             {.progress = options.progress, .stop = options.stop});
  comparing.flush();
}

// The codes of every n-th row as planes (scan.h).
struct Planes {
  Planes(const CodeColumn& codes, std::size_t rows, std::size_t step)
      : count((rows + step - 1) / step), words(count * codes.words_per_code()) {
    for (std::size_t j = 0; j < count; ++j) {
      const auto code = codes.code(j * step);
      for (std::size_t w = 0; w < code.size(); ++w) words[w * count + j] = code[w];
    }
  }
  CodePlanes planes() const noexcept {
    return {words.data(), count, words.size() / std::max<std::size_t>(count, 1), count};
  }

  std::size_t count;
  std::vector<std::uint64_t> words;
};

// Buffers of a thread.
struct Found {
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> distances;
  std::vector<NearRow> near;
};

// Finds the rows with the nearest codes.
class NearestCodes {
 public:
  NearestCodes(const FeatureIndex& index, std::size_t candidates)
      : codes_(index.codes()),
        candidates_(candidates),
        all_(codes_, index.size(), 1),
        some_(codes_, index.size(), std::max<std::size_t>(1, index.size() / kSample)) {}

  // Fills found.rows with at least `candidates` rows, including all ties of the last one.
  void find(std::uint32_t row, Found& found) const {
    found.rows.resize(all_.count);
    found.distances.resize(all_.count);
    const std::uint64_t* const code = codes_.code(row).data();
    std::size_t count = 0;
    for (std::uint32_t radius = first_radius(code, found);; radius += kWiden) {
      count =
          kernel_.scan(all_.planes(), {code, radius}, found.rows.data(), found.distances.data());
      if (count >= candidates_ || radius >= kProjections) break;
    }
    const std::uint32_t last = distance_of_nearest(found, count, candidates_);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (found.distances[i] <= last) found.rows[kept++] = found.rows[i];
    }
    found.rows.resize(kept);
  }

 private:
  static constexpr std::size_t kSample = 2048;
  static constexpr std::uint32_t kWiden = 6;

  // The distance of the last of the nearest rows.
  static std::uint32_t distance_of_nearest(const Found& found, std::size_t count,
                                           std::size_t nearest) {
    std::array<std::size_t, kProjections + 1> at{};
    for (std::size_t i = 0; i < count; ++i) ++at[found.distances[i]];
    std::uint32_t distance = 0;
    for (std::size_t met = at[0]; met < nearest && distance < kProjections; met += at[distance]) {
      ++distance;
    }
    return distance;
  }
  // An initial radius that holds about the wanted number of rows, estimated from a sample.
  std::uint32_t first_radius(const std::uint64_t* code, Found& found) const {
    const std::size_t count = kernel_.scan(some_.planes(), {code, kProjections}, found.rows.data(),
                                           found.distances.data());
    const std::size_t share = (candidates_ * count + all_.count - 1) / all_.count;
    return distance_of_nearest(found, count, share + 2);
  }

  const CodeColumn& codes_;
  std::size_t candidates_;
  Planes all_;
  Planes some_;
  const ScanKernel& kernel_ = best_scan_kernel();
};

// The nearest rows among found.rows.
void take_nearest(const FeatureIndex& index, std::uint32_t row, Found& found,
                  std::span<NearRow> out) {
  found.near.clear();
  for (const std::uint32_t other : found.rows) {
    if (other != row) found.near.push_back({other, index.cosine(row, other)});
  }
  std::ranges::partial_sort_copy(found.near, out, [](const NearRow& a, const NearRow& b) {
    return std::tie(b.cosine, a.row) < std::tie(a.cosine, b.row);
  });
}

}  // namespace

FeatureIndex::FeatureIndex(const FeatureTable& table, std::uint64_t seed)
    : vectors_(table),
      seed_(seed),
      mean_(seen_from_mean(vectors_)),
      codes_(project(vectors_, mean_, seed)),
      hashes_(hashes_of(table)) {}

void find_pairs(const FeatureIndex& index, std::span<const std::uint32_t> rows, double cosine,
                const PairSink& sink, const NeighbourOptions& options) {
  check_cosine(cosine);
  std::vector<bool> is_equal(index.size());
  std::vector<CosinePair> equal;
  for (const Edge& edge : equal_edges(index.hashes(), rows)) {
    equal.push_back({edge.a, edge.b, 1});
    is_equal[edge.b] = true;
  }
  if (!equal.empty()) sink(equal);
  std::vector<std::uint32_t> distinct;
  std::ranges::copy_if(rows, std::back_inserter(distinct),
                       [&](std::uint32_t row) { return !is_equal[row]; });
  if (distinct.size() > 1) find_pairs_of_distinct(index, distinct, cosine, sink, options);
}

std::vector<CosinePair> pairs_from(const FeatureIndex& index, double cosine,
                                   const NeighbourOptions& options) {
  std::vector<std::uint32_t> rows(index.size());
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  const Components same = connected_components(rows.size(), equal_edges(index.hashes(), rows));
  const Ragged<std::uint32_t> members = rows_by_component(same);
  std::vector<CosinePair> pairs;
  const PairSink keep = [&](std::span<const CosinePair> found) {
    pairs.insert(pairs.end(), found.begin(), found.end());
  };
  Comparing all(index, cosine, keep);
  for (std::size_t number = 0; number < members.size(); ++number) all.within(members[number]);
  find_pairs(
      index, rows, cosine,
      [&](std::span<const CosinePair> found) {
        for (const CosinePair& pair : found) {
          const std::uint32_t a = same.of_row[pair.a];
          const std::uint32_t b = same.of_row[pair.b];
          if (a != b) all.between(members[a], members[b]);
        }
      },
      options);
  all.flush();
  tbb::parallel_sort(pairs.begin(), pairs.end(), [](const CosinePair& a, const CosinePair& b) {
    return std::tie(a.a, a.b) < std::tie(b.a, b.b);
  });
  return pairs;
}

void find_pairs_between(const FeatureIndex& index, std::span<const std::uint32_t> some,
                        std::span<const std::uint32_t> others, double cosine, const PairSink& sink,
                        const NeighbourOptions& options) {
  check_cosine(cosine);
  if (some.empty() || others.empty()) return;
  std::vector<std::uint32_t> rows;
  std::ranges::merge(some, others, std::back_inserter(rows));
  const Search search = plan_search(index, rows, cosine, options.recall);
  Comparing comparing(index, cosine, sink);
  find_edges_between({search.codes, some}, {search.codes, others}, search.radius,
                     [&](std::span<const Edge> edges) {
                       for (const Edge& edge : edges) comparing.pair(edge.a, edge.b);
                     },
                     {.progress = options.progress, .stop = options.stop});
  comparing.flush();
}

NearestRows nearest_rows(const FeatureIndex& index, int k, const NeighbourOptions& options) {
  constexpr std::size_t kSlice = 4096;  // rows between two checks for progress and stop
  NearestRows nearest;
  nearest.rows = index.size();
  nearest.per_row = std::min(static_cast<std::size_t>(std::max(k, 1)),
                             std::max<std::size_t>(index.size(), 1) - 1);
  nearest.all.resize(nearest.rows * nearest.per_row);
  if (nearest.all.empty()) return nearest;
  const NearestCodes codes(index, std::max<std::size_t>(400, 20 * nearest.per_row));
  tbb::enumerable_thread_specific<Found> memory;
  for (std::size_t begin = 0; begin < index.size(); begin += kSlice) {
    if (options.stop && options.stop()) throw StoppedError("stopped while looking for neighbours");
    const std::size_t end = std::min(index.size(), begin + kSlice);
    tbb::parallel_for(begin, end, [&](std::size_t row) {
      Found& found = memory.local();
      codes.find(static_cast<std::uint32_t>(row), found);
      take_nearest(index, static_cast<std::uint32_t>(row), found,
                   std::span(nearest.all).subspan(row * nearest.per_row, nearest.per_row));
    });
    if (options.progress) options.progress({.done = end, .total = index.size(), .note = {}});
  }
  return nearest;
}

}  // namespace winnow::dedup
