"""Reading and writing weights of nets as safetensors files."""

from __future__ import annotations

import contextlib
import json
import math
import os
import secrets
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .batch import torch_for
from .errors import DataError, SystemFault, UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# numpy types of the safetensors types; numpy lacks BF16, which is read as its bits.
_NUMPY = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "<i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "<u1", "BOOL": "|b1",
}  # fmt: skip
_MOST_HEADER_BYTES = 100_000_000
_WRAPPERS = ("module.", "_orig_mod.")


def load_weights(path: str | os.PathLike[str], *, tensors: str = "auto") -> dict[str, Any]:
    """The tensors of a safetensors file, keyed by name, in the order of their data, each with the shape it has in the file.

    path: the file; or a run of ``winnow train``, whose newest checkpoint is read; or the folder of a checkpoint. winnow's nets
        have torchvision's names and shapes: ``net.load_state_dict(winnow.load_weights("RUN"))``.
    tensors: "torch", "numpy", or "auto": torch if it is already imported. BF16 is bfloat16 in torch, float32 in numpy.

    UsageError if there is no such file; DataError if it is truncated, damaged, or holds non-finite values.
    """
    torch = torch_for(tensors)
    file = _file_of(os.fspath(path))
    try:
        with open(file, "rb") as source:
            raw = bytearray(source.read())
    except FileNotFoundError:
        raise UsageError(f"there are no weights at {file}; give a .safetensors file or the folder of a run") from None
    rows, begin = _rows_of(raw, file)
    return {name: _tensor(raw, begin, file, row, torch) for name, row in rows.items()}


def save_weights(path: str | os.PathLike[str], state: Mapping[str, Any]) -> None:
    """Writes torch tensors or numpy arrays as a safetensors file, durably: afterwards the file is complete, or unchanged.

    state: values keyed by name, as ``net.state_dict()`` gives them; may be on a GPU. If all names begin with a wrapper's prefix
        ("module." of DistributedDataParallel, "_orig_mod." of compile), it is removed. ``winnow train --init-from`` takes F32,
        F16, BF16 and F64 under torchvision's names.

    UsageError for a value that is no tensor, a type that safetensors lacks, and non-finite values.
    """
    if not state:
        raise UsageError("there are no weights to save: the state is empty")
    named = dict(state)
    for prefix in _WRAPPERS * 2:  # either wrapper may be outside
        if all(name.startswith(prefix) for name in named):
            named = {name.removeprefix(prefix): value for name, value in named.items()}
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    data: list[NDArray[Any]] = []
    at = 0
    for name, value in named.items():
        if name == "__metadata__":
            raise UsageError("a tensor cannot be called __metadata__ in a safetensors file")
        dtype, array = _array(name, value)
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
        data.append(array)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    _replace(os.fspath(path), [len(text).to_bytes(8, "little"), text, *(array.tobytes() for array in data)])


def _file_of(path: str) -> str:
    if not os.path.isdir(path):
        return path
    latest = os.path.join(path, "checkpoints", "latest")
    return os.path.join(latest if os.path.isdir(latest) else path, "model.safetensors")


