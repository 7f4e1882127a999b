#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/sample.h"

namespace winnow {

// For each split the number of images of each class. The list of a split without images may be
// empty.
using ClassCounts = std::array<std::vector<std::uint64_t>, kSplitCount>;

// A key for comparing class names, in which insignificant differences are removed: case of ASCII
// letters, surrounding blanks, repeated blanks, and the Unicode form of accented letters. Names
// that differ by an accent have different keys. Not for display. Pure.
std::string spelling_key(std::string_view name);

// Remarks about the classes of a data set, one sentence each: classes without images, names that
// only differ in spelling, classes that val or test has but not train. At most three examples each.
// Pure.
std::vector<std::string> class_remarks(std::span<const std::string> names,
                                       const ClassCounts& counts);

}  // namespace winnow
