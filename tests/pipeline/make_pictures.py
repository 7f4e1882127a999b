"""The pictures of tests/pipeline/golden_pictures.h, for the makers of vectors."""

from PIL import Image


def picture(kind, width, height):
    if kind == "lattice":
        values = bytes(v for r in range(0, 256, 5) for g in range(0, 256, 5) for b in range(0, 256, 5)
                       for v in (r, g, b))
        return Image.frombytes("RGB", (52, 52 * 52), values)
    if kind == "flat":
        return Image.new("RGB", (width, height), (7, 80, 255))
    state = 1
    values = bytearray()
    for y in range(height):
        for x in range(width):
            for c in range(3):
                state = (state * 1103515245 + 12345) % 2**32
                tri = abs((5 * x + 2 * y + 37 * c + x * y // 16) % 510 - 255)
                values.append({"lcg": state >> 16 & 255, "tri": tri, "dim": 60 + tri // 4}[kind])
    return Image.frombytes("RGB", (width, height), bytes(values))


def fnv1a(data):
    """FNV-1a of 64 bits."""
    state = 0xcbf29ce484222325
    for byte in data:
        state = (state ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return state
