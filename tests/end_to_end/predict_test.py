"""winnow predict: classes of images without labels, from any source and by any number of workers, the same as by eval."""

import base64
import contextlib
import csv
import json
import math
import os
import pathlib
import re
import signal
import struct
import subprocess
import tarfile
import unittest
from xml.etree import ElementTree

from golden import with_digest
from program import WINNOW, Case, eventually, run, tree_bytes

CLASSES = 3
SIDE = 24


def read_npy(path):
    """(shape, numbers) of a matrix of f4."""
    raw = path.read_bytes()
    length = int.from_bytes(raw[8:10], "little")
    header = raw[10 : 10 + length].decode()
    shape = tuple(int(n) for n in header.split("'shape': (")[1].split(")")[0].split(",") if n.strip())
    data = raw[10 + length :]
    return shape, struct.unpack(f"<{len(data) // 4}f", data)


def softmax(logits):
    most = max(logits)
    weights = [math.exp(value - most) for value in logits]
    return [weight / sum(weights) for weight in weights]


class PredictCase(Case):
    @classmethod
    def setUpClass(cls):
        """Pictures in three classes, a cache of them, a run, and the same pictures without labels."""
        case = cls("ok")
        case.setUp()
        cls.addClassCleanup(case.doCleanups)
        cls.shared = case.folder
        cls.photos, cls.flat = case.folder / "photos", case.folder / "flat"
        cls.flat.mkdir()
        for split, count in (("train", 24), ("test", 23)):
            for i in range(count):
                pixels = case.image(SIDE, seed=100 * len(split) + i)
                case.write_ppm(cls.photos / split / f"class-{i % CLASSES}" / f"{i:02}.ppm", pixels, SIDE)
                if split == "test":
                    case.write_ppm(cls.flat / f"class-{i % CLASSES}-{i:02}.ppm", pixels, SIDE)
        cls.cache, cls.trained = case.folder / "cache", case.folder / "run"
        case.ok("ingest", cls.photos, "--out", cls.cache)
        case.ok("train", cls.cache, "--out", cls.trained, "--net", "resnet20", "--batch-size", 8, "--augment", "none",
                "--max-steps", 6, "--ema-decay", 0.5)  # fmt: skip
        cls.weights = cls.trained / "checkpoints" / "latest" / "model.safetensors"

    def predict(self, *args, out="predicted", **more):
        return self.ok("predict", *args, "--out", self.folder / out, "--json", **more).json()

    def rows(self, out="predicted"):
        with open(self.folder / out / "predictions.csv", newline="") as file:
            return list(csv.reader(file))


