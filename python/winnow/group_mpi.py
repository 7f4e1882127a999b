"""A group over MPI, by mpi4py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import UsageError
from .group import numbered, this_machine

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class MpiGroup:
    """A group over its own copy of MPI_COMM_WORLD."""

    name = "MPI"

    def __init__(self, mpi: Any) -> None:
        if mpi.Query_thread() != mpi.THREAD_MULTIPLE:
            raise UsageError("the loader exchanges samples while the job uses MPI, which needs MPI_THREAD_MULTIPLE; do not "
                             "change mpi4py.rc.thread_level")  # fmt: skip
        self._mpi = mpi
        self._ranks = mpi.COMM_WORLD.Dup()
        self.rank: int = self._ranks.Get_rank()
        self.machines = numbered(self._ranks.allgather(this_machine()))

    def maximum(self, values: NDArray[np.int32]) -> None:
        self._ranks.Allreduce(self._mpi.IN_PLACE, values, op=self._mpi.MAX)

    def sum(self, values: NDArray[np.float64] | NDArray[np.int64]) -> None:
        self._ranks.Allreduce(self._mpi.IN_PLACE, values, op=self._mpi.SUM)

    def broadcast(self, values: NDArray[np.uint8], root: int) -> None:
        self._ranks.Bcast(values, root=root)

    def exchange(self, out: NDArray[np.uint8], out_sizes: list[int], into: NDArray[np.uint8], in_sizes: list[int]) -> _Request:
        return _Request(self._mpi, self._ranks.Ialltoallv([out, out_sizes, self._mpi.BYTE], [into, in_sizes, self._mpi.BYTE]))


class _Request:
    def __init__(self, mpi: Any, request: Any) -> None:
        self._mpi = mpi
        self._request = request

    def is_completed(self) -> bool:
        if self._mpi.Is_finalized():
            raise RuntimeError("MPI was finalized before the loader was closed")
        return bool(self._request.Test())

    def wait(self) -> None:
        self._request.Wait()
