#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/sample.h"

namespace winnow {

// Number of images of each class, by split. The vector of a split without images may be empty.
using ClassCounts = std::array<std::vector<std::uint64_t>, kSplitCount>;

// A class name without insignificant differences: case of ASCII letters, surrounding blanks,
// repeated blanks, and the Unicode form of accented letters. Names with equal keys may still differ
// by an accent. Not for display. Pure.
std::string spelling_key(std::string_view name);

// Remarks about a set's classes, one sentence each: classes without images, names that only differ
// in spelling, classes that val or test has but not train. Names at most three examples each. Pure.
std::vector<std::string> class_remarks(std::span<const std::string> names,
                                       const ClassCounts& counts);

}  // namespace winnow
