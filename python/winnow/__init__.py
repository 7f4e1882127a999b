"""winnow in Python: images into caches, their duplicates, and batches of them in the order of ``winnow train``.

Importing this loads nothing: the library comes with the first name that is used, and neither MPI nor CUDA with it.
Where an array is said to be without a copy, it looks at memory of what it came from, which lives as long as it does.
"""

from __future__ import annotations

import importlib

from .errors import DataError, Error, RefusedError, StoppedError, SystemFault, UsageError

TYPE_CHECKING = False  # as type checkers know it, without half the time of this import for typing
if TYPE_CHECKING:
    from typing import Any

    from . import torch
    from ._core import Deduplicated, Fingerprints, Ingested, LedgerRow, Record, Verified
    from .batch import Batch
    from .cache import Cache
    from .dataset import Dataset
    from .items import Item
    from .loader import Evaluation, Loader
    from .program import Finished, run
    from .selection import Selection
    from .torch import torchvision_transform
    from .verbs import dedup, hash, ingest, verify  # noqa: A004
    from .weights import load_weights, save_weights

__version__ = "0.1.0"

__all__ = [
    "Batch", "Cache", "DataError", "Dataset", "Deduplicated", "Error", "Evaluation", "Fingerprints", "Finished", "Ingested", "Item", "LedgerRow", "Loader", "Record",
    "RefusedError", "Selection", "StoppedError", "SystemFault", "UsageError", "Verified", "dedup", "hash", "ingest", "load_weights", "run",
    "save_weights", "torchvision_transform", "verify",
]  # fmt: skip

_HOMES = {
    "Batch": "batch", "Cache": "cache", "Dataset": "dataset", "Deduplicated": "_core", "Evaluation": "loader", "Fingerprints": "_core", "Finished": "program", "Ingested": "_core", "Item": "items",
    "LedgerRow": "_core", "Loader": "loader", "Record": "_core", "Selection": "selection", "Verified": "_core",
    "dedup": "verbs", "hash": "verbs", "ingest": "verbs", "load_weights": "weights", "run": "program", "save_weights": "weights",
    "torchvision_transform": "torch", "verify": "verbs",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "torch":
        return importlib.import_module(".torch", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
