"""winnow onnx: onnxruntime computes from the file what winnow eval computes. Arguments: names of nets to test."""

import csv
import json
import os
import shutil
import subprocess
import sys
import unittest

from golden import with_digest
from nets_test import listed
from program import Case, run

# A Python with onnx and onnxruntime, as made by `python3 -m venv` and `pip install onnx onnxruntime`.
PYTHON = os.environ.get("WINNOW_PACKAGES_PYTHON", "python3")
SIDE = 64
QUICK = ("lenet", "resnet20", "resnet50v2", "mobilenet_v3_small", "regnet_y_400mf", "googlenet_bn", "densenet121", "convnext_tiny",
         "alexnet_lrn", "vit_tiny_patch4_32")
COMPUTE = """
import json, sys
import numpy, onnx, onnxruntime
onnx.checker.check_model(onnx.load(sys.argv[1]), full_check=True)
session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
(pixels,) = session.get_inputs()
shape = pixels.shape[1:]
images = numpy.fromfile(sys.argv[2], numpy.uint8).reshape(-1, *shape[1:], shape[0]).transpose(0, 3, 1, 2)
(logits,) = session.run(["logits"], {"pixels": images})
print(json.dumps({"shape": pixels.shape, "type": pixels.type, "logits": logits.tolist(),
                  "metadata": session.get_modelmeta().custom_metadata_map}))
"""

# Feeds it as winnow onnx --help says: PPM files of any size in, one line of logits per file out.
FEED = """
import json, sys
import numpy, onnxruntime
from PIL import Image
session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
side = session.get_inputs()[0].shape[2]
short = int(session.get_modelmeta().custom_metadata_map["resize_px"])
for path in sys.argv[2:]:
    image = Image.open(path)
    w, h = image.size
    w, h = (short, h * short // w) if w <= h else (w * short // h, short)
    left, top = round((w - side) / 2), round((h - side) / 2)
    pixels = numpy.asarray(image.resize((w, h), Image.BILINEAR))[top : top + side, left : left + side]
    print(json.dumps(session.run(["logits"], {"pixels": pixels.transpose(2, 0, 1)[None].copy()})[0][0].tolist()))
"""


def has_packages(names):
    return subprocess.run([PYTHON, "-c", "import " + names], capture_output=True).returncode == 0


