"""Test-time augmentation: winnow eval's result for the mean over views equals that computed from the logits of each view."""

import csv
import json
import math
import unittest

from program import Case

SIDE, CLASSES = 16, ("cat", "dog", "emu")
SHIFTS = {(0, 0): 0.5, (-1, -1): 0.25, (1, 1): 0.25}  # (top, left): weight
VIEWS = {
    "mirror": {(0, 0, mirrored): 0.5 for mirrored in (0, 1)},
    "shift": {(*at, 0): weight for at, weight in SHIFTS.items()},
    "mirror-shift": {(*at, mirrored): weight / 2 for at, weight in SHIFTS.items() for mirrored in (0, 1)},
}
VIEWS["airbench94"] = VIEWS["mirror-shift"]


def view_of(pixels, top, left, mirrored):
    """A view of colour pixels, padded by one pixel of the border."""
    rows = [[pixels[3 * (y * SIDE + x) : 3 * (y * SIDE + x) + 3] for x in range(SIDE)] for y in range(SIDE)]
    rows = [[row[1], *row, row[-2]] for row in rows]
    rows = [rows[1], *rows, rows[-2]]
    part = [row[1 + left :][:SIDE] for row in rows[1 + top :][:SIDE]]
    return b"".join(b"".join(row[::-1] if mirrored else row) for row in part)


def softmax(logits):
    terms = [math.exp(x - max(logits)) for x in logits]
    return [term / sum(terms) for term in terms]


def sigmoid(logits):
    return [1 / (1 + math.exp(-x)) for x in logits]


def smooth(label):
    return [0.9 * (k == label) + 0.1 / len(CLASSES) for k in range(len(CLASSES))]


def cross_entropy(p, label):
    return -sum(t * math.log(q) for t, q in zip(smooth(label), p))


def bce(p, label):
    return -sum(t * math.log(q) + (1 - t) * math.log(1 - q) for t, q in zip(smooth(label), p)) / len(CLASSES)


def focal(p, label):
    terms = [
        -(t * math.log(q) + (1 - t) * math.log(1 - q)) * (q * (1 - t) + (1 - q) * t) ** 2 * (0.25 * t + 0.75 * (1 - t))
        for t, q in zip(smooth(label), p)
    ]
    return sum(terms)


