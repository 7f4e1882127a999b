"""Which samples an epoch has: those that take turns, the same on any number of ranks and after a resume."""

import json
import unittest

from program import Case, tensors


class Sampling(Case):
    RECIPE = ["--net", "lenet", "--batch-size", 24, "--micro-batch", 6, "--lr", 0.05, "--augment", "cifar",
              "--threads", 1, "--reproducible", "--resume", "auto", "--recovery-interval", 4]

    def setUp(self):
        super().setUp()
        self.cache = self.folder / "cache"

    def weights(self, out):
        return tensors(out / "checkpoints" / "latest" / "model.safetensors")

    def census(self, out):
        return json.loads((out / "census.json").read_text())["epochs"]

    def check_same_anywhere(self, *more, epochs, samples):
        """One rank, two, and one that stops inside an epoch and goes on as two."""
        runs = {name: self.folder / name for name in ("one", "two", "resumed")}
        command = ["train", self.cache, *self.RECIPE, "--epochs", epochs, *more, "--out"]
        self.ok(*command, runs["one"])
        self.ok(*command, runs["two"], ranks=2)
        self.ok(*command, runs["resumed"], "--max-steps", 7)
        self.ok(*command, runs["resumed"], ranks=2)
        for out in runs.values():
            self.assertEqual(self.weights(out), self.weights(runs["one"]), out)
            census = self.census(out)
            self.assertEqual(census, self.census(runs["one"]))
            self.assertEqual([(row["samples"], row["complete"]) for row in census[:epochs]],
                             [(samples, True)] * epochs)
        return self.census(runs["one"])

    def test_one_of_each_group_by_turns(self):
        # 120 pictures, of which 30 are there twice more.
        images = [(self.image(16, 1, seed=i), i % 4) for i in range(120)]
        images += [images[i % 30] for i in range(60)]
        self.write_idx(self.folder / "data", "train", [image for image, _ in images], [label for _, label in images], 16)
        self.write_idx(self.folder / "data", "t10k", [self.image(16, 1, seed=1000 + i) for i in range(8)], [0, 1, 2, 3] * 2, 16)
        self.ok("ingest", self.folder / "data", "--out", self.cache)
        found = self.ok("dedup", self.cache, "--hash", "exact", "--mode", "one_per_group", "--name", "turns", "--json")
        self.assertEqual(found.json()["removed"], 0)
        census = self.check_same_anywhere("--selection", "turns", epochs=4, samples=120)
        # Three epochs are a block: other samples in each, and in the next block's.
        self.assertEqual(len({row["hash"] for row in census[:3]}), 3)
        # What is held out is evaluated with all its samples; a run needs no more than the others.
        held = self.folder / "held"
        self.ok("train", self.cache, *self.RECIPE, "--epochs", 1, "--selection", "turns", "--holdout", 0.3, "--out", held)
        row = self.census(held)[0]
        self.assertTrue(row["complete"])
        self.assertLess(row["samples"], 120)


if __name__ == "__main__":
    unittest.main()
