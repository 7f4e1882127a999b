"""The pictures of tests/pipeline/golden_pictures.h, for the makers of vectors."""

import pathlib
import sys

from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from formula_images import formula_image  # noqa: E402


def picture(kind, width, height):
    if kind == "lattice":
        values = bytes(v for r in range(0, 256, 5) for g in range(0, 256, 5) for b in range(0, 256, 5)
                       for v in (r, g, b))
        return Image.frombytes("RGB", (52, 52 * 52), values)
    if kind == "flat":
        return Image.new("RGB", (width, height), (7, 80, 255))
    if kind == "dim":
        return picture("tri", width, height).point(lambda value: 60 + value // 4)
    return Image.frombytes("RGB", (width, height), formula_image(kind, width, height))


def fnv1a(data):
    """FNV-1a of 64 bits."""
    state = 0xcbf29ce484222325
    for byte in data:
        state = (state ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return state
