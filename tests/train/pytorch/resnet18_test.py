"""ResNet-18 and ResNet-34 equal torchvision's: names, evaluation and training steps equal PyTorch's.

Exits with 77 if Python has no torch."""

import copy
import csv
import os
import sys
import unittest

try:
    import torch
    from torch import nn
except ImportError:
    print("skipped: this Python has no package torch (Debian: python3-torch)")
    sys.exit(77)

import safetensors_io
from nets import BasicBlock
from peers import TorchTrainer, batches, checkpoint, config, learnable_images, normalised, program, relative

SIDE, TRAIN, TEST, CLASSES, BATCH, STEPS, SEED = 16, 64, 20, 10, 16, 2, 7


class ResNet(nn.Module):
    """torchvision.models.resnet.ResNet with basic blocks, for machines that have only torch."""

    def __init__(self, blocks, classes=CLASSES):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, 2, padding=1)
        inputs = 64
        for stage, count in enumerate(blocks):
            width = 64 << stage
            layers = [BasicBlock(inputs if i == 0 else width, width, 2 if stage > 0 and i == 0 else 1)
                      for i in range(count)]
            setattr(self, f"layer{stage + 1}", nn.Sequential(*layers))
            inputs = width
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(512, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.avgpool(x).flatten(1))


NETS = {"resnet18": (2, 2, 2, 2), "resnet34": (3, 4, 6, 3)}


class ResNets(program.Case):
    @classmethod
    def setUpClass(cls):
        cls.shared = cls.enterClassContext(program.tempfile.TemporaryDirectory(prefix="winnow-test-"))
        cls.shared = program.pathlib.Path(cls.shared)
        learnable_images(cls.shared / "data", seed=1, classes=CLASSES, side=SIDE, train=TRAIN, test=TEST)
        cls.cache = cls.shared / "cache"
        done = program.run("ingest", cls.shared / "data", "--out", cls.cache)
        assert done.code == 0, done.err

    def start(self, net):
        torch.manual_seed(1)
        module = ResNet(NETS[net])
        weights = self.folder / f"{net}.safetensors"
        safetensors_io.write(weights, module.state_dict())
        return module, weights

    def test_names_are_torchvisions(self):
        try:
            import torchvision
        except ImportError:
            self.skipTest("this Python has no package torchvision")
        for net, blocks in NETS.items():
            theirs = getattr(torchvision.models, net)(num_classes=CLASSES).state_dict()
            shapes = {name: tensor.shape for name, tensor in ResNet(blocks).state_dict().items()}
            self.assertEqual(shapes, {name: tensor.shape for name, tensor in theirs.items()})

    def test_steps_are_pytorchs(self):
        """Both sides compute in float64, each step from winnow's state before it."""
        for net in NETS:
            with self.subTest(net=net):
                module, weights = self.start(net)
                run = self.folder / net
                self.ok("train", self.cache, "--out", run, "--recipe", "none", "--init-from", weights, "--net", net, "--seed", SEED,
                        "--batch-size", BATCH, "--micro-batch", BATCH, "--epochs", 4, "--warmup-epochs", 0.5,
                        "--weight-decay", 5e-4, "--log-interval", 1, "--max-steps", STEPS, "--threads", 1,
                        "--augment", "none", "--backend", "reference", "--lr", 0.1, "--recovery-interval", 1,
                        "--checkpoint-hist", STEPS)
                losses = self.metrics(run, "train.loss")
                pixels, labels = batches(self.cache, self.folder, SEED, "none", BATCH, STEPS)
                peer = TorchTrainer(copy.deepcopy(module), config(run), TRAIN, torch.float64)
                for step in range(STEPS):
                    loss, _ = peer.step(pixels[step], labels[step])
                    self.assertLessEqual(abs(losses[step] - loss), 1e-5 * loss)
                    ours, theirs = checkpoint(run, step + 1), peer.tensors()
                    self.assertEqual(set(ours), set(theirs))
                    for name in theirs:
                        self.assertLessEqual(relative(ours[name], theirs[name]), 1e-5, f"{name} after step {step}")
                    peer.take(ours)

    def test_evaluation_is_pytorchs(self):
        for net in NETS:
            with self.subTest(net=net):
                module, weights = self.start(net)
                predictions = self.folder / "predictions.csv"
                self.ok("eval", weights, self.cache, "--net", net, "--predictions", predictions, "--logits")
                with open(predictions, newline="") as file:
                    rows = list(csv.DictReader(file))
                self.assertEqual(len(rows), TEST)
                ours = torch.tensor([[float(row[f"logit_class-{k:02}"]) for k in range(CLASSES)] for row in rows])
                bytes_of = [(self.shared / "data" / row["name"]).read_bytes()[-SIDE * SIDE * 3:] for row in rows]
                pixels = torch.stack([torch.frombuffer(bytearray(b), dtype=torch.uint8).reshape(SIDE, SIDE, 3)
                                      for b in bytes_of])
                self.ok("train", self.cache, "--out", self.folder / f"{net}-config", "--net", net, "--max-steps", 1,
                        "--batch-size", 4)
                with torch.no_grad():
                    theirs = module.eval()(normalised(pixels, config(self.folder / f"{net}-config")["net"]))
                self.assertLessEqual((ours - theirs).abs().max().item(), 1e-4 * theirs.abs().max().item())


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    unittest.main(verbosity=2)