class TestTimeAugmentation(Case):
    @classmethod
    def setUpClass(cls):
        """A cache, and for each view one whose test images are those views."""
        case = cls("ok")
        case.setUp()
        cls.addClassCleanup(case.doCleanups)
        pictures = {
            f"{split}/{name}/{i:02}.ppm": case.image(SIDE)
            for split, count in (("train", 12), ("test", 9)) for name in CLASSES for i in range(count)
        }  # fmt: skip
        pictures["test/emu/twin.ppm"] = pictures["train/emu/03.ppm"]
        pictures["test/dog/gray.ppm"] = bytes([90]) * (3 * SIDE * SIDE)
        for view in VIEWS["mirror-shift"]:
            root = case.folder / f"data{view}"
            for name, pixels in pictures.items():
                case.write_ppm(root / name, view_of(pixels, *view) if name.startswith("test") else pixels, SIDE)
            case.ok("ingest", root, "--out", case.folder / f"cache{view}")
        cls.made, cls.cache = case.folder, case.folder / "cache(0, 0, 0)"
        case.ok("dedup", cls.cache, "--hash", "exact", "--on-leak", "drop-train")
        cls.runs = {}
        for loss in ("cross_entropy", "bce", "focal"):
            cls.runs[loss] = case.folder / loss
            case.ok("train", cls.cache, "--out", cls.runs[loss], "--net", "lenet", "--loss", loss, "--label-smoothing", 0.1,
                    "--selection", "default", "--batch-size", 8, "--micro-batch", 8, "--epochs", 6, "--lr", 0.05,
                    "--recipe", "none")  # fmt: skip

    def evaluated(self, run, cache, *args, ranks=0):
        """Figures, and label, prediction and logits of each image, by name."""
        table = self.folder / "table.csv"
        figures = self.ok("eval", run, cache, "--split", "test", "--predictions", table, "--logits", "--threads", 1,
                          "--json", *args, ranks=ranks).json()  # fmt: skip
        rows = list(csv.reader(table.read_text().splitlines()))[1:]
        return figures, {row[1]: (row[2], row[3], list(map(float, row[4:]))) for row in rows}

    def test_against_the_mean_of_what_is_said_of_each_view(self):
        for loss, run in self.runs.items():
            chances = softmax if loss == "cross_entropy" else sigmoid
            of_views = {view: self.evaluated(run, self.made / f"cache{view}")[1] for view in VIEWS["mirror-shift"]}
            for name, views in VIEWS.items():
                with self.subTest(loss=loss, tta=name):
                    figures, found = self.evaluated(run, self.cache, "--tta", name)
                    self.assertEqual(figures["tta"]["name"], name)
                    self.assertEqual(figures["tta"]["mean_of"], "logits" if name == "airbench94" else "probabilities")
                    said = {(v["top_px"], v["left_px"], int(v["mirrored"])): v["weight"] for v in figures["tta"]["views"]}
                    self.assertEqual(said, views)
                    total, right, confusion = 0, 0, [[0] * len(CLASSES) for _ in CLASSES]
                    right_of_clean = 0
                    self.assertEqual(len(found), 29)
                    for picture, (label, prediction, logits) in found.items():
                        each = [(weight, of_views[view][picture][2]) for view, weight in views.items()]
                        if name == "airbench94":
                            p = chances([sum(w * x[k] for w, x in each) for k in range(len(CLASSES))])
                        else:
                            p = [sum(w * chances(x)[k] for w, x in each) for k in range(len(CLASSES))]
                        for q, wanted in zip(chances(logits), p):
                            self.assertAlmostEqual(q, wanted, delta=5e-6)
                        own = CLASSES.index(label)
                        total += globals()[loss](p, own)
                        self.assertEqual(prediction, CLASSES[logits.index(max(logits))])
                        self.assertGreaterEqual(p[CLASSES.index(prediction)], max(p) - 5e-6)
                        confusion[own][CLASSES.index(prediction)] += 1
                        right += prediction == label
                        right_of_clean += prediction == label and not picture.endswith("twin.ppm")
                    self.assertAlmostEqual(figures["loss"], total / 29, delta=1e-5)
                    self.assertEqual(figures["top1"], right / 29)
                    self.assertEqual(figures["confusion"], confusion)
                    self.assertEqual(figures["leaked"], 1)
                    self.assertEqual(figures["top1_leak_free"], right_of_clean / 28)

    def test_an_image_of_one_colour_is_predicted_as_without(self):
        _, plain = self.evaluated(self.runs["cross_entropy"], self.cache)
        for name in VIEWS:
            _, found = self.evaluated(self.runs["cross_entropy"], self.cache, "--tta", name)
            self.assertEqual(found["test/dog/gray.ppm"][1], plain["test/dog/gray.ppm"][1])
            for a, b in zip(*(softmax(rows["test/dog/gray.ppm"][2]) for rows in (found, plain))):
                self.assertAlmostEqual(a, b, delta=1e-6)
            self.assertNotEqual([row[2] for row in found.values()], [row[2] for row in plain.values()])

    def test_the_same_bytes_on_any_number_of_ranks(self):
        for name in VIEWS:
            seen = set()
            for ranks in (0, 1, 2, 3):
                figures, _ = self.evaluated(self.runs["cross_entropy"], self.cache, "--tta", name, ranks=ranks)
                del figures["images_per_second"]
                seen.add((json.dumps(figures), (self.folder / "table.csv").read_bytes()))
            self.assertEqual(len(seen), 1, name)

    def test_it_is_said(self):
        run = self.runs["cross_entropy"]
        self.assertNotIn("--tta", self.ok("eval", run, self.cache).err)
        self.assertNotIn("tta", self.ok("eval", run, self.cache, "--json").json())
        said = self.ok("eval", run, self.cache, "--tta", "mirror").err
        self.assertIn("mean of the probabilities of 2 views (--tta mirror)", said)
        self.assertIn("logits of 6 views", self.ok("eval", run, self.cache, "--tta", "airbench94").err)
        help_text = self.ok("eval", "--help").out
        for name in VIEWS:
            self.assertRegex(help_text, rf"(?m)^  {name} +\w")

    def test_a_run_evaluates_with_it(self):
        command = ["train", self.cache, "--net", "lenet", "--loss", "bce", "--selection", "default", "--batch-size", 8,
                   "--micro-batch", 8, "--lr", 0.05, "--recipe", "none", "--ema-decay", 0.9, "--threads", 1,
                   "--resume", "auto"]  # fmt: skip
        for name in ("airbench94", "mirror"):
            with self.subTest(tta=name):
                run = self.folder / name
                said = self.ok(*command, "--out", run, "--epochs", 3, "--tta", name, "--json")
                self.assertIn(f"with --tta {name}", said.err)
                self.assertEqual(said.json()["tta"], name)
                rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
                for row in rows:
                    self.assertEqual("train.loss" in row, "tta" not in row, row)
                for prefix, more in (("test", []), ("test_ema", ["--ema"])):
                    found = next(row for row in rows if f"{prefix}.loss" in row)
                    self.assertEqual(found["tta"], name)
                    due, _ = self.evaluated(run, self.cache, "--tta", name, *more)
                    plain, _ = self.evaluated(run, self.cache, *more)
                    for figure in ("loss", "top1", "top1_leak_free"):
                        self.assertAlmostEqual(found[f"{prefix}.{figure}"], due[figure], delta=1e-6)
                    self.assertGreater(abs(plain["loss"] - due["loss"]), 1e-5)
        self.refused(2, ["evaluation.tta"], *command, "--out", self.folder / "mirror", "--epochs", 3)
        self.refused(2, ["'turn'", "known: " + ", ".join(VIEWS)], *command, "--out", self.folder / "no", "--tta", "turn")
        self.assertFalse((self.folder / "no").exists())
        self.ok(*command, "--out", self.folder / "plain", "--epochs", 1)
        self.assertNotIn('"tta"', (self.folder / "plain" / "metrics.jsonl").read_text())
        self.assertNotIn("tta", (self.folder / "plain" / "config.json").read_text())

    def test_an_unknown_name(self):
        for ranks in (0, 2):
            self.refused(2, ["'turn'", "known: " + ", ".join(VIEWS)], "eval", self.runs["bce"], self.cache, "--tta", "turn",
                         ranks=ranks)  # fmt: skip


if __name__ == "__main__":
    unittest.main(verbosity=2)
