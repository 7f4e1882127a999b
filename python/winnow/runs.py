"""Runs of ``winnow train`` as objects: their settings, figures and last evaluation, from the files of a run, by docs/schemas."""

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

_MOST = 1e100  # no run has larger figures, and sums of them would be none
_REPEATED = ("test.top1", "test.map", "test.loss", "test_ema.top1", "val.top1", "val.map", "val.loss", "val_ema.top1", "train.loss")


@dataclass(frozen=True)
class Mistake:
    id: int
    """Of the sample."""
    label: int
    prediction: int
    loss: float
    name: str | None = None
    """What its source calls it; None: the cache is not there any more."""


@dataclass(frozen=True)
class LastEvaluation:
    """What a run's last evaluation took for what."""

    step: int
    """Steps done."""
    epoch: float
    split: str
    """"val" or "test"."""
    cache: str
    """Its folder, as it was."""
    cache_digest: str
    classes: list[str]
    confusion: NDArray[np.int64] = field(repr=False, compare=False)
    """(classes, classes) samples, by label, then by prediction."""
    worst: list[Mistake] = field(repr=False)
    """Wrong predictions by falling loss, 60 at most."""


@dataclass(frozen=True)
class Best:
    value: float
    step: int
    """Steps done."""
    epoch: float


@dataclass(frozen=True)
class Run:
    """A run as it is in its folder. It may still go on."""

    path: str
    name: str
    """Its folder's; its path, where another run's folder is called the same."""
    settings: dict[str, Any] = field(repr=False)
    """Of config.json, by their paths in it: "recipe.seed"."""
    metrics: list[dict[str, float | str]] = field(repr=False)
    """Lines of metrics.jsonl: each has "step", "epoch" and "wall" (seconds), and figures such as "train.loss"."""
    evaluation: LastEvaluation | None = None

    def curve(self, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(n,) epochs and (n,) values of a figure, "val.top1"; empty where it has none."""
        import numpy

        rows = [(row["epoch"], row[name]) for row in self.metrics if isinstance(row.get(name), (int, float))]
        points = numpy.array(rows, numpy.float64).reshape(-1, 2)
        return points[:, 0], points[:, 1]

    def last(self, name: str) -> float | None:
        """The last value of a figure; None: there is none."""
        for row in reversed(self.metrics):
            if isinstance(value := row.get(name), (int, float)):
                return value
        return None

    def best(self, name: str = "val.top1") -> Best | None:
        """The best of a figure of evaluations, of equals the first: the least loss, the largest of others. None: there is none."""
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
    """Runs that differ by nothing but the seed, or the fold at the end of their selection's name."""

    runs: list[str]
    """Names."""
    mean: dict[str, float]
    """Of the last of each figure that all have, "val.top1"."""
    deviation: dict[str, float]
    """From run to run (n - 1)."""


@dataclass(frozen=True)
class Report:
    """Runs side by side."""

    runs: list[Run]
    page: str | None = None
    """Of HTML, where one was asked for."""

    def differing(self) -> dict[str, list[Any]]:
        """Of each setting that is not the same in all runs, its value in each; None: it has none."""
        names = sorted({name for run in self.runs for name in run.settings})
        rows = {name: [run.settings.get(name) for run in self.runs] for name in names}
        return {name: values for name, values in rows.items() if any(value != values[0] for value in values)}

    def figures(self) -> dict[str, list[float | None]]:
        """Of each figure that a run has, the last in each run; None: it has none."""
        names = sorted({name for run in self.runs for row in run.metrics for name, value in row.items() if not isinstance(value, str)})
        return {name: [run.last(name) for run in self.runs] for name in names}

    def repetitions(self) -> list[Repetition]:
        """Over folds and seeds: mean and deviation of runs of one recipe."""
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
    """What ``winnow report`` shows of runs of ``winnow train``, one or several side by side, as an object.

    out: write its page there, too, an HTML file.
    cache: that has the names, and for the page the pictures, of mistakes; None: where it was when a run was evaluated.

    UsageError for a folder that holds no run, DataError for files that are damaged.
    """
    if not runs:
        raise UsageError("there is no run to report on; give the folder of one at least, made by winnow train")
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
        raise UsageError(f"{path} holds no run; make one by winnow train")
    settings = _facts(_json_of(config))
    settings.pop("digest", None)  # says only that something differs
    evaluation = os.path.join(path, "evaluation.json")
    return Run(path, os.path.basename(os.path.abspath(path)), settings, _rows(os.path.join(path, "metrics.jsonl")),
               _evaluation(evaluation) if os.path.exists(evaluation) else None)  # fmt: skip


def _json_of(path: str) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file, parse_constant=_refuse)
    except ValueError as error:
        raise DataError(f"{path} is damaged: {error}; restore it, or train anew") from None


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _facts(value: Any, name: str = "") -> dict[str, Any]:
    """Values by their paths, as the page has them."""
    inner: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, (dict, list)):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
    facts: dict[str, Any] = {}
    for step, one in inner:
        facts |= _facts(one, f"{name}.{step}" if name else str(step))
    return facts or {name: value}


def _rows(path: str) -> list[dict[str, float | str]]:
    """Whole lines that are sound; what a full disk or a killed run cut short is passed over, as the page does."""
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
    """The same, its mistakes with their names, where the cache that they were made on is there."""
    evaluation = run.evaluation
    if evaluation is None or not evaluation.worst:
        return run
    try:
        opened = cache if isinstance(cache, Cache) else Cache(evaluation.cache if cache is None else cache)
    except Error:
        if cache is None:  # a run may outlive its data
            return run
        raise
    if opened.digest != evaluation.cache_digest:
        if cache is None:
            return run
        raise UsageError(f"{opened.path} is not the cache that {run.name} was evaluated on; name that by cache")
    names = opened.names([mistake.id for mistake in evaluation.worst])
    worst = [replace(mistake, name=name) for mistake, name in zip(evaluation.worst, names, strict=True)]
    return replace(run, evaluation=replace(evaluation, worst=worst))


def _but_fold_and_seed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that runs of one recipe over folds and seeds have in common."""
    common = {name: value for name, value in settings.items() if name != "recipe.seed"}
    folds = re.fullmatch(r"(.+)-\d+", str(common.get("data.selection", "")), re.DOTALL)
    if folds:
        common["data.selection"] = folds[1]
        common.pop("data.selection_digest", None)
    return common
