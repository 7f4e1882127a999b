#include "dedup/verify/candidates.h"

#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "common/error.h"
#include "dedup/search/between_part.h"
#include "dedup/search/nearest_edges.h"
#include "dedup/search/scan.h"
#include "dedup/verify/evenly_internal.h"

namespace winnow::dedup {
namespace {

constexpr int kMostRadius = 14;
constexpr int kMostHitsOfPair = 3;
constexpr std::size_t kMostHitsOfLandmark = 8;
constexpr std::size_t kLeastPart = 1 << 20;  // landmarks that are searched at a time

// Two landmarks of two pictures, the one of the lower row first; nothing where both are of one.
std::optional<Edge> in_order(const LandmarkTable& landmarks, const Edge& edge) {
  const std::uint32_t of_a = landmarks.owner(edge.a);
  const std::uint32_t of_b = landmarks.owner(edge.b);
  if (of_a == of_b) return std::nullopt;
  return of_a < of_b ? edge : Edge{edge.b, edge.a, edge.distance};
}

Hit hit_of(const LandmarkTable& landmarks, const Edge& in_order, bool is_mirrored) {
  const auto& [a, b, distance] = in_order;
  return {landmarks.owner(a), landmarks.owner(b), distance, a, b, is_mirrored};
}

// Takes edges between landmarks, and keeps of each landmark the nearest, as they are and as a
// mirror shows them. What it keeps of what it kept is the same.
class NearestHits {
 public:
  explicit NearestHits(const LandmarkTable& landmarks)
      : landmarks_(landmarks),
        as_they_are_(landmarks.size(), kMostHitsOfLandmark),
        in_mirror_(landmarks.size(), kMostHitsOfLandmark) {}

  void take(const Edge& edge, bool is_mirrored) {
    const auto ordered = in_order(landmarks_, edge);
    if (ordered) (is_mirrored ? in_mirror_ : as_they_are_).take(std::span(&*ordered, 1));
  }
  // Once.
  std::vector<Hit> hits() {
    std::vector<Hit> hits;
    for (const Edge& edge : as_they_are_.sorted()) hits.push_back(hit_of(landmarks_, edge, false));
    for (const Edge& edge : in_mirror_.sorted()) hits.push_back(hit_of(landmarks_, edge, true));
    return hits;
  }

 private:
  const LandmarkTable& landmarks_;
  NearestEdges as_they_are_;
  NearestEdges in_mirror_;
};

// The three nearest of each pair of pictures, sorted.
std::vector<Hit> nearest_of_pairs(std::vector<Hit> hits) {
  tbb::parallel_sort(hits.begin(), hits.end());
  hits.erase(std::unique(hits.begin(), hits.end()), hits.end());
  std::size_t kept = 0;
  int of_pair = 0;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const bool is_new =
        i == 0 || hits[i].row_a != hits[i - 1].row_a || hits[i].row_b != hits[i - 1].row_b;
    of_pair = is_new ? 0 : of_pair + 1;
    if (of_pair < kMostHitsOfPair) hits[kept++] = hits[i];
  }
  hits.resize(kept);
  return hits;
}

void append_mirrored(const LandmarkCode& code, std::vector<std::uint64_t>& words) {
  const LandmarkCode mirror = mirrored(code);
  words.insert(words.end(), mirror.begin(), mirror.end());
}

// How many pairs of the one and the other are of two pictures.
std::uint64_t pairs_of_strangers(const LandmarkTable& landmarks,
                                 std::span<const std::uint32_t> asked,
                                 std::span<const std::uint32_t> others) {
  std::unordered_map<std::uint32_t, std::uint64_t> of_picture;
  for (const std::uint32_t landmark : others) ++of_picture[landmarks.owner(landmark)];
  std::uint64_t pairs = 0;
  for (const std::uint32_t landmark : asked) {
    const auto own = of_picture.find(landmarks.owner(landmark));
    pairs += others.size() - (own == of_picture.end() ? 0 : own->second);
  }
  return pairs;
}

// Landmarks that are scanned for near ones.
class Scanned {
 public:
  Scanned(const LandmarkTable& landmarks, std::span<const std::uint32_t> some)
      : landmarks_(landmarks), some_(some), planes_(2 * some.size()) {
    for (std::size_t j = 0; j < some.size(); ++j) {
      const LandmarkCode code = landmarks.code(some[j]);
      for (std::size_t w = 0; w < code.size(); ++w) planes_[w * some.size() + j] = code[w];
    }
  }

