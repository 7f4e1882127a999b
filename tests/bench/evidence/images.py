"""The data of the experiments: whole sets, and small ones with duplicates, wrong labels and damage of which the truth is known.

The truth is in the names: what was done to an image stands behind the last dot before its suffix, as in `0012.copy3.jpg`.
"""

import gzip
import io
import pathlib
import random
import shutil
import struct
import tarfile

from bench import FASHION_MNIST

HASHES = "phash,phash16,ahash"
CIFAR10 = "cifar10-jpeg.tar.xz"
CACHES = ["cifar10", "fashion-mnist", "planted", "planted-all", "faults"]
FASHION_COUNTS = {"train": 1500, "t10k": 500}  # of the reduced set


def cache(bench, name):
    """The cache of this name in the work folder, made where it is not there."""
    if not (bench.work / name / "manifest.json").exists():
        source = bench.work / f"{name}-images"
        if name == "cifar10":
            source = bench.data / CIFAR10
        elif name == "fashion-mnist":
            source = fashion_mnist(source) if bench.reduced else FASHION_MNIST
        else:
            make = {"planted": planted, "planted-all": planted_in_all, "faults": faults}[name]
            source = source.with_suffix(".tar")
            part = source.with_suffix(".part")
            with tarfile.open(part, "w") as out:
                make(bench, out)
            part.rename(source)
        bench.call("ingest", source, "--out", name, "--hash", HASHES, "--threads", bench.lanes)
    bench.note(["ingest", f"{name}-images", "--out", name, "--hash", HASHES])
    return name


def read_fashion_mnist(split, count):
    """(label, 784 pixels) of the first so many."""
    pixels = gzip.decompress((FASHION_MNIST / f"{split}-images-idx3-ubyte.gz").read_bytes())[16:]
    labels = gzip.decompress((FASHION_MNIST / f"{split}-labels-idx1-ubyte.gz").read_bytes())[8:]
    return [(labels[i], pixels[784 * i : 784 * (i + 1)]) for i in range(count)]


def fashion_mnist(folder):
    """The first images of it, as IDX files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for split, count in FASHION_COUNTS.items():
        read = read_fashion_mnist(split, count)
        (folder / f"{split}-images-idx3-ubyte").write_bytes(struct.pack(">4I", 0x803, count, 28, 28) + b"".join(p for _, p in read))
        (folder / f"{split}-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 0x801, count) + bytes(label for label, _ in read))
    return folder


def by_class(bench):
    """split: class: the images of it as bytes of files, in an order that is always the same and random."""
    found = {"train": {}, "test": {}}
    if bench.reduced:
        for split, of in (("train", "train"), ("test", "t10k")):
            for label, pixels in read_fashion_mnist(of, 2000):
                found[split].setdefault(str(label), []).append(jpeg(gray(pixels), 95))
    else:
        with tarfile.open(bench.data / CIFAR10) as archive:
            for member in archive:
                parts = pathlib.PurePath(member.name).parts
                if member.isfile() and len(parts) == 4:
                    found[parts[1]].setdefault(parts[2], []).append((member.name, archive.extractfile(member).read()))
        found = {split: {name: [data for _, data in sorted(of)] for name, of in sorted(classes.items())} for split, classes in found.items()}
    for split, classes in found.items():
        for name, of in classes.items():
            random.Random(f"{split}/{name}").shuffle(of)
    return found


def gray(pixels):
    from PIL import Image

    return Image.frombytes("L", (28, 28), pixels)


def opened(data):
    from PIL import Image

    return Image.open(io.BytesIO(data))


def jpeg(image, quality):
    out = io.BytesIO()
    image.save(out, "JPEG", quality=quality)
    return out.getvalue()


def edited(data, rng):
    """A copy as one meets them: compressed anew, and half of them resized and back, a little brighter or darker, or cut by a pixel."""
    from PIL import Image, ImageEnhance

    image = opened(data)
    width, height = image.size
    kind = rng.randrange(6)
    if kind == 0:
        side = rng.choice([24, 28, 40, 48])
        image = image.resize((side, side), Image.BILINEAR).resize((width, height), Image.BILINEAR)
    elif kind == 1:
        image = ImageEnhance.Brightness(image).enhance(rng.uniform(0.85, 1.15))
    elif kind == 2:
        image = image.crop((rng.randrange(2), rng.randrange(2), width - rng.randrange(2), height - rng.randrange(2)))
        image = image.resize((width, height), Image.BILINEAR)
    return jpeg(image, rng.randrange(50, 91))


def damaged(data, kind):
    from PIL import ImageEnhance, ImageFilter

    image = opened(data)
    image = ImageEnhance.Brightness(image).enhance(0.08) if kind == "dark" else image.filter(ImageFilter.GaussianBlur(2.5))
    return jpeg(image, 90)


def add(out, split, label, name, data):
    entry = tarfile.TarInfo(f"set/{split}/{label}/{name}.jpg")
    entry.size = len(data)
    out.addfile(entry, io.BytesIO(data))


def sizes(bench):
    """Images of a class: to train on, of val, of test."""
    return (100, 20, 50) if bench.reduced else (1000, 500, 1000)


def planted_in_all(bench, out):
    planted(bench, out, in_all=True)


def planted(bench, out, in_all=False):
    """In half of the classes, or in all, one image in twenty is there ten times. Val and test have no copies."""
    found = by_class(bench)
    train, val, test = sizes(bench)
    for at, (label, of) in enumerate(found["train"].items()):
        rng = random.Random(label)
        for i, data in enumerate(of[:train]):
            add(out, "train", label, f"{i:04}", data)
            for copy in range(9 if (in_all or at % 2) and i < train // 20 else 0):
                add(out, "train", label, f"{i:04}.copy{copy + 1}", edited(data, rng))
        for i, data in enumerate(of[train : train + val]):
            add(out, "val", label, f"{i:04}", data)
        for i, data in enumerate(found["test"][label][:test]):
            add(out, "test", label, f"{i:04}", data)


def faults(bench, out):
    """Of the training images one in ten is labelled wrongly, one in twenty is dark, one blurred, and of one in ten there is a copy
    with another label. One test image in ten has a copy in training."""
    found = by_class(bench)
    train, _, test = sizes(bench)
    labels = list(found["train"])
    for label, of in found["train"].items():
        rng = random.Random(label)
        others = [other for other in labels if other != label]
        for i, data in enumerate(of[:train]):
            part = i * 20 // train  # of twenty
            if part < 2:
                add(out, "train", rng.choice(others), f"{label}-{i:04}.wrong", data)
            elif part < 4:
                kind = "dark" if part == 2 else "blurred"
                add(out, "train", label, f"{i:04}.{kind}", damaged(data, kind))
            else:
                add(out, "train", label, f"{i:04}", data)
            if 4 <= part < 6:
                add(out, "train", rng.choice(others), f"{label}-{i:04}.conflict", edited(data, rng))
        for i, data in enumerate(found["test"][label][:test]):
            add(out, "test", label, f"{i:04}", data)
            if i < test // 10:
                add(out, "train", label, f"test-{i:04}.leak", edited(data, rng))


def truth(name):
    """What was done to an image, by its name: copy, wrong, dark, blurred, conflict, leak; empty: nothing."""
    parts = pathlib.PurePath(name).name.split(".")
    return parts[1].rstrip("0123456789") if len(parts) > 2 else ""
