#pragma once

#include <cstdint>

#include "train/backend/cudnn/device.h"

namespace winnow::train::cudnn {

// A matrix in memory column by column, `leading` elements from one to the next.
struct ColumnMajor {
  std::int64_t rows = 0, columns = 0, leading = 0;
  bool operator==(const ColumnMajor&) const = default;
};

// A row-major product as BLAS takes it: result = op(first) * op(second), all column-major. A
// row-major matrix is its own transpose in columns, so the result is (n, m), its factors op(b)^T
// and op(a)^T: `first` is b, `second` is a.
struct ColumnMajorProduct {
  ColumnMajor first, second, result;
  bool transpose_first = false, transpose_second = false;
};

ColumnMajorProduct as_column_major(const MatmulDescription& description) noexcept;

}  // namespace winnow::train::cudnn
