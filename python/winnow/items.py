"""Data sets that are not files: ingests iterables of images."""

from __future__ import annotations

import collections
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import RefusedError, UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SECONDS_BETWEEN_REPORTS = 0.1
_SECONDS_BEFORE_RETRY = 0.05  # doubled each time
_FIELDS = {
    "image": ("image", "img"), "labels": ("labels", "label"), "group": ("group",), "name": ("name",), "split": ("split",),
}  # fmt: skip


@dataclass(frozen=True)
class Item:
    """An image of an iterable that :func:`winnow.ingest` takes."""

    image: Any
    """A file's bytes (also as a 1-d array), its path, levels (height, width[, 1 or 3]) u8, a picture of PIL or, of torch, a tensor
    (channels, height, width) u8. None: missing."""
    labels: Any = None
    """A number, a name, several of either, or None; -1 means none, too."""
    group: str | int | bytes = ""
    """Key of images that belong together."""
    name: str = ""
    """Name for people, such as a relative path; empty: the item's number."""
    split: str = ""
    """"train", "val" or "test"; empty: the split of the whole source."""


@dataclass(frozen=True)
class _Part:
    """The items of one object. Items without a split of their own get this one."""

    rows: Any
    split: str

    def is_sequence(self) -> bool:
        """Whether items can be read by index, so that those gathered already need not be made again."""
        if any(kind.__name__ == "IterableDataset" for kind in type(self.rows).__mro__):
            return False
        return hasattr(self.rows, "__len__") and hasattr(self.rows, "__getitem__")

    def length(self) -> int:
        """Number of items; 0: not known."""
        return len(self.rows) if hasattr(self.rows, "__len__") else 0

    def numbered(self, there: int, retries: int) -> Iterator[tuple[int, Any]]:
        """Rows with their numbers. If that many rows of a sequence are gathered already, gives only the first and the last of
        them, and all later ones. A row that raises is asked for again, up to the number of retries."""
        if there > 2 and self.is_sequence():
            yield 0, self.ask(0, retries)
            yield from ((at, self.ask(at, retries)) for at in range(min(there, len(self.rows)) - 1, len(self.rows)))
        elif hasattr(self.rows, "__iter__") and retries == 0:
            yield from enumerate(self.rows)
        else:
            yield from ((at, self.ask(at, retries)) for at in range(len(self.rows)))

    def ask(self, at: int, retries: int) -> Any:
        for attempt in range(retries):
            try:
                return self.rows[at]
            except Exception:  # noqa: BLE001 - any error may be temporary; the last one is raised
                time.sleep(_SECONDS_BEFORE_RETRY * 2**attempt)
        return self.rows[at]


def are_paths(source: Any) -> tuple[bool, Any]:
    """Whether a source names data sets; and the source, restored if items were taken from an iterator."""
    if isinstance(source, (str, os.PathLike)):
        return True, source
    if isinstance(source, Mapping) or hasattr(source, "__getitem__"):
        is_list = isinstance(source, (list, tuple))
        return is_list and all(isinstance(path, (str, os.PathLike)) for path in source), source
    rows = iter(source)
    for first in rows:
        return isinstance(first, (str, os.PathLike)), _put_back(first, rows)
    return True, ()


