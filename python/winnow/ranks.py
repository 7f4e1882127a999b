"""The rank of this process in its job."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass

from .errors import UsageError


@dataclass(frozen=True)
class Ranks:
    rank: int = 0
    ranks: int = 1
    local_ranks: int = 1
    """Processes of the job on this machine, which share its cores."""


def _number(name: str, fallback: int) -> int:
    text = os.environ.get(name, "")
    try:
        return int(text) if text else fallback
    except ValueError:
        raise UsageError(f"{name} is {text!r} in the environment, and should be a number") from None


def _of_torch() -> tuple[int, int] | None:
    """Rank and size from torch.distributed if it is initialised; never imports it."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return distributed.get_rank(), distributed.get_world_size()


def _of_mpi() -> tuple[int, int] | None:
    """Rank and size from mpi4py if MPI is active with several ranks; never imports it. Its MPI may differ from mpirun's."""
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is None or not mpi.Is_initialized() or mpi.Is_finalized() or mpi.COMM_WORLD.Get_size() == 1:
        return None
    return mpi.COMM_WORLD.Get_rank(), mpi.COMM_WORLD.Get_size()


def _of_slurm_step() -> int:
    """Number of processes that srun started on this node. SLURM_STEP_TASKS_PER_NODE looks like 4(x2),3: one number per node."""
    counts = os.environ.get("SLURM_STEP_TASKS_PER_NODE", "")
    nodes = [int(count) for count, times in re.findall(r"(\d+)(?:\(x(\d+)\))?", counts) for _ in range(int(times or 1))]
    node = _number("SLURM_NODEID", 0)
    return nodes[node] if 0 <= node < len(nodes) else 1


def find(rank: int | None, ranks: int | None) -> Ranks:
    """The rank: as given; else from torch.distributed; else from torchrun's environment; else from mpi4py or mpirun's environment;
    else a single rank."""
    if (rank is None) != (ranks is None):
        raise UsageError("give both rank and ranks, or neither")
    local = _number("LOCAL_WORLD_SIZE", _number("OMPI_COMM_WORLD_LOCAL_SIZE", _number("MPI_LOCALNRANKS", _of_slurm_step())))
    if rank is None or ranks is None:
        found = _of_torch()
        if found is None and "RANK" in os.environ and "WORLD_SIZE" in os.environ:
            found = _number("RANK", 0), _number("WORLD_SIZE", 1)
        if found is None:
            found = _of_mpi() or (_number("OMPI_COMM_WORLD_RANK", 0), _number("OMPI_COMM_WORLD_SIZE", 1))
        rank, ranks = found
    if not 0 <= rank < ranks:
        raise UsageError(f"rank {rank} is not one of {ranks} ranks, which count from 0")
    return Ranks(rank, ranks, max(1, min(local, ranks)))
