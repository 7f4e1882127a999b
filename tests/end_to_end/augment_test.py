"""Augmentation recipes: by name, by their steps, from a configuration file; and contact sheets of their results."""

import json
import unittest

from info_test import read_png
from program import Case, tensors


class Augment(Case):
    SIDE = 32

    def setUp(self):
        super().setUp()
        self.cache = self.folder / "cache"
        root = self.folder / "photos"
        for i in range(12):
            split, label = "train" if i < 8 else "test", ("cat", "dog")[i % 2]
            self.write_ppm(root / split / label / f"{i:02}.ppm", self.random.randbytes(3 * 48 * 40), 40)
        self.ok("ingest", root, "--out", self.cache)

    def recorded(self, name, *options, config=()):
        out = self.folder / name
        said = self.ok(*config, "train", self.cache, "--out", out, "--net", "lenet", "--epochs", 1, "--batch-size", 4,
                       "--json", *options).json()
        return json.loads((out / "config.json").read_text())["data"]["augment"], said["train_loss"]

    def test_runs_record_their_recipe_as_a_text_that_gives_it(self):
        usual, usual_loss = self.recorded("usual")
        self.assertEqual(usual, "cifar")
        self.assertEqual(self.recorded("spelt", "--augment", "crop:padding=4+flip"), ("cifar", usual_loss))
        name, loss = self.recorded("imagenet", "--augment", "imagenet")
        self.assertEqual(name, "imagenet")
        self.assertNotEqual(loss, usual_loss)
        text = "resized_crop:area=0.25..1+flip+rand_augment:magnitude=7+erase:p=0.25,value=9/8/7"
        self.assertEqual(self.recorded("own", "--augment", text), self.recorded("again", "--augment", text))
        self.assertEqual(self.recorded("own", "--augment", text, "--resume", "auto")[0], text)
        self.refused(2, ["augment"], "train", self.cache, "--out", self.folder / "own", "--net", "lenet", "--epochs", 1,
                     "--batch-size", 4, "--resume", "auto", "--augment", "cifar")

    def test_evaluation_cuts_the_centre_with_a_margin(self):
        def trained(name, *options):
            out = self.folder / name
            said = self.ok("train", self.cache, "--out", out, "--net", "lenet", "--epochs", 1, "--batch-size", 4,
                           "--image-size", 28, "--seed", 3, "--json", *options).json()  # fmt: skip
            evaluated = self.ok("eval", out, self.cache, "--json").json()
            self.assertEqual(evaluated["top1"], said["top1"])
            loss = self.metrics(out, "test.loss")[-1]
            return json.loads((out / "config.json").read_text())["data"].get("eval_resize_px"), loss

        self.assertEqual(trained("cifar")[0], None)  # training sees the whole picture as well
        margin, loss = trained("imagenet", "--augment", "imagenet")
        self.assertEqual(margin, 32)
        none, other = trained("none", "--augment", "imagenet", "--eval-resize", 0)
        self.assertEqual(none, None)
        self.assertNotEqual(loss, other)
        self.assertEqual(trained("said", "--augment", "imagenet", "--eval-resize", 32), (32, loss))
        self.refused(2, ["--eval-resize 20", "28"], "train", self.cache, "--out", self.folder / "small", "--net",
                     "lenet", "--image-size", 28, "--eval-resize", 20)  # fmt: skip

    def test_a_configuration_file_composes_a_recipe(self):
        config = self.folder / "job.toml"
        config.write_text('[augment]  # comment\nresized_crop = true\nflip = "p=0.25"  # comment\ncutout = false\n\n'
                          '[augment.jitter]\n[augment.erase]\np = 0.5\narea = [0.02, 0.25]\nvalue = [1, 2, 3]\n\n'
                          '[train]\nlr = 0.01\n')
        text = "resized_crop+flip:p=0.25+jitter+erase:area=0.02..0.25,value=1/2/3"
        self.assertEqual(self.recorded("table", config=["--config", config])[0], text)
        self.assertEqual(self.recorded("flag", "--augment", "none", config=["--config", config])[0], "none")
        config.write_text('[augment.erase]\np = 1\nvalue = "random"\n')
        self.assertEqual(self.recorded("noise", config=["--config", config])[0], "erase:p=1,value=random")
        config.write_text('[augment.crop]\n[augment.mixup]\nalpha = 0.4\n[augment.cutmix]\n')
        self.assertEqual(self.recorded("mixed", config=["--config", config])[0], "crop+mixup:alpha=0.4+cutmix")
        config.write_text('[augment.flip]\n[train]\naugment = "crop+flip"\n')
        self.assertEqual(self.recorded("both", config=["--config", config])[0], "cifar")
        config.write_text("[augment.flip]\nq = 1\n")
        self.refused(2, ["'q' of flip", "it has p"], "--config", config, "train", self.cache, "--out", self.folder / "no")
        config.write_text("[augment.flip.deeper]\np = 1\n")
        self.refused(2, ["augment.flip.deeper"], "--config", config, "train", self.cache, "--out", self.folder / "no")

    def test_mixed_batches_are_the_same_on_any_ranks_and_after_a_resume(self):
        # 8 samples: steps of 6 cross the ends of epochs.
        command = ["train", self.cache, "--net", "lenet", "--batch-size", 6, "--micro-batch", 1, "--epochs", 6, "--lr", 0.05,
                   "--label-smoothing", 0.1, "--reproducible", "--lane-threads", 1, "--log-interval", 1, "--resume", "auto",
                   "--augment", "resized_crop+flip+mixup:p=0.75,alpha=1+cutmix:p=0.75", "--out"]

        def weights(name):
            return tensors(self.folder / name / "checkpoints" / "latest" / "model.safetensors")

        def losses(name):
            return self.metrics(self.folder / name, "train.loss")

        self.ok(*command, self.folder / "one")
        self.ok(*command, self.folder / "resumed", "--max-steps", 3)
        for name, ranks in (("two", 2), ("three", 3), ("resumed", 4)):
            self.ok(*command, self.folder / name, ranks=ranks)
            self.assertEqual(weights(name), weights("one"), name)
            self.assertEqual(losses(name), losses("one"), name)
        self.ok(*command, self.folder / "threads", "--threads", 2)
        self.assertEqual(weights("threads"), weights("one"))
        census = json.loads((self.folder / "three" / "census.json").read_text())["epochs"]
        self.assertEqual([(row["samples"], row["complete"]) for row in census], [(8, True)] * 6)
        self.refused(2, ["augment"], *command[:-3], "--augment", "resized_crop+flip", "--out", self.folder / "one")

    def test_variants_are_made_by_a_composed_recipe(self):
        root, cache = self.folder / "photos", self.folder / "variants"
        self.ok("ingest", root, "--out", cache, "--augment", "resized_crop+trivial_augment", "--copies", 3,
                "--image-size", 16)
        stored = self.ok("info", cache, "--json").json()["manifest"]["settings"]["augment"]
        self.assertEqual(stored["recipe"], "resized_crop+trivial_augment")
        self.assertIn("resized_crop+trivial_augment", self.ok("info", cache).out)
        self.refused(2, ["mixup and cutmix", "winnow train --augment"], "ingest", root, "--out", self.folder / "no",
                     "--augment", "resized_crop+mixup", "--copies", 3, "--image-size", 16)
        self.ok("verify", cache)

    def test_a_sheet_shows_a_recipe(self):
        sheet = self.folder / "look.png"
        self.ok("info", self.cache, "--sheet", sheet, "--augment", "resized_crop+jitter", "--image-size", "30x20",
                "--columns", 5, "--count", 15)
        width, height, rows = read_png(sheet)
        self.assertEqual((width, height), (5 * 136 + 8, 3 * 160 + 8))
        shown = [b"".join(bytes(p) for y in (40, 64, 90) for p in rows[8 + 160 * line + y][8 + 136 * i : 136 + 136 * i])
                 for line in range(3) for i in range(5)]
        self.assertEqual(len(set(shown)), 15)  # all differ
        first = sheet.read_bytes()
        self.ok("info", self.cache, "--sheet", sheet, "--augment", "resized_crop+jitter", "--image-size", "30x20",
                "--columns", 5, "--count", 15, "--seed", 1)
        self.assertEqual(read_png(sheet)[:2], (width, height))
        self.assertNotEqual(sheet.read_bytes(), first)  # other samples
        self.ok("info", self.cache, "--sheet", sheet, "--augment", "none", "--columns", 3, "--count", 3)
        rows = read_png(sheet)[2]
        cells = [[rows[8 + y][8 + 136 * i : 136 + 136 * i] for y in range(128)] for i in range(3)]
        self.assertEqual(cells[1], cells[2])
        # Each picture is mixed with the one before it, the first with the last. Expected values come from the sheet without mixing.
        shown = {}
        for recipe in ("none", "mixup:alpha=5", "cutmix:alpha=5"):
            self.ok("info", self.cache, "--sheet", sheet, "--augment", recipe, "--image-size", 128, "--columns", 3, "--count", 9)
            rows = read_png(sheet)[2]
            shown[recipe] = [[[rows[8 + 160 * line + y][8 + 136 * i : 136 + 136 * i] for y in range(128)] for i in range(3)]
                             for line in range(3)]
        for line in range(3):
            own, other = shown["none"][line][1], shown["none"][line - 1][1]
            self.assertEqual(shown["mixup:alpha=5"][line][0], shown["none"][line][0])  # unchanged
            for epoch in (1, 2):
                mixed, cut = (shown[recipe][line][epoch] for recipe in ("mixup:alpha=5", "cutmix:alpha=5"))
                levels = [(a, b, m) for y in range(128) for x in range(128) for a, b, m in zip(own[y][x], other[y][x], mixed[y][x])]
                share = sum((m - b) * (a - b) for a, b, m in levels) / sum((a - b) ** 2 for a, b, m in levels)
                self.assertTrue(0.02 < share < 0.98)
                self.assertLess(max(abs(share * a + (1 - share) * b - m) for a, b, m in levels), 1)
                taken = sum(cut[y][x] == other[y][x] != own[y][x] for y in range(128) for x in range(128))
                kept = sum(cut[y][x] == own[y][x] for y in range(128) for x in range(128))
                self.assertEqual(taken + kept, 128 * 128)
                self.assertTrue(taken > 0 and kept > 0)
        self.refused(2, ["magic"], "info", self.cache, "--sheet", sheet, "--augment", "magic")
        self.refused(2, ["--sheet"], "info", self.cache, "--augment", "cifar")
        self.refused(2, ["--image-size"], "info", self.cache, "--sheet", sheet, "--augment", "cifar", "--image-size", "big")


if __name__ == "__main__":
    unittest.main()
