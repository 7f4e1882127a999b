"""winnow's samples, order and augmentation as parts for PyTorch's DataLoader.

:class:`winnow.Loader` is faster, and needs no DataLoader. Use these parts where existing code is built around one. Importing
this module does not import torch.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from . import _core, ranks as ranks_of_job
from .cache import Cache, sides
from .dataset import Dataset
from .errors import UsageError
from .loader import state_at, step_of

__all__ = ["Dataset", "Sampler", "Transform", "torchvision_transform"]


class Sampler:
    """The indices of a :class:`Dataset` in the batches and the order of :class:`winnow.Loader` and ``winnow train``.

    Use it as ``DataLoader(dataset, batch_size=sampler.part, sampler=sampler)``. The batches of all ranks at one step form one
    global batch: ``batch_size`` positions of one stream, epoch after epoch; each epoch has its own order, which depends only on
    the seed. No batch is short, and a batch may span two epochs.

    Each loop over the DataLoader gives the remaining batches of an epoch, and the next loop those of the next epoch. After a loop
    that ended early, the next one starts at the same batch again: a DataLoader takes indices ahead, so the sampler does not know
    which batches were used. A caller that knows can use :meth:`seek`, or store it by :meth:`state_dict`.

    Parameters
    ----------
    dataset: the data set whose samples are ordered; the sampler uses its selection and split.
    batch_size: samples of a global batch, over all ranks; a multiple of their number.
    sampling: "uniform", "balanced", "repeat-factor" (with repeat_threshold) or "weighted".
    seed: seed of the order.
    rank, ranks: number of this process, and how many there are; None: as torch.distributed, or else the launcher, says.
    shuffle_fraction, partitions: exchange fewer samples between partitions, as in ``winnow train``.

    If the selection has mode "weight", the caller multiplies each sample's loss by ``dataset.weights[i]``.
    """

    def __init__(
        self,
        dataset: Dataset,
        batch_size: int,
        *,
        sampling: str = "uniform",
        repeat_threshold: float = 0.001,
        seed: int = 1,
        rank: int | None = None,
        ranks: int | None = None,
        shuffle_fraction: float = 1.0,
        partitions: int = 8,
    ) -> None:
        self._job = ranks_of_job.find(rank, ranks)
        if batch_size < 1 or batch_size % self._job.ranks != 0:
            raise UsageError(f"a batch of {batch_size} samples cannot be split equally among {self._job.ranks} ranks, as "
                             "DataLoaders need it; use a multiple of the number of ranks, or winnow.Loader")  # fmt: skip
        how = _core.SamplingOptions(sampling, repeat_threshold, shuffle_fraction, partitions)
        alike = _core.ClassWeights("", {})
        self._stream = _core.Stream(_core.open_tables(dataset.cache.path), dataset.split, dataset.selection, how, seed, batch_size, 1, alike)
        self._ids = dataset.ids
        self._batch_size = batch_size
        self._step = 0
        self._facts: dict[str, Any] = {
            "cache": self._stream.cache_digest, "selection": self._stream.selection_digest, "split": dataset.split,
            "batch_size": batch_size, "seed": seed, "sampling": [sampling, repeat_threshold],
            "shuffle": [shuffle_fraction, partitions],
        }  # fmt: skip

    @property
    def part(self) -> int:
        """Samples of a global batch on this rank: the ``batch_size`` of its DataLoader."""
        return self._batch_size // self._job.ranks

    @property
    def samples(self) -> int:
        """Number of samples in one epoch, over all ranks."""
        return self._stream.samples

    @property
    def step(self) -> int:
        """Number, from 0, of the global batch with which the current loop began; after a complete loop, that of the next loop."""
        return self._step

    @property
    def epoch(self) -> int:
        """Epoch of the next loop, from 0."""
        return self._step * self._batch_size // self.samples

    def _end(self) -> int:
        return self._stream.end_of_epoch(self.epoch + 1)

    def __len__(self) -> int:
        """Number of indices that the next loop gives this rank."""
        return (self._end() - self._step) * self.part

    def __iter__(self) -> Iterator[int]:
        first, end = self._step, self._end()
        for step in range(first, end):
            begin = step * self._batch_size + self._job.rank * self.part
            ids, _, _ = self._stream.draws(begin, self.part)
            yield from map(int, self._ids.searchsorted(ids))
        if self._step == first:  # no seek happened meanwhile
            self._step = end

    def set_epoch(self, epoch: int) -> None:
        """Goes to the beginning of an epoch, from 0. Within that epoch it does nothing, so that a resumed job continues where
        it was."""
        if epoch < 0:
            raise UsageError(f"an epoch must be 0 or more, not {epoch}")
        if epoch != self.epoch:
            self.seek(self._stream.end_of_epoch(epoch))

    def seek(self, step: int) -> None:
        """Makes the next loop begin with global batch ``step``, from 0."""
        if step < 0:
            raise UsageError(f"a step must be 0 or more, not {step}")
        self._step = step

    def state_dict(self, step: int) -> dict[str, Any]:
        """The position of a job that has done ``step`` global batches since the first epoch began, as plain values: the same on
        all ranks, for any number of ranks to load. Count the steps as they are done: in the k-th turn of a loop, from 0,
        ``step`` is the sampler's ``step`` before the loop, plus k + 1."""
        if step < 0:
            raise UsageError(f"a step must be 0 or more, not {step}")
        return state_at(step, self._facts)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Makes the next loop continue after the steps that were done when the state was taken. UsageError if the sampler has
        other data or another order; the message names the difference."""
        self.seek(step_of(state, self._facts, "winnow.torch.Sampler"))


class Transform:
    """A winnow recipe for single pictures, usable as a torchvision transform: by itself, or in a Compose.

    The output has the kind of the input and the requested size: a u8 numpy array (height, width) or (height, width, 1 or 3), a u8
    torch tensor (1 or 3, height, width), or a Pillow picture. Recipes are those of ``winnow train --augment``, without steps that
    mix samples. Safe in workers, and pickles.

    Random numbers come from torch's generator if torch is imported, else from :mod:`random`, so ``torch.manual_seed`` and worker
    seeds control them. :meth:`at` uses the random numbers of ``winnow train`` instead.

    Parameters
    ----------
    recipe: "cifar", "imagenet", "crop+flip+erase:p=0.5" ...
    image_size: pixels of a side, or (height, width); None: as the picture is.
    cache: cache whose mean and deviation ``erase:value=random`` uses; None: ImageNet's.
    """

    def __init__(
        self,
        recipe: str,
        image_size: int | tuple[int, int] | None = None,
        cache: Cache | str | os.PathLike[str] | None = None,
    ) -> None:
        self._said = recipe, image_size, cache
        opened = None if cache is None else cache if isinstance(cache, Cache) else Cache(cache)
        self._augmenter = _core.Augmenter(recipe, *sides(image_size), None if opened is None else opened._open)

    def __reduce__(self) -> tuple[type[Transform], tuple[Any, ...]]:
        return Transform, self._said

    def __repr__(self) -> str:
        return f"<winnow.torch.Transform {self._augmenter.recipe}>"

    def __call__(self, picture: Any) -> Any:
        return self.at(picture, seed=_random_seed())

    def at(self, picture: Any, *, seed: int, epoch: int = 0, id: int = 0) -> Any:
        """The picture augmented with the random numbers of seed, epoch and id. With the sample's id, the seed of ``winnow
        train`` and the number of times the sample came before as epoch, the pixels are those of training, bit for bit. (If a
        recipe crops from a JPEG, the loader decodes only the part and scale it needs; then pixels may differ by rounding.)"""
        import numpy

        torch = sys.modules.get("torch")
        tensor = torch is not None and isinstance(picture, torch.Tensor)
        pixels = picture.cpu().numpy().transpose(1, 2, 0) if tensor else numpy.asarray(picture)
        if pixels.dtype != numpy.uint8 or pixels.ndim not in (2, 3):
            raise UsageError(f"a picture must be uint8 (height, width[, channels]), or a tensor (channels, height, width), not "
                             f"{pixels.dtype} of {tuple(picture.shape if tensor else pixels.shape)}")  # fmt: skip
        flat = pixels.ndim == 2
        given = numpy.ascontiguousarray(pixels[:, :, None] if flat else pixels)
        made = self._augmenter.augment(given, seed, epoch, id)
        if tensor:
            assert torch is not None
            return torch.from_numpy(made.transpose(2, 0, 1))
        if flat:
            made = made[:, :, 0]
        if isinstance(picture, numpy.ndarray):
            return made
        from PIL import Image

        return Image.fromarray(made)


def torchvision_transform(
    recipe: str,
    image_size: int | tuple[int, int] | None = None,
    cache: Cache | str | os.PathLike[str] | None = None,
) -> Transform:
    """A winnow recipe as a transform of single pictures, see :class:`Transform`. UsageError if the recipe is invalid, or mixes the
    samples of a batch."""
    return Transform(recipe, image_size, cache)


def _random_seed() -> int:
    torch = sys.modules.get("torch")
    return random.getrandbits(63) if torch is None else int(torch.randint(1 << 62, ()).item())
