#!/usr/bin/env python3
"""Prints group_norm_golden.h: what PyTorch's group norm computes in float64, forward and backward.

    python3 tests/train/make_group_norm_golden.py > tests/train/group_norm_golden.h

Needs torch; any version gives the same numbers up to their last digits.
"""
import torch
import torch.nn.functional as F

from golden_tensors import given

CASES = (((2, 6, 2, 3), 1, 1e-5), ((2, 6, 2, 3), 3, 1e-5), ((1, 4, 3, 2), 4, 1e-3), ((3, 4, 1, 1), 2, 1e-5))

print("""#pragma once

// Written by make_group_norm_golden.py.

#include "tests/train/run_operation.h"

namespace winnow::test {

struct GroupNormGolden {
  int groups;
  double epsilon;
  train::Given x, scale, shift, dy;
  train::Given y, dx, dscale, dshift;
};

// clang-format off
inline const GroupNormGolden kGroupNormGolden[] = {""")
torch.manual_seed(1)
for shape, groups, epsilon in CASES:
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    scale, shift = (torch.randn(shape[1], dtype=torch.float64, requires_grad=True) for _ in range(2))
    dy = torch.randn(shape, dtype=torch.float64)
    y = F.group_norm(x, groups, scale, shift, epsilon)
    y.backward(dy)
    tensors = (x, scale, shift, dy, y, x.grad, scale.grad, shift.grad)
    print(f"    {{{groups}, {epsilon!r},")
    print(",\n".join(f"     {given(tensor.detach())}" for tensor in tensors) + "},")
print("""};
// clang-format on

}  // namespace winnow::test""")
