"""Batches, as arrays of numpy or as tensors of torch."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .errors import UsageError

if TYPE_CHECKING:
    from . import _core


class Batch:
    """Samples ready for a network: this rank's part of one global batch.

    Each attribute is a numpy array, or a torch tensor where the loader was asked for tensors (or, with "auto", torch is imported).
    Attributes marked "without a copy" point into the batch's memory, which is reused once nobody holds any of them.
    """

    __slots__ = ("_pin", "_torch", "raw", "step")

    def __init__(self, raw: _core.Batch, step: int, torch: Any = None, pin: bool = False) -> None:
        self.raw = raw
        """The numpy arrays, whichever kind was asked for."""
        self.step = step
        """Number of the global batch, from 0."""
        self._torch = torch
        self._pin = pin

    def __len__(self) -> int:
        return len(self.raw)

    def _given(self, array: Any) -> Any:
        if self._torch is None:
            return array
        tensor = self._torch.from_numpy(array)
        return tensor.pin_memory() if self._pin else tensor

    @property
    def images(self) -> Any:
        """u8 levels 0..255, without a copy: numpy (n, height, width, channels); torch (n, channels, height, width) in the
        memory format channels_last."""
        images = self._given(self.raw.images)
        return images if self._torch is None else images.permute(0, 3, 1, 2)

    @property
    def labels(self) -> Any:
        """(n,) int64. UsageError if a sample has no label or several, as mixed samples do: use :meth:`targets` then."""
        return self._given(self.raw.labels)

    def targets(self, classes: int) -> Any:
        """(n, classes) float32: the weight of each label of each sample; 1, or the label's share in a mixed sample. A sample
        without a label has a row of zeros."""
        return self._given(self.raw.targets(classes))

    @property
    def weights(self) -> Any:
        """(n,) float32: the factor of each sample's loss, without a copy."""
        return self._given(self.raw.weights)

    @property
    def ids(self) -> Any:
        """(n,) ids, without a copy: uint64 in numpy; int64 with the same bits in torch."""
        ids = self.raw.ids
        return ids if self._torch is None else self._given(ids.view("int64"))

    def digest(self) -> str:
        """Hash over pixels, labels, weights, ids, groups, positions and the mixing of samples, as 16 hex digits. The digests of
        all ranks' parts of a batch add up, modulo 2^64, to the ``data.digest`` of ``winnow train --log-batches``."""
        return f"{self.raw.digest():016x}"


def torch_for(tensors: str) -> Any:
    """The module torch if ``tensors`` is "torch", or is "auto" and torch is already imported; None: use numpy."""
    if tensors not in ("auto", "numpy", "torch"):
        raise UsageError(f"tensors must be auto, numpy or torch, not {tensors!r}")
    if tensors == "torch":
        import torch

        return torch
    return sys.modules.get("torch") if tensors == "auto" else None
