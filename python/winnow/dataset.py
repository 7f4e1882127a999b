"""A cache as a data set of map style, for DataLoaders and samplers of one's own."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from .cache import Cache


class Dataset:
    """What a selection leaves of a split, in the order of ids: ``dataset[i]`` is (picture, label), decoded and not augmented.

    A picture is (height, width, channels) u8 of numpy, or what ``transform`` makes of that; torchvision's transforms of v2 take
    it by ``transforms.ToImage()``. A label is an int where the sample carries one, else a list of ints. Any code that takes a
    map-style data set of torch takes this one; it pickles, and is safe in workers that are forked or spawned. For training
    in winnow's order take :class:`winnow.Loader`, or :class:`winnow.torch.Sampler` with this.

    ``ids`` and ``weights`` have, of each sample, its id (u64) and what its loss is multiplied by (f32).
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
