#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dedup/search/search.h"
#include "dedup/verify/known_landmarks.h"
#include "dedup/verify/landmark_table.h"

namespace winnow::dedup {

// A hit: two landmarks (keypoints) of two pictures with similar codes. Ordered by pictures, then by
// distance in bits.
struct Hit {
  std::uint32_t row_a = 0;  // < row_b
  std::uint32_t row_b = 0;
  std::uint32_t distance = 0;
  std::uint32_t landmark_a = 0;
  std::uint32_t landmark_b = 0;
  bool is_mirrored = false;

  friend auto operator<=>(const Hit&, const Hit&) = default;
};

// Selects the landmarks that are searched for hits, among those numbered [begin, end): if these are
// more than 1.5 million, the 32 of each picture with the strongest response; otherwise all.
// The reduced set takes half the time and finds nearly as much: 88 instead of 93 of 100 planted
// crops to 40 %.
std::vector<std::uint32_t> searched_landmarks(const LandmarkTable& landmarks, std::uint32_t begin,
                                              std::uint32_t end);
std::size_t searched_count(const KnownLandmarks& known);  // number of searched landmarks

// Measures how near landmarks of different pictures are by chance: the distance in bits within
// which one of a thousand pairs of landmarks lies. At least 22. With too few landmarks: the value
// for photos.
// Pairs of the landmarks `some` are taken on a grid. One of each pair is mirrored, so that a few
// copies do not change the result.
inline constexpr double kNonDuplicatesOfPhotos = 28;
double non_duplicate_distance(const LandmarkTable& landmarks, std::span<const std::uint32_t> some);
double non_duplicate_distance(const KnownLandmarks& known);  // for the searched landmarks

// Search radius for the codes of landmarks.
struct HitRadius {
  int bits = 0;
  double expected = 0;  // expected number of hits between different pictures within the radius
};

// The largest radius in bits, at most 14, within which at most `most_hits` hits between different
// pictures are expected. Pure.
// On photos 1e-7 of the pairs of landmarks are within 12 bits, and half as many for each bit less.
//
// non_duplicates  Result of non_duplicate_distance(). The radius is larger or smaller by as many
//                 bits as this is above or below the value for photos.
HitRadius hit_radius(std::size_t landmarks, double most_hits,
                     double non_duplicates = kNonDuplicatesOfPhotos) noexcept;

// Leaves out common landmarks. In a crowd of pictures that look alike, each landmark is near one of
// every other picture, and tells little.
// If more than 1 % of a sample of `some` have more than 1000 near landmarks, estimated by another
// sample, returns the landmarks with fewer; else all.
std::vector<std::uint32_t> uncommon_landmarks(const LandmarkTable& landmarks,
                                              std::span<const std::uint32_t> some, int radius,
                                              const StopRequested& stop = {});

// Finds hits within `radius` bits among the landmarks `some`, also between mirrored pictures.
// Sorted.
// Exact, by find_edges() and find_edges_between(). For each pair of pictures, the three nearest
// hits are kept, if they are among the eight nearest of one of their landmarks. In crowds of
// similar pictures, only uncommon_landmarks() are searched.
std::vector<Hit> find_hits(const LandmarkTable& landmarks, std::span<const std::uint32_t> some,
                           int radius, const SearchOptions& options = {});

// One part of find_hits(), which several processes share as in find_edges_of_part(). merge_hits()
// makes the result of find_hits() from the hits of all parts.
struct HitsOfPart {
  std::vector<Hit> hits;       // nearest hits of each landmark
  std::uint64_t division = 0;  // identifies how work was divided; equal in all parts
};
HitsOfPart find_hits_of_part(const LandmarkTable& landmarks, std::span<const std::uint32_t> some,
                             int radius, const SearchPart& part, const SearchOptions& options = {});
std::vector<Hit> merge_hits(const LandmarkTable& landmarks, std::span<const Hit> found);

// Hits between known pictures (whose landmarks are stored) and queried ones. `landmarks` are those
// of each known picture with a hit, followed by all queried ones.
struct KnownHits {
  LandmarkTable landmarks;
  std::vector<Hit> hits;
};
// Like find_hits(), but between known pictures and queried ones, with searched_landmarks() of both.
// Row numbers of queried pictures are above those of all known ones.
KnownHits find_hits_among(const KnownLandmarks& known, const LandmarkTable& asked, int radius,
                          const SearchOptions& options = {});

}  // namespace winnow::dedup
