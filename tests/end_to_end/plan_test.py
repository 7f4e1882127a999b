"""winnow plan: estimates memory, time, machines and batch of a training, and says what it refuses. Training accepts what it writes."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import tomllib
import unittest
import unittest.mock

from program import ROOT, WINNOW, Case

try:
    import jsonschema
except ImportError:
    jsonschema = None

SCHEMA = json.loads((ROOT / "docs" / "schemas" / "plan.schema.json").read_text())
SMALL = ["--net", "lenet", "--image-size", "28", "--batch-size", "32"]
QUICK = ["--seconds", "5"]


class Plan(Case):
    def setUp(self):
        super().setUp()
        source = self.folder / "source"
        self.learnable_idx(source, train=256, test=64, side=16)
        self.cache = self.folder / "cache"
        self.ok("ingest", source, "--out", self.cache)
        # Each test measures for itself.
        rates = tempfile.TemporaryDirectory()
        self.addCleanup(rates.cleanup)
        self.rates = pathlib.Path(rates.name)
        kept = unittest.mock.patch.dict(os.environ, XDG_CACHE_HOME=rates.name)
        kept.start()
        self.addCleanup(kept.stop)

    def plan(self, *args, **more):
        report = self.ok("plan", *args, "--json", **more).json()
        if jsonschema:
            jsonschema.validate(report, SCHEMA)
        self.assertEqual(report["schema"], "winnow.plan/1")
        return report

    def held(self, *args):
        """The most resident memory of a training, in bytes."""
        child = subprocess.Popen([WINNOW, "train", self.cache, "--out", self.folder / "held", *args],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(child.returncode, 0)
        return usage.ru_maxrss * 1024


class Memory(Plan):
    def test_parts_add_up_and_the_best_row_is_allowed(self):
        report = self.plan(self.cache, *SMALL, "--memory-only")
        for row in report["rows"]:
            self.assertEqual(sum(row["memory"]["parts"].values()), row["memory"]["peak_bytes"])
            self.assertIsNone(row["step"])
        best = report["rows"][report["best"]]
        self.assertTrue(best["fits"] and best["allowed"])
        self.assertEqual(best["micro_batch"], report["micro_batch"])
        self.assertIsNone(report["time"])

    def test_what_is_foretold_is_what_training_says(self):
        report = self.plan(self.cache, *SMALL, "--memory-only", "--threads", "1")
        row = report["rows"][report["best"]]
        said = self.ok("train", self.cache, "--out", self.folder / "run", *SMALL, "--threads", "1", "--max-steps", "2").err
        about = float(re.search(r"about ([\d.]+) MB of", said)[1]) * 1e6
        self.assertLess(abs(about / row["memory"]["peak_bytes"] - 1), 0.1)

    def test_less_memory_is_kept_to(self):
        words = ["--net", "resnet20", "--image-size", "64", "--batch-size", "64", "--threads", "1"]
        whole = self.plan(self.cache, *words, "--micro-batch", "32", "--memory-only")
        row = whole["rows"][whole["best"]]
        limit = (row["memory"]["peak_bytes"] - row["memory"]["parts"]["values"] // 4) // 2**20
        report = self.plan(self.cache, *words, "--micro-batch", "auto", "--memory-limit", f"{limit}M", "--memory-only")
        best = report["rows"][report["best"]]
        self.assertEqual(best["micro_batch"], 16)
        self.assertLessEqual(best["memory"]["peak_bytes"], limit * 2**20)
        flags = [f"--{flag['flag']}={flag['value']}" for flag in report["flags"]]
        self.assertLessEqual(self.held(*flags, "--max-steps", "2"), limit * 2**20)
        self.refused(2, ["--micro-batch 16 would fit"], "plan", self.cache, *words, "--micro-batch", "32", "--memory-limit",
                     f"{limit}M", "--memory-only")  # fmt: skip

    def test_sizes_of_memory_are_taken_alike_everywhere(self):
        byte_counts = set()
        for limit in ("2G", "2048M", "2048", "2048MiB", "2g"):
            byte_counts.add(self.plan(self.cache, *SMALL, "--memory-only", "--memory-limit", limit)["available_bytes"])
            said = self.ok("train", self.cache, "--out", self.folder / f"run{len(limit)}{limit[-1]}", *SMALL, "--max-steps", "1",
                           "--memory-limit", limit).err  # fmt: skip
            self.assertIn("of 2.1 GB", said)
            self.ok("ingest", self.folder / "source", "--out", self.folder / f"cache-{limit}", "--memory-limit", limit)
        self.assertEqual(byte_counts, {2 << 30})
        for verb in (["plan", self.cache], ["train", self.cache, "--out", self.folder / "no"],
                     ["ingest", self.folder / "source", "--out", self.folder / "no"]):  # fmt: skip
            self.refused(2, ["--memory-limit"], *verb, "--memory-limit", "8K")

    def test_nothing_fits(self):
        self.refused(2, ["not even one image fits", "values", "program", "there are 5 MB"], "plan", self.cache, *SMALL,
                               "--memory-only", "--memory-limit", "5")  # fmt: skip

    def test_groups_of_batch_norm_stay_within_their_range(self):
        words = ["--net", "resnet20", "--image-size", "64", "--batch-size", "64", "--threads", "1", "--memory-only"]
        report = self.plan(self.cache, *words, "--micro-batch", "auto")
        self.assertTrue(all(row["micro_batch"] >= 16 for row in report["rows"]))
        rows = {row["micro_batch"]: row["memory"]["peak_bytes"] for row in report["rows"]}
        limit = f"{int(0.9 * rows[16]) // 2**20}M"
        self.refused(2, ["batch norm", "16"], "plan", self.cache, *words, "--micro-batch", "auto", "--memory-limit", limit)


class Time(Plan):
    def test_a_step_by_part(self):
        report = self.plan(self.cache, *SMALL, "--seconds", "600", "--epochs", "3")  # so that time is left for all lanes
        measured = 0
        for row in report["rows"]:
            step = row["step"]
            parts = sum(value for name, value in step.items() if name not in ("how", "total_s"))
            self.assertAlmostEqual(parts, step["total_s"], delta=1e-9 + 1e-6 * parts)
            self.assertAlmostEqual(row["images_per_second"]["value"], 32 / step["total_s"], delta=1e-6 * 32 / step["total_s"])
            measured += step["how"] == "measured"
        self.assertGreaterEqual(measured, 1)
        time = report["time"]
        self.assertEqual(time["epochs"], 3)
        low, high = time["run_range_s"]
        self.assertLess(low, time["run_s"]["value"])
        self.assertLess(time["run_s"]["value"], high)

    def test_what_is_chosen_was_measured(self):
        words = [self.cache, *SMALL, "--micro-batch", "8", "--threads", "2", "--seconds", "600"]
        report = self.plan(*words)
        chosen = report["rows"][report["best"]]
        self.assertEqual((chosen["micro_batch"], chosen["step"]["how"]), (8, "measured"))
        again = self.plan(*words)
        self.assertEqual((again["best"], again["measured_steps"]), (report["best"], 0))

    def test_nothing_is_written(self):
        before = sorted(self.folder.rglob("*"))
        self.plan(self.cache, *SMALL, *QUICK)
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_what_was_measured_is_kept(self):
        words = [self.cache, *SMALL, *QUICK]
        first = self.plan(*words)
        self.assertGreater(first["measured_steps"], 0)
        self.assertEqual(first["kept_steps"], 0)
        again = self.plan(*words, "--epochs", "7", "--lr", "0.3", "--seed", "9")  # times depend on none of them
        self.assertEqual(again["measured_steps"], 0)
        self.assertEqual(again["kept_steps"], first["measured_steps"])
        self.assertEqual([row["step"] for row in again["rows"]], [row["step"] for row in first["rows"]])
        self.assertTrue(any("--measure-again" in note for note in again["notes"]))
        self.assertGreater(self.plan(*words, "--measure-again")["measured_steps"], 0)
        files = list((self.rates / "winnow" / "rates").iterdir())
        self.assertTrue(files)
        for damage in (b"", b"{}", b"[" * 100_000, os.urandom(1000)):
            for file in files:
                file.write_bytes(damage)
            report = self.plan(*words)
            self.assertGreater(report["measured_steps"], 0)
            self.assertEqual(report["kept_steps"], 0)
        for file in files:
            file.unlink()
            file.mkdir()
        self.assertGreater(self.plan(*words)["measured_steps"], 0)

    def test_training_takes_what_it_writes(self):
        file = self.folder / "plan.toml"
        report = self.plan(self.cache, *SMALL, *QUICK, "--lr", "0.05", "--freeze", "conv1.*", "--write", file)
        written = tomllib.loads(file.read_text())["train"]
        flags = {}
        for flag in report["flags"]:
            flags.setdefault(flag["flag"], []).append(flag["value"])
        self.assertEqual({name: value if isinstance(value, list) else [value] for name, value in written.items()}, flags)
        run = self.folder / "run"
        self.ok("train", self.cache, "--out", run, "--max-steps", "2", "--config", file)
        config = json.loads((run / "config.json").read_text())
        self.assertEqual(config["net"]["micro_batch"], report["rows"][report["best"]]["micro_batch"])
        self.assertEqual(config["recipe"]["lr"], 0.05)
        plan = json.loads((run / "plan.json").read_text())
        self.assertEqual(plan["numerics"]["lane_threads"], report["rows"][report["best"]]["lane_threads"])

    def test_without_a_cache(self):
        report = self.plan("--images", "5000", "--classes", "7", *SMALL, *QUICK)
        self.assertEqual((report["images"], report["evaluation_images"]), (5000, 200))
        self.assertIsNotNone(report["time"])
        self.refused(2, ["--images"], "plan", *SMALL)
        self.refused(2, ["without a cache"], "plan", self.cache, "--images", "3", *SMALL)

    def test_of_two_ranks(self):
        report = self.plan(self.cache, *SMALL, *QUICK, "--micro-batch", "8", ranks=2)
        self.assertEqual(report["ranks"], 2)
        self.assertTrue(any(row["step"] for row in report["rows"]))

    def test_a_cache_without_training_images(self):
        source = self.folder / "test-only"
        self.learnable_idx(source, train=8, test=16, side=16)
        for file in source.glob("train*"):
            file.unlink()
        cache = self.folder / "no-train"
        self.ok("ingest", source, "--out", cache)
        self.refused(2, [], "plan", cache, *SMALL)


class Kernels(Plan):
    WORDS = ["--net", "resnet20", "--image-size", "16", "--batch-size", "32", "--micro-batch", "8"]

    def train(self, name, *args, steps=1, **more):
        """Trains, and gives the kernels in the run's plan.json."""
        run = self.folder / name
        self.ok("train", self.cache, "--out", run, "--max-steps", steps, *self.WORDS, *args, **more)
        return json.loads((run / "plan.json").read_text())["numerics"]["kernels"]

    def a_choice(self):
        """A layer, and a kernel for it that is not the library's choice."""
        own = self.train("free")
        layer = next(name for name in own if name.startswith("conv2d backward-filter") and " r3 " in name)
        said = self.refused(2, [layer, "'cudnn engine 46'", own[layer]], "train", self.cache, "--out", self.folder / "no", *self.WORDS,
                            "--kernel", f"{layer}=cudnn engine 46").err  # fmt: skip
        self.assertFalse((self.folder / "no").exists())
        others = re.search(r"it has (.*)", said)[1].split(", ")
        self.assertEqual(others[0], own[layer])
        return own, layer, others[-1]

    def a_plan(self, folder, *kernels):
        folder.mkdir(exist_ok=True)
        file = folder / "plan.toml"
        file.write_text(f"[train]\nkernel = {json.dumps(kernels)}\n" if kernels else "[train]\n")
        return file

    def test_are_chosen_and_imposed(self):
        file = self.folder / "plan.toml"
        words = [self.cache, *self.WORDS, *QUICK, "--kernels"]
        report = self.plan(*words, "--write", file)
        kernels = report["kernels"]
        self.assertFalse(kernels["kept"])
        self.assertGreater(len(kernels["layers"]), 10)
        chosen = {row["layer"]: row["chosen"]["kernel"] for row in kernels["layers"]}
        other = [f"{row['layer']}={row['chosen']['kernel']}" for row in kernels["layers"] if row["chosen"] != row["own"]]
        self.assertEqual([flag["value"] for flag in report["flags"] if flag["flag"] == "kernel"], other)
        for which, sum_of in (("own", "own_seconds"), ("chosen", "seconds")):
            self.assertAlmostEqual(sum(row[which]["seconds"] for row in kernels["layers"]), kernels[sum_of])
        self.assertLessEqual(kernels["seconds"], kernels["own_seconds"])
        self.assertLessEqual(kernels["scratch_bytes"], kernels["room_bytes"])
        written = tomllib.loads(file.read_text())["train"].get("kernel", [])
        self.assertEqual([written] if isinstance(written, str) else written, other)
        self.assertEqual(self.train("run", "--config", file), chosen)
        again = self.plan(*words)
        self.assertEqual(again["kernels"], {**kernels, "kept": True, "room_bytes": again["kernels"]["room_bytes"]})
        self.assertEqual(again["measured_steps"], 0)

    def test_say_how_long_measuring_takes(self):
        words = ["plan", self.cache, *SMALL, *QUICK, "--kernels"]
        done = self.ok(*words)
        self.assertRegex(done.err, r"measuring kernels takes about \d+ s")
        self.assertRegex(done.out, r"(?m)^kernels of the best row.*measured$")
        done = self.ok(*words)
        self.assertNotIn("measuring kernels", done.err)
        self.assertRegex(done.out, r"(?m)^kernels of the best row.*measured by an earlier plan$")

    def test_what_needs_times_is_refused_without_measuring(self):
        for flag in (["--kernels"], ["--hosts", "1,2", "--network", "1gbit,20us"], ["--runs", "run", "--target", "top1=0.9"]):
            self.refused(2, [flag[0], "--memory-only"], "plan", self.cache, *SMALL, "--memory-only", *flag)

    def test_fit_into_the_limit(self):
        words = [self.cache, *self.WORDS, *QUICK, "--threads", "1", "--kernels"]
        wide = self.plan(self.cache, *self.WORDS, "--threads", "1", "--memory-only", process=True)  # which holds memory of its own only
        limit = wide["rows"][wide["best"]]["memory"]["peak_bytes"] // 2**20 + 3
        report = self.plan(*words, "--memory-limit", f"{limit}M", process=True)
        self.assertEqual(report["available_bytes"], limit * 2**20)
        self.assertLessEqual(report["rows"][report["best"]]["memory"]["peak_bytes"], limit * 2**20)
        self.assertLessEqual(report["kernels"]["scratch_bytes"], report["kernels"]["room_bytes"])
        self.assertLess(report["kernels"]["room_bytes"], 8 * 2**20)

    def test_of_a_plan_are_kept_by_the_run(self):
        own, layer, kernel = self.a_choice()
        file = self.a_plan(self.folder / "given", f"{layer}={kernel}")
        kernels = self.train("run", "--config", file)
        self.assertEqual(kernels, {**own, layer: kernel})
        self.assertEqual(self.train("run", "--resume", "auto", steps=2), kernels)
        self.assertEqual(self.train("run", "--resume", "auto", "--config", file, steps=3), kernels)
        self.refused(2, ["different arithmetic", layer, kernel], "train", self.cache, "--out", self.folder / "run", "--resume", "auto",
                     *self.WORDS, "--kernel", f"{layer}={own[layer]}")  # fmt: skip
        self.assertEqual(self.train("run", "--resume", "auto", "--replan", "--kernel", f"{layer}={own[layer]}", steps=4), own)

    def test_are_those_of_rank_0(self):
        own, layer, kernel = self.a_choice()
        before = self.rank_folders(2)
        self.a_plan(self.folder / "on-0", f"{layer}={kernel}")
        self.a_plan(self.folder / "on-1")
        self.assertEqual(self.train("run", "--config", "plan.toml", ranks=2, before=before), {**own, layer: kernel})

    def test_of_layers_that_are_not_there_are_refused(self):
        layer = "conv2d forward f32 n1"
        file = self.a_plan(self.folder / "given", f"{layer}=jit:avx2")
        self.refused(2, [f"'{layer}=jit:avx2'", "--micro-batch", "winnow plan --kernels"], "train", self.cache, "--out",
                     self.folder / "no", *self.WORDS, "--config", file)  # fmt: skip
        self.refused(2, ["LAYER=KERNEL"], "train", self.cache, "--out", self.folder / "no", *self.WORDS, "--kernel", "jit:avx2")
        self.assertFalse((self.folder / "no").exists())

    def test_of_other_stages_are_left_to_them(self):
        words = ["--local", "greedy", "--stages", "2", "--pipeline"]
        own = self.train("free", *words, ranks=2)
        layers = [name for name in own if name.startswith("conv2d backward-filter") and " r3 " in name]
        said = [self.refused(2, [layer], "train", self.cache, "--out", self.folder / "no", *self.WORDS, *words, "--kernel", f"{layer}=none",
                             ranks=2).err for layer in (layers[0], layers[-1])]  # fmt: skip
        given = {layer: re.search(r"it has (.*)", one)[1].split(", ")[-1] for layer, one in zip((layers[0], layers[-1]), said)}
        file = self.a_plan(self.folder / "given", *(f"{layer}={kernel}" for layer, kernel in given.items()))
        self.assertEqual(self.train("run", *words, "--config", file, ranks=2), {**own, **given})


