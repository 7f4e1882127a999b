"""The results of a run name its classes. Data with the same classes in another order is matched by name; other classes are refused."""

import io
import json
import struct
import tarfile
import unittest

from golden import with_digest
from program import Case, tensors

SIDE = 16
NAMES = ["ant", "bee", "cat", "dog"]
ORDER = ["dog", "ant", "cat", "bee"]


def rows_of(head):
    floats = struct.unpack(f"<{len(head) // 4}f", head)
    size = len(floats) // len(NAMES)
    return [floats[row * size : (row + 1) * size] for row in range(len(NAMES))]


class Classes(Case):
    NET = ["--net", "lenet", "--recipe", "none", "--batch-size", 32, "--augment", "none"]

    @classmethod
    def setUpClass(cls):
        """The same pictures with their classes in two orders, with one renamed, and with one more; and a run."""
        case = cls("ok")
        case.setUp()
        cls.addClassCleanup(case.doCleanups)
        cls.shared = case.folder
        wrong = range(5, 192, 23)  # training pictures that show the next class
        cls.pictures = [(split, i % 4, case.picture((i + (count > 48 and i in wrong)) % 4))
                        for split, count in (("train", 192), ("test", 48)) for i in range(count)]  # fmt: skip
        for name, classes in (("plain", NAMES), ("turned", ORDER), ("renamed", ["ant", "bee", "cat", "wolf"]), ("more", [*NAMES, "elk"])):
            case.write_set(case.folder / f"{name}.set", classes)
            case.ok("ingest", case.folder / f"{name}.set", "--out", case.folder / name)
        case.ok("train", case.folder / "plain", "--out", case.folder / "run", *cls.NET, "--lr", 0.02, "--epochs", 6, "--ema-decay", 0.9)

    def picture(self, label):
        top, left = divmod(label, 2)
        shade = [self.random.randrange(60, 110) for _ in range(SIDE * SIDE)]
        bright = [120 * (y // 8 == top and x // 8 == left) for y in range(SIDE) for x in range(SIDE)]
        return bytes(value for pair in zip(shade, bright) for value in [sum(pair)] * 3)

    def write_set(self, folder, classes):
        """A WebDataset: labels are numbers, and a file next to it names them."""
        folder.mkdir()
        (folder / "classes.txt").write_text("".join(name + "\n" for name in classes))
        for split in ("train", "test"):
            with tarfile.open(folder / f"{split}-000.tar", "w") as tar:
                for i, (_, label, pixels) in enumerate(row for row in self.pictures if row[0] == split):
                    number = classes.index(NAMES[label]) if NAMES[label] in classes else len(classes) - 1
                    for ending, content in (("ppm", b"P6\n%d %d\n255\n" % (SIDE, SIDE) + pixels), ("cls", b"%d" % number)):
                        entry = tarfile.TarInfo(f"{i:05}.{ending}")
                        entry.size = len(content)
                        tar.addfile(entry, io.BytesIO(content))

    def evaluated(self, what, cache, *more, ranks=0):
        return self.ok("eval", what, self.shared / cache, "--json", *more, ranks=ranks).json()

    def weights(self, file="model.safetensors"):
        return self.shared / "run" / "checkpoints" / "latest" / file

    def same_answers(self, ours, theirs):
        self.assertEqual(theirs["classes"], ORDER)
        self.assertAlmostEqual(ours["loss"], theirs["loss"], delta=1e-5 * abs(ours["loss"]))
        self.assertEqual(ours["top1"], theirs["top1"])
        place = [NAMES.index(name) for name in ORDER]
        self.assertEqual([[ours["confusion"][a][b] for b in place] for a in place], theirs["confusion"])

    def test_a_run_and_a_file_are_evaluated_by_name(self):
        run = self.shared / "run"
        plain = self.evaluated(run, "plain")
        self.assertGreater(plain["top1"], 0.6)
        for more in ([], ["--ema"]):
            self.same_answers(self.evaluated(run, "plain", *more), self.evaluated(run, "turned", *more))
        self.same_answers(plain, self.evaluated(run, "turned", ranks=2))
        for file, more in (("model.safetensors", []), ("ema.safetensors", ["--ema"])):
            self.same_answers(self.evaluated(run, "plain", *more), self.evaluated(self.weights(file), "turned", "--net", "lenet"))

    def test_another_set_is_refused_by_its_first_name(self):
        self.refused(2, ["'wolf', which", "renamed but not in"], "eval", self.shared / "run", self.shared / "renamed")
        self.refused(2, ["'wolf', which is in the data but not in"], "eval", self.weights(), self.shared / "renamed", "--net", "lenet")
        self.refused(2, ["'elk', which", "more but not in"], "eval", self.shared / "run", self.shared / "more")
        self.refused(2, ["data.cache_digest", "'wolf', which is in the cache but not in"], "train", self.shared / "renamed", "--out", self.shared / "run", *self.NET,
                     "--lr", 0.02, "--epochs", 6, "--ema-decay", 0.9, "--resume", "auto")  # fmt: skip

    def test_a_run_goes_on_by_name_to_the_same_bits(self):
        weights = self.folder / "weights.csv"
        weights.write_text("dog,2\nant,0.5\n")
        for cache in ("plain", "turned"):
            self.ok("dedup", self.shared / cache, "--hash", "exact")
        recipe = [*self.NET, "--lr", 0.02, "--momentum", 0.9, "--epochs", 2, "--ema-decay", 0.9, "--reproducible"]
        for number, more in enumerate((["--selection", "default", "--class-weights", weights], ["--sampling", "balanced", "--holdout", 0.25])):
            whole, cut = self.folder / f"whole-{number}", self.folder / f"cut-{number}"
            self.ok("train", self.shared / "plain", "--out", whole, *recipe, *more)
            self.ok("train", self.shared / "plain", "--out", cut, *recipe, *more, "--max-steps", 3)
            for ranks, steps in ((2, 5), (0, 0)):
                said = self.ok("train", self.shared / "turned", "--out", cut, *recipe, *more, "--max-steps", steps, "--resume", "auto", ranks=ranks)
                self.assertIn("turned lists the classes in another order than when the run started: they are matched by name", said.err)
            for file in ("model.safetensors", "ema.safetensors"):
                same = [tensors(run / "checkpoints" / "latest" / file) for run in (whole, cut)]
                self.assertEqual(*same)
            names = ("val.loss",) if "--holdout" in more else ("test.loss", "test.top1", "test.top1_leak_free")
            for name in names:
                self.assertEqual(self.metrics(cut, name)[-1], self.metrics(whole, name)[-1], name)
            # And back to the order that it began with.
            self.assertNotIn("another order", self.ok("train", self.shared / "plain", "--out", cut, *recipe, *more, "--resume", "auto").err)
        self.same_answers(self.evaluated(whole, "plain", "--split", "holdout"), self.evaluated(whole, "turned", "--split", "holdout"))

    def test_a_run_goes_on_with_its_own_images_alone(self):
        other = self.folder / "other"
        self.pictures = [(split, label, self.picture(label)) for split, label, _ in self.pictures]
        self.write_set(self.folder / "other.set", ORDER)
        self.ok("ingest", self.folder / "other.set", "--out", other)
        out = self.folder / "run"
        command = ["--out", out, *self.NET, "--epochs", 1, "--max-steps", 1]
        self.ok("train", self.shared / "plain", *command)
        self.refused(2, ["data.cache_digest", "data.classes (in another order)"], "train", other, *command, "--resume", "auto")
        # A run of an older version does not name the classes that it began with.
        config = json.loads((out / "config.json").read_text())
        del config["data"]["digest_by_names"]
        (out / "config.json").write_text(with_digest(config))
        self.ok("train", self.shared / "plain", *command, "--resume", "auto")
        self.refused(2, ["data.cache_digest", "data.classes (in another order)"], "train", self.shared / "turned", *command, "--resume", "auto")

    def test_runs_of_two_orders_are_compared_by_name(self):
        runs = [self.shared / "run", self.folder / "other"]
        self.ok("train", self.shared / "turned", "--out", runs[1], *self.NET, "--lr", 0.02, "--epochs", 3)
        said = [self.ok("compare", *runs, "--cache", self.shared / cache, "--json").json() for cache in ("plain", "turned")]
        self.assertEqual(said[0]["runs"], said[1]["runs"])
        self.assertEqual([row["right"] for row in said[0]["runs"]], [round(48 * self.evaluated(run, "plain")["top1"]) for run in runs])
        self.refused(2, ["for other classes, as 'wolf', which"], "compare", *runs, "--cache", self.shared / "renamed")

    def test_suspects_of_a_run_are_found_by_name(self):
        out = self.folder / "run"
        self.ok("train", self.shared / "plain", "--out", out, *self.NET, "--lr", 0.02, "--epochs", 6, "--folds", 2)
        ours, theirs = (self.ok("suspects", self.shared / cache, "--run", out, "--json").json() for cache in ("plain", "turned"))
        self.assertGreater(len(ours["suspects"]), 3)
        self.assertEqual(ours["suspects"], theirs["suspects"])
        self.assertAlmostEqual(ours["label_noise"], theirs["label_noise"], delta=1e-9)
        for cache, name in (("renamed", "wolf"), ("more", "elk")):
            self.refused(2, [f"for other classes, as '{name}', which"], "suspects", self.shared / cache, "--run", out)

    def begun(self, name, cache, ranks=0):
        out = self.folder / name
        said = self.ok("train", self.shared / cache, "--out", out, *self.NET, "--init-from", self.weights(), "--lr", 1e-30,
                       "--weight-decay", 0, "--max-steps", 1, ranks=ranks).err  # fmt: skip
        return said, tensors(out / "checkpoints" / "latest" / "model.safetensors")

    def test_training_begins_with_a_head_by_name(self):
        theirs = tensors(self.weights())
        head = list(theirs)[-2]
        place = [NAMES.index(name) for name in ORDER]
        said, same = self.begun("same", "plain")
        self.assertNotIn("initial values", said)
        self.assertEqual(same[head], theirs[head])
        for ranks in (0, 2):
            said, turned = self.begun(f"turned-{ranks}", "turned", ranks)
            self.assertNotIn("initial values", said)
            self.assertEqual(rows_of(turned[head]), [rows_of(theirs[head])[k] for k in place])
        said, renamed = self.begun("renamed", "renamed")
        self.assertIn("for other classes, as 'wolf'", said)
        self.assertIn("keep their initial values", said)
        self.assertNotEqual(renamed[head], theirs[head])
        self.assertEqual(renamed["conv1.weight"], theirs["conv1.weight"])

    def test_features_need_no_classes(self):
        self.ok("embed", self.shared / "run", self.shared / "renamed")
        self.ok("embed", self.weights(), self.shared / "more", "--net", "lenet")

    def test_what_does_not_name_its_classes_is_taken_with_a_sentence(self):
        config = self.shared / "run" / "config.json"
        before = config.read_text()
        self.addCleanup(config.write_text, before)
        older = json.loads(before)
        self.assertEqual(older["data"].pop("classes"), NAMES)
        del older["data"]["digest_by_names"]
        config.write_text(with_digest(older))
        said = self.ok("eval", self.shared / "run", self.shared / "renamed").err
        self.assertIn("does not name its classes", said)
        self.refused(2, ["trained for 4 classes", "has 5"], "eval", self.shared / "run", self.shared / "more")
        self.ok("train", self.shared / "plain", "--out", self.shared / "run", *self.NET, "--lr", 0.02, "--epochs", 6, "--ema-decay", 0.9,
                "--resume", "auto")  # fmt: skip
        raw = self.weights().read_bytes()
        (size,) = struct.unpack("<Q", raw[:8])
        header = json.loads(raw[8 : 8 + size])
        self.assertEqual(json.loads(header.pop("__metadata__")["classes"]), NAMES)
        text = json.dumps(header).encode()
        bare = self.folder / "bare.safetensors"
        bare.write_bytes(struct.pack("<Q", len(text)) + text + raw[8 + size :])
        self.assertIn("does not name its classes", self.ok("eval", bare, self.shared / "renamed", "--net", "lenet").err)
        said = self.ok("train", self.shared / "renamed", "--out", self.folder / "begun", *self.NET, "--init-from", bare, "--max-steps", 1).err
        self.assertIn("does not name its classes: its classifier is kept", said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
