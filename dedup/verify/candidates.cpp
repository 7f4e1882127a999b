#include "dedup/verify/candidates.h"

#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "dedup/search/between_part.h"

namespace winnow::dedup {
namespace {

constexpr int kMostRadius = 14;
constexpr int kMostHitsOfPair = 3;
constexpr std::size_t kLeastPart = 1 << 20;  // landmarks that are searched at a time

// Puts to `hits` what two landmarks are to each other, unless they are of one picture.
void take(const LandmarkTable& landmarks, const Edge& edge, bool is_mirrored,
          std::vector<Hit>& hits) {
  std::uint32_t a = edge.a;
  std::uint32_t b = edge.b;
  if (landmarks.owner(a) > landmarks.owner(b)) std::swap(a, b);
  if (landmarks.owner(a) == landmarks.owner(b)) return;
  hits.push_back({landmarks.owner(a), landmarks.owner(b), edge.distance, a, b, is_mirrored});
}

void append_mirrored(const LandmarkCode& code, std::vector<std::uint64_t>& words) {
  const LandmarkCode mirror = mirrored(code);
  words.insert(words.end(), mirror.begin(), mirror.end());
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
  const std::size_t asked = std::min(kMostAsked, some.size());
  const std::size_t others = std::min(kMostOther, some.size());
  using Counts = std::array<std::uint64_t, kLandmarkBits + 1>;
  tbb::enumerable_thread_specific<Counts> of_thread(Counts{});
  tbb::parallel_for(std::size_t{0}, asked, [&](std::size_t i) {
    Counts& counts = of_thread.local();
    const std::uint32_t a = some[i * some.size() / asked];
    const LandmarkCode mirror = mirrored(landmarks.code(a));
    for (std::size_t j = 0; j < others; ++j) {
      const std::uint32_t b = some[j * some.size() / others];
      if (landmarks.owner(a) == landmarks.owner(b)) continue;
      ++counts[static_cast<std::size_t>(distance(mirror, landmarks.code(b)))];
    }
  });
  Counts counts{};
  for (const Counts& some_counts : of_thread) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += some_counts[i];
  }
  const std::uint64_t all = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (all < kFewPairs) return kStrangersOfPhotos;
  const double wanted = kShare * static_cast<double>(all);
  double within = 0;
  for (std::size_t bits = 0;; ++bits) {
    const auto here = static_cast<double>(counts[bits]);
    if (within + here >= wanted) {
      return std::max(kLeast, static_cast<double>(bits) - 1 + (wanted - within) / here);
    }
    within += here;
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

std::vector<Hit> merge_hits(std::vector<Hit> hits) {
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

std::vector<Hit> find_hits(const LandmarkTable& landmarks, std::span<const std::uint32_t> some,
                           int radius, const SearchOptions& options) {
  return find_hits_of_part(landmarks, some, radius, {}, options).hits;
}

HitsOfPart find_hits_of_part(const LandmarkTable& landmarks, std::span<const std::uint32_t> some,
                             int radius, const SearchPart& part, const SearchOptions& options) {
  HitsOfPart found;
  const auto sink = [&](std::span<const Edge> edges) {
    for (const Edge& edge : edges) take(landmarks, edge, /*is_mirrored=*/false, found.hits);
  };
  found.division = find_edges_of_part(landmarks.codes(), some, radius, part, sink, options);
  CodeColumn seen_in_mirror = LandmarkTable().codes();
  for (const std::uint32_t landmark : some)
    append_mirrored(landmarks.code(landmark), seen_in_mirror.words);
  std::vector<std::uint32_t> all(some.size());
  std::iota(all.begin(), all.end(), std::uint32_t{0});
  const auto mirror_sink = [&](std::span<const Edge> edges) {
    for (const Edge& edge : edges) {
      take(landmarks, {edge.a, some[edge.b], edge.distance}, /*is_mirrored=*/true, found.hits);
    }
  };
  found.division += find_edges_between_part(landmarks.codes(), some, seen_in_mirror, all, radius,
                                            part, mirror_sink, options);
  found.hits = merge_hits(std::move(found.hits));
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
  std::vector<Hit> hits;
  for (std::size_t at = 0; at < known.size(); at += most) {
    const auto part = std::span(known).subspan(at, std::min(most, known.size() - at));
    find_edges_between(
        asked, some_asked, landmarks.codes(), part, radius,
        [&](std::span<const Edge> edges) {
          for (const Edge& edge : edges) {
            const bool is_mirrored = edge.a >= end - first;
            const std::uint32_t of_asked = first + edge.a - (is_mirrored ? end - first : 0);
            take(landmarks, {edge.b, of_asked, edge.distance}, is_mirrored, hits);
          }
        },
        options_of_part(options, {at, part.size(), known.size()}));
  }
  return merge_hits(std::move(hits));
}

}  // namespace winnow::dedup
