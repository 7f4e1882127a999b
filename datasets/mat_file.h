#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/file.h"

namespace winnow::datasets {

// A variable (array) in a MATLAB file: its header, and functions that read its values.
struct MatArray {
  // Numbers of any type; unsigned 8-bit numbers; anything else.
  enum class Class { kNumbers, kBytes, kOther };
  std::string name;
  Class kind = Class::kOther;
  std::vector<std::int32_t> dimensions;  // none is below 0
  std::uint64_t values = 1;              // their product

  // Finds the values of a kBytes array: they are in `file` from `begin` on, in MATLAB's order (the
  // first index varies fastest). Compressed values are inflated to a temporary file.
  struct Place {
    InputFile file;
    std::uint64_t begin;
  };
  std::function<Place()> locate;
  // Passes all values of a numeric array to `take`, in order, without storing them.
  std::function<void(const std::function<void(double)>& take)> each;
};

// Visits the variables of a MATLAB file of level 5 ("-v6", "-v7"; little-endian), once and in
// order.
// take    May call either `locate` or `each`, once, for a variable whose values it needs.
// Memory  Variables are compressed separately (zlib). Those that `take` reads are inflated in one
//         pass, in pieces, and their checksum is verified.
// Errors  UsageError naming the file: another version (7.3 is HDF5), damaged or truncated.
// Why     Own code: libmatio loads whole variables of the size that their headers claim, which is
//         gigabytes in SVHN.
// Source  MathWorks, "MAT-File Format", level 5.
void for_each_array(const InputFile& file, const std::function<void(const MatArray&)>& take);

}  // namespace winnow::datasets