class Predict(PredictCase):
    def evaluated(self, *args):
        """{name: probabilities by class} of the split test, and {name: predicted class}."""
        table = self.folder / "evaluated.csv"
        self.ok("eval", self.trained, self.cache, "--split", "test", "--predictions", table, "--logits", "--threads", 1, *args)
        probabilities, predicted = {}, {}
        with open(table, newline="") as file:
            for row in csv.DictReader(file):
                name = row["name"].split("/", 1)[1]
                probabilities[name] = softmax([float(row[f"logit_class-{k}"]) for k in range(CLASSES)])
                predicted[name] = row["prediction"]
        return probabilities, predicted

    def test_a_folder_a_tar_and_a_cache_are_predicted_as_eval_has_them(self):
        probabilities, predicted = self.evaluated()
        archive = self.folder / "test.tar"
        with tarfile.open(archive, "w") as tar:
            tar.add(self.photos / "test", ".")
        self.ok("ingest", self.photos / "test", "--out", self.folder / "of-test")
        for source in (self.photos / "test", archive, self.folder / "of-test"):
            out = source.name + "-predicted"
            said = self.predict(self.trained, source, "--top", CLASSES, out=out)
            self.assertEqual((said["images"], said["inputs"]["ok"], said["predicted_here"]), (23, 23, 23))
            header, *rows = self.rows(out)
            self.assertEqual(header, ["name", "class", "probability", "class_2", "probability_2", "class_3", "probability_3"])
            self.assertEqual(len(rows), 23)
            for name, *pairs in rows:
                name = name.removeprefix("./")
                self.assertEqual(pairs[0], predicted[name])
                for label, probability in zip(pairs[::2], pairs[1::2]):
                    self.assertAlmostEqual(float(probability), probabilities[name][int(label[-1])], delta=1e-6)
                self.assertEqual([float(p) for p in pairs[1::2]], sorted(map(float, pairs[1::2]), reverse=True))

    def test_augmented_predictions_are_those_of_eval(self):
        probabilities, _ = self.evaluated("--tta", "mirror")
        self.predict(self.trained, self.photos / "test", "--tta", "mirror", "--top", 1)
        header, *rows = self.rows()
        self.assertEqual(header, ["name", "class", "probability"])
        for name, label, probability in rows:
            self.assertAlmostEqual(float(probability), probabilities[name][int(label[-1])], delta=1e-6)

    def test_every_table_says_the_same(self):
        self.predict(self.trained, self.flat, "--top", CLASSES)
        _, *rows = self.rows()
        said = self.predict(self.trained, self.flat, "--format", "npy", "--features", out="npy")
        self.assertEqual(said["dimensions"], 64)
        shape, numbers = read_npy(self.folder / "npy" / "predictions.npy")
        self.assertEqual(shape, (23, CLASSES))
        names = (self.folder / "npy" / "names.txt").read_text().splitlines()
        classes = json.loads((self.folder / "npy" / "classes.json").read_text())
        self.assertEqual(classes, [f"class-{k}" for k in range(CLASSES)])
        self.predict(self.trained, self.flat, "--format", "jsonl", "--top", 2, out="jsonl")
        lines = [json.loads(line) for line in (self.folder / "jsonl" / "predictions.jsonl").read_text().splitlines()]
        for i, (name, *pairs) in enumerate(rows):
            self.assertEqual((names[i], lines[i]["name"]), (name, name))
            by_class = dict(zip(pairs[::2], map(float, pairs[1::2])))
            for k, label in enumerate(classes):
                self.assertAlmostEqual(numbers[CLASSES * i + k], by_class[label], delta=1e-9 + 1e-6 * by_class[label])
            self.assertEqual([one["class"] for one in lines[i]["classes"]], pairs[:4:2])

    def test_features_are_those_of_embed(self):
        self.predict(self.trained, self.photos / "test", "--features")
        shape, numbers = read_npy(self.folder / "predicted" / "features.npy")
        self.assertEqual(shape, (23, 64))
        self.ok("ingest", self.photos / "test", "--out", self.folder / "of-test")
        self.ok("embed", self.trained, self.folder / "of-test", "--name", "ours")
        given = self.ok("embed", self.folder / "predicted" / "features.npy", self.folder / "of-test", "--names",
                        self.folder / "predicted" / "names.txt", "--name", "given", "--json").json()  # fmt: skip
        self.assertEqual((given["images"], given["without"]), (23, 0))
        ours, theirs = ((self.folder / "of-test" / "features" / f"{name}.features").read_bytes() for name in ("ours", "given"))
        self.assertEqual(len(numbers), 23 * 64)
        self.assertGreater(sum(a == b for a, b in zip(ours[-23 * 128 :], theirs[-23 * 128 :])), 23 * 128 * 0.9)

    def test_what_cannot_be_read_is_in_the_ledger(self):
        mixed = self.folder / "mixed"
        mixed.mkdir()
        for path in sorted(self.flat.iterdir())[:5]:
            (mixed / path.name).write_bytes(path.read_bytes())
        sound = (mixed / sorted(os.listdir(mixed))[0]).read_bytes()
        (mixed / "a-empty.ppm").write_bytes(b"")
        (mixed / "b-cut.ppm").write_bytes(sound[:-100])
        (mixed / "c-other.heic").write_bytes(b"\0\0\0\x18ftypheic" + bytes(20))
        (mixed / "d-text.png").write_bytes(b"this is no picture")
        os.symlink("nowhere", mixed / "e-missing.ppm")
        said = self.predict(self.trained, mixed)
        self.assertEqual(said["inputs"]["ok"], 5)
        self.assertEqual(sum(said["inputs"].values()), said["images"])
        ledger = [json.loads(line) for line in (self.folder / "predicted" / "ledger.jsonl").read_text().splitlines()]
        self.ok("ingest", mixed, "--out", self.folder / "ingested")
        ingested = [json.loads(line) for line in (self.folder / "ingested" / "ledger.jsonl").read_text().splitlines()]
        self.assertEqual(ledger, ingested)
        self.assertEqual(len(self.rows()), 6)

    def test_links_are_sorted_by_class(self):
        sorted_into = self.folder / "sorted"
        said = self.predict(self.trained, self.flat, "--sort-into", sorted_into, "--top", 1)
        _, *rows = self.rows()
        found = {path.relative_to(sorted_into).as_posix() for path in sorted_into.rglob("*.ppm")}
        self.assertEqual(found, {f"{label}/{name}" for name, label, _ in rows})
        self.assertEqual(sum(one["images"] for one in said["classes"]), len(rows))
        for name, label, _ in rows:
            self.assertTrue(os.path.samefile(sorted_into / label / name, self.flat / name))
        self.refused(2, ["not a file of its own", "--sort-into"], "predict", self.trained, self.cache, "--out", self.folder / "x",
                     "--sort-into", sorted_into)  # fmt: skip

    def test_a_checkpoint_or_a_file_of_a_run_predicts_as_the_run_does(self):
        self.predict(self.trained, self.flat, out="run")
        self.predict(self.trained / "checkpoints" / "step-6", self.flat, out="checkpoint")
        self.predict(self.trained, self.flat, "--checkpoint", "step-6", out="named")
        self.predict(self.weights, self.flat, "--net", "resnet20", "--cache", self.cache, out="file")
        self.assertEqual(self.rows("run"), self.rows("checkpoint"))
        self.assertEqual(self.rows("run"), self.rows("named"))
        self.assertEqual(self.rows("run"), self.rows("file"))
        self.predict(self.trained, self.flat, "--ema", out="ema")
        self.assertNotEqual(self.rows("run"), self.rows("ema"))

    def test_several_sources_have_names_of_their_own(self):
        other = self.folder / "more" / "flat"
        other.mkdir(parents=True)
        for path in sorted(self.flat.iterdir())[:3]:
            (other / path.name).write_bytes(path.read_bytes())
        said = self.predict(self.trained, self.flat, other)
        self.assertEqual(said["images"], 26)
        names = [row[0] for row in self.rows()[1:]]
        self.assertEqual(len(set(names)), 26)
        self.assertEqual({name.split("/")[0] for name in names}, {"flat", "flat-2"})

    def test_a_page_shows_the_surest_and_the_least_sure(self):
        page = self.folder / "page.html"
        self.predict(self.trained, self.flat, "--report", page)
        text = page.read_text()
        self.assertIn("23 images predicted", text)
        self.assertIn("The least sure", text)
        self.assertIn("data:image/jpeg;base64,", text)
        first = text
        said = self.predict(self.trained, self.flat, "--report", page)  # of the existing predictions
        self.assertTrue(said["was_there"])
        self.assertEqual(said["predicted_here"], 0)
        self.assertEqual(page.read_text().split("<footer")[0], first.split("<footer")[0])

    def begun(self):
        """A run that has no checkpoint yet."""
        begun = self.folder / "begun"
        begun.mkdir()
        for path in self.trained.iterdir():
            if path.is_file():
                (begun / path.name).write_bytes(path.read_bytes())
        return begun

    def test_bad_use_is_one_sentence(self):
        out = self.folder / "out"
        for words, args in (
            (["name a run"], []),
            (["name the folder for the predictions"], [self.trained, self.flat]),
            (["name the images to predict"], [self.trained, "--out", out]),
            (["no run"], [self.flat, self.flat, "--out", out]),
            (["has no complete checkpoint"], [self.begun(), self.flat, "--out", out]),
            (["no checkpoint step-9"], [self.trained, self.flat, "--out", out, "--checkpoint", "step-9"]),
            (["is a checkpoint", "--checkpoint"], [self.trained / "checkpoints" / "step-6", self.flat, "--out", out, "--checkpoint", "best"]),
            (["knows its net"], [self.trained, self.flat, "--out", out, "--net", "resnet20"]),
            (["--net"], [self.weights, self.flat, "--out", out]),
            (["unknown test-time augmentation"], [self.trained, self.flat, "--out", out, "--tta", "sideways"]),
            (["a cache cannot be predicted together"], [self.trained, self.cache, self.flat, "--out", out]),
            (["both name"], [self.trained, self.flat, "--out", out, "--cache", self.cache, "--classes", self.folder / "names"]),
        ):  # fmt: skip
            self.refused(2, words, "predict", *args)
            self.assertFalse(out.exists())

    def test_classes_that_do_not_fit_are_refused(self):
        out, names = self.folder / "out", self.folder / "names"
        for text, words in (("a\nb\n", ["3 classes", "names 2"]), ("a\nb\na\n", ["'a' twice"]), ("\n", ["names no class"]),
                            ("a\nb\nc\n", ["for other classes", "'a'"]), ('["a", "b"]', ["names 2"])):  # fmt: skip
            names.write_text(text)
            self.refused(2, words, "predict", self.trained, self.flat, "--out", out, "--classes", names)
        names.write_bytes("a\nb\n".encode("utf-16"))  # like lists of other programs
        self.refused(2, ["3 classes", "names 2"], "predict", self.trained, self.flat, "--out", out, "--classes", names)
        self.refused(2, [f"there is no file {out}"], "predict", self.trained, self.flat, "--out", out, "--classes", out)
        names.write_text("class-2\nclass-0\nclass-1\n")  # the run names its own classes, in its order
        self.predict(self.trained, self.flat, "--classes", names)
        self.assertEqual(json.loads((self.folder / "predicted" / "classes.json").read_text()), ["class-0", "class-1", "class-2"])
        unnamed = self.folder / "unnamed"
        unnamed.mkdir()
        for path in self.trained.rglob("*"):
            if path.is_file() and not path.is_symlink():
                (unnamed / path.relative_to(self.trained)).parent.mkdir(parents=True, exist_ok=True)
                (unnamed / path.relative_to(self.trained)).write_bytes(path.read_bytes())
        older = json.loads((unnamed / "config.json").read_text())
        del older["data"]["classes"]
        del older["data"]["digest_by_names"]
        (unnamed / "config.json").write_text(with_digest(older))
        self.refused(2, ["does not name its classes", "--classes"], "predict", unnamed, self.flat, "--out", out)
        self.predict(unnamed, self.flat, "--cache", self.cache, out="by-cache")
        self.assertEqual(self.rows("by-cache"), self.rows())
        self.predict(unnamed, self.flat, "--classes", names, out="by-names")
        other = dict(zip(["class-0", "class-1", "class-2"], ["class-2", "class-0", "class-1"]))
        self.assertEqual([row[1] for row in self.rows("by-names")[1:]], [other[row[1]] for row in self.rows()[1:]])

    def test_nothing_readable_is_refused(self):
        broken = self.folder / "broken"
        broken.mkdir()
        (broken / "a.ppm").write_bytes(b"P6\n9 9\n255\n")
        self.refused(3, ["none of the 1 images", "ledger.jsonl"], "predict", self.trained, broken, "--out", self.folder / "out")
        self.assertIn("truncated", (self.folder / "out" / "ledger.jsonl").read_text())
        self.refused(2, ["nothing at"], "predict", self.trained, self.folder / "nowhere", "--out", self.folder / "out-2")

    def test_a_folder_of_something_else_is_refused(self):
        other = self.folder / "other"
        other.mkdir()
        (other / "mine.txt").write_text("mine")
        self.refused(2, ["contains other files, such as mine.txt"], "predict", self.trained, self.flat, "--out", other)
        self.predict(self.trained, self.flat)
        before = tree_bytes(self.folder / "predicted")
        for words, args in ((["test-time augmentation"], ["--tta", "mirror"]), (["tables"], ["--top", 1]), (["features"], ["--features"]),
                            (["weights"], ["--ema"])):  # fmt: skip
            self.refused(2, ["contains other predictions", *words], "predict", self.trained, self.flat, "--out", self.folder / "predicted", *args)
        self.refused(2, ["source"], "predict", self.trained, self.photos, "--out", self.folder / "predicted")
        self.assertEqual(tree_bytes(self.folder / "predicted"), before)

    def test_the_net_s_broken_numbers_are_said(self):
        broken = self.folder / "broken.safetensors"
        raw = bytearray(self.weights.read_bytes())
        raw[-4:] = struct.pack("<f", math.inf)
        broken.write_bytes(raw)
        self.refused(1, ["NaN or infinity"], "predict", broken, self.flat, "--net", "resnet20", "--cache", self.cache, "--out", self.folder / "out")


