#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/sample.h"

namespace winnow {

// Images of each class, by split; a split without any may have none of the numbers.
using ClassCounts = std::array<std::vector<std::uint64_t>, kSplitCount>;

// A class's name without what people take for no difference: case of ASCII letters, blanks around
// it and how many are within, and which of Unicode's two forms an accented letter has. Two
// names with equal keys may still differ by an accent. Not for showing. Pure.
std::string spelling_key(std::string_view name);

// What is worth saying of a set's classes, a sentence each: classes without an image, names that
// differ by spelling alone, classes that val or test has and train has not. Names at most three
// of each. Pure.
std::vector<std::string> class_remarks(std::span<const std::string> names,
                                       const ClassCounts& counts);

}  // namespace winnow
