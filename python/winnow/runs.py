"""Runs of ``winnow train`` as objects: settings, metrics and last evaluation, read from a run's files (see docs/schemas)."""

from __future__ import annotations

import json
import os
import re
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from . import _core
from .cache import Cache, Where, path_of
from .errors import DataError, Error, UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MOST = 1e100  # larger figures are treated as damage; sums of them could overflow
_REPEATED = ("test.top1", "test.map", "test.loss", "test_ema.top1", "val.top1", "val.map", "val.loss", "val_ema.top1", "train.loss")


@dataclass(frozen=True)
class Mistake:
    id: int
    """Id of the sample."""
    label: int
    prediction: int
    loss: float
    name: str | None = None
    """Name in its source; None: the cache no longer exists."""


@dataclass(frozen=True)
class LastEvaluation:
    """The confusion and the worst mistakes of a run's last evaluation."""

    step: int
    """Steps done by then."""
    epoch: float
    split: str
    """"val" or "test"."""
    cache: str
    """Folder of the cache at that time."""
    cache_digest: str
    classes: list[str]
    confusion: NDArray[np.int64] = field(repr=False, compare=False)
    """(classes, classes) numbers of samples; rows: label, columns: prediction."""
    worst: list[Mistake] = field(repr=False)
    """Wrong predictions, largest loss first, at most 60."""


@dataclass(frozen=True)
class Best:
    value: float
    step: int
    """Steps done by then."""
    epoch: float


@dataclass(frozen=True)
class Run:
    """A training run, as its folder describes it now. It may still be going on."""

    path: str
    name: str
    """Name of the run's folder; the whole path if another run's folder has the same name."""
    settings: dict[str, Any] = field(repr=False)
    """Settings of config.json, keyed by their paths in it, such as "recipe.seed"."""
    metrics: list[dict[str, float | str]] = field(repr=False)
    """Lines of metrics.jsonl: each has "step", "epoch" and "wall" (seconds), and figures such as "train.loss"."""
    evaluation: LastEvaluation | None = None

    def curve(self, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(n,) epochs and (n,) values of a metric such as "val.top1"; empty if the run has none."""
        import numpy

        rows = [(row["epoch"], row[name]) for row in self.metrics if isinstance(row.get(name), (int, float))]
        points = numpy.array(rows, numpy.float64).reshape(-1, 2)
        return points[:, 0], points[:, 1]

    def last(self, name: str) -> float | None:
        """The last value of a metric; None: the run has none."""
        for row in reversed(self.metrics):
            if isinstance(value := row.get(name), (int, float)):
                return value
        return None

    def best(self, name: str = "val.top1") -> Best | None:
        """The best value of an evaluation metric: the smallest loss, or the largest of any other; the first of equals. None:
        there is none."""
        found: Best | None = None
        for row in self.metrics:
            value = row.get(name)
            if not isinstance(value, (int, float)):
                continue
            if found is None or (value < found.value if name.endswith(".loss") else value > found.value):
                found = Best(value, int(row["step"]), float(row["epoch"]))
        return found


@dataclass(frozen=True)
class Repetition:
    """Runs that differ only in the seed, or in the fold at the end of their selection's name."""

    runs: list[str]
    """Names of the runs."""
    mean: dict[str, float]
    """Mean over the runs of the last value of each figure that all runs have, such as "val.top1"."""
    deviation: dict[str, float]
    """Standard deviation over the runs (n - 1)."""


@dataclass(frozen=True)
class Report:
    """Settings and metrics of training runs, side by side."""

    runs: list[Run]
    page: str | None = None
    """Path of the HTML page, if one was requested."""

    def differing(self) -> dict[str, list[Any]]:
        """Each setting that differs between runs, with its value in each run; None: the run lacks it."""
        names = sorted({name for run in self.runs for name in run.settings})
        rows = {name: [run.settings.get(name) for run in self.runs] for name in names}
        return {name: values for name, values in rows.items() if any(value != values[0] for value in values)}

    def figures(self) -> dict[str, list[float | None]]:
        """Each metric that any run has, with its last value in each run; None: the run lacks it."""
        names = sorted({name for run in self.runs for row in run.metrics for name, value in row.items() if not isinstance(value, str)})
        return {name: [run.last(name) for run in self.runs] for name in names}

    def repetitions(self) -> list[Repetition]:
        """Mean and deviation over the runs of each recipe that ran with several folds or seeds."""
        alike: dict[str, list[Run]] = {}
        for run in self.runs:
            alike.setdefault(json.dumps(_but_fold_and_seed(run.settings), sort_keys=True), []).append(run)
        found = []
        for same in alike.values():
            if all(run.settings == same[0].settings for run in same):
                continue
            last = {name: [run.last(name) for run in same] for name in _REPEATED}
            whole = {name: [value for value in values if value is not None] for name, values in last.items() if None not in values}
            found.append(Repetition([run.name for run in same], {name: statistics.fmean(values) for name, values in whole.items()},
                                    {name: statistics.stdev(values) for name, values in whole.items()}))  # fmt: skip
        return found


def report(*runs: str | os.PathLike[str], out: str | os.PathLike[str] | None = None, cache: Where | None = None) -> Report:
    """The content of ``winnow report`` as an object: runs of ``winnow train``, one or several side by side.

    out: also write the report as an HTML page to this path.
    cache: cache with the names (and, for the page, the pictures) of mistakes; None: the place where it was at evaluation.

    UsageError if a folder holds no run, DataError if files are damaged.
    """
    if not runs:
        raise UsageError("there is no run to report on; give at least one folder made by winnow train")
    paths = [os.fspath(run) for run in runs]
    read = [_read_run(path) for path in paths]
    names = [run.name for run in read]
    named = [replace(run, name=run.path) if names.count(run.name) > 1 else run for run in read]
    found = [_with_names(run, cache) for run in named]
    if out is None:
        return Report(found)
    page = os.fspath(out)
    _core.report(paths, page, "" if cache is None else path_of(cache))
    return Report(found, page)


def _read_run(path: str) -> Run:
    config = os.path.join(path, "config.json")
    if not os.path.exists(config):
        raise UsageError(f"{path} contains no run; make one with winnow train")
    settings = _facts(_json_of(config))
    settings.pop("digest", None)  # it differs whenever any setting does
    evaluation = os.path.join(path, "evaluation.json")
    return Run(path, os.path.basename(os.path.abspath(path)), settings, _rows(os.path.join(path, "metrics.jsonl")),
               _evaluation(evaluation) if os.path.exists(evaluation) else None)  # fmt: skip


def _json_of(path: str) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file, parse_constant=_refuse)
    except ValueError as error:
        raise DataError(f"{path} is damaged: {error}; restore it, or train again") from None


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")


