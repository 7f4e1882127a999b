"""winnow tune-lr: equally many trials for each optimiser at each batch size, each run once despite kills; the same table."""

import csv
import json
import random
import signal
import subprocess
import unittest
import xml.etree.ElementTree as xml

from program import ROOT, WINNOW, Case, end_on_its_way, errors_in, lines_of_metrics

try:
    import jsonschema
except ImportError:
    jsonschema = None

TRAIN = ["--", "--net", "lenet", "--micro-batch", 16, "--augment", "none"]


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


class TuneLr(Case):
    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        self.learnable_idx(self.folder / "set", train=256, test=32)
        self.cache = self.folder / "cache"
        self.ok("ingest", self.folder / "set", "--out", self.cache)

    def command(self, out, *more):
        return ["tune-lr", self.cache, "--out", out, "--holdout", 0.25, *more, *TRAIN]

    def check_schema(self, name, value):
        if jsonschema:
            schema = json.loads((ROOT / "docs" / "schemas" / f"{name}.schema.json").read_text())
            jsonschema.Draft202012Validator(schema).validate(value)

    # The last rate of SGD diverges.
    GRID = ["--optimizers", "sgd,lars", "--batch-sizes", "32,64", "--lr", "sgd=0.01,0.1,1e6", "--lr", "lars=0.5,2,8",
            "--epochs", 2, "--seeds", 2]  # fmt: skip

    def test_large_batches(self):
        out = self.folder / "tuning"
        value = self.ok(*self.command(out, *self.GRID, "--lanes", 2, "--json")).json()
        self.check_schema("tune_lr", value)
        self.assertEqual(value["test"], {"images": 32, "looks": 0})
        names = [(arm["optimizer"], arm["batch_size"]) for arm in value["arms"]]
        self.assertEqual(names, [("sgd", 32), ("lars", 32), ("sgd", 64), ("lars", 64)])
        self.assertEqual(value["rungs"], [{"trials": 3, "epochs": 2}])
        for arm in value["arms"]:
            # Equally many trials with equally many samples; the best is among those that did not diverge.
            self.assertEqual(len(arm["trials"]), 3)
            trained = [trial for trial in arm["trials"] if trial["top1"] is not None]
            best = min(trained, key=lambda trial: (-trial["top1"], trial["loss"]))
            self.assertEqual(arm["setting"], best["setting"])
            self.assertEqual(arm["trials_diverged"], 1 if arm["optimizer"] == "sgd" else 0)
            self.assertEqual(arm["steps"], round(2 * value["training"] / arm["batch_size"]))
            self.assertEqual(len(arm["top1"]), 2)
            self.assertAlmostEqual(arm["mean"], sum(arm["top1"]) / 2)
        diverged = [trial for trial in value["arms"][0]["trials"] if trial["top1"] is None]
        self.assertEqual(diverged[0]["setting"]["lr"], 1e6)
        self.assertIn("not finite", diverged[0]["why"])
        # 12 trials and 8 finals, each once. The seeds of finals are not those of trials. No run has seen test.
        seeds = set()
        for run in (out / "runs").iterdir():
            config = json.loads((run / "run" / "config.json").read_text())
            seeds.add(config["recipe"]["seed"])
            self.assertEqual(config["data"]["holdout"], 0.25)
            if (run / "run" / "evaluation.json").exists():
                evaluation = json.loads((run / "run" / "evaluation.json").read_text())
                self.assertEqual(evaluation["split"], "val")
                self.assertEqual(sum(row[2] for row in evaluation["confusion"]), value["held_out"])
        self.assertEqual(seeds, {1, 2, 3})
        results = {path: path.stat().st_mtime_ns for path in (out / "results").iterdir()}
        self.assertEqual(len(results), 20)
        # Tables and page agree.
        table = rows_of(out / "table.csv")
        self.assertEqual([float(row["mean"]) for row in table], [arm["mean"] for arm in value["arms"]])
        self.assertEqual([float(row["lr"]) for row in table], [arm["setting"]["lr"] for arm in value["arms"]])
        trials = rows_of(out / "trials.csv")
        self.assertEqual([row["diverged"] for row in trials].count("1"), 2)
        text = " ".join("".join(xml.parse(out / "page.html").getroot().itertext()).split())
        for sentence in value["advice"]:
            self.assertIn(sentence, text)
        for arm in value["arms"]:
            self.assertIn(arm["command"], text)

        # The command repeats what the table says: the first of the final runs.
        arm = value["arms"][0]
        words = [word if word != "run" else str(self.folder / "again") for word in arm["command"].split()[1:]]
        self.assertEqual(self.ok(*words, "--json").json()["top1"], arm["top1"][0])

        # Again with more batch sizes: existing runs are kept. Test is used on request, by all final runs.
        more = [word if word != "32,64" else "32,64,96" for word in self.GRID]
        foretold = self.ok(*self.command(out, *more, "--estimate", "--json")).json()
        self.check_schema("tune_lr_estimate", foretold)
        self.assertEqual((foretold["runs"], foretold["done"]), (30, 20))
        self.assertEqual(foretold["images"], 10 * 2 * value["training"])
        self.assertEqual(len(list((out / "results").iterdir())), 20)
        value = self.ok(*self.command(out, *more, "--test", "--json")).json()
        self.check_schema("tune_lr", value)
        self.assertEqual(value["test"], {"images": 32, "looks": 1})
        self.assertEqual(len(list((out / "results").iterdir())), 30 + 12)
        arm = value["arms"][0]
        self.assertEqual(len(arm["test"]["top1"]), 2)
        evaluated = self.ok("eval", self.folder / "again", self.cache, "--split", "test", "--json").json()
        self.assertEqual(arm["test"]["top1"][0], evaluated["top1"])
        self.assertEqual({path: path.stat().st_mtime_ns for path in results}, results)

    def test_killed_it_gives_the_same_table(self):
        halving = ["--trials", 9, "--halving", "--epochs", 9, "--lr", "0.001:1000", "--momentum", "0.5:0.95", "--seeds", 2,
                   "--batch-sizes", 64, "--lanes", 2]  # fmt: skip
        value = self.ok(*self.command(self.folder / "whole", *halving, "--json")).json()
        self.assertEqual(value["rungs"], [{"trials": n, "epochs": e} for n, e in [(9, 1), (3, 3), (1, 9)]])
        trials = value["arms"][0]["trials"]
        by_length = {e: [trial for trial in trials if trial["epochs"] == e] for e in (1, 3, 9)}
        self.assertEqual(len(by_length[1]), 9)
        self.assertTrue(any(trial["top1"] is None for trial in by_length[1]))
        momenta = [trial["setting"]["momentum"] for trial in by_length[1]]
        self.assertTrue(len(set(momenta)) == 9 and min(momenta) >= 0.5 and max(momenta) <= 0.95, momenta)
        self.assertEqual([float(row["momentum"]) for row in rows_of(self.folder / "whole" / "trials.csv")[:9]], momenta)
        for shorter, longer in [(1, 3), (3, 9)]:
            trained = [trial for trial in by_length[shorter] if trial["top1"] is not None]
            order = sorted(trained, key=lambda trial: (-trial["top1"], trial["loss"]))
            left = {trial["trial"] for trial in order[: len(by_length[longer])]}
            self.assertEqual({trial["trial"] for trial in by_length[longer]}, left)
        out, draw = self.folder / "killed", random.Random(1)
        command = self.command(out, *halving)
        lines = lines_of_metrics(self.folder / "whole")
        for _ in range(6):
            end_on_its_way(command, out, draw.choice([signal.SIGKILL, signal.SIGTERM]), draw.randrange(1 + lines // 3))
        self.ok(*command)
        for name in ("table.csv", "trials.csv"):
            self.assertEqual((out / name).read_bytes(), (self.folder / "whole" / name).read_bytes())

    def test_a_loss_that_is_not_finite_on_the_hold_out_alone_is_a_row(self):
        # A single step, whose loss is that of the initial weights.
        value = self.ok(*self.command(self.folder / "tuning", "--lr", "1e-3,1e30", "--warmup-epochs", 0, "--epochs", 1,
                                      "--batch-sizes", 128, "--seeds", 1, "--json")).json()  # fmt: skip
        self.check_schema("tune_lr", value)
        finite, diverged = value["arms"][0]["trials"]
        self.assertGreater(finite["loss"], 0)
        self.assertEqual((diverged["top1"], diverged["loss"]), (None, None))
        self.assertIn("hold-out is not finite", diverged["why"])
        self.assertEqual(value["arms"][0]["setting"]["lr"], 1e-3)

    def test_options_of_an_optimizer_count_for_it_alone(self):
        out = self.folder / "tuning"
        done = self.ok(*self.command(out, "--optimizers", "sgd,lamb,adamw", "--lr", 1e-3, "--epochs", 1, "--batch-sizes", 64, "--seeds", 1),
                       "--no-nesterov", "--beta2=0.9")  # fmt: skip
        self.assertIn("--nesterov counts for sgd alone\n", done.err)
        self.assertIn("--beta2 counts for lamb, adamw alone\n", done.err)
        recipes = [json.loads((run / "run" / "config.json").read_text())["recipe"] for run in (out / "runs").iterdir()]
        self.assertEqual(len(recipes), 6)
        for recipe in recipes:
            is_sgd = recipe["optimizer"] == "sgd"
            self.assertEqual((recipe.get("nesterov"), recipe.get("beta2")), (False, None) if is_sgd else (None, 0.9))

    def test_a_disk_too_small_is_said_before_anything_is_trained(self):
        if subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "winnow", "/mnt"], capture_output=True).returncode:
            self.skipTest("a small tmpfs cannot be mounted here")
        # The lowest rate already diverges, which must not prevent an estimate of the disk space.
        rates = ",".join(str(rate) for rate in range(1, 101))
        command = map(str, self.command("/mnt/tuning", "--lr", rates, "--batch-sizes", 32))
        done = subprocess.run(
            ["unshare", "-rm", "bash", "-c", 'mount -t tmpfs -o size=8m winnow /mnt; "$@"; echo "exit $?"; ls -A /mnt/tuning/results',
             "_", WINNOW, *command], capture_output=True, text=True)  # fmt: skip
        self.assertEqual(done.stdout, "exit 2\n", done.stderr)
        said = errors_in(done.stderr)
        self.assertEqual(len(said), 1, done.stderr)
        self.assertRegex(said[0], "103 runs of about .* each do not fit into .* of disk; free some, or choose another --out")

    def test_every_optimizer_has_ranges(self):
        listed = self.ok("train", "--help-all").out.partition("\nOptimizers:\n")[2].partition("\nLosses:")[0]
        helped = self.ok("tune-lr", "--help").out.partition("Default ranges.")[2]
        names = [line.split()[0] for line in listed.splitlines()]
        self.assertIn("lamb", names)
        self.assertEqual(sorted(names), sorted(line.split()[0] for line in helped.splitlines()
                                               if line.startswith("  ") and line.count(":") == 2))  # fmt: skip

    def test_refusals(self):
        out = self.folder / "tuning"

        def refused(words, *more):
            self.refused(2, words, *self.command(out, *more))

        refused(["unknown optimizer 'foo'", "lion"], "--optimizers", "sgd,foo")
        refused(["a batch of 512", "--batch-sizes"], "--batch-sizes", "32,512")
        refused(["--lr 0.1,x", "'x' is no number"], "--lr", "0.1,x")
        refused(["-0.1 is not above 0"], "--lr=-0.1,0.1")
        refused(["--trials 12"], "--lr", "0.1:1")
        refused(["--momentum 1", "from 0 to below 1"], "--momentum", 1)
        refused(["--momentum is no option of lamb"], "--momentum", "lamb=0.9", "--optimizers", "sgd,lamb")
        refused(["sgd would get 1 trials, but lars would get 2"], "--optimizers", "sgd,lars", "--lr", 1, "--lars-eta", "0.001,0.01")
        refused(["warm-up of 3 epochs", "is not shorter than the whole training of 2"], "--warmup-epochs", 3, "--epochs", 2)
        self.refused(2, ["--batch-size", "give --batch-sizes before --"], *self.command(out), "--batch-size=64")
        self.refused(2, ["--momentum cannot be passed", "give it before --"], *self.command(out), "--momentum", 0.9)
        self.refused(2, ["--beta2 is no option of any of --optimizers"], *self.command(out), "--beta2", 0.9)
        self.refused(2, ["contains other files"], *self.command(self.folder / "set", "--lr", 0.1))
        self.refused(2, ["winnow train", "nonet"], "tune-lr", self.cache, "--out", out, "--lr", 0.1, "--batch-sizes", 32,
                     "--", "--net", "nonet")  # fmt: skip
        self.refused(1, ["No space left on device"], *self.command(self.folder / "full", "--lr", 0.1, "--epochs", 1, "--batch-sizes", 32),
                     env={"WINNOW_FAILPOINTS": "enospc=file.write.before:model.safetensors:1"})  # fmt: skip


if __name__ == "__main__":
    unittest.main()
