"""The samples of an epoch, including those that take turns: the same on any number of ranks and after a resume."""

import json
import os
import pathlib
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

    def check_same_anywhere(self, *more, epochs, samples, prefix="run"):
        """On one rank, on two, and on one that stops inside an epoch and resumes as two."""
        runs = {name: self.folder / f"{prefix}-{name}" for name in ("one", "two", "resumed")}
        command = ["train", self.cache, *self.RECIPE, "--epochs", epochs, *more, "--out"]
        self.ok(*command, runs["one"])
        self.ok(*command, runs["two"], ranks=2)
        self.ok(*command, runs["resumed"], "--max-steps", 7)
        self.ok(*command, runs["resumed"], ranks=2)
        for out in runs.values():
            self.assertEqual(self.weights(out), self.weights(runs["one"]), out)
            census = self.census(out)
            self.assertEqual(census, self.census(runs["one"]))
            whole = epochs if epochs * samples % 24 == 0 else epochs - 1  # steps are rounded to whole batches
            self.assertEqual([(row["samples"], row["complete"]) for row in census[:whole]], [(samples, True)] * whole)
        return self.census(runs["one"])

    def test_one_of_each_group_by_turns(self):
        # 120 pictures, 30 of which have two more copies.
        images = [(self.image(16, 1, seed=i), i % 4) for i in range(120)]
        images += [images[i % 30] for i in range(60)]
        self.write_idx(self.folder / "data", "train", [image for image, _ in images], [label for _, label in images], 16)
        self.write_idx(self.folder / "data", "t10k", [self.image(16, 1, seed=1000 + i) for i in range(8)], [0, 1, 2, 3] * 2, 16)
        self.ok("ingest", self.folder / "data", "--out", self.cache)
        found = self.ok("dedup", self.cache, "--hash", "exact", "--mode", "one_per_group", "--name", "turns", "--json")
        self.assertEqual(found.json()["removed"], 0)
        census = self.check_same_anywhere("--selection", "turns", epochs=4, samples=120)
        # Three epochs are a block: each has other samples, and so has the next block.
        self.assertEqual(len({row["hash"] for row in census[:3]}), 3)
        # Held-out groups are evaluated with all their samples. A run trains only on the others.
        held = self.folder / "held"
        self.ok("train", self.cache, *self.RECIPE, "--epochs", 1, "--selection", "turns", "--holdout", 0.3, "--out", held)
        row = self.census(held)[0]
        self.assertTrue(row["complete"])
        self.assertLess(row["samples"], 120)

    def test_classes_of_unequal_size(self):
        # 96, 24, 8 and 4 pictures in the classes. In the first class, 30 are copies of ten.
        labels = [0] * 96 + [1] * 24 + [2] * 8 + [3] * 4
        images = [self.image(16, 1, seed=i if label or i >= 30 else i % 10) for i, label in enumerate(labels)]
        self.write_idx(self.folder / "data", "train", images, labels, 16)
        self.write_idx(self.folder / "data", "t10k", [self.image(16, 1, seed=1000 + i) for i in range(8)], [0, 1, 2, 3] * 2, 16)
        self.ok("ingest", self.folder / "data", "--out", self.cache)
        self.ok("dedup", self.cache, "--hash", "exact", "--mode", "weight", "--name", "weighed")
        for sampling, samples in (("balanced", 132), ("repeat-factor", 134), ("weighted", 112)):
            with self.subTest(sampling):
                more = ["--sampling", sampling, "--selection", "weighed"]
                if sampling == "repeat-factor":
                    more += ["--repeat-threshold", 0.05]  # only the last class, a 33rd, is below: 128 + 4 x 1.28
                census = self.check_same_anywhere(*more, epochs=3, samples=samples, prefix=sampling)
                self.assertNotEqual(census[0]["hash"], census[1]["hash"])
                out = self.folder / f"{sampling}-one"
                self.assertEqual(json.loads((out / "census.json").read_text())["sampling"], sampling)
                self.assertEqual(json.loads((out / "config.json").read_text())["data"]["sampling"], sampling)
                # A run cannot be resumed with another sampling.
                self.refused(2, ["options differ"], "train", self.cache, *self.RECIPE, "--epochs", 3,
                             "--selection", "weighed", "--out", out)

    def test_class_weights(self):
        # 24, 12 and 4 pictures in three classes: balanced weights are 40 / (3 * n).
        labels = [0] * 24 + [1] * 12 + [2] * 4
        images = [self.image(16, 1, seed=i) for i in range(len(labels))]
        self.write_idx(self.folder / "data", "train", images, labels, 16)
        self.write_idx(self.folder / "data", "t10k", images[::8], labels[::8], 16)
        self.ok("ingest", self.folder / "data", "--out", self.cache)
        names = json.loads((self.cache / "manifest.json").read_text())["classes"]
        table = self.folder / "weights.csv"

        def losses(name, weights, *more):
            out = self.folder / name
            if weights is not None:
                table.write_text("class,weight\n" + "".join(f"{c},{w!r}\n" for c, w in zip(names, weights)))
                more = ["--class-weights", table, *more]
            self.ok("train", self.cache, *self.RECIPE, "--epochs", 2, "--log-interval", 1, *more, "--out", out)
            census = json.loads((out / "census.json").read_text())["epochs"]
            return self.metrics(out, "train.loss"), census[0]["samples"]

        plain, samples = losses("plain", None)
        self.assertEqual(samples, 40)
        self.assertEqual(losses("ones", [1, 1, 1]), (plain, 40))
        balanced = losses("balanced", None, "--class-weights", "balanced")
        self.assertNotEqual(balanced, (plain, 40))
        self.assertEqual(losses("by-hand", [40 / 72, 40 / 36, 40 / 12]), balanced)
        # A class that is ignored is not drawn.
        self.assertEqual(losses("two", [1, 0, 1])[1], 28)
        config = json.loads((self.folder / "two" / "config.json").read_text())
        self.assertEqual(config["data"]["class_weights"], {names[0]: 1, names[1]: 0, names[2]: 1})
        again = ["train", self.cache, *self.RECIPE, "--epochs", 2, "--out", self.folder / "balanced"]
        self.refused(2, ["options differ", "data.class_weights"], *again)
        fresh = [*again[:-1], self.folder / "fresh", "--class-weights"]
        self.refused(2, ["--sampling weighted", "--class-weights"], *fresh, "balanced", "--sampling", "weighted")
        # Names are bytes.
        for label in (b"caf\xe9", b"tea"):
            for i in range(6):
                self.write_ppm(pathlib.Path(os.fsdecode(os.fsencode(self.folder / "named" / "train") + b"/" + label)) / f"{i}.ppm",
                               self.image(16), 16)
        self.ok("ingest", self.folder / "named", "--out", self.folder / "named.cache")
        table.write_bytes(b"caf\xe9,2\n")
        for steps in (1, 2):
            self.ok("train", self.folder / "named.cache", *self.RECIPE, "--epochs", 2, "--max-steps", steps, "--class-weights", table,
                    "--out", self.folder / "named.run")
        config = json.loads((self.folder / "named.run" / "config.json").read_text())
        self.assertEqual(config["data"]["class_weights"], {"caf\uefe9": 2})
        table.write_text("cow,2\n")
        self.refused(2, ["'cow'", "not a class"], *fresh, table)

    def test_partial_shuffles(self):
        self.learnable_idx(self.folder / "data", train=150, test=8)
        self.ok("ingest", self.folder / "data", "--out", self.cache)
        partial = ["--shuffle-fraction", 0.25, "--partitions", 4]
        self.check_same_anywhere(*partial, epochs=4, samples=150)
        out = self.folder / "run-resumed"
        data = json.loads((out / "config.json").read_text())["data"]
        self.assertEqual((data["shuffle_fraction"], data["partitions"]), (0.25, 4))
        # How well it mixes is reported and stored, once.
        (line,) = [row for row in map(json.loads, (out / "metrics.jsonl").read_text().splitlines()) if row["step"] == 0]
        self.assertAlmostEqual(line["shuffle.away"], 0.25 * 3 / 4, delta=0.08)
        self.assertAlmostEqual(line["shuffle.displacement"], 1 / 3, delta=0.03)
        self.assertGreater(line["shuffle.meetings"], 1.2)
        self.assertAlmostEqual(line["shuffle.class_entropy"], 1, delta=0.1)
        said = self.ok("train", self.cache, *self.RECIPE, "--epochs", 4, *partial, "--out", out).err
        self.assertIn("25.0 % of each of 4 partitions is exchanged an epoch", said)
        # A run that was stopped before any checkpoint begins its metrics again.
        (out / "checkpoints").rename(out / "gone")
        self.ok("train", self.cache, *self.RECIPE, "--epochs", 4, *partial, "--out", out)
        steps = [row for row in map(json.loads, (out / "metrics.jsonl").read_text().splitlines()) if row["step"] == 0]
        self.assertEqual(len(steps), 1)
        # It needs epochs that have each sample once, and lanes of at least one row.
        other = ["train", self.cache, *self.RECIPE, "--epochs", 1, "--out", self.folder / "none"]
        self.refused(2, ["--sampling balanced", "--shuffle-fraction"], *other, *partial, "--sampling", "balanced")
        self.refused(2, ["24", "partitions, 25", "--partitions"], *other, *partial[:2], "--partitions", 25)
        self.refused(2, ["--shuffle-fraction"], *other, "--shuffle-fraction", 1.5)
        self.refused(2, ["--partitions"], *other, *partial[:2], "--partitions", 0)
        self.assertFalse((self.folder / "none").exists())
        self.ok(*other, "--partitions", 25)

    def test_plain_runs_go_on_as_before(self):
        self.learnable_idx(self.folder / "data", train=48, test=8)
        self.ok("ingest", self.folder / "data", "--out", self.cache)
        self.ok("train", self.cache, *self.RECIPE, "--epochs", 1, "--out", self.folder / "plain")
        self.assertNotIn("sampling", json.loads((self.folder / "plain" / "config.json").read_text())["data"])


if __name__ == "__main__":
    unittest.main()
