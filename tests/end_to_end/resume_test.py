"""Runs that are killed, stopped, or resumed elsewhere end with the weights of an uninterrupted run."""

import concurrent.futures
import hashlib
import itertools
import json
import operator
import os
import re
import signal
import subprocess
import unittest

from program import BY_RANK, PATIENCE_S, ROOT, WINNOW, Case, errors_in, eventually, run, some_of, tensors


class Resume(Case):
    RECIPE = ["--net", "lenet", "--batch-size", 48, "--micro-batch", 6, "--lr", 0.05,
              "--augment", "cifar", "--threads", 1]

    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        # 384 samples are 8 steps per epoch, 12 in all. The fourth and the eighth steps lie inside the two epochs.
        self.learnable_idx(self.folder / "data", train=384, test=32)
        self.cache = self.folder / "cache"
        self.ok("ingest", self.folder / "data", "--out", self.cache)
        self.runs = itertools.count(1)

    def command(self, out, *more, length=("--epochs", 1.5, "--recovery-interval", 3)):
        return ["train", self.cache, "--out", out, *self.RECIPE, *length, "--log-interval", 1, "--resume", "auto", *more]

    def fresh(self):
        return self.folder / f"run-{next(self.runs)}"

    def weights(self, out):
        latest = out / "checkpoints" / "latest"
        return {
            (file, name): hashlib.sha256(data).hexdigest()
            for file in sorted(path.name for path in latest.glob("*.safetensors"))
            for name, data in tensors(latest / file).items()
        }

    def whole(self, *more, ranks=0):
        out = self.fresh()
        self.ok(*self.command(out, *more), ranks=ranks)
        return out

    def check_equal(self, whole, out, what):
        self.assertEqual(self.weights(whole), self.weights(out), what)
        losses = self.metrics(whole, "train.loss")
        self.assertEqual(losses, self.metrics(out, "train.loss"), what)
        census = json.loads((out / "census.json").read_text())
        self.assertEqual(census, json.loads((whole / "census.json").read_text()), what)
        self.assertTrue(census["epochs"][0]["complete"], what)
        self.assertEqual(list(out.glob("checkpoints/*.part")), [], what)

    # One epoch, with a checkpoint inside it and one at its end, which replaces the first.
    SHORT = ["--epochs", 1, "--recovery-interval", 5, "--checkpoint-hist", 1]

    def trace(self):
        """The points that a whole run passes, [((point, file), count)], and its folder."""
        log = self.folder / "trace"
        out = self.fresh()
        self.ok(*self.command(out, length=self.SHORT), env={"WINNOW_FAILPOINTS": f"trace={log}"})
        passes = {}
        for line in log.read_text().splitlines():
            name, file = line.split("\t")
            # The end of the path that identifies the file of the run.
            file = "/".join(file.split("/")[-2:]) if "step-" in file else file.split("/")[-1]
            if file == out.name or name == "load.record.before":  # the run's folder; any of its samples
                file = "*"
            passes[name, file] = passes.get((name, file), 0) + 1
        return out, sorted(passes.items())

    def hits(self, passes):
        """Every pass of every point. For points passed in each step: the first, the last and one in between."""
        return [(name, file, k) for (name, file), count in passes
                for k in (range(1, count + 1) if count <= 4 else (1, count // 2, count))]  # fmt: skip

    def each(self, what, hits, most, check):
        """A sample with every point and every kind of file. Two run at a time, because the machine may have two cores."""
        chosen = some_of(what, hits, most, operator.itemgetter(0), lambda hit: re.sub(r"\d+", "0", hit[1]))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda hit: check(*hit), chosen))

    def test_killed_at_every_fault_point(self):
        whole, passes = self.trace()
        names = {name for (name, _), _ in passes}
        for point in ("file.write.before", "file.sync.after", "file.rename.before", "dir.rename.before",
                      "link.rename.before", "dir.sync.after"):
            self.assertIn(point, names)

        def check(name, file, k):
            out = self.fresh()
            what = f"killed at pass {k} of {name} of {file}"
            command = self.command(out, length=self.SHORT)
            killed = run(*command, env={"WINNOW_FAILPOINTS": f"kill={name}:{file}:{k}"})
            self.assertEqual(killed.code, -signal.SIGKILL, what)
            self.ok(*command)
            self.check_equal(whole, out, what)

        hits = self.hits(passes)
        self.assertGreater(len(hits), 100)
        self.each("fault points of training, killed at", hits, 20, check)

    def test_the_disk_is_full_at_every_fault_point(self):
        whole, passes = self.trace()

        def check(name, file, k):
            out = self.fresh()
            what = f"full disk at pass {k} of {name} of {file}"
            command = self.command(out, length=self.SHORT)
            full = run(*command, env={"WINNOW_FAILPOINTS": f"enospc={name}:{file}:{k}"})
            self.assertEqual(full.code, 1, f"{what}: {full.err}")
            self.assertIn("No space left", full.err, what)
            self.assertEqual(len(errors_in(full.err)), 1, full.err)
            self.ok(*command)
            self.check_equal(whole, out, what)

        writes = re.compile(r"(file\.(create|write|sync|rename)|dir\.(create|sync|rename)|link\.\w+)\.before$")
        hits = [hit for hit in self.hits(passes) if writes.match(hit[0])]
        self.assertGreater(len(hits), 50)
        self.each("writes of training, on a full disk", hits, 12, check)

    def test_killed_at_20_random_steps(self):
        whole = self.whole(ranks=2)
        kills = [(kill, self.random.randrange(1, 12), self.random.randrange(2)) for kill in range(20)]
        for kill, step, rank in some_of("random steps on two ranks, killed at", kills, 5, operator.itemgetter(2)):
            out = self.fresh()
            # Rank 0 dies after writing about that step; rank 1 when it has the sum of a bucket and passes it on.
            point = f"file.write.after:metrics.jsonl:{step}" if rank == 0 else f"node.all_gather.before:all:{step}"
            what = f"kill {kill} of rank {rank} at {point}"
            killed = run(*self.command(out), ranks=2, before=[BY_RANK, *["+"] * rank, "env", f"WINNOW_FAILPOINTS=kill={point}", "++"])
            self.assertNotEqual(killed.code, 0, what)
            self.ok(*self.command(out), ranks=2)
            self.check_equal(whole, out, what)

    def test_steps_go_on_while_a_checkpoint_is_written(self):
        whole = self.whole()
        out = self.fresh()
        command = [WINNOW, *map(str, self.command(out))]
        # The second checkpoint hangs; steps up to the third do not wait for it.
        job = subprocess.Popen(command, stderr=subprocess.DEVNULL, env={**os.environ, "WINNOW_FAILPOINTS": "hang=file.sync.before:model.safetensors:2"})
        try:
            def steps():
                self.assertIsNone(job.poll())
                return len(self.metrics(out, "train.loss")) if (out / "metrics.jsonl").exists() else 0

            eventually(lambda: steps() >= 8, "8 steps")
            self.assertEqual(os.readlink(out / "checkpoints" / "latest"), "step-3")
            self.assertEqual(json.loads((out / "census.json").read_text())["epochs"][0]["samples"], 6 * 48)
        finally:
            job.kill()
            job.wait()
        self.ok(*self.command(out))
        self.check_equal(whole, out, "killed while a checkpoint is written")

    def test_a_checkpoint_that_cannot_be_written_ends_the_run_before_the_next_one_is_due(self):
        # In memory, like this test: with a slow disk, this would show only when the next checkpoint is due.
        def steps_until_it_ends(ranks):
            out = self.fresh()
            command = self.command(out, length=("--epochs", 5))
            # Epochs of 64 steps, with a checkpoint after each.
            for flag, value in (("--batch-size", 6), ("--micro-batch", 3), ("--lr", 0.005)):
                command[command.index(flag) + 1] = value
            full = run(*command, ranks=ranks,
                       env={"WINNOW_FAILPOINTS": "enospc=file.sync.before:model.safetensors:2"})
            self.assertEqual(full.code, 1, full.err)
            self.assertEqual(len(errors_in(full.err)), 1, full.err)
            self.assertRegex(full.err, "model.safetensors.*No space left")
            self.assertEqual(os.readlink(out / "checkpoints" / "latest"), "step-64")
            self.assertEqual([step for step in (128, 192) if (out / "checkpoints" / f"step-{step}").exists()], [])
            return len(self.metrics(out, "train.loss"))

        for ranks in (0, 2):
            for _ in range(10):
                steps = steps_until_it_ends(ranks)
                self.assertIn(steps, range(128, 193))
                if steps < 192:
                    break  # otherwise the writing thread had no core for 64 steps
            self.assertLess(steps, 192)

    def test_error_feedback_is_forgotten_at_each_checkpoint(self):
        flags = ["--bf16-gradients", "--error-feedback", "--schedule", "multicolor"]
        whole = self.whole(*flags, ranks=2)
        out = self.fresh()
        killed = run(*self.command(out, *flags), ranks=2, env={"WINNOW_FAILPOINTS": "kill=file.write.after:metrics.jsonl:7"})
        self.assertNotEqual(killed.code, 0)
        self.ok(*self.command(out, *flags), ranks=2)
        self.check_equal(whole, out, "error feedback")

    def test_goes_on_with_another_number_of_ranks_reproducibly(self):
        whole = self.whole("--reproducible")
        for before, after in ((1, 3), (3, 2), (4, 1)):
            out = self.fresh()
            killed = run(*self.command(out, "--reproducible"), ranks=before,
                         env={"WINNOW_FAILPOINTS": "kill=file.write.after:metrics.jsonl:7"})
            self.assertNotEqual(killed.code, 0)
            result = self.ok(*self.command(out, "--reproducible"), ranks=after)
            self.assertIn("the weights do not", result.err)
            self.check_equal(whole, out, f"{before} ranks, then {after}")
            self.assertEqual(len(json.loads((out / "plan.json").read_text())["supersedes"]), 1)

    def test_reproducible_for_any_ranks_threads_schedules_and_buckets(self):
        """V = 24 micro-batches."""
        recipe = ["--net", "resnet20", "--batch-size", 48, "--micro-batch", 2, "--max-steps", 6, "--lr", 0.1,
                  "--reproducible", "--clip-grad-norm", 0.5, "--ema-decay", 0.9, "--lookahead-steps", 4, "--lookahead-power", 2]
        schedules = [name for name in ("multicolor", "ring")]
        weights = {}
        variants = [(1, ["--threads", 1]), (1, ["--threads", 2]), (4, ["--threads", 2])]
        grid = itertools.product((2, 3, 4), schedules, (1, 100, 100000))
        variants += [(ranks, ["--threads", 1, "--schedule", schedule, "--bucket-size", kib]) for ranks, schedule, kib in some_of(
            "layouts of a reproducible run", grid, 5, operator.itemgetter(0), operator.itemgetter(1), operator.itemgetter(2))]  # fmt: skip
        variants += [(3, ["--threads", 1, "--colors", 2]), (3, ["--threads", 1, "--schedule", "auto"]),
                     (3, ["--threads", 1, "--schedule", "hierarchical"])]
        for ranks, options in variants:
            out = self.fresh()
            self.ok("train", self.cache, "--out", out, *recipe, *options, ranks=ranks)
            weights[ranks, *options] = self.weights(out)
            self.assertEqual(json.loads((out / "plan.json").read_text())["numerics"]["lane_threads"], 1)
        first = next(iter(weights.values()))
        for variant, got in weights.items():
            self.assertEqual(got, first, variant)
        two = self.fresh()  # lanes of two threads compute differently, but the same in any layout
        self.ok("train", self.cache, "--out", two, *recipe, "--threads", 2, "--lane-threads", 2)
        other = self.fresh()
        self.ok("train", self.cache, "--out", other, *recipe, "--threads", 2, "--lane-threads", 2, ranks=3)
        self.assertEqual(self.weights(two), self.weights(other))

    def test_signals_checkpoint_and_exit_75(self):
        whole = self.whole()
        for sent in (signal.SIGTERM, signal.SIGUSR1):
            out = self.fresh()
            name = "term" if sent == signal.SIGTERM else "usr1"
            stopped = run(*self.command(out), env={"WINNOW_FAILPOINTS": f"{name}=file.write.after:metrics.jsonl:4"})
            self.assertEqual(stopped.code, 75, stopped.err)
            self.assertIn("--resume auto", stopped.err)
            state = json.loads((out / "checkpoints" / "latest" / "state.json").read_text())
            self.assertEqual(state["step"], 5)  # the step in progress, and no more
            self.ok(*self.command(out))
            self.check_equal(whole, out, f"signal {sent}")

    def test_a_signal_at_the_end_of_an_epoch_leaves_its_evaluation_for_later(self):
        out = self.fresh()
        command = [*self.command(out), "--holdout", 0.25]
        whole = self.fresh()
        self.ok(*self.command(whole), "--holdout", 0.25)
        ends = [json.loads(line)["step"] for line in (whole / "metrics.jsonl").read_text().splitlines()
                if "val.top1" in line]
        stopped = run(*command, env={"WINNOW_FAILPOINTS": f"term=file.write.after:metrics.jsonl:{ends[0] - 1}"})
        self.assertEqual(stopped.code, 75, stopped.err)
        self.assertEqual(self.metrics(out, "val.top1"), [])
        self.ok(*command)
        self.assertEqual(self.metrics(out, "val.top1"), self.metrics(whole, "val.top1"))
        self.assertEqual(self.metrics(out, "test.top1"), [])  # choices are made by a hold-out; test is left alone

    def test_mpirun_hands_signals_on(self):
        whole = self.whole(ranks=2)
        out = self.fresh()
        job = subprocess.Popen([ROOT / "tools" / "local_mpirun", "2", WINNOW, *map(str, self.command(out))],
                               stderr=subprocess.PIPE, text=True)
        eventually((out / "checkpoints" / "latest").exists, "a checkpoint")
        job.send_signal(signal.SIGUSR1)
        _, err = job.communicate(timeout=PATIENCE_S)
        self.assertIn(job.returncode, (0, 75), err)  # 0 if it ended before the signal
        self.ok(*self.command(out), ranks=2)
        self.check_equal(whole, out, "SIGUSR1 to mpirun")

    def test_the_plan_is_kept_or_replaced_in_the_open(self):
        out = self.fresh()
        self.ok(*self.command(out, "--max-steps", 5))
        plan = out / "plan.json"
        text = plan.read_text()
        self.refused(2, ["lane_threads 1, now 2", "--replan"], *self.command(out, "--lane-threads", 2))
        plan.write_text(text.replace('"instruction_set": "', '"instruction_set": "no-'))
        self.refused(2, ["instruction_set no-", "--replan"], *self.command(out))
        plan.write_text(text.replace('"supersedes": []', '"supersedes": ["00"]'))
        self.refused(2, ["made with another plan", "--replan"], *self.command(out))
        plan.write_text(text[: len(text) // 2])
        self.refused(1, ["plan.json is damaged", "--replan"], *self.command(out))
        plan.unlink()
        self.refused(2, ["plan.json is missing", "--replan"], *self.command(out))
        self.ok(*self.command(out, "--replan"))
        self.assertEqual(len(self.metrics(out, "train.loss")), 12)

    def test_an_all_reduce_that_was_chosen_is_kept(self):
        out = self.fresh()
        auto = ["--schedule", "auto", "--bucket-size", 10]

        def layout():
            return json.loads((out / "plan.json").read_text())["layout"]

        begun = self.ok(*self.command(out, *auto, "--max-steps", 5), ranks=2)
        chosen = layout()
        self.assertEqual(chosen["schedule"], "hierarchical")  # nothing is measured on a single machine
        self.assertIn("all-reduce hierarchical", begun.err)
        again = out
        out = self.fresh()
        self.ok(*self.command(out, "--bucket-size", 10, "--max-steps", 5), ranks=2)
        self.assertEqual(layout(), chosen)
        self.assertEqual(self.weights(out), self.weights(again))
        # As if the ranks had been on several machines then.
        other = "ring"
        named = ["--schedule", other, "--colors", 3, "--bucket-size", 10]
        out = self.fresh()
        self.ok(*self.command(out, *named, "--max-steps", 5), ranks=2)
        self.ok(*self.command(out, *auto), ranks=2)
        self.assertEqual((layout()["schedule"], layout()["colors"]), (other, 3))
        self.assertEqual(json.loads((out / "plan.json").read_text())["supersedes"], [])
        self.ok(*self.command(self.fresh(), *auto))  # a single rank has nothing to choose

    def test_the_size_of_buckets_is_kept_with_the_schedule(self):
        other = 100 << 10
        out = self.fresh()
        self.ok(*self.command(out, "--schedule", "ring", "--bucket-size", other >> 10, "--max-steps", 5), ranks=2)
        self.ok(*self.command(out, "--schedule", "auto"), ranks=2)
        self.assertEqual(json.loads((out / "plan.json").read_text())["layout"]["bucket_bytes"], other)

    def test_ranks_that_share_memory_have_the_same_bits_run_after_run(self):
        shared = ["--schedule", "hierarchical", "--bucket-size", 10]
        whole = self.fresh()
        self.ok(*self.command(whole, *shared), ranks=3)
        out = self.fresh()
        killed = run(*self.command(out, *shared), ranks=3, env={"WINNOW_FAILPOINTS": "kill=node.all_gather.before:all:20"})
        self.assertNotEqual(killed.code, 0)
        self.ok(*self.command(out, *shared), ranks=3)
        self.check_equal(whole, out, "ranks that share memory")
        messages = self.fresh()
        self.ok(*self.command(messages, "--schedule", "multicolor", "--bucket-size", 10), ranks=3)
        for here, there in zip(self.metrics(whole, "train.loss"), self.metrics(messages, "train.loss"), strict=True):
            self.assertAlmostEqual(here, there, delta=1e-3 * there)

    def test_a_run_on_other_ranks_says_that_bits_change(self):
        out = self.fresh()
        self.ok(*self.command(out, "--max-steps", 5))
        result = self.ok(*self.command(out), ranks=2)
        self.assertIn("will differ in their last bits", result.err)
        census = json.loads((out / "census.json").read_text())
        self.assertEqual([row["complete"] for row in census["epochs"]], [True, False])


if __name__ == "__main__":
    unittest.main(verbosity=2)
