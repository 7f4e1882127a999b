"""winnow compare: runs side by side on the same images, as text, JSON and a page."""

import csv
import json
import math
import re
import statistics
import unittest
import xml.etree.ElementTree as xml

from program import ROOT, Case

try:
    import jsonschema
except ImportError:
    jsonschema = None

RECIPE = ["--net", "lenet", "--image-size", 16, "--batch-size", 32, "--micro-batch", 16, "--warmup-epochs", 0, "--augment", "none"]  # fmt: skip
SCHEMA = ROOT / "docs" / "schemas" / "compare.schema.json"


def exact_mcnemar(a, b):
    """Two-sided, summed up of binomials."""
    n, fewer = a + b, min(a, b)
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(fewer + 1)) / 2**n)


class Compare(Case):
    def train(self, name, lr, seed, *more):
        self.ok("train", self.cache, "--out", self.folder / name, *RECIPE, "--epochs", 2, "--lr", lr, "--seed", seed, *more)
        return self.folder / name

    def setUp(self):
        super().setUp()
        self.learnable_idx(self.folder / "set")
        self.cache = self.folder / "cache"
        self.ok("ingest", self.folder / "set", "--out", self.cache)

    def right(self, run):
        """Of each image of test whether the run has it right, by `winnow eval`."""
        path = self.folder / "predictions.csv"
        self.ok("eval", run, self.cache, "--predictions", path)
        with open(path, newline="") as file:
            return [row["label"] == row["prediction"] for row in csv.DictReader(file)]

    def json_of(self, *args):
        value = self.ok("compare", *args, "--json").json()
        if jsonschema:
            jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(value)
        return value

    def test_two_runs(self):
        a, b = self.train("a", 0.02, 1), self.train("b", 1e-6, 1)
        page = self.folder / "page.html"
        value = self.json_of(a, b, "--report", page, "--margin", 1)
        first, other = self.right(a), self.right(b)
        self.assertEqual((value["split"], value["images"], value["margin"]), ("test", len(first), 0.01))
        self.assertEqual([run["right"] for run in value["runs"]], [sum(first), sum(other)])
        (beside,) = value["others"]
        (pair,) = beside["pairs"]
        only_first = sum(x and not y for x, y in zip(first, other))
        only_other = sum(y and not x for x, y in zip(first, other))
        self.assertEqual((pair["only_first"], pair["only_other"]), (only_first, only_other))
        self.assertGreater(only_first, only_other)
        self.assertAlmostEqual(pair["p"] / exact_mcnemar(only_first, only_other), 1, 6)
        self.assertEqual(beside["p_holm"], pair["p"])
        self.assertIsNone(beside["over_seeds"])
        self.assertEqual(beside["loss"], "some")

        root = xml.parse(page).getroot()
        text = " ".join("".join(root.itertext()).split())
        for words in ("b versus a", "compares two nets only", "recipe.lr 0.02, here 1e-06", "Right less often"):
            self.assertIn(words, text)
        pictures = re.findall(r'src="(data:image/jpeg;base64,[^"]+)"', page.read_text())
        self.assertEqual(len(pictures), min(36, only_first) + min(36, only_other))
        self.assertNotIn("<script", page.read_text())

        said = self.ok("compare", a, b).err
        self.assertIn("a loss", self.ok("compare", a, b, "--margin", 1).err)
        self.assertNotIn("a loss of", said)
        self.assertIn(f"a: recipe 1, seed 1: {sum(first)} of {len(first)} images of test right", said)

    def test_recipes_over_seeds(self):
        runs = [self.train(f"{name}-{seed}", lr, seed) for name, lr in (("a", 0.02), ("b", 0.002)) for seed in (1, 2)]
        value = self.json_of(*runs, "--margin", 50)
        self.assertEqual([(run["run"], run["recipe"], run["seed"]) for run in value["runs"]],
                         [("a-1", 1, "1"), ("a-2", 1, "2"), ("b-1", 2, "1"), ("b-2", 2, "2")])  # fmt: skip
        (beside,) = value["others"]
        self.assertEqual([(pair["first"], pair["other"]) for pair in beside["pairs"]], [("a-1", "b-1"), ("a-2", "b-2")])
        top1 = {run["run"]: run["top1"] for run in value["runs"]}
        mean = (top1["b-1"] - top1["a-1"] + top1["b-2"] - top1["a-2"]) / 2
        self.assertAlmostEqual(beside["over_seeds"]["mean"], mean, 9)
        self.assertIn("over 2 seeds", self.ok("compare", *runs).err)

    def test_on_what_runs_held_out(self):
        self.ok("dedup", self.cache, "--name", "few", "--hash", "exact")
        a, b = self.train("a", 0.02, 1, "--holdout", 0.25), self.train("b", 0.002, 1, "--holdout", 0.25)
        more = self.train("c", 0.02, 2, "--holdout", 0.4, "--selection", "few")
        value = self.json_of(a, b, "--split", "holdout")
        told = [json.loads((run / "evaluation.json").read_text())["confusion"] for run in (a, b)]
        self.assertEqual((value["split"], value["images"]), ("holdout", sum(row[2] for row in told[0])))
        self.assertEqual([run["right"] for run in value["runs"]],
                         [sum(row[2] for row in rows if row[0] == row[1]) for rows in told])  # fmt: skip
        for run in value["runs"]:
            self.assertEqual(int(run["right_by_image"], 16).bit_count(), run["right"])
        # Of a larger hold-out, by a selection that keeps all: what is held out by all runs.
        result = self.ok("compare", a, b, more, "--split", "holdout")
        self.assertIn(f"of {value['images']} images of holdout right", result.err)
        self.assertIn("left out of a run", result.err)
        evaluated = self.ok("eval", a, self.cache, "--split", "holdout", "--json").json()
        self.assertEqual((evaluated["split"], evaluated["samples"]), ("holdout", value["images"]))
        plain = self.train("plain", 0.02, 1, "--max-steps", 2)
        self.refused(2, ["plain has no hold-out"], "compare", plain, a, "--split", "holdout")
        self.refused(2, ["leave out --selection"], "eval", a, self.cache, "--split", "holdout", "--selection", "few")
        self.learnable_idx(self.folder / "other-set")
        self.ok("ingest", self.folder / "other-set", "--out", self.folder / "other", "--hash", "ahash")
        self.refused(2, ["another cache"], "eval", a, self.folder / "other", "--split", "holdout")

    def test_folds(self):
        for name, lr in ("a", 0.02), ("b", 0.002):
            self.ok("train", self.cache, "--out", self.folder / name, *RECIPE, "--epochs", 1, "--lr", lr, "--folds", 2)
        value = self.json_of(self.folder / "a" / "fold-1", self.folder / "b" / "fold-1", "--split", "val")
        self.assertEqual(value["split"], "val")
        told = json.loads((self.folder / "a" / "fold-1" / "evaluation.json").read_text())["confusion"]
        self.assertEqual(value["images"], sum(row[2] for row in told))
        self.refused(2, ["no image of that split in common"], "compare", self.folder / "a" / "fold-1",
                     self.folder / "b" / "fold-2", "--split", "val")  # fmt: skip

    def test_whole_folders_of_folds(self):
        for name, lr in ("a", 0.02), ("b", 1e-6):
            self.ok("train", self.cache, "--out", self.folder / name, *RECIPE, "--epochs", 2, "--lr", lr, "--folds", 4)
        a, b, page = self.folder / "a", self.folder / "b", self.folder / "page.html"
        value = self.json_of(a, b, "--margin", 1, "--report", page)
        self.assertEqual((value["split"], value["folds"], value["images"]), ("val", 4, 512))
        # What out-of-fold.csv says of both.
        said = {}
        for run in a, b:
            with open(run / "out-of-fold.csv", newline="") as file:
                said[run.name] = list(csv.DictReader(file))
        right = {name: [sum(row["label"] == row["prediction"] for row in rows if row["fold"] == str(fold)) for fold in (1, 2, 3, 4)]
                 for name, rows in said.items()}  # fmt: skip
        self.assertEqual([run["right"] for run in value["runs"]], [sum(right["a"]), sum(right["b"])])
        (beside,) = value["others"]
        over = beside["over_folds"]
        self.assertIsNone(beside["over_seeds"])
        self.assertEqual([fold["images"] for fold in over["folds"]], [128] * 4)
        for fold, first, other in zip(over["folds"], right["a"], right["b"]):
            self.assertAlmostEqual(fold["first"], first / 128, 9)
            self.assertAlmostEqual(fold["other"], other / 128, 9)
        differences = [(y - x) / 128 for x, y in zip(right["a"], right["b"])]
        mean, deviation = statistics.mean(differences), statistics.stdev(differences)
        self.assertAlmostEqual(over["mean"], mean, 9)
        # Nadeau and Bengio: 1/4 + 1/3 of the variance of a fold, for a quarter; 3 degrees of freedom.
        half = 3.182446305284263 * math.sqrt((deviation**2 + 1 / 128**2 / 6) * (1 / 4 + 1 / 3))
        self.assertAlmostEqual(over["difference"]["most"] - mean, half, 7)
        self.assertEqual(beside["loss"], "some")
        text = " ".join("".join(xml.parse(page).getroot().itertext()).split())
        for words in ("over 4 folds, corrected for the training images that they share", "images left out",
                      "Curves are of the first of 4 folds", "recipe.lr 0.02, here 1e-06"):  # fmt: skip
            self.assertIn(words, text)
        self.assertIn("b versus a", self.ok("compare", a, b).err)
        # They are of as many folds, whole, and as they were trained.
        self.refused(2, ["is a run", "only folders of folds"], "compare", a, b / "fold-1")
        self.refused(2, ["leave out --split"], "compare", a, b, "--split", "test")
        self.ok("train", self.cache, "--out", self.folder / "c", *RECIPE, "--epochs", 1, "--lr", 0.02, "--folds", 2)
        self.refused(2, ["a has 4 folds", "c has 2"], "compare", a, self.folder / "c")
        (self.folder / "c" / "out-of-fold.json").unlink()
        self.refused(2, ["out-of-fold"], "compare", self.folder / "c", a)
        # Another selection of the same name has other images in val: nobody may take those for unseen ones.
        for fold in 1, 2:
            self.ok("split", self.cache, "--name", f"folds4-{fold}", "--val", 0.25, "--of", "train", "--seed", 7)
        self.refused(2, ["another version of selection 'folds4-1'"], "compare", a, b)

    def test_refusals(self):
        a, b = self.train("a", 0.05, 1, "--max-steps", 2), self.train("b", 0.05, 2, "--max-steps", 2)
        self.refused(2, ["two runs or more"], "compare", a)
        self.refused(2, ["no run"], "compare", a, self.folder / "set")
        self.refused(2, ["no samples of split val"], "compare", a, b, "--split", "val")
        self.refused(2, ["no folder"], "compare", a, b, "--report", self.folder / "none" / "page.html")
        self.refused(2, ["no cache", "none"], "compare", a, b, "--cache", self.folder / "none")
        (a / "evaluation.json").unlink()
        (b / "evaluation.json").unlink()
        self.refused(2, ["name it with --cache"], "compare", a, b)
        self.assertIn("only the seed differs", self.ok("compare", a, b, "--cache", self.cache).err)


if __name__ == "__main__":
    unittest.main()
