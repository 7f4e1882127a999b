"""The same training by winnow and by PyTorch. Data, weights and batches are handed over as files."""

import copy
import json
import os
import pathlib
import subprocess
import sys

import numpy
import safetensors_io
import torch
import torch.nn.functional as F
import vectors

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "end_to_end"))
import program  # noqa: E402

DUMP_BATCHES = os.environ["WINNOW_DUMP_BATCHES"]


def learnable_images(folder, seed, classes=10, side=32, train=512, test=64):
    """Writes folder/{train,test}/<class>/*.ppm: each class is a smooth colour picture, faded and noisy."""
    random = numpy.random.default_rng(seed)
    coarse = random.uniform(0, 255, (classes, 5, 5, 3))
    at = numpy.linspace(0, 4, side)
    low = numpy.minimum(at.astype(int), 3)
    rest = at - low
    rows = coarse[:, low] * (1 - rest)[:, None, None] + coarse[:, low + 1] * rest[:, None, None]
    pictures = rows[:, :, low] * (1 - rest)[:, None] + rows[:, :, low + 1] * rest[:, None]
    for split, count in (("train", train), ("test", test)):
        for i in range(count):
            label = i % classes
            noisy = 0.7 * pictures[label] + 40 + random.normal(0, 20, (side, side, 3))
            path = folder / split / f"class-{label:02}" / f"{i:05}.ppm"
            path.parent.mkdir(parents=True, exist_ok=True)
            pixels = noisy.clip(0, 255).astype(numpy.uint8)
            path.write_bytes(b"P6\n%d %d\n255\n" % (side, side) + pixels.tobytes())


def batches(cache, folder, seed, augment, batch, count, first=0):
    """The batches that winnow trains on: pixels (count, batch, H, W, C) of u8, labels (count, batch)."""
    tensors = dumped_batches(cache, folder, seed, augment, batch, count, first)
    return tensors["pixels"], tensors["labels"]


def dumped_batches(cache, folder, seed, augment, batch, count, first=0):
    """The same with the samples' "ids" (count, batch), by name."""
    out = folder / "batches.safetensors"
    subprocess.run([DUMP_BATCHES, cache, out, *map(str, (seed, augment, batch, first, count))], check=True)
    tensors = safetensors_io.read(out)
    out.unlink()
    return tensors


def normalised(pixels, net, arithmetic=torch.float32):
    """u8 (N, H, W, C) as the net of this config.json reads it, (N, C, H, W)."""
    scaled = pixels.permute(0, 3, 1, 2).to(arithmetic) / 255
    mean, deviation = (torch.tensor(net[name]).to(arithmetic).reshape(1, -1, 1, 1) for name in ("mean", "deviation"))
    return (scaled - mean) / deviation


class TorchTrainer:
    """PyTorch's own optimiser, schedules and loss, with the recipe in a run's config.json. V = 1.

    Forward and backward passes compute in `arithmetic`. Parameters, optimiser state and statistics have the type that
    `module` gives them.
    """

    def __init__(self, module, config, samples, arithmetic=torch.float32):
        recipe = config["recipe"]
        self.module = module
        self.computing = module if arithmetic == torch.float32 else copy.deepcopy(module).to(arithmetic)
        self.arithmetic = arithmetic
        self.net = config["net"]
        trained = [p for p in module.parameters() if p.requires_grad]
        weights = [p for p in trained if p.ndim > 1]
        others = [p for p in trained if p.ndim == 1]  # biases and batch norms
        make, self.slots, _ = vectors.OPTIMIZERS[recipe["optimizer"]]
        self.optimizer = make(
            [{"params": weights, "weight_decay": recipe["weight_decay"]}, {"params": others, "weight_decay": 0}],
            recipe["lr"], recipe)
        steps_per_epoch = samples / recipe["batch_size"]
        warmup = round(recipe["warmup_epochs"] * steps_per_epoch)
        total = round(recipe["epochs"] * steps_per_epoch)
        schedules = torch.optim.lr_scheduler
        before = schedules.LinearLR(self.optimizer, start_factor=1 / warmup, total_iters=warmup - 1)
        after = schedules.CosineAnnealingLR(self.optimizer, total - warmup)
        self.schedule = schedules.SequentialLR(self.optimizer, [before, after], [warmup])

    def step(self, pixels, labels):
        """Trains on one batch. Returns its loss and learning rate."""
        if self.computing is not self.module:
            self.computing.load_state_dict(self.module.state_dict())
        logits = self.computing.train()(normalised(pixels, self.net, self.arithmetic))
        loss = F.cross_entropy(logits, labels, label_smoothing=self.net["label_smoothing"])
        self.computing.zero_grad()
        loss.backward()
        if self.computing is not self.module:
            for kept, computed in zip(self.module.parameters(), self.computing.parameters()):
                kept.grad = computed.grad.to(kept.dtype) if kept.requires_grad else None
            for kept, computed in zip(self.module.buffers(), self.computing.buffers()):
                kept.copy_(computed)
        self.optimizer.step()
        rate = self.optimizer.param_groups[0]["lr"]
        self.schedule.step()
        return loss.item(), rate

    def tensors(self):
        """The tensors by name, as checkpoint() returns them."""
        slots = {f"{ours}.{name}": self.optimizer.state[p][theirs]
                 for name, p in self.module.named_parameters() if p.requires_grad for ours, theirs in self.slots.items()}
        state = {name: tensor for name, tensor in self.module.state_dict().items()
                 if not name.endswith("num_batches_tracked")}
        return {**state, **slots}

    def take(self, tensors):
        """Continues from other numbers, in the form that checkpoint() returns."""
        with torch.no_grad():
            for name, tensor in self.tensors().items():
                tensor.copy_(tensors[name])


def checkpoint(run, step=None):
    """All tensors of a run's checkpoint after `step` steps, or of the newest, without num_batches_tracked."""
    folder = run / "checkpoints" / (f"step-{step}" if step else "latest")
    tensors = {**safetensors_io.read(folder / "model.safetensors"),
               **safetensors_io.read(folder / "optimizer.safetensors")}
    return {name: tensor for name, tensor in tensors.items() if not name.endswith("num_batches_tracked")}


def config(run):
    return json.loads((run / "config.json").read_text())


def relative(ours, theirs):
    """Distance in the L2 norm, relative to the norm of theirs."""
    return ((ours - theirs).norm() / theirs.norm()).item()
