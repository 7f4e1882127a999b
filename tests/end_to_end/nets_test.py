"""Nets: listed with their cost, and able to learn eight images by heart.

Without arguments, one net of each kind that takes seconds is trained with one optimizer, with WINNOW_TEST_ALL=1 with
both. Otherwise the nets named by arguments are trained. All of them take a quarter of an hour.
A net has learned once its loss is about a third of that of chance; if it begins far above chance, of that of its first
twenty steps.
So few steps are not enough for alexnet and alexnet_lrn, which have no batch norms, nor for resnet152 with SGD.
"""

import itertools
import math
import operator
import re
import sys
import unittest

from program import Case, run, some_of

CLASSES = 4
SIDES = {"alexnet": 64, "alexnet_bn": 64, "alexnet_lrn": 64}  # others: 32
SMALL = ("resnet110", "wrn28_10", "resnet9", "vit_tiny_patch4_32")  # large for such images, which may be smaller
SLOWLY = {"efficientnet_b0": 0.002, "resnet34": 0.002, "resnet50": 0.002, "resnet110": 0.002, "resnet101": 5e-4, "resnet152": 5e-4,
          "wide_resnet50_2": 5e-4}  # fmt: skip
RATES = {"sgd": {"convnext_tiny": 0.05, "vit_tiny_patch4_32": 0.01, "vit_b_16": 0.01, **SLOWLY},
         "adamw": {"vit_tiny_patch4_32": 5e-4, "vit_b_16": 1e-4}}
BEGIN_HIGH = ("efficientnet_b0",)  # their loss begins near 8: a last layer for few classes has large weights
QUICK = ("lenet", "resnet20", "resnet18", "wrn16_4", "resnet9", "vgg11_bn", "mobilenet_v3_small", "regnet_y_400mf",
         "vit_tiny_patch4_32", "airbench94")
COPIES, EPOCHS = 40, 2  # few epochs, because each ends with a checkpoint


def listed():
    rows = re.search(r"^Nets:\n((?:  \w.*\n)+)", run("train", "--help-all").out, re.MULTILINE)
    return re.findall(r"^  (\w+)", rows[1], re.MULTILINE)


class Nets(Case):
    chosen = ()

    def test_list(self):
        lines = self.ok("train", "--net", "?").out.splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["net", *listed()])
        by_name = {line.split()[0]: line for line in lines}
        self.assertRegex(by_name["resnet20"], r" 32 px +272\.47 k +40\.81 M$")
        self.assertRegex(by_name["resnet50"], r" 224 px +25\.56 M +4\.09 G$")
        self.assertEqual(self.ok("train", "--net=?").out.splitlines(), lines)

    def cache(self, side):
        """Eight smooth images, two of each class, each many times."""
        cache = self.folder / f"cache-{side}"
        if not cache.exists():
            for i in range(2 * CLASSES):
                pixels = self.image(side)
                for copy in range(COPIES):
                    name = f"{i}-{copy}.ppm"
                    self.write_ppm(self.folder / f"data-{side}" / "train" / f"class-{i % CLASSES}" / name, pixels, side)
            self.ok("ingest", self.folder / f"data-{side}", "--out", cache)
        return cache

    def test_overfits(self):
        pairs = list(itertools.product(self.chosen or QUICK, (("sgd", 0.02), ("adamw", 1e-3))))
        if not self.chosen:
            pairs = some_of("nets and optimizers", pairs, len(QUICK), operator.itemgetter(0), operator.itemgetter(1))
        for net, (optimizer, rate) in pairs:
            side = SIDES.get(net, 16 if net in SMALL else 32)
            with self.subTest(net=net, optimizer=optimizer):
                out = self.folder / f"{net}-{optimizer}"
                self.ok("train", self.cache(side), "--out", out, "--net", net, "--optimizer", optimizer, "--lr",
                        RATES[optimizer].get(net, rate), "--batch-size", 8, "--micro-batch", 8, "--epochs", EPOCHS,
                        "--warmup-epochs", 0.2, "--augment", "none", "--weight-decay", 0, "--label-smoothing", 0,
                        "--log-interval", 1)
                losses = self.metrics(out, "train.loss")
                best = min(sum(losses[i : i + 4]) / 4 for i in range(len(losses) - 3))  # with dropout, losses jump
                begin = sum(losses[:20]) / 20 if net in BEGIN_HIGH else math.log(CLASSES)
                self.assertLess(best, 0.35 * begin, losses)


if __name__ == "__main__":
    Nets.chosen = [argument for argument in sys.argv[1:] if argument in listed()]
    unittest.main(argv=[sys.argv[0], *(a for a in sys.argv[1:] if a not in Nets.chosen)])
