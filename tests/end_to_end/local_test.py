"""Local updates: stages of a net that each learn by their own loss, with --local."""

import os
import re
import signal
import subprocess
import unittest

from program import BY_RANK, ROOT, WINNOW, Case, end_of_killed, eventually, ranks_of

SIDE = 16


class Local(Case):
    @classmethod
    def setUpClass(cls):
        """48 training pictures of three classes, and 12 test pictures."""
        case = cls("ok")
        case.setUp()
        cls.addClassCleanup(case.doCleanups)
        cls.cache = case.folder / "cache"
        for i in range(60):
            split = "train" if i < 48 else "test"
            pixels = bytes((value // 2 + 40 * (i % 3)) % 256 for value in case.image(SIDE, seed=i))
            case.write_ppm(case.folder / "pictures" / split / str(i % 3) / f"{i:03}.ppm", pixels, SIDE)
        case.ok("ingest", case.folder / "pictures", "--out", cls.cache)

    def command(self, out, *more, stages=3, local="greedy", epochs=2, batch=24, micro=8, interval=2):
        return ("train", self.cache, "--out", self.folder / out, "--net", "resnet20", "--recipe", "none", "--local", local, "--stages", stages,
                "--batch-size", batch, "--micro-batch", micro, "--epochs", epochs, "--log-interval", interval, "--clip-grad-norm", 1, *more)  # fmt: skip

    def weights(self, out):
        return (self.folder / out / "checkpoints" / "latest" / "model.safetensors").read_bytes()

    def test_the_same_bits_on_any_ranks_and_after_a_stop(self):
        """Also: one rank begins, three finish."""
        for local, dtype, *more in (("greedy", "f32"), ("greedy", "bf16"), ("overlapping", "f32"), ("greedy", "f32", "--sync-bn")):
            with self.subTest(local=local, dtype=dtype, more=more):
                same = ("--reproducible", "--dtype", dtype, *more)
                name = "-".join((local, dtype, *more))
                self.ok(*self.command(f"{name}-1", *same, local=local))
                if (local, dtype) != ("greedy", "bf16"):
                    self.ok(*self.command(f"{name}-2", *same, local=local), ranks=2)
                    self.assertEqual(self.weights(f"{name}-2"), self.weights(f"{name}-1"))
                cut = (*self.command(f"{name}-cut", *same, local=local), "--resume", "auto", "--recovery-interval", 1)
                self.ok(*cut, "--max-steps", 2)
                self.ok(*cut, ranks=3)
                self.assertEqual(self.weights(f"{name}-cut"), self.weights(f"{name}-1"))
                for metric in ("train.local.1.loss", "train.local.2.top1", "train.loss"):
                    self.assertEqual(self.metrics(self.folder / f"{name}-cut", metric), self.metrics(self.folder / f"{name}-1", metric))

    def test_a_pipeline_has_the_bits_of_one_process(self):
        """On any ranks, and what one form began another ends."""
        for dtype, *more in (("f32",), ("bf16",), ("f32", "--ema-decay", 0.9)):
            with self.subTest(dtype=dtype, more=more):
                same = ("--reproducible", "--dtype", dtype, *more)
                name = "-".join(map(str, (dtype, *more)))
                self.ok(*self.command(f"{name}-one", *same, epochs=3))
                said = self.ok(*self.command(f"{name}-4", *same, "--pipeline", "--stage-ranks", "2,1,1", epochs=3), ranks=4)
                self.assertIn("pipeline: stage 1 of 3 on ranks 0 to 1, stage 2 on rank 2, stage 3 on rank 3", said.err)
                cut = (*self.command(f"{name}-cut", *same, epochs=3), "--resume", "auto", "--recovery-interval", 1)
                self.ok(*cut, "--pipeline", "--max-steps", 2, ranks=3)
                self.ok(*cut, "--max-steps", 4)
                self.ok(*cut, "--pipeline", ranks=3)
                for form in ("4", "cut"):
                    self.assertEqual(self.weights(f"{name}-{form}"), self.weights(f"{name}-one"), form)
                    for metric in ("train.local.1.loss", "train.local.2.top1", "train.loss", "test.loss", "test.top1"):
                        # Each end of a run that was stopped is evaluated on test.
                        last = -1 if metric.startswith("test.") else 0
                        found, wanted = (self.metrics(self.folder / f"{name}-{one}", metric)[last:] for one in (form, "one"))
                        self.assertEqual(found, wanted, metric)

    def test_stages_on_different_steps_have_the_bits_of_one_process(self):
        """Eight steps an epoch, and few points at which ranks meet. What was stopped on the way another form ends."""
        steps = {"epochs": 2, "batch": 6, "micro": 2, "interval": 7}
        for dtype, form, ranks in (("f32", "1,2,1", 4), ("bf16", "1,1,1", 3)):
            with self.subTest(dtype):
                same = ("--reproducible", "--dtype", dtype)
                self.ok(*self.command(f"{dtype}-one", *same, **steps))
                self.ok(*self.command(f"{dtype}-ranks", *same, "--pipeline", "--stage-ranks", form, **steps), ranks=ranks)
                cut = (*self.command(f"{dtype}-cut", *same, **steps), "--resume", "auto")
                stop = [BY_RANK, "+", "+", "env", "WINNOW_FAILPOINTS=term=load.record.before:*:13", "++"]
                said = self.refused(75, ["stopped on request after step"], *cut, "--pipeline", ranks=3, before=stop)
                self.assertLess(int(re.search(r"after step (\d+) of 16", said.err)[1]), 16)
                self.ok(*cut, "--max-steps", 14)
                self.ok(*cut, "--pipeline", ranks=3)
                for form in ("ranks", "cut"):
                    self.assertEqual(self.weights(f"{dtype}-{form}"), self.weights(f"{dtype}-one"), form)
                    for metric in ("train.local.1.loss", "train.local.2.top1", "train.loss"):
                        self.assertEqual(self.metrics(self.folder / f"{dtype}-{form}", metric), self.metrics(self.folder / f"{dtype}-one", metric), metric)

    def test_a_stage_goes_on_while_the_next_is_in_an_earlier_step(self):
        """Rank 1 never gets the batch of the fourth step. Rank 0 computes that step, and begins the fifth."""
        command = self.command("run", "--threads", 1, "--pipeline", "--resume", "auto", stages=2, batch=8, micro=4, interval=50)
        self.ok(*command, "--max-steps", 1, ranks=2)  # makes the plan, so that nothing is tried below
        trace = self.folder / "messages"
        trace.touch()
        words = [ROOT / "tools" / "local_mpirun", 2, BY_RANK, "env", f"WINNOW_FAILPOINTS=trace={trace}", "+",
                 "env", "WINNOW_FAILPOINTS=hang=load.record.before:*:17", "++", WINNOW, *command]  # fmt: skip
        job = subprocess.Popen(list(map(str, words)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def has_sent():
            """Of each step two micro-batches."""
            self.assertIsNone(job.poll())
            return trace.read_text().count("mpi.send.before\trank-1\n") >= 2 + 2 + 2 + 1

        try:
            eventually(has_sent, lambda: trace.read_text())
        finally:
            for rank in ranks_of(job):
                os.kill(rank, signal.SIGKILL)
            end_of_killed(job)

    def test_one_thread_a_rank_has_the_bits_of_one_process(self):
        """Without --reproducible, where each stage has one rank."""
        self.ok(*self.command("one", "--threads", 1, stages=2))
        self.ok(*self.command("two", "--threads", 1, "--pipeline", "--trace-steps", "2-3", stages=2), ranks=2)
        self.assertEqual(self.weights("two"), self.weights("one"))
        plan = (self.folder / "two" / "plan.json").read_text()
        self.assertIn('"task":"send"', plan)
        trace = (self.folder / "two" / "trace.json").read_text()
        self.assertRegex(trace, "wait for micro-batch 0 from rank 0")
        self.assertRegex(trace, "micro-batch 0 to rank 1")
        self.assertRegex(trace, "receives of the next step, begin")

    def test_no_file_of_a_checkpoint_differs_for_a_pipeline(self):
        """Momentum, averages and Lookahead's slow weights; after an evaluation with views; of the best weights."""
        for name, more, metrics in (
            ("end", ("--tta", "mirror"), ("test.loss", "test.top1", "test_ema.loss")),
            ("best", ("--holdout", 0.25, "--keep-best", "loss", "--eval-every", 1), ("val.loss", "val.top1", "val_ema.loss")),
        ):
            with self.subTest(name):
                same = ("--reproducible", "--ema-decay", 0.9, "--lookahead-steps", 2, *more)
                self.ok(*self.command(f"{name}-one", *same, stages=4))
                self.ok(*self.command(f"{name}-four", *same, "--pipeline", stages=4), ranks=4)
                for link in ("latest", *([name] if name == "best" else [])):
                    one, four = ({path.name: path.read_bytes() for path in (self.folder / f"{name}-{form}" / "checkpoints" / link).glob("*.safetensors")} for form in ("one", "four"))
                    self.assertEqual(set(one), {"model.safetensors", "optimizer.safetensors", "ema.safetensors"})
                    self.assertEqual(four, one)
                for metric in metrics:
                    self.assertEqual(self.metrics(self.folder / f"{name}-four", metric), self.metrics(self.folder / f"{name}-one", metric), metric)

    def test_only_the_first_stage_decodes(self):
        """In training and evaluation, and with labels that are mixed."""
        more = ("--reproducible", "--augment", "flip+mixup:alpha=0.5")
        self.ok(*self.command("one", *more, stages=2))
        trace = self.folder / "later"
        trace.touch()
        command = self.command("two", *more, "--pipeline", stages=2)
        self.ok(*command, ranks=2, before=[BY_RANK, "+", "env", f"WINNOW_FAILPOINTS=trace={trace}", "++"])
        self.assertEqual(self.weights("two"), self.weights("one"))
        loads = [line.split("\t")[0] for line in trace.read_text().splitlines() if line.startswith("load.")]
        self.assertEqual(set(loads), {"load.record.before"})
        self.assertGreaterEqual(len(loads), 2 * 48 + 12)

    def test_a_stage_that_is_not_finite_ends_the_run(self):
        for name, more in ("each", ("--recovery-interval", 1)), ("some", ()):  # points at which ranks meet
            with self.subTest(name):
                said = self.refused(1, ["is not finite"], *self.command(name, "--pipeline", "--lr", 1e30, *more, stages=2, batch=6, micro=2, interval=50), ranks=2)
                self.assertNotIn("waits", said.err)

    def test_heads_learn_are_evaluated_and_stay_at_home(self):
        said = self.ok(*self.command("run", epochs=6, stages=2))
        self.assertRegex(said.err, r"local updates, greedy: 2 stages that end at layer\d.* and the loss; heads mlp-sr of .* parameters")
        losses = self.metrics(self.folder / "run", "train.local.1.loss")
        self.assertLess(losses[-1], losses[0])
        net = self.ok("eval", self.folder / "run", self.cache, "--json").json()
        head = self.ok("eval", self.folder / "run", self.cache, "--head", 1, "--json").json()
        self.assertNotEqual(head["loss"], net["loss"])
        self.assertEqual(self.metrics(self.folder / "run", "test.top1")[-1], net["top1"])
        self.refused(2, ["its heads are 1 to 1"], "eval", self.folder / "run", self.cache, "--head", 2)
        self.assertIn(b"local.1.fc.weight", self.weights("run"))
        self.ok("onnx", self.folder / "run", "--to", self.folder / "net.onnx")
        self.assertNotIn(b"local.1", (self.folder / "net.onnx").read_bytes())
        begun = self.ok("train", self.cache, "--out", self.folder / "plain", "--net", "resnet20", "--epochs", 1, "--batch-size", 24,
                        "--init-from", self.folder / "run" / "checkpoints" / "latest" / "model.safetensors")  # fmt: skip
        self.assertNotIn("ignored", begun.err)

    def test_show_lists_borders_and_heads(self):
        text = self.ok("train", "--net", "resnet20", "--show", "--local", "greedy", "--stages", "layer1,layer2").out
        for line in ("# before the border", "# layer1.2.relu2", "# (the whole net)"):
            self.assertIn(line, text)
        self.assertIn("3 stages that end at layer1.2.relu2, layer2.2.relu2 and the loss", text)
        self.assertIn("--stages layer1,layer2", text)
        self.assertRegex(text, r"mlp-sr of .* and values of [\d.]+ kB for one image")

    def test_show_takes_the_images_that_are_asked_for(self):
        show = ("train", "--net", "resnet20", "--show", "--local", "greedy", "--stages", 3, "--local-head", "linear")
        usual, larger = self.ok(*show).out, self.ok(*show, "--image-size", 64).out

        def table(text):
            return [line for line in text.splitlines() if line.startswith("#")]

        def multiply_adds(text):
            return float(re.search(r"# \(the whole net\) +([\d.]+) M", text)[1])

        self.assertEqual(table(self.ok(*show, "--image-size", 32).out), table(usual))
        self.assertAlmostEqual(multiply_adds(larger) / multiply_adds(usual), 4, places=2)
        self.assertRegex(larger, r"# resnet20 +64 px")
        self.refused(2, ["uses none"], *show, "--loss", "barlow_twins")

    def test_a_net_may_call_its_blocks_local(self):
        """Its tensors belong to the net: they can be evaluated from a file and loaded as initial weights."""
        mine = self.folder / "mine.toml"
        block = '{block = "conv_bn_relu", name = "NAME", width = 8}'
        text = f'stem = [{{block = "conv_bn_relu", name = "first", width = 8}}, {block}]\nhead = [{{block = "global_avg_pool"}}, {{block = "linear"}}]\n'
        mine.write_text(text.replace("NAME", "local"))
        net = ("--net", mine, "--image-size", SIDE)
        plain = (*net, "--epochs", 1, "--batch-size", 24, "--recipe", "none")
        self.ok("train", self.cache, "--out", self.folder / "named", *plain)
        weights = self.folder / "named" / "checkpoints" / "latest" / "model.safetensors"
        stored = self.ok("eval", self.folder / "named", self.cache, "--json").json()
        self.assertEqual(self.ok("eval", weights, self.cache, *net, "--json").json()["loss"], stored["loss"])
        began = self.ok("train", self.cache, "--out", self.folder / "begun", *plain, "--init-from", weights, "--lr", 0.0000001)
        self.assertNotIn("ignored", began.err)
        self.assertAlmostEqual(self.metrics(self.folder / "begun", "test.loss")[-1], stored["loss"], places=1)
        self.refused(2, ["the net has local.0.weight", "leave out --local"],
                     "train", self.cache, "--out", self.folder / "none", *plain, "--local", "greedy", "--stages", "first")  # fmt: skip

    def test_what_cannot_be_is_said_before_anything_is_loaded(self):
        for says, flags in {
            "--stages cuts the net for --local; add --local": ("--stages", 2),
            "--local-head chooses heads for --local; add --local": ("--local-head", "mlp-sr"),
            "--balance cuts the net for --local; add --local": ("--balance", "time"),
            "leave out --balance": ("--local", "greedy", "--stages", "layer1", "--balance", "time"),
            "the first is relu, the last is avgpool": ("--local", "greedy", "--stages", "block9"),
            "nothing is computed after it": ("--local", "greedy", "--stages", "fc"),
            "needs stages": ("--local", "greedy"),
            "plain backpropagation": ("--local", "greedy", "--stages", 1),
            "at most 11 stages; the places are relu, layer1.0.relu2": ("--local", "greedy", "--stages", 12),
            "the nearest is layer2.0.relu2": ("--local", "greedy", "--stages", "layer2.0.conv1"),
            "unknown local head": ("--local", "greedy", "--stages", 2, "--local-head", "cnn"),
            "neither greedy nor overlapping": ("--local", "lazy", "--stages", 2),
            "uses none": ("--local", "greedy", "--stages", 2, "--loss", "barlow_twins"),
        }.items():
            with self.subTest(says):
                self.refused(2, [says], "train", self.cache, "--out", self.folder / "none", "--net", "resnet20", *flags)
                self.assertFalse((self.folder / "none").exists())
        for says, flags in {
            "--stage-ranks needs --pipeline": ("--stage-ranks", "1,1"),
            "add --local greedy": ("--pipeline",),
            "each trained by their own loss only": ("--pipeline", "--local", "overlapping", "--stages", 2),
            "does not work with --pipeline": ("--pipeline", "--local", "greedy", "--stages", 2, "--sync-bn"),
            "at least one rank for each of 2 stages, but there are 1 ranks": ("--pipeline", "--local", "greedy", "--stages", 2),
        }.items():
            with self.subTest(says):
                self.refused(2, [says], "train", self.cache, "--out", self.folder / "none", "--net", "resnet20", *flags)
        for says, ranks in {
            "not a list of the number of ranks of each stage": "1,x",
            "has numbers for 3 stages, but there are 2": "1,1,1",
            "gives 3 ranks, but the job has 2": "2,1",
        }.items():
            with self.subTest(says):
                self.refused(2, [says], *self.command("none", "--pipeline", "--stage-ranks", ranks, stages=2), ranks=2)
                self.assertFalse((self.folder / "none").exists())
        said = self.refused(2, ["--local-head linear is smaller"], *self.command("none"), "--memory-limit", "40M")
        self.assertIn("heads mlp-sr", said.err)


if __name__ == "__main__":
    unittest.main()
