"""Training batches in the order of ``winnow train``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from . import _core, ranks as ranks_of_job
from .batch import Batch, torch_for
from .cache import Where, path_of, sides
from .errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_STATE_VERSION = 1
_DRAWS_AT_ONCE = 1 << 16
_MOST_CLASS_WEIGHT = 1e6


def state_at(step: int, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The state after ``step`` global batches. ``facts``: the settings of the loader or sampler."""
    return {"version": _STATE_VERSION, "step": step, **facts}


def step_of(state: Mapping[str, Any], facts: Mapping[str, Any], kind: str) -> int:
    """The step of a state. UsageError if the state comes from a ``kind`` with other settings; the message names the difference."""
    if state.get("version") != _STATE_VERSION:
        raise UsageError(f"this is not a state of a {kind}, or it was written by a newer winnow")
    for name, here in facts.items():
        there = state.get(name)
        if there != here:
            raise UsageError(f"the state belongs to a {kind} with {name} {there!r}, but this one has {here!r}; make it with the same settings "
                             "to continue, or start again without the state")  # fmt: skip
    return int(state["step"])


def _factors_of(class_weights: str | os.PathLike[str] | Mapping[str, float] | None) -> tuple[_core.ClassWeights, Any]:
    """The factor of each class in the loss, and the same as plain values for states."""
    if class_weights is None:
        return _core.ClassWeights("", {}), None
    if not isinstance(class_weights, Mapping):
        text = os.fspath(class_weights)
        return _core.ClassWeights(text, {}), text
    of = {str(name): float(weight) for name, weight in class_weights.items()}
    for name, weight in of.items():
        if not 0 <= weight <= _MOST_CLASS_WEIGHT:
            raise UsageError(f"class {name!r} has the weight {weight}, but weights must be from 0 to {_MOST_CLASS_WEIGHT:.0f}")
    return _core.ClassWeights("", of), of


def place(
    cache: Where, memory: bool, memory_dir: str | os.PathLike[str] | None, job: ranks_of_job.Ranks
) -> _core.PlacedCache:
    """Opens a cache. Its shards are read where ``winnow train`` on one machine would read them with the same flags."""
    machines = _core.Machines(None, job.ranks > job.local_ranks)
    return _core.PlacedCache(path_of(cache), memory, _folder_of(memory_dir), machines, _core.MachineOptions(1, 0))


def share_out(
    cache: Where, memory_dir: str | os.PathLike[str] | None, replicas: int, ranks_per_machine: int, job: ranks_of_job.Ranks
) -> _core.PlacedCache:
    """Opens a cache that the job's machines share: each holds a part, as in ``winnow train --memory``. Collective: all ranks call it."""
    from . import group as groups

    if replicas < 1 or ranks_per_machine < 0:
        raise UsageError(f"replicas must be at least 1 and ranks_per_machine at least 0, not {replicas} and {ranks_per_machine}")
    group = groups.make()
    if (group.rank, len(group.machines)) != (job.rank, job.ranks):
        raise UsageError(f"rank {job.rank} of {job.ranks} is rank {group.rank} of {len(group.machines)} of {group.name}, over which machines give "
                         "each other samples; leave rank and ranks out, and start the job by the launcher of that library")  # fmt: skip
    how = _core.MachineOptions(replicas, ranks_per_machine)
    return _core.PlacedCache(path_of(cache), True, _folder_of(memory_dir), _core.Machines(group, False), how)


def _folder_of(memory_dir: str | os.PathLike[str] | None) -> str | None:
    return None if memory_dir is None else os.fspath(memory_dir)


