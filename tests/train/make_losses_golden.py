#!/usr/bin/env python3
"""Prints losses.json: sigmoid losses and their gradients, computed by PyTorch and torchvision in float64.

    python3 tests/train/make_losses_golden.py > tests/data/vectors/train/losses.json

Needs torch and torchvision; any version gives the same numbers up to their last digits.
"""
import torch
import torch.nn.functional as F
from torchvision.ops import sigmoid_focal_loss

from golden_tensors import given, print_vectors

# samples, classes, label smoothing, gamma, alpha, mean over classes, whether logits are 10^4 and -10^4, samples without a class
CASES = ((4, 5, 0.0, 0, -1, True, False, 0), (3, 4, 0.1, 0, -1, True, False, 0), (2, 3, 0.0, 0, -1, False, True, 0),
         (4, 5, 0.0, 2, 0.25, False, False, 0), (3, 4, 0.1, 1.5, 0.75, False, False, 0), (2, 3, 0.0, 2, -1, False, True, 0),
         (3, 4, 0.0, 0, -1, True, False, 2), (3, 4, 0.0, 2, 0.25, False, True, 2))

rows = []
torch.manual_seed(1)
for samples, classes, smoothing, gamma, alpha, mean, extreme, unlabelled in CASES:
    logits = 4 * torch.randn(samples, classes, dtype=torch.float64)
    if extreme:
        logits[:, 0], logits[:, 1] = 1e4, -1e4
    logits.requires_grad_()
    targets = F.one_hot(torch.arange(samples) % classes, classes).to(torch.float64)
    targets[:unlabelled] = 0
    soft = (1 - smoothing) * targets + smoothing / classes  # as timm's BinaryCrossEntropy does
    if gamma > 0 or alpha >= 0:
        terms = sigmoid_focal_loss(logits, soft, alpha, gamma, reduction="none")
    else:
        terms = F.binary_cross_entropy_with_logits(logits, soft, reduction="none")
    per_sample = terms.mean(1) if mean else terms.sum(1)
    weights = torch.rand(samples, dtype=torch.float64)
    (weights * per_sample).sum().backward()
    rows.append({"label_smoothing": smoothing, "gamma": gamma, "alpha": alpha, "mean": mean,
                 "logits": given(logits.detach()), "targets": given(targets), "weights": given(weights),
                 "per_sample": given(per_sample.detach()), "dlogits": given(logits.grad)})
print_vectors("What PyTorch and torchvision compute in float64 of losses over sigmoids, and their gradients.", cases=rows)
