"""winnow's samples, their order and their augmentation in the parts that PyTorch's DataLoader is made of.

:class:`winnow.Loader` is faster than these, and needs no DataLoader. Take these where code is built around one. Importing
this imports no torch.
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
    """Which samples of a :class:`Dataset` make each batch: those of :class:`winnow.Loader` and ``winnow train``, in that order.

    Gives indices into the data set, for ``DataLoader(dataset, batch_size=sampler.part, sampler=sampler)``. The batches that all
    ranks get at a step are together one global batch: ``batch_size`` positions of one stream, epoch after epoch, each epoch in
    an order of its own that depends on the seed alone. No batch is short, and one may reach into the next epoch.

    Each loop over the DataLoader gives the batches that are left of an epoch, and the next loop those of the next epoch. A loop
    that is left early is begun again by the next: a DataLoader takes indices ahead of what it gives, so the sampler does not
    know what was used. Who knows says so by :meth:`seek`, or stores it by :meth:`state_dict`.

    Parameters
    ----------
    dataset: whose samples are ordered; its selection and split are the sampler's.
    batch_size: samples of a global batch, of all ranks together; a multiple of their number.
    sampling: "uniform", "balanced", "repeat-factor" (with repeat_threshold) or "weighted".
    seed: of the order.
    rank, ranks: this process, and how many there are; None: as torch.distributed or else the launcher says.
    shuffle_fraction, partitions: exchange less than all between partitions, as ``winnow train`` has it.

    A loss that weighs samples, as a selection of mode "weight" asks for, is the caller's: ``dataset.weights[i]`` has the weight.
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
            raise UsageError(f"a batch of {batch_size} samples does not make equal parts for {self._job.ranks} ranks, as "
                             "DataLoaders need them; take a multiple of that, or winnow.Loader")  # fmt: skip
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
        """Samples of a global batch that this rank gets: the ``batch_size`` of its DataLoader."""
        return self._batch_size // self._job.ranks

    @property
    def samples(self) -> int:
        """Of one epoch, of all ranks together."""
        return self._stream.samples

    @property
    def step(self) -> int:
        """Number of the global batch that the loop began with, from 0; after a whole one that of the next loop."""
        return self._step

    @property
    def epoch(self) -> int:
        """That the next loop is of, from 0."""
        return self._step * self._batch_size // self.samples

    def _end(self) -> int:
        return self._stream.end_of_epoch(self.epoch + 1)

    def __len__(self) -> int:
        """Indices that the next loop gives this rank."""
        return (self._end() - self._step) * self.part

    def __iter__(self) -> Iterator[int]:
        first, end = self._step, self._end()
        for step in range(first, end):
            begin = step * self._batch_size + self._job.rank * self.part
            ids, _, _ = self._stream.draws(begin, self.part)
            yield from map(int, self._ids.searchsorted(ids))
        if self._step == first:  # nobody sought another place meanwhile
            self._step = end

    def set_epoch(self, epoch: int) -> None:
        """Goes to the beginning of an epoch, from 0. In the middle of that epoch nothing changes: who resumed goes on there."""
        if epoch < 0:
            raise UsageError(f"epochs are counted from 0, and {epoch} is none")
        if epoch != self.epoch:
            self.seek(self._stream.end_of_epoch(epoch))

    def seek(self, step: int) -> None:
        """The next loop begins with global batch ``step``, from 0."""
        if step < 0:
            raise UsageError(f"steps are counted from 0, and {step} is none")
        self._step = step

    def state_dict(self, step: int) -> dict[str, Any]:
        """Where a job stands that has done ``step`` global batches since the first epoch began, as plain values: the same on
        all ranks, to be loaded on any number of them. Count the steps as they are done; in the k-th turn of a loop, from 0,
        that is the ``step`` the sampler had before the loop, plus k + 1."""
        if step < 0:
            raise UsageError(f"steps are counted from 0, and {step} is none")
        return state_at(step, self._facts)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """The next loop goes on behind the steps that were done when the state was taken. UsageError where the sampler has other
        data, or another order, naming the difference."""
        self.seek(step_of(state, self._facts, "winnow.torch.Sampler"))


class Transform:
    """A recipe of winnow for one picture at a time, where a transform of torchvision goes: by itself, or in a Compose.

    What comes in goes out, of the size that was asked for: an array of numpy (height, width) or (height, width, 1 or 3) u8, a
    tensor of torch (1 or 3, height, width) u8, or a picture of Pillow. The recipe is that of ``winnow train --augment``, but for
    steps that mix samples. Safe in workers, and pickles.

    Random numbers come from torch's generator where torch is imported, else from :mod:`random`, so ``torch.manual_seed`` and the
    seeds of workers decide them. :meth:`at` has those of ``winnow train`` instead.

    Parameters
    ----------
    recipe: "cifar", "imagenet", "crop+flip+erase:p=0.5" ...
    image_size: pixels of a side, or (height, width); None: as the picture is.
    cache: by whose mean and deviation ``erase:value=random`` erases; None: ImageNet's.
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
        """What these three numbers say: those of a cache's picture, the seed of ``winnow train`` and how often the sample came
        before give its pixels there, bit for bit. (Where a recipe crops from a JPEG, the loader decodes only what it needs, at
        the scale it needs, and those may differ by rounding.)"""
        import numpy

        torch = sys.modules.get("torch")
        tensor = torch is not None and isinstance(picture, torch.Tensor)
        pixels = picture.cpu().numpy().transpose(1, 2, 0) if tensor else numpy.asarray(picture)
        if pixels.dtype != numpy.uint8 or pixels.ndim not in (2, 3):
            raise UsageError(f"a picture is u8 levels of (height, width[, channels]), or a tensor of (channels, height, width), not "
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
    """A recipe of winnow as a transform of single pictures, see :class:`Transform`. UsageError for a recipe that is none, or that
    mixes the samples of a batch."""
    return Transform(recipe, image_size, cache)


def _random_seed() -> int:
    torch = sys.modules.get("torch")
    return random.getrandbits(63) if torch is None else int(torch.randint(1 << 62, ()).item())