class Onnx(Case):
    chosen = ()

    def setUp(self):
        super().setUp()
        for split, count in (("train", 16), ("test", 6)):
            for i in range(count):
                self.write_ppm(self.folder / "data" / split / f"class {i % 3}" / f"{i:02}.ppm", self.image(SIDE), SIDE)
        self.cache = self.folder / "cache"
        self.ok("ingest", self.folder / "data", "--out", self.cache)

    def train(self, net):
        out = self.folder / net
        self.ok("train", self.cache, "--out", out, "--net", net, "--max-steps", 2, "--batch-size", 8, "--micro-batch", 8,
                "--augment", "none", "--lr", 0.01, "--optimizer", "sgd", "--log-interval", 1)  # fmt: skip
        return out

    def test_writes_a_model_or_says_why_not(self):
        run_folder = self.train("lenet")
        to = self.folder / "net.onnx"
        said = self.ok("onnx", run_folder, "--to", to, "--cache", self.cache)
        self.assertIn(f"input pixels (N,3,{SIDE},{SIDE}) of u8, output logits (N,3)", said.err)
        content = to.read_bytes()
        self.assertIn(b'["class 0","class 1","class 2"]', content)
        for key, value in ((b"resize_px", b"%d" % SIDE), (b"loss", b"cross_entropy")):  # as encoded by protobuf
            self.assertIn(b"\n%c%b\x12%c%b" % (len(key), key, len(value), value), content)
        self.refused(2, ["no run"], "onnx", self.folder / "data", "--to", to)
        self.refused(2, ["no checkpoint other"], "onnx", run_folder, "--to", to, "--checkpoint", "other")
        for i in range(4):
            self.write_ppm(self.folder / "more" / "train" / f"class {i}" / "0.ppm", self.image(SIDE), SIDE)
        self.ok("ingest", self.folder / "more", "--out", self.folder / "more.cache")
        self.refused(2, ["'class 3', which is in", "more.cache but not in"], "onnx", run_folder, "--to", to, "--cache", self.folder / "more.cache")
        shutil.rmtree(self.folder / "more")
        for i, name in enumerate(("class 0", "class 1b", "class 2")):
            for split in ("train", "test"):
                self.write_ppm(self.folder / "more" / split / name / f"{i}.ppm", self.image(SIDE), SIDE)
        self.ok("ingest", self.folder / "more", "--out", self.folder / "dogs.cache")
        with_dogs = ["onnx", run_folder, "--to", self.folder / "other.onnx", "--cache", self.folder / "dogs.cache"]
        self.refused(2, ["'class 1b', which is in", "dogs.cache but not in"], *with_dogs)
        self.ok("onnx", run_folder, "--to", self.folder / "alone.onnx")  # the file names its classes itself
        self.assertEqual((self.folder / "alone.onnx").read_bytes(), content)
        config = json.loads((run_folder / "config.json").read_text())
        del config["digest"], config["data"]["classes"]  # as written by an older version
        (run_folder / "config.json").write_text(with_digest(config))
        self.assertNotIn(b"class 1", (self.ok("onnx", run_folder, "--to", to), to.read_bytes())[1])
        self.ok("onnx", run_folder, "--to", to, "--cache", self.cache)
        self.assertEqual(to.read_bytes(), content)
        self.refused(2, ["'class 1b' instead of 'class 1'"], *with_dogs)
        (run_folder / "evaluation.json").unlink()
        self.assertIn("dogs.cache is not the cache that the run was trained on", self.ok(*with_dogs).err)
        self.refused(1, ["net.onnx"], "onnx", run_folder, "--to", self.folder / "none" / "net.onnx")
        os.mkfifo(self.folder / "pipe")  # as a device would, it stays what it is
        self.refused(2, ["pipe", "regular file"], "onnx", run_folder, "--to", self.folder / "pipe")
        self.assertTrue((self.folder / "pipe").is_fifo())
        full = run("onnx", run_folder, "--to", to, env={"WINNOW_FAILPOINTS": "enospc=file.write.before:net.onnx:1"})
        self.assertEqual(full.code, 1, full.err)
        self.assertEqual(to.read_bytes(), content)

    @unittest.skipUnless(has_packages("onnx, onnxruntime"), "no Python here has onnx and onnxruntime (see WINNOW_PYTHON3)")
    def test_onnxruntime_computes_the_same(self):
        for net in self.chosen or QUICK:
            with self.subTest(net=net):
                run_folder, to = self.train(net), self.folder / f"{net}.onnx"
                self.ok("onnx", run_folder, "--to", to, "--cache", self.cache)
                predictions = self.folder / "predictions.csv"
                self.ok("eval", run_folder, self.cache, "--predictions", predictions, "--logits")
                with open(predictions, newline="") as file:
                    rows = list(csv.DictReader(file))
                pixels = b"".join((self.folder / "data" / row["name"]).read_bytes()[-3 * SIDE * SIDE :] for row in rows)
                (self.folder / "pixels").write_bytes(pixels)
                done = subprocess.run([PYTHON, "-c", COMPUTE, to, self.folder / "pixels"], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                theirs = json.loads(done.stdout)
                self.assertEqual((theirs["shape"], theirs["type"]), (["N", 3, SIDE, SIDE], "tensor(uint8)"))
                self.assertEqual(theirs["metadata"]["net"], net)
                self.assertEqual(json.loads(theirs["metadata"]["classes"]), ["class 0", "class 1", "class 2"])
                self.assertEqual(len(theirs["logits"]), 6)
                for row, logits in zip(rows, theirs["logits"]):
                    ours = [float(row[f"logit_class {k}"]) for k in range(3)]
                    scale = max(map(abs, ours)) + 1e-3
                    for a, b in zip(ours, logits):
                        self.assertLessEqual(abs(a - b), 1e-4 * scale, (row["name"], ours, logits))

    @unittest.skipUnless(has_packages("onnxruntime, PIL"), "no Python here has onnxruntime and Pillow (see WINNOW_PYTHON3)")
    def test_images_of_other_sizes_are_fed_as_it_says(self):
        for i, (w, h) in enumerate(((100, 80), (64, 90), (50, 40), (77, 131), (64, 64), (33, 200))):
            path = self.folder / "sizes" / "test" / f"class {i % 3}" / f"{i}.ppm"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"P6\n%d %d\n255\n" % (w, h) + self.image(max(w, h))[: 3 * w * h])
        self.ok("ingest", self.folder / "sizes", "--out", self.folder / "sizes.cache")
        run_folder, to, predictions = self.train("resnet20"), self.folder / "net.onnx", self.folder / "predictions.csv"
        self.ok("onnx", run_folder, "--to", to)
        self.ok("eval", run_folder, self.folder / "sizes.cache", "--predictions", predictions, "--logits")
        with open(predictions, newline="") as file:
            rows = list(csv.DictReader(file))
        done = subprocess.run([PYTHON, "-c", FEED, to, *(self.folder / "sizes" / row["name"] for row in rows)],
                              capture_output=True, text=True)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        for row, line in zip(rows, done.stdout.splitlines(), strict=True):
            for k, logit in enumerate(json.loads(line)):
                self.assertAlmostEqual(logit, float(row[f"logit_class {k}"]), delta=1e-4, msg=row["name"])


if __name__ == "__main__":
    Onnx.chosen = [argument for argument in sys.argv[1:] if argument in listed()]
    unittest.main(verbosity=2, argv=[sys.argv[0], *(a for a in sys.argv[1:] if a not in Onnx.chosen)])
