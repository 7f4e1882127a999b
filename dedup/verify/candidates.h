#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dedup/search/search.h"
#include "dedup/verify/known_landmarks.h"
#include "dedup/verify/landmark_table.h"

namespace winnow::dedup {

// Two similar landmarks of two pictures. Ordered by pictures, then by distance.
struct Hit {
  std::uint32_t row_a = 0;  // < row_b
  std::uint32_t row_b = 0;
  std::uint32_t distance = 0;
  std::uint32_t landmark_a = 0;
  std::uint32_t landmark_b = 0;
  bool is_mirrored = false;

  friend auto operator<=>(const Hit&, const Hit&) = default;
};

// Selects from the landmarks [begin, end) those that are searched for hits: of more than 1.5
// million, the 32 steepest of each picture; otherwise all.
// The reduced set takes half the time and finds nearly as much: 88 instead of 93 of 100 planted
// crops to 40 %.
std::vector<std::uint32_t> searched_landmarks(const LandmarkTable& landmarks, std::uint32_t begin,
                                              std::uint32_t end);
std::size_t searched_count(const KnownLandmarks& known);  // number of searched landmarks

// The distance in bits within which one of a thousand pairs of landmarks of different pictures
// lies, one of each pair mirrored, over a grid of pairs of `some`; at least 22. A few copies do not
// change it. With too few landmarks: the value for photos.
inline constexpr double kNonDuplicatesOfPhotos = 28;
double non_duplicate_distance(const LandmarkTable& landmarks, std::span<const std::uint32_t> some);
double non_duplicate_distance(const KnownLandmarks& known);  // for the searched landmarks

// Search radius for landmark codes.
struct HitRadius {
  int bits = 0;
  double expected = 0;  // expected hits of different pictures, among all pairs of landmarks
};

// The largest radius, at most 14 bits, with at most `most_hits` expected hits between different
// pictures. Pure.
// On photos 1e-7 of the pairs are within 12 bits; each bit less halves that.
//
// non_duplicates  Their non_duplicate_distance(); if it is smaller, all distances shrink
// accordingly.
HitRadius hit_radius(std::size_t landmarks, double most_hits,
                     double non_duplicates = kNonDuplicatesOfPhotos) noexcept;

// The landmarks with few near ones. In a crowd of pictures that look alike, each landmark is near
// one of every other picture, and tells little.
// If more than 1 % of a sample of `some` have more than 1000 near ones, estimated by another
// sample, returns those with fewer; else all.
std::vector<std::uint32_t> uncommon_landmarks(const LandmarkTable& landmarks,
                                              std::span<const std::uint32_t> some, int radius,
                                              const StopRequested& stop = {});

// All hits within `radius` bits between `some` of the landmarks, mirrored pictures included;
// sorted.
// Exact, by find_edges() and find_edges_between(). Kept are the three nearest hits of a pair of
// pictures, if they are among the eight nearest of one of their landmarks. In crowds only
// uncommon_landmarks() are searched.
std::vector<Hit> find_hits(const LandmarkTable& landmarks, std::span<const std::uint32_t> some,
                           int radius, const SearchOptions& options = {});

// The result of one part of that search, as in find_edges_of_part(). merge_hits() of all parts
// together equals find_hits().
struct HitsOfPart {
  std::vector<Hit> hits;       // the nearest ones of each landmark
  std::uint64_t division = 0;  // the same in all parts
};
HitsOfPart find_hits_of_part(const LandmarkTable& landmarks, std::span<const std::uint32_t> some,
                             int radius, const SearchPart& part, const SearchOptions& options = {});
std::vector<Hit> merge_hits(const LandmarkTable& landmarks, std::span<const Hit> found);

// Hits between known pictures and queried ones, with their landmarks: those of each known picture
// that has a hit, followed by all queried ones.
struct KnownHits {
  LandmarkTable landmarks;
  std::vector<Hit> hits;
};
// As find_hits(), with searched_landmarks() of both sides, between a known picture and a queried
// one. Rows of queried pictures are above those of all known ones.
KnownHits find_hits_among(const KnownLandmarks& known, const LandmarkTable& asked, int radius,
                          const SearchOptions& options = {});

}  // namespace winnow::dedup
