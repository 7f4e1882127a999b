#!/usr/bin/env python3
"""Prints barlow_twins.json: the loss of Barlow Twins and its gradient, computed by PyTorch in float64.

    python3 tests/train/make_barlow_twins_golden.py > tests/data/vectors/train/barlow_twins.json

Written as in facebookresearch/barlowtwins (main.py), but divided by the number of features. Needs torch; any
version gives the same numbers up to their last digits.
"""
import torch

from golden_tensors import given, print_vectors

CASES = ((3, 4, 0.005), (6, 3, 0.1), (8, 9, 1.0))  # pairs, features, redundancy

rows = []
torch.manual_seed(1)
for pairs, features, redundancy in CASES:
    z = torch.randn(2 * pairs, features, dtype=torch.float64, requires_grad=True)
    norm = torch.nn.BatchNorm1d(features, affine=False, dtype=torch.float64)
    c = norm(z[0::2]).T @ norm(z[1::2]) / pairs
    on_diagonal = (torch.diagonal(c) - 1).pow(2).sum()
    off_diagonal = c.pow(2).sum() - torch.diagonal(c).pow(2).sum()
    loss = (on_diagonal + redundancy * off_diagonal) / features
    weights = torch.rand(2 * pairs, dtype=torch.float64)
    (weights.sum() * loss).backward()
    rows.append({"redundancy": redundancy, "loss": loss.item(), "z": given(z.detach()), "weights": given(weights),
                 "dz": given(z.grad)})
print_vectors("What PyTorch computes in float64 of the loss of Barlow Twins of each sample, and its gradient.", cases=rows)
