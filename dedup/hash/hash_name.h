#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace winnow::dedup {

// Orientation k of a picture, 0..7, applies these steps in order:
// - bit 0: mirror left to right
// - bit 1: mirror top to bottom
// - bit 2: swap rows and columns
//
// 0 is the picture as it is and 3 is upside down. 5 and 6 are the quarter turns to the left and to
// the right: one undoes the other. Each of the rest undoes itself.

// The name of a hash in commands and files. "pdq_dihedral@1/8" is the row "pdq" of hashes.h in 8
// orientations, of the picture at 1/8 of both sides.
struct HashName {
  std::string_view row;
  int orientations = 1;  // 1, 2 ("_mirrored") or 8 ("_dihedral"), always the first ones
  int scale = 1;         // 1, 2, 4 or 8
};

// Splits a name into its parts, which refer to the argument. Whether such a row exists is not
// checked. nullopt if '@' is not followed by a valid scale.
std::optional<HashName> parse_hash_name(std::string_view name) noexcept;
std::string to_text(const HashName& name);

}  // namespace winnow::dedup
