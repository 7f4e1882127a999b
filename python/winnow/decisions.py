"""What the program decides on caches, as objects. Nothing is read out of text: the verbs say it as JSON, by docs/schemas."""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, Union, cast, overload

from . import program
from .cache import Cache, Where, path_of
from .errors import UsageError

T = TypeVar("T")
Value = Union[str, int, float, bool, "os.PathLike[str]", Iterable[Any], None]
"""Of a flag: a list repeats it, True and False are --name and --no-name, None leaves it out."""


def _read(kind: type[T], row: Mapping[str, Any]) -> T:
    """An object of a dataclass whose fields are called as in JSON, or as their metadata says."""
    values = {}
    for one in dataclasses.fields(cast("Any", kind)):
        key, inner = one.metadata.get("key", one.name), one.metadata.get("of")
        if key in row:
            value = row[key]
            if inner is not None:
                value = [_read(inner, part) for part in value] if isinstance(value, list) else _read(inner, value)
            values[one.name] = value
    return kind(**values)


def _list_of(kind: type[T]) -> Any:
    return field(default_factory=list, metadata={"of": kind})


def _flags(**given: Value) -> list[str | int | float | os.PathLike[str]]:
    """--name value, of what is given; True and False are --name and --no-name, and a list repeats it."""
    words: list[str | int | float | os.PathLike[str]] = []
    for name, value in given.items():
        flag = "--" + name.replace("_", "-")
        if value is None:
            continue
        if isinstance(value, bool):
            words.append(flag if value else "--no-" + flag[2:])
        elif isinstance(value, (str, int, float, os.PathLike)):
            words += [flag, value]
        else:
            for one in value:
                words += [flag, one]
    return words


@dataclass(frozen=True)
class Leak:
    a: str
    """A split that shares pictures with ``b``."""
    b: str
    samples: int
    """Of b, that have a duplicate in a."""
    groups: int
    """With members in both."""


@dataclass(frozen=True)
class Deduplicated:
    """What a deduplication decided, in numbers; the selection itself is the cache's."""

    hash: str
    """That was compared, "exact", or with features "cosine"."""
    threshold: int
    """Bits that may differ between two duplicates."""
    removed: int
    kept: int
    moved: int
    """Of the kept, those in another split."""
    conflicts: int
    """Groups whose labels differ."""
    chains: int
    """Groups with members further apart than the threshold."""
    low_quality: int = field(metadata={"key": "blank"})
    """Samples with too little in them to match by codes."""
    verified: float | None = None
    """How probable pairs are at least that were found to show one picture; None: pictures were not looked at."""
    chosen_by: str | None = None
    """By what demand the images chose the threshold; None: it was given."""
    leaks: list[Leak] = _list_of(Leak)
    read_groups: Callable[[], list[list[int]]] = field(default=list, repr=False, compare=False)

    def groups(self) -> list[list[int]]:
        """Ids of the members of each group of duplicates."""
        return self.read_groups()