  // Calls visit(distance) for each within a radius of a code that is of another picture than
  // `owner`. For any number of threads.
  template <class Visit>
  void for_each_near(const LandmarkCode& code, std::uint32_t owner, std::uint32_t radius,
                     const Visit& visit) {
    Found& found = of_thread_.local();
    found.places.resize(some_.size());
    found.distances.resize(some_.size());
    const std::size_t hits =
        kernel_.scan({planes_.data(), some_.size(), code.size(), some_.size()},
                     {code.data(), radius, {}}, found.places.data(), found.distances.data());
    for (std::size_t hit = 0; hit < hits; ++hit) {
      if (landmarks_.owner(some_[found.places[hit]]) != owner) visit(found.distances[hit]);
    }
  }

 private:
  struct Found {
    std::vector<std::uint32_t> places, distances;
  };
  const LandmarkTable& landmarks_;
  std::span<const std::uint32_t> some_;
  std::vector<std::uint64_t> planes_;
  const ScanKernel& kernel_ = best_scan_kernel();
  tbb::enumerable_thread_specific<Found> of_thread_;
};

// Of these pairs, one seen in a mirror, those within a radius: how many are how far apart.
using DistanceCounts = std::array<std::uint64_t, kLandmarkBits + 1>;
DistanceCounts distances_within(const LandmarkTable& landmarks,
                                std::span<const std::uint32_t> asked,
                                std::span<const std::uint32_t> others, std::uint32_t radius) {
  Scanned scanned(landmarks, others);
  tbb::enumerable_thread_specific<DistanceCounts> of_thread(DistanceCounts{});
  tbb::parallel_for(std::size_t{0}, asked.size(), [&](std::size_t i) {
    DistanceCounts& counts = of_thread.local();
    scanned.for_each_near(mirrored(landmarks.code(asked[i])), landmarks.owner(asked[i]), radius,
                          [&](std::uint32_t distance) { ++counts[distance]; });
  });
  DistanceCounts counts{};
  for (const DistanceCounts& some : of_thread) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += some[i];
  }
  return counts;
}

// For each of `asked` how many of `others`, of other pictures, are within a radius.
std::vector<std::uint32_t> near_counts(const LandmarkTable& landmarks,
                                       std::span<const std::uint32_t> asked,
                                       std::span<const std::uint32_t> others, int radius,
                                       const StopRequested& stop) {
  Scanned scanned(landmarks, others);
  std::vector<std::uint32_t> counts(asked.size());
  tbb::parallel_for(std::size_t{0}, asked.size(), [&](std::size_t i) {
    if (stop && stop()) throw StoppedError("stopped while landmarks were counted");
    scanned.for_each_near(landmarks.code(asked[i]), landmarks.owner(asked[i]),
                          static_cast<std::uint32_t>(radius), [&](std::uint32_t) { ++counts[i]; });
  });
  return counts;
}

// Of a search of `count` from `at` on, of `all`: tells of the whole.
struct Part {
  std::uint64_t at = 0;
  std::uint64_t count = 0;
  std::uint64_t all = 0;
};
SearchOptions options_of_part(SearchOptions options, const Part& part) {
  if (!options.progress) return options;
  options.progress = [to = std::move(options.progress), part](const Progress& progress) {
    const std::uint64_t total = std::max<std::uint64_t>(1, progress.total);
    const double share = static_cast<double>(progress.done) / static_cast<double>(total);
    const auto here = static_cast<std::uint64_t>(share * static_cast<double>(part.count));
    to({part.at + std::min(here, part.count), part.all, progress.note});
  };
  return options;
}

}  // namespace

