#pragma once

#include <string>
#include <string_view>

namespace winnow::dedup {

// The edits of a photo that a hash finds within a threshold, and those it misses: "finds JPEG,
// scaling and crops to 2 %, not crops of 5 %, mirrored pictures".
// Found means 9 of 10 of 200 photos (docs/thresholds.md). Empty for a hash that was not measured.
std::string finds_in_words(std::string_view hash, int threshold);

}  // namespace winnow::dedup
