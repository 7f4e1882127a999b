"""Tensors as C++ of run_operation.h, for scripts that print golden headers."""


def given(tensor):
    """Given{shape, numbers}, in memory order: NHWC where there are four extents."""
    return tensor_text(tensor, tensor.permute(0, 2, 3, 1) if tensor.ndim == 4 else tensor)


def given_filter(tensor):
    """The same of a filter, which stays in logical order."""
    return tensor_text(tensor, tensor)


def tensor_text(tensor, ordered):
    shape = ", ".join(str(extent) for extent in tensor.shape)
    numbers = ", ".join(repr(number) for number in ordered.flatten().tolist())
    return f"{{{{{shape}}}, {{{numbers}}}}}"
