#!/usr/bin/env python3
"""Prints sampling.json: what torchvision's transforms drew, and the parameters they derived from it.

    /usr/bin/python3 tests/pipeline/make_sampling_golden.py > tests/data/vectors/pipeline/sampling.json

Needs Debian's python3-torchvision (0.14.1).
"""
import pathlib
import sys

from recorded_draws import DRAWN, drawn, number
import torch
from PIL import Image
from torchvision import transforms as T
from torchvision.transforms import autoaugment as A

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from vectors import print_vectors  # noqa: E402

SIZES = ((224, 224), (375, 500), (1200, 90), (30, 700), (32, 32), (3, 5), (1, 1))
CASES = []


def case(name, arguments, height, width, function):
    add(name, arguments, height, width, *drawn(function))


def add(name, arguments, height, width, draws, result):
    CASES.append({"name": name, "arguments": arguments, "height": height, "width": width, "drawn": draws, "result": result})


def box(values):
    return " ".join(str(int(v)) for v in values)


def crops():
    for height, width in SIZES:
        image = Image.new("L", (width, height))
        for _ in range(7):
            case("resized crop", "0.08 1 0.75 1.3333333333333333", height, width,
                 lambda: box(T.RandomResizedCrop.get_params(image, (0.08, 1.0), (3 / 4, 4 / 3))))
            case("resized crop", "0.3 0.9 0.5 2.5", height, width,
                 lambda: box(T.RandomResizedCrop.get_params(image, (0.3, 0.9), (0.5, 2.5))))
            case("crop", "", height, width,
                 lambda: box(T.RandomCrop.get_params(Image.new("L", (width + 8, height + 8)), (height, width))))
            blank = torch.zeros(1, height, width)

            def erasing():
                if not torch.rand(1) < 0.6:
                    return "none"
                i, j, h, w, v = T.RandomErasing.get_params(blank, (0.02, 0.33), (0.3, 3.3), [0.0])
                return "none" if v is blank else box((i, j, h, w))
            case("erasing", "0.6", height, width, erasing)
            # The angle is drawn although it is always zero.
            DRAWN.clear()
            _, (right, down), _, _ = T.RandomAffine.get_params((0, 0), (0.1, 0.3), None, None, (width, height))
            add("translation", "0.1 0.3", height, width, " ".join(DRAWN[1:]), f"{right} {down}")


def jitters():
    for values in ((0.4, 0.4, 0.4, 0.1), (1.5, 0, 0.2, 0.5), (0, 0.3, 0, 0)):
        for _ in range(12):
            jitter = T.ColorJitter(*values)

            def run():
                order, *factors = jitter.get_params(jitter.brightness, jitter.contrast, jitter.saturation, jitter.hue)
                return " ".join(("Brightness", "Contrast", "Color", "Hue")[i] + " " + number(factors[i])
                                for i in order if factors[i] is not None)
            case("jitter", " ".join(map(str, values)), 1, 1, run)


def called(transform, image):
    """The operations that a transform calls, with the arguments of its _apply_op."""
    calls = []
    apply = A._apply_op

    def record(img, name, magnitude, interpolation, fill):
        if name in ("Brightness", "Color", "Contrast", "Sharpness"):
            magnitude = 1.0 + magnitude
        elif name in ("TranslateX", "TranslateY", "Posterize"):
            magnitude = int(magnitude)
        calls.append(name + " " + number(magnitude + 0.0))
        return img
    A._apply_op = record
    transform(image)
    A._apply_op = apply
    return " ".join(calls)


def policies():
    for height, width in ((224, 224), (32, 32), (375, 500)):
        image = Image.new("RGB", (width, height))
        for _ in range(40):
            for policy in A.AutoAugmentPolicy:
                case("auto", policy.value, height, width, lambda: called(A.AutoAugment(policy), image))
            case("rand", "2 9 31", height, width, lambda: called(A.RandAugment(), image))
            case("rand", "3 5 11", height, width, lambda: called(A.RandAugment(3, 5, 11), image))
            case("trivial", "31", height, width, lambda: called(A.TrivialAugmentWide(), image))


def tables():
    """The magnitudes of all bins."""
    out = []
    for name, space, bins in (("usual", A.RandAugment()._augmentation_space, 31),
                              ("usual", A.AutoAugment()._augmentation_space, 10),
                              ("wide", A.TrivialAugmentWide()._augmentation_space, 31),
                              ("usual", A.RandAugment()._augmentation_space, 11)):
        for size in ((224, 224), (32, 32), (299, 331)) if name == "usual" else ((224, 224),):
            every = space(bins, size) if name == "usual" else space(bins)
            for op, (values, signed) in every.items():
                if size != (224, 224) and not op.startswith("Translate"):
                    continue
                texts = [number(v) for v in values.tolist()] if values.ndim > 0 else []
                out.append({"space": name, "op": op, "bins": bins, "height": size[0], "width": size[1],
                            "has_sign": bool(signed), "values": " ".join(texts)})
    return out


def main():
    torch.manual_seed(1)
    crops()
    jitters()
    policies()
    print_vectors("What torchvision 0.14.1's transforms drew (u: a uniform number, bI/N: I below N), the parameters they made of "
                  "it, and magnitudes of all bins.", drawn=CASES, magnitudes=tables())


main()
