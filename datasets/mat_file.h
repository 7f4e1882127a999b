#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/file.h"

namespace winnow::datasets {

// A variable of a MAT-file, before its values.
struct MatArray {
  enum class Class { kNumbers, kBytes, kOther };  // of any kind; unsigned 8-bit; no plain numbers
  std::string name;
  Class kind = Class::kOther;
  std::vector<std::int32_t> dimensions;  // none is below 0
  std::uint64_t values = 1;              // their product

  // The values of a kBytes array, in MATLAB's order (the first index varies fastest): in `file`
  // from `begin` on. A temporary file where they are compressed.
  struct Place {
    InputFile file;
    std::uint64_t begin;
  };
  std::function<Place()> locate;
  // The values of any numbers, in order. What they take up is the caller's.
  std::function<void(const std::function<void(double)>& take)> each;
};

// Goes through the variables of a MAT-file of level 5 ("-v6", "-v7"; little-endian), once and in
// order; `take` may call one of `locate` and `each`, once, for a variable it wants. Variables are
// compressed one by one (zlib): those that are read are inflated in one pass, and their checksum is
// checked. Nothing is held but pieces.
// Throws UsageError naming the file where it is of another version (7.3 is HDF5), damaged or cut
// short. Our own, since libmatio holds whole variables, as large as their headers say, and SVHN's
// have gigabytes. Reference: MathWorks, "MAT-File Format", level 5.
void for_each_array(const InputFile& file, const std::function<void(const MatArray&)>& take);

}  // namespace winnow::datasets
