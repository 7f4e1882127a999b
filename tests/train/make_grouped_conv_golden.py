#!/usr/bin/env python3
"""Prints grouped_conv_golden.h: what PyTorch's convolution computes in float64, forward and backward.

    python3 tests/train/make_grouped_conv_golden.py > tests/train/grouped_conv_golden.h

Needs torch; any version gives the same numbers up to their last digits.
"""
import torch
import torch.nn.functional as F

from golden_tensors import given, given_filter

# x, w, groups; stride, padding at both ends and dilation of the rows; of the columns
CASES = (((2, 4, 4, 3), (6, 2, 3, 3), 2, (1, 1, 1, 1), (1, 1, 1, 1)),
         ((1, 6, 5, 4), (6, 2, 3, 3), 3, (2, 1, 1, 1), (2, 1, 1, 1)),
         ((2, 3, 4, 4), (3, 1, 3, 3), 3, (1, 1, 1, 1), (1, 1, 1, 1)),
         ((1, 2, 5, 5), (4, 1, 2, 3), 2, (2, 0, 0, 1), (2, 0, 0, 1)),
         ((1, 2, 7, 6), (3, 2, 3, 3), 1, (1, 2, 2, 2), (1, 2, 2, 2)),
         ((1, 2, 5, 4), (3, 2, 5, 1), 1, (1, 2, 2, 1), (1, 0, 0, 1)),
         ((1, 4, 8, 7), (2, 2, 3, 2), 2, (2, 3, 1, 2), (1, 0, 2, 3)))

print("""#pragma once

// Written by make_grouped_conv_golden.py.

#include "tests/train/run_operation.h"
#include "train/ops/conv2d.h"

namespace winnow::test {

struct GroupedConvGolden {
  train::ConvAxes axes;
  int groups;
  train::Given x, w, b, dy;
  train::Given y, dx, dw, db;
};

// clang-format off
inline const GroupedConvGolden kGroupedConvGolden[] = {""")
torch.manual_seed(1)
for x_shape, w_shape, groups, rows, columns in CASES:
    x, w, b = (torch.randn(shape, dtype=torch.float64, requires_grad=True)
               for shape in (x_shape, w_shape, w_shape[:1]))
    padded = F.pad(x, (*columns[1:3], *rows[1:3]))
    y = F.conv2d(padded, w, b, (rows[0], columns[0]), 0, (rows[3], columns[3]), groups)
    dy = torch.randn_like(y)
    y.backward(dy)
    tensors = (given(x.detach()), given_filter(w.detach()), given(b.detach()), given(dy), given(y.detach()),
               given(x.grad), given_filter(w.grad), given(b.grad))
    axes = ", ".join("{" + ", ".join(map(str, axis)) + "}" for axis in (rows, columns))
    print(f"    {{{{{axes}}}, {groups},")
    print(",\n".join(f"     {tensor}" for tensor in tensors) + "},")
print("""};
// clang-format on

}  // namespace winnow::test""")
