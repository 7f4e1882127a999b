#!/usr/bin/env python3
"""Prints ops_golden.h: hashes of the pixels that torchvision and Pillow make of pictures.

    /usr/bin/python3 tests/pipeline/make_ops_golden.py > tests/pipeline/ops_golden.h

Needs Debian's python3-torchvision (0.14.1) and python3-pil (9.4).
"""
import warnings

from make_pictures import fnv1a, picture

warnings.filterwarnings("ignore")
from torchvision.transforms import InterpolationMode, functional as F  # noqa: E402
from torchvision.transforms.autoaugment import _apply_op  # noqa: E402

VECTORS = []
PIXELS = []
SIZES = ((32, 32), (37, 29), (3, 3), (2, 7), (1, 1))


def add(operation, argument, function, kinds=("lcg", "dim"), sizes=SIZES, modes=("RGB", "L")):
    for kind in kinds:
        for width, height in sizes:
            for mode in modes:
                image = picture(kind, width, height).convert(mode)
                out = function(image)
                assert out.size == image.size and out.mode == mode
                VECTORS.append((operation, argument, kind, image.width, image.height, len(mode), fnv1a(out.tobytes())))


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
    """Where tan(atan(shear)) is not the shear, pixels halfway between two levels differ by one."""
    for sign in (1, -1):
        for name in ("X", "Y"):
            for size in ((32, 32), (3, 3)):
                image = picture("lcg", *size).convert("L")
                out = _apply_op(image, "Shear" + name, sign * 0.5, InterpolationMode.BILINEAR, None)
                PIXELS.append((f"shear {name.lower()} bilinear", sign * 0.5, "lcg", *size, 1, out.tobytes()))


def main():
    colours()
    geometry()
    between()
    print("#pragma once\n\n// Written by make_ops_golden.py.\n\n#include <cstdint>\n\nnamespace winnow::test {\n")
    print("// What is done to a picture with which argument, and FNV-1a of the pixels that gives.")
    print("struct OpsGolden {\n  const char* operation;\n  double argument;\n  const char* picture;\n  int width;\n"
          "  int height;\n  int channels;\n  std::uint64_t hash;\n};\n\n// clang-format off")
    print("inline constexpr OpsGolden kOpsGolden[] = {")
    for operation, argument, kind, width, height, channels, value in VECTORS:
        print(f'    {{"{operation}", {argument!r}, "{kind}", {width}, {height}, {channels}, {value:#x}}},')
    print("};\n\n// The same with the pixels themselves, in hex, of operations that are not hash for hash Pillow's.")
    print("struct OpsPixels {\n  OpsGolden golden;\n  const char* pixels;\n};\n\ninline constexpr OpsPixels kOpsPixels[] = {")
    for operation, argument, kind, width, height, channels, value in PIXELS:
        print(f'    {{{{"{operation}", {argument!r}, "{kind}", {width}, {height}, {channels}, 0}},')
        lines = [value.hex()[i:i + 100] for i in range(0, 2 * len(value), 100)]
        print("\n".join(f'     "{line}"' for line in lines) + "},")
    print("};\n// clang-format on\n\n}  // namespace winnow::test")


main()
