"""The verbs of the program that the library implements directly."""

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
    """A map-style data set, such as torchvision's."""

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
    """Reads, decodes, fingerprints and stores data sets into a cache at ``out``. The bytes are those of ``winnow ingest``.

    source: path of a data set of any format that the program reads, or several paths; or an iterable of images: of (image,
        labels, group, name) or a shorter tuple, of mappings with these keys, or of :class:`winnow.Item`, whose fields describe
        the values; or several such iterables keyed by split, {"train": ..., "test": ...}. An id is an item's number, from 0.
    into: add to the finished cache at ``out``, with the content settings it was made with.
    retry_failed: read again what the finished cache at ``out`` could not read.
    name, class_names, split: for an iterable: the name of the source in the cache; the classes that labels index (None: from the
        iterable if it is a torchvision or Hugging Face data set, else the labels that occur); and the split of items without one.
    retries: for a sequence: how often an item that raises is read again, after a pause that doubles, before the error is raised.
    resize: store images whose shorter side is longer than this many pixels with a shorter side of this length, as JPEG of
        ``quality``.
    progress: called now and then with the number of inputs done, and the number of all. If it raises, the ingest ends as at
        Ctrl-C, and the same call continues after the finished shards; if the ingest was complete by then, it stays so. For an
        iterable it first counts gathered items, with 0 as the number of all if the iterable has no length.

    Items of an iterable are gathered in the folder OUT.items before the first is stored; this needs disk space for all their
    bytes, but no memory. A call that was ended or killed continues with the same iterable: its items are compared with the
    gathered ones (of a sequence only the first and the last), and refused if they differ. Exceptions of the iterable are raised
    unchanged, and the same call asks for that item again. An item that cannot be decoded is an entry of the ledger.

    Other options are those of the program. UsageError if one makes no sense, RefusedError if nothing could be read.
    """
    of_paths, given = items.are_paths(source)
    paths = [] if not of_paths else [given] if isinstance(given, (str, os.PathLike)) else list(given)
    if of_paths and not paths:
        raise UsageError("there is no source to ingest; give one or more paths of data sets, or an iterable of images")
    if of_paths and (name != "items" or class_names is not None or split or retries):
        raise UsageError("name, class_names, split and retries are for an iterable of images; for paths leave them out, and use retry_failed to "
                         "read again what could not be read")  # fmt: skip
    if retries < 0:
        raise UsageError(f"retries must be 0 or more, not {retries}")
    if not of_paths and (retry_failed or format != "auto" or labels != "auto" or exclude or hidden or allow_empty):
        raise UsageError("retry_failed, format, labels, exclude, hidden and allow_empty are for paths; leave them out for an iterable")
    if into and retry_failed:
        raise UsageError("retry_failed reads inputs of a cache again, and into adds new ones; do one after the other")
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
    """Finds duplicates, and leaks between splits, and writes the selection ``name``. The bytes are those of ``winnow dedup``. An
    existing selection of that name is kept as NAME.previous.

    hash: a hash whose codes the cache has; "exact": equal files and pixels only; "auto": the one that finds most.
    threshold: bits by which duplicates may differ; None: chosen from the images by ``risk`` (expected false pairs, 0.5) or
        ``precision``.
    verify: also compare the pictures; None: only if neither hash nor threshold is given, as the program does.
    groups: "components", "stars" or "cliques"; None: stars if pictures are compared, else components.
    on_leak: "drop-train", "drop-eval" or "move".
    review: files of ``winnow review`` whose judgements apply.
    progress: called now and then with how much of a step is done, and how much there is. If it raises, the work ends as at Ctrl-C.

    flags: any other flag of ``winnow dedup`` by its name, such as ``thin=["val"], prefer=["originals/**"]``.
    """
    if on_leak not in ("drop-train", "drop-eval", "move"):
        raise UsageError(f"on_leak must be drop-train, drop-eval or move, not {on_leak!r}")
    return decisions.dedup(cache, name, hash, progress, threshold=threshold, risk=risk, precision=precision, verify=verify, scope=scope,
                           groups=groups, keep=keep, on_leak=on_leak, on_conflict=on_conflict, mode=mode, review=review, **flags)  # fmt: skip


def verify(cache: str | os.PathLike[str], selection: str = "") -> _core.Verified:
    """Reads every byte of a cache, or with ``selection`` only the records of the samples it keeps, and reports damage."""
    return _core.verify(os.fspath(cache), selection)


def hash(image: NDArray[np.uint8], hash: str = "phash") -> str:
    """The code of a picture, (height, width) or (height, width, 1 or 3) u8, as hex in the hash's usual form."""
    import numpy

    if image.dtype != numpy.uint8:
        raise UsageError(f"pixels are levels of uint8, not {image.dtype}")
    return _core.hash(numpy.ascontiguousarray(image), hash)
