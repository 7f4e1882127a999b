"""Training: the number of ranks does not change the results; runs resume where they stopped."""

import gzip
import itertools
import json
import operator
import unittest

from program import CAN_TRAIN_IN_BF16, FASHION_MNIST, Case, needs_bf16, needs_fashion_mnist, some_of, tensors


class Train(Case):
    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        self.learnable_idx(self.folder / "data")
        self.cache = self.folder / "cache"
        self.ok("ingest", self.folder / "data", "--out", self.cache)

    def train(self, name, *args, ranks=0):
        run = self.folder / name
        result = self.ok("train", self.cache, "--out", run, "--json", *args, ranks=ranks)
        return run, result.json()

    def losses(self, name, *args, ranks=0):
        run, _ = self.train(name, *args, "--log-interval", 1, "--max-steps", 50, ranks=ranks)
        losses = self.metrics(run, "train.loss")
        self.assertEqual(len(losses), 50)
        return losses

    def same_losses(self, cache, *args):
        """The limit is 1e-5 over 50 steps of f32, at the given learning rate."""
        self.cache = cache
        one = self.losses("one", *args, ranks=1)
        for ranks in (2, 4):
            many = self.losses(f"on-{ranks}", *args, ranks=ranks)
            for step, (a, b) in enumerate(zip(one, many)):
                self.assertLessEqual(abs(a - b), 1e-5 * abs(a), f"step {step} on {ranks} ranks")

    def fashion_mnist(self):
        """All training images of Fashion-MNIST and 200 of its test images, because it is evaluated after so few steps."""
        cache = self.folder / "fashion-mnist"
        source = self.folder / "source"
        source.mkdir()
        for kind, header, row in (("images-idx3", 16, 28 * 28), ("labels-idx1", 8, 1)):
            (source / f"train-{kind}-ubyte.gz").symlink_to(FASHION_MNIST / f"train-{kind}-ubyte.gz")
            with gzip.open(FASHION_MNIST / f"t10k-{kind}-ubyte.gz") as whole:
                start = whole.read(header)
                (source / f"t10k-{kind}-ubyte").write_bytes(start[:4] + (200).to_bytes(4, "big") + start[8:] + whole.read(200 * row))
        self.ok("ingest", source, "--out", cache, "--hash", "ahash", "--thumbnails", "off")
        return cache

    def test_losses_do_not_depend_on_the_ranks(self):
        self.same_losses(self.cache, "--net", "lenet", "--batch-size", 32, "--micro-batch", 8, "--lr", 0.02,
                         "--epochs", 4)

    def test_the_wait_for_other_ranks_is_divided(self):
        _, result = self.train("divided", "--net", "lenet", "--batch-size", 32, "--epochs", 1, ranks=2)
        parts = result["exposed_comm"]
        self.assertGreater(result["exposed_comm_s"], 0)
        self.assertAlmostEqual(sum(parts.values()), result["exposed_comm_s"])
        self.assertGreater(parts["late_s"], 0)
        run, _ = self.train("alone", "--net", "lenet", "--batch-size", 32, "--epochs", 1)
        self.assertEqual(self.metrics(run, "comm.exposed_addition")[-1], 0)

    def test_what_checkpoints_cost_is_counted(self):
        run, _ = self.train("counted", "--net", "lenet", "--batch-size", 32, "--epochs", 3, "--recovery-interval", 2)
        held, cpu, wall = (self.metrics(run, name) for name in ("checkpoint.held_time", "checkpoint.cpu_time", "wall"))
        self.assertEqual([sorted(of) for of in (held, cpu)], [held, cpu])
        self.assertLess(0, min(held[-1], cpu[-1]))
        self.assertLess(held[-1], wall[-1])

    def test_gradients_of_bf16_learn_as_those_of_f32(self):
        options = ["--net", "lenet", "--batch-size", 32, "--micro-batch", 8, "--lr", 0.02, "--epochs", 4, "--schedule", "multicolor"]
        # The counts of a step have their own bucket, or share the only one.
        layouts = some_of("ranks and buckets with gradients of bf16", itertools.product((2, 3, 4), (1, 1024)), 2,
                          operator.itemgetter(0), operator.itemgetter(1))  # fmt: skip
        for ranks, of_ranks in itertools.groupby(layouts, operator.itemgetter(0)):
            exact = self.losses(f"f32-{ranks}", *options, ranks=ranks)
            for _, kib in of_ranks:
                bf16 = ["--bf16-gradients", "--bucket-size", kib]
                rounded = self.losses(f"bf16-{ranks}-{kib}", *options, *bf16, ranks=ranks)
                self.assertNotEqual(exact, rounded)
                self.assertEqual(rounded, self.losses(f"again-{ranks}-{kib}", *options, *bf16, ranks=ranks))
                self.assertAlmostEqual(exact[0], rounded[0], delta=1e-6 * exact[0])  # the loss itself is f32
                for step, (a, b) in enumerate(zip(exact, rounded)):
                    self.assertLessEqual(abs(a - b), 0.02 * abs(a), f"step {step} on {ranks} ranks")
        shared = [*options[:-1], "hierarchical"]  # through the memory of one machine, where nothing is rounded
        self.losses("shared", *shared, ranks=3)
        self.losses("shared-bf16", *shared, "--bf16-gradients", "--error-feedback", ranks=3)
        model = "checkpoints/latest/model.safetensors"
        self.assertEqual((self.folder / "shared" / model).read_bytes(), (self.folder / "shared-bf16" / model).read_bytes())
        ranks, kib = layouts[0]
        run = self.folder / f"bf16-{ranks}-{kib}"
        self.assertIn("bf16 messages", (run / "plan.json").read_text())
        command = ["train", self.cache, "--out", run, *options, "--bucket-size", kib, "--resume", "auto"]
        self.refused(2, ["execution.gradients"], *command, ranks=ranks)
        self.refused(2, ["--bf16-gradients"], "train", self.cache, "--out", self.folder / "none", *options,
                     "--bf16-gradients", "--reproducible")  # fmt: skip

    def test_error_feedback_learns(self):
        options = ["--net", "lenet", "--batch-size", 32, "--micro-batch", 8, "--lr", 0.02, "--epochs", 4, "--schedule", "multicolor"]
        bf16 = ["--bf16-gradients", "--bucket-size", 1]
        exact = self.losses("exact", *options, ranks=3)
        fed = self.losses("fed", *options, *bf16, "--error-feedback", ranks=3)
        self.assertNotEqual(fed, self.losses("rounded", *options, *bf16, ranks=3))
        for a, b in zip(exact, fed):
            self.assertLessEqual(abs(a - b), 0.02 * abs(a))
        self.assertIn("error feedback", (self.folder / "fed" / "plan.json").read_text())
        self.refused(2, ["--bf16-gradients"], "train", self.cache, "--out", self.folder / "none", *options, "--error-feedback")

    @needs_fashion_mnist
    def test_losses_do_not_depend_on_the_ranks_lenet(self):
        self.same_losses(self.fashion_mnist(), "--net", "lenet", "--batch-size", 128, "--lr", 0.05)

    # Rounding occasionally flips a ReLU at zero. With batch norm around it, that moves a gradient by up to 1e-3, so the losses of a ResNet stay this
    # close only at a small learning rate.
    @needs_fashion_mnist
    def test_losses_do_not_depend_on_the_ranks_resnet20(self):
        self.same_losses(self.fashion_mnist(), "--net", "resnet20", "--batch-size", 64, "--lr", 0.0001,
                         "--augment", "none")

    def ten_steps(self, name, *args, ranks=0):
        """Losses and weights after ten steps of 24 samples."""
        run, _ = self.train(name, "--net", "resnet20", "--batch-size", 24, "--lr", 0.0001, "--augment", "none",
                            "--threads", 1, "--log-interval", 1, "--max-steps", 10, *args, ranks=ranks)
        return self.metrics(run, "train.loss"), tensors(run / "checkpoints" / "latest" / "model.safetensors")

    def apart(self, losses, others):
        self.assertEqual(len(losses), len(others))
        return max(abs(a - b) / a for a, b in zip(losses, others))

    def test_sync_bn_makes_ranks_one_batch(self):
        whole, _ = self.ten_steps("whole", "--micro-batch", 24)
        for ranks in (1, *some_of("ranks whose batch norms are one", (2, 3, 4), 2)):
            shares = ["--micro-batch", 24 // ranks]
            together, weights = self.ten_steps(f"together-{ranks}", "--sync-bn", *shares, ranks=ranks)
            self.assertLessEqual(self.apart(whole, together), 1e-5, ranks)
            self.assertEqual(self.ten_steps(f"again-{ranks}", "--sync-bn", *shares, ranks=ranks), (together, weights))
            if ranks > 1:
                alone, _ = self.ten_steps(f"alone-{ranks}", *shares, ranks=ranks)
                self.assertGreater(self.apart(whole, alone), 5e-3, ranks)
        if CAN_TRAIN_IN_BF16:
            in_bf16, _ = self.ten_steps("bf16", "--sync-bn", "--micro-batch", 6, "--dtype", "bf16", ranks=2)
            self.assertLessEqual(self.apart(whole, in_bf16), 5e-2)

    def test_sync_bn_is_reproducible_on_any_ranks(self):
        for more in ([], ["--freeze", "conv1.weight", "layer1.*"]):
            recipe = ["--sync-bn", "--reproducible", "--micro-batch", 4, *more]
            others = some_of(f"ranks of reproducible batch norms, {len(more)} flags", (2, 3, 4, 6), 2)
            seen = [self.ten_steps(f"on-{ranks}-{len(more)}", *recipe, ranks=ranks) for ranks in (0, *others)]
            for other in seen[1:]:
                self.assertEqual(other, seen[0])

    def test_sync_bn_resumes_on_other_ranks(self):
        recipe = ["--net", "resnet20", "--batch-size", 24, "--micro-batch", 4, "--threads", 1, "--sync-bn"]
        for sums in ([], ["--reproducible"]):
            whole, _ = self.train(f"whole-{len(sums)}", *recipe, *sums, "--max-steps", 9, ranks=2)
            parts, _ = self.train(f"parts-{len(sums)}", *recipe, *sums, "--max-steps", 3, ranks=2)
            for ranks, end in ((4, 6), (3, 9)):
                self.train(parts.name, *recipe, *sums, "--resume", "auto", "--max-steps", end, ranks=ranks)
            weights = [tensors(run / "checkpoints" / "latest" / "model.safetensors") for run in (whole, parts)]
            self.assertEqual(set(weights[0]), set(weights[1]))
            self.assertEqual(weights[0] == weights[1], bool(sums))
        self.refused(2, ["options differ", "recipe.sync_bn"], "train", self.cache, "--out", parts, *recipe[:-1], *sums,
                     "--resume", "auto")

    def test_learns(self):
        for optimizer in (["sgd", "--lr", 0.05], ["lars", "--lr", 4, "--sched", "poly"]):
            run, result = self.train("-".join(map(str, optimizer)), "--net", "lenet", "--epochs", 6,
                                     "--augment", "none", "--batch-size", 32, "--optimizer", *optimizer)
            self.assertGreaterEqual(result["top1"], 0.95, optimizer)
            self.assertEqual(result["split"], "test")
            evaluated = self.ok("eval", run, self.cache, "--json").json()
            self.assertEqual(evaluated["top1"], result["top1"])
            self.assertEqual(sum(map(sum, evaluated["confusion"])), 128)

    def test_losses_learn_and_stay_with_their_run(self):
        # At first all logits are near 0: ln 2 per class. Focal loss: 0.25 (own class) and three times 0.75 (others), times a quarter of it.
        for loss, first in (("bce", 0.693), ("focal", 0.693 / 4 * (0.25 + 3 * 0.75))):
            recipe = ["--net", "lenet", "--epochs", 6, "--augment", "none", "--batch-size", 32, "--lr", 0.2]
            run, result = self.train(loss, *recipe, "--loss", loss, "--log-interval", 1)
            self.assertAlmostEqual(self.metrics(run, "train.loss")[0], first, delta=0.25 * first)
            self.assertGreaterEqual(result["top1"], 0.95, loss)
            evaluated = self.ok("eval", run, self.cache, "--json").json()
            self.assertEqual(evaluated["top1"], result["top1"])
            self.assertAlmostEqual(self.metrics(run, "test.loss")[-1], evaluated["loss"])
            net = json.loads((run / "config.json").read_text())["net"]
            self.assertEqual(net["loss"], loss)
            self.assertEqual("focal_gamma" in net, loss == "focal")
            again = ["train", self.cache, "--out", run, "--resume", "auto", *recipe]
            self.refused(2, ["options differ", "net.loss"], *again)
            if loss == "focal":
                self.refused(2, ["options differ", "net.focal_alpha"], *again, "--loss", loss, "--focal-alpha", 0.5)

    @needs_bf16
    def test_bf16_learns_on_two_ranks(self):
        _, result = self.train("bf16", "--net", "resnet20", "--dtype", "bf16", "--epochs", 4, "--augment",
                               "none", "--batch-size", 32, "--lr", 0.05, ranks=2)
        self.assertGreaterEqual(result["top1"], 0.9)

    def test_resumed_run_equals_one_that_never_stopped(self):
        recipe = ["--net", "resnet20", "--batch-size", 32, "--epochs", 3]
        whole, _ = self.train("whole", *recipe)
        parts, _ = self.train("parts", *recipe, "--max-steps", 20)
        self.ok("train", self.cache, "--out", parts, *recipe, "--resume", "auto")
        for file in ("model.safetensors", "optimizer.safetensors"):
            self.assertEqual(
                tensors(whole / "checkpoints" / "latest" / file),
                tensors(parts / "checkpoints" / "latest" / file),
            )

    def test_a_finished_run_resumes_to_the_same_figures(self):
        recipe = ["--net", "lenet", "--batch-size", 32, "--epochs", 1]
        run, first = self.train("run", *recipe)
        again = self.ok("train", self.cache, "--out", run, *recipe, "--resume", "auto", "--json").json()
        self.assertEqual(again["top1"], first["top1"])

    def test_evaluation_is_the_same_on_any_ranks(self):
        run, result = self.train("run", "--net", "lenet", "--batch-size", 32, "--micro-batch", 8, "--epochs", 1,
                                 "--threads", 1)
        seen = set()
        for ranks in (0, 1, 2, 3):
            table = self.folder / f"{ranks}.csv"
            figures = self.ok("eval", run, self.cache, "--predictions", table, "--logits", "--threads", 1, "--json",
                              ranks=ranks).json()
            del figures["images_per_second"]
            self.assertEqual(figures["top1"], result["top1"])
            self.assertEqual(table.read_text().count("\n"), 129)
            seen.add((json.dumps(figures), table.read_text()))
        self.assertEqual(len(seen), 1)

    def test_several_splits_and_caches_are_evaluated_one_after_the_other(self):
        run, _ = self.train("run", "--net", "lenet", "--batch-size", 32, "--max-steps", 3, "--threads", 1)
        self.learnable_idx(self.folder / "more", train=96, test=40)
        other = self.folder / "other"
        self.ok("ingest", self.folder / "more", "--out", other)

        def figures(text):
            found = json.loads(text)
            del found["images_per_second"]
            return found

        def alone(cache, split):
            return figures(self.ok("eval", run, cache, "--split", split, "--threads", 1, "--json").out)

        for ranks in (0, 2):
            both = self.ok("eval", run, self.cache, other, "--split", "test", "--split", "train", "--threads", 1, "--json",
                           ranks=ranks)  # fmt: skip
            wanted = [{**alone(cache, split), "cache": str(cache)} for cache in (self.cache, other) for split in ("test", "train")]
            self.assertEqual([figures(line) for line in both.out.splitlines()], wanted)
            self.assertIn(f"{other}: train accuracy", both.err)
        splits = self.ok("eval", "--split", "train", "--split", "test", run, other, "--threads", 1, "--json").out.splitlines()
        self.assertEqual([figures(line) for line in splits], [alone(other, "train"), alone(other, "test")])
        for more in ([other], ["--split", "test", "--split", "train"]):
            self.refused(2, ["--predictions", "one split"], "eval", run, self.cache, *more, "--predictions", self.folder / "p.csv")

    def test_evaluation_of_a_reproducible_run_is_the_same_on_any_ranks_and_threads(self):
        seen = set()
        for ranks, threads in ((1, 1), (1, 2), (1, 3), (3, 2)):
            run, _ = self.train(f"run-{ranks}-{threads}", "--net", "resnet20", "--batch-size", 24, "--micro-batch", 4,
                                "--max-steps", 2, "--reproducible", "--threads", threads, ranks=ranks)
            seen.add((tuple(self.metrics(run, "test.loss")), tuple(self.metrics(run, "test.top1"))))
        self.assertEqual(len(seen), 1)

    def test_lines_of_metrics_name_the_run_and_their_time_goes_on(self):
        recipe = ["--net", "lenet", "--batch-size", 32, "--epochs", 1, "--log-interval", 2]
        run, _ = self.train("run", *recipe, "--max-steps", 8)
        (identity,) = set(self.metrics(run, "run"))
        self.assertEqual((run / "run_id").read_text(), identity + "\n")
        before = self.metrics(run, "wall")[-1]
        self.ok("train", self.cache, "--out", run, *recipe, "--resume", "auto")
        self.assertEqual(set(self.metrics(run, "run")), {identity})
        wall = self.metrics(run, "wall")
        self.assertEqual(wall, sorted(wall))
        self.assertGreater(wall[-1], before)
        top1 = self.metrics(run, "train.top1")
        self.assertEqual(len(top1), len(self.metrics(run, "train.loss")))
        self.assertTrue(all(0 <= value <= 1 and (value * 64).is_integer() for value in top1))
        other, _ = self.train("other", *recipe, "--max-steps", 2)
        self.assertNotEqual(set(self.metrics(other, "run")), {identity})
        (run / "run_id").unlink()  # as an older version left it
        self.ok("train", self.cache, "--out", run, *recipe, "--resume", "auto")
        self.assertEqual(len(set(self.metrics(run, "run"))), 2)
        (run / "run_id").write_text("no id\n")
        self.refused(1, ["run_id", "damaged"], "train", self.cache, "--out", run, *recipe, "--resume", "auto")

    def test_options_from_file_and_environment(self):
        job = self.folder / "job.toml"
        job.write_text('[train]\nnet = "lenet"\nbatch-size = 16\nmax-steps = 1\n')
        run = self.folder / "run"
        self.ok("--config", job, "train", self.cache, "--out", run, "--batch-size", 32,
                env={"WINNOW_TRAIN_WEIGHT_DECAY": "0.125"})
        config = json.loads((run / "config.json").read_text())
        self.assertEqual(config["net"]["name"], "lenet")
        self.assertEqual(config["recipe"]["batch_size"], 32)  # the command line wins
        self.assertEqual(config["recipe"]["weight_decay"], 0.125)

    def test_bad_use(self):
        train = ["train", self.cache, "--out", self.folder / "run", "--net", "lenet"]
        self.refused(2, ["--batch-size 10", "--micro-batch 4"], *train, "--batch-size", 10, "--micro-batch", 4)
        self.refused(2, ["unknown net 'vgg'", "--net ?"], *train[:4], "--net", "vgg")
        self.refused(2, ["no selection", "nope"], *train, "--selection", "nope")
        self.refused(2, ["more ranks (2)", "micro-batches"], *train, "--batch-size", 8, "--micro-batch", 8,
                     ranks=2)
        self.refused(2, ["--no-such-flag"], *train, "--no-such-flag")
        self.refused(1, ["not finite"], *train, "--lr", 1e30, "--warmup-epochs", 0)
        self.assertIn("already", self.refused(2, [], *train).err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
