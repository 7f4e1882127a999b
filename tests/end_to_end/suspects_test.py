"""winnow suspects: labels that are probably wrong, and outliers."""

import csv
import itertools
import json
import math
import struct
import unittest

from folds_test import read_csv, read_npy
from golden import xxh3_128
from program import Case


def thresholds_of(p, labels, classes):
    """The mean probability of each class over the images with its label, as in the paper."""
    own = [[p[i][j] for i in range(len(p)) if labels[i] == j] for j in range(classes)]
    return [math.fsum(values) / len(values) if values else math.inf for values in own]


def off_the_diagonal(p, labels, classes):
    """The images for which the most probable class that reaches its threshold is not their own."""
    thresholds = thresholds_of(p, labels, classes)
    found = {}
    for i, row in enumerate(p):
        reached = [j for j in range(classes) if row[j] >= thresholds[j]]
        if reached:
            best = max(reached, key=lambda j: row[j])
            if best != labels[i] and max(row) > row[labels[i]]:
                found[i] = row[labels[i]] - max(row[j] for j in range(classes) if j != labels[i])
    return found


class Suspects(Case):
    RECIPE = ["--net", "lenet", "--batch-size", 16, "--lr", 0.02, "--epochs", 8, "--augment", "none", "--recipe", "none", "--micro-batch", 16]
    SIDE = 16

    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        self.cache = self.folder / "cache"

    def quadrants(self, count, wrong=(), strange=()):
        """photos/CLASS/NUMBER.ppm: the class is the bright quadrant. Some have a wrong label, some look like nothing else."""
        for i in range(count):
            label = i % 4
            top, left = divmod(label, 2)
            pixels = bytearray(self.random.randrange(90) for _ in range(3 * self.SIDE * self.SIDE))
            for y in range(8):
                for x in range(8):
                    for c in range(3):
                        pixels[((y + 8 * top) * self.SIDE + x + 8 * left) * 3 + c] += 120
            if i in strange:
                pixels = bytearray(255 * ((x // 2 + y // 2) % 2) for y in range(16) for x in range(16) for _ in range(3))
                pixels[i] = 7  # no two files are equal
            given = (label + 1) % 4 if i in wrong else label
            self.write_ppm(self.folder / "photos" / f"class {given}" / f"{i:03}.ppm", bytes(pixels), self.SIDE)
        self.ok("ingest", self.folder / "photos", "--out", self.cache)

    def rows(self, *args):
        out = self.ok("suspects", self.cache, *args).out
        return list(csv.DictReader(out.splitlines()))

    def test_planted_labels_are_listed_and_can_be_dropped(self):
        wrong = set(range(5, 160, 19))
        self.quadrants(160, wrong=wrong)
        cv = self.folder / "cv"
        self.ok("train", self.cache, "--out", cv, "--folds", 4, *self.RECIPE)
        rows = self.rows("--run", cv)
        self.assertEqual({int(row["name"][-7:-4]) for row in rows}, wrong)
        for row in rows:
            given = int(row["label"][-1])
            self.assertEqual(row["likely"], f"class {(given - 1) % 4}")
            self.assertEqual((row["issue"], row["name"].split("/")[0]), ("label_error", row["label"]))
        scores = [float(row["score"]) for row in rows]
        self.assertEqual(scores, sorted(scores))
        self.assertLess(scores[-1], 0.5)

        # As in the paper, with the same probabilities.
        (n, classes), values = read_npy(cv / "out-of-fold.npy")
        p = [values[i * classes : (i + 1) * classes] for i in range(n)]
        predicted = read_csv(cv / "out-of-fold.csv")
        labels = [int(row["label"][-1]) for row in predicted]
        expected = off_the_diagonal(p, labels, classes)
        order = sorted(expected, key=expected.get)
        listed = self.rows("--run", cv, "--by", "confident_joint", "--order", "margin")
        self.assertEqual([row["id"] for row in listed], [predicted[i]["id"] for i in order])
        for row, i in zip(listed, order, strict=True):
            self.assertAlmostEqual(float(row["score"]), (1 + expected[i]) / 2, places=4)
        for row in self.rows("--run", cv, "--by", "confident_joint"):
            i = next(i for i in expected if predicted[i]["id"] == row["id"])
            own, likely = p[i][labels[i]], max(p[i][j] for j in range(classes) if j != labels[i])
            self.assertAlmostEqual(float(row["score"]), own / (own + likely), places=4)

        told = self.ok("suspects", self.cache, "--run", cv, "--json", "--top", 3).json()
        self.assertEqual((told["images"], told["judged"], len(told["suspects"])), (160, 160, 3))
        self.assertAlmostEqual(told["label_noise"], len(wrong) / 160, places=2)
        self.assertEqual([str(row["id"]) for row in told["suspects"]], [row["id"] for row in rows[:3]])

        # The list goes into a review, which dedup obeys and a later list leaves out.
        review = self.folder / "review.jsonl"
        page = self.folder / "page.html"
        listing = self.folder / "list.jsonl"
        printed = self.ok("suspects", self.cache, "--run", cv, "--top", 4, "--drop-into", review, "--report", page, "--list", listing).out
        self.assertEqual(printed, "")
        first = [json.loads(line)["id"] for line in listing.read_text().splitlines()]
        self.assertEqual([str(i) for i in first], [row["id"] for row in rows[:4]])
        self.assertIn("probably class", page.read_text())
        left = self.rows("--run", cv, "--review", review)
        self.assertEqual([row["id"] for row in left], [row["id"] for row in rows[4:]])
        cleaned = self.ok("dedup", self.cache, "--hash", "exact", "--review", review, "--name", "cleaned").err
        self.assertIn("selection 'cleaned' written", cleaned)
        removed = self.ok("dedup", self.cache, "--hash", "exact", "--review", review, "--name", "again", "--list", "-").out
        self.assertEqual({int(row["id"]) for row in csv.DictReader(removed.splitlines())}, set(first))
        self.ok("train", self.cache, "--out", self.folder / "cv2", "--folds", 2, "--selection", "cleaned", *self.RECIPE)
        left = {int(row["id"]) for row in read_csv(self.folder / "cv2" / "out-of-fold.csv")}
        self.assertEqual((len(left), left & set(first)), (156, set()))
        self.assertTrue(left.issuperset(int(row["id"]) for row in self.rows("--run", self.folder / "cv2")))

    def test_by_features(self):
        wrong, strange = set(range(6, 120, 21)), {3, 50, 77}
        self.quadrants(120, wrong=wrong, strange=strange)
        out = self.folder / "run"
        self.ok("train", self.cache, "--out", out, "--folds", 2, *self.RECIPE)
        self.ok("embed", out / "fold-1", self.cache, "--name", "net")
        rows = self.rows("--features", "net", "--neighbours", 5, "--outlier-score", 0.4)
        by_issue = {}
        for row in rows:
            by_issue.setdefault(row["issue"], []).append(int(row["name"][-7:-4]))
        self.assertLessEqual(wrong, set(by_issue["label_neighbours"]))
        self.assertLess(len(by_issue["label_neighbours"]), len(wrong) + 6)
        both = self.rows("--features", "net", "--run", out, "--top", 2)
        self.assertEqual({row["issue"] for row in both}, {"label_error", "label_neighbours", "outlier"})
        self.assertEqual(len(both), 6)
        alone = self.rows("--features", "net", "--neighbours", 1, "--outlier-score", 1, "--top", 120)
        outliers = [row for row in alone if row["issue"] == "outlier"]
        self.assertTrue(all(row["likely"] == "" for row in outliers))
        self.assertEqual(sorted(float(row["score"]) for row in outliers), [float(row["score"]) for row in outliers])

    def test_without_labels_there_are_outliers_alone(self):
        for i in range(40):
            self.write_ppm(self.folder / "photos" / f"{i:02}.ppm", self.image(16, seed=i), 16)
        self.ok("ingest", self.folder / "photos", "--out", self.cache)
        points = [(1.0, self.random.uniform(-0.5, 0.5), self.random.uniform(-0.5, 0.5)) for _ in range(40)]
        points[11] = (-1.0, 1.0, 0.5)
        vectors = self.folder / "vectors.npy"
        header = "{'descr': '<f8', 'fortran_order': False, 'shape': (40, 3), }".ljust(117) + "\n"
        numbers = struct.pack("<120d", *itertools.chain(*points))
        vectors.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + numbers)
        names = self.folder / "names.txt"
        names.write_text("".join(f"{i:02}.ppm\n" for i in range(40)))
        self.ok("embed", vectors, self.cache, "--name", "mine", "--names", names)
        told = self.ok("suspects", self.cache, "--features", "mine", "--neighbours", 4, "--outlier-score", 1)
        self.assertIn("has no labels", told.err)
        listed = {row["name"]: float(row["score"]) for row in csv.DictReader(told.out.splitlines())}

        # 1 - cosine to the fourth nearest image, and Tukey's fences of it.
        units = [[x / math.hypot(*point) for x in point] for point in points]
        far = [sorted(1 - sum(map(float.__mul__, a, b)) for b in units if b is not a)[3] for a in units]
        first, median, third = (sorted(far)[39 * k // 4] for k in (1, 2, 3))
        fence = third + 3 * (third - first) - median
        expected = {f"{i:02}.ppm": fence / (fence + x - median) for i, x in enumerate(far) if x > median}
        self.assertEqual(next(iter(listed)), "11.ppm")
        self.assertEqual(len(listed), len(expected))
        for name, score in listed.items():
            self.assertAlmostEqual(score, expected[name], delta=0.03)
        usual = csv.DictReader(self.ok("suspects", self.cache, "--features", "mine", "--neighbours", 4).out.splitlines())
        self.assertEqual([row["name"] for row in usual], [name for name, score in listed.items() if score < 0.5])

    def test_refusals(self):
        self.quadrants(24)
        out = self.folder / "run"
        self.refused(2, ["--run", "--features"], "suspects", self.cache)
        self.refused(2, ["out-of-fold", "--folds"], "suspects", self.cache, "--run", out)
        self.refused(2, ["no features 'none'", "winnow embed"], "suspects", self.cache, "--features", "none")
        self.ok("train", self.cache, "--out", out, "--folds", 2, *self.RECIPE, "--max-steps", 1)
        self.refused(2, ["out-of-fold", "--folds"], "suspects", self.cache, "--run", out / "fold-1")
        self.refused(2, ["guess", "noise_rate"], "suspects", self.cache, "--run", out, "--by", "guess")
        self.refused(2, ["guess", "ratio"], "suspects", self.cache, "--run", out, "--order", "guess")
        self.refused(2, ["--json", "--list -"], "suspects", self.cache, "--run", out, "--json", "--list", "-")
        self.refused(2, ["no folder"], "suspects", self.cache, "--run", out, "--report", self.folder / "none" / "page.html")
        other = self.folder / "other"
        self.write_ppm(self.folder / "one" / "a" / "1.ppm", self.image(16), 16)
        self.ok("ingest", self.folder / "one", "--out", other)
        self.refused(2, ["other classes, as 'a', which"], "suspects", other, "--run", out)
        for name in json.loads((out / "out-of-fold.json").read_text())["classes"]:
            self.write_ppm(self.folder / "four" / name / "1.ppm", self.image(16), 16)
        self.ok("ingest", self.folder / "four", "--out", self.folder / "images")
        self.refused(2, ["another cache"], "suspects", self.folder / "images", "--run", out)
        self.forged_predictions(out)
        damaged = out / "out-of-fold.npy"
        damaged.write_bytes(damaged.read_bytes()[:-4] + b"\0\0\0\0")
        self.refused(1, ["out-of-fold.npy", "winnow train CACHE --folds"], "suspects", self.cache, "--run", out)
        damaged.unlink()
        self.refused(1, ["out-of-fold.npy is missing", "winnow train CACHE --folds"], "suspects", self.cache, "--run", out)

    def forged_predictions(self, run):
        """Each file is valid by itself, with right digests."""
        files = {name: run / f"out-of-fold.{name}" for name in ("json", "npy", "csv")}
        whole = {name: path.read_bytes() for name, path in files.items()}
        said = json.loads(whole["json"])
        begin = len(whole["npy"]) - 24 * 4 * 4
        for words, members, changed in (
            (["out-of-fold.json", "other classes"], {"classes": [*said["classes"][:-1], "another"]}, {}),
            (["out-of-fold.npy: row 5, of image 5, does not add up to 1"], {},
             {"npy": whole["npy"][: begin + 80] + struct.pack("<4f", 1, 1, 0.5, 0) + whole["npy"][begin + 96 :]}),
            (["out-of-fold.npy: row 0, of image 0, has a number that is not a probability"], {},
             {"npy": whole["npy"][:begin] + struct.pack("<4f", 2, -1, 0, 0) + whole["npy"][begin + 16 :]}),
            (["out-of-fold.csv", "quote"], {}, {"csv": whole["csv"][:-2] + b'"1'}),
            (["out-of-fold.csv has images that are not in"], {}, {"csv": whole["csv"].replace(b"\n23,", b"\n99,")}),
        ):  # fmt: skip
            digests = {f"{name}_xxh3_128": xxh3_128(data) for name, data in changed.items()}
            for name, data in {**whole, **changed, "json": json.dumps({**said, **members, **digests}).encode()}.items():
                files[name].write_bytes(data)
            self.refused(1, [*words, "train again: winnow train CACHE --folds"], "suspects", self.cache, "--run", run)
        for name, data in whole.items():
            files[name].write_bytes(data)

    def test_several_labels_are_refused(self):
        self.quadrants(24)
        table = self.folder / "labels.csv"
        names = sorted(str(path.relative_to(self.folder / "photos")) for path in (self.folder / "photos").rglob("*.ppm"))
        table.write_text("file,labels\n" + "".join(f"{name},{'a|b' if i % 3 == 0 else 'a' if i % 2 else 'b'}\n" for i, name in enumerate(names)))
        several = self.folder / "several"
        (self.folder / "photos" / "labels.csv").write_text(table.read_text())
        self.ok("ingest", self.folder / "photos" / "labels.csv", "--out", several)
        out = self.folder / "run"
        self.ok("train", several, "--out", out, "--folds", 2, *self.RECIPE, "--loss", "bce", "--max-steps", 1)
        self.assertTrue(json.loads((out / "out-of-fold.json").read_text())["sigmoid"])
        self.refused(2, ["several labels"], "suspects", several, "--run", out)


if __name__ == "__main__":
    unittest.main()
