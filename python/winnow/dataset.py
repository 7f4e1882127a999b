"""A cache as a map-style data set, for DataLoaders and samplers of your own."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from .cache import Cache


class Dataset:
    """The samples of a split that a selection keeps, in the order of ids: ``dataset[i]`` is (picture, label), decoded, not
    augmented.

    A picture is a (height, width, channels) u8 numpy array, or the result of ``transform`` on it; torchvision's v2 transforms
    take it after ``transforms.ToImage()``. A label is an int if the sample has exactly one, else a list of ints. Any code that
    takes a map-style torch data set takes this one; it pickles, and is safe in forked or spawned workers. For training in
    winnow's order use :class:`winnow.Loader`, or :class:`winnow.torch.Sampler` with this data set.

    ``ids`` and ``weights`` hold each sample's id (u64) and the factor of its loss (f32).
    """

    def __init__(
        self,
        cache: Cache | str | os.PathLike[str],
        split: str = "train",
        selection: str = "",
        transform: Callable[[Any], Any] | None = None,
    ) -> None:
        self.cache = cache if isinstance(cache, Cache) else Cache(cache)
        self.split = split
        self.selection = selection
        self.transform = transform
        self.ids, self.weights = self.cache.samples(split, selection)

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, at: int) -> tuple[Any, int | list[int]]:
        record = self.cache.record(int(self.ids[at]))
        picture: Any = record.image()
        labels = record.labels
        return picture if self.transform is None else self.transform(picture), labels[0] if len(labels) == 1 else labels
