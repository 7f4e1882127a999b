#pragma once

#include <string>
#include <string_view>

namespace winnow::dedup {

// Which edits of a photo are found by a hash within a threshold, and which are not: "finds JPEG,
// scaling and crops to 2 %, not crops of 5 %, mirrored pictures". By docs/thresholds.md: found is
// what nine of ten of 200 photos are within. Empty for a hash that was not measured.
std::string finds_in_words(std::string_view hash, int threshold);

}  // namespace winnow::dedup
