"""Imported first by tests of the Python package: if it is not available, the test says why and is skipped."""

import importlib.metadata
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


def torchrun(ranks):
    """The arguments after the name of a Python that start this many ranks."""
    words = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(ranks)]
    if sys.version_info >= (3, 11) and importlib.metadata.version("torch").startswith("1."):
        words += ["--redirects", "1", "--tee", "1"]  # with its default of none, torch 1.13 (Debian 12) starts nothing there
    return words
