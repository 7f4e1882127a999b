"""Decisions about the samples of a cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


class Selection:
    """Which samples of a cache count, and how much: a decision that deletes nothing. :meth:`Cache.write` stores it.

    Columns have a row for each sample of the cache, in the order of its ids, and are read-only and without a copy.
    ``a & b`` keeps the samples that both keep (weights are multiplied), ``a | b`` those that either keeps (the larger weight), and
    ``a - b`` those that ``a`` keeps and ``b`` leaves out. Results have the name of ``a``.
    """

    __slots__ = ("raw", "grouped")

    def __init__(self, raw: _core.Selection, grouped: _core.Selection | None = None) -> None:
        self.raw = raw
        self.grouped = grouped
        """The stored selection whose groups this one has; None: there is none."""

    def __len__(self) -> int:
        return len(self.raw)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Selection) and self.raw == other.raw

    __hash__ = None  # type: ignore[assignment]

    @property
    def name(self) -> str:
        return self.raw.name

    @property
    def mode(self) -> str:
        """"keep", "weight", or "one_per_group": the samples of a group take turns."""
        return self.raw.mode

    @property
    def settings(self) -> str:
        """Settings of the decision, in words; empty if a person or another program decided."""
        return self.raw.settings_in_words

    @property
    def ids(self) -> NDArray[np.uint64]:
        return self.raw.ids

    @property
    def weights(self) -> NDArray[np.float32]:
        """Weight of each sample; 0: left out."""
        return self.raw.weights

    @property
    def groups(self) -> NDArray[np.uint32]:
        """Number of the group of duplicates that a sample is in, across all splits."""
        return self.raw.components

    @property
    def kept(self) -> NDArray[np.uint64]:
        """Id of the sample kept for this one; its own id if it is kept."""
        return self.raw.kept

    @property
    def distances(self) -> NDArray[np.uint16]:
        """Bits between a sample and the one kept for it; 0 for equal files or pixels."""
        return self.raw.distances

    @property
    def rules(self) -> NDArray[np.uint8]:
        """Reason for each row, as an index of :data:`RULES`."""
        return self.raw.rules

    @property
    def splits(self) -> NDArray[np.uint8]:
        """Split in which each sample is used, as an index of :data:`winnow.cache.SPLITS`; empty: each in its own."""
        return self.raw.splits

    def mask(self) -> NDArray[np.bool_]:
        """Whether each sample is kept."""
        mask: NDArray[np.bool_] = self.raw.weights > 0
        return mask

    def with_weights(self, weights: ArrayLike) -> Selection:
        """The same groups with other weights, one per row: 0 or False leaves a sample out."""
        import numpy

        return Selection(self.raw.with_weights(numpy.ascontiguousarray(weights, numpy.float32)), self.grouped)

    def named(self, name: str) -> Selection:
        """The same selection under another name."""
        raw = self.raw.copy()
        raw.name = name
        return Selection(raw, self.grouped)

    def __and__(self, other: Selection) -> Selection:
        return Selection(self.raw.both(other.raw), self._grouped_with(other))

    def __or__(self, other: Selection) -> Selection:
        return Selection(self.raw.either(other.raw), self._grouped_with(other))

    def __sub__(self, other: Selection) -> Selection:
        return Selection(self.raw.without(other.raw), self._grouped_with(other))

    def _has_groups(self) -> bool:
        return len(self) > 0 and int(self.groups.max()) + 1 < len(self)

    def _grouped_with(self, other: Selection) -> _core.Selection | None:
        if not other._has_groups():
            return self.grouped
        if not self._has_groups() or self.grouped == other.grouped:
            return other.grouped
        return None

    def __repr__(self) -> str:
        kept = int(self.mask().sum())
        return f"<winnow.Selection {self.name!r}: {kept} of {len(self)} kept, mode {self.mode}>"


RULES: tuple[str, ...] = tuple(_core.rule_names)
