#include "dedup/verify/candidates.h"

#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
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
// Landmarks sampled for the distances of different pictures.
constexpr std::size_t kMostOther = 32768;

// With this many landmarks in all, the number of searched ones per picture.
std::size_t most_searched(std::size_t landmarks) noexcept {
  constexpr std::size_t kMany = 1'500'000;
  return landmarks > kMany ? 32 : landmarks;
}

// Two landmarks of two pictures, the lower row first; nullopt if both are of one picture.
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

// Collects edges between landmarks, and keeps the nearest of each landmark, both unmirrored and
// mirrored. Pruning its own result again changes nothing.
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
  // Call it once.
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

// The three nearest hits of each pair of pictures, sorted.
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

// Calls visit(picture, count) for each known picture of which the first `count` landmarks are
// searched.
template <class Visit>
void for_each_searched(const KnownLandmarks& known, const Visit& visit) {
  const std::size_t most = most_searched(known.size());
  known.for_each([&](const KnownLandmarks::Picture& picture) {
    visit(picture, std::min(most, picture.places.size()));
  });
}

// Collects edges between known and queried landmarks, and keeps what NearestHits would keep for
// both in one table.
class NearestOfAsked {
 public:
  NearestOfAsked(const KnownLandmarks& known, const LandmarkTable& asked)
      : known_(known),
        asked_(asked),
        as_they_are_(known.end() + asked.size(), kMostHitsOfLandmark),
        in_mirror_(known.end() + asked.size(), kMostHitsOfLandmark) {}

  void take(std::uint32_t known, std::uint32_t asked, std::uint32_t distance, bool is_mirrored) {
    const Edge edge{known, known_.end() + asked, distance};
    (is_mirrored ? in_mirror_ : as_they_are_).take(std::span(&edge, 1));
  }
  // Call it once.
  KnownHits hits() {
    const std::vector<Edge> as_they_are = as_they_are_.sorted();
    const std::vector<Edge> in_mirror = in_mirror_.sorted();
    KnownHits out;
    const Copied copied = copy({as_they_are, in_mirror}, out.landmarks);
    const auto behind = static_cast<std::uint32_t>(out.landmarks.size());
    out.landmarks.append(asked_, [](std::uint32_t row) { return row; });
    const auto take = [&](std::span<const Edge> edges, bool is_mirrored) {
      for (const auto& [a, b, distance] : edges) {
        const Edge edge{copied.at(a), behind + (b - known_.end()), distance};
        out.hits.push_back(hit_of(out.landmarks, edge, is_mirrored));
      }
    };
    take(as_they_are, false);
    take(in_mirror, true);
    out.hits = nearest_of_pairs(std::move(out.hits));
    return out;
  }

 private:
  // Known landmark to its place in a table.
  using Copied = std::unordered_map<std::uint32_t, std::uint32_t>;

  // Copies the landmarks of known pictures that have edges, in order.
  Copied copy(std::initializer_list<std::span<const Edge>> edges, LandmarkTable& to) const {
    std::vector<std::uint32_t> numbers;
    for (const std::span<const Edge> some : edges) {
      for (const Edge& edge : some) numbers.push_back(edge.a);
    }
    std::ranges::sort(numbers);
    Copied copied;
    std::uint32_t begin = 0;
    KnownLandmarks::Picture picture;
    for (const std::uint32_t number : numbers) {
      if (number - picture.first >= picture.places.size()) {
        picture = known_.picture_of(number);
        begin = static_cast<std::uint32_t>(to.size());
        picture.append_to(to);
      }
      copied.emplace(number, begin + (number - picture.first));
    }
    return copied;
  }

  const KnownLandmarks& known_;
  const LandmarkTable& asked_;
  NearestEdges as_they_are_;
  NearestEdges in_mirror_;
};

// A part of the known landmarks, copied for a search.
struct KnownPart {
  CodeColumn codes = LandmarkTable().codes();
  std::vector<std::uint32_t> places;   // in `codes`: 0, 1, ...
  std::vector<std::uint32_t> numbers;  // their numbers among the known ones

  std::size_t size() const noexcept { return numbers.size(); }
  void append(const KnownLandmarks::Picture& picture, std::size_t count) {
    const auto words = picture.codes.first(count * kLandmarkWords);
    codes.words.insert(codes.words.end(), words.begin(), words.end());
    for (std::size_t i = 0; i < count; ++i) {
      places.push_back(static_cast<std::uint32_t>(numbers.size()));
      numbers.push_back(picture.first + static_cast<std::uint32_t>(i));
    }
  }
  void clear() {
    codes.words.clear();
    places.clear();
    numbers.clear();
  }
};

void append_mirrored(const LandmarkCode& code, std::vector<std::uint64_t>& words) {
  const LandmarkCode mirror = mirrored(code);
  words.insert(words.end(), mirror.begin(), mirror.end());
}

// The number of pairs of one list and the other that belong to two pictures.
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

// Landmarks prepared for scans.
class Scanned {
 public:
  Scanned(const LandmarkTable& landmarks, std::span<const std::uint32_t> some)
      : landmarks_(landmarks), some_(some), planes_(2 * some.size()) {
    for (std::size_t j = 0; j < some.size(); ++j) {
      const LandmarkCode code = landmarks.code(some[j]);
      for (std::size_t w = 0; w < code.size(); ++w) planes_[w * some.size() + j] = code[w];
    }
  }

