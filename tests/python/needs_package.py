"""Imported first by tests of the Python package: where that cannot be had, the test says why and is skipped."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))

try:
    import numpy
except ModuleNotFoundError:
    print("skipped: this Python has no numpy, which the package gives its arrays by")
    sys.exit(77)

try:
    import winnow

    winnow.Cache  # noqa: B018 - loads the library
except ModuleNotFoundError as lacking:
    print(f"skipped: there is no Python package here ({lacking}); build it by -DWINNOW_PYTHON=ON, with Python's headers and nanobind")
    sys.exit(77)
