#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace winnow::dedup {

// So many pictures that are alike are a family.
inline constexpr int kManyOfFamily = 20;
inline constexpr int kFewOfFamily = 8;  // where what agrees is worth less

// Two pictures that are alike.
struct AlikePair {
  std::uint32_t row_a = 0;
  std::uint32_t row_b = 0;
  bool is_shown = false;       // shown to be one
  int others = kManyOfFamily;  // that have to be like both for it to be of a family
};

// Finds pairs of families: pictures from one fixed camera, of one series of products, of people in
// one booth. What two of these have in common is what many have in common, and says nothing of
// them. Pictures that are shown to be one count once; pairs among them are of no family.
//
// pairs    those that are alike; each once
// Returns  by pair 1 where it is of a family, else 0
std::vector<char> are_of_families(std::span<const AlikePair> pairs);

// By row of how many pictures it was told that they look like its own and are none, as of
// `refused`. Pictures that are shown to be one count once; one's own does not.
std::vector<std::uint32_t> count_look_alikes(std::span<const AlikePair> pairs,
                                             std::span<const char> refused);

// By row whether it is of a lump of look-alikes: pictures that hang together through pairs that are
// alike, two pairs a picture at least, of which more were told to be none, as of `refused`, than
// are shown to be one; four at least. Few stray pairs that join copies are no lump.
std::vector<char> are_mostly_look_alikes(std::span<const AlikePair> pairs,
                                         std::span<const char> refused);

}  // namespace winnow::dedup
