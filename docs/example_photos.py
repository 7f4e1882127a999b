#!/usr/bin/env python3
"""Makes a folder of pictures to try winnow on, with the faults that folders of photos have.

    python3 example_photos.py photos

Needs the Debian packages python3-pil and dataset-fashion-mnist. The pictures are pieces of clothing from
Fashion-MNIST (MIT licence) on made-up backgrounds. The same pictures come out each time.

In photos/ afterwards, of 4 classes: train/ with 800 pictures and 60 copies of some of them (smaller, cropped,
compressed harder, brighter), test/ with 100 pictures and 20 that are copies of training pictures (leaks), one
file that broke off, one video and what a NAS leaves behind.
"""

import argparse
import gzip
import pathlib
import random

import numpy
from PIL import Image, ImageEnhance

SOURCE = pathlib.Path("/usr/share/datasets/fashion-mnist")
CLASSES = {1: "trousers", 3: "dress", 7: "sneaker", 8: "bag"}  # labels of Fashion-MNIST
SIDE = 160


def items(part):
    """28 x 28 pictures of each class, in the data set's order."""
    pixels = numpy.frombuffer(gzip.open(SOURCE / f"{part}-images-idx3-ubyte.gz").read(), numpy.uint8, offset=16)
    labels = numpy.frombuffer(gzip.open(SOURCE / f"{part}-labels-idx1-ubyte.gz").read(), numpy.uint8, offset=8)
    return {name: pixels.reshape(-1, 28, 28)[labels == label] for label, name in CLASSES.items()}


def background(noise):
    """A smooth pattern in two colours."""
    weight = 0
    for cells, share in ((5, 0.5), (10, 0.3), (20, 0.2)):
        coarse = Image.fromarray((noise.random((cells, cells)) * 255).astype(numpy.uint8))
        weight = weight + share / 255 * numpy.asarray(coarse.resize((SIDE, SIDE), Image.BICUBIC), numpy.float32)
    weight = ((weight - weight.min()) / numpy.ptp(weight))[..., None]
    colours = 60 + noise.random((2, 3)) * 150
    return colours[0] * weight + colours[1] * (1 - weight)


def photo(item, noise):
    """The item somewhere on a background, in a colour of its own."""
    side = int(noise.integers(SIDE * 5 // 8, SIDE * 7 // 8))
    left, top = noise.integers(0, SIDE - side, 2)
    mask = numpy.zeros((SIDE, SIDE, 1), numpy.float32)
    mask[top : top + side, left : left + side, 0] = numpy.asarray(Image.fromarray(item).resize((side, side), Image.BICUBIC)) / 255
    behind, colour = background(noise), noise.random(3) * 255
    colour = colour * 0.4 if behind.mean() > 127 else 255 - colour * 0.4  # to be seen against it
    pixels = behind * (1 - mask) + colour * mask
    return Image.fromarray(pixels.clip(0, 255).astype(numpy.uint8))


def smaller(picture):
    return picture.resize((SIDE * 5 // 8, SIDE * 5 // 8), Image.LANCZOS), 85


def cropped(picture):
    return picture.crop((3, 2, SIDE - 2, SIDE - 4)), 90


def compressed(picture):
    return picture, 25


def brighter(picture):
    return ImageEnhance.Brightness(picture).enhance(1.15), 90


EDITS = (smaller, cropped, compressed, brighter)


def save(picture, quality, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path, quality=quality)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    if folder.exists():
        parser.error(f"{folder} is there already; name another folder, or delete it first")
    if not SOURCE.exists():
        parser.error("Fashion-MNIST is missing: sudo apt install dataset-fashion-mnist")
    noise, choice = numpy.random.default_rng(1), random.Random(1)
    train, test = items("train"), items("t10k")
    for name in CLASSES.values():
        pictures = [photo(item, noise) for item in train[name][:200]]
        for i, picture in enumerate(pictures):
            save(picture, 92, folder / "train" / name / f"img_{i:04}.jpg")
        copied = choice.sample(range(200), 20)  # 15 of them again in train, 5 in test
        for i in copied[:15]:
            edit = choice.choice(EDITS)
            save(*edit(pictures[i]), folder / "train" / name / f"img_{i:04}_{edit.__name__}.jpg")
        for i, item in enumerate(test[name][:25]):
            save(photo(item, noise), 92, folder / "test" / name / f"img_{i:04}.jpg")
        for n, i in enumerate(copied[15:]):
            save(*choice.choice(EDITS)(pictures[i]), folder / "test" / name / f"img_{25 + n:04}.jpg")
    broken = folder / "train" / "bag" / "img_0200.jpg"
    broken.write_bytes((folder / "train" / "bag" / "img_0007.jpg").read_bytes()[:1500])
    (folder / "train" / "dress" / "turn.mp4").write_bytes(b"\0\0\0\x18ftypmp42")
    thumbnails = folder / "train" / "bag" / "@eaDir" / "img_0007.jpg"
    thumbnails.mkdir(parents=True)
    save(Image.open(folder / "train" / "bag" / "img_0007.jpg").resize((60, 60)), 80, thumbnails / "SYNOPHOTO_THUMB_S.jpg")


if __name__ == "__main__":
    main()