class Machines(Plan):
    def test_the_table(self):
        words = [self.cache, *SMALL, "--micro-batch", "4", *QUICK, "--hosts", "1,2,4,16", "--network", "1gbit,50us", "--price", "1.2"]
        report = self.plan(*words)
        scaling = report["scaling"]
        rows = scaling["rows"]
        self.assertEqual([row["hosts"] for row in rows], [1, 2, 4, 16])
        self.assertEqual(rows[0]["efficiency"], 1)
        self.assertIsNone(rows[3]["step"])  # eight micro-batches
        self.assertEqual(rows[0]["step"]["ranks_s"], 0)
        self.assertGreater(rows[1]["step"]["ranks_s"], 0)
        for row in rows[:3]:
            self.assertAlmostEqual(row["price"], 1.2 * row["hosts"] * row["run_s"] / 3600, delta=1e-9)
            self.assertAlmostEqual(row["lemma_efficiency"], (1 + scaling["overhead"]) / (1 + row["hosts"] * scaling["overhead"]), delta=1e-9)

    def test_refusals(self):
        self.refused(2, ["--network"], "plan", self.cache, *SMALL, *QUICK, "--hosts", "1,2")
        self.refused(2, ["10gbit,20us"], "plan", self.cache, *SMALL, *QUICK, "--hosts", "1,2", "--network", "fast")
        self.refused(2, ["nowhere.json"], "plan", self.cache, *SMALL, *QUICK, "--hosts", "1,2", "--network", self.folder / "nowhere.json")
        damaged = self.folder / "network.json"
        damaged.write_text("{}")
        self.refused(1, ["network.json"], "plan", self.cache, *SMALL, *QUICK, "--hosts", "1,2", "--network", damaged)

    def test_a_network_that_was_measured(self):
        file = self.folder / "network.json"
        self.ok("bench", "allreduce", "--max-bytes", "4096", "-b", "4096", "--rounds", "1", "--write", file, ranks=2)
        report = self.plan(self.cache, *SMALL, *QUICK, "--micro-batch", "4", "--hosts", "1,2", "--network", file)
        self.assertEqual(report["scaling"]["network"]["source"], str(file))
        newer = json.loads(file.read_text())
        newer["version"] = 2
        file.write_text(json.dumps(newer))
        self.refused(1, ["version 2"], "plan", self.cache, *SMALL, *QUICK, "--hosts", "1,2", "--network", file)


