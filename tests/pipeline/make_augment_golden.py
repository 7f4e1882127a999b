#!/usr/bin/env python3
"""Prints augment.json: what torchvision's transforms drew for pictures, and the resulting pixels.

    /usr/bin/python3 tests/pipeline/make_augment_golden.py > tests/data/vectors/pipeline/augment.json

Needs Debian's python3-torchvision (0.14.1) and python3-pil (9.4). What torchvision lacks is written out here by its
definition: cutout (DeVries and Taylor, 2017, section 3) and the alternating flip (Jordan, airbench, 2024).
"""
from recorded_draws import drawn, number
import torch
from torchvision import transforms as T
from torchvision.transforms import InterpolationMode, functional as F

from make_pictures import fnv1a, picture
from vectors import hash_text, print_vectors

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
HASHED, LEVELS = [], []
INTERPOLATIONS = (("", InterpolationMode.NEAREST), ("interpolation=bilinear", InterpolationMode.BILINEAR))


def add(step, kind, size, mode, transform, epoch=0, change=lambda text: text):
    image = picture(kind, *size).convert(mode)
    text, out = drawn(lambda: transform(image))
    assert out.mode == mode
    HASHED.append({"step": step, "picture": kind, "width": size[0], "height": size[1], "channels": len(mode), "epoch": epoch,
                   "drawn": change(text), "out_height": out.height, "out_width": out.width,
                   "hash": hash_text(fnv1a(out.tobytes()))})


def first(text):
    """The draws without the angle of RandomAffine, which is drawn although it is always zero."""
    return text.split(" ", 1)[1]


def mirrored(text):
    """A flip for the highest numbers instead of the lowest."""
    return "u" + number(1 - 2**-24 - float(text[1:]))


def geometry():
    for kind, size, mode in (("lcg", (61, 47), "RGB"), ("dim", (40, 90), "RGB"), ("lcg", (33, 32), "L"), ("tri", (5, 9), "RGB")):
        for _ in range(4):
            add("resized_crop", kind, size, mode, T.RandomResizedCrop((24, 20)))
            add("resized_crop:area=0.3..0.9,ratio=0.5..2.5", kind, size, mode,
                T.RandomResizedCrop((24, 20), (0.3, 0.9), (0.5, 2.5)))
            add("crop:padding=2", kind, size, mode, T.RandomCrop((size[1], size[0]), 2))
            add("crop:padding=4,mode=reflect", kind, size, mode,
                T.RandomCrop((size[1], size[0]), 4, padding_mode="reflect"))
            add("flip:p=0.25", kind, size, mode, T.RandomHorizontalFlip(0.25), change=mirrored)
            add("flip", kind, size, mode, T.RandomHorizontalFlip(), change=mirrored)
            add("translate:x=0.1,y=0.3", kind, size, mode, T.RandomAffine(0, (0.1, 0.3)), change=first)
        for epoch in range(4):
            def alternating(image):
                return F.hflip(image) if (int(torch.randint(2, (1,))) + epoch) % 2 == 1 else image
            add("alternating_flip", kind, size, mode, alternating, epoch)
    for kind, size, mode in (("lcg", (61, 47), "RGB"), ("dim", (40, 90), "L"), ("tri", (24, 20), "RGB")):
        for short in (20, 24, 31, 40):
            add(f"centre_crop:resize={short}", kind, size, mode, T.Compose([T.Resize(short), T.CenterCrop((24, 20))]))
        add("centre_crop:resize=11", kind, size, mode, T.Compose([T.Resize(11), T.CenterCrop((24, 20))]))


def colours():
    for kind, size in (("lcg", (37, 29)), ("tri", (32, 32)), ("dim", (32, 32))):
        for values in ((0.4, 0.4, 0.4, 0.1), (0.9, 0, 0.2, 0.5), (0, 0.3, 0, 0)):
            step = "jitter:" + ",".join(f"{n}={v}" for n, v in zip(("brightness", "contrast", "saturation", "hue"), values))
            for _ in range(6):
                add(step, kind, size, "RGB", T.ColorJitter(*values))


def policies():
    for parameters, mode in INTERPOLATIONS:
        def step(name, *more):
            text = ",".join([*more, parameters] if parameters else more)
            return name + (":" + text if text else "")
        for kind, size in (("lcg", (37, 29)), ("tri", (32, 32))):
            for _ in range(30):
                add(step("rand_augment"), kind, size, "RGB", T.RandAugment(interpolation=mode))
                add(step("trivial_augment"), kind, size, "RGB", T.TrivialAugmentWide(interpolation=mode))
                for policy in T.AutoAugmentPolicy:
                    more = [] if policy.value == "imagenet" else ["policy=" + policy.value]
                    add(step("auto_augment", *more), kind, size, "RGB", T.AutoAugment(policy, interpolation=mode))
            for _ in range(10):
                add(step("rand_augment", "count=3", "magnitude=5", "bins=11"), kind, size, "RGB",
                    T.RandAugment(3, 5, 11, interpolation=mode))


def levels_of(tensor):
    """The levels of a normalised picture, in 256ths."""
    mean, deviation = (torch.tensor(v, dtype=torch.float64)[:, None, None] for v in (MEAN, DEVIATION))
    parts = ((tensor.double() * deviation + mean) * 255 * 256).round().to(torch.int64)
    return "".join(f"{value:04x}" for value in parts.permute(1, 2, 0).flatten().tolist())


def add_levels(step, size, text, out):
    LEVELS.append({"step": step, "width": size[0], "height": size[1], "drawn": text, "levels": levels_of(out)})


def erased():
    """Erased after normalisation, as in torchvision's recipes."""
    ready = T.Compose([T.ToTensor(), T.Normalize(MEAN, DEVIATION)])
    size = (9, 7)
    image = ready(picture("lcg", *size))
    colour = (10, 200, 255)
    normal = [(c / 255 - m) / d for c, m, d in zip(colour, MEAN, DEVIATION)]
    for step, transform in (("erase", T.RandomErasing()), ("erase:p=1,area=0.1..0.6,ratio=0.5..1", T.RandomErasing(1, (0.1, 0.6), (0.5, 1))),
                            ("erase:p=1,value=10/200/255", T.RandomErasing(1, value=normal))):
        for _ in range(5):
            text, out = drawn(lambda: transform(image))
            add_levels(step, size, text, out)
    for side in (4, 5):
        for _ in range(3):
            def cutout():
                y, x = int(torch.randint(size[1], (1,))), int(torch.randint(size[0], (1,)))
                out = image.clone()
                out[:, max(y - side // 2, 0):y + side // 2, max(x - side // 2, 0):x + side // 2] = 0
                return out
            text, out = drawn(cutout)
            add_levels(f"cutout:side={side}", size, text, out)


def main():
    torch.manual_seed(1)
    geometry()
    colours()
    policies()
    erased()
    print_vectors("What torchvision 0.14.1's transforms drew, and what they made of pictures: FNV-1a of the pixels, or all "
                  "levels in 256ths, in hex, of what comes after normalisation.", hashed=HASHED, levels=LEVELS)


main()
