"""Nets described by files: trained, resumed without the file, evaluated, and refused with a sentence."""

import json
import re
import unittest

from golden import GOLDEN, with_digest
from program import ROOT, Case, tensors

CACHE = GOLDEN / "v1" / "raw"  # 24 grey training images of 16 x 16
PAGE = (ROOT / "docs" / "nets.md").read_text()
SMALL = """image_size = 16
stem = [{block = "conv_bn_relu", width = 4}]
stages = [
  {block = "basic", width = 8, depth = 2, stride = 2},
]
head = [{block = "global_avg_pool"}, {block = "dropout", rate = 0.1}, {block = "linear"}]
"""


class NetFiles(Case):
    def setUp(self):
        super().setUp()
        self.net = self.folder / "my.toml"
        self.net.write_text(SMALL)

    def train(self, out, *flags, net=None, **more):
        return self.ok("train", CACHE, "--out", self.folder / out, "--net", net or self.net, "--batch-size", 6, "--micro-batch", 3,
                       "--epochs", 2, "--lr", 0.05, *flags, **more)

    def weights(self, out):
        return tensors(self.folder / out / "checkpoints" / "latest" / "model.safetensors")

    def test_a_run_keeps_its_net(self):
        self.train("whole")
        config = json.loads((self.folder / "whole" / "config.json").read_text())
        self.assertEqual((config["net"]["name"], config["net"]["description"]), ("my", SMALL))
        names = set(self.weights("whole"))
        self.assertIn("stages.0.1.conv2.weight", names)
        self.assertIn("head.2.bias", names)
        changes = {
            "changed": (lambda: self.net.write_text(SMALL.replace("8", "16")), "my.toml has changed since this run began"),
            "gone": (self.net.unlink, "my.toml can no longer be read"),
        }
        for out, (change, said) in changes.items():
            with self.subTest(out):
                self.train(out, "--max-steps", 3)
                change()
                self.assertIn(said, self.train(out, "--resume", "auto").err)
                self.assertEqual(self.weights(out), self.weights("whole"))
                self.net.write_text(SMALL)
        self.assertNotIn("my.toml", self.train("changed", "--resume", "auto").err)
        self.refused(2, ["net.description", "net.name"], "train", CACHE, "--out", self.folder / "whole", "--net", "lenet", "--batch-size", 6,
                     "--micro-batch", 3, "--epochs", 2, "--lr", 0.05, "--resume", "auto")

    def test_two_ranks(self):
        self.train("one", "--reproducible")
        self.train("two", "--reproducible", ranks=2)
        self.assertEqual(self.weights("two"), self.weights("one"))

    def test_evaluation(self):
        trained = self.train("run", "--json").json()
        self.net.rename(self.folder / "other.toml")
        of_run = self.ok("eval", self.folder / "run", CACHE, "--json").json()
        self.assertEqual(of_run["top1"], trained["top1"])
        weights = self.folder / "run" / "checkpoints" / "latest" / "model.safetensors"
        of_file = self.ok("eval", weights, CACHE, "--net", self.folder / "other.toml", "--json").json()
        self.assertEqual((of_file["top1"], of_file["loss"]), (of_run["top1"], of_run["loss"]))
        self.train("more", "--init-from", weights, "--max-steps", 1, net=self.folder / "other.toml")

    def test_examples_of_the_page(self):
        examples = re.findall(r'^```toml title="my.toml"\n(.*?)^```', PAGE, re.DOTALL | re.MULTILINE)
        self.assertGreater(len(examples), 0)
        for i, example in enumerate(examples):
            self.net.write_text(example)
            self.train(f"run-{i}", "--max-steps", 1)

    def test_size_and_cost(self):
        listed = self.ok("train", "--net", "?").out.splitlines()
        for file in sorted((ROOT / "docs" / "nets").glob("*.toml")):
            with self.subTest(file.name):
                said = self.ok("train", "--net", file, "--show").out.splitlines()
                self.assertEqual(said[0], "# " + listed[0])
                self.assertIn(said[1].removeprefix("# "), listed)
        self.refused(2, ["nowhere.toml"], "train", "--net", self.folder / "nowhere.toml", "--show")

    def test_the_page_has_the_blocks_of_the_program(self):
        rows = re.search(r"^Blocks of a net's file.*:\n((?:  \w.*\n)+)", self.ok("train", "--help-all").out, re.MULTILINE)
        blocks = re.findall(r"^  (\w+)", rows[1], re.MULTILINE)
        table = PAGE.partition("## Blocks")[2].partition("## ")[0]
        documented = {}
        for names, keys in re.findall(r"^\| (`.*?) \|.*\| (.*?) ?\|$", table, re.MULTILINE):
            for name in re.findall(r"`(\w+)`", names):
                documented[name] = re.findall(r"`(\w+)`", re.sub(r"\(.*?\)", "", keys))
        self.assertEqual(list(documented), blocks)
        for block, keys in documented.items():
            self.net.write_text(f'head = [{{block = "{block}", bogus = 1}}]')
            said = self.refused(2, [f"my.toml:1: unknown key of {block} 'bogus'"], "train", CACHE, "--out", "run", "--net", self.net)
            known = re.search(r"known are (.*)", said.err)[1].split(", ")
            self.assertEqual(sorted(known), sorted({"block", "name", *keys}), block)

    def test_takes_no_memory_for_a_net_that_the_weights_are_not_of(self):
        self.train("run", "--max-steps", 1)
        config = self.folder / "run" / "config.json"
        forged = json.loads(config.read_text())
        forged["net"]["description"] = SMALL.replace("width = 8", "width = 4096")  # 1.8 GB
        config.write_text(with_digest(forged))
        little = {"before": ["prlimit", f"--data={1 << 30}"]}
        self.refused(1, ["model.safetensors", "stages.0.0.conv1.weight", "has shape"], "eval", self.folder / "run", CACHE, **little)
        self.refused(1, ["stages.0.0.conv1.weight"], "onnx", self.folder / "run", "--to", self.folder / "net.onnx", **little)
        self.assertFalse((self.folder / "net.onnx").exists())

    def test_leaves_nothing_behind_where_memory_is_too_small(self):
        self.net.write_text(SMALL.replace("width = 8", "width = 2000"))  # 8 GB for the outputs of a layer
        command = ["train", CACHE, "--out", self.folder / "run", "--net", self.net]
        self.refused(2, ["needs", "GB"], *command, "--batch-size", 16384, "--micro-batch", 16384)
        self.assertFalse((self.folder / "run").exists())
        self.net.write_text(SMALL)
        self.ok(*command, "--batch-size", 6, "--max-steps", 1)

    def test_mistakes(self):
        self.net.write_text(SMALL.replace("basic", "bassic"))
        command = ["train", CACHE, "--out", self.folder / "run", "--net", self.net]
        self.refused(2, [f"{self.net}:4: unknown block 'bassic'; known are conv,"], *command)
        self.net.write_text(SMALL.replace("stride = 2", "stride = 2, width = 4"))
        self.refused(2, [f"{self.net}:4: not valid TOML: "], *command)
        self.net.write_text(SMALL.replace("global_avg_pool", 'max_pool", kernel = 9, name = "p'))
        self.refused(1, [f"{self.net}:6: max_pool 'p': a kernel of 9 does not fit"], *command)
        wide = '{block = "linear", width = 65536}'
        self.net.write_text(f'head = [{wide}, {wide}, {{block = "linear"}}]')
        self.refused(2, ["head.1.weight", "narrower"], *command)
        self.net.write_bytes(b"\xff\xfe\x00")
        self.refused(2, [f"{self.net}:1: not valid TOML: "], *command)
        self.refused(2, ["nowhere.toml"], "train", CACHE, "--out", self.folder / "run", "--net", self.folder / "nowhere.toml")
        self.refused(2, ["unknown net 'my'"], "train", CACHE, "--out", self.folder / "run", "--net", "my")
        self.assertFalse((self.folder / "run").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
