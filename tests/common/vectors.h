#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/json_reader.h"

namespace winnow::test {

// Reads a table of a file of tests/data/vectors: results of other programs for comparison.
//
// In      Names: vectors("pipeline/ops", "hashed").
// Out     Its rows, at least one.
// Throws  SystemError: there is no such file. FormatError: no such table, or a table without rows.
std::vector<JsonReader> vectors(std::string_view file, std::string_view table);

// A list of numbers.
std::vector<double> reals(const JsonReader& list);

// A 64-bit number, stored as 16 hexadecimal digits.
std::uint64_t hash_of(const JsonReader& digits);

}  // namespace winnow::test
