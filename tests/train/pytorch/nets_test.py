"""Nets equal torchvision's, or the modules of other_nets.py: names, shapes, logits and a training step.

Arguments are names of nets; without any, all are tested. Exits with 77 if Python has no torch; nets of torchvision are
skipped if it is missing.
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
try:
    import torchvision
except ImportError:
    torchvision = None

import dropout_masks
import other_nets
import safetensors_io
from peers import (TorchTrainer, checkpoint, config, dumped_batches, learnable_images, normalised,
                   program)

CLASSES, TRAIN, TEST, BATCH, SEED = 4, 16, 8, 4, 7

# name: (side of images, module; None: torchvision's of that name)
NETS = {
    "resnet32": (16, lambda: other_nets.SmallResNet(5, CLASSES)),
    "resnet56": (16, lambda: other_nets.SmallResNet(9, CLASSES)),
    "resnet110": (16, lambda: other_nets.SmallResNet(18, CLASSES)),
    "wrn16_4": (16, lambda: other_nets.WideResNet(16, 4, CLASSES)),
    "resnet9": (16, lambda: other_nets.ResNet9(CLASSES)),
    "airbench94": (32, lambda: other_nets.Airbench(CLASSES)),
    "resnet50v2": (32, lambda: other_nets.ResNet50v2(CLASSES)),
    "alexnet_bn": (64, lambda: other_nets.AlexNetBn(CLASSES)),
    "alexnet_lrn": (64, lambda: other_nets.AlexNetLrn(CLASSES)),
    "resnet101": (32, None),
    "resnext50_32x4d": (32, None),
    "wide_resnet50_2": (32, None),
    "vgg11_bn": (32, None),
    "alexnet": (64, None),
    "googlenet_bn": (32, None),
    "densenet121": (32, None),
    "mobilenet_v2": (32, None),
    "mobilenet_v3_large": (32, None),
    "mobilenet_v3_small": (32, None),
    "efficientnet_b0": (32, None),
    "regnet_y_400mf": (32, None),
    "convnext_tiny": (32, None),
    "vit_b_16": (32, lambda: vision_transformer(32, 16, 768, 12)),
    "vit_tiny_patch4_32": (32, lambda: vision_transformer(32, 4, 192, 3)),
}


def vision_transformer(side, patch, width, heads):
    return torchvision.models.VisionTransformer(image_size=side, patch_size=patch, num_layers=12, num_heads=heads,
                                                hidden_dim=width, mlp_dim=4 * width, num_classes=CLASSES)


def torchvision_net(name):
    if name == "googlenet_bn":
        return torchvision.models.googlenet(weights=None, num_classes=CLASSES, aux_logits=False, init_weights=True)
    module = getattr(torchvision.models, name)(weights=None, num_classes=CLASSES)
    if name in ("alexnet", "vgg11_bn"):  # for small images winnow's nets keep the feature map as it is
        first = 1 if name == "alexnet" else 0
        module.avgpool = torch.nn.Identity()
        module.classifier[first] = torch.nn.Linear(256 if name == "alexnet" else 512, 4096)
    return module


def unlike_the_start(module):
    """Sets statistics and scales as training would leave them, so that a mixed-up pair shows."""
    with torch.no_grad():
        for name, tensor in module.state_dict().items():
            if name.endswith("running_var"):
                tensor.uniform_(0.5, 1.5)
            elif name.endswith("running_mean"):
                tensor.normal_(0, 0.1)
            elif name.endswith("layer_scale"):
                tensor.uniform_(0.2, 0.4)
            elif name == "class_token" or name.startswith("heads.head"):
                tensor.normal_(0, 0.05)  # zeros initially
        for child in module.modules():
            if isinstance(child, (torch.nn.BatchNorm2d, torch.nn.LayerNorm)):
                child.weight.uniform_(0.8, 1.2)
                child.bias.normal_(0, 0.1)
            if isinstance(child, torch.nn.BatchNorm2d) and not isinstance(module, other_nets.Airbench):
                child.momentum = 0.1  # winnow's value for all other nets


class Nets(program.Case):
    chosen = list(NETS)

    @classmethod
    def setUpClass(cls):
        cls.shared = cls.enterClassContext(program.tempfile.TemporaryDirectory(prefix="winnow-test-"))
        cls.shared = program.pathlib.Path(cls.shared)
        for side in {NETS[name][0] for name in cls.chosen}:
            folder = cls.shared / str(side)
            learnable_images(folder / "data", seed=1, classes=CLASSES, side=side, train=TRAIN, test=TEST)
            done = program.run("ingest", folder / "data", "--out", folder / "cache")
            assert done.code == 0, done.err

    def start(self, name):
        """Returns (module, file of its weights, folder with data and cache)."""
        side, make = NETS[name]
        if (make is None or name.startswith("vit_")) and torchvision is None:
            self.skipTest("this Python has no package torchvision")
        torch.manual_seed(1)
        module = make() if make else torchvision_net(name)
        unlike_the_start(module)
        weights = self.folder / f"{name}.safetensors"
        safetensors_io.write(weights, module.state_dict())
        return module, weights, self.shared / str(side)

    def near(self, ours, theirs, what, limit):
        self.assertEqual(ours.shape, theirs.shape, what)
        distance = (ours.double() - theirs.double()).norm().item()
        self.assertLessEqual(distance, limit * theirs.norm().item() + 1e-8, what)

    def test_evaluation_is_pytorchs(self):
        for name in self.chosen:
            with self.subTest(net=name):
                self.check_evaluation(name)

    def check_evaluation(self, name):
        module, weights, data = self.start(name)
        predictions = self.folder / "predictions.csv"
        self.ok("eval", weights, data / "cache", "--net", name, "--predictions", predictions, "--logits")
        with open(predictions, newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), TEST)
        ours = torch.tensor([[float(row[f"logit_class-{k:02}"]) for k in range(CLASSES)] for row in rows])
        pixels = self.pixels(data, [row["name"] for row in rows])
        with torch.no_grad():
            theirs = module.eval().double()(normalised(pixels, self.net_of(data / "cache"), torch.float64))
        self.near(ours, theirs, "logits", 1e-4)

    def test_features_are_pytorchs(self):
        """Features are what the last fully connected layer reads, for the images of all splits."""
        for name in self.chosen:
            with self.subTest(net=name):
                self.check_features(name)

    def check_features(self, name):
        module, weights, data = self.start(name)
        cache = self.folder / f"cache-of-{name}"
        program.shutil.copytree(data / "cache", cache)
        self.ok("embed", weights, cache, "--net", name)
        found = program.columns(cache / "features" / "default.features")
        ours = torch.frombuffer(bytearray(b"".join(found["f16"])), dtype=torch.float16).double()
        scales = torch.frombuffer(bytearray(b"".join(found["scales"])), dtype=torch.float32).double()
        ours = ours.reshape(len(scales), -1) * scales[:, None]
        self.assertEqual(len(ours), TRAIN + TEST)
        names = [json.loads(line)["name"] for line in (cache / "ledger.jsonl").read_text().splitlines()]
        read = []
        last = [layer for layer in module.modules() if isinstance(layer, torch.nn.Linear)][-1]
        last.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0].flatten(1)))
        with torch.no_grad():
            module.eval().double()(normalised(self.pixels(data, names), self.net_of(cache), torch.float64))
        theirs = read[-1] / (9 if name == "airbench94" else 1)  # a factor before the layer in winnow, behind it in PyTorch
        distance = ((ours - theirs).abs().amax(1) / theirs.abs().amax(1)).max().item()
        self.assertLessEqual(distance, 1e-3, name)

    def pixels(self, data, names):
        """Pixels of images by name, u8 (N, side, side, 3)."""
        side = int(data.name)
        return torch.stack([torch.frombuffer(bytearray((data / "data" / name).read_bytes()[-side * side * 3:]),
                                             dtype=torch.uint8).reshape(side, side, 3) for name in names])

    def net_of(self, cache):
        """The facts in config.json about the net and its images."""
        run = self.folder / "config"
        self.ok("train", cache, "--out", run, "--net", "lenet", "--max-steps", 1, "--batch-size", 4)
        net = config(run)["net"]
        program.shutil.rmtree(run)
        return net

    def test_whitening_is_airbenchs(self):
        """Whitening reads all training images, on any number of ranks; a resumed run keeps its filters."""
        if "airbench94" not in self.chosen:
            self.skipTest("of airbench94 alone")
        side = NETS["airbench94"][0]
        folder = self.shared / str(side)
        found = []
        for ranks in (1, 2):
            run = self.folder / f"ranks-{ranks}"
            command = ["train", folder / "cache", "--out", run, "--net", "airbench94", "--seed", SEED, "--batch-size", BATCH,
                       "--micro-batch", BATCH // 2, "--epochs", 4]
            self.ok(*command, "--max-steps", 1, ranks=ranks)
            found.append(checkpoint(run)["0.weight"])
            self.ok(*command, "--max-steps", 2, "--resume", "auto", ranks=ranks)
            self.assertTrue(torch.equal(checkpoint(run)["0.weight"], found[-1]))
        self.assertTrue(torch.equal(*found))
        pixels = [torch.frombuffer(bytearray(path.read_bytes()[-side * side * 3:]), dtype=torch.uint8).reshape(side, side, 3)
                  for path in sorted((folder / "data" / "train").rglob("*.ppm"))]
        self.assertEqual(len(pixels), TRAIN)
        images = normalised(torch.stack(pixels), config(run)["net"], torch.float64)
        patches = images.unfold(2, 2, 1).unfold(3, 2, 1).permute(0, 2, 3, 1, 4, 5).reshape(-1, 12)
        values, vectors = torch.linalg.eigh(patches.T @ patches / len(patches))
        theirs = (vectors / torch.sqrt(values + 5e-4)).T.flip(0)
        ours = found[0].reshape(24, 12).double()
        theirs = theirs * torch.sign((theirs * ours[:12]).sum(1, keepdim=True))
        self.near(ours, torch.cat([theirs, -theirs]), "filters", 1e-5)

    def test_a_step_is_pytorchs(self):
        """Both sides compute in float64. The weights have PyTorch's names, and dropout drops the same elements."""
        for name in self.chosen:
            with self.subTest(net=name):
                self.check_step(name)

    def check_step(self, name):
        module, weights, data = self.start(name)
        run = self.folder / name
        self.ok("train", data / "cache", "--out", run, "--recipe", "none", "--init-from", weights, "--net", name, "--seed", SEED,
                "--batch-size", BATCH, "--micro-batch", BATCH, "--epochs", 4, "--warmup-epochs", 0.5, "--weight-decay",
                5e-4, "--log-interval", 1, "--max-steps", 1, "--threads", 1, "--augment", "none", "--backend",
                "reference", "--lr", 0.1)
        batch = dumped_batches(data / "cache", self.folder, SEED, "none", BATCH, 1)
        masks = dropout_masks.Masks()
        masks.put_into(module)
        masks.begin(SEED, 0, batch["ids"][0])
        peer = TorchTrainer(copy.deepcopy(module), config(run), TRAIN, torch.float64)
        loss, _ = peer.step(batch["pixels"][0], batch["labels"][0])
        self.assertLessEqual(abs(self.metrics(run, "train.loss")[0] - loss), 1e-5 * loss)
        ours, theirs = checkpoint(run), peer.tensors()
        self.assertEqual(set(ours), set(theirs))
        for tensor in theirs:
            self.near(ours[tensor], theirs[tensor], tensor, 1e-5)
        program.shutil.rmtree(run)


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    names = [argument for argument in sys.argv[1:] if argument in NETS]
    Nets.chosen = names or Nets.chosen
    unittest.main(verbosity=2, argv=[sys.argv[0], *(a for a in sys.argv[1:] if a not in names)])
