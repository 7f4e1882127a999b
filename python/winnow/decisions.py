"""Decisions of the program on caches, as objects. No text is parsed: the verbs give JSON, described in docs/schemas."""

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
"""Value of a flag: a list repeats the flag, True and False give --name and --no-name, and None omits it."""


def _read(kind: type[T], row: Mapping[str, Any]) -> T:
    """An object of a dataclass whose fields are named as in the JSON, or as their metadata says."""
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
    """The command-line flags of the given options: --name value; --name or --no-name for True and False; repeated for a list."""
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
    """Samples of b that have a duplicate in a."""
    groups: int
    """Groups with members in both splits."""


@dataclass(frozen=True)
class Deduplicated:
    """The decision of a deduplication in numbers; the selection itself is in the cache."""

    hash: str
    """The hash that was compared; "exact"; or "cosine" with features."""
    threshold: int
    """Bits by which two duplicates may differ."""
    removed: int
    kept: int
    moved: int
    """Kept samples that are in another split now."""
    conflicts: int
    """Groups whose labels differ."""
    chains: int
    """Groups with members further apart than the threshold."""
    low_quality: int = field(metadata={"key": "blank"})
    """Samples with too little content to match by codes."""
    verified: float | None = None
    """Lower bound of the probability that two matched samples show one picture; None: pictures were not compared."""
    chosen_by: str | None = None
    """The demand by which the images chose the threshold; None: it was given."""
    leaks: list[Leak] = _list_of(Leak)
    read_groups: Callable[[], list[list[int]]] = field(default=list, repr=False, compare=False)

    def groups(self) -> list[list[int]]:
        """Ids of the members of each group of duplicates."""
        return self.read_groups()


