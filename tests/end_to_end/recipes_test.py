"""Recipes of training: --recipe and --show of winnow train."""

import json
import re
import shlex
import subprocess
import unittest

from golden import GOLDEN
from program import Case, some_of

CACHE = GOLDEN / "v1" / "raw"


class Recipes(Case):
    def shown(self, *flags, **more):
        """The flags of the command shown, with their values."""
        said = self.ok("train", *flags, "--show", **more)
        words = shlex.split(said.out.replace("\\\n", " "), comments=True)
        self.assertEqual(words[:2], ["winnow", "train"])
        flags, name = {}, None
        for word in words[2:]:
            if word.startswith("--"):
                name = word
                flags[name] = []
            elif name:
                flags[name].append(word)
        return flags

    def names(self):
        said = self.ok("train", "--help-all").out
        rows = re.search(r"^Recipes of training:\n((?:  \S.*\n)+)", said, re.MULTILINE)
        return re.findall(r"^  (\S+)", rows[1], re.MULTILINE)

    def test_every_recipe_is_a_command_that_runs(self):
        self.assertIn("he-cifar", self.names())
        for name in self.names():
            with self.subTest(name):
                flags = self.shown("--recipe", name)
                self.assertEqual(flags["--out"], ["RUN"])
                out = self.folder / name
                # Every flag is parsed and checked. The small cache and net replace what does not apply to them.
                small = {"--net": ["lenet"], "--image-size": ["16"], "--batch-size": ["6"], "--micro-batch": ["2"],
                         "--epochs": ["1"], "--max-steps": ["1"], "--out": [str(out)], "--augment": ["crop"]}
                small = {flag: value for flag, value in small.items() if flag != "--net" or "--net" in flags}
                if "--lr-scale" in flags:  # names of the net's own parameters
                    del small["--net"]
                words = [word for flag, values in {**flags, **small}.items() for word in (flag, *values)]
                self.ok("train", CACHE, *words)
                self.assertTrue((out / "config.json").exists())

    def test_a_flag_stands_before_the_recipe_wherever_it_is(self):
        own = self.shown("--recipe", "he-cifar")
        self.assertEqual((own["--lr"], own["--milestones"]), (["0.1"], ["82", "123"]))
        self.assertIn("--no-nesterov", own)
        for flags in (["--lr", 0.5, "--nesterov", "--recipe", "he-cifar"], ["--recipe", "he-cifar", "--lr", 0.5, "--nesterov"]):
            given = self.shown(*flags)
            self.assertEqual(given["--lr"], ["0.5"])
            self.assertIn("--nesterov", given)
            self.assertNotIn("--no-nesterov", given)
            self.assertEqual(given["--milestones"], own["--milestones"])
        self.assertEqual(self.shown("--recipe", "he-cifar", env={"WINNOW_TRAIN_LR": "0.25"})["--lr"], ["0.25"])

    def test_another_optimizer_or_schedule_leaves_their_options_out(self):
        flags = self.shown("--recipe", "he-cifar", "--optimizer", "adamw", "--sched", "cosine", "--lr", 0.001)
        self.assertEqual((flags["--optimizer"], flags["--weight-decay"], flags["--epochs"]), (["adamw"], ["0.0001"], ["164"]))
        for flag in ("--momentum", "--nesterov", "--no-nesterov", "--milestones"):
            self.assertNotIn(flag, flags)
        self.refused(2, ["luck", "adamw"], "train", "--recipe", "he-cifar", "--optimizer", "luck", "--show")

    def test_milestones_and_ramps_keep_their_share(self):
        half = self.shown("--recipe", "he-cifar", "--epochs", 82)
        self.assertEqual(half["--milestones"], ["41", "61.5"])
        self.assertEqual(half["--epochs"], ["82"])
        self.assertEqual(self.shown("--recipe", "torchvision", "--epochs", 60)["--warmup-epochs"], ["0.5"])

    def test_tables_of_batches(self):
        def of(batch):
            flags = self.shown("--recipe", "mlperf-resnet50", "--batch-size", batch)
            return [float(flags[flag][0]) for flag in ("--batch-size", "--lr", "--warmup-epochs", "--epochs")]
        self.assertEqual(of(4096), [4096, 10, 5, 42])
        self.assertEqual(of(6144), [6144, 13.5, 5, 40.5])
        self.assertEqual(of(816), [816, 3.7, 2, 35])
        self.assertEqual(of(67840), [67840, 24.7, 31, 60])
        airbench = self.shown("--recipe", "airbench94", "--batch-size", 512)
        self.assertEqual((airbench["--lr-end"], airbench["--lr-scale"]), (["0.0525"], ["*.norm?.bias=64"]))
        self.assertNotIn("--lr-scale", self.shown("--recipe", "airbench94", "--net", "resnet20"))
        self.assertNotIn("--lr-end", self.shown("--recipe", "airbench94", "--sched", "constant"))
        self.assertIn("--lr-end", self.shown("--recipe", "airbench94", "--sched", "constant", "--cooldown-epochs", 1))

    def test_what_is_run_is_what_is_shown(self):
        out = self.folder / "run"
        self.ok("train", CACHE, "--out", out, "--recipe", "he-cifar", "--batch-size", 6, "--micro-batch", 2,
                "--max-steps", 1, "--image-size", 16)
        config = json.loads((out / "config.json").read_text())
        recipe = config["recipe"]
        self.assertEqual((config["net"]["name"], recipe["milestones"], recipe["epochs"]), ("resnet20", [82, 123], 164))
        self.assertEqual((recipe["nesterov"], recipe["lr"], config["no_decay"]), (False, 0.0046875, []))

    def test_without_a_recipe_it_is_the_nets_own(self):
        own = {"lenet": "caffe-lenet", "resnet20": "small-images", "wrn16_4": "small-images", "resnet50": "goyal-imagenet",
               "alexnet": "krizhevsky-alexnet", "alexnet_lrn": "krizhevsky-alexnet", "convnext_tiny": "liu-convnext",
               "vit_b_16": "liu-convnext", "vit_tiny_patch4_32": "liu-convnext",
               "airbench94": "airbench94"}
        for net, recipe in own.items():
            named = self.shown("--net", net, "--recipe", recipe, "--batch-size", 128, "--epochs", 10)
            given = self.shown("--net", net)
            for flag in ("--batch-size", "--epochs"):
                self.assertNotIn(flag, given)
                del named[flag]
            self.assertEqual(given, named)
        nets = re.findall(r"^(\w+) ", self.ok("train", "--net", "?").out, re.MULTILINE)[1:]
        for net in some_of("nets whose own recipe is shown", nets, 8):
            self.assertIn("--lr", self.shown("--net", net), net)
        small = self.folder / "small.toml"
        for side, lr in ((32, "0.1"), (64, "0.05")):
            small.write_text(f'image_size = {side}\nhead = [{{block = "linear"}}]\n')
            self.assertEqual(self.shown("--net", small)["--lr"], [lr])
        self.assertEqual(self.shown("--init-from", "weights.safetensors")["--milestones"], ["3", "6", "9"])
        self.assertEqual(self.shown("--recipe", "none", "--seed", 3), {"--out": ["RUN"], "--recipe": ["none"], "--seed": ["3"]})

    def test_the_own_recipe_follows_the_size_of_the_images(self):
        small, large = "0.1", "0.05"  # for small-images and goyal-imagenet, with a batch of 128
        net = self.folder / "net.toml"
        net.write_text('head = [{block = "linear"}]\n')
        for lr, *flags in ((large, "--net", net), (small, "--net", net, "--image-size", 32), (small, CACHE, "--net", net),
                           (large, CACHE, "--net", net, "--image-size", 64), (small, CACHE, "--net", "resnet50"),
                           (large, "--net", "resnet20", "--image-size", 224), (large, self.folder, "--net", net)):  # fmt: skip
            self.assertEqual(self.shown(*flags)["--lr"], [lr], flags)
        said = self.ok("train", CACHE, "--out", self.folder / "run", "--net", net, "--batch-size", 6, "--max-steps", 1)
        self.assertIn("recipe small-images", said.err)

    def test_the_own_recipe_follows_batch_and_epochs_and_gives_way(self):
        flags = self.shown("--net", "resnet50", "--batch-size", 1024, "--epochs", 45)
        self.assertEqual((flags["--lr"], flags["--warmup-epochs"]), (["0.4"], ["2.5"]))
        self.assertEqual(self.shown("--net", "convnext_tiny", "--batch-size", 1024)["--lr"], ["0.002"])
        flags = self.shown("--lr", 0.3, "--sched", "cosine")
        self.assertEqual((flags["--lr"], flags["--sched"], flags["--weight-decay"]), (["0.3"], ["cosine"], ["0.0005"]))
        self.assertNotIn("--power", flags)
        self.assertEqual(self.shown("--optimizer", "lamb"), {"--out": ["RUN"], "--recipe": ["none"], "--optimizer": ["lamb"]})
        self.assertNotIn("--sched", self.shown(env={"WINNOW_TRAIN_RECIPE": "none"}))
        self.refused(2, ["--epochs"], "train", CACHE, "--out", "run", "--epochs", "nan")
        self.refused(2, ["--batch-size"], "train", CACHE, "--out", "run", "--batch-size", -1)

    def test_a_run_says_its_recipe(self):
        small = ["--net", "lenet", "--image-size", 16, "--batch-size", 6, "--micro-batch", 2, "--max-steps", 1]

        def run(out, *flags):
            said = self.ok("train", CACHE, "--out", self.folder / out, *small, *flags).err
            return said, json.loads((self.folder / out / "config.json").read_text())["recipe"]

        said, recipe = run("own")
        self.assertIn("recipe caffe-lenet, this net's, for batches of 6, 10 epochs", said)
        self.assertEqual((recipe["lr"], recipe["weight_decay"]), (0.0009375, 5e-4))
        said, recipe = run("none", "--recipe", "none")
        self.assertNotIn("recipe", said)
        self.assertEqual((recipe["lr"], recipe["weight_decay"], recipe["warmup_epochs"], recipe["decay"]), (0.1, 1e-4, 1, "cosine"))
        said, recipe = run("other", "--optimizer", "lion")
        self.assertIn("recipe: the plain defaults with lion; caffe-lenet, which goes with this net, is for sgd", said)
        self.assertEqual(recipe["lr"], 0.1)
        said, recipe = run("named", "--recipe", "finetune")
        self.assertIn("recipe finetune", said)

    def test_a_run_that_goes_on_keeps_its_recipe(self):
        out = self.folder / "run"
        command = ["train", CACHE, "--out", out, "--net", "lenet", "--image-size", 16, "--batch-size", 6, "--micro-batch", 2]
        self.ok(*command, "--max-steps", 1)
        self.assertEqual(json.loads((out / "config.json").read_text())["own_recipe"], "caffe-lenet")
        self.ok(*command, "--max-steps", 2, "--resume", "auto")
        self.refused(2, ["recipe.lr"], *command, "--recipe", "none", "--resume", "auto")
        self.ok(*command, "--max-steps", 3, "--resume", "auto", "--recipe", "caffe-lenet", "--epochs", 10)
        self.ok(*command, "--max-steps", 4, "--resume", "auto")
        out = command[3] = self.folder / "plain"  # as with older programs
        self.ok(*command, "--max-steps", 1, "--recipe", "none")
        self.assertNotIn("own_recipe", json.loads((out / "config.json").read_text()))
        self.assertNotIn("recipe", self.ok(*command, "--max-steps", 2, "--resume", "auto").err)

    def test_rank_0_decides_for_all(self):
        two = {"ranks": 2, "before": self.rank_folders(2)}
        net = self.folder / "on-0" / "my.toml"
        for out, *recipe in (("own",), ("plain", "--recipe", "none")):
            net.write_text('image_size = 16\nhead = [{block = "linear"}]\n')
            command = ["train", CACHE, "--out", out, "--net", "my.toml", "--batch-size", 6, "--micro-batch", 3]
            said = self.ok(*command, "--max-steps", 1, *recipe, **two).err
            self.assertEqual("recipe small-images" in said, not recipe)
            net.unlink()
            said = self.ok(*command, "--max-steps", 2, "--resume", "auto", **two).err
            self.assertEqual("recipe small-images" in said, not recipe)
            self.assertFalse((self.folder / "on-1" / out).exists())

    def test_a_shell_understands_what_is_shown(self):
        names = ["it's (here)", "$(touch x) `y`", "two  #words~", "*"]
        for name in names:
            said = self.ok("train", name, "--recipe", "he-cifar", "--out", name, "--lr-scale", "fc.*=0.1", "--show")
            script = "winnow() { printf '%s\\0' \"$@\"; }\n" + said.out
            done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=self.folder, check=True)
            words = done.stdout.split("\0")
            self.assertEqual(words[:4], ["train", name, "--out", name])
            self.assertEqual(words[words.index("--lr-scale") + 1], "fc.*=0.1")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_schedule_that_warms_up_leaves_room_for_the_warm_down(self):
        train = ["train", CACHE, "--out", self.folder / "run", "--net", "lenet", "--image-size", 16, "--batch-size", 6,
                 "--micro-batch", 2, "--epochs", 1, "--max-steps", 1, "--cooldown-epochs", 0.5]
        self.refused(2, ["--cooldown-epochs"], *train, "--sched", "cosine", "--warmup-epochs", 0.75)
        self.ok(*train, "--sched", "onecycle")

    def test_bad_use(self):
        self.refused(2, ["soup", "--help-all"], "train", "--recipe", "soup", "--show")
        self.refused(2, ["--net", "letnet"], "train", "--net", "letnet", "--show")


if __name__ == "__main__":
    unittest.main()