double stranger_distance(const LandmarkTable& landmarks, std::span<const std::uint32_t> some) {
  constexpr std::size_t kMostAsked = 1024;
  constexpr std::size_t kMostOther = 32768;
  constexpr double kShare = 1e-3;
  constexpr double kLeast = 22;  // where most pictures are copies of few
  constexpr std::uint64_t kFewPairs = 100'000;
  const std::vector<std::uint32_t> asked = evenly(some, kMostAsked);
  const std::vector<std::uint32_t> others = evenly(some, kMostOther);
  const std::uint64_t all = pairs_of_strangers(landmarks, asked, others);
  if (all < kFewPairs) return kStrangersOfPhotos;
  const double wanted = kShare * static_cast<double>(all);
  for (std::uint32_t radius = kLandmarkBits / 4;; radius *= 2) {
    const DistanceCounts counts = distances_within(landmarks, asked, others, radius);
    double within = 0;
    for (std::size_t bits = 0; bits <= radius; ++bits) {
      const auto here = static_cast<double>(counts[bits]);
      if (within + here >= wanted) {
        return std::max(kLeast, static_cast<double>(bits) - 1 + (wanted - within) / here);
      }
      within += here;
    }
  }
}

HitRadius hit_radius(std::size_t landmarks, double most_hits, double strangers) noexcept {
  constexpr double kRateAt12 = 1e-7;
  constexpr double kRateOfBit = 2.1;
  const double pairs = static_cast<double>(landmarks) * static_cast<double>(landmarks);
  for (int bits = kMostRadius;; --bits) {
    const double expected =
        pairs * kRateAt12 * std::pow(kRateOfBit, bits - 12 + kStrangersOfPhotos - strangers);
    if (expected <= most_hits || bits == 1) return {bits, expected};
  }
}

std::vector<std::uint32_t> searched_landmarks(const LandmarkTable& landmarks, std::uint32_t begin,
                                              std::uint32_t end) {
  constexpr std::uint32_t kMany = 1'500'000;
  const std::uint32_t most_of_picture = end - begin > kMany ? 32 : end - begin;
  std::vector<std::uint32_t> some;
  std::uint32_t of_picture = begin;
  for (std::uint32_t i = begin; i < end; ++i) {
    if (landmarks.owner(i) != landmarks.owner(of_picture)) of_picture = i;
    if (i - of_picture < most_of_picture) some.push_back(i);
  }
  return some;
}

std::vector<std::uint32_t> uncommon_landmarks(const LandmarkTable& landmarks,
                                              std::span<const std::uint32_t> some, int radius,
                                              const StopRequested& stop) {
  constexpr std::size_t kMostAsked = 1024;
  constexpr std::size_t kMostOther = 16384;
  constexpr double kCommon = 1000;      // near ones of so many are
  constexpr std::uint32_t kFewest = 4;  // of the sample that is looked at
  constexpr double kCrowd = 0.01;       // a share of common ones
  const std::vector<std::uint32_t> others = evenly(some, kMostOther);
  const double share = static_cast<double>(others.size()) / static_cast<double>(some.size());
  const auto most = std::max(kFewest, static_cast<std::uint32_t>(kCommon * share));
  const std::vector<std::uint32_t> asked = evenly(some, kMostAsked);
  const std::vector<std::uint32_t> of_sample = near_counts(landmarks, asked, others, radius, stop);
  const auto common =
      std::ranges::count_if(of_sample, [&](std::uint32_t count) { return count > most; });
  std::vector<std::uint32_t> uncommon(some.begin(), some.end());
  if (static_cast<double>(common) <= kCrowd * static_cast<double>(asked.size())) return uncommon;
  const std::vector<std::uint32_t> counts = near_counts(landmarks, some, others, radius, stop);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < some.size(); ++i) {
    if (counts[i] <= most) uncommon[kept++] = some[i];
  }
  uncommon.resize(kept);
  return uncommon;
}

