"""A group over torch.distributed."""

from __future__ import annotations

import ctypes
import datetime
from collections import deque
from typing import TYPE_CHECKING, Any

from .group import numbered, this_machine

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LONGEST_WAIT = datetime.timedelta(days=1)  # other ranks may evaluate or store meanwhile; a dead rank is noticed at once

# The tensors of the last calls. A gloo thread releases a call's tensors shortly after the call returned. If nobody else holds
# them, the thread takes the interpreter's lock to free them, and aborts the process if the interpreter is shutting down. So they
# are held here. One reference to this deque is never released, so that the shutdown does not empty it.
_last_tensors: deque[Any] = deque(maxlen=64)
ctypes.pythonapi.Py_IncRef(ctypes.py_object(_last_tensors))


class TorchGroup:
    """A group over gloo, whichever backend the job uses."""

    name = "torch.distributed"

    def __init__(self, distributed: Any) -> None:
        self._distributed = distributed
        self._group = distributed.new_group(backend="gloo", timeout=_LONGEST_WAIT)
        self.rank: int = distributed.get_rank()
        hosts: list[Any] = [None] * distributed.get_world_size()
        distributed.all_gather_object(hosts, this_machine(), group=self._group)
        self.machines = numbered(hosts)

    def maximum(self, values: NDArray[np.int32]) -> None:
        self._reduce(values, self._distributed.ReduceOp.MAX)

    def sum(self, values: NDArray[np.float64] | NDArray[np.int64]) -> None:
        self._reduce(values, self._distributed.ReduceOp.SUM)

    def broadcast(self, values: NDArray[np.uint8], root: int) -> None:
        if len(values):
            self._distributed.broadcast(_tensor(values), src=root, group=self._group)

    def exchange(self, out: NDArray[np.uint8], out_sizes: list[int], into: NDArray[np.uint8], in_sizes: list[int]) -> Any:
        return self._distributed.all_to_all_single(_tensor(into), _tensor(out), in_sizes, out_sizes, group=self._group, async_op=True)

    def _reduce(self, values: Any, operation: Any) -> None:
        if len(values):
            self._distributed.all_reduce(_tensor(values), op=operation, group=self._group)


def _tensor(values: Any) -> Any:
    import torch

    tensor = torch.from_numpy(values)
    _last_tensors.append(tensor)
    return tensor
