"""Images with several labels, from a CSV to the average precision of each class."""

import csv
import json
import math
import os
import subprocess
import unittest

from program import Case
from schemas_test import jsonschema, validator

SIDE = 16
QUADRANTS = ("north-west", "north-east", "south-west", "south-east")
# A Python with scikit-learn, as made by `python3 -m venv` and `pip install scikit-learn`.
PYTHON = os.environ.get("WINNOW_PACKAGES_PYTHON", "python3")
SCIKIT_LEARN = """
import json, sys
from sklearn.metrics import average_precision_score
print(json.dumps([average_precision_score(labels, logits) for labels, logits in json.load(sys.stdin)]))
"""


def average_precision(labels, logits):
    """The mean, over the positives, of the precision among the images with at least their score; ties count together."""
    positive = [score for label, score in zip(labels, logits) if label]
    return sum(sum(1 for other in positive if other >= score) / sum(1 for other in logits if other >= score)
               for score in positive) / len(positive)  # fmt: skip


class Quadrants(Case):
    """Caches of images whose labels are the bright quadrants."""

    def write_bright(self, path, bright):
        pixels = bytearray(self.random.randrange(100) for _ in range(3 * SIDE * SIDE))
        for y in range(SIDE):
            for x in range(SIDE):
                if 2 * (2 * y // SIDE) + 2 * x // SIDE in bright:
                    for c in range(3):
                        pixels[3 * (y * SIDE + x) + c] += 60
        self.write_ppm(path, bytes(pixels), SIDE)

    def ingest_rows(self, rows, folder, out):
        """`rows`: for each image of `folder`, its name, the numbers of its quadrants, and its split."""
        table = folder / "labels.csv"
        with table.open("w", newline="") as file:
            csv.writer(file).writerows([["file", "labels", "split"],
                                        *((name, "|".join(QUADRANTS[k] for k in bright), split) for name, bright, split in rows)])  # fmt: skip
        self.ok("ingest", table, "--out", out)


class ManyLabels(Quadrants):
    @classmethod
    def setUpClass(cls):
        """At least one label each; the south-east one is rare."""
        case = cls("ok")
        case.setUp()
        cls.addClassCleanup(case.doCleanups)
        cls.made, cls.cache = case.folder, case.folder / "cache"
        rows = []
        for number in range(720):
            bright = []
            while not bright:
                bright = [k for k in range(4) if case.random.random() < (0.15 if k == 3 else 0.45)]
            name, split = f"{number:03}.ppm", "train" if number < 480 else "val" if number < 600 else "test"
            case.write_bright(case.folder / "images" / name, bright)
            rows.append([name, bright, split])
        cls.labels = {name: "|".join(QUADRANTS[k] for k in bright) for name, bright, _ in rows}
        case.ingest_rows(rows, case.folder / "images", cls.cache)

    def train(self, out, *more, loss="bce", epochs=12, augment="none", ranks=0):
        """Trains without flips, which would swap west and east."""
        return self.ok("train", self.cache, "--out", self.folder / out, "--net", "lenet", "--recipe", "none", "--loss", loss,
                       "--batch-size", 32, "--micro-batch", 8, "--epochs", epochs, "--lr", 0.1,
                       "--augment", augment, "--threads", 1, *more, ranks=ranks)  # fmt: skip

    def evaluated(self, out, *more, ranks=0):
        """The output of eval, and for each class [whether an image has it, the image's logit] for all images."""
        table = self.folder / "table.csv"
        said = self.ok("eval", self.folder / out, self.cache, "--predictions", table, "--logits", "--threads", 1, "--json",
                       *more, ranks=ranks)  # fmt: skip
        rows = list(csv.DictReader(table.read_text().splitlines()))
        for row in rows:
            self.assertEqual(set(row["label"].split("|")), set(self.labels[row["name"]].split("|")))
        figures = said.json()
        return figures, rows, [
            ([int(name in row["label"].split("|")) for row in rows], [float(row[f"logit_{name}"]) for row in rows])
            for name in figures["classes"]
        ]

    def test_each_class_is_learned_and_judged_as_by_scikit_learn(self):
        trained = self.train("run", "--json")
        figures, rows, classes = self.evaluated("run")
        self.assertEqual(figures["samples"], 120)
        self.assertEqual(set(figures["classes"]), set(QUADRANTS))
        found = figures["average_precision"]
        for precision, (labels, logits) in zip(found, classes):
            self.assertAlmostEqual(precision, average_precision(labels, logits), delta=1e-12)
        self.assertAlmostEqual(figures["map"], sum(found) / 4, delta=1e-12)
        # By chance it is the share of images with the label. With the labels of another image it is at most half.
        by_chance = [average_precision(labels[1:] + labels[:1], logits) for labels, logits in classes]
        self.assertLess(max(by_chance), 0.75)
        self.assertGreater(min(found), 0.95)
        self.assertGreater(figures["map"], 0.97)
        if subprocess.run([PYTHON, "-c", "import sklearn"], capture_output=True).returncode == 0:
            done = subprocess.run([PYTHON, "-c", SCIKIT_LEARN], input=json.dumps(classes), capture_output=True, text=True,
                                  check=True)  # fmt: skip
            for precision, due in zip(found, json.loads(done.stdout)):
                self.assertAlmostEqual(precision, due, delta=1e-12)
        else:
            print(f"not compared with scikit-learn, which {PYTHON} has not (WINNOW_PACKAGES_PYTHON names one)")
        # Loss and accuracy, from the logits.
        loss = right = 0
        for place, row in enumerate(rows):
            each = [(labels[place], logits[place]) for labels, logits in classes]
            loss += sum(math.log1p(math.exp(-x if label else x)) for label, x in each) / 4
            right += max(each, key=lambda one: one[1])[0]
        self.assertAlmostEqual(figures["loss"], loss / len(rows), delta=1e-5)
        self.assertAlmostEqual(figures["top1"], right / len(rows), delta=1e-12)
        self.assertEqual(sum(map(sum, figures["confusion"])), len(rows))
        if jsonschema:
            validator("eval").validate(figures)
            for line in (self.folder / "run" / "metrics.jsonl").read_text().splitlines():
                validator("metrics").validate(json.loads(line))
        # The run's own evaluations agree.
        self.assertAlmostEqual(self.metrics(self.folder / "run", "test.map")[-1], figures["map"], delta=1e-9)
        self.assertAlmostEqual(self.metrics(self.folder / "run", "test.loss")[-1], figures["loss"], delta=1e-6)
        self.assertEqual(len(self.metrics(self.folder / "run", "val.map")), 12)
        self.assertAlmostEqual(trained.json()["top1"], figures["top1"], delta=1e-9)

    def test_the_same_on_any_number_of_ranks(self):
        self.train("run", epochs=2)
        seen = set()
        for ranks in (0, 1, 3):
            figures, _, _ = self.evaluated("run", ranks=ranks)
            del figures["images_per_second"]
            seen.add(json.dumps(figures))
        self.assertEqual(len(seen), 1)
        self.train("one", "--reproducible", epochs=2)
        self.train("two", "--reproducible", epochs=2, ranks=2)
        for name in ("val.map", "test.map", "train.loss"):
            self.assertEqual(*(self.metrics(self.folder / run, name) for run in ("one", "two")))

    def test_with_focal_loss_mixed_images_and_the_best(self):
        self.train("run", "--keep-best", "map", loss="focal", augment="mixup")
        state = json.loads((self.folder / "run" / "checkpoints" / "latest" / "state.json").read_text())
        precisions = self.metrics(self.folder / "run", "val.map")
        self.assertEqual(state["best"]["metric"], "val.map")
        self.assertEqual(state["best"]["value"], max(precisions))
        self.assertGreater(max(precisions), 0.95)
        figures, _, classes = self.evaluated("run", "--tta", "mirror", "--split", "val")
        for precision, (labels, logits) in zip(figures["average_precision"], classes):
            self.assertAlmostEqual(precision, average_precision(labels, logits), delta=1e-12)

    def test_what_wants_one_label_says_so(self):
        command = ["train", self.cache, "--out", self.folder / "run", "--net", "lenet", "--recipe", "none"]
        self.refused(2, ["labels, training needs exactly one", "--loss bce"], *command)
        one = self.folder / "one"
        for number, name in enumerate(("train/cat", "train/dog", "val/cat", "val/dog")):
            self.write_ppm(one / name / "a.ppm", self.image(SIDE, seed=number), SIDE)
        self.ok("ingest", one, "--out", self.folder / "single")
        command = ["train", self.folder / "single", "--net", "lenet", "--recipe", "none", "--loss", "bce", "--batch-size", 2,
                   "--epochs", 1]  # fmt: skip
        self.refused(2, ["--keep-best map", "several labels"], *command, "--out", self.folder / "no", "--keep-best", "map")
        self.ok(*command, "--out", self.folder / "plain")
        self.assertEqual(self.metrics(self.folder / "plain", "val.map"), [])
        self.assertNotIn("map", self.ok("eval", self.folder / "plain", self.folder / "single", "--json").json())


class Unlabelled(Quadrants):
    """Images without a class: a third has no bright quadrant, the others have one each."""

    RECIPE = ("--net", "lenet", "--recipe", "none", "--batch-size", 16, "--micro-batch", 8, "--lr", 0.1, "--threads", 1)


    @classmethod
    def setUpClass(cls):
        case = cls("ok")
        case.setUp()
        cls.addClassCleanup(case.doCleanups)
        cls.cache, cls.labelled = case.folder / "cache", case.folder / "labelled"
        rows = []
        for number in range(120):
            bright = [] if number % 3 == 0 else [case.random.randrange(4)]
            name, split = f"{number:03}.ppm", "train" if number < 72 else "val" if number < 96 else "test"
            case.write_bright(case.folder / "images" / name, bright)
            rows.append([name, bright, split])
        case.ingest_rows(rows, case.folder / "images", cls.cache)
        case.ingest_rows([row for row in rows if row[1] or row[2] == "test"], case.folder / "images", cls.labelled)

    def train(self, cache, out, *more, loss="bce", epochs=1, augment="none", ranks=0):
        return self.ok("train", cache, "--out", self.folder / out, "--loss", loss, "--epochs", epochs, *self.RECIPE, "--augment", augment,
                       *more, ranks=ranks)  # fmt: skip

    def test_they_are_refused_unless_asked_for(self):
        command = ["train", self.cache, "--out", self.folder / "run", *self.RECIPE]
        for loss in ("bce", "focal"):
            self.refused(2, ["24 of 72 training images have no label", "--allow-unlabelled"], *command, "--loss", loss)
        # Refused before the first step, not at its first evaluation.
        self.refused(2, ["8 of 24 images of split test have no label", "--allow-unlabelled"], "train", self.labelled, "--out",
                     self.folder / "run", *self.RECIPE, "--loss", "bce")  # fmt: skip
        self.assertFalse((self.folder / "run").exists())
        self.refused(2, ["--allow-unlabelled is for", "bce and focal", "cross_entropy"], *command, "--allow-unlabelled")

    def test_their_target_is_of_no_class(self):
        for loss in ("bce", "focal"):
            self.train(self.cache, loss, "--allow-unlabelled", "--keep-best", "map", "--sampling", "repeat-factor",
                       "--repeat-threshold", 0.5, loss=loss)  # fmt: skip
            table = self.folder / "table.csv"
            figures = self.ok("eval", self.folder / loss, self.cache, "--predictions", table, "--logits", "--json").json()
            rows = list(csv.DictReader(table.read_text().splitlines()))
            self.assertEqual([row["label"] == "" for row in rows], [number % 3 == 0 for number in range(24)])
            total = right = 0
            for row in rows:
                for name in QUADRANTS:
                    x, there = float(row[f"logit_{name}"]), name == row["label"]
                    p = 1 / (1 + math.exp(-x if there else x))  # probability of the true state
                    total -= math.log(p) / 4 if loss == "bce" else (0.25 if there else 0.75) * (1 - p) ** 2 * math.log(p)
                right += row["label"] == row["prediction"]
            self.assertAlmostEqual(figures["loss"], total / 24, delta=1e-5)
            self.assertAlmostEqual(figures["top1"], right / 24, delta=1e-12)
            self.assertEqual(sum(map(sum, figures["confusion"])), 16)
            for name, precision in zip(figures["classes"], figures["average_precision"]):
                due = average_precision([name == row["label"] for row in rows], [float(row[f"logit_{name}"]) for row in rows])
                self.assertAlmostEqual(precision, due, delta=1e-12)
            self.assertAlmostEqual(self.metrics(self.folder / loss, "test.loss")[-1], figures["loss"], delta=1e-6)
            self.assertAlmostEqual(self.metrics(self.folder / loss, "test.map")[-1], figures["map"], delta=1e-9)

    def test_the_same_on_any_number_of_ranks(self):
        self.train(self.cache, "one", "--allow-unlabelled", "--reproducible", augment="mixup", epochs=2)
        self.train(self.cache, "two", "--allow-unlabelled", "--reproducible", augment="mixup", epochs=2, ranks=2)
        for name in ("train.loss", "val.map", "test.loss"):
            self.assertEqual(*(self.metrics(self.folder / run, name) for run in ("one", "two")))

    def test_runs_that_saw_none_can_be_evaluated_on_them(self):
        self.train(self.labelled, "run", "--holdout", 0.25)
        command = ["eval", self.folder / "run", self.labelled, "--split", "test", "--json"]
        self.refused(2, ["8 of 24 images of split test have no label", "--allow-unlabelled"], *command)
        said = [self.ok(*command, "--allow-unlabelled", ranks=ranks).json() for ranks in (0, 3)]
        for figures in said:
            del figures["images_per_second"]
        self.assertEqual(*said)
        self.assertEqual((said[0]["samples"], len(said[0]["average_precision"])), (24, 4))
        self.refused(2, ["options differ", "net.allow_unlabelled"], "train", self.labelled, "--out", self.folder / "run", "--loss", "bce",
                     "--epochs", 1, *self.RECIPE, "--augment", "none", "--holdout", 0.25, "--resume", "auto",
                     "--allow-unlabelled")  # fmt: skip

    def test_runs_are_compared_on_them(self):
        for number in (1, 2):
            self.train(self.labelled, f"run-{number}", "--holdout", 0.25, "--seed", number)
        command = ["compare", self.folder / "run-1", self.folder / "run-2", "--cache", self.labelled, "--split", "test", "--json"]
        self.refused(2, ["8 of 24 images of split test have no label", "--allow-unlabelled"], *command)
        said = self.ok(*command, "--allow-unlabelled", "--report", self.folder / "page.html").json()
        self.assertEqual(said["images"], 24)
        alone = self.ok("eval", self.folder / "run-1", self.labelled, "--split", "test", "--allow-unlabelled", "--json").json()
        self.assertEqual(said["runs"][0]["right"], round(24 * alone["top1"]))

    def test_folds_judge_those_that_have_a_label(self):
        self.train(self.cache, "run", "--allow-unlabelled", "--folds", 2)
        found = self.ok("suspects", self.cache, "--run", self.folder / "run", "--json").json()
        self.assertEqual(found["judged"], 64)  # the 96 images of train and val


if __name__ == "__main__":
    unittest.main(verbosity=2)
