#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace winnow::dedup {

// Minimum number of similar pictures that form a family.
inline constexpr int kManyOfFamily = 20;
inline constexpr int kFewOfFamily = 8;  // where agreement means less

// Two similar pictures.
struct AlikePair {
  std::uint32_t row_a = 0;
  std::uint32_t row_b = 0;
  bool is_shown = false;  // shown to be one picture
  // Number of others that must resemble both, for the pair to belong to a family.
  int others = kManyOfFamily;
};

// Finds pairs within families: pictures from one fixed camera, of one product series, of people in
// one booth. What two of them have in common is common to many, and proves nothing.
// Pictures shown to be one count once; pairs among them belong to no family.
//
// pairs    Similar pairs, each once.
// Returns  For each pair 1 if it belongs to a family, else 0.
std::vector<char> are_of_families(std::span<const AlikePair> pairs);

// For each row, the number of pictures that look like it but were refused as copies (`refused`, by
// pair). Pictures shown to be one count once; a picture does not count itself.
std::vector<std::uint32_t> count_look_alikes(std::span<const AlikePair> pairs,
                                             std::span<const char> refused);

// For each row, whether it belongs to a cluster of look-alikes: pictures connected by similar
// pairs, with at least two pairs a picture. More of its pairs were refused (`refused`), at least
// four, than shown to be one. A few stray pairs between copies are no cluster.
std::vector<char> are_mostly_look_alikes(std::span<const AlikePair> pairs,
                                         std::span<const char> refused);

}  // namespace winnow::dedup
