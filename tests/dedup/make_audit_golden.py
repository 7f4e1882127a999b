#!/usr/bin/env python3
"""Prints audit.json: cleanvision's measures of formula images. Needs cleanvision and Pillow.

    tests/dedup/make_audit_golden.py > tests/data/vectors/dedup/audit.json
"""

import pathlib
import sys
from importlib import metadata

from cleanvision.issue_managers import image_property
from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from formula_images import formula_image  # noqa: E402
from vectors import print_vectors  # noqa: E402


def main():
    rows = []
    for kind in ("ramp", "lcg", "blob", "tri"):
        for width, height in ((20, 20), (64, 48), (7, 2), (130, 97), (300, 40)):
            for gray in (False, True):
                image = Image.frombytes("RGB", (width, height), formula_image(kind, width, height))
                if gray:
                    image = image.convert("L")
                bright = image_property.BrightnessProperty("dark").calculate(image)
                blur = image_property.BlurrinessProperty().calculate(image)
                values = {"brightness_99": bright["brightness_perc_99"], "brightness_5": bright["brightness_perc_5"],
                          "entropy": image_property.calc_entropy(image), "edges": blur["blurriness"],
                          "histogram": blur["blurriness_grayscale_std"]}
                rows.append({"picture": kind, "width": width, "height": height, "gray": gray}
                            | {name: float(f"{value:.6f}") for name, value in values.items()})
    print_vectors(f"What cleanvision {metadata.version('cleanvision')} measures of formula images with Pillow "
                  f"{metadata.version('pillow')}.", measures=rows)


main()
