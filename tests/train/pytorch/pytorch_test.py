"""A step of winnow equals PyTorch's, and weights can go to PyTorch and come back.

Exits with 77 if Python has no torch.
"""

import copy
import csv
import json
import os
import sys
import unittest

try:
    import torch
except ImportError:
    print("skipped: this Python has no package torch (Debian: python3-torch)")
    sys.exit(77)

import nets
import safetensors_io
import vectors
from peers import TorchTrainer, batches, checkpoint, config, learnable_images, normalised, program, relative

SIDE, TRAIN, CLASSES, BATCH, STEPS, SEED = 8, 320, 10, 32, 20, 7


def randomised(module):
    """Sets weights and running statistics to values that no initialisation gives."""
    for name, tensor in module.state_dict().items():
        if name.endswith("running_var"):
            tensor.uniform_(0.5, 2)
        elif name.endswith(("running_mean", "bias")):
            tensor.normal_(0, 0.5)
        elif tensor.ndim == 1 and tensor.is_floating_point():
            tensor.uniform_(0.5, 1.5)
    return module.eval()


def away_from_kinks(module):
    """Sets shifts of batch norms with which few activations are near zero."""
    for name, parameter in module.named_parameters():
        if parameter.ndim == 1 and name.endswith(".bias") and name != "fc.bias":
            torch.nn.init.uniform_(parameter, 2, 3)
    return module


