#!/usr/bin/env python3
"""Prints grouped_conv.json: what PyTorch's convolution computes in float64, forward and backward.

    python3 tests/train/make_grouped_conv_golden.py > tests/data/vectors/train/grouped_conv.json

Needs torch; any version gives the same numbers up to their last digits.
"""
import torch
import torch.nn.functional as F

from golden_tensors import given, given_filter, print_vectors

# x, w, groups; stride, padding at both ends and dilation of the rows; of the columns
CASES = (((2, 4, 4, 3), (6, 2, 3, 3), 2, (1, 1, 1, 1), (1, 1, 1, 1)),
         ((1, 6, 5, 4), (6, 2, 3, 3), 3, (2, 1, 1, 1), (2, 1, 1, 1)),
         ((2, 3, 4, 4), (3, 1, 3, 3), 3, (1, 1, 1, 1), (1, 1, 1, 1)),
         ((1, 2, 5, 5), (4, 1, 2, 3), 2, (2, 0, 0, 1), (2, 0, 0, 1)),
         ((1, 2, 7, 6), (3, 2, 3, 3), 1, (1, 2, 2, 2), (1, 2, 2, 2)),
         ((1, 2, 5, 4), (3, 2, 5, 1), 1, (1, 2, 2, 1), (1, 0, 0, 1)),
         ((1, 4, 8, 7), (2, 2, 3, 2), 2, (2, 3, 1, 2), (1, 0, 2, 3)))

AXIS = ("stride", "before", "after", "dilation")

cases = []
torch.manual_seed(1)
for x_shape, w_shape, groups, rows, columns in CASES:
    x, w, b = (torch.randn(shape, dtype=torch.float64, requires_grad=True)
               for shape in (x_shape, w_shape, w_shape[:1]))
    padded = F.pad(x, (*columns[1:3], *rows[1:3]))
    y = F.conv2d(padded, w, b, (rows[0], columns[0]), 0, (rows[3], columns[3]), groups)
    dy = torch.randn_like(y)
    y.backward(dy)
    cases.append({"rows": dict(zip(AXIS, rows)), "columns": dict(zip(AXIS, columns)), "groups": groups,
                  "x": given(x.detach()), "w": given_filter(w.detach()), "b": given(b.detach()), "dy": given(dy),
                  "y": given(y.detach()), "dx": given(x.grad), "dw": given_filter(w.grad), "db": given(b.grad)})
print_vectors("What PyTorch's convolution computes in float64, forward and backward.", cases=cases)