def _put_back(first: Any, rows: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rows


def ingest(
    source: Any,
    out: str,
    options: _core.IngestOptions,
    *,
    name: str,
    class_names: Sequence[str] | None,
    split: str,
    retries: int,
    progress: Callable[[int, int], object] | None,
) -> _core.Ingested:
    """Gathers the items in OUT.items, ingests them, and removes the folder. See :func:`winnow.ingest`."""
    if not name or "/" in name or name in (".", ".."):
        raise UsageError(f"a source's name must be one word without '/', not {name!r}")
    folder = os.path.normpath(out) + ".items"
    _check(out, options, folder)
    parts = _parts_of(source, split)
    if not parts:
        raise UsageError("there is no item to ingest; give at least one")
    if retries and not all(part.is_sequence() for part in parts):
        raise UsageError("retries need a sequence, because an iterator ends when it raises an error; give a sequence, or leave out "
                         "retries")  # fmt: skip
    names = _distinct(class_names if class_names is not None else _class_names_of(parts[0].rows))
    spool = _core.Spool(folder)
    _gather(parts, {class_name: at for at, class_name in enumerate(names)}, spool, folder, retries, progress)
    try:
        done = spool.ingest(name, names, out, options, progress)
    except UsageError:
        raise
    except BaseException as error:
        # Either nothing was readable and nothing is kept, or the ingest was complete before it could be stopped.
        if isinstance(error, RefusedError) or _is_finished(out):
            spool.remove()
        raise
    spool.remove()
    return done


def _check(out: str, options: _core.IngestOptions, folder: str) -> None:
    """Reports invalid options before anything is gathered."""
    try:
        _core.check_ingest(out, options)
    except UsageError:
        if os.path.exists(folder) and _is_finished(out):  # killed between the last two steps
            _core.Spool(folder).remove()
        raise


def _is_finished(out: str) -> bool:
    return os.path.exists(os.path.join(out, "manifest.json")) and not os.path.exists(os.path.join(out, "unfinished"))


def _parts_of(source: Any, split: str) -> list[_Part]:
    if isinstance(source, Mapping):
        return [_Part(_undecoded(rows), str(key)) for key, rows in source.items()]
    return [_Part(_undecoded(source), split)]


def _undecoded(rows: Any) -> Any:
    """A Hugging Face data set that gives the files themselves instead of decoding them."""
    features = getattr(rows, "features", None)
    if not isinstance(features, Mapping) or not hasattr(rows, "cast_column"):
        return rows
    for column, feature in features.items():
        if type(feature).__name__ == "Image" and getattr(feature, "decode", False):
            rows = rows.cast_column(column, type(feature)(decode=False))
    return rows


def _class_names_of(rows: Any) -> list[str]:
    """Class names from torchvision (classes) or Hugging Face (ClassLabel), else none."""
    classes = getattr(rows, "classes", None)
    if classes is None:
        features: Any = getattr(rows, "features", None)
        for column in _FIELDS["labels"] if isinstance(features, Mapping) else ():
            label = features.get(column)
            classes = classes or getattr(label, "names", None) or getattr(getattr(label, "feature", None), "names", None)
    if not isinstance(classes, (list, tuple)):
        return []
    return [", ".join(map(str, one)) if isinstance(one, (list, tuple)) else str(one) for one in classes]


def _distinct(names: Sequence[str]) -> list[str]:
    """Class names with a number behind each repeated one, since equal names would be one class."""
    names = [str(name) for name in names]
    uses = collections.Counter(names)
    return [f"{name} ({at})" if uses[name] > 1 else name for at, name in enumerate(names)]


def _gather(
    parts: list[_Part],
    classes: Mapping[str, int],
    spool: _core.Spool,
    folder: str,
    retries: int,
    progress: Callable[[int, int], object] | None,
) -> None:
    lengths = [part.length() for part in parts]
    there, begin, reported = len(spool), 0, 0.0
    for part in parts:
        end = begin
        for number, row in part.numbered(there - begin, retries):
            if not _put(spool, begin + number, row, part.split, classes):
                raise UsageError(f"item {begin + number} differs from the item that was stored before; give the same iterable to continue, or remove "
                                 f"{folder} to start again")  # fmt: skip
            end = begin + number + 1
            now = time.monotonic()
            if progress is not None and now - reported > _SECONDS_BETWEEN_REPORTS:
                progress(end, sum(lengths) if all(lengths) else 0)
                reported = now
        begin = end
    if begin < there:
        raise UsageError(f"the iterable ended after {begin} items, but {there} were stored before; give the same iterable "
                         f"to continue, or remove {folder} to start again")  # fmt: skip


def _put(spool: _core.Spool, position: int, row: Any, split: str, classes: Mapping[str, int]) -> bool:
    try:
        item = _item_of(row)
        return spool.put(position, _image_of(item.image), _labels_of(item.labels, classes),
                         (_group_of(item.group), os.fsencode(item.name), item.split or split))  # fmt: skip
    except UsageError as error:
        raise UsageError(f"item {position}: {error}") from error.__cause__


def _item_of(row: Any) -> Item:
    if isinstance(row, Item):
        return row
    if isinstance(row, Mapping):
        found: dict[str, Any] = {field: row[key] for field, keys in _FIELDS.items() for key in keys if row.get(key) is not None}
        if not any(key in row for key in _FIELDS["image"]):
            raise UsageError(f"a mapping must have its image under 'image' or 'img', but this one has {sorted(map(str, row))}")
        found.setdefault("image", None)
        return Item(**found)
    if isinstance(row, tuple):
        if not 1 <= len(row) <= 4:
            raise UsageError(f"a tuple must be (image, labels, group, name), or shorter, but this one has {len(row)} elements")
        return Item(*row)
    return Item(row)


def _image_of(image: Any) -> NDArray[np.uint8] | None:
    """Levels, or a file's bytes as one dimension; None: the image is missing."""
    import numpy

    if isinstance(image, Mapping):  # an undecoded image of Hugging Face
        image = image.get("bytes") if image.get("bytes") is not None else image.get("path")
    if image is None:
        return None
    if isinstance(image, (str, os.PathLike)):
        try:
            with open(image, "rb") as file:
                image = file.read()
        except FileNotFoundError:
            return None
    if isinstance(image, (bytes, bytearray, memoryview)):
        return numpy.frombuffer(bytes(image), numpy.uint8) if len(image) else numpy.empty(0, numpy.uint8)
    if type(image).__module__.split(".")[0] == "PIL":
        return numpy.asarray(image if image.mode in ("L", "RGB") else image.convert("L" if image.mode == "1" else "RGB"))
    if type(image).__module__.split(".")[0] in ("torch", "torchvision"):
        image = image.permute(1, 2, 0).cpu().numpy() if image.ndim == 3 else image.cpu().numpy()
    return _levels_of(image)


def _levels_of(image: Any) -> NDArray[np.uint8]:
    import numpy

    if not isinstance(image, numpy.ndarray):
        raise UsageError(f"an image must be bytes, a path, an array of pixel levels or a PIL image, not {type(image).__name__}")
    if image.dtype != numpy.uint8:
        raise UsageError(f"pixel levels must be uint8, not {image.dtype}; do not scale them")
    shape = " x ".join(map(str, image.shape))
    if image.ndim not in (1, 2, 3) or (image.ndim == 3 and image.shape[2] not in (1, 3)):
        raise UsageError(f"pixel levels must have the shape height x width, or height x width x 1 or 3, not {shape}")
    if image.ndim > 1 and image.size == 0:
        raise UsageError(f"an image must have at least one pixel, but this one is {shape}")
    return numpy.ascontiguousarray(image)


def _labels_of(labels: Any, classes: Mapping[str, int]) -> list[bytes]:
    if hasattr(labels, "tolist"):  # a numpy array or a torch tensor
        labels = labels.tolist()
    if labels is None:
        return []
    if isinstance(labels, Iterable) and not isinstance(labels, (str, bytes)):
        return [one for label in labels for one in _labels_of(label, classes)]
    if isinstance(labels, bool) or not isinstance(labels, (int, str)):
        raise UsageError(f"a label must be a number or a name, not {labels!r}")
    if labels in ("", -1):
        return []
    if classes and isinstance(labels, str):
        if labels not in classes:
            raise UsageError(f"label {labels!r} is not among the {len(classes)} class_names")
        labels = classes[labels]
    if isinstance(labels, int) and not 0 <= labels < (len(classes) or 10**6):
        of = f"there are {len(classes)} class_names" if classes else "classes are numbered from 0 to 999999"
        raise UsageError(f"label {labels} is no class: {of}")
    return [str(labels).encode("utf-8", "surrogateescape")]


def _group_of(group: str | int | bytes) -> bytes:
    return group if isinstance(group, bytes) else str(group).encode("utf-8", "surrogateescape")