class Workers(PredictCase):
    def many(self, count=600):
        """Enough pictures for several tasks."""
        many = self.folder / "many"
        many.mkdir()
        for i in range(count):
            self.write_ppm(many / f"{i:04}.ppm", self.random.randbytes(3 * 8 * 8), 8)
        return many

    def results(self, out):
        return {name: raw for name, raw in tree_bytes(self.folder / out).items() if not name.startswith("tasks/")}

    def start(self, many, out):
        return subprocess.Popen([WINNOW, "predict", str(self.trained), str(many), "--out", str(self.folder / out), "--threads", "1"],
                                stderr=subprocess.PIPE, text=True)  # fmt: skip

    def test_any_workers_write_the_same_bytes(self):
        many = self.many()
        self.predict(self.trained, many, out="alone")
        expected = self.results("alone")
        workers = [self.start(many, "shared") for _ in range(3)]
        for worker in workers:
            _, said = worker.communicate()
            self.assertEqual(worker.returncode, 0, said)
        self.assertEqual(self.results("shared"), expected)
        self.predict(self.trained, many, "--alone", "--threads", 1, out="without-locks")
        self.assertEqual(self.results("without-locks"), expected)
        self.predict(self.trained, many, out="ranks", ranks=2)
        self.assertEqual(self.results("ranks"), expected)
        self.predict(self.trained, many, out="threads", env={"WINNOW_PREDICT_THREADS": "5"})
        self.assertEqual(self.results("threads"), expected)

    def test_killed_workers_are_redone(self):
        many = self.many()
        self.predict(self.trained, many, out="alone")
        expected = self.results("alone")
        for round in range(3):
            out = f"killed-{round}"
            workers = [self.start(many, out) for _ in range(3)]
            parts = self.folder / out / "parts"
            eventually(lambda: any(worker.poll() is not None for worker in workers) or (parts.is_dir() and any(parts.iterdir()))
                       if round else (self.folder / out / "predict.json").exists())  # fmt: skip
            for worker in workers[:2]:
                worker.kill()
            for worker in workers:
                worker.communicate()
            self.predict(self.trained, many, out=out)
            self.assertEqual(self.results(out), expected)

    def test_one_that_is_killed_when_all_is_written_is_gone_on_with(self):
        many = self.many(300)
        self.predict(self.trained, many, out="alone")
        expected = self.results("alone")
        self.assertFalse((self.folder / "alone" / "parts").exists())
        for i, point in enumerate(("file.rename.before:report.json", "file.rename.after:report.json", "dir.remove.before:parts", "dir.remove.after:parts")):
            for alone in ((), ("--alone",)):
                out = f"killed-{i}-{len(alone)}"
                killed = run("predict", self.trained, many, "--out", self.folder / out, *alone, env={"WINNOW_FAILPOINTS": f"kill={point}:1"})
                self.assertEqual(killed.code, -signal.SIGKILL, killed.err)
                self.predict(self.trained, many, *alone, out=out)
                self.assertEqual(self.results(out), expected)
                self.assertFalse((self.folder / out / "parts").exists())

    def test_a_worker_that_waits_for_one_killed_at_the_very_end_takes_its_place(self):
        many = self.many(300)
        self.predict(self.trained, many, out="alone")
        command = [WINNOW, "predict", self.trained, many, "--out", self.folder / "shared", "--threads", 1]
        last = subprocess.Popen(list(map(str, command)), stderr=subprocess.DEVNULL, env={**os.environ, "WINNOW_FAILPOINTS": "hang=dir.remove.after:parts:1"})
        eventually(lambda: (self.folder / "shared" / "report.json").exists() and not (self.folder / "shared" / "parts").exists())
        (self.folder / "shared" / "report.json").rename(self.folder / "report.json")  # as it was when the other began
        other = subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True)
        for line in other.stderr:
            if "waiting" in line:
                break
        (self.folder / "report.json").rename(self.folder / "shared" / "report.json")
        last.kill()
        last.wait()
        _, said = other.communicate()
        self.assertEqual(other.returncode, 0, said)
        self.assertEqual(self.results("shared"), self.results("alone"))

    def test_a_frozen_worker_is_waited_for_and_named(self):
        many = self.many()
        self.predict(self.trained, many, out="alone")
        frozen = self.start(many, "frozen")
        self.addCleanup(frozen.kill)
        claims = self.folder / "frozen" / "tasks" / "claims"

        def is_named():
            """Whether a claim names the worker."""
            with contextlib.suppress(FileNotFoundError):
                return any(str(frozen.pid) in claim.read_text().split() for claim in claims.iterdir())
            return False

        while frozen.poll() is None:
            eventually(lambda: frozen.poll() is not None or is_named())
            frozen.send_signal(signal.SIGSTOP)
            if is_named():
                break
            frozen.send_signal(signal.SIGCONT)  # it was working on no task
        if frozen.poll() is not None or (self.folder / "frozen" / "report.json").exists():
            self.skipTest("the worker was done before it could be frozen")
        other = self.start(many, "frozen")
        lines = []
        for line in other.stderr:
            lines.append(line)
            if f"process {frozen.pid}" in line:
                break
        self.assertIn("waiting", lines[-1], lines)
        status = self.ok("predict", "--status", "--out", self.folder / "frozen", "--json").json()
        self.assertFalse(status["finished"])
        self.assertTrue(any(f"process {frozen.pid}" in worker for worker in status["workers"]), status)
        frozen.send_signal(signal.SIGCONT)
        other.communicate()
        frozen.communicate()
        self.assertEqual((other.returncode, frozen.returncode), (0, 0))
        self.assertEqual(self.results("frozen"), self.results("alone"))
        self.assertTrue(self.ok("predict", "--status", "--out", self.folder / "frozen", "--json").json()["finished"])

    def test_a_source_that_changed_is_refused(self):
        many = self.many(300)
        self.predict(self.trained, many)
        (many / "0001.ppm").write_bytes((many / "0001.ppm").read_bytes() + b"more")
        self.refused(2, ["contains other predictions", "source"], "predict", self.trained, many, "--out", self.folder / "predicted")

    def test_a_stopped_worker_says_how_to_go_on(self):
        many = self.many()
        out = self.folder / "stopped"
        worker = self.start(many, "stopped")
        eventually(lambda: worker.poll() is not None or (out / "tasks" / "queue.json").exists())
        worker.send_signal(signal.SIGINT)
        _, said = worker.communicate()
        self.assertIn(worker.returncode, (0, 75), said)
        if worker.returncode == 75:
            self.assertIn("same command again", said)
        self.predict(self.trained, many, out="stopped")
        self.assertEqual(len(self.rows("stopped")), 601)

    def test_a_disk_that_is_full_at_any_file_is_a_sentence_and_the_same_command_goes_on(self):
        many = self.many(300)
        (many / "large.ppm").write_bytes(ppm(self.random.randbytes(3 * 60 * 50), 60, 50))
        args = ["predict", self.trained, many, "--window", SIDE, "--map", "class-0", "--min-map", 0.2, "--features"]
        self.ok(*args, "--out", self.folder / "whole")
        expected = self.results("whole")
        stopped = run(*args, "--out", self.folder / "begun", env={"WINNOW_FAILPOINTS": "enospc=file.write.before:classes.json:1"})
        self.assertEqual(stopped.code, 1)
        part = sorted((self.folder / "begun" / "parts").iterdir())[-1].name  # the same in any folder with the same predictions
        out = self.folder / "full"
        for file in ("predict.json", part, "large.ppm.npy", "classes.json", "ledger.jsonl", "predictions.csv", "features.npy", "boxes.csv",
                     "report.json"):  # fmt: skip
            full = run(*args, "--out", out, env={"WINNOW_FAILPOINTS": f"enospc=file.write.before:{file}:1"})
            self.assertEqual(full.code, 1, (file, full.err))
            lines = [line for line in full.err.splitlines() if line.startswith("winnow: ")]
            self.assertEqual(len(lines), 1, full.err)
            self.assertIn("No space left", lines[0])
            self.assertFalse((out / "report.json").exists())
        self.ok(*args, "--out", out)
        self.assertEqual(self.results("full"), expected)

    @unittest.skipUnless(os.environ.get("WINNOW_FAULTY_STORAGE"), "this build has no faulty storage to preload (a sanitizer must be the first library)")
    def test_storage_without_locks_is_for_one_process(self):
        many = self.many(300)
        self.predict(self.trained, many, out="expected")
        unlocked = {"LD_PRELOAD": os.environ["WINNOW_FAULTY_STORAGE"], "FAULTY_ROOT": str(self.folder / "out"), "FAULTY_CALLS": "lock=ENOLCK/1!"}
        refused = run("predict", self.trained, many, "--out", self.folder / "out", env=unlocked)
        self.assertEqual(refused.code, 1, refused.err)
        for words in ("cannot lock", "--alone", "mpirun"):
            self.assertIn(words, refused.err)
        self.predict(self.trained, many, "--alone", out="out", env=unlocked)
        self.assertEqual(self.results("out"), self.results("expected"))

    def test_damaged_parts_and_papers_are_refused(self):
        many = self.many(300)
        out = self.folder / "damaged"
        stopped = run("predict", self.trained, many, "--out", out, env={"WINNOW_FAILPOINTS": "enospc=file.write.before:classes.json:1"})
        self.assertEqual(stopped.code, 1)
        part = sorted((out / "parts").iterdir())[0]
        sound = part.read_bytes()
        part.write_bytes(sound[:-9] + bytes(9))
        self.refused(1, [part.name, "is damaged", "remove this file"], "predict", self.trained, many, "--out", out)
        part.unlink()
        for claim in (out / "tasks" / "claims").iterdir():
            claim.write_text("")
        for result in (out / "tasks" / "results").iterdir():
            result.unlink()
        self.predict(self.trained, many, out="damaged")
        for file in ("report.json", "predict.json"):
            (out / file).write_text("{")
            self.refused(1, [file, "is damaged"], "predict", self.trained, many, "--out", out)
            (out / "report.json").unlink(missing_ok=True)

    def test_status_of_nothing_is_refused(self):
        self.refused(2, ["contains no predictions"], "predict", "--status", "--out", self.folder / "nowhere")
        self.refused(2, ["--status needs --out"], "predict", "--status")