def _facts(value: Any, name: str = "") -> dict[str, Any]:
    """The leaf values of nested settings, keyed by their paths."""
    inner: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, (dict, list)):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
    facts: dict[str, Any] = {}
    for step, one in inner:
        facts |= _facts(one, f"{name}.{step}" if name else str(step))
    return facts or {name: value}


def _rows(path: str) -> list[dict[str, float | str]]:
    """All complete, valid lines. Skips a line that a full disk or a killed run cut short, as the page does."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except FileNotFoundError:
        return []
    rows: list[dict[str, float | str]] = []
    for line in text[: text.rfind("\n") + 1].splitlines():
        try:
            row = json.loads(line, parse_constant=_refuse)
        except ValueError:
            continue
        if isinstance(row, dict) and isinstance(row.get("step"), int):
            rows.append({"epoch": 0.0, "wall": 0.0, **{name: value for name, value in row.items() if _is_sound(value)}})
    return rows


def _is_sound(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= _MOST)


def _evaluation(path: str) -> LastEvaluation:
    import numpy

    stored = _json_of(path)
    try:
        classes = [str(name) for name in stored["classes"]]
        confusion = numpy.zeros((len(classes), len(classes)), numpy.int64)
        for label, prediction, samples in stored["confusion"]:
            if min(label, prediction) < 0:
                raise IndexError(f"there is no class {min(label, prediction)}")
            confusion[label, prediction] = samples
        worst = [Mistake(row["id"], row["label"], row["prediction"], row["loss"]) for row in stored["worst"]]
        about = {name: stored[name] for name in ("step", "epoch", "split", "cache", "cache_digest")}
        return LastEvaluation(**about, classes=classes, confusion=confusion, worst=worst)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise DataError(f"{path} is damaged: {error}; restore it, or evaluate again") from None


def _with_names(run: Run, cache: Where | None) -> Run:
    """The same run with names for its mistakes, if the cache they were made on is available."""
    evaluation = run.evaluation
    if evaluation is None or not evaluation.worst:
        return run
    try:
        opened = cache if isinstance(cache, Cache) else Cache(evaluation.cache if cache is None else cache)
    except Error:
        if cache is None:  # the data may be gone while the run remains
            return run
        raise
    if opened.digest != evaluation.cache_digest:
        if cache is None:
            return run
        raise UsageError(f"{opened.path} is not the cache that {run.name} was evaluated on; name that cache with cache=")
    names = opened.names([mistake.id for mistake in evaluation.worst])
    worst = [replace(mistake, name=name) for mistake, name in zip(evaluation.worst, names, strict=True)]
    return replace(run, evaluation=replace(evaluation, worst=worst))


def _but_fold_and_seed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings shared by runs of one recipe over folds and seeds."""
    common = {name: value for name, value in settings.items() if name != "recipe.seed"}
    folds = re.fullmatch(r"(.+)-\d+", str(common.get("data.selection", "")), re.DOTALL)
    if folds:
        common["data.selection"] = folds[1]
        common.pop("data.selection_digest", None)
    return common
