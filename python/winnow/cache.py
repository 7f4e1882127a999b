"""A cache, as an ingest made it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, overload

from . import _core
from .batch import Batch
from .errors import UsageError
from .selection import RULES, Selection

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from .show import Shown

SPLITS: tuple[str, ...] = ("none", "train", "val", "test")
"""Split names, indexed by the numbers in columns of splits."""


def sides(image_size: int | tuple[int, int] | None) -> tuple[int, int]:
    """(height, width) in pixels; (0, 0): keep the size of the images."""
    if image_size is None:
        return 0, 0
    height_px, width_px = (image_size, image_size) if isinstance(image_size, int) else image_size
    if height_px < 1 or width_px < 1:
        raise UsageError(f"image_size must be a side in pixels, or (height, width), not {image_size!r}")
    return height_px, width_px


def _ids_of(ids: ArrayLike) -> NDArray[np.uint64]:
    """(n,) u64. UsageError for anything else: a conversion would turn it into ids of other samples."""
    import numpy

    given = numpy.asarray(ids)
    if given.ndim != 1 or (given.size and not numpy.issubdtype(given.dtype, numpy.integer)):
        raise UsageError(f"ids must be whole numbers in one dimension, not {given.dtype} of {given.ndim} dimensions")
    if given.size and given.min() < 0:
        raise UsageError(f"ids must be 0 or more, not {given.min()}")
    return numpy.ascontiguousarray(given, numpy.uint64)


class Cache:
    """A finished cache, opened for reading. Thread-safe; pickles as its path; a forked child opens it anew.

    Its samples are the readable inputs, in the order of their ids: ``cache[0]`` is the first, ``cache[:10]`` the first ten, and
    ``cache.record(id)`` the sample with that id. UsageError if there is no cache, DataError if it is damaged.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._open = _core.OpenCache(os.fspath(path))

    def __reduce__(self) -> tuple[type[Cache], tuple[str]]:
        return Cache, (os.path.abspath(self.path),)

    def __repr__(self) -> str:
        return f"<winnow.Cache {self.path!r}: {len(self)} samples>"

    @property
    def path(self) -> str:
        return os.fspath(self._open.path)

    @property
    def digest(self) -> str:
        """Digest of the manifest: equal caches have equal digests."""
        return self._open.digest

    @property
    def class_names(self) -> list[str]:
        """Class names, indexed by label; empty if there are no labels."""
        return self._open.class_names

    @property
    def inputs(self) -> dict[str, int]:
        """Number of inputs that were "ok", "corrupt", "truncated" and so on; the numbers add up to all inputs."""
        return self._open.inputs

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """(height, width, channels) of all images as stored; height or width is 0 if it differs between images."""
        return self._open.image_shape

    @property
    def has_images(self) -> bool:
        """Whether the pictures are stored; a cache of ``store="none"`` has only fingerprints."""
        return self._open.store != "none"

    @property
    def mean(self) -> list[float]:
        """Mean of each channel of the training images, on the scale [0, 1]."""
        return self._open.mean[: self.image_shape[2]]

    @property
    def deviation(self) -> list[float]:
        """Standard deviation of each channel of the training images, on the scale [0, 1]."""
        return self._open.deviation[: self.image_shape[2]]

    @property
    def ids(self) -> NDArray[np.uint64]:
        """Ids of all samples, ascending, without a copy."""
        return self._open.ids

    @property
    def splits(self) -> NDArray[np.uint8]:
        """Splits of all samples as indices of :data:`SPLITS`, without a copy."""
        return self._open.splits

    def __len__(self) -> int:
        return len(self._open.ids)

    @overload
    def __getitem__(self, at: int) -> _core.Record: ...
    @overload
    def __getitem__(self, at: slice) -> list[_core.Record]: ...
    def __getitem__(self, at: int | slice) -> _core.Record | list[_core.Record]:
        ids = self._open.ids
        if isinstance(at, slice):
            return [self.record(int(id)) for id in ids[at]]
        return self.record(int(ids[at]))

    def __iter__(self) -> Iterator[_core.Record]:
        for id in self._open.ids:
            yield self.record(int(id))

    def record(self, id: int, variant: int = 0) -> _core.Record:
        """The sample with this id: labels, group, size, payload, and its pixels by ``.image()``. ``variant``: number of one of the
        variants that ``ingest --augment`` stores."""
        return self._open.record(id, variant)

    def image(self, id: int, variant: int = 0) -> NDArray[np.uint8]:
        """(height, width, channels) u8 levels, decoded with the cache's settings."""
        return self._open.record(id, variant).image()

    def load(
        self,
        ids: ArrayLike,
        *,
        augment: str = "none",
        image_size: int | tuple[int, int] | None = None,
        seed: int = 1,
        epoch: int = 0,
        threads: int = 0,
    ) -> Batch:
        """A batch of these samples in this order, decoded and augmented by several threads. It belongs to no stream of batches."""
        height_px, width_px = sides(image_size)
        return Batch(self._open.load(_ids_of(ids), augment, height_px, width_px, seed, epoch, threads), 0)

    def samples(self, split: str = "train", selection: str = "") -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
        """Ids and weights of the samples of a split that a selection keeps, in the order of ids."""
        return self._open.samples(split, selection)

    def fingerprints(self, columns: Iterable[str] | None = None) -> _core.Fingerprints:
        """The table that deduplication works on, as numpy columns without a copy.

        columns: read only these, of "labels", "groups", "widths_px", "heights_px", "file_bytes", "file_hashes", "pixel_hashes",
            "sharpness", "quality" and "codes:phash"; the others stay empty. Ids and splits are always read. None: read all.
        """
        return self._open.fingerprints(None if columns is None else set(columns))

    def ledger(self, remarks_only: bool = False) -> list[_core.LedgerRow]:
        """The outcome of the ingest for every input, in the order of ids; or only for inputs that are not simply ok."""
        return self._open.ledger(remarks_only)

    def names(self, ids: ArrayLike) -> list[str]:
        """The names of these inputs in their sources."""
        return self._open.names(_ids_of(ids))

    def selections(self) -> list[str]:
        """Names of the selections of this cache."""
        return self._open.selections()

    def selection(self, name: str = "default") -> Selection:
        """The selection of that name. UsageError if there is none, or if it belongs to another cache."""
        raw = self._open.selection(name)
        return Selection(raw, raw)

    def select(self, name: str, weights: ArrayLike | None = None) -> Selection:
        """A new selection, not yet written. It keeps every sample, or has the given weights: one number per sample, in the
        order of ids; 0 or False leaves the sample out."""
        everything = Selection(self._open.keep_all(name))
        return everything if weights is None else everything.with_weights(weights)

    def write(self, selection: Selection) -> str | None:
        """Writes a selection into the cache, durably; training and export can then use it. An existing selection of that name
        is kept as NAME.previous, and that name is returned. If the selection comes from one whose groups are in the cache,
        its groups are kept as they were found: see :meth:`groups`.
        """
        return self._open.write_selection(selection.raw, selection.grouped)

    def groups(self, selection: str | Selection = "default", frame: bool | None = None) -> Any:
        """The groups of duplicates of a selection, one row per member: group, id, name, split, used_in, weight, kept_id,
        distance, rule, probability, transformation. A DataFrame if pandas is installed, else a list of dicts; ``frame``
        chooses explicitly.

        Groups and their numbers are the same in ``winnow review``, in the page of ``--report`` and in ``--list-groups``.
        probability is how probable it is that the member and the sample kept for it show one picture; transformation is how one
        was made from the other. Both are None where pictures were not decisive. A selection made by ``with_weights`` or
        ``named``, or by combining one selection that has groups with others that have none, has the groups of its origin. A
        combination of two selections with groups has their connected components as groups; so has a selection whose groups were
        not stored. A warning says so.
        """
        chosen = self.selection(selection) if isinstance(selection, str) else selection
        if chosen.raw.cache_digest != self.digest:
            raise UsageError(f"selection {chosen.name!r} was made for another cache than {self.path}")
        members, groups, probabilities, transformations, why = self._open.groups(chosen.raw, chosen.grouped)
        if why:
            warnings.warn(f"the groups of selection {chosen.name!r} are its connected components, {why}", stacklevel=2)
        own = self.splits[members]
        used = chosen.splits[members] if len(chosen.splits) else own
        columns = {
            "group": groups, "id": chosen.ids[members], "name": self.names(chosen.ids[members]),
            "split": [SPLITS[split] for split in own], "used_in": [SPLITS[split] for split in used],
            "weight": chosen.weights[members], "kept_id": chosen.kept[members], "distance": chosen.distances[members],
            "rule": [RULES[rule] for rule in chosen.rules[members]],
            "probability": [round(float(one), 4) if one > 0 else None for one in probabilities],
            "transformation": [one or None for one in transformations],
        }  # fmt: skip
        return _table(columns, frame)

    def show(self, groups: Any = "default", limit: int = 100, picture_px: int = 96) -> Shown:
        """Groups of duplicates for a notebook, as an object that displays itself: pictures, names, distances in bits, and what
        is kept.

        groups: rows of :meth:`groups`, all or some of them; or a selection or its name. At most ``limit`` groups are shown, and
            ``picture_px`` is the longer side of their pictures. ``.save(path)`` writes an HTML page.
        """
        from .show import Shown

        if isinstance(groups, (str, Selection)):
            groups = self.groups(groups, frame=False)
        elif hasattr(groups, "to_dict"):
            groups = groups.to_dict("records")
        return Shown(self, groups, limit, picture_px)

    def pairs(self, hash: str = "phash", threshold: int = 4, scope: str = "all", frame: bool | None = None) -> Any:
        """Every pair of samples whose codes differ by at most ``threshold`` bits, or whose files or pixels are equal (distance
        0), as id, other_id, distance; a DataFrame or a list as for :meth:`groups`.

        scope: "all", "within" splits or "across" them.
        hash: "exact" finds equal files and pixels only.
        """
        first, second, distances = self._open.pairs(hash, threshold, scope)
        return _table({"id": first, "other_id": second, "distance": distances}, frame)


Where = Cache | str | os.PathLike[str]


def path_of(cache: Where) -> str:
    return cache.path if isinstance(cache, Cache) else os.fspath(cache)


def _table(columns: dict[str, Any], frame: bool | None) -> Any:
    if frame is not False:
        try:
            import pandas
        except ModuleNotFoundError:
            if frame:
                raise
        else:
            return pandas.DataFrame(columns)
    plain = [column.tolist() if hasattr(column, "tolist") else column for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*plain, strict=True)]