class PyTorch(program.Case):
    @classmethod
    def setUpClass(cls):
        cls.shared = cls.enterClassContext(program.tempfile.TemporaryDirectory(prefix="winnow-test-"))
        cls.shared = program.pathlib.Path(cls.shared)
        learnable_images(cls.shared / "data", seed=1, classes=CLASSES, side=SIDE, train=TRAIN, test=70)
        cls.cache = cls.shared / "cache"
        done = program.run("ingest", cls.shared / "data", "--out", cls.cache)
        assert done.code == 0, done.err

    def train(self, name, weights, *args, micro_batch=BATCH, ranks=0):
        """Trains STEPS steps with the recipe that all tests share. Returns the run's folder, losses and learning rates."""
        run = self.folder / name
        self.ok("train", self.cache, "--out", run, "--recipe", "none", "--init-from", weights, "--net", "resnet20", "--seed", SEED,
                "--batch-size", BATCH, "--micro-batch", micro_batch, "--epochs", 4, "--warmup-epochs", 0.5,
                "--weight-decay", 5e-4, "--log-interval", 1, "--max-steps", STEPS, "--threads", 1, *args, ranks=ranks)
        return run, self.metrics(run, "train.loss"), self.metrics(run, "train.lr")

    def start(self, module):
        weights = self.folder / "start.safetensors"
        safetensors_io.write(weights, module.state_dict())
        return weights

    def same_tensors(self, ours, theirs, most, when):
        self.assertEqual(set(ours), set(theirs))
        for name in theirs:
            self.assertLessEqual(relative(ours[name], theirs[name]), most, f"{name} {when}")

    def every_step(self, name, augment, *args, start=lambda module: module, **parts):
        """From the state before each step, PyTorch reaches the state after it.

        Both compute in float64 and store float32, so this tests what is computed, at a realistic learning rate.
        """
        torch.manual_seed(1)
        module = start(nets.ResNet20(classes=CLASSES))
        run, losses, rates = self.train(
            name, self.start(module), "--augment", augment, "--backend", "reference", "--recovery-interval", 1,
            "--checkpoint-hist", STEPS, *args, **parts)
        pixels, labels = batches(self.cache, self.folder, SEED, augment, BATCH, STEPS)
        peer = TorchTrainer(copy.deepcopy(module), config(run), TRAIN, torch.float64)
        for step in range(STEPS):
            loss, rate = peer.step(pixels[step], labels[step])
            when = f"after step {step}, {name}"
            self.assertLessEqual(abs(losses[step] - loss), 1e-5 * loss, f"loss {when}")
            self.assertAlmostEqual(rates[step], rate, delta=1e-6 * rate)
            ours = checkpoint(run, step + 1)
            self.same_tensors(ours, peer.tensors(), 1e-5, when)
            peer.take(ours)

    def test_every_step_is_pytorchs(self):
        for augment, smoothing in (("none", 0), ("cifar", 0.1)):
            self.every_step(augment, augment, "--label-smoothing", smoothing, "--lr", 0.1)

    def test_every_step_with_sync_bn_is_pytorchs_of_the_whole_batch(self):
        # Statistics are float32 between ranks: see test_twenty_steps_equal_pytorchs for the start and the rate.
        for ranks, micro_batch in ((0, 16), (3, 8)):
            with self.subTest(ranks=ranks, micro_batch=micro_batch):
                self.every_step(f"sync-{ranks}-{micro_batch}", "cifar", "--sync-bn", "--lr", 0.001, start=away_from_kinks,
                                micro_batch=micro_batch, ranks=ranks)

    def test_every_optimizer_is_pytorchs(self):
        # RMSProp's first step divides a gradient by its own size: with a small eps, the last bits of the smallest gradients matter.
        others = {"rmsprop": ["--eps", 0.001]}
        for optimizer in vectors.OPTIMIZERS:
            with self.subTest(optimizer=optimizer):
                self.every_step(optimizer, "none", "--optimizer", optimizer, "--lr", 0.002, *others.get(optimizer, []))

    def test_twenty_steps_equal_pytorchs(self):
        """In float32, without correcting anything on the way.

        Rounding puts one in a few million activations on the other side of ReLU's kink. If the contributions of pixels
        nearly cancel, as with the usual initial values, that changes a gradient by up to 1e-3, and every step
        multiplies the error. PyTorch with one thread and with two is then 10 % apart after 20 steps at rate 0.001.

        So batch norms start with shifts in [2, 3], where few activations are near zero and contributions add up. Over 8
        seeds, PyTorch in float32 is then at most 4e-6 away from float64. The rate is 0.001: at 0.01 the loss explodes
        from such a start, and rounding errors with it.
        """
        torch.manual_seed(2)
        module = away_from_kinks(nets.ResNet20(classes=CLASSES))
        weights = self.start(module)
        before = module.state_dict()
        for augment, smoothing in (("none", 0), ("cifar", 0.1)):
            run, losses, _ = self.train(augment, weights, "--augment", augment, "--label-smoothing", smoothing,
                                        "--lr", 0.001)
            self.assertEqual(len(losses), STEPS)
            pixels, labels = batches(self.cache, self.folder, SEED, augment, BATCH, STEPS)
            peer = TorchTrainer(copy.deepcopy(module), config(run), TRAIN)
            for step in range(STEPS):
                loss, _ = peer.step(pixels[step], labels[step])
                self.assertLessEqual(abs(losses[step] - loss), 1e-4 * loss, f"loss of step {step}, {augment}")
            self.same_tensors(checkpoint(run), peer.tensors(), 1e-3, f"after {STEPS} steps, {augment}")
            for name in ("conv1.weight", "layer3.2.bn2.running_mean", "fc.weight"):  # the weights did change
                self.assertGreater(relative(peer.tensors()[name], before[name]), 1e-3, name)

    def logits(self, subject, *args):
        """The logits that winnow eval writes for the test images: {name: logits}."""
        predictions = self.folder / "predictions.csv"
        self.ok("eval", subject, self.cache, "--predictions", predictions, "--logits", *args)
        with open(predictions, newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 70)
        names = [name for name in rows[0] if name.startswith("logit_")]
        self.assertEqual(names, [f"logit_class-{k:02}" for k in range(CLASSES)])
        found = {row["name"]: torch.tensor([float(row[name]) for name in names]) for row in rows}
        for row in rows:
            best = names[found[row["name"]].argmax()]
            self.assertEqual(row["prediction"], best.removeprefix("logit_"))
        return found

    def same_logits(self, ours, module, net):
        names = sorted(ours)
        pixels = torch.stack([self.pixels(self.shared / "data" / name) for name in names])
        with torch.no_grad():
            theirs = module.eval()(normalised(pixels, net))
        for name, logits in zip(names, theirs):
            most = 1e-4 * logits.abs().max().item()
            self.assertLessEqual((ours[name] - logits).abs().max().item(), most, name)

    def pixels(self, path):
        return torch.frombuffer(bytearray(path.read_bytes()[-SIDE * SIDE * 3:]), dtype=torch.uint8).reshape(SIDE, SIDE, 3)

    def test_vectors_are_pytorchs(self):
        """The files that train.optim is tested with agree with the installed PyTorch.

        Other vector units round differently, so steps may differ by a few units in the last place.
        """
        for name, cases in vectors.vectors().items():
            stored = json.loads((program.pathlib.Path(__file__).parents[2] / "data" / "optim" / name).read_text())
            ours, theirs = (vectors.numbers(cases), vectors.numbers(stored))
            self.assertEqual(len(ours), len(theirs), name)
            for one, other in zip(ours, theirs):
                self.assertAlmostEqual(one, other, delta=1e-5 * abs(other), msg=name)

    def test_our_weights_in_pytorch(self):
        torch.manual_seed(3)
        run, _, _ = self.train("run", self.start(nets.ResNet20(classes=CLASSES)), "--lr", 0.05)
        tensors = safetensors_io.read(run / "checkpoints" / "latest" / "model.safetensors")
        module = nets.ResNet20(classes=CLASSES)
        module.load_state_dict(tensors, strict=True)
        self.assertEqual(module.layer1[0].bn1.num_batches_tracked.item(), STEPS)
        self.assertGreater(relative(module.bn1.running_var, torch.ones(16)), 0.1)
        self.same_logits(self.logits(run), module, config(run)["net"])

    def test_pytorchs_weights_here(self):
        torch.manual_seed(4)
        module = randomised(nets.ResNet20(classes=CLASSES))
        run, _, _ = self.train("run", self.start(module), "--lr", 0.05)
        net = config(run)["net"]  # mean and deviation depend only on the cache
        for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
            state = {name: tensor.to(dtype) if tensor.is_floating_point() else tensor
                     for name, tensor in module.state_dict().items()}
            as_stored = copy.deepcopy(module)
            as_stored.load_state_dict(state)  # rounded, and back in float32
            backwards = {"head.prototypes": torch.ones(3, 5), **dict(reversed(state.items()))}
            weights = self.folder / "theirs.safetensors"
            safetensors_io.write(weights, backwards)
            ours = self.logits(weights, "--net", "resnet20")
            with self.subTest(dtype=dtype):
                self.same_logits(ours, as_stored, net)


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    unittest.main(verbosity=2)
