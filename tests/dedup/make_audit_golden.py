#!/usr/bin/env python3
"""Prints the table of audit_golden.h: what cleanvision measures of formula images. Needs cleanvision and Pillow.

    tests/dedup/make_audit_golden.py > tests/dedup/audit_golden.h
"""

from importlib import metadata

import numpy as np
from cleanvision.issue_managers import image_property
from PIL import Image


def formula(kind, width, height):
    pixels = np.zeros((height, width, 3), np.uint8)
    state = 1
    for y in range(height):
        for x in range(width):
            for c in range(3):
                if kind == "ramp":
                    value = (7 * x + 3 * y + 11 * c) & 255
                elif kind == "lcg":
                    state = (state * 1103515245 + 12345) & 0xFFFFFFFF
                    value = state >> 16 & 255
                elif kind == "blob":
                    dx, dy = x - width // 3, y - height // 2
                    value = 255 - min(255, (dx * dx + dy * dy) * (c + 1) * 255 // (width * height))
                else:
                    value = abs((5 * x + 2 * y + 37 * c + x * y // 16) % 510 - 255)
                pixels[y, x, c] = value
    return Image.fromarray(pixels)


def main():
    print("#pragma once\n\n#include <string_view>\n\nnamespace winnow::test {\n")
    print(f"// What cleanvision {metadata.version('cleanvision')} measures of formula images with Pillow {metadata.version('pillow')}: made by")
    print("// make_audit_golden.py.")
    print("struct AuditGolden {\n  std::string_view kind;\n  int width;\n  int height;\n  bool gray;\n  float brightness_99;\n"
          "  float brightness_5;\n  float entropy;\n  float edges;\n  float histogram;\n};\n")
    print("inline constexpr AuditGolden kAuditGolden[] = {")
    for kind in ("ramp", "lcg", "blob", "tri"):
        for width, height in ((20, 20), (64, 48), (7, 2), (130, 97), (300, 40)):
            for gray in (False, True):
                image = formula(kind, width, height)
                if gray:
                    image = image.convert("L")
                bright = image_property.BrightnessProperty("dark").calculate(image)
                blur = image_property.BlurrinessProperty().calculate(image)
                values = (bright["brightness_perc_99"], bright["brightness_perc_5"], image_property.calc_entropy(image),
                          blur["blurriness"], blur["blurriness_grayscale_std"])
                print(f'    {{"{kind}", {width}, {height}, {str(gray).lower()}, ' + ", ".join(f"{v:.6f}F" for v in values) + "},")
    print("};\n\n}  // namespace winnow::test")


main()
