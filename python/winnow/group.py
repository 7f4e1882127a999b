"""The communication group of a job whose machines share a cache."""

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
    """Ranks with their own traffic, separate from the job's. All ranks make the group together, and call it in the same order."""

    name: str
    """Name of the transport, for messages."""
    rank: int
    """Number of this rank."""
    machines: list[int]
    """Number of each rank's machine."""

    def maximum(self, values: NDArray[np.int32]) -> None: ...
    def sum(self, values: NDArray[np.float64] | NDArray[np.int64]) -> None: ...
    def broadcast(self, values: NDArray[np.uint8], root: int) -> None: ...
    def exchange(self, out: NDArray[np.uint8], out_sizes: list[int], into: NDArray[np.uint8], in_sizes: list[int]) -> Any:
        """Starts sending part r of ``out`` to rank r, and receiving rank r's data into part r of ``into``. Both arrays are in
        use until the returned work ``is_completed()``; then ``wait()`` raises any error."""


def make() -> Group:
    """A group of torch.distributed if it is initialised; else of MPI, if mpi4py is in use or mpirun started this process."""
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        from .group_torch import TorchGroup

        return TorchGroup(distributed)
    if "mpi4py.MPI" not in sys.modules and "OMPI_COMM_WORLD_SIZE" not in os.environ:
        raise UsageError("machines that hold parts of a cache exchange samples over torch.distributed or MPI; call "
                         "torch.distributed.init_process_group first, or start the job with mpirun, or leave out replicas")  # fmt: skip
    try:
        mpi = importlib.import_module("mpi4py.MPI")
    except ImportError as error:
        raise UsageError(f"ranks of mpirun exchange samples through mpi4py ({error}); install it (Debian: python3-mpi4py), or leave "
                         "replicas out") from None  # fmt: skip
    from .group_mpi import MpiGroup

    return MpiGroup(mpi)


def this_machine() -> str:
    """Name of this machine, equal for processes that share memory. Containers of one machine have different names."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    return f"{socket.gethostname()} {boot.read_text().strip() if boot.exists() else ''}"


def numbered(machines: list[str]) -> list[int]:
    """The number of each machine, counted in order of first appearance."""
    numbers = {machine: number for number, machine in enumerate(dict.fromkeys(machines))}
    return [numbers[machine] for machine in machines]
