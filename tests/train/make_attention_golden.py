#!/usr/bin/env python3
"""Prints attention_golden.h: what PyTorch's attention computes in float64, forward and backward.

    python3 tests/train/make_attention_golden.py > tests/train/attention_golden.h

Needs torch from 2.0; any version gives the same numbers up to their last digits.
"""
import torch
import torch.nn.functional as F

from golden_tensors import given

CASES = ((2, 3, 4, 2), (1, 5, 6, 3), (1, 4, 2, 1))  # samples, tokens, features, heads

print("""#pragma once

// Written by make_attention_golden.py.

#include "tests/train/run_operation.h"

namespace winnow::test {

struct AttentionGolden {
  int heads;
  train::Given x, dy;
  train::Given y, dx;
};

// clang-format off
inline const AttentionGolden kAttentionGolden[] = {""")
torch.manual_seed(1)
for samples, tokens, features, heads in CASES:
    x = torch.randn((samples, tokens, 3 * features), dtype=torch.float64, requires_grad=True)
    dy = torch.randn((samples, tokens, features), dtype=torch.float64)
    q, k, v = (part.unflatten(2, (heads, -1)).transpose(1, 2) for part in x.chunk(3, dim=2))
    y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
    y.backward(dy)
    images = (tensor.detach().transpose(1, 2).unsqueeze(3) for tensor in (x, dy, y, x.grad))
    print(f"    {{{heads},")
    print(",\n".join(f"     {given(image)}" for image in images) + "},")
print("""};
// clang-format on

}  // namespace winnow::test""")
