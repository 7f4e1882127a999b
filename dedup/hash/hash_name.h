#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace winnow::dedup {

// Orientation k of a picture, 0..7: mirrored left to right if bit 0 of k is set, then top to bottom
// if bit 1 is, then with rows for columns if bit 2 is. 0 is the picture as it is, 3 upside down,
// 5 and 6 are the quarter turns to the left and to the right: one undoes the other, and each of the
// rest undoes itself.

// What a hash is called in commands and files: "pdq_dihedral@1/8" is the row "pdq" of hashes.h, in
// 8 orientations, of the picture at 1/8 of both its sides.
struct HashName {
  std::string_view row;
  int orientations = 1;  // the first 1, 2 ("_mirrored") or 8 ("_dihedral")
  int scale = 1;         // 1, 2, 4 or 8
};

// The parts of a name, which are parts of the argument, whether or not there is such a row. Nothing
// where what follows an '@' is no scale.
std::optional<HashName> parse_hash_name(std::string_view name) noexcept;
std::string to_text(const HashName& name);

}  // namespace winnow::dedup
