"""Over 300 steps in float32, winnow's losses stay within the band of PyTorch compared with itself.

Rounding errors grow from step to step, until two runs of one program on different numbers of threads share only their
course. So the test does not ask for equality; it asks whether a run of winnow can be told from one more run of PyTorch.
On equal batches, for each of SEEDS initial weights, orders and augmentations, there is one run of winnow, W, and two of
PyTorch, A on one thread and B on two. C is PyTorch without Nesterov's look-ahead; it shows what the test can detect.

    distance(X, Y, window)   the largest |loss of X - loss of Y| over the WINDOW steps of a window
    band(window)             the largest distance(A, B, window) over the seeds
    off(X, window)           the largest min(distance(X, A, window), distance(X, B, window)) over the seeds
    chance(X)                choose one of X, A and B for each seed; the share of all choices in which the mean over
                             the seeds of (mean loss of the chosen - that of the other two) is at least as far from 0
                             as when X is chosen everywhere

1. off(W) is at most FACTOR times band in every window. Even if W, A and B are alike, off is often slightly larger than
band, and distances vary by factors as long as rounding errors still grow.
2. chance(W) is at least LEAST: even a correct W fails that often by chance. This detects what lies within the band but
always on the same side.
3. chance(C) is below 0.05; otherwise the test detects nothing.

Uses learnable images of 8 x 8; with WINNOW_CIFAR10 (a folder with train/<class>/*), 3,000 images of CIFAR-10. Exits
with 77 if Python has no torch.
"""

import copy
import itertools
import os
import pathlib
import shutil
import sys
import unittest

try:
    import torch
except ImportError:
    print("skipped: this Python has no package torch (Debian: python3-torch)")
    sys.exit(77)

import nets
import safetensors_io
from peers import TorchTrainer, batches, config, learnable_images, program

CIFAR10 = os.environ.get("WINNOW_CIFAR10")
SEEDS, STEPS, WINDOW, BATCH = 6, 300, 25, 32
FACTOR, LEAST = 2, 0.005


def distances(x, y):
    """The distance of two runs in each window."""
    return [max(abs(a - b) for a, b in zip(x[i : i + WINDOW], y[i : i + WINDOW])) for i in range(0, STEPS, WINDOW)]


def off(runs, name):
    nearer = (map(min, distances(run[name], run["A"]), distances(run[name], run["B"])) for run in runs)
    return list(map(max, zip(*nearer)))


def chance(runs, name):
    means = [[sum(run[x]) / STEPS for x in (name, "A", "B")] for run in runs]
    apart = [[x - (sum(three) - x) / 2 for x in three] for three in means]
    choices = [abs(sum(choice)) for choice in itertools.product(*apart)]  # the first is `name` everywhere
    return sum(choice >= choices[0] * (1 - 1e-9) for choice in choices) / len(choices)


class Band(program.Case):
    def data(self):
        folder = self.folder / "data"
        if not CIFAR10:
            learnable_images(folder, seed=1, side=8, train=960, test=10)
            return folder
        for source in sorted((pathlib.Path(CIFAR10) / "train").iterdir()):
            (folder / "train" / source.name).mkdir(parents=True)
            for image in sorted(source.iterdir())[:300]:
                shutil.copy(image, folder / "train" / source.name)
        return folder

    def losses_of_pytorch(self, module, settings, samples, pixels, labels, threads):
        torch.set_num_threads(threads)
        peer = TorchTrainer(copy.deepcopy(module), settings, samples)
        return [peer.step(p, l)[0] for p, l in zip(pixels, labels)]

    def runs_of(self, cache, samples, seed):
        torch.manual_seed(seed)
        module = nets.ResNet20()
        weights = self.folder / "start.safetensors"
        safetensors_io.write(weights, module.state_dict())
        run = self.folder / f"run-{seed}"
        self.ok("train", cache, "--out", run, "--recipe", "none", "--init-from", weights, "--net", "resnet20", "--seed", seed,
                "--batch-size", BATCH, "--micro-batch", BATCH, "--epochs", STEPS * BATCH / samples, "--lr", 0.05,
                "--warmup-epochs", 0.5, "--weight-decay", 5e-4, "--log-interval", 1, "--threads", 1)
        settings = config(run)
        pixels, labels = batches(cache, self.folder, seed, "cifar", BATCH, STEPS)
        plain = copy.deepcopy(settings)
        plain["recipe"]["nesterov"] = False
        torch_losses = lambda how, threads: self.losses_of_pytorch(module, how, samples, pixels, labels, threads)
        return {"W": self.metrics(run, "train.loss"), "A": torch_losses(settings, 1), "B": torch_losses(settings, 2),
                "C": torch_losses(plain, 1)}

    def test_losses_keep_within_pytorchs_band(self):
        cache = self.folder / "cache"
        samples = self.ok("ingest", self.data(), "--out", cache, "--json").json()
        samples = samples["ok"] - (0 if CIFAR10 else 10)
        runs = []
        for seed in range(1, SEEDS + 1):
            runs.append(self.runs_of(cache, samples, seed))
            self.assertEqual({name: len(losses) for name, losses in runs[-1].items()}, dict.fromkeys("WABC", STEPS))
        band = list(map(max, zip(*(distances(run["A"], run["B"]) for run in runs))))
        ours, control = off(runs, "W"), off(runs, "C")

        print("\n   steps  mean loss of W      A      B      C     band   off(W)   off(C)")
        for i in range(STEPS // WINDOW):
            part = slice(i * WINDOW, (i + 1) * WINDOW)
            means = (sum(sum(run[name][part]) for run in runs) / WINDOW / SEEDS for name in "WABC")
            print(f"{part.start + 1:>4}-{part.stop:<3}        {' '.join(f'{mean:6.3f}' for mean in means)}"
                  f"{band[i]:9.2e}{ours[i]:9.2e}{control[i]:9.2e}")
        print(f"chance(W) {chance(runs, 'W'):.4f}, chance(C) {chance(runs, 'C'):.4f} on {SEEDS} seeds", flush=True)

        for i, (most, is_off) in enumerate(zip(band, ours)):
            self.assertLessEqual(is_off, FACTOR * most, f"steps {i * WINDOW + 1} to {(i + 1) * WINDOW}")
        self.assertGreaterEqual(chance(runs, "W"), LEAST)
        self.assertLess(chance(runs, "C"), 0.05)
        for run in runs:
            self.assertLess(sum(run["W"][-WINDOW:]), 0.8 * sum(run["W"][:WINDOW]))  # it learns


if __name__ == "__main__":
    unittest.main(verbosity=2)
