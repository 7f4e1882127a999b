#!/usr/bin/env python3
"""Prints local_response_norm.json: what PyTorch's LocalResponseNorm computes in float64, forward and backward.

    python3 tests/train/make_local_response_norm_golden.py > tests/data/vectors/train/local_response_norm.json

Needs torch; any version gives the same numbers up to their last digits.
"""
import torch

from golden_tensors import given, print_vectors

# x, size, alpha, beta, k
CASES = (((1, 7, 2, 2), 5, 1e-4, 0.75, 2.0), ((2, 6, 2, 1), 4, 1.0, 0.75, 1.0), ((1, 3, 2, 2), 5, 2.0, 0.5, 0.5),
         ((1, 5, 1, 2), 1, 1.0, 1.0, 1.0))

rows = []
torch.manual_seed(1)
for shape, size, alpha, beta, k in CASES:
    x = (3 * torch.randn(shape, dtype=torch.float64)).requires_grad_()
    y = torch.nn.LocalResponseNorm(size, alpha, beta, k)(x)
    dy = torch.randn_like(y)
    y.backward(dy)
    rows.append({"size": size, "alpha": alpha, "beta": beta, "k": k, "x": given(x.detach()), "dy": given(dy),
                 "y": given(y.detach()), "dx": given(x.grad)})
print_vectors("What PyTorch's LocalResponseNorm computes in float64, forward and backward.", cases=rows)
