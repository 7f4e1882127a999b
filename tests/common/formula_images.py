"""The pictures of formula_images.h, for scripts that make golden values."""


def formula_image(kind, width, height):
    """Bytes of RGB pixels, row by row."""
    state = 1
    values = bytearray()
    for y in range(height):
        for x in range(width):
            for c in range(3):
                if kind == "ramp":
                    value = (7 * x + 3 * y + 11 * c) & 255
                elif kind == "lcg":
                    state = (state * 1103515245 + 12345) % 2**32
                    value = state >> 16 & 255
                elif kind == "blob":
                    far = (x - width // 3) ** 2 + (y - height // 2) ** 2
                    value = 255 - min(255, far * (c + 1) * 255 // (width * height))
                else:
                    value = abs((5 * x + 2 * y + 37 * c + x * y // 16) % 510 - 255)
                values.append(value)
    return bytes(values)
