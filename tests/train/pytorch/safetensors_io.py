"""The safetensors format in a few lines: u64 header size, JSON header, data without holes."""

import json
import struct

import torch

DTYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
    "I64": torch.int64, "U8": torch.uint8,
}


def write(path, tensors):
    """Writes `tensors`, {name: torch.Tensor} like state_dict()."""
    names = {dtype: name for name, dtype in DTYPES.items()}
    header, data = {}, bytearray()
    for name, tensor in tensors.items():
        tensor = tensor.detach().contiguous()
        # numpy has no bfloat16: the bytes go through an integer type of the same width
        raw = (tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor).numpy().tobytes()
        header[name] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read(path):
    raw = bytearray(path.read_bytes())
    (size,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + size])
    header.pop("__metadata__", None)
    tensors = {}
    for name, row in header.items():
        begin, end = (8 + size + offset for offset in row["data_offsets"])
        tensors[name] = torch.frombuffer(raw[begin:end], dtype=DTYPES[row["dtype"]]).reshape(row["shape"])
    return tensors
