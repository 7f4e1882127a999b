"""The verbs of the program that the library does by itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from . import _core, decisions, items
from .cache import Where, path_of
from .errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Rows(Protocol):
    """A data set of map style, such as torchvision's."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Any: ...


def ingest(
    source: str | os.PathLike[str] | Iterable[Any] | Rows,
    out: str | os.PathLike[str],
    *,
    into: bool = False,
    retry_failed: bool = False,
    format: str = "auto",
    labels: str = "auto",
    exclude: Iterable[str] = (),
    hidden: bool = False,
    allow_empty: bool = False,
    store: str = "original",
    hashes: Iterable[str] = ("phash", "phash16"),
    thumbnails: bool = True,
    resize: int = 0,
    quality: int = 90,
    shard_mib: int = 256,
    threads: int = 0,
    name: str = "items",
    class_names: Sequence[str] | None = None,
    split: str = "",
    retries: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> _core.Ingested:
    """Reads, decodes, fingerprints and stores data sets into a cache at ``out``: the bytes of ``winnow ingest``.

    source: path of a data set of any format that the program reads, or several; or an iterable of images: of (image, labels,
        group, name), or shorter, of mappings with these keys, or of :class:`winnow.Item`, whose fields say what may be given; or
        several such iterables by their splits, {"train": ..., "test": ...}. An id is an item's number, from 0.
    into: add to the finished cache at ``out``; what shapes its content is then as it was made.
    retry_failed: ask again for what the finished cache at ``out`` could not read.
    name, class_names, split: of an iterable: what the source is called in the cache; the classes that labels are numbers of (None:
        as the iterable says, as torchvision's and Hugging Face's data sets do, else the labels that occur); the split of
        items that name none.
    retries: of a sequence: how often an item that raises is asked for again, after a longer pause each time, before that comes out.
    resize: store images whose shorter side is longer than so many pixels with one of this length, as JPEG of ``quality``.
    progress: called now and then with how many inputs are done, and how many there are. What it raises ends the ingest, as
        Ctrl-C does, and the same call goes on after the shards that were finished. One that was done by then stays done. Of an
        iterable it first counts items that are gathered, with 0 for how many there are where it has no length.

    Items of an iterable are gathered in the folder OUT.items before the first is stored, which takes as much disk as they have
    bytes, and not memory. A call that was ended or killed goes on by the same iterable: what was gathered is compared with it,
    of a sequence the first and the last of that, and refused where it differs. What the iterable raises comes out as it is, and
    the same call asks for that item again. An item that came and cannot be decoded stays one of the ledger's.

    Other options are those of the program. UsageError where one makes no sense, RefusedError where nothing could be read.
    """
    of_paths, given = items.are_paths(source)
    paths = [] if not of_paths else [given] if isinstance(given, (str, os.PathLike)) else list(given)
    if of_paths and not paths:
        raise UsageError("there is no source to ingest; give the path of a data set, or several, or an iterable of images")
    if of_paths and (name != "items" or class_names is not None or split or retries):
        raise UsageError("name, class_names, split and retries are of an iterable of images; a path says them itself, and retry_failed asks "
                         "again for what it could not read")  # fmt: skip
    if retries < 0:
        raise UsageError(f"retries are counted from 0, and {retries} is none")
    if not of_paths and (retry_failed or format != "auto" or labels != "auto" or exclude or hidden or allow_empty):
        raise UsageError("retry_failed, format, labels, exclude, hidden and allow_empty are of paths; an iterable gives what it gives")
    if into and retry_failed:
        raise UsageError("retry_failed asks again for what a cache has, and into adds to it; do one after the other")
    open_options = _core.OpenOptions()
    open_options.format = format
    open_options.set_labels(labels)
    open_options.exclude = list(exclude)
    open_options.hidden = hidden
    open_options.allow_empty_classes = allow_empty
    if into or retry_failed:
        options = _core.options_of_cache(os.fspath(out))
    else:
        options = _core.IngestOptions()
        options.set_store(store)
        options.hashes = list(hashes)
        options.shard_bytes = shard_mib << 20
        options.set_resize(resize, quality)
        options.set_thumbnails(thumbnails)
    options.set_target(into, retry_failed)
    options.set_threads(threads)
    if not of_paths:
        return items.ingest(given, os.fspath(out), options, name=name, class_names=class_names, split=split, retries=retries,
                            progress=progress)  # fmt: skip
    return _core.ingest([os.fspath(path) for path in paths], os.fspath(out), open_options, options, progress)


def dedup(
    cache: Where,
    name: str = "default",
    *,
    hash: str = "auto",
    threshold: int | None = None,
    risk: float | None = None,
    precision: float | None = None,
    verify: bool | None = None,
    scope: str = "all",
    groups: str | None = None,
    keep: str = "best",
    on_leak: str = "drop-train",
    on_conflict: str = "stay",
    mode: str = "keep",
    review: Iterable[str | os.PathLike[str]] = (),
    progress: Callable[[int, int], object] | None = None,
    **flags: decisions.Value,
) -> decisions.Deduplicated:
    """Finds duplicates, and leaks between splits, and writes the selection ``name``: the bytes of ``winnow dedup``. One of that
    name that is there is kept as NAME.previous.

    hash: a hash that the cache has codes of; "exact": equal files and pixels alone; "auto": that which finds most.
    threshold: bits that may differ between duplicates; None: the images choose, by ``risk`` (expected false pairs, 0.5) or
        ``precision``.
    verify: look at the pictures, too; None: where neither hash nor threshold is given, as the program does.
    groups: "components", "stars" or "cliques"; None: stars where pictures are compared, else components.
    on_leak: "drop-train", "drop-eval" or "move".
    review: files of ``winnow review`` to obey.
    progress: called now and then with how much of a step is done, and how much there is. What it raises ends the work, as Ctrl-C
        does.

    flags: any other of ``winnow dedup`` by its name, as in ``thin=["val"], prefer=["originals/**"]``.
    """
    if on_leak not in ("drop-train", "drop-eval", "move"):
        raise UsageError(f"on_leak is drop-train, drop-eval or move, not {on_leak!r}")
    return decisions.dedup(cache, name, hash, progress, threshold=threshold, risk=risk, precision=precision, verify=verify, scope=scope,
                           groups=groups, keep=keep, on_leak=on_leak, on_conflict=on_conflict, mode=mode, review=review, **flags)  # fmt: skip


def verify(cache: str | os.PathLike[str], selection: str = "") -> _core.Verified:
    """Reads every byte of a cache, or with ``selection`` the records of the samples it keeps, and says what is damaged."""
    return _core.verify(os.fspath(cache), selection)


def hash(image: NDArray[np.uint8], hash: str = "phash") -> str:
    """The code of a picture, (height, width) or (height, width, 1 or 3) u8, as hex in the form its peers print."""
    import numpy

    if image.dtype != numpy.uint8:
        raise UsageError(f"pixels are levels of uint8, not {image.dtype}")
    return _core.hash(numpy.ascontiguousarray(image), hash)
