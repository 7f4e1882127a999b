#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace winnow::dedup {

// A family is a set of at least this many similar but different pictures.
inline constexpr int kManyOfFamily = 20;
inline constexpr int kFewOfFamily = 8;  // where agreement means less

// Two similar pictures.
struct AlikePair {
  std::uint32_t row_a = 0;
  std::uint32_t row_b = 0;
  bool is_shown = false;  // whether both are shown to be one picture
  // The pair belongs to a family if at least this many other pictures resemble both.
  int others = kManyOfFamily;
};

// Finds pairs within families: sets of similar but different pictures, as of one fixed camera, one
// product series, or people in one booth. Whatever two of these have in common is common to many,
// and proves nothing.
// Pictures shown to be one count once; pairs among them belong to no family.
//
// pairs    Similar pairs, each once.
// Returns  For each pair 1 if it belongs to a family, else 0.
std::vector<char> are_of_families(std::span<const AlikePair> pairs);

// For each row, the number of pictures that look like it but are no copies: those of its pairs that
// are marked in `refused` (one entry a pair). Pictures shown to be one count once; a picture does
// not count itself.
std::vector<std::uint32_t> count_look_alikes(std::span<const AlikePair> pairs,
                                             std::span<const char> refused);

// For each row, whether it belongs to a cluster of look-alikes: pictures connected by similar
// pairs, at least two pairs a picture. More of the cluster's pairs, and at least four, were refused
// (marked in `refused`) than shown to be one. A few stray pairs between copies are thus no cluster.
std::vector<char> are_mostly_look_alikes(std::span<const AlikePair> pairs,
                                         std::span<const char> refused);

}  // namespace winnow::dedup
