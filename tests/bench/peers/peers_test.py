"""Every script that runs a peer runs here, on fifty small images, with stand-ins for the peers: a call that no longer fits fails.

What is asked is that each ends, and that its table has a row for each peer; nothing is measured.
"""

import csv
import importlib.util
import io
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
EDITS = HERE.parent / "edits"
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "end_to_end")]
sys.dont_write_bytecode = True
SKIPPED = 77
if not all(map(importlib.util.find_spec, ("numpy", "PIL"))):
    print("numpy or Pillow (python3-numpy, python3-pil) is not installed")
    raise SystemExit(SKIPPED)

import bench  # noqa: E402
import environments  # noqa: E402
import kept  # noqa: E402
from PIL import Image  # noqa: E402
from program import CAN_TRAIN_IN_BF16  # noqa: E402

WINNOW = pathlib.Path(os.environ["WINNOW"]).resolve()
SECONDS = 0.02


def picture(number, side=32):
    out = io.BytesIO()
    Image.frombytes("RGB", (side, side), random.Random(number).randbytes(3 * side * side)).save(out, "JPEG", quality=90)
    return out.getvalue()


def archive(file, pictures, kind="w"):
    with tarfile.open(file, kind) as out:
        for name, content in pictures.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            out.addfile(entry, io.BytesIO(content))


def make_data(folder):
    """As --data of peers/measure has it: five photos and three more, fifty images of CIFAR-10's form, one judged pair."""
    folder.mkdir()
    archive(folder / "imagenet-200.tar", {f"photos/{i}.JPEG": picture(i, 64) for i in range(5)})
    archive(folder / "imagenet-300-more.tar", {f"photos/{i}.JPEG": picture(i, 64) for i in range(5, 8)})
    small = {f"cifar10/{split}/{label}/{i:04}.jpg": picture(f"{split}{label}{i}") for split in ("train", "test") for label in "ab" for i in range(12)}
    small["cifar10/train/a/0100.jpg"] = small["cifar10/test/a/0000.jpg"]
    small["cifar10/train/b/0100.jpg"] = small["cifar10/test/b/0000.jpg"]
    archive(folder / "cifar10-jpeg.tar.xz", small, "w:xz")
    (folder / "cifar10_pairs.csv").write_text("image,other,judgment\ntest/a/0000.jpg,train/a/0100.jpg,0\n")


class Peers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="winnow-test-")
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name)
        make_data(cls.folder / "data")
        site = cls.folder / "site"
        site.mkdir()
        (site / "sitecustomize.py").write_text(f"import sys\nsys.path.insert(0, {str(HERE)!r})\nimport stand_ins\n")
        os.environ |= {"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
        cls.addClassCleanup(os.environ.pop, "PYTHONPATH")

    def table(self, part, **settings):
        """The lines that a part of peers/measure makes in one round, with the module's settings made small."""
        return self.measured(part, part, **settings)[1]

    def measured(self, part, folder, **settings):
        """The bench of a part, with its rounds in `folder`, and the lines that it makes."""
        module = bench.script("peers/measure").PARTS[part]
        for name, value in settings.items():
            kept = getattr(module, name)  # a setting that is gone is an error
            self.addCleanup(setattr, module, name, kept)
            setattr(module, name, value)
        work = self.folder / folder
        work.mkdir()
        pythons = dict.fromkeys(environments.PACKAGES, sys.executable)
        b = bench.Bench(WINNOW, self.folder / "data", work, pythons, 1)
        return b, "\n".join(module.measure(b))

    def test_all_parts_are_here(self):
        tested = {name.removeprefix("test_part_") for name in dir(self) if name.startswith("test_part_")}
        self.assertEqual(tested, set(bench.script("peers/measure").PARTS))

    def test_part_duplicates(self):
        table = self.table("duplicates")
        self.assertIn("| winnow | 2 | 100.0 % | 1 of 1 |", table)
        for peer in ("imagededup", "fastdup"):
            self.assertIn(f"| {peer} | 1 |", table)
        self.assertIn("time | no flags | fastdup, defaults |", table)

    def test_part_copies(self):
        table = self.table("copies", COPIES=1)
        for peer in ("winnow", "imagededup PHash", "imagededup WHash", "fastdup, its groups"):
            self.assertIn(f"| {peer} |", table)

    def test_part_loader(self):
        table = self.table("loader", SECONDS=SECONDS, WORKERS={"PIL": (1,), "io": (1,), "cifar": (1,)})
        for peer in ("torchvision, DataLoader", "DALI, CPU operators", "FFCV, JPEGs of quality 90"):
            self.assertIn(f"| 2 threads | {peer} |", table)

    def test_part_training(self):
        if not CAN_TRAIN_IN_BF16 or not shutil.which("mpirun"):
            self.skipTest("this needs mpirun, and a processor that trains in bf16 (AVX-512)")
        table = self.table("training", STEPS=2, NETS={"resnet20": ["channels_last"]})
        self.assertIn("training, resnet20 bf16", table)

    def test_ratios_are_made_of_the_rounds_that_are_kept(self):
        b, table = self.measured("loader", "kept", SECONDS=SECONDS, WORKERS={"PIL": (1,), "io": (1,), "cifar": (1,)})
        self.assertEqual(list(b.ratios), [("crops", "torchvision"), ("crops", "DALI"), ("crops", "FFCV"), ("cifar", "torchvision")])
        results = self.folder / "results"
        kept.keep(b, results, ["torch 0"])
        ratios = results / "peers" / "rounds.csv"
        was = ratios.read_text()
        self.assertEqual(len(was.splitlines()), 5)
        self.assertIn('"versions": ["torch 0"]', (results / "raw" / "peers.jsonl").read_text())
        ratios.unlink()
        shutil.rmtree(b.work)
        with mock.patch.object(kept, "PARTS", {"loader": kept.PARTS["loader"]}):
            kept.make(results)
        self.assertEqual(ratios.read_text(), was)

    def test_other_loaders(self):
        of = bench.script("loader/measure")
        folder = self.folder / "streaming"
        (folder / "photos").mkdir(parents=True)
        (folder / "photos" / "0.JPEG").write_bytes(picture(1))
        self.assertGreater(of.ask_peer(sys.executable, "streaming:1", folder, SECONDS), 0)

    def test_rounds_of_two_programs_are_refused_by_name(self):
        work = self.folder / "rounds"
        work.mkdir()
        other = work / "winnow"
        other.write_text("another program")
        measured = lambda folder: 1.0  # noqa: E731
        for program, rounds in ((WINNOW, 1), (other, 2)):
            b = bench.Bench(program, self.folder / "data", work, {}, rounds)
            if rounds == 1:
                self.assertEqual(b.rounds_of("part", lambda folder: None, {"winnow": measured}), [{"winnow": 1.0}])
        with self.assertRaisesRegex(SystemExit, r"rounds of 2 programs or machines in one table: part-0\.json: program .*part-1\.json: program"):
            b.rounds_of("part", lambda folder: None, {"winnow": measured})

    def test_features_of_peers(self):
        folder = self.folder / "features"
        folder.mkdir()
        names = [f"{i}.jpg" for i in range(50)]
        for i, name in enumerate(names):
            (folder / name).write_bytes(picture(i))
        with (folder / "truth.csv").open("w", newline="") as out:
            csv.writer(out).writerows([["file"], *([name] for name in names)])
        for peer in ("imagehash", "sscd"):
            with self.subTest(peer):
                out = self.folder / f"{peer}.npz"
                done = subprocess.run([sys.executable, EDITS / "features.py", peer, folder, out], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(out.exists())


if __name__ == "__main__":
    unittest.main()
