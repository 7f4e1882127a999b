"""Predictions of a trained net for images, as arrays."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclasses.dataclass(frozen=True)
class Predictions:
    """Probabilities of images. There is one row per readable image, in the order they were given."""

    classes: list[str]  # class of each column
    names: list[str]  # name of each row
    probabilities: NDArray[np.float32]  # (rows, classes)
    features: NDArray[np.float32] | None  # (rows, dimensions); None: not requested
    failed: dict[str, tuple[str, str]]  # by name: the class in the ledger, and the reason

    def labels(self) -> list[str]:
        """The most probable class of each row."""
        return [self.classes[k] for k in self.probabilities.argmax(axis=1)]


def _pixels(image: Any) -> NDArray[np.uint8]:
    import numpy

    array = numpy.asarray(image)
    if array.dtype != numpy.uint8:
        raise UsageError(f"pixels must be uint8, not {array.dtype}")
    return numpy.ascontiguousarray(array)


def predict(
    run: str | os.PathLike[str],
    images: str | os.PathLike[str] | Iterable[Any],
    *,
    checkpoint: str = "",
    ema: bool = False,
    net: str = "",
    image_size: int = 0,
    classes: str | os.PathLike[str] = "",
    cache: str | os.PathLike[str] = "",
    tta: str = "",
    features: bool = False,
    window: int = 0,
    overlap: float = 0.5,
    scale: float = 1,
    pool: str = "mean",
    orientation: str = "ignore",
    dtype: str = "f32",
    names: Sequence[str] | None = None,
    threads: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> Predictions:
    """Predicts the classes of images with a trained net. The result is the output of ``winnow predict``, as arrays.

    run: a run's folder, one of its checkpoints, or a safetensors file with torchvision's names.
    images: path of a folder, an archive, a list, an image or a cache, or several; or an iterable of pictures, each a uint8 array
        (height, width) or (height, width, 1 or 3), or an object that numpy converts to one, such as a Pillow image.
    net, image_size, classes, cache: only for a file: the name of its net, its side in pixels, and its class names.
    window: slide a window of so many pixels a side over each image.
    names: names of the pictures of an iterable; None: their numbers.
    progress: called now and then with the number of images (or windows) done, and the number of all (0: not known).

    Other options are those of the program. Unreadable inputs are in ``failed``. UsageError if an option makes no sense.
    """
    from . import _net

    request = _net.PredictRequest()
    request.set_net(os.fspath(run), checkpoint, ema)
    request.set_file(net, image_size, os.fspath(classes), os.fspath(cache))
    request.set_how(tta, features, dtype, orientation)
    if window:
        request.set_windows(window, overlap, scale, pool)
    given = [images] if isinstance(images, (str, os.PathLike)) else list(images)
    if not given:
        raise UsageError("there is no image to predict; give a path, or pictures")
    arrays: list[NDArray[np.uint8]] = []
    if all(isinstance(one, (str, os.PathLike)) for one in given):
        if names is not None:
            raise UsageError("names are for pictures in memory; the images of a path have names already")
        request.set_sources([os.fspath(one) for one in given])
    else:
        arrays = [_pixels(one) for one in given]
        if names is not None and len(names) != len(arrays):
            raise UsageError(f"{len(arrays)} pictures have {len(names)} names; give one name for each picture")
    called = list(names) if names is not None else [str(i) for i in range(len(arrays))]
    found = _net.predict(request, arrays, called, threads, progress)
    return Predictions(
        classes=found.classes,
        names=found.names,
        probabilities=found.probabilities,
        features=found.features if features else None,
        failed={name: (fate, why) for name, fate, why in zip(found.failed, found.fates, found.reasons)},
    )
