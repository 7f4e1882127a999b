"""The ranks of torch.distributed, for machines that share a cache out."""

from __future__ import annotations

import atexit
import datetime
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LONGEST_WAIT = datetime.timedelta(days=1)  # for ranks that evaluate or store meanwhile; one that died is noticed at once

atexit.register(_core.end_groups)


class Group:
    """A group of gloo's of its own, so that its traffic and the job's do not meet. All ranks make theirs together.

    ``rank``: this one; ``machines``: of each rank the number of its machine.
    """

    def __init__(self) -> None:
        distributed: Any = sys.modules.get("torch.distributed")
        if distributed is None or not distributed.is_available() or not distributed.is_initialized():
            raise UsageError("machines that hold parts of a cache give each other samples over torch.distributed; call "
                             "torch.distributed.init_process_group first, or leave replicas out")  # fmt: skip
        self._distributed = distributed
        self._group = distributed.new_group(backend="gloo", timeout=_LONGEST_WAIT)
        self.rank: int = distributed.get_rank()
        hosts: list[Any] = [None] * distributed.get_world_size()
        distributed.all_gather_object(hosts, _this_machine(), group=self._group)
        numbers = {host: number for number, host in enumerate(dict.fromkeys(hosts))}
        self.machines = [numbers[host] for host in hosts]

    def maximum(self, values: NDArray[np.int32]) -> None:
        self._reduce(values, self._distributed.ReduceOp.MAX)

    def sum(self, values: NDArray[np.float64] | NDArray[np.int64]) -> None:
        self._reduce(values, self._distributed.ReduceOp.SUM)

    def broadcast(self, values: NDArray[np.uint8], root: int) -> None:
        if len(values):
            self._distributed.broadcast(_tensor(values), src=root, group=self._group)

    def exchange(self, out: NDArray[np.uint8], out_sizes: list[int], into: NDArray[np.uint8], in_sizes: list[int]) -> Any:
        """Begins to send part r of ``out`` to rank r, and to put what comes from it into part r of ``into``. Both are in use until the
        work that is returned is completed."""
        return self._distributed.all_to_all_single(_tensor(into), _tensor(out), in_sizes, out_sizes, group=self._group, async_op=True)

    def _reduce(self, values: Any, operation: Any) -> None:
        if len(values):
            self._distributed.all_reduce(_tensor(values), op=operation, group=self._group)


def _tensor(values: Any) -> Any:
    import torch

    return torch.from_numpy(values)


def _this_machine() -> str:
    """The same of processes that share memory: containers of one machine have names of their own."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    return f"{socket.gethostname()} {boot.read_text().strip() if boot.exists() else ''}"
