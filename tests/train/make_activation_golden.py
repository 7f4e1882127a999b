#!/usr/bin/env python3
"""Prints activation_golden.h: what PyTorch's activations compute in float64, and their slopes.

    python3 tests/train/make_activation_golden.py | clang-format > tests/train/activation_golden.h

Needs torch; any version gives the same numbers up to their last digits.
"""
import torch
import torch.nn.functional as F

PLACES = (-30.0, -8.0, -3.5, -1.75, -1.0, -0.25, 0.25, 1.0, 2.5, 3.5, 5.5, 6.5, 30.0)
KINDS = {"Relu6": F.relu6, "Sigmoid": torch.sigmoid, "HardSigmoid": F.hardsigmoid, "HardSwish": F.hardswish, "Silu": F.silu,
         "Gelu": F.gelu}  # fmt: skip


def listed(numbers):
    return ", ".join(map(repr, numbers))


print(f"""#pragma once

// Written by make_activation_golden.py.

#include "train/ops/activation_kind.h"

// y and slope of each activation at some places, of PyTorch in float64.
namespace winnow::train::test {{

inline constexpr double kActivationPlaces[] = {{{listed(PLACES)}}};
struct ActivationGolden {{
  ActivationKind kind;
  double y[{len(PLACES)}];
  double slope[{len(PLACES)}];
}};
inline constexpr ActivationGolden kActivationGolden[] = {{""")
for kind, activation in KINDS.items():
    x = torch.tensor(PLACES, dtype=torch.float64, requires_grad=True)
    y = activation(x)
    y.sum().backward()
    print(f"{{ActivationKind::k{kind}, {{{listed(y.tolist())}}}, {{{listed(x.grad.tolist())}}}}},")
print("""};

}  // namespace winnow::train::test""")