class Loader:
    """Batches of a cache, with the samples, the order and the pixels of ``winnow train`` with the same options.

    Training data is one stream, epoch after epoch; each epoch has its own order, which depends only on the seed. Global batch
    ``b`` is positions ``[b * batch_size, (b + 1) * batch_size)`` of the stream, so no batch is short, and a batch may span two
    epochs. Each rank loads its part of every batch from the cache, so each rank must be able to read it.

    A loader belongs to the process that made it: forked or spawned processes make their own.

    Iterating gives the remaining batches of the current epoch; iterating again, those of the next. After leaving an epoch early,
    iteration continues at the same place: a batch that was returned counts as used. C++ threads prepare batches ahead, and the
    interpreter's lock is free while the caller waits for one.

    Parameters
    ----------
    cache: a :class:`Cache` or its path.
    batch_size: samples of a global batch, over all ranks.
    augment: a recipe as in ``winnow train --augment``: "none", "cifar", "imagenet", "crop+flip+erase:p=0.5" ...
    image_size: pixels of a side, or (height, width); None: as the images are, if all have one size.
    selection: name of a selection of the cache; "": all samples.
    split: the split whose samples are loaded.
    sampling: "uniform", "balanced", "repeat-factor" (with repeat_threshold) or "weighted".
    class_weights: the factor of each class in the loss, which multiplies ``Batch.weights``: "balanced", a mapping from class names
        (other classes: 1), or the path of a CSV file with lines class,weight. A class with weight 0 is left out.
    seed: seed of the order and of augmentation.
    rank, ranks: number of this process, and how many there are; None: as torch.distributed, or else the launcher, says.
    epochs: number of epochs; None: no end. After the last, iterating gives nothing.
    micro_batch: number of samples that stay together on a rank, as in ``winnow train --micro-batch``; each rank has
        equally many such parts, or one more. batch_size must be a multiple of it.
    shuffle_fraction, partitions: exchange fewer samples between partitions, as in ``winnow train``.
    threads: number of threads that read, decode and augment; 0: this process's share of the machine.
    ahead: number of batches prepared while the caller computes.
    memory: read the shards from a copy in this machine's memory, as ``winnow train --memory`` does. If there is no copy, it is
        made first, and each block is compared with its hash. All your processes on the machine share it. It is in use as long
        as any of their loaders lives, and remains until its space is needed or until ``winnow cache drop``. For a cache on a
        network file system this is the default.
    memory_dir: folder of the copy, on a tmpfs or a disk of the machine; implies memory; None: /dev/shm. If space is short, raises
        UsageError with the numbers.
    replicas: number of copies in the memory of all machines of the job together, as in ``winnow train --memory --replicas``. Each
        machine holds a part of a copy, and gets the other machines' records while batches are computed, over a separate group
        of torch.distributed where that is initialised, else of MPI, by mpi4py. Needs memory. All ranks must make the loader,
        move it (set_epoch, seek, load_state_dict) and close it together. None: each machine holds the whole cache.
    ranks_per_machine: with replicas, treat so many ranks as one machine, to try out several machines on one; 0: real machines.
    tensors: "torch", "numpy", or "auto": torch if it is already imported.
    pin_memory: copy batches into pinned memory (torch with CUDA).
    """

    def __init__(
        self,
        cache: Where,
        batch_size: int,
        *,
        augment: str = "none",
        image_size: int | tuple[int, int] | None = None,
        selection: str = "",
        split: str = "train",
        sampling: str = "uniform",
        repeat_threshold: float = 0.001,
        class_weights: str | os.PathLike[str] | Mapping[str, float] | None = None,
        seed: int = 1,
        rank: int | None = None,
        ranks: int | None = None,
        epochs: int | None = None,
        micro_batch: int = 1,
        shuffle_fraction: float = 1.0,
        partitions: int = 8,
        threads: int = 0,
        ahead: int = 2,
        memory: bool = False,
        memory_dir: str | os.PathLike[str] | None = None,
        replicas: int | None = None,
        ranks_per_machine: int = 0,
        tensors: str = "auto",
        pin_memory: bool = False,
    ) -> None:
        self._job = ranks_of_job.find(rank, ranks)
        self._torch = torch_for(tensors)
        self._pin = pin_memory
        how = _core.SamplingOptions(sampling, repeat_threshold, shuffle_fraction, partitions)
        factors, said_factors = _factors_of(class_weights)
        if replicas is None:
            placed = place(cache, memory, memory_dir, self._job)
        else:
            placed = share_out(cache, memory_dir, replicas, ranks_per_machine, self._job)
        self._exchanges = placed.is_spread
        self._copied_to = None if placed.copy is None else os.fspath(placed.copy)
        self._stream = _core.Stream(placed, split, selection, how, seed, batch_size, micro_batch, factors)
        height_px, width_px = sides(image_size)
        job = self._job
        self._part = _core.Part(job.rank, job.ranks, job.local_ranks, augment, height_px, width_px, threads, ahead)
        self._facts: dict[str, Any] = {
            "cache": self._stream.cache_digest, "selection": self._stream.selection_digest, "split": split,
            "batch_size": batch_size, "seed": seed, "augment": augment, "image_size": [height_px, width_px],
            "sampling": [sampling, repeat_threshold], "shuffle": [shuffle_fraction, partitions], "class_weights": said_factors,
        }  # fmt: skip
        self._batch_size = batch_size
        self._epochs = epochs
        self._step = 0
        self._census: dict[int, tuple[int, int]] = {}
        self._batches: _core.Batches | None = None
        # Reports a wrong part of a rank now, and not at the first batch.
        self._begin()

    @property
    def rank(self) -> int:
        return self._job.rank

    @property
    def ranks(self) -> int:
        return self._job.ranks

    @property
    def copied_to(self) -> str | None:
        """Folder of the copy that shards are read from, in memory or on a disk of the machine; None: they are read in place."""
        return self._copied_to

    @property
    def samples(self) -> int:
        """Number of samples in one epoch, over all ranks."""
        return self._stream.samples

    @property
    def step(self) -> int:
        """Number of the next global batch, from 0."""
        return self._step

    @property
    def epoch(self) -> int:
        """The epoch in which the next batch begins, from 0."""
        return self._step * self._batch_size // self.samples

    @property
    def waited_seconds(self) -> float:
        """Seconds spent waiting for batches since the loader last started over."""
        return 0.0 if self._batches is None else self._batches.waited_seconds

    @property
    def received_bytes(self) -> int:
        """Bytes of records received from other machines since the loader last started over, including those for batches ahead."""
        return 0 if self._batches is None else self._batches.received_bytes

    def first_step(self, epoch: int) -> int:
        """Number of the first global batch that begins in an epoch."""
        if epoch < 0:
            raise UsageError(f"an epoch must be 0 or more, not {epoch}")
        return self._stream.end_of_epoch(epoch)

    def __len__(self) -> int:
        """Batches that begin in the current epoch, whether returned already or not."""
        return self.first_step(self.epoch + 1) - self.first_step(self.epoch)

    def __iter__(self) -> Iterator[Batch]:
        epoch = self.epoch
        if self._epochs is not None and epoch >= self._epochs:
            return
        end = self.first_step(epoch + 1)
        while self._step < end:
            yield self.next()

    def next(self) -> Batch:
        """The next batch, in whichever epoch it is."""
        if self._batches is None:
            self._begin()
        assert self._batches is not None
        raw = self._next_of_all() if self._exchanges else self._batches.next()
        self._count(raw.begin, raw.ids)
        batch = Batch(raw, self._step, self._torch, self._pin)
        self._step += 1
        return batch

    def census(self) -> dict[int, tuple[int, int]]:
        """The samples that this rank got since the loader was made: for each epoch, from 0, their number and the sum, modulo
        2^64, of the XXH3-64 of their ids. If each sample was used exactly once, the sums over all ranks and all parts of an
        interrupted job equal :meth:`due`. ``census.json`` of a run has the same numbers."""
        return dict(self._census)

    def due(self, epoch: int) -> tuple[int, int]:
        """The :meth:`census` of a complete epoch over all ranks: number of samples, and sum of hashes of their ids."""
        if epoch < 0:
            raise UsageError(f"an epoch must be 0 or more, not {epoch}")
        first, end, total = epoch * self.samples, (epoch + 1) * self.samples, 0
        for begin in range(first, end, _DRAWS_AT_ONCE):
            total += _core.census_hash(self._stream.draws(begin, min(_DRAWS_AT_ONCE, end - begin))[0])
        return self.samples, total % 2**64

    def _count(self, begin: int, ids: NDArray[np.uint64]) -> None:
        at = 0
        while at < len(ids):
            epoch = (begin + at) // self.samples
            some = ids[at : (epoch + 1) * self.samples - begin]
            samples, total = self._census.get(epoch, (0, 0))
            self._census[epoch] = samples + len(some), (total + _core.census_hash(some)) % 2**64
            at += len(some)

    def weight_of_batch(self, step: int) -> float:
        """Sum of the weights of a whole global batch, the same on all ranks: the divisor of the sum of their losses."""
        return self._stream.weight_of_batch(step)

    def set_epoch(self, epoch: int) -> None:
        """Goes to the beginning of an epoch. Within that epoch it does nothing, so that a resumed job continues where it was."""
        if epoch != self.epoch:
            self.seek(self.first_step(epoch))

    def seek(self, step: int) -> None:
        """Goes to global batch ``step``, from 0."""
        if step < 0:
            raise UsageError(f"a step must be 0 or more, not {step}")
        if step != self._step:
            self.close()
            self._step = step

    def state_dict(self) -> dict[str, Any]:
        """The current position as plain values, the same on all ranks. Any number of ranks can load it."""
        return state_at(self._step, self._facts)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues after the last batch that was returned when the state was taken. UsageError if the loader has other data or
        settings; the message names the difference."""
        self.seek(step_of(state, self._facts, "winnow.Loader"))

    def close(self) -> None:
        """Ends its threads and frees prepared batches. The next batch starts them again."""
        if self._exchanges and self._batches is not None:
            self._batches.settle()  # sends what other ranks still wait for
        self._batches = None

    def __reduce__(self) -> NoReturn:
        raise UsageError("a winnow.Loader cannot be sent to another process, because its threads stay behind; make one in the process that uses it")

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, raised: object, *_: object) -> None:
        if raised is None:
            self.close()
        self._batches = None  # does not settle: other ranks may never reach the point where this one failed

    def _next_of_all(self) -> _core.Batch:
        """The next batch where it may have to wait for other ranks. Ctrl-C ends the wait, and, like every other error, is final."""
        assert self._batches is not None
        try:
            return self._batches.next_or_interrupt()
        except KeyboardInterrupt:
            self._batches = None
            raise

    def _begin(self) -> None:
        self._batches = _core.batches_of_stream(self._stream, self._part, self._step)


class Evaluation:
    """The samples of a split once each, in the order of their ids, as in ``winnow eval``. Samples that the selection removed are
    included; the selection only tells which samples are used in which split. Iterating again starts over.

    Each rank has a contiguous part of them, in batches of ``batch_size``; the last may be short. ``augment`` is a recipe without
    random draws, such as "centre_crop:resize=256"; the other parameters are those of :class:`Loader`.
    """

    def __init__(
        self,
        cache: Where,
        batch_size: int,
        *,
        split: str = "test",
        selection: str = "",
        augment: str = "none",
        image_size: int | tuple[int, int] | None = None,
        rank: int | None = None,
        ranks: int | None = None,
        threads: int = 0,
        ahead: int = 2,
        memory: bool = False,
        memory_dir: str | os.PathLike[str] | None = None,
        tensors: str = "auto",
        pin_memory: bool = False,
    ) -> None:
        job = ranks_of_job.find(rank, ranks)
        self._torch = torch_for(tensors)
        self._pin = pin_memory
        self._batch_size = batch_size
        self._once = _core.Once(place(cache, memory, memory_dir, job), split, selection)
        self._part = _core.Part(job.rank, job.ranks, job.local_ranks, augment, *sides(image_size), threads, ahead)
        _core.batches_once(self._once, self._part, batch_size)  # reports errors now

    @property
    def samples(self) -> int:
        """Number of samples over all ranks."""
        return self._once.samples

    @property
    def leaked(self) -> NDArray[np.uint64]:
        """Ids of samples that have a duplicate in another split, according to the selection."""
        return self._once.leaked

    def __iter__(self) -> Iterator[Batch]:
        batches = _core.batches_once(self._once, self._part, self._batch_size)
        step = 0
        while len(raw := batches.next()) > 0:
            yield Batch(raw, step, self._torch, self._pin)
            step += 1
