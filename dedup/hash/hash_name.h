#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace winnow::dedup {

// Orientations of a picture are numbered 0..7: the bits of the number are steps, applied in this
// order.
// - bit 0: mirror left to right
// - bit 1: mirror top to bottom
// - bit 2: swap rows and columns
//
// 0 is the picture as it is, 3 is upside down. 5 is a quarter turn to the left, 6 one to the right:
// each undoes the other. Every other orientation undoes itself.

// The parts of a hash's name as used in commands and files. "pdq_dihedral@1/8" is PDQ in 8
// orientations, of the picture reduced to 1/8 of both sides.
struct HashName {
  std::string_view row;
  int orientations = 1;  // how many of the orientations 0..7: 1, 2 ("_mirrored") or 8 ("_dihedral")
  int scale = 1;         // 1, 2, 4 or 8
};

// Splits a name into its parts, which borrow from the argument. nullopt if '@' is not followed by a
// valid scale. Does not check whether the hash exists.
std::optional<HashName> parse_hash_name(std::string_view name) noexcept;
std::string to_text(const HashName& name);

}  // namespace winnow::dedup
