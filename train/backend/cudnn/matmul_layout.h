#pragma once

#include <cstdint>

#include "train/backend/cudnn/device.h"

namespace winnow::train::cudnn {

// A column-major matrix, with `leading` elements from one column to the next.
struct ColumnMajor {
  std::int64_t rows = 0, columns = 0, leading = 0;
  bool operator==(const ColumnMajor&) const = default;
};

// A row-major product in BLAS's terms: result = op(first) * op(second), all column-major. A
// row-major matrix is the transpose of the column-major one in the same memory. So the result is
// (n, m) and its factors are op(b)^T and op(a)^T: `first` is b, `second` is a.
struct ColumnMajorProduct {
  ColumnMajor first, second, result;
  bool transpose_first = false, transpose_second = false;
};

ColumnMajorProduct as_column_major(const MatmulDescription& description) noexcept;

}  // namespace winnow::train::cudnn
