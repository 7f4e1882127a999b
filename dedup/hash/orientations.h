#pragma once

#include <string_view>

namespace winnow::dedup {

// Orientation k of a picture, 0..7: mirrored left to right if bit 0 of k is set, then top to bottom
// if bit 1 is, then with rows for columns if bit 2 is. 0 is the picture as it is, 3 upside down,
// 5 and 6 are the quarter turns to the left and to the right: one undoes the other, and each of the
// rest undoes itself.

// How many orientations a hash has codes of, by its name with or without a scale: 8 if that ends in
// "_dihedral", the first 2 if in "_mirrored", else 1. A row of such a hash is so many codes of
// equal length, one after the other; the first is the code of the hash without the ending.
int orientations_of(std::string_view hash) noexcept;

}  // namespace winnow::dedup