def bump(side):
    return [math.exp(-1 / (1 - ((2 * i + 1) / side - 1) ** 2)) for i in range(side)]


def starts(side, window, stride):
    last = max(0, side - window)
    return [*range(0, last, stride), last]


def read_npy3(path):
    """(shape, numbers) of a three-dimensional array of f4."""
    shape, numbers = read_npy(path)
    assert len(shape) == 3
    return shape, numbers


def ppm(pixels, width, height):
    return b"P6\n%d %d\n255\n" % (width, height) + pixels


def cut(pixels, width, top, left, rows, columns):
    return b"".join(pixels[3 * ((top + y) * width + left) : 3 * ((top + y) * width + left + columns)] for y in range(rows))


def big_tiff(pixels, width, height, rows_a_strip, big=True):
    """A (Big)TIFF of RGB in uncompressed strips."""
    strips = [pixels[3 * width * y : 3 * width * min(height, y + rows_a_strip)] for y in range(0, height, rows_a_strip)]
    head = 16 if big else 8
    offset, size, count = ("<Q", 8, "<Q") if big else ("<I", 4, "<I")
    at = head
    offsets = []
    for strip in strips:
        offsets.append(at)
        at += len(strip)
    tables = struct.pack(f"<{len(strips)}{offset[1]}", *offsets), struct.pack(f"<{len(strips)}I", *map(len, strips))
    bits = struct.pack("<3H", 8, 8, 8)
    places = at, at + len(tables[0]), at + len(tables[0]) + len(tables[1])
    body = b"".join(strips) + b"".join(tables) + bits
    body += bytes((-(head + len(body))) % 8)
    directory = head + len(body)

    def entry(tag, kind, values, place=None):
        code = {3: "H", 4: "I", 16: "Q"}[kind]
        raw = struct.pack(f"<{len(values)}{code}", *values)
        value = raw.ljust(size, b"\0") if len(raw) <= size else struct.pack(offset, place)
        return struct.pack("<HH", tag, kind) + struct.pack(count, len(values)) + value

    entries = [entry(256, 4, [width]), entry(257, 4, [height]), entry(258, 3, [8, 8, 8], places[2]), entry(259, 3, [1]), entry(262, 3, [2]),
               entry(273, 16 if big else 4, offsets, places[0]), entry(277, 3, [3]), entry(278, 4, [rows_a_strip]),
               entry(279, 4, [len(strip) for strip in strips], places[1]), entry(284, 3, [1])]  # fmt: skip
    ifd = struct.pack("<Q" if big else "<H", len(entries)) + b"".join(entries) + bytes(size)
    if big:
        return b"II\x2b\0\x08\0\0\0" + struct.pack("<Q", directory) + body + ifd
    return b"II\x2a\0" + struct.pack("<I", directory) + body + ifd


