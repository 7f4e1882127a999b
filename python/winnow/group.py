"""The ranks of a job whose machines share a cache out, over what they reach each other by."""

from __future__ import annotations

import atexit
import importlib
import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from . import _core
from .errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

atexit.register(_core.end_groups)


class Group(Protocol):
    """Ranks with traffic of their own, which the job's does not meet. All ranks make theirs together, and call it in the same order."""

    name: str
    """What it goes over, for people."""
    rank: int
    """This one's."""
    machines: list[int]
    """Of each rank the number of its machine."""

    def maximum(self, values: NDArray[np.int32]) -> None: ...
    def sum(self, values: NDArray[np.float64] | NDArray[np.int64]) -> None: ...
    def broadcast(self, values: NDArray[np.uint8], root: int) -> None: ...
    def exchange(self, out: NDArray[np.uint8], out_sizes: list[int], into: NDArray[np.uint8], in_sizes: list[int]) -> Any:
        """Begins to send part r of ``out`` to rank r, and to put what comes from it into part r of ``into``. Both are in use until the
        work that is returned ``is_completed()``, and then ``wait()`` raises what went wrong."""


def make() -> Group:
    """Of torch.distributed where it is initialised, else of MPI where mpi4py is in use or mpirun began this process."""
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        from .group_torch import TorchGroup

        return TorchGroup(distributed)
    if "mpi4py.MPI" not in sys.modules and "OMPI_COMM_WORLD_SIZE" not in os.environ:
        raise UsageError("machines that hold parts of a cache give each other samples over torch.distributed or MPI; call "
                         "torch.distributed.init_process_group first, or start the job by mpirun, or leave replicas out")  # fmt: skip
    try:
        mpi = importlib.import_module("mpi4py.MPI")
    except ImportError as error:
        raise UsageError(f"ranks of mpirun give each other samples by mpi4py ({error}); install it (Debian: python3-mpi4py), or leave "
                         "replicas out") from None  # fmt: skip
    from .group_mpi import MpiGroup

    return MpiGroup(mpi)


def this_machine() -> str:
    """The same of processes that share memory: containers of one machine have names of their own."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    return f"{socket.gethostname()} {boot.read_text().strip() if boot.exists() else ''}"


def numbered(machines: list[str]) -> list[int]:
    """In the order in which they first come."""
    numbers = {machine: number for number, machine in enumerate(dict.fromkeys(machines))}
    return [numbers[machine] for machine in machines]
