#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dedup/search/search.h"
#include "dedup/verify/known_landmarks.h"
#include "dedup/verify/landmark_table.h"

namespace winnow::dedup {

// Two landmarks of two pictures that look alike. In order: by pictures, the nearest first.
struct Hit {
  std::uint32_t row_a = 0;  // < row_b
  std::uint32_t row_b = 0;
  std::uint32_t distance = 0;
  std::uint32_t landmark_a = 0;
  std::uint32_t landmark_b = 0;
  bool is_mirrored = false;

  friend auto operator<=>(const Hit&, const Hit&) = default;
};

// Those of the landmarks from `begin` to `end` that hits are looked for by: of more than 1.5
// million the 32 steepest of each picture, otherwise all. The former take half the time of all, and
// find most that these find: of 100 planted crops to 40 % 88 for 93.
std::vector<std::uint32_t> searched_landmarks(const LandmarkTable& landmarks, std::uint32_t begin,
                                              std::uint32_t end);
std::size_t searched_count(const KnownLandmarks& known);  // how many that are of them

// Within how many bits one of a thousand pairs of landmarks is, one of each seen in a mirror, among
// a grid of pairs of `some`; 22 at least. A few copies do not change it. Of too few: as of photos.
inline constexpr double kStrangersOfPhotos = 28;
double stranger_distance(const LandmarkTable& landmarks, std::span<const std::uint32_t> some);
double stranger_distance(const KnownLandmarks& known);  // of those that hits are looked for by

// How far the codes of landmarks may be apart.
struct HitRadius {
  int bits = 0;
  double expected = 0;  // hits of strangers, among all pairs of landmarks
};

// The widest radius, at most 14 bits, at which no more hits of strangers are expected among so many
// landmarks than `most_hits`. On photos 1e-7 of pairs are within 12 bits, half as many with each
// bit less. Pure.
//
// strangers  stranger_distance() of them: where that is less, all is as much nearer
HitRadius hit_radius(std::size_t landmarks, double most_hits,
                     double strangers = kStrangersOfPhotos) noexcept;

// Of a crowd of pictures that look alike each landmark of one is near one of each other, and says
// little. Where more than a hundredth of a sample of `some` have more than a thousand near ones, by
// another sample, this is those that have fewer; else all.
std::vector<std::uint32_t> uncommon_landmarks(const LandmarkTable& landmarks,
                                              std::span<const std::uint32_t> some, int radius,
                                              const StopRequested& stop = {});

// All hits within so many bits between `some` of the landmarks, also of pictures seen in a mirror;
// sorted. Exact, by find_edges and find_edges_between. The three nearest of a pair of pictures are
// kept, of hits that are among the eight nearest of one of their landmarks. Where pictures crowd
// only uncommon_landmarks() are searched for.
std::vector<Hit> find_hits(const LandmarkTable& landmarks, std::span<const std::uint32_t> some,
                           int radius, const SearchOptions& options = {});

// What a part of that search finds, as find_edges_of_part() says; merge_hits() of all parts
// together is what find_hits() finds.
struct HitsOfPart {
  std::vector<Hit> hits;       // of each landmark the nearest
  std::uint64_t division = 0;  // the same in all parts
};
HitsOfPart find_hits_of_part(const LandmarkTable& landmarks, std::span<const std::uint32_t> some,
                             int radius, const SearchPart& part, const SearchOptions& options = {});
std::vector<Hit> merge_hits(const LandmarkTable& landmarks, std::span<const Hit> found);

// Hits of known pictures and others that are asked, and the landmarks that they are of: those of
// each known picture that has one, and behind them all that are asked.
struct KnownHits {
  LandmarkTable landmarks;
  std::vector<Hit> hits;
};
// As find_hits(), by searched_landmarks() of both, of pairs of a known picture and one that is
// asked, whose row is above those of all that are known.
KnownHits find_hits_among(const KnownLandmarks& known, const LandmarkTable& asked, int radius,
                          const SearchOptions& options = {});

}  // namespace winnow::dedup