class Windows(PredictCase):
    WIDTH, HEIGHT = 3 * SIDE + 11, 2 * SIDE + 5

    def setUp(self):
        super().setUp()
        self.pixels = self.random.randbytes(3 * self.WIDTH * self.HEIGHT)
        self.large = self.folder / "large"
        self.large.mkdir()
        (self.large / "one.ppm").write_bytes(ppm(self.pixels, self.WIDTH, self.HEIGHT))

    def probabilities(self, name, pictures):
        """Probabilities of pictures shown whole: rows of classes."""
        folder = self.folder / name
        folder.mkdir()
        for i, (pixels, width, height) in enumerate(pictures):
            (folder / f"{i:05}.ppm").write_bytes(ppm(pixels, width, height))
        self.predict(self.trained, folder, "--format", "npy", out=f"{name}-predicted")
        _, numbers = read_npy(self.folder / f"{name}-predicted" / "predictions.npy")
        return [numbers[CLASSES * i : CLASSES * (i + 1)] for i in range(len(pictures))]

    def windows(self, span, stride):
        return [(top, left) for top in starts(self.HEIGHT, span, stride) for left in starts(self.WIDTH, span, stride)]

    def expected(self, span=SIDE, stride=SIDE // 2):
        places = self.windows(span, stride)
        pictures = [(cut(self.pixels, self.WIDTH, top, left, span, span), span, span) for top, left in places]
        return places, self.probabilities(f"cut-{span}-{stride}", pictures)

    def answer(self, *args, out="predicted", run=None):
        self.predict(run or self.trained, self.large, "--window", SIDE, "--format", "npy", *args, out=out)
        _, numbers = read_npy(self.folder / out / "predictions.npy")
        return numbers

    def assert_near(self, ours, theirs, delta=2e-6):
        self.assertEqual(len(ours), len(theirs))
        for a, b in zip(ours, theirs):
            self.assertAlmostEqual(a, b, delta=delta)

    def test_an_image_gets_what_its_windows_get(self):
        places, rows = self.expected()
        self.assertGreater(len(places), 20)
        columns = list(zip(*rows))
        self.assert_near(self.answer(out="mean"), [sum(column) / len(column) for column in columns])
        self.assert_near(self.answer("--pool", "max", out="max"), [max(column) for column in columns])
        top = math.ceil(0.25 * len(places))
        self.assert_near(self.answer("--pool", "top:0.25", out="top"), [sum(sorted(column)[-top:]) / top for column in columns])
        self.predict(self.trained, self.large, "--window", SIDE, "--top", 1, out="csv")
        header, row = self.rows("csv")
        self.assertEqual(header, ["name", "class", "probability", "height_px", "width_px", "windows", "flat_windows"])
        self.assertEqual(row[3:], [str(self.HEIGHT), str(self.WIDTH), str(len(places)), "0"])

    def test_a_map_is_the_weighted_mean_of_the_windows_over_a_pixel(self):
        places, rows = self.expected(SIDE, 12)
        self.predict(self.trained, self.large, "--window", SIDE, "--map", "class-2", "--map", "class-0", "--map-step", 5)
        shape, numbers = read_npy3(self.folder / "predicted" / "maps" / "one.ppm.npy")
        down, across = -(-self.HEIGHT // 5), -(-self.WIDTH // 5)
        self.assertEqual(shape, (2, down, across))
        axis = bump(SIDE)
        least, most = min(axis) ** 2, max(axis) ** 2
        for c, label in enumerate((2, 0)):
            for y in range(down):
                for x in range(across):
                    row, column = min(5 * y + 2, self.HEIGHT - 1), min(5 * x + 2, self.WIDTH - 1)
                    total = weights = 0
                    for (top, left), probabilities in zip(places, rows):
                        if 0 <= row - top < SIDE and 0 <= column - left < SIDE:
                            weight = 1e-6 + (1 - 1e-6) * (axis[row - top] * axis[column - left] - least) / (most - least)
                            total += weight * probabilities[label]
                            weights += weight
                    self.assertAlmostEqual(numbers[(c * down + y) * across + x], total / weights, delta=3e-6)
        self.predict(self.trained, self.large, "--window", SIDE, "--map", "class-2", "--map-format", "tiff", out="tiff")
        raw = (self.folder / "tiff" / "maps" / "one.ppm.tiff").read_bytes()
        self.assertEqual(raw[:4], b"II*\0")
        _, by_stride = read_npy3(self.by_default_step())
        self.assertEqual(raw[-4 * len(by_stride):], struct.pack(f"<{len(by_stride)}f", *by_stride))

    def by_default_step(self):
        """A map of class-2 with a point every 3 pixels, a quarter of the stride."""
        self.predict(self.trained, self.large, "--window", SIDE, "--map", "class-2", out="default-step")
        path = self.folder / "default-step" / "maps" / "one.ppm.npy"
        self.assertEqual(read_npy3(path)[0], (1, -(-self.HEIGHT // 3), -(-self.WIDTH // 3)))
        return path

    def test_from_farther_away_windows_see_more(self):
        _, rows = self.expected(2 * SIDE, SIDE)
        self.assert_near(self.answer("--scale", 0.5), [sum(column) / len(rows) for column in zip(*rows)])

    def test_small_images_are_padded_by_reflection(self):
        width, height = 7, 9
        pixels = self.random.randbytes(3 * width * height)
        (self.large / "one.ppm").write_bytes(ppm(pixels, width, height))

        def reflected(i, side):
            i %= 2 * side - 2
            return min(i, 2 * side - 2 - i)

        padded = b"".join(pixels[3 * (reflected(y, height) * width + reflected(x, width)):][:3] for y in range(SIDE) for x in range(SIDE))
        (row,) = self.probabilities("padded", [(padded, SIDE, SIDE)])
        self.assert_near(self.answer("--map", "class-1"), row)
        shape, numbers = read_npy3(self.folder / "predicted" / "maps" / "one.ppm.npy")
        self.assertEqual(shape, (1, 3, 3))
        self.assert_near(numbers, [row[1]] * 9)

    def test_windows_of_one_colour_are_left_out(self):
        half = self.WIDTH // 2
        flat = bytes(3 * half)
        rows = [self.pixels[3 * self.WIDTH * y:3 * self.WIDTH * (y + 1)] for y in range(self.HEIGHT)]
        (self.large / "one.ppm").write_bytes(ppm(b"".join(flat + row[3 * half:] for row in rows), self.WIDTH, self.HEIGHT))
        (self.large / "two.ppm").write_bytes(ppm(bytes(3 * self.WIDTH * self.HEIGHT), self.WIDTH, self.HEIGHT))
        said = self.predict(self.trained, self.large, "--window", SIDE, "--skip-flat", 3, "--map", "class-0", "--map-step", 1, "--top", 1)
        _, one, two = self.rows()
        windows, flat_windows = int(one[5]), int(one[6])
        flats = sum(left + SIDE <= half for _, left in self.windows(SIDE, SIDE // 2))
        self.assertEqual((windows, flat_windows), (len(self.windows(SIDE, SIDE // 2)), flats))
        self.assertEqual(two[1:3] + two[5:], ["", "", str(windows), str(windows)])
        self.assertEqual((said["flat_windows"], said["without_class"]), (flats + windows, 1))
        (_, down, across), numbers = read_npy3(self.folder / "predicted" / "maps" / "one.ppm.npy")
        reached = max(left + SIDE for _, left in self.windows(SIDE, SIDE // 2) if left + SIDE <= half)
        covered = min(left for _, left in self.windows(SIDE, SIDE // 2) if left + SIDE > half)
        self.assertLessEqual(covered, reached)
        self.assertEqual([math.isnan(value) for value in numbers[:across]], [x < covered for x in range(across)])
        _, nothing = read_npy3(self.folder / "predicted" / "maps" / "two.ppm.npy")
        self.assertTrue(all(map(math.isnan, nothing)))
        self.predict(self.trained, self.large, "--window", SIDE, "--skip-flat", 3, "--format", "npy", out="npy")
        _, numbers = read_npy(self.folder / "npy" / "predictions.npy")
        self.assertEqual([math.isnan(value) for value in numbers], [False] * CLASSES + [True] * CLASSES)

    def test_every_format_and_worker_has_the_same_answer(self):
        for name, raw in (("big.tif", big_tiff(self.pixels, self.WIDTH, self.HEIGHT, 7)),
                          ("small.tif", big_tiff(self.pixels, self.WIDTH, self.HEIGHT, 50, big=False))):  # fmt: skip
            (self.large / name).write_bytes(raw)
        args = ["--window", SIDE, "--map", "class-0", "--min-map", 0.34]
        self.predict(self.trained, self.large, *args)
        _, *rows = self.rows()
        self.assertEqual([row[0] for row in rows], ["big.tif", "one.ppm", "small.tif"])
        for row in rows:
            for ours, theirs in zip(row[2::2], rows[0][2::2]):
                if ours.replace(".", "").isdigit():
                    self.assertAlmostEqual(float(ours), float(theirs), delta=2e-6)
        maps = [read_npy3(self.folder / "predicted" / "maps" / f"{row[0]}.npy")[1] for row in rows]
        self.assert_near(maps[0], maps[1])
        self.assert_near(maps[0], maps[2])
        archive = self.folder / "large.tar"
        with tarfile.open(archive, "w") as tar:
            tar.add(self.large, ".")
        self.predict(self.trained, archive, *args, out="of-tar")
        self.assertEqual([row[1:] for row in self.rows("of-tar")], [row[1:] for row in self.rows()])
        self.predict(self.trained, self.large, *args, out="ranks", ranks=2)
        self.predict(self.trained, self.large, *args, "--threads", 3, out="threads")
        expected = {name: raw for name, raw in tree_bytes(self.folder / "predicted").items() if not name.startswith("tasks/")}
        for out in ("ranks", "threads"):
            self.assertEqual({name: raw for name, raw in tree_bytes(self.folder / out).items() if not name.startswith("tasks/")}, expected)

    def test_boxes_are_where_the_map_reaches_a_probability(self):
        self.predict(self.trained, self.large, "--window", SIDE, "--map", "class-0", "--map-step", 4)
        (_, down, across), numbers = read_npy3(self.folder / "predicted" / "maps" / "one.ppm.npy")
        least = sorted(numbers)[len(numbers) * 3 // 4]
        said = self.predict(self.trained, self.large, "--window", SIDE, "--map", "class-0", "--map-step", 4, "--min-map", least, out="boxes")
        with open(self.folder / "boxes" / "boxes.csv", newline="") as file:
            boxes = list(csv.DictReader(file))
        self.assertEqual(said["boxes"], len(boxes))
        self.assertGreater(len(boxes), 0)
        covered = set()
        for box in boxes:
            top, left, height, width = (int(box[name]) for name in ("top", "left", "height_px", "width_px"))
            self.assertLessEqual((top + height, left + width), (self.HEIGHT, self.WIDTH))
            self.assertGreaterEqual(float(box["most"]), float(box["mean"]))
            self.assertGreaterEqual(float(box["mean"]), least * 0.999)
            covered |= {(y, x) for y in range(top // 4, -(-(top + height) // 4)) for x in range(left // 4, -(-(left + width) // 4))}
        for y in range(down):
            for x in range(across):
                if numbers[y * across + x] > least:
                    self.assertIn((y, x), covered)

    def test_the_page_shows_maps_over_their_pictures(self):
        page = self.folder / "page.html"
        for form in ("npy", "tiff"):
            said = self.predict(self.trained, self.large, "--window", SIDE, "--map", "class-2", "--map", "class-0", "--map-step", 5,
                                "--map-format", form, "--report", page, out=form)  # fmt: skip
            text = page.read_text()
            ElementTree.fromstring(text.split("\n", 1)[1])
            maps = re.findall(r'src="data:image/jpeg;base64,[^"]+" /><img alt="map of (class-\d)" src="data:image/png;base64,([^"]+)" '
                              r'style="width: ([\d.]+)%; height: ([\d.]+)%"', text)  # fmt: skip
            self.assertEqual([row[0] for row in maps], ["class-2", "class-0"])
            self.assertEqual(said["map_bytes"], sum(path.stat().st_size for path in (self.folder / form / "maps").iterdir()))
            down, across = -(-self.HEIGHT // 5), -(-self.WIDTH // 5)
            for _, png, width, height in maps:
                self.assertEqual(struct.unpack(">2I", base64.b64decode(png)[16:24]), (across, down))
                self.assertAlmostEqual(float(width), 100 * 5 * across / self.WIDTH, delta=1e-3)
                self.assertAlmostEqual(float(height), 100 * 5 * down / self.HEIGHT, delta=1e-3)

    def test_bad_use_of_windows_is_one_sentence(self):
        out = self.folder / "out"
        for words, args in (
            (["24 x 24", "--window 24"], ["--window", 32]),
            (["--overlap"], ["--window", SIDE, "--overlap", 1]),
            (["--pool median"], ["--window", SIDE, "--pool", "median"]),
            (["--pool top:0"], ["--window", SIDE, "--pool", "top:0"]),
            (["--map nobody", "3 classes"], ["--window", SIDE, "--map", "nobody"]),
            (["--map class-1", "twice"], ["--window", SIDE, "--map", "class-1", "--map", "class-0", "--map", "class-1"]),
            (["--window"], ["--overlap", 0.5]),
            (["--map"], ["--window", SIDE, "--min-map", 0.5]),
        ):
            self.refused(2, words, "predict", self.trained, self.large, "--out", out, *args)
            self.assertFalse(out.exists())

    def test_what_takes_too_much_memory_is_booked_with_the_number(self):
        width, height = 1200, 1000
        pixels = bytes(range(256)) * (3 * width * height // 256 + 1)
        (self.large / "one.ppm").write_bytes(ppm(pixels[:3 * width * height], width, height))
        (self.large / "parts.tif").write_bytes(big_tiff(pixels, width, height, 10))
        (self.large / "lies.tif").write_bytes(big_tiff(pixels[:3000], 1 << 19, 1 << 19, 1 << 19))
        said = self.predict(self.trained, self.large, "--window", SIDE, "--overlap", 0, "--memory-limit", 1, "--max-pixels", 1 << 40)
        self.assertEqual(said["inputs"]["ok"], 1)
        ledger = {row["name"]: row for row in map(json.loads, (self.folder / "predicted" / "ledger.jsonl").read_text().splitlines())}
        self.assertEqual(ledger["parts.tif"]["class"], "ok")
        self.assertIn("MiB", ledger["one.ppm"]["reason"])
        self.assertIn("--memory-limit", ledger["one.ppm"]["reason"])
        self.assertIn(ledger["lies.tif"]["class"], ("truncated", "corrupt", "too_large"))
        self.assertEqual(sum(said["inputs"].values()), 3)

    def test_a_map_of_known_tiles_has_their_classes(self):
        """A net that recognises colours, on a picture of coloured tiles."""
        def tile(label, size=SIDE):
            return bytes(self.random.randrange(60) + (150 if c == label else 0) for _ in range(size * size) for c in range(3))

        for i in range(90):
            self.write_ppm(self.folder / "colours" / "train" / f"class-{i % 3}" / f"{i:02}.ppm", tile(i % 3), SIDE)
        cache, trained = self.folder / "colours-cache", self.folder / "colours-run"
        self.ok("ingest", self.folder / "colours", "--out", cache)
        self.ok("train", cache, "--out", trained, "--net", "resnet20", "--batch-size", 10, "--augment", "none", "--epochs", 20, "--lr", 0.05)
        labels = [self.random.randrange(3) for _ in range(12)]
        tiles = [tile(label, 2 * SIDE) for label in labels]
        width = 8 * SIDE
        picture = b"".join(tiles[4 * down + across][6 * SIDE * y:6 * SIDE * (y + 1)] for down in range(3) for y in range(2 * SIDE)
                           for across in range(4))  # fmt: skip
        (self.large / "one.ppm").write_bytes(ppm(picture, width, 6 * SIDE))
        self.predict(trained, self.large, "--window", SIDE, *(word for k in range(3) for word in ("--map", f"class-{k}")), "--map-step", SIDE)
        (_, down, across), numbers = read_npy3(self.folder / "predicted" / "maps" / "one.ppm.npy")
        self.assertEqual((down, across), (6, 8))
        for y in range(down):
            for x in range(across):
                values = [numbers[(k * down + y) * across + x] for k in range(3)]
                self.assertEqual(values.index(max(values)), labels[4 * (y // 2) + x // 2], (y, x, values))


try:
    from PIL import Image, ImageOps
except ImportError:
    Image = None


class LargeImages(PredictCase):
    """One image that makes several tasks: bands of its windows."""

    WIDTH, HEIGHT = 900, 700
    WINDOWS = ("--window", SIDE, "--overlap", 0.25, "--map", "class-2", "--map", "class-0", "--map-step", 5, "--min-map", 0.34)

    def setUp(self):
        super().setUp()
        self.large = self.folder / "large"
        self.large.mkdir()
        self.pixels = self.random.randbytes(3 * self.WIDTH * self.HEIGHT)
        (self.large / "one.tif").write_bytes(big_tiff(self.pixels, self.WIDTH, self.HEIGHT, 16))
        (self.large / "two.ppm").write_bytes(ppm(self.pixels[:3 * SIDE * SIDE], SIDE, SIDE))

    def tasks(self, out):
        return json.loads((self.folder / out / "predict.json").read_text())["tasks"]

    def results(self, out):
        return {name: raw for name, raw in tree_bytes(self.folder / out).items() if not name.startswith("tasks/")}

    def assert_as_whole(self, name, *args):
        """A picture that is cut gives the same result as the same file in an archive, which is not cut."""
        archive = self.folder / f"{name}.tar"
        with tarfile.open(archive, "w") as tar:
            tar.add(self.large / name, name)
        alone = self.folder / f"only-{name}"
        alone.mkdir()
        os.link(self.large / name, alone / name)
        self.predict(self.trained, alone, *self.WINDOWS, "--features", *args, out=f"cut-{name}")
        self.predict(self.trained, archive, *self.WINDOWS, "--features", *args, out=f"whole-{name}")
        self.assertGreater(self.tasks(f"cut-{name}"), 3)
        self.assertEqual(self.tasks(f"whole-{name}"), 1)
        cut, whole = (self.folder / f"{how}-{name}" for how in ("cut", "whole"))
        (_, ours), (_, theirs) = self.rows(f"cut-{name}"), self.rows(f"whole-{name}")
        self.assertEqual((ours[:1], ours[7:]), (theirs[:1], theirs[7:]))
        for file, reader in ((f"maps/{name}.npy", read_npy3), ("features.npy", read_npy)):
            (shape, numbers), (expected_shape, expected) = reader(cut / file), reader(whole / file)
            self.assertEqual(shape, expected_shape)
            self.assertLess(max(abs(a - b) for a, b in zip(numbers, expected)), 1e-5)
        self.assertEqual((cut / "boxes.csv").read_text().count("\n"), (whole / "boxes.csv").read_text().count("\n"))
        return int(ours[7 + 2])

    def test_a_picture_in_bands_has_the_answer_of_one_that_is_not_cut(self):
        self.assertEqual(self.assert_as_whole("one.tif"), 50 * 39)

    def test_any_workers_write_the_same_bytes(self):
        self.predict(self.trained, self.large, *self.WINDOWS, "--threads", 1, out="alone")
        self.assertGreater(self.tasks("alone"), 4)
        expected = self.results("alone")
        self.assertFalse([name for name in expected if name.startswith("parts/")])
        command = [WINNOW, "predict", self.trained, self.large, "--out", self.folder / "shared", "--threads", 1, *self.WINDOWS]
        workers = [subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True) for _ in range(3)]
        for worker in workers:
            _, said = worker.communicate()
            self.assertEqual(worker.returncode, 0, said)
        self.assertEqual(self.results("shared"), expected)
        self.predict(self.trained, self.large, *self.WINDOWS, out="ranks", ranks=2)
        self.assertEqual(self.results("ranks"), expected)
        self.predict(self.trained, self.large, *self.WINDOWS, "--alone", out="without-locks")
        self.assertEqual(self.results("without-locks"), expected)

    def test_killed_workers_are_redone(self):
        self.predict(self.trained, self.large, *self.WINDOWS, out="alone")
        expected = self.results("alone")
        command = [WINNOW, "predict", self.trained, self.large, "--out", self.folder / "killed", "--threads", 1, *self.WINDOWS]
        parts = self.folder / "killed" / "parts"
        for _ in range(3):
            begun = len(list(parts.iterdir())) if parts.is_dir() else 0
            worker = subprocess.Popen(list(map(str, command)), stderr=subprocess.DEVNULL)
            eventually(lambda: worker.poll() is not None or (parts.is_dir() and len(list(parts.iterdir())) > begun))
            worker.kill()
            worker.wait()
        self.predict(self.trained, self.large, *self.WINDOWS, out="killed")
        self.assertEqual(self.results("killed"), expected)

    def test_a_band_that_cannot_be_read_is_what_came_of_the_picture(self):
        raw = bytearray((self.large / "one.tif").read_bytes())
        lengths = raw.rindex(struct.pack("<2I", 16 * 3 * self.WIDTH, 16 * 3 * self.WIDTH))
        raw[lengths:lengths + 4] = struct.pack("<I", 1000)  # a strip that ends early
        (self.large / "one.tif").write_bytes(raw)
        said = self.predict(self.trained, self.large, *self.WINDOWS)
        self.assertEqual((said["inputs"]["ok"], sum(said["inputs"].values())), (1, 2))
        self.assertGreater(self.tasks("predicted"), 4)
        self.ok("ingest", self.large, "--out", self.folder / "ingested")
        ledgers = [(self.folder / name / "ledger.jsonl").read_text() for name in ("predicted", "ingested")]
        self.assertEqual(*ledgers)
        self.assertFalse((self.folder / "predicted" / "maps" / "one.tif.npy").exists())

    @unittest.skipUnless(Image, "Pillow is not installed (Debian: python3-pil)")
    def test_jpegs_are_cut_as_well(self):
        picture = Image.frombytes("RGB", (self.WIDTH, self.HEIGHT), self.pixels)
        exif = Image.Exif()
        exif[0x0112] = 6
        picture.save(self.large / "plain.jpg", quality=100, subsampling=0)
        picture.save(self.large / "turned.jpg", quality=100, subsampling=0, exif=exif)
        self.assertEqual(self.assert_as_whole("plain.jpg"), 50 * 39)
        self.assert_as_whole("turned.jpg", "--orientation", "apply", "--pool", "top:0.1")

    @unittest.skipUnless(Image, "Pillow is not installed (Debian: python3-pil)")
    def test_parts_have_the_pixels_that_pillow_and_libtiff_read(self):
        picture = Image.frombytes("RGB", (self.WIDTH, self.HEIGHT), self.pixels)
        parts = self.folder / "parts"
        parts.mkdir()
        picture.save(parts / "a.jpg", quality=99)  # chroma at half the resolution
        picture.save(parts / "b.tif", compression="tiff_lzw")
        picture.save(parts / "c.tif", compression="jpeg", quality=99)
        for path in sorted(parts.iterdir()):
            with Image.open(path) as read:
                (parts / f"{path.name}.ppm").write_bytes(ppm(read.convert("RGB").tobytes(), self.WIDTH, self.HEIGHT))
        self.predict(self.trained, parts, *self.WINDOWS)
        self.assertGreater(self.tasks("predicted"), 3 * 4)
        for name in ("a.jpg", "b.tif", "c.tif"):
            (_, ours), (_, theirs) = (read_npy3(self.folder / "predicted" / "maps" / f"{name}{end}.npy") for end in ("", ".ppm"))
            self.assertLess(max(abs(a - b) for a, b in zip(ours, theirs)), 3e-6, name)

    def test_a_picture_that_became_another_meanwhile_is_refused(self):
        """The file has as many bytes as before, so the listing does not show the change."""
        self.predict(self.trained, self.large, *self.WINDOWS)
        os.remove(self.folder / "predicted" / "report.json")
        raw = bytearray((self.large / "one.tif").read_bytes())
        at = raw.rindex(struct.pack("<HHQI", 257, 4, 1, self.HEIGHT)) + 12
        raw[at:at + 4] = struct.pack("<I", self.HEIGHT - 100)
        (self.large / "one.tif").write_bytes(raw)
        self.refused(2, ["contains other predictions", "large images"], "predict", self.trained, self.large, "--out", self.folder / "predicted",
                     *self.WINDOWS)  # fmt: skip


@unittest.skipUnless(Image, "Pillow is not installed (Debian: python3-pil)")
class Formats(PredictCase):
    """Files of many kinds have the pixels that eval of an ingested copy sees, whole and in windows."""

    def pictures(self, folder, width, height):
        folder.mkdir()
        noise = lambda mode, depth: Image.frombytes(mode, (width, height), self.random.randbytes(width * height * depth))  # noqa: E731
        rgb = noise("RGB", 3)
        exif = Image.Exif()
        exif[0x0112] = 6
        rgb.save(folder / "turned.jpg", quality=95, exif=exif)
        rgb.save(folder / "plain.jpg", quality=95)
        rgb.save(folder / "progressive.jpg", quality=95, progressive=True)
        rgb.save(folder / "pixels.png")
        rgb.save(folder / "pixels.webp", lossless=True)
        rgb.save(folder / "pixels.bmp")
        rgb.save(folder / "lzw.tif", compression="tiff_lzw")
        rgb.save(folder / "turned.tif", tiffinfo={274: 8})
        noise("CMYK", 4).save(folder / "cmyk.jpg", quality=95)
        noise("CMYK", 4).save(folder / "cmyk.tif")
        noise("I;16", 2).save(folder / "deep.png")
        noise("I;16", 2).save(folder / "deep.tif")
        noise("L", 1).save(folder / "gray.png")
        rgb.convert("P").save(folder / "palette.png")
        noise("RGBA", 4).save(folder / "alpha.png")
        (folder / "big.tif").write_bytes(big_tiff(rgb.tobytes(), width, height, 5))

    def test_whole_images_and_single_windows_are_as_eval_has_them(self):
        for how, args in (("plain", []), ("turned", ["--orientation", "apply", "--matte", "white"])):
            data = self.folder / f"data-{how}"
            (data / "test").mkdir(parents=True)
            self.pictures(data / "test" / "class-0", SIDE, SIDE)
            for k in (1, 2):
                self.write_ppm(data / "test" / f"class-{k}" / "any.ppm", self.image(SIDE), SIDE)
            cache = self.folder / f"cache-{how}"
            self.ok("ingest", data, "--out", cache, *args)
            table = self.folder / f"{how}.csv"
            self.ok("eval", self.trained, cache, "--split", "test", "--predictions", table, "--logits")
            expected = {}
            with open(table, newline="") as file:
                for row in csv.DictReader(file):
                    expected[row["name"]] = softmax([float(row[f"logit_class-{k}"]) for k in range(CLASSES)])
            self.assertEqual(len(expected), 18)
            for kind, more in (("whole", []), ("window", ["--window", SIDE])):
                out = f"{how}-{kind}"
                said = self.predict(self.trained, data, *args, *more, "--top", CLASSES, out=out)
                self.assertEqual(said["inputs"]["ok"], 18)
                header, *rows = self.rows(out)
                for name, *pairs in rows:
                    for label, probability in zip(pairs[:6:2], pairs[1:6:2]):
                        self.assertAlmostEqual(float(probability), expected[name][int(label[-1])], delta=2e-6, msg=f"{out}: {name}")

    def test_turned_pictures_have_the_maps_of_upright_ones(self):
        width, height = 3 * SIDE - 5, 2 * SIDE + 7
        rgb = Image.frombytes("RGB", (width, height), self.random.randbytes(3 * width * height))
        turned, upright = self.folder / "turned", self.folder / "upright"
        turned.mkdir()
        upright.mkdir()
        for orientation in range(1, 9):
            exif = Image.Exif()
            exif[0x0112] = orientation
            rgb.save(turned / f"{orientation}.jpg", quality=95, exif=exif)
            with Image.open(turned / f"{orientation}.jpg") as picture:
                ImageOps.exif_transpose(picture).save(upright / f"{orientation}.png")
            rgb.save(turned / f"{orientation}.tif", tiffinfo={274: orientation}, compression="tiff_lzw")
            with Image.open(turned / f"{orientation}.tif") as picture:
                pixels = ImageOps.exif_transpose(picture) if picture.getexif().get(274, 1) == orientation else picture
                pixels.convert("RGB").save(upright / f"{orientation}-tif.png")
        args = ["--window", SIDE, "--overlap", 0.3, "--map", "class-0", "--map-step", 3, "--orientation", "apply"]
        self.predict(self.trained, turned, *args, out="of-turned")
        self.predict(self.trained, upright, *args, out="of-upright")
        for orientation in range(1, 9):
            shape, numbers = read_npy3(self.folder / "of-turned" / "maps" / f"{orientation}.jpg.npy")
            expected_shape, expected = read_npy3(self.folder / "of-upright" / "maps" / f"{orientation}.png.npy")
            self.assertEqual(shape, expected_shape)
            self.assertLess(max(abs(a - b) for a, b in zip(numbers, expected)), 3e-6, orientation)
        with open(self.folder / "of-turned" / "predictions.csv", newline="") as file:
            sizes = {row["name"]: (int(row["height_px"]), int(row["width_px"])) for row in csv.DictReader(file)}
        self.assertEqual(sizes["1.jpg"], (height, width))
        self.assertEqual(sizes["6.jpg"], (width, height))
        self.assertEqual(sizes["6.tif"], (width, height))


class SeveralLabels(Case):
    def test_classes_above_the_threshold_are_told(self):
        """A run with bce has an independent probability for each class."""
        rows = ["file,labels,split"]
        for i in range(24):
            self.write_ppm(self.folder / "photos" / f"{i:02}.ppm", self.image(16), 16)
            rows.append(f"{i:02}.ppm,{'|'.join(label for k, label in enumerate(('a', 'b', 'c')) if (i + 1) >> k & 1) or 'a'},train")
        (self.folder / "photos" / "labels.csv").write_text("\n".join(rows) + "\n")
        cache, trained = self.folder / "cache", self.folder / "run"
        self.ok("ingest", self.folder / "photos" / "labels.csv", "--out", cache)
        self.ok("train", cache, "--out", trained, "--net", "resnet20", "--loss", "bce", "--batch-size", 8, "--max-steps", 4, "--augment",
                "none")  # fmt: skip
        said = self.ok("predict", trained, self.folder / "photos" / "labels.csv", "--out", self.folder / "npy", "--format", "npy",
                       "--json").json()  # fmt: skip
        (count, classes), numbers = read_npy(self.folder / "npy" / "predictions.npy")
        self.assertEqual((count, classes), (24, 3))
        threshold = sorted(numbers)[len(numbers) // 2]
        self.ok("predict", trained, self.folder / "photos" / "labels.csv", "--out", self.folder / "csv", "--threshold", threshold)
        with open(self.folder / "csv" / "predictions.csv", newline="") as file:
            header, *rows = csv.reader(file)
        self.assertEqual(header, ["name", "class", "probability"])
        above = 0
        names = json.loads((self.folder / "csv" / "classes.json").read_text())
        for i, (_, labels, probabilities) in enumerate(rows):
            expected = {name for k, name in enumerate(names) if numbers[3 * i + k] > threshold}
            self.assertEqual(set(filter(None, labels.split("|"))), expected)
            values = [float(p) for p in probabilities.split("|") if p]
            self.assertEqual(values, sorted(values, reverse=True))
            above += len(expected)
        self.assertGreater(above, 0)
        self.assertGreater(said["images"], 0)


class WithoutLabels(Case):
    def test_a_run_without_labels_names_embed(self):
        for i in range(16):
            self.write_ppm(self.folder / "photos" / f"{i:02}.ppm", self.image(16), 16)
        self.ok("ingest", self.folder / "photos", "--out", self.folder / "cache")
        trained = run("train", self.folder / "cache", "--out", self.folder / "run", "--net", "resnet20", "--loss", "barlow_twins",
                      "--batch-size", 8, "--max-steps", 1, "--image-size", 16)  # fmt: skip
        self.assertEqual(trained.code, 0, trained.err)
        self.refused(2, ["without labels", "winnow embed"], "predict", self.folder / "run", self.folder / "photos", "--out",
                     self.folder / "out")  # fmt: skip


if __name__ == "__main__":
    unittest.main()
