#!/usr/bin/env python3
"""Prints ops.json: hashes of the pixels that torchvision and Pillow make from pictures.

    /usr/bin/python3 tests/pipeline/make_ops_golden.py > tests/data/vectors/pipeline/ops.json

Needs Debian's python3-torchvision (0.14.1) and python3-pil (9.4).
"""
import warnings

from make_pictures import fnv1a, picture
from vectors import hash_text, print_vectors

warnings.filterwarnings("ignore")
from torchvision.transforms import InterpolationMode, functional as F  # noqa: E402
from torchvision.transforms.autoaugment import _apply_op  # noqa: E402

HASHED = []
PIXELS = []
SIZES = ((32, 32), (37, 29), (3, 3), (2, 7), (1, 1))


def row(operation, argument, kind, image):
    return {"operation": operation, "argument": argument, "picture": kind, "width": image.width, "height": image.height,
            "channels": len(image.mode)}


def add(operation, argument, function, kinds=("lcg", "dim"), sizes=SIZES, modes=("RGB", "L")):
    for kind in kinds:
        for width, height in sizes:
            for mode in modes:
                image = picture(kind, width, height).convert(mode)
                out = function(image)
                assert out.size == image.size and out.mode == mode
                HASHED.append(row(operation, argument, kind, image) | {"hash": hash_text(fnv1a(out.tobytes()))})


def colours():
    for factor in (0.0, 0.1, 0.55, 1.0, 1.27, 1.9, 3.5):
        for name in ("brightness", "contrast", "saturation", "sharpness"):
            function = getattr(F, "adjust_" + name)
            add(name, factor, lambda image: function(image, factor), sizes=SIZES[:4])
    for turn in (-0.5, -0.25, -0.013, 0.0, 0.1, 1 / 3, 0.5):
        add("hue", turn, lambda image: F.adjust_hue(image, turn), kinds=("lattice",), sizes=((0, 0),), modes=("RGB",))
        add("hue", turn, lambda image: F.adjust_hue(image, turn), sizes=SIZES[:2])
    for bits in range(1, 9):
        add("posterize", float(bits), lambda image: F.posterize(image, bits), sizes=SIZES[:1])
    for threshold in (0.0, 127.5, 128.0, 246.5, 255.0, 256.0):
        add("solarize", threshold, lambda image: F.solarize(image, threshold), sizes=SIZES[:1])
    for name in ("invert", "autocontrast", "equalize"):
        add(name, 0.0, getattr(F, name), kinds=("lcg", "dim", "flat"))
    add("flip", 0.0, F.hflip)


def geometry():
    for mode in (InterpolationMode.NEAREST, InterpolationMode.BILINEAR):
        def applied(name, magnitude):
            return lambda image: _apply_op(image, name, magnitude, mode, None)
        for sign in (1, -1):
            for shear in (0.0, 0.09000000357627869, 0.18, 0.2999999, 0.99000001):
                add("shear x " + mode.value, sign * shear, applied("ShearX", sign * shear), kinds=("lcg",))
                add("shear y " + mode.value, sign * shear, applied("ShearY", sign * shear), kinds=("lcg",))
            for pixels in (0, 1, 5, 31, 40):
                add("translate x " + mode.value, float(sign * pixels), applied("TranslateX", sign * pixels), kinds=("lcg",))
                add("translate y " + mode.value, float(sign * pixels), applied("TranslateY", sign * pixels), kinds=("lcg",))
            for degrees in (0.0, 1.0, 9.0, 30.0, 45.0, 58.5, 90.0, 135.0, 180.0, 270.0, 359.99):
                add("rotate " + mode.value, sign * degrees, applied("Rotate", sign * degrees), kinds=("lcg",))


def between():
    """If tan(atan(shear)) is not exactly the shear, pixels halfway between two levels differ by one."""
    for sign in (1, -1):
        for name in ("X", "Y"):
            for size in ((32, 32), (3, 3)):
                image = picture("lcg", *size).convert("L")
                out = _apply_op(image, "Shear" + name, sign * 0.5, InterpolationMode.BILINEAR, None)
                PIXELS.append(row(f"shear {name.lower()} bilinear", sign * 0.5, "lcg", image) | {"pixels": out.tobytes().hex()})


def main():
    colours()
    geometry()
    between()
    print_vectors("What torchvision 0.14.1 and Pillow 9.4 make of pictures: FNV-1a of the pixels, or the pixels themselves "
                  "in hex.", hashed=HASHED, pixels=PIXELS)


main()