std::vector<Hit> merge_hits(const LandmarkTable& landmarks, std::span<const Hit> found) {
  NearestHits nearest(landmarks);
  for (const Hit& hit : found) {
    nearest.take({hit.landmark_a, hit.landmark_b, hit.distance}, hit.is_mirrored);
  }
  return nearest_of_pairs(nearest.hits());
}

std::vector<Hit> find_hits(const LandmarkTable& landmarks, std::span<const std::uint32_t> some,
                           int radius, const SearchOptions& options) {
  return nearest_of_pairs(find_hits_of_part(landmarks, some, radius, {}, options).hits);
}

HitsOfPart find_hits_of_part(const LandmarkTable& landmarks, std::span<const std::uint32_t> all,
                             int radius, const SearchPart& part, const SearchOptions& options) {
  const std::vector<std::uint32_t> some = uncommon_landmarks(landmarks, all, radius, options.stop);
  HitsOfPart found;
  NearestHits nearest(landmarks);
  const auto sink = [&](std::span<const Edge> edges) {
    for (const Edge& edge : edges) nearest.take(edge, /*is_mirrored=*/false);
  };
  found.division = find_edges_of_part(landmarks.codes(), some, radius, part, sink, options);
  CodeColumn seen_in_mirror = LandmarkTable().codes();
  for (const std::uint32_t landmark : some)
    append_mirrored(landmarks.code(landmark), seen_in_mirror.words);
  std::vector<std::uint32_t> places(some.size());
  std::iota(places.begin(), places.end(), std::uint32_t{0});
  const auto mirror_sink = [&](std::span<const Edge> edges) {
    for (const Edge& edge : edges) {
      nearest.take({edge.a, some[edge.b], edge.distance}, /*is_mirrored=*/true);
    }
  };
  found.division += find_edges_between_part(landmarks.codes(), some, seen_in_mirror, places, radius,
                                            part, mirror_sink, options);
  found.hits = nearest.hits();
  return found;
}

std::vector<Hit> find_hits_across(const LandmarkTable& landmarks, std::uint32_t first, int radius,
                                  const SearchOptions& options) {
  const auto end = static_cast<std::uint32_t>(landmarks.size());
  // Asked as they are and as a mirror shows them, in one search.
  CodeColumn asked = LandmarkTable().codes();
  const std::span words = landmarks.codes().words;
  const auto begin = words.begin() + static_cast<std::ptrdiff_t>(first * asked.words_per_code());
  asked.words.assign(begin, words.end());
  for (std::uint32_t i = first; i < end; ++i) append_mirrored(landmarks.code(i), asked.words);
  std::vector<std::uint32_t> some_asked = searched_landmarks(landmarks, first, end);
  for (std::uint32_t& landmark : some_asked) landmark -= first;
  const std::size_t as_they_are = some_asked.size();
  for (std::size_t i = 0; i < as_they_are; ++i) some_asked.push_back(some_asked[i] + (end - first));
  const std::vector<std::uint32_t> known = searched_landmarks(landmarks, 0, first);
  // A search needs more memory than the codes that it is of: a part of them at a time.
  const std::size_t most = std::max<std::size_t>(kLeastPart, some_asked.size());
  NearestHits nearest(landmarks);
  for (std::size_t at = 0; at < known.size(); at += most) {
    const auto part = std::span(known).subspan(at, std::min(most, known.size() - at));
    find_edges_between(
        asked, some_asked, landmarks.codes(), part, radius,
        [&](std::span<const Edge> edges) {
          for (const Edge& edge : edges) {
            const bool is_mirrored = edge.a >= end - first;
            const std::uint32_t of_asked = first + edge.a - (is_mirrored ? end - first : 0);
            nearest.take({edge.b, of_asked, edge.distance}, is_mirrored);
          }
        },
        options_of_part(options, {at, part.size(), known.size()}));
  }
  return nearest_of_pairs(nearest.hits());
}

}  // namespace winnow::dedup
