"""Tensors as golden_tensors.h reads them, for scripts that print vectors."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from vectors import print_vectors  # noqa: E402, F401


def given(tensor):
    """A tensor as JSON. Numbers are in memory order: NHWC if there are four extents."""
    return tensor_of(tensor, tensor.permute(0, 2, 3, 1) if tensor.ndim == 4 else tensor)


def given_filter(tensor):
    """A filter as JSON, which stays in logical order."""
    return tensor_of(tensor, tensor)


def tensor_of(tensor, ordered):
    return {"shape": list(tensor.shape), "numbers": ordered.flatten().tolist()}
