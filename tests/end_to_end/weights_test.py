"""Weights from elsewhere: training starts from them, freezes or scales some, and they can be evaluated."""

import struct
import unittest

from program import Case, tensors


def floats(raw):
    return struct.unpack(f"<{len(raw) // 4}f", raw)


class Weights(Case):
    NET = ["--net", "resnet20", "--batch-size", 32, "--micro-batch", 16, "--augment", "none"]
    SMALL_STEPS = ["--lr", 1e-30, "--weight-decay", 0]  # below a unit in the last place of any weight

    @classmethod
    def setUpClass(cls):
        """Weights trained for four classes, and data of two."""
        case = cls("ok")
        case.setUp()
        cls.addClassCleanup(case.doCleanups)
        cls.shared = case.folder
        for classes in (4, 2):
            case.learnable_idx(case.folder / f"data-{classes}", classes=classes, train=160, test=70)
            case.ok("ingest", case.folder / f"data-{classes}", "--out", case.folder / f"cache-{classes}")
        cls.cache4, cls.cache2 = case.folder / "cache-4", case.folder / "cache-2"
        case.ok("train", cls.cache4, "--out", case.folder / "run", *cls.NET, "--max-steps", 3)
        cls.run4 = case.folder / "run"
        cls.weights = cls.run4 / "checkpoints" / "latest" / "model.safetensors"

    def train(self, name, cache, *args, ranks=0):
        run = self.folder / name
        result = self.ok("train", cache, "--out", run, *self.NET, *args, ranks=ranks)
        return result, tensors(run / "checkpoints" / "latest" / "model.safetensors")

    def same_but(self, ours, theirs, *prefixes):
        """Equal bits except for names with these prefixes, which all differ."""
        for name in theirs:
            if name.endswith("num_batches_tracked"):
                continue
            changed = name.startswith(prefixes) if prefixes else False
            self.assertEqual(ours[name] != theirs[name], changed, name)

    def test_the_head_begins_anew_for_other_classes(self):
        result, tuned = self.train("tuned", self.cache2, "--init-from", self.weights, "--max-steps", 1,
                                   "--freeze", "*.running_*", *self.SMALL_STEPS)
        self.assertIn("fc.weight, fc.bias keep their initial values", result.err)
        _, anew = self.train("anew", self.cache2, "--max-steps", 1, *self.SMALL_STEPS)
        self.same_but(tuned, tensors(self.weights), "fc.")
        self.assertEqual(tuned["fc.weight"], anew["fc.weight"])
        self.assertEqual(tuned["fc.bias"], anew["fc.bias"])

    def test_the_head_stays_for_equal_classes(self):
        result, tuned = self.train("tuned", self.cache4, "--init-from", self.weights, "--max-steps", 1,
                                   "--freeze", "*.running_*", *self.SMALL_STEPS)
        self.assertNotIn("initial values", result.err)
        self.same_but(tuned, tensors(self.weights))

    def test_frozen_tensors_keep_their_bits(self):
        for name, frozen, moves in (
            ("stem", ["conv1.*", "bn1.*", "layer1.*"], ("layer2.", "layer3.", "fc.")),
            ("middle", ["layer2.*"], ("conv1.", "bn1.", "layer1.", "layer3.", "fc.")),
        ):
            _, tuned = self.train(name, self.cache4, "--init-from", self.weights, "--max-steps", 4, "--freeze", *frozen)
            self.same_but(tuned, tensors(self.weights), *moves)
            momenta = tensors(self.folder / name / "checkpoints" / "latest" / "optimizer.safetensors")
            for tensor, raw in momenta.items():
                still = not tensor.removeprefix("momentum.").startswith(moves)
                self.assertEqual(not any(raw), still, tensor)
        _, head = self.train("head", self.cache4, "--init-from", self.weights, "--max-steps", 4,
                             "--lr-scale", "*=0", "fc.*=1")
        self.same_but(head, tensors(self.weights), "fc.")

    def test_scaled_rates_move_by_the_factor(self):
        one_step = ["--init-from", self.weights, "--max-steps", 1, "--momentum", 0, "--no-nesterov", "--weight-decay", 0,
                    "--warmup-epochs", 0, "--lr", 0.5]
        before = tensors(self.weights)
        _, whole = self.train("whole", self.cache4, *one_step)
        _, scaled = self.train("scaled", self.cache4, *one_step, "--lr-scale", "layer3.*=0.25", "fc.*=2")
        for name in before:
            factor = 0.25 if name.startswith("layer3.") else 2 if name.startswith("fc.") else 1
            if factor == 1 or "running" in name or "tracked" in name:
                self.assertEqual(whole[name], scaled[name], name)
                continue
            self.assertNotEqual(whole[name], scaled[name], name)
            for old, full, part in zip(*map(floats, (before[name], whole[name], scaled[name]))):
                size = max(map(abs, (old, full, part)))
                self.assertAlmostEqual(part - old, factor * (full - old), delta=2**-22 * size)

    def test_all_ranks_begin_with_the_weights(self):
        tune = ["--init-from", self.weights, "--freeze", "layer1.*", "--lr-scale", "fc.*=3", "--max-steps", 3,
                "--reproducible"]
        one, two = (self.train(f"on-{ranks}", self.cache2, *tune, ranks=ranks) for ranks in (1, 2))
        self.assertEqual(one[1], two[1])
        self.assertEqual(two[0].err.count("initial values"), 1)

    def test_resuming_asks_for_the_same_weights_and_rates(self):
        tune = ["train", self.cache2, "--out", self.folder / "run", *self.NET, "--epochs", 1, "--freeze", "layer1.*"]
        weights = self.folder / "weights.safetensors"
        weights.write_bytes(self.weights.read_bytes())
        self.ok(*tune, "--init-from", weights, "--max-steps", 2)
        moved = weights.rename(self.folder / "moved.safetensors")
        self.ok(*tune, "--init-from", moved, "--resume", "auto")
        self.refused(2, ["config.json"], *tune, "--init-from", moved, "--resume", "auto", "--lr-scale", "fc.*=2")
        changed = bytearray(moved.read_bytes())
        changed[-1] ^= 1
        moved.write_bytes(changed)
        self.refused(2, ["config.json"], *tune, "--init-from", moved, "--resume", "auto")

    def test_a_file_is_evaluated_as_the_run_it_is_from(self):
        run = self.ok("eval", self.run4, self.cache4, "--json").json()
        file = self.ok("eval", self.weights, self.cache4, "--net", "resnet20", "--json").json()
        self.assertIsNone(file["epoch"])
        self.assertEqual(file["confusion"], run["confusion"])
        self.assertAlmostEqual(file["loss"], run["loss"], delta=1e-5 * run["loss"])

    def test_evaluation_has_the_same_bits_on_any_number_of_ranks(self):
        seen = set()
        for ranks in (0, 1, 2, 3, 4):
            csv = self.folder / f"{ranks}.csv"
            result = self.ok("eval", self.run4, self.cache4, "--json", "--predictions", csv, "--logits", ranks=ranks).json()
            seen.add((result["loss"], result["top1"], csv.read_bytes()))
        self.assertEqual(len(seen), 1)

    def test_predictions_and_logits(self):
        plain, full = self.folder / "plain.csv", self.folder / "full.csv"
        self.ok("eval", self.run4, self.cache4, "--predictions", plain)
        self.ok("eval", self.run4, self.cache4, "--predictions", full, "--logits")
        self.assertEqual(plain.read_text().splitlines(),
                         [",".join(line.split(",")[:4]) for line in full.read_text().splitlines()])
        header, *rows = (line.split(",") for line in full.read_text().splitlines())
        self.assertEqual(header, ["id", "name", "label", "prediction"] + [f"logit_{k}" for k in range(4)])
        self.assertEqual(len(rows), 70)
        for row in rows:
            logits = list(map(float, row[4:]))
            self.assertEqual(row[3], str(logits.index(max(logits))))

    def test_bad_use(self):
        def train(*args, cache=self.cache4):
            return ["train", cache, "--out", self.folder / "run", *self.NET, *args]

        self.refused(2, ["nowhere"], *train("--init-from", self.folder / "nowhere"))
        self.refused(1, ["config.json"], *train("--init-from", self.run4 / "config.json"))
        cut = self.folder / "cut.safetensors"
        cut.write_bytes(self.weights.read_bytes()[:-1])
        self.refused(1, ["cut.safetensors"], *train("--init-from", cut))
        self.refused(1, ["cut.safetensors"], *train("--init-from", cut), ranks=2)
        self.refused(2, ["conv1.weight has shape", "the net needs"], "train", self.cache4, "--out", self.folder / "run",
                     "--net", "lenet", "--init-from", self.weights)
        self.refused(2, ["'layer9.*'", "conv1.weight"], *train("--freeze", "layer9.*"))
        self.refused(2, ["every parameter", "frozen"], *train("--freeze", "*"), ranks=2)
        for scale in ("fc.*", "fc.*=", "fc.*=much", "fc.*=-1", "fc.*=nan", "fc.*=1e999"):
            self.refused(2, ["fc.*"], *train("--lr-scale", scale))
        self.refused(2, ["--net"], "eval", self.weights, self.cache4)
        self.refused(2, ["another number of classes", "fc.weight"], "eval", self.weights, self.cache2, "--net", "resnet20")
        self.refused(2, ["knows its net"], "eval", self.run4, self.cache4, "--net", "resnet20")
        self.refused(2, ["--predictions"], "eval", self.run4, self.cache4, "--logits")
        self.assertFalse((self.folder / "run").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
