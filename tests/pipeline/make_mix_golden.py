#!/usr/bin/env python3
"""Prints mix.json: boxes and shares of cutmix, and mixed pixels, as in torchvision's recipes.

    /usr/bin/python3 tests/pipeline/make_mix_golden.py > tests/data/vectors/pipeline/mix.json

Needs Debian's python3-torch (1.13). torchvision's references/classification/transforms.py is not in its package, so its
operations on a batch are written out here in torch.
"""
import math
import pathlib
import sys
import warnings

warnings.filterwarnings("ignore")
import torch  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from vectors import print_vectors  # noqa: E402

SIZES = ((224, 224), (32, 32), (96, 160), (7, 3), (1, 1))


def share(alpha):
    return float(torch._sample_dirichlet(torch.tensor([alpha, alpha]))[0])


def box_of(own, height, width, x, y):
    half = 0.5 * math.sqrt(1.0 - own)
    half_w, half_h = int(half * width), int(half * height)
    x1, y1 = int(torch.clamp(x - half_w, min=0)), int(torch.clamp(y - half_h, min=0))
    x2, y2 = int(torch.clamp(x + half_w, max=width)), int(torch.clamp(y + half_h, max=height))
    return x1, y1, x2, y2, float(1.0 - (x2 - x1) * (y2 - y1) / (width * height))


def boxes():
    rows = []
    for height, width in SIZES:
        for alpha in (0.2, 1.0, 1.0, 4.0):
            for _ in range(6):
                own = share(alpha)
                x, y = torch.randint(width, (1,)), torch.randint(height, (1,))
                x1, y1, x2, y2, kept = box_of(own, height, width, x, y)
                box = {"top": y1, "left": x1, "height": y2 - y1, "width": x2 - x1}
                rows.append({"height": height, "width": width, "own": own, "centre_y": int(y), "centre_x": int(x), "box": box,
                             "kept": kept})
    return rows


def picture(which, height, width):
    """A picture of one channel, the same as in mix_test.cpp."""
    return torch.tensor([[(97 * which * which + 31 * y + 57 * x + x * y * (which + 1)) % 256 for x in range(width)]
                         for y in range(height)], dtype=torch.uint8)


def mixtures():
    rows = []
    height, width = 6, 7
    batch = torch.stack([picture(i, height, width) for i in range(4)])[:, None].to(torch.float32) / 255
    for own in (0.0, 0.3125, 0.5, 0.9990234375, 1.0, math.floor(share(0.2) * 65536 + 0.5) / 65536):
        mixed = batch.clone()
        rolled = mixed.roll(1, 0)
        rolled.mul_(1.0 - own)
        mixed.mul_(own).add_(rolled)
        rows.append((own, "", mixed))
    for own, x, y in ((0.5, 3, 2), (0.1, 6, 5), (0.99, 0, 0)):
        mixed = batch.clone()
        rolled = mixed.roll(1, 0)
        x1, y1, x2, y2, kept = box_of(own, height, width, torch.tensor([x]), torch.tensor([y]))
        mixed[:, :, y1:y2, x1:x2] = rolled[:, :, y1:y2, x1:x2]
        rows.append((kept, f"{y1} {x1} {y2 - y1} {x2 - x1}", mixed))
    out = []
    for own, box, mixed in rows:
        parts = (mixed.double() * 255 * 256).round().to(torch.int64).flatten().tolist()
        text = "".join(f"{value:04x}" for value in parts)
        out.append({"own": own, "box": box, "levels": text})
    return out


def main():
    torch.manual_seed(1)
    print_vectors("Boxes and shares of cutmix, and all levels of 4 pictures of 6 x 7 mixed in single precision, in 256ths, in "
                  "hex; with torch 1.13.", boxes=boxes(), mixtures=mixtures())


main()
