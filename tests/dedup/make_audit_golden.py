#!/usr/bin/env python3
"""Prints the table of audit_golden.h: what cleanvision measures of formula images. Needs cleanvision and Pillow.

    tests/dedup/make_audit_golden.py > tests/dedup/audit_golden.h
"""

import pathlib
import sys
from importlib import metadata

from cleanvision.issue_managers import image_property
from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from formula_images import formula_image  # noqa: E402


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
                image = Image.frombytes("RGB", (width, height), formula_image(kind, width, height))
                if gray:
                    image = image.convert("L")
                bright = image_property.BrightnessProperty("dark").calculate(image)
                blur = image_property.BlurrinessProperty().calculate(image)
                values = (bright["brightness_perc_99"], bright["brightness_perc_5"], image_property.calc_entropy(image),
                          blur["blurriness"], blur["blurriness_grayscale_std"])
                print(f'    {{"{kind}", {width}, {height}, {str(gray).lower()}, ' + ", ".join(f"{v:.6f}F" for v in values) + "},")
    print("};\n\n}  // namespace winnow::test")


main()
