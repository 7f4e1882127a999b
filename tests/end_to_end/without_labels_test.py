"""Features without labels: trained by --loss barlow_twins, embedded, and used to find near pictures."""

import csv
import math
import unittest

from embed_test import vectors
from program import Case

SIDE = 16


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


class WithoutLabels(Case):
    @classmethod
    def setUpClass(cls):
        """136 pictures in one folder, without classes or splits. The last 8 show the same as the first 8, but brighter."""
        case = cls("ok")
        case.setUp()
        cls.addClassCleanup(case.doCleanups)
        cls.made, cls.cache = case.folder, case.folder / "cache"
        for i in range(136):
            pixels = case.image(SIDE, seed=i % 128)
            if i >= 128:
                pixels = bytes(min(255, value * 17 // 16) for value in pixels)
            case.write_ppm(case.folder / "pictures" / f"{i:03}.ppm", pixels, SIDE)
        case.ok("ingest", case.folder / "pictures", "--out", cls.cache)
        cls.trained = case.folder / "trained"
        case.ok(*cls.command(case.folder / "trained"))

    @classmethod
    def command(cls, out, *more, cache=None, epochs=20, micro_batch=32):
        return ("train", cache or cls.cache, "--out", out, "--net", "resnet20", "--loss", "barlow_twins",
                "--projection", 32, "--batch-size", 32, "--micro-batch", micro_batch, "--epochs", epochs, "--log-interval", 3, *more)  # fmt: skip

    def weights(self, out):
        return (out / "checkpoints" / "latest" / "model.safetensors").read_bytes()

    def test_the_loss_falls_and_nothing_is_evaluated(self):
        losses = self.metrics(self.trained, "train.loss")
        self.assertGreater(losses[0], 0.3)
        self.assertLess(losses[-1], 0.85 * losses[0])
        self.assertEqual(self.metrics(self.trained, "train.top1"), [])
        self.assertFalse((self.trained / "evaluation.json").exists())

    def test_features_are_those_of_the_net_before_the_projector(self):
        said = self.ok("embed", self.trained, self.cache, "--json").json()
        self.assertEqual((said["images"], said["dimensions"]), (136, 64))
        features = vectors(self.cache / "features" / "default.features")

        def cosines(features):
            one = [features[i] for i in range(136)]
            return [cosine(one[i], one[128 + i]) for i in range(8)], sorted(
                cosine(one[i], one[j]) for i in range(128) for j in range(i))  # fmt: skip

        twins, others = cosines(features)
        self.assertGreater(min(twins), 0.98)
        self.assertLess(others[len(others) // 2], min(twins) - 0.05)
        said = self.ok("embed", self.trained, self.cache, "--whiten", "--name", "whitened", "--json").json()
        self.assertTrue(said["source"]["whitened"])
        twins, others = cosines(vectors(self.cache / "features" / "whitened.features"))
        self.assertGreater(min(twins), others[-20])
        self.assertLess(abs(others[len(others) // 2]), 0.05)
        groups = self.folder / "near.csv"
        self.ok("dedup", self.cache, "--features", "default", "--cosine", 0.98, "--name", "near", "--list-pairs", groups)
        with groups.open(newline="") as file:
            self.assertGreaterEqual(len(list(csv.DictReader(file))), 8)
        # As a file of weights from elsewhere.
        file = self.trained / "checkpoints" / "latest" / "model.safetensors"
        self.ok("embed", file, self.cache, "--net", "resnet20", "--image-size", SIDE, "--name", "file")
        self.assertEqual(vectors(self.cache / "features" / "file.features"), features)

    def test_the_same_bits_on_two_ranks_and_after_a_stop(self):
        short = ("--reproducible", "--log-batches")
        self.ok(*self.command(self.folder / "one", *short, epochs=2, micro_batch=8))
        self.ok(*self.command(self.folder / "two", *short, epochs=2, micro_batch=8), ranks=2)
        cut = (*self.command(self.folder / "cut", *short, epochs=2, micro_batch=8), "--resume", "auto", "--recovery-interval", 1)
        self.ok(*cut, "--max-steps", 2)
        self.ok(*cut, ranks=2)
        batches = self.metrics(self.folder / "one", "data.digest")
        self.assertEqual(len(set(batches)), 9)
        for other in ("two", "cut"):
            self.assertEqual(self.weights(self.folder / other), self.weights(self.folder / "one"), other)
            self.assertEqual(self.metrics(self.folder / other, "data.digest"), batches)
            self.assertEqual((self.folder / other / "census.json").read_text(),
                             (self.folder / "one" / "census.json").read_text())  # fmt: skip

    def test_a_classifier_begins_with_it(self):
        for i in range(96):
            self.write_ppm(self.folder / "classes" / "train" / f"class-{i % 2}" / f"{i:02}.ppm", self.image(SIDE), SIDE)
        self.ok("ingest", self.folder / "classes", "--out", self.folder / "labelled")
        begun = self.ok("train", self.folder / "labelled", "--out", self.folder / "fine", "--net", "resnet20",
                        "--init-from", self.trained / "checkpoints" / "latest" / "model.safetensors",
                        "--batch-size", 32, "--max-steps", 1)  # fmt: skip
        self.assertIn("another number of classes: fc.weight, fc.bias keep their initial values", begun.err)
        back = self.ok(*self.command(self.folder / "back", "--max-steps", 1, cache=self.folder / "labelled"),
                       "--init-from", self.folder / "fine" / "checkpoints" / "latest" / "model.safetensors")  # fmt: skip
        self.assertIn("another projection: ", back.err)

    def test_what_does_not_go_with_it_is_refused(self):
        def refused(words, *more):
            self.refused(2, words, *self.command(self.folder / "none", *more))
            self.assertFalse((self.folder / "none" / "checkpoints").exists())

        for flag in (("--holdout", 0.1), ("--eval-every", 5), ("--keep-best", "loss"), ("--tta", "mirror")):
            refused(["uses no labels, so there is no accuracy to evaluate; leave out " + flag[0]], *flag)
        refused(["--class-weights"], "--class-weights", "balanced")
        refused(["--label-smoothing"], "--label-smoothing", 0.1)
        refused(["--sync-bn", "larger --micro-batch"], "--sync-bn")
        self.refused(2, ["has only 1; use a larger --micro-batch"], *self.command(self.folder / "none", micro_batch=1))
        refused(["--augment none makes equal"], "--augment", "none")
        refused(["mixes images"], "--augment", "flip+mixup")
        refused(["--folds needs a loss that uses labels"], "--folds", 2)
        self.refused(2, ["predicts no classes", "winnow embed"], "eval", self.trained, self.cache)
        self.refused(2, ["predicts no classes", "winnow embed"], "onnx", self.trained, "--to", self.folder / "net.onnx")
        for split in ("train", "test"):
            self.write_ppm(self.folder / "plain" / split / "0.ppm", self.image(SIDE), SIDE)
        self.ok("ingest", self.folder / "plain", "--out", self.folder / "unlabelled")
        for more in ([], ["--loss", "bce"], ["--loss", "focal", "--allow-unlabelled"]):
            self.refused(2, ["has no labels", "--loss barlow_twins"], "train", self.folder / "unlabelled",
                         "--out", self.folder / "none", *more)  # fmt: skip


if __name__ == "__main__":
    unittest.main()