def _groups_listed(path: str) -> list[list[int]]:
    """The ids of each group's members, from the file that ``--list-groups`` wrote."""
    found: dict[int, list[int]] = {}
    with open(path, encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            row = json.loads(line)
            found.setdefault(row["group"], []).append(row["id"])
    return list(found.values())


def dedup(cache: Where, name: str, hash: str, progress: Callable[[int, int], object] | None, **how: Value) -> Deduplicated:
    """``how``: flags, keyed by their names."""
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
    """Requested share of the distributed samples."""
    samples: int
    """Samples used in this split."""
    dealt: int
    """Samples that were distributed to this split."""
    blocks: int
    classes: int
    """Classes with a sample in this split."""


@dataclass(frozen=True)
class OffClass:
    """A class whose samples could not be distributed as requested."""

    split: str
    samples: int
    """Samples of this class that were distributed."""
    wanted: float
    got: int
    largest_block: int
    reason: str
    """"fixed": some samples follow fixed ones; "block": some stay together; "labels": they have other labels, too."""
    class_name: str | None = field(default=None, metadata={"key": "class"})
    """None: samples without labels."""


@dataclass(frozen=True)
class Split:
    """Splits without leaks; the selection that holds them is in the cache."""

    hash: str
    threshold: int
    seed: int
    of: list[str]
    """Splits whose samples were distributed."""
    blocks: int
    """Sets of samples that stay together."""
    largest_block: int
    moved: int
    """Samples of train, val or test that are used in another of the three."""
    left_out: int
    leaks: int
    """Samples of fixed splits that were left out because two fixed splits shared them."""
    furthest: float
    """Greatest distance of a class from its share of a split, in samples."""
    splits: list[SplitShare] = _list_of(SplitShare)
    off: list[OffClass] = _list_of(OffClass)
    """Classes that are off by more than one sample, furthest first."""
    verified: float | None = None


@dataclass(frozen=True)
class Fold:
    selection: str
    """Name of the selection, in which this fold is val and the others are train."""
    train: int
    """Samples of the other folds."""
    val: int
    """Samples of this fold."""
    blocks: int
    classes: int
    """Classes with a sample in this fold."""
    fewest: int
    """Samples of the class that has fewest in this fold; 0 without labels."""
    most: int
    """Samples of the class that has most in this fold; 0 without labels."""
    furthest: float
    """Greatest distance of a class from its share of the fold, in samples."""


@dataclass(frozen=True)
class OffFold:
    """A class whose samples could not be distributed evenly over folds."""

    samples: int
    """Samples of this class in all folds."""
    fold: int
    """Number, from 1, of the fold in which the class is furthest off."""
    wanted: float
    got: int
    largest_block: int
    reason: str
    """"block": some samples stay together; "labels": they have other labels, too."""
    class_name: str | None = field(default=None, metadata={"key": "class"})
    """None: samples without labels."""


@dataclass(frozen=True)
class Folds:
    """Folds without leaks for cross-validation; the selections that hold them are in the cache."""

    hash: str
    threshold: int
    seed: int
    of: list[str]
    """Splits whose samples were distributed."""
    blocks: int
    """Sets of samples that stay together."""
    largest_block: int
    left_out: int
    """Samples that belong to one in a fixed split and are therefore in no split."""
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
    """Makes train, val and test so that no duplicate and no group key is in two of them, as the selection ``name``. The bytes are
    those of ``winnow split``.

    train, val, test: shares, 0 to 1; one of them may be left out, and gets the rest.
    folds: number of folds for cross-validation, in place of shares. Writes the selections NAME-1 to NAME-K, each with another
        fold as val and the others as train, and returns :class:`Folds`.
    of: splits whose samples are distributed; (): none, train and those that get a share; with folds none, train and val.
    hash, threshold, verify: as for :func:`winnow.dedup`.
    review: files of ``winnow review`` whose judgements apply.
    stay: leave as many samples as possible in their present splits.
    flags: any other flag of ``winnow split`` by its name, such as ``features="default", cosine=0.97``.
    """
    words = _flags(name=name, train=train, val=val, test=test, folds=folds, of=of, hash=None if hash == "auto" else hash, threshold=threshold,
                   verify=verify, review=review, ignore_group_keys=ignore_group_keys or None, stay=stay or None, seed=seed, **flags)  # fmt: skip
    done = program.verb("split", path_of(cache), "--json", *words).json()
    return _read(Split, done) if folds is None else _read(Folds, done)


@dataclass(frozen=True)
class Threshold:
    """The expected result of deduplication at one threshold."""

    threshold: int
    """Threshold in bits."""
    pairs: int
    """Pairs within the threshold."""
    labelled_pairs: int
    other_class: int
    """Pairs whose labels differ."""
    by_chance: float
    """Probability that two unlike images are within the threshold."""
    false_pairs: float
    """Expected number of false pairs."""
    grouped: int
    """Images with a duplicate."""
    removable: int
    """Images that can be removed: all but one of each group."""
    precision: float | None = None
    """Expected precision; None: there are no pairs."""
    precision_at_least: float | None = None
    """Lower bound of the precision at 95 % confidence."""
    recall: float | None = None
    """Expected recall of edited pictures."""


@dataclass(frozen=True)
class TunedHash:
    hash: str
    bits: int
    images: int
    """Images with enough content to match on."""
    mean_distance: float
    """Mean distance of random pairs, in bits."""
    independent_bits: float
    thresholds: list[Threshold] = _list_of(Threshold)
    chosen: int | None = None
    """The threshold that meets the demand; None: there is none."""


@dataclass(frozen=True)
class Recommended:
    hash: str
    threshold: int
    removed: int
    """Images that dedup removes at this choice."""
    unsafe: bool
    """True: unrelated pictures of this cache look too much alike for codes alone to be safe."""
    pairs: int | None = None
    """Pairs within the threshold, or that show one picture; None: only equal files and pixels are matched."""
    false_pairs: float | None = None
    """Expected number of false ones among these pairs."""
    verified: float | None = None
    """Lower bound of the pairs' probability; None: pictures are not compared."""


@dataclass(frozen=True)
class ComparedPictures:
    pairs: int
    """Pairs that show one picture."""
    false_pairs: float
    """Expected number of false ones among these pairs."""
    least_probability: float
    """Lower bound of each pair's probability."""
    look_alikes: int
    """Pairs that look alike but are not shown to be copies."""
    refused: int
    """Pairs with near codes whose pictures differ."""
    removed: int
    """Images removed."""


@dataclass(frozen=True)
class Tuned:
    """The expected results of all thresholds, measured on the images of a cache."""

    hashes: list[TunedHash] = _list_of(TunedHash)
    recommended: Recommended | None = field(default=None, metadata={"of": Recommended})
    """The defaults of dedup on this cache; None: no hash is suitable."""
    pictures: ComparedPictures | None = field(default=None, metadata={"of": ComparedPictures})
    """The expected result of comparing pictures; None: dedup compares none here."""


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
    """Measures the result of each deduplication threshold on the cache's own images, as ``winnow tune`` does.

    hashes: hashes to measure; (): all that the cache has.
    most: the largest threshold, in bits.
    risk, precision: choose the largest threshold with fewer than ``risk`` expected false pairs among all images (0.5 by default),
        or with an expected precision of at least ``precision``.
    verify: as for :func:`winnow.dedup`.
    images: number of pictures that are edited and hashed, to measure how many are found again.
    flags: any other flag of ``winnow tune`` by its name.
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
    """Links are stored between codes that differ by at most this many bits."""
    images: int
    deleted: int
    """Deleted images, which a compaction would drop."""
    segments: int
    bytes: int
    """Size of its files, without selections."""
    digest: str
    classes: list[str]
    sources: list[IndexSource] = _list_of(IndexSource)


@dataclass(frozen=True)
class Match:
    input: str
    """Cache or data set, as it was given."""
    id: int
    """Id in that input."""
    name: str
    split: str
    match_id: int
    """Id in the index."""
    match_name: str
    match_source: str
    distance: int
    """Bits between the two codes; with features 1000 (1 - cosine), rounded; 0 for equal files or pixels."""
    probability: float | None = None
    """Probability that both show one picture; None: matched by their codes alone."""


@dataclass(frozen=True)
class IndexAnswer:
    hash: str
    threshold: int
    images: int
    """Images that were looked up."""
    known: int
    """Images that have a duplicate in the index."""
    matches: list[Match] = _list_of(Match)
    """The nearest match in the index, in the order of the images."""
    verified: float | None = None


class Index:
    """A growing folder of fingerprints that tells which images are known already. ``add`` creates it if it is missing."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)

    def __repr__(self) -> str:
        return f"<winnow.Index {self.path!r}>"

    def info(self) -> IndexInfo:
        return _read(IndexInfo, program.verb("index", "info", self.path, "--json").json())

    def add(self, *inputs: Where, hash: str | None = None, radius: int | None = None, **flags: Value) -> IndexInfo:
        """Adds caches or data sets. A source that was added before is skipped; if a cache has grown, only its new samples are
        added.

        hash, radius: for a new index: the hash it compares by, and the distance in bits up to which it stores links.
        flags: any other flag of ``winnow index add`` by its name, such as ``labels="none"``.
        """
        program.verb("index", "add", self.path, *map(path_of, inputs), *_flags(hash=hash, radius=radius, **flags))
        return self.info()

    def query(
        self, *inputs: Where, threshold: int | None = None, risk: float | None = None, verify: bool | None = None, **flags: Value
    ) -> IndexAnswer:
        """Finds the images of caches or data sets that have a duplicate in the index, and the nearest match of each.

        flags: any other flag of ``winnow index query`` by its name.
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
        """Finds duplicates among all images of the index, and writes the selection ``name`` into it. The bytes are those of
        ``winnow index dedup``. The options are those of :func:`winnow.dedup`, except that ``hash`` is the index's own
        ("auto") or "exact". Ids are the ids in the index.

        source: caches or data sets that were added to the index, whose pictures are compared; (): compare only the index's
            thumbnails.
        flags: any other flag of ``winnow index dedup`` by its name.
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
        """Deletes images by their names or ids. ``source``: delete only from the source with this number; without names and
        ids, all of that source."""
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
        """Adds the content of another index with the same hash and radius. The other index is only read."""
        program.verb("index", "merge", self.path, other.path if isinstance(other, Index) else other)
        return self.info()

    def compact(self) -> IndexInfo:
        """Drops deleted images for good, and merges the tables into one. Ids do not change."""
        program.verb("index", "compact", self.path)
        return self.info()