class Batches(Plan):
    def run_of(self, batch, *more):
        run = self.folder / f"run{batch}{len(more)}"
        self.ok("train", self.cache, "--out", run, "--net", "lenet", "--image-size", "28", "--holdout", "0.2", "--epochs", "10", "--recipe",
                "none", "--lr", "0.02", "--batch-size", str(batch), "--eval-every", "1", *more)  # fmt: skip
        return run

    def test_steps_to_a_target(self):
        runs = [self.run_of(batch) for batch in (16, 64)]
        report = self.plan(self.cache, *SMALL, *QUICK, "--runs", *runs, "--target", "top1=0.5")
        target = report["target"]
        self.assertGreaterEqual(target["least_steps"], 0)
        self.assertTrue({16, 32, 64} <= {row["batch"] for row in target["rows"]})
        for row in target["rows"]:
            self.assertAlmostEqual(row["steps"], target["least_steps"] + target["least_examples"] / row["batch"], delta=1e-6 * row["steps"])
        self.refused(2, ["never reached"], "plan", self.cache, *SMALL, *QUICK, "--runs", *runs, "--target", "top1=1.5")
        self.refused(2, ["two batch sizes"], "plan", self.cache, *SMALL, *QUICK, "--runs", runs[0], "--target", "top1=0.5")
        other = self.run_of(32, "--momentum", "0.5")
        self.refused(2, ["momentum"], "plan", self.cache, *SMALL, *QUICK, "--runs", runs[0], other, "--target", "top1=0.5")

    def test_refusals(self):
        self.refused(2, ["--runs"], "plan", self.cache, *SMALL, "--target", "top1=0.9")
        self.refused(2, ["--target"], "plan", self.cache, *SMALL, "--runs", self.folder)
        self.refused(2, ["no run"], "plan", self.cache, *SMALL, *QUICK, "--runs", self.folder, self.folder, "--target", "top1=0.9")


if __name__ == "__main__":
    unittest.main(verbosity=2)
