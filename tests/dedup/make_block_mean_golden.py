#!/usr/bin/env python3
"""Prints block_mean_golden.h: what OpenCV's BlockMeanHash of mode 0 gives of pictures.

    python3 tests/dedup/make_block_mean_golden.py > tests/dedup/block_mean_golden.h

Needs PyPI's opencv-contrib-python-headless (4.6.0.66, Debian 12's version of OpenCV) and numpy.
"""
import pathlib
import sys

import cv2
import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from formula_images import formula_image  # noqa: E402

SIZES = ((1, 1), (1, 300), (300, 1), (5, 7), (97, 61), (255, 257), (256, 256), (512, 512), (1000, 9), (513, 300), (640, 480))


def hex_of(image):
    return cv2.img_hash.BlockMeanHash_create(cv2.img_hash.BLOCK_MEAN_HASH_MODE_0).compute(image).tobytes().hex()


def main():
    print("""#pragma once

// Written by make_block_mean_golden.py with OpenCV %s.

namespace winnow::test {

// A picture of formula_images.h, its first channel alone or all three, and its code in hexadecimal.
struct BlockMeanGolden {
  const char* picture;
  int width;
  int height;
  int channels;
  const char* hex;
};

// clang-format off
inline constexpr BlockMeanGolden kBlockMeanGolden[] = {""" % cv2.__version__)
    for kind in ("ramp", "lcg", "blob", "tri"):
        for width, height in SIZES:
            rgb = numpy.frombuffer(formula_image(kind, width, height), numpy.uint8).reshape(height, width, 3)
            for channels, image in ((1, rgb[:, :, 0].copy()), (3, rgb[:, :, ::-1].copy())):
                print('    {"%s", %d, %d, %d, "%s"},' % (kind, width, height, channels, hex_of(image)))
    print("""};
// clang-format on

}  // namespace winnow::test""")


if __name__ == "__main__":
    main()
