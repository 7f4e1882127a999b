"""The random numbers of winnow's dropout (train/ops/dropout.h), implemented independently."""

import numpy
import torch
from torch import nn

USE = 22  # RandomUse::kDropout of common/rng.h
MASK = 2**64 - 1


def philox(counter, key):
    """Philox4x32-10 (Salmon et al. 2011): returns four words."""
    for _ in range(10):
        a, b = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [(b >> 32) ^ counter[1] ^ key[0], b & 0xFFFFFFFF, (a >> 32) ^ counter[3] ^ key[1], a & 0xFFFFFFFF]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter


def sample_key(seed, step, sample):
    words = philox([USE << 24, sample & 0xFFFFFFFF, sample >> 32, step], [seed & 0xFFFFFFFF, seed >> 32])
    return words[0] << 32 | words[1]


def split_mix(z):
    """SplitMix (Steele et al. 2014) of an array of uint64."""
    z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return z ^ (z >> numpy.uint64(31))


def kept(key, operation, count, rate):
    """Which of a sample's first `count` elements are kept."""
    with numpy.errstate(over="ignore"):
        stream = split_mix(numpy.array(key ^ operation, dtype=numpy.uint64))
        numbers = numpy.arange(1, count + 1, dtype=numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15)
        return (split_mix(stream + numbers) >> numpy.uint64(32)) >= numpy.uint64(int(rate * 2**32))


class Masks:
    """Replaces every Dropout and StochasticDepth of a module, numbered in the order of their calls."""

    class Layer(nn.Module):
        def __init__(self, masks, rate, whole_samples):
            super().__init__()
            self.masks, self.rate, self.whole_samples = masks, rate, whole_samples

        def forward(self, x):
            return self.masks.apply(x, self.rate, self.whole_samples) if self.training and self.rate > 0 else x

    def __init__(self):
        self.keys, self.calls = [], 0

    def put_into(self, module):
        for name, child in module.named_children():
            if type(child).__name__ in ("Dropout", "StochasticDepth"):
                setattr(module, name, self.Layer(self, child.p, type(child).__name__ != "Dropout"))
            else:
                self.put_into(child)

    def begin(self, seed, step, samples):
        self.keys, self.calls = [sample_key(seed, step, int(sample)) for sample in samples], 0

    def __deepcopy__(self, memo):
        return self

    def apply(self, x, rate, whole_samples):
        """Applies the mask. Elements are numbered channels last."""
        self.calls += 1
        shape = (1,) * (x.ndim - 1) if whole_samples else x.movedim(1, -1).shape[1:]
        count = int(numpy.prod(shape))
        rows = [torch.from_numpy(kept(key, self.calls, count, rate).reshape(shape)) for key in self.keys]
        mask = torch.stack(rows)
        mask = mask if whole_samples else mask.movedim(-1, 1)
        return x * mask.to(x.dtype) / (1 - rate)
