#!/usr/bin/env python3
"""Prints block_mean.json: OpenCV's BlockMeanHash of mode 0 for test pictures.

    python3 tests/dedup/make_block_mean_golden.py > tests/data/vectors/dedup/block_mean.json

Needs PyPI's opencv-contrib-python-headless (4.6.0.66, Debian 12's version of OpenCV) and numpy.
"""
import pathlib
import sys

import cv2
import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from formula_images import formula_image  # noqa: E402
from vectors import print_vectors  # noqa: E402

SIZES = ((1, 1), (1, 300), (300, 1), (5, 7), (97, 61), (255, 257), (256, 256), (512, 512), (1000, 9), (513, 300), (640, 480))


def hex_of(image):
    return cv2.img_hash.BlockMeanHash_create(cv2.img_hash.BLOCK_MEAN_HASH_MODE_0).compute(image).tobytes().hex()


def main():
    rows = []
    for kind in ("ramp", "lcg", "blob", "tri"):
        for width, height in SIZES:
            rgb = numpy.frombuffer(formula_image(kind, width, height), numpy.uint8).reshape(height, width, 3)
            for channels, image in ((1, rgb[:, :, 0].copy()), (3, rgb[:, :, ::-1].copy())):
                rows.append({"picture": kind, "width": width, "height": height, "channels": channels, "hash": hex_of(image)})
    print_vectors(f"What OpenCV {cv2.__version__}'s BlockMeanHash of mode 0 gives of formula images: of the first channel "
                  "alone, or of all three.", hashes=rows)


if __name__ == "__main__":
    main()