def _rows_of(raw: bytearray, file: str) -> tuple[dict[str, dict[str, Any]], int]:
    """The header's entry for each tensor, in the order of their data; and the offset where the data begin. Validates the
    header, since the file may come from an untrusted source."""
    size = int.from_bytes(raw[:8], "little")
    if len(raw) < 8 or size > _MOST_HEADER_BYTES or raw[8:9] != b"{":
        raise DataError(f"{file} is not a safetensors file")
    begin = 8 + size
    if begin > len(raw):
        raise DataError(f"{file} ends too soon: it is cut short")
    try:
        header = json.loads(raw[8:begin].decode(), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{file} is not a safetensors file: its header is not JSON ({error})") from None
    header.pop("__metadata__", None)
    for name, row in header.items():
        _check_row(name, row, file)
    rows = dict(sorted(header.items(), key=lambda item: list(item[1]["data_offsets"])))
    at = 0
    for name, row in rows.items():
        first, last = row["data_offsets"]
        if first != at:
            raise DataError(f"{file}: the tensors overlap or leave holes at {name}")
        if begin + last > len(raw):
            raise DataError(f"{file} ends too soon: it is cut short")
        at = last
    if begin + at != len(raw):
        raise DataError(f"{file}: bytes are left over after the tensors")
    return rows, begin


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        raise ValueError("a name comes twice")
    return unique


def _whole(numbers: Any) -> bool:
    return isinstance(numbers, list) and all(type(number) is int and 0 <= number < 2**63 for number in numbers)


def _check_row(name: str, row: Any, file: str) -> None:
    what = f"{file}: tensor {name!r}"
    if not isinstance(row, dict) or not {"dtype", "shape", "data_offsets"} <= row.keys():
        raise DataError(f"{what} lacks its dtype, shape or data_offsets")
    if not isinstance(row["dtype"], str) or row["dtype"] not in _NUMPY:
        raise DataError(f"{what} is of type {row['dtype']!r}, which neither numpy nor winnow supports")
    offsets = row["data_offsets"]
    if not _whole(row["shape"]) or not _whole(offsets) or len(offsets) != 2:
        raise DataError(f"{what} has an impossible shape or place: {row['shape']} at {offsets}")
    if math.prod(row["shape"]) * int(_NUMPY[row["dtype"]][2:]) != offsets[1] - offsets[0]:
        raise DataError(f"{what} has a shape of another size than its data")


def _tensor(raw: bytearray, begin: int, file: str, row: dict[str, Any], torch: Any) -> Any:
    import numpy

    first, last = row["data_offsets"]
    kind = numpy.dtype(_NUMPY[row["dtype"]])
    flat = numpy.frombuffer(raw, kind, (last - first) // kind.itemsize, begin + first)
    array = numpy.require(flat, requirements=["A", "W"]).reshape(row["shape"])
    if row["dtype"] == "BF16":
        values = (array.astype(numpy.uint32) << 16).view(numpy.float32)
    else:
        values = array
    if not _finite(values):
        raise DataError(f"{file} contains NaN or infinity; use weights from an earlier checkpoint")
    if torch is None:
        return values
    if row["dtype"] == "BF16":
        return torch.from_numpy(array.view(numpy.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def _array(name: str, value: Any) -> tuple[str, NDArray[Any]]:
    """The safetensors type of a tensor, and its elements, row-major and little-endian."""
    import numpy

    torch = sys.modules.get("torch")
    bits = None
    if torch is not None and isinstance(value, torch.Tensor):
        value = value.detach().cpu().contiguous()
        if value.dtype == torch.bfloat16:
            bits = value.view(torch.int16).numpy().astype("<u2", copy=False)
            value = value.float()
        try:
            value = value.numpy()
        except TypeError:
            raise UsageError(f"{name} is of type {value.dtype}, which a safetensors file of winnow cannot hold") from None
    elif not isinstance(value, (numpy.ndarray, numpy.generic)):
        raise UsageError(f"{name} is a {type(value).__name__}, but weights must be torch tensors or numpy arrays")
    array = numpy.asarray(value)
    if not _finite(array):
        raise UsageError(f"{name} contains NaN or infinity; save weights from before that")
    if bits is not None:
        return "BF16", bits
    for dtype, kind in _NUMPY.items():
        if dtype != "BF16" and array.dtype.newbyteorder("<") == numpy.dtype(kind):
            return dtype, numpy.asarray(array, numpy.dtype(kind), order="C")
    raise UsageError(f"{name} is of type {array.dtype}, which a safetensors file cannot hold")


def _finite(array: NDArray[Any]) -> bool:
    import numpy

    return array.dtype.kind != "f" or bool(numpy.isfinite(array).all())


def _replace(path: str, parts: list[bytes]) -> None:
    folder = os.path.dirname(path) or "."
    part = f"{path}.{secrets.token_hex(4)}.part"
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
        within = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(within)
        finally:
            os.close(within)
    except OSError as error:
        raise SystemFault(f"{path} cannot be written: {error.strerror}") from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