  // Calls visit(distance) for each landmark of another picture than `owner` within the radius of a
  // code. Thread-safe.
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

// Histogram of the distances within a radius, of pairs with one side mirrored.
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

// For each of `asked`, the number of `others`, of other pictures, within a radius.
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

// A part of a longer search, [at, at + count) of `all`, for progress.
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

double non_duplicate_distance(const LandmarkTable& landmarks, std::span<const std::uint32_t> some) {
  constexpr std::size_t kMostAsked = 1024;
  constexpr double kShare = 1e-3;
  constexpr double kLeast = 22;  // lower limit, for sets where most pictures are copies of few
  constexpr std::uint64_t kFewPairs = 100'000;
  const std::vector<std::uint32_t> asked = evenly(some, kMostAsked);
  const std::vector<std::uint32_t> others = evenly(some, kMostOther);
  const std::uint64_t all = pairs_of_strangers(landmarks, asked, others);
  if (all < kFewPairs) return kNonDuplicatesOfPhotos;
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

double non_duplicate_distance(const KnownLandmarks& known) {
  const std::size_t all = searched_count(known);
  const std::size_t count = std::min(all, kMostOther);
  LandmarkTable some;  // like evenly(), without a list of all
  std::size_t before = 0;
  for_each_searched(known, [&](const KnownLandmarks::Picture& picture, std::size_t searched) {
    for (std::size_t next;
         some.size() < count && (next = some.size() * all / count - before) < searched;) {
      some.append(picture.row, picture.codes.subspan(kLandmarkWords * next, kLandmarkWords),
                  picture.places.subspan(next, 1));
    }
    before += searched;
  });
  std::vector<std::uint32_t> numbers(some.size());
  std::iota(numbers.begin(), numbers.end(), std::uint32_t{0});
  return non_duplicate_distance(some, numbers);
}

HitRadius hit_radius(std::size_t landmarks, double most_hits, double non_duplicates) noexcept {
  constexpr double kRateAt12 = 1e-7;
  constexpr double kRateOfBit = 2.1;
  const double pairs = static_cast<double>(landmarks) * static_cast<double>(landmarks);
  for (int bits = kMostRadius;; --bits) {
    const double expected =
        pairs * kRateAt12 *
        std::pow(kRateOfBit, bits - 12 + kNonDuplicatesOfPhotos - non_duplicates);
    if (expected <= most_hits || bits == 1) return {bits, expected};
  }
}

std::vector<std::uint32_t> searched_landmarks(const LandmarkTable& landmarks, std::uint32_t begin,
                                              std::uint32_t end) {
  const std::size_t most_of_picture = most_searched(end - begin);
  std::vector<std::uint32_t> some;
  std::uint32_t of_picture = begin;
  for (std::uint32_t i = begin; i < end; ++i) {
    if (landmarks.owner(i) != landmarks.owner(of_picture)) of_picture = i;
    if (i - of_picture < most_of_picture) some.push_back(i);
  }
  return some;
}

std::size_t searched_count(const KnownLandmarks& known) {
  std::size_t count = 0;
  for_each_searched(known, [&](const auto& /*picture*/, std::size_t some) { count += some; });
  return count;
}

std::vector<std::uint32_t> uncommon_landmarks(const LandmarkTable& landmarks,
                                              std::span<const std::uint32_t> some, int radius,
                                              const StopRequested& stop) {
  constexpr std::size_t kMostAsked = 1024;
  constexpr std::size_t kMostOther = 16384;
  constexpr double kCommon = 1000;      // near landmarks that make one common
  constexpr std::uint32_t kFewest = 4;  // seen in the sample
  constexpr double kCrowd = 0.01;       // share of common ones
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
  found.division += find_edges_between_part({landmarks.codes(), some}, {seen_in_mirror, places},
                                            radius, part, mirror_sink, options);
  found.hits = nearest.hits();
  return found;
}

KnownHits find_hits_among(const KnownLandmarks& known, const LandmarkTable& asked, int radius,
                          const SearchOptions& options) {
  // A search needs more memory than its codes, so it takes a part of them at a time. A part many
  // times the queried side need not be sorted, and a smaller one saves nothing.
  constexpr std::size_t kOfAsked = 32;
  constexpr std::size_t kLeastPart = 1 << 16;
  constexpr std::size_t kMostPart = 1 << 20;
  const auto count = static_cast<std::uint32_t>(asked.size());
  // Searches unmirrored and mirrored codes together.
  CodeColumn both = asked.codes();
  for (std::uint32_t i = 0; i < count; ++i) append_mirrored(asked.code(i), both.words);
  std::vector<std::uint32_t> some = searched_landmarks(asked, 0, count);
  const std::size_t as_they_are = some.size();
  for (std::size_t i = 0; i < as_they_are; ++i) some.push_back(some[i] + count);

  const std::size_t at_once =
      std::max(some.size(), std::clamp(kOfAsked * some.size(), kLeastPart, kMostPart));
  NearestOfAsked nearest(known, asked);
  Part of_all{.at = 0, .count = 0, .all = searched_count(known)};
  KnownPart part;
  const auto search = [&] {
    of_all.count = part.size();
    find_edges_between(
        {both, some}, {part.codes, part.places}, radius,
        [&](std::span<const Edge> edges) {
          for (const Edge& edge : edges) {
            const bool is_mirrored = edge.a >= count;
            nearest.take(part.numbers[edge.b], edge.a - (is_mirrored ? count : 0), edge.distance,
                         is_mirrored);
          }
        },
        options_of_part(options, of_all));
    of_all.at += part.size();
    part.clear();
  };
  for_each_searched(known, [&](const KnownLandmarks::Picture& picture, std::size_t searched) {
    part.append(picture, searched);
    if (part.size() >= at_once) search();
  });
  if (part.size() > 0) search();
  return nearest.hits();
}

}  // namespace winnow::dedup
