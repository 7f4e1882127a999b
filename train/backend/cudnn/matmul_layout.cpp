#include "train/backend/cudnn/matmul_layout.h"

namespace winnow::train::cudnn {
namespace {

// A dense row-major matrix, seen as column-major.
ColumnMajor of_rows(std::int64_t rows, std::int64_t columns) noexcept {
  return {.rows = columns, .columns = rows, .leading = columns};
}

}  // namespace

ColumnMajorProduct as_column_major(const MatmulDescription& d) noexcept {
  return {.first = d.transpose_b ? of_rows(d.n, d.k) : of_rows(d.k, d.n),
          .second = d.transpose_a ? of_rows(d.k, d.m) : of_rows(d.m, d.k),
          .result = of_rows(d.m, d.n),
          .transpose_first = d.transpose_b,
          .transpose_second = d.transpose_a};
}

}  // namespace winnow::train::cudnn
