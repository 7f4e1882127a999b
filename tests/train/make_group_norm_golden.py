#!/usr/bin/env python3
"""Prints group_norm.json: what PyTorch's group norm computes in float64, forward and backward.

    python3 tests/train/make_group_norm_golden.py > tests/data/vectors/train/group_norm.json

Needs torch; any version gives the same numbers up to their last digits.
"""
import torch
import torch.nn.functional as F

from golden_tensors import given, print_vectors

CASES = (((2, 6, 2, 3), 1, 1e-5), ((2, 6, 2, 3), 3, 1e-5), ((1, 4, 3, 2), 4, 1e-3), ((3, 4, 1, 1), 2, 1e-5))

rows = []
torch.manual_seed(1)
for shape, groups, epsilon in CASES:
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    scale, shift = (torch.randn(shape[1], dtype=torch.float64, requires_grad=True) for _ in range(2))
    dy = torch.randn(shape, dtype=torch.float64)
    y = F.group_norm(x, groups, scale, shift, epsilon)
    y.backward(dy)
    tensors = {"x": x, "scale": scale, "shift": shift, "dy": dy, "y": y, "dx": x.grad, "dscale": scale.grad,
               "dshift": shift.grad}
    rows.append({"groups": groups, "epsilon": epsilon} | {name: given(tensor.detach()) for name, tensor in tensors.items()})
print_vectors("What PyTorch's group norm computes in float64, forward and backward.", cases=rows)
