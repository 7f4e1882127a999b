#!/usr/bin/env python3
"""Prints losses_golden.h: what PyTorch and torchvision compute in float64 of losses over sigmoids, and their gradients.

    python3 tests/train/make_losses_golden.py > tests/train/losses_golden.h

Needs torch and torchvision; any version gives the same numbers up to their last digits.
"""
import torch
import torch.nn.functional as F
from torchvision.ops import sigmoid_focal_loss

from golden_tensors import given

# samples, classes, label smoothing, gamma, alpha, mean over classes, logits that are 10^4 and -10^4
CASES = ((4, 5, 0.0, 0, -1, True, False), (3, 4, 0.1, 0, -1, True, False), (2, 3, 0.0, 0, -1, False, True),
         (4, 5, 0.0, 2, 0.25, False, False), (3, 4, 0.1, 1.5, 0.75, False, False), (2, 3, 0.0, 2, -1, False, True))

print("""#pragma once

// Written by make_losses_golden.py.

#include "tests/train/run_operation.h"

namespace winnow::test {

struct LossGolden {
  double label_smoothing, gamma, alpha;
  bool mean;
  train::Given logits, targets, weights;
  train::Given per_sample, dlogits;
};

// clang-format off
inline const LossGolden kLossGolden[] = {""")
torch.manual_seed(1)
for samples, classes, smoothing, gamma, alpha, mean, extreme in CASES:
    logits = 4 * torch.randn(samples, classes, dtype=torch.float64)
    if extreme:
        logits[:, 0], logits[:, 1] = 1e4, -1e4
    logits.requires_grad_()
    targets = F.one_hot(torch.arange(samples) % classes, classes).to(torch.float64)
    soft = (1 - smoothing) * targets + smoothing / classes  # as timm's BinaryCrossEntropy smooths
    if gamma > 0 or alpha >= 0:
        terms = sigmoid_focal_loss(logits, soft, alpha, gamma, reduction="none")
    else:
        terms = F.binary_cross_entropy_with_logits(logits, soft, reduction="none")
    per_sample = terms.mean(1) if mean else terms.sum(1)
    weights = torch.rand(samples, dtype=torch.float64)
    (weights * per_sample).sum().backward()
    print(f"    {{{smoothing}, {gamma}, {alpha}, {str(mean).lower()},")
    tensors = (logits.detach(), targets, weights, per_sample.detach(), logits.grad)
    print(",\n".join(f"     {given(tensor)}" for tensor in tensors) + "},")
print("""};
// clang-format on

}  // namespace winnow::test""")