def _groups_listed(path: str) -> list[list[int]]:
    """Of what ``--list-groups`` wrote, the ids of each group's members."""
    found: dict[int, list[int]] = {}
    with open(path, encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            row = json.loads(line)
            found.setdefault(row["group"], []).append(row["id"])
    return list(found.values())


def dedup(cache: Where, name: str, hash: str, progress: Callable[[int, int], object] | None, **how: Value) -> Deduplicated:
    """``how``: flags by their names."""
    path = path_of(cache)
    words = _flags(name=name, hash=None if hash == "auto" else hash, **how)
    done = _read(Deduplicated, program.verb("dedup", path, "--json", *words, progress=progress).json())

    def groups() -> list[list[int]]:
        found: dict[int, list[int]] = {}
        for row in Cache(path).groups(name, frame=False):
            found.setdefault(row["group"], []).append(row["id"])
        return list(found.values())

    return dataclasses.replace(done, read_groups=groups)


@dataclass(frozen=True)
class SplitShare:
    split: str
    share: float
    """Wanted, of the samples that were dealt out."""
    samples: int
    """Used in it."""
    dealt: int
    """Of them, dealt out to it."""
    blocks: int
    classes: int
    """With a sample in it."""


@dataclass(frozen=True)
class OffClass:
    """A class whose samples could not be dealt out as was wanted."""

    split: str
    samples: int
    """Of it, dealt out."""
    wanted: float
    got: int
    largest_block: int
    reason: str
    """"fixed": some follow fixed samples; "block": some stay together; "labels": they carry others, too."""
    class_name: str | None = field(default=None, metadata={"key": "class"})
    """None: samples without labels."""


@dataclass(frozen=True)
class Split:
    """Splits without leaks; the selection that has them is the cache's."""

    hash: str
    threshold: int
    seed: int
    of: list[str]
    """Splits whose samples were dealt out."""
    blocks: int
    """Sets of samples that stay together."""
    largest_block: int
    moved: int
    """Samples of train, val or test that are used in another of them."""
    left_out: int
    leaks: int
    """Samples of fixed splits that were left out, since fixed splits shared them."""
    furthest: float
    """Greatest distance of a class from its share of a split, in samples."""
    splits: list[SplitShare] = _list_of(SplitShare)
    off: list[OffClass] = _list_of(OffClass)
    """Classes that are off by more than one sample, furthest first."""
    verified: float | None = None


@dataclass(frozen=True)
class Fold:
    selection: str
    """Its name: the fold is val in it, and the others are train."""
    train: int
    """Samples of the other folds."""
    val: int
    """Samples of the fold."""
    blocks: int
    classes: int
    """With a sample in the fold."""
    fewest: int
    """Samples in the fold of the class that has least there; 0 without labels."""
    most: int
    """Samples in the fold of the class that has most there; 0 without labels."""
    furthest: float
    """Greatest distance of a class from its share of the fold, in samples."""


@dataclass(frozen=True)
class OffFold:
    """A class whose samples could not be dealt out evenly."""

    samples: int
    """Of it, in all folds."""
    fold: int
    """Number of the fold where it is furthest off, from 1."""
    wanted: float
    got: int
    largest_block: int
    reason: str
    """"block": some stay together; "labels": they carry others, too."""
    class_name: str | None = field(default=None, metadata={"key": "class"})
    """None: samples without labels."""


@dataclass(frozen=True)
class Folds:
    """Folds without leaks for cross-validation; the selections that have them are the cache's."""

    hash: str
    threshold: int
    seed: int
    of: list[str]
    """Splits whose samples were dealt out."""
    blocks: int
    """Sets of samples that stay together."""
    largest_block: int
    left_out: int
    """Samples to be dealt out that belong to one in a fixed split: they are in no split."""
    dealt: int
    """Samples of all folds together."""
    test: int
    """Samples that stay in test, in every selection."""
    none: int
    """Samples that stay in no split."""
    folds: list[Fold] = _list_of(Fold)
    off: list[OffFold] = _list_of(OffFold)
    """Classes that are off by more than one sample in a fold, furthest first."""
    verified: float | None = None


@overload
def split(
    cache: Where,
    name: str = "split",
    *,
    train: float | None = None,
    val: float | None = None,
    test: float | None = None,
    folds: None = None,
    of: Iterable[str] = (),
    hash: str = "auto",
    threshold: int | None = None,
    verify: bool | None = None,
    review: Iterable[str | os.PathLike[str]] = (),
    ignore_group_keys: bool = False,
    stay: bool = False,
    seed: int = 0,
    **flags: Any,
) -> Split: ...
@overload
def split(
    cache: Where,
    name: str = "split",
    *,
    folds: int,
    of: Iterable[str] = (),
    hash: str = "auto",
    threshold: int | None = None,
    verify: bool | None = None,
    review: Iterable[str | os.PathLike[str]] = (),
    ignore_group_keys: bool = False,
    seed: int = 0,
    **flags: Any,
) -> Folds: ...
def split(
    cache: Where,
    name: str = "split",
    *,
    train: float | None = None,
    val: float | None = None,
    test: float | None = None,
    folds: int | None = None,
    of: Iterable[str] = (),
    hash: str = "auto",
    threshold: int | None = None,
    verify: bool | None = None,
    review: Iterable[str | os.PathLike[str]] = (),
    ignore_group_keys: bool = False,
    stay: bool = False,
    seed: int = 0,
    **flags: Any,
) -> Split | Folds:
    """Makes train, val and test so that no duplicate and no group key lies in two of them, as the selection ``name``: the bytes of
    ``winnow split``.

    train, val, test: shares, 0 to 1; one of them may be left out, and gets the rest.
    folds: in place of shares, for cross-validation: the selections NAME-1 to NAME-K, each with another of so many folds as val, and the
        others as train. What is given is :class:`Folds` then.
    of: deal out the samples of these splits; (): none, train and those that get a share; with folds none, train and val.
    hash, threshold, verify: as of :func:`winnow.dedup`.
    review: files of ``winnow review`` to obey.
    stay: leave as many samples in their splits as that allows.
    flags: any other of ``winnow split`` by its name, as in ``features="default", cosine=0.97``.
    """
    words = _flags(name=name, train=train, val=val, test=test, folds=folds, of=of, hash=None if hash == "auto" else hash, threshold=threshold,
                   verify=verify, review=review, ignore_group_keys=ignore_group_keys or None, stay=stay or None, seed=seed, **flags)  # fmt: skip
    done = program.verb("split", path_of(cache), "--json", *words).json()
    return _read(Split, done) if folds is None else _read(Folds, done)


@dataclass(frozen=True)
class Threshold:
    """What deduplication at a threshold would come to."""

    threshold: int
    """Bits."""
    pairs: int
    """Within it."""
    labelled_pairs: int
    other_class: int
    """Pairs of labels that differ."""
    by_chance: float
    """How probable it is that two unlike images are within it."""
    false_pairs: float
    """Of all pairs, expected."""
    grouped: int
    """Images with a duplicate."""
    removable: int
    """Of them, all but one of each group."""
    precision: float | None = None
    """Expected; None: there are no pairs."""
    precision_at_least: float | None = None
    """With 95 % confidence."""
    recall: float | None = None
    """Expected, of pictures that were edited."""


@dataclass(frozen=True)
class TunedHash:
    hash: str
    bits: int
    images: int
    """With enough in them to match on."""
    mean_distance: float
    """Of random pairs, bits."""
    independent_bits: float
    thresholds: list[Threshold] = _list_of(Threshold)
    chosen: int | None = None
    """The threshold that keeps to the demand; None: there is none."""


@dataclass(frozen=True)
class Recommended:
    hash: str
    threshold: int
    removed: int
    """Images that dedup removes then."""
    unsafe: bool
    """Pictures here are more alike than strangers are, so codes alone are unsafe."""
    pairs: int | None = None
    """Within the threshold, or that show one picture; None: equal files and pixels alone are taken."""
    false_pairs: float | None = None
    """Of them, expected."""
    verified: float | None = None
    """How probable pairs are at least; None: pictures are not compared."""


@dataclass(frozen=True)
class ComparedPictures:
    pairs: int
    """That show one picture."""
    false_pairs: float
    """Of them, expected."""
    least_probability: float
    """Of each pair."""
    look_alikes: int
    """Pairs that look alike and are not shown to be copies."""
    refused: int
    """Pairs near by codes that are different pictures."""
    removed: int
    """Images."""


@dataclass(frozen=True)
class Tuned:
    """What each threshold would come to, by the images of a cache."""

    hashes: list[TunedHash] = _list_of(TunedHash)
    recommended: Recommended | None = field(default=None, metadata={"of": Recommended})
    """What dedup takes where nothing is given; None: no hash will do."""
    pictures: ComparedPictures | None = field(default=None, metadata={"of": ComparedPictures})
    """What comparing pictures comes to; None: dedup compares none then."""


def tune(
    cache: Where,
    *,
    hashes: Iterable[str] = (),
    most: int | None = None,
    risk: float | None = None,
    precision: float | None = None,
    verify: bool | None = None,
    images: int = 200,
    review: Iterable[str | os.PathLike[str]] = (),
    seed: int = 0,
    **flags: Value,
) -> Tuned:
    """Says what each threshold of deduplication would come to on the cache's own images, as ``winnow tune`` does.

    hashes: to look at; (): all that the cache has.
    most: the largest threshold, in bits.
    risk, precision: choose the largest threshold with fewer expected false pairs than ``risk`` among all images (0.5 by default), or
        whose expected precision is at least ``precision``.
    verify: as of :func:`winnow.dedup`.
    images: pictures that are edited and hashed to see what is found again.
    flags: any other of ``winnow tune`` by its name.
    """
    words = _flags(hash=hashes, most=most, risk=risk, precision=precision, verify=verify, images=images, review=review, seed=seed, **flags)
    return _read(Tuned, program.verb("tune", path_of(cache), "--json", *words).json())


@dataclass(frozen=True)
class IndexSource:
    source: int
    """Upper 16 bits of its images' ids."""
    name: str
    format: str
    images: int
    deleted: int


@dataclass(frozen=True)
class IndexInfo:
    hash: str
    bits: int
    radius: int
    """Links of codes that are so many bits apart are kept."""
    images: int
    deleted: int
    """That a compaction would drop."""
    segments: int
    bytes: int
    """Of its files, without selections."""
    digest: str
    classes: list[str]
    sources: list[IndexSource] = _list_of(IndexSource)


@dataclass(frozen=True)
class Match:
    input: str
    """Cache or data set, as it was named."""
    id: int
    """There."""
    name: str
    split: str
    match_id: int
    """In the index."""
    match_name: str
    match_source: str
    distance: int
    """Bits between their codes; 0 of equal ones."""
    probability: float | None = None
    """That they show one picture; None: they are near by their codes."""


@dataclass(frozen=True)
class IndexAnswer:
    hash: str
    threshold: int
    images: int
    """That were asked for."""
    known: int
    """Of these, with a duplicate in the index."""
    matches: list[Match] = _list_of(Match)
    """Image after image: the nearest of the index."""
    verified: float | None = None


class Index:
    """Fingerprints that grow, in a folder: which images are here already? ``add`` makes it where there is none."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)

    def __repr__(self) -> str:
        return f"<winnow.Index {self.path!r}>"

    def info(self) -> IndexInfo:
        return _read(IndexInfo, program.verb("index", "info", self.path, "--json").json())

    def add(self, *inputs: Where, hash: str | None = None, radius: int | None = None, **flags: Value) -> IndexInfo:
        """Adds caches or data sets. A source that is there is passed over; of a cache that got more, only that is added.

        hash, radius: of a new index, by which it compares, and bits up to which it has links.
        flags: any other of ``winnow index add`` by its name, as in ``labels="none"``.
        """
        program.verb("index", "add", self.path, *map(path_of, inputs), *_flags(hash=hash, radius=radius, **flags))
        return self.info()

    def query(
        self, *inputs: Where, threshold: int | None = None, risk: float | None = None, verify: bool | None = None, **flags: Value
    ) -> IndexAnswer:
        """Which images of caches or data sets have a duplicate in the index, and the nearest of each.

        flags: any other of ``winnow index query`` by its name.
        """
        words = _flags(threshold=threshold, risk=risk, verify=verify, **flags)
        return _read(IndexAnswer, program.verb("index", "query", self.path, *map(path_of, inputs), "--json", *words).json())

    def dedup(
        self,
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
        source: Iterable[Where] = (),
        **flags: Value,
    ) -> Deduplicated:
        """Finds duplicates among all its images, and writes the selection ``name`` into it: the bytes of ``winnow index dedup``. The
        options are as of :func:`winnow.dedup`, but that ``hash`` is the index's own ("auto") or "exact". Ids are those that images have
        in the index.

        source: caches or data sets that were added to it, whose pictures are compared; (): its thumbnails alone are.
        flags: any other of ``winnow index dedup`` by its name.
        """
        words = _flags(name=name, hash=hash, threshold=threshold, risk=risk, precision=precision, verify=verify, scope=scope, groups=groups,
                       keep=keep, on_leak=on_leak, on_conflict=on_conflict, mode=mode, review=review,
                       source=[path_of(one) for one in source], **flags)  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            listed = os.path.join(folder, "groups.jsonl")
            done = _read(Deduplicated, program.verb("index", "dedup", self.path, "--json", "--list-groups", listed, *words).json())
            members = _groups_listed(listed)
        return dataclasses.replace(done, read_groups=lambda: [list(group) for group in members])

    def delete(self, names: Iterable[str] = (), *, ids: Iterable[int] = (), source: int | None = None) -> IndexInfo:
        """Deletes images by their names or ids; ``source``: only of the source of this number, and alone, all of it."""
        lists = {"names": list(names), "ids": [str(int(id)) for id in ids]}
        if not any(lists.values()) and source is None:
            raise UsageError("there is nothing to delete; give names, ids or a source")
        with tempfile.TemporaryDirectory() as folder:
            files = {}
            for kind, rows in lists.items():
                if rows:
                    files[kind] = os.path.join(folder, kind)
                    with open(files[kind], "w", encoding="utf-8", errors="surrogateescape") as file:
                        file.writelines(row + "\n" for row in rows)
            program.verb("index", "delete", self.path, *_flags(**files, source=source))
        return self.info()

    def merge(self, other: Index | str | os.PathLike[str]) -> IndexInfo:
        """Adds what is in another index of the same hash and radius, which is only read."""
        program.verb("index", "merge", self.path, other.path if isinstance(other, Index) else other)
        return self.info()

    def compact(self) -> IndexInfo:
        """Drops deleted images for good, and makes one table of many. Ids stay."""
        program.verb("index", "compact", self.path)
        return self.info()
