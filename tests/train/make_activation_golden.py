#!/usr/bin/env python3
"""Prints activation.json: what PyTorch's activations compute in float64, and their slopes.

    python3 tests/train/make_activation_golden.py > tests/data/vectors/train/activation.json

Needs torch; any version gives the same numbers up to their last digits.
"""
import torch
import torch.nn.functional as F

from golden_tensors import print_vectors

PLACES = (-30.0, -8.0, -3.5, -1.75, -1.0, -0.25, 0.25, 1.0, 2.5, 3.5, 5.5, 6.5, 30.0)
KINDS = {"relu6": F.relu6, "sigmoid": torch.sigmoid, "hard_sigmoid": F.hardsigmoid, "hard_swish": F.hardswish,
         "silu": F.silu, "gelu": F.gelu}  # fmt: skip

rows = []
for kind, activation in KINDS.items():
    x = torch.tensor(PLACES, dtype=torch.float64, requires_grad=True)
    y = activation(x)
    y.sum().backward()
    rows.append({"kind": kind, "x": PLACES, "y": y.tolist(), "slope": x.grad.tolist()})
print_vectors("What PyTorch's activations compute in float64, and their slopes.", curves=rows)
