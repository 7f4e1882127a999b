"""winnow in Python: ingest images into caches, find their duplicates, and load batches in the order of ``winnow train``.

Importing the package loads nothing: the first name that is used loads the library. Neither loads MPI or CUDA.
An array that is "without a copy" points into the memory of the object it came from, and keeps that memory alive.
"""

from __future__ import annotations

import importlib

from .errors import DataError, Error, RefusedError, StoppedError, SystemFault, UsageError

TYPE_CHECKING = False  # type checkers know this name; importing typing would take half of the import time
if TYPE_CHECKING:
    from typing import Any

    from . import torch
    from ._core import Fingerprints, Ingested, LedgerRow, Record, Verified
    from .batch import Batch
    from .cache import Cache
    from .dataset import Dataset
    from .decisions import Deduplicated, Folds, Index, IndexAnswer, IndexInfo, Split, Tuned, split, tune
    from .items import Item
    from .loader import Evaluation, Loader
    from .predictions import Predictions, predict
    from .program import Finished, run
    from .runs import Report, Run, report
    from .selection import Selection
    from .torch import torchvision_transform
    from .verbs import dedup, hash, ingest, verify  # noqa: A004
    from .weights import load_weights, save_weights

__version__ = "0.1.0"

__all__ = [
    "Batch", "Cache", "DataError", "Dataset", "Deduplicated", "Error", "Evaluation", "Fingerprints", "Finished", "Folds", "Index",
    "IndexAnswer", "IndexInfo", "Ingested", "Item", "LedgerRow", "Loader", "Predictions", "Record", "RefusedError", "Report", "Run", "Selection",
    "Split", "StoppedError", "SystemFault", "Tuned", "UsageError", "Verified", "dedup", "hash", "ingest", "load_weights", "predict", "report",
    "run", "save_weights", "split", "torchvision_transform", "tune", "verify",
]  # fmt: skip

_HOMES = {
    "Batch": "batch", "Cache": "cache", "Dataset": "dataset", "Deduplicated": "decisions", "Evaluation": "loader",
    "Fingerprints": "_core", "Finished": "program", "Folds": "decisions", "Index": "decisions", "IndexAnswer": "decisions",
    "IndexInfo": "decisions", "Ingested": "_core", "Item": "items", "LedgerRow": "_core", "Loader": "loader",
    "Predictions": "predictions", "Record": "_core", "Report": "runs", "Run": "runs", "Selection": "selection", "Split": "decisions",
    "Tuned": "decisions", "Verified": "_core", "dedup": "verbs", "hash": "verbs", "ingest": "verbs",
    "load_weights": "weights", "predict": "predictions", "report": "runs", "run": "program", "save_weights": "weights", "split": "decisions",
    "torchvision_transform": "torch", "tune": "decisions", "verify": "verbs",
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
