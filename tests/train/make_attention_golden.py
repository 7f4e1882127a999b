#!/usr/bin/env python3
"""Prints attention.json: what PyTorch's attention computes in float64, forward and backward.

    python3 tests/train/make_attention_golden.py > tests/data/vectors/train/attention.json

Needs torch from 2.0; any version gives the same numbers up to their last digits.
"""
import torch
import torch.nn.functional as F

from golden_tensors import given, print_vectors

CASES = ((2, 3, 4, 2), (1, 5, 6, 3), (1, 4, 2, 1))  # samples, tokens, features, heads

rows = []
torch.manual_seed(1)
for samples, tokens, features, heads in CASES:
    x = torch.randn((samples, tokens, 3 * features), dtype=torch.float64, requires_grad=True)
    dy = torch.randn((samples, tokens, features), dtype=torch.float64)
    q, k, v = (part.unflatten(2, (heads, -1)).transpose(1, 2) for part in x.chunk(3, dim=2))
    y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
    y.backward(dy)
    images = (tensor.detach().transpose(1, 2).unsqueeze(3) for tensor in (x, dy, y, x.grad))
    rows.append({"heads": heads} | dict(zip(("x", "dy", "y", "dx"), map(given, images))))
print_vectors("What PyTorch's attention computes in float64, forward and backward.", cases=rows)
