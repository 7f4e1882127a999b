"""Augmentation at ingest: training images stored in variants, on any threads and ranks, killed or not, and how other verbs treat such a cache."""

import itertools
import json
import shutil
import signal
import unittest

import traces
from faults_test import failpoints, first_and_last, in_parallel, needs_shm, some_faults, tree
from program import SHM, Case, run, tensors

AUGMENT = ["--augment", "cifar", "--copies", 4, "--image-size", "20x16"]


class Variants(Case):
    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        self.source = self.photos("photos", 24)

    def photos(self, name, count, side=40):
        root = self.folder / name
        for i in range(count):
            folder = root / ("train" if i % 3 else "test") / ("cat", "dog")[i % 2]
            self.write_ppm(folder / f"{i:02}.ppm", self.image(side), side)
        (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff nothing")
        return root

    def ingest(self, cache, *more, sources=None, **how):
        sources = sources or [self.source]
        return self.ok("ingest", *sources, "--out", cache, "--json", *AUGMENT, *more, **how)

    def expect_same(self, cache, want, where):
        got = tree(cache)
        self.assertEqual(sorted(got), sorted(want), where)
        for name, content in want.items():
            self.assertTrue(got[name] == content, f"{where}: {name}")

    def whole(self):
        self.ingest(self.folder / "want")
        return tree(self.folder / "want")

    def test_nothing_but_what_is_stored_changes(self):
        said = self.ingest(self.folder / "cache")
        self.assertIn("16 x 20 px, 4 variants of each training image by recipe cifar, seed 0", said.err)
        self.ok("ingest", self.source, "--out", self.folder / "plain")
        new, old = (json.loads((self.folder / name / "manifest.json").read_text()) for name in ("cache", "plain"))
        for field in ("inputs", "ledger", "split_counts", "pixel_sums", "fingerprints_hash", "ledger_hash", "classes",
                      "sources", "statistics", "height_px", "width_px"):  # fmt: skip
            self.assertEqual(new[field], old[field], field)
        self.assertEqual(new["settings"]["augment"],
                         {"recipe": "cifar", "copies": 4, "height_px": 20, "width_px": 16, "seed": 0})
        self.assertEqual(sum(shard["records"] for shard in new["shards"]), 24)
        self.assertIn("4 variants of each training image", self.ok("info", self.folder / "cache").out)
        self.ok("verify", self.folder / "cache")
        decided = [self.ok("dedup", self.folder / name, "--json").json() for name in ("cache", "plain")]
        self.assertEqual(*decided)
        other = self.folder / "other"
        self.ingest(other, "--augment-seed", 1)
        self.assertNotEqual(tree(other)["shards/00000.mdb"], tree(self.folder / "cache")["shards/00000.mdb"])

    def test_ranks_and_threads_change_nothing(self):
        self.source = self.photos("larger", 40, side=200)
        self.ingest(self.folder / "want", "--shard-size", 1)
        want = tree(self.folder / "want")
        self.assertGreater(sum(name.endswith(".mdb") for name in want), 3)
        for ranks, threads in [(0, 1), (0, 4), (2, 1), (3, 2)]:
            where = f"{ranks} ranks, {threads} threads"
            cache = self.folder / f"cache-{ranks}-{threads}"
            self.ingest(cache, "--shard-size", 1, "--threads", threads, ranks=ranks)
            self.expect_same(cache, want, where)

    def test_killed_at_every_point(self):
        place = self.folder / "trace" / "work" / "cache"
        place.parent.mkdir(parents=True)
        command = ["ingest", self.source, *AUGMENT, "--threads", 1, "--readers", 1, "--out"]
        path = self.folder / "points"
        self.ok(*command, place, env={"WINNOW_FAILPOINTS": f"trace={path}"})
        want = tree(place)
        prefix = str(place.parent.parent) + "/"
        points = first_and_last([(point, file.removeprefix(prefix)) for point, file in traces.read(path)])
        self.assertGreater(len(points), 30)
        numbers = itertools.count()

        def kill(point, file, k):
            where = f"killed at {point} {file}, time {k}"
            cache = self.folder / f"kill-{next(numbers)}" / "work" / "cache"
            cache.parent.mkdir(parents=True)
            ended = run(*command, cache, env=failpoints("kill", point, file, k))
            self.assertEqual(ended.code, -signal.SIGKILL, f"{where}: {ended.err}")
            if not (cache / "manifest.json").exists() or (cache / "unfinished").exists():
                self.ok(*command, cache)
            self.expect_same(cache, want, where)
            shutil.rmtree(cache.parent.parent)

        in_parallel(kill, some_faults("points of an ingest with variants, killed at", points, 20))

    def test_what_is_added_later_is_as_all_at_once(self):
        two = self.photos("two", 9)
        self.ingest(self.folder / "both", sources=[self.source, two])
        want = tree(self.folder / "both")
        cache = self.folder / "cache"
        self.ingest(cache)
        before = tree(cache)
        for other in (["--copies", 3], ["--image-size", 20], ["--augment-seed", 7]):
            flags = dict(zip(AUGMENT[::2], AUGMENT[1::2]))
            flags |= dict(zip(other[::2], other[1::2]))
            given = list(itertools.chain(*flags.items()))
            self.refused(2, ["made with other settings"], "ingest", two, "--into", cache, *given)
        self.refused(2, ["leave out --resize"], "ingest", two, "--into", cache, "--resize", 9)
        self.ok("ingest", self.source, "--out", self.folder / "plain")
        self.refused(2, ["made with other settings"], "ingest", two, "--into", self.folder / "plain", *AUGMENT)
        self.expect_same(cache, before, "refused")
        self.ok("ingest", two, "--into", cache)  # in the way it was made
        self.expect_same(cache, want, "added")
        again = self.folder / "again"
        self.ingest(again)
        self.ok("ingest", two, "--into", again, *AUGMENT)
        self.expect_same(again, want, "added with the flags")

    def test_compacted_and_without_duplicates(self):
        photo = self.source / "train" / "dog" / "01.ppm"
        shutil.copy(photo, photo.with_name("copy.ppm"))
        cache = self.folder / "cache"
        self.ingest(cache)
        self.ok("dedup", cache, "--hash", "exact", "--name", "exact")
        small = self.folder / "small"
        self.assertEqual(self.ok("compact", cache, "--selection", "exact", "--out", small, "--json").json()["removed"], 1)
        self.ok("verify", small)
        dropped = self.folder / "dropped"
        self.ingest(dropped, "--drop", "--drop-hash", "exact")
        self.ok("verify", dropped)
        exported = []
        for name in ("small", "dropped"):
            said = self.ok("export", self.folder / name, "--to", self.folder / f"{name}-photos")
            self.assertIn("the first variant is exported", said.err)
            exported.append(tree(self.folder / f"{name}-photos"))
        self.assertEqual(*exported)
        self.assertEqual(len(exported[0]), 24)
        self.assertEqual({name.split("/")[0] for name in exported[0]}, {"train", "test"})
        self.ok("info", cache, "--sheet", self.folder / "sheet.png")
        said = self.ok("export", cache, "--to", self.folder / "list.csv", "--as", "list")
        self.assertNotIn("the first variant is exported", said.err)
        self.refused(2, ["has pixels"], "export", cache, "--to", self.folder / "links", "--link", "hard", "--source",
                     self.source)  # fmt: skip

    # An exported variant is one of those that the next ingest makes from its picture.
    def test_what_is_exported_is_read_again(self):
        self.ingest(self.folder / "cache")
        self.ok("export", self.folder / "cache", "--to", self.folder / "photos again")
        self.ok("ingest", self.folder / "photos again", "--out", self.folder / "again")
        manifest = self.ok("info", self.folder / "again", "--json").json()["manifest"]
        self.assertEqual((manifest["height_px"], manifest["width_px"], manifest["ledger"]["ok"]), (20, 16, 24))

    def test_an_estimate_counts_them(self):
        cache = self.folder / "cache"
        few = self.ok("ingest", self.source, "--out", cache, "--estimate", "--json").json()
        self.ingest(cache)
        many = self.ok("ingest", self.source, "--out", self.folder / "no", *AUGMENT, "--estimate", "--json").json()
        size = sum(len(content) for name, content in tree(cache).items() if name != "manifest.json")
        self.assertEqual(many["cache_bytes"], size)
        self.assertNotEqual(few["cache_bytes"], size)

    @needs_shm
    def test_in_memory(self):
        want = self.whole()
        cache = self.folder / "cache"
        self.ingest(cache, "--memory")
        shards = (cache / "shards").resolve()
        self.assertEqual(shards.parent, SHM)
        self.expect_same(cache, want, "in memory")
        self.ok("cache", "drop", cache)
        self.assertFalse(shards.exists())
        self.refused(2, ["need about", "of memory"], "ingest", self.source, "--out", cache, "--memory", "--augment",
                     "cifar", "--copies", 60000, "--image-size", 100)  # fmt: skip
        self.assertFalse(cache.exists())

    def test_bad_use(self):
        def refused(words, *flags):
            self.refused(2, words, "ingest", self.source, "--out", self.folder / "none", *flags)
            self.assertFalse((self.folder / "none").exists())

        refused(["--store"], *AUGMENT, "--store", "none")
        refused(["--store"], *AUGMENT, "--store", "original")
        refused(["--resize"], *AUGMENT, "--resize", 10)
        refused(["--augment"], "--copies", 4)
        refused(["--augment"], "--image-size", 4)
        refused(["--augment"], "--augment-seed", 4)
        refused(["--image-size"], "--augment", "cifar", "--copies", 2)
        refused(["at least 2"], "--augment", "cifar", "--image-size", 8)
        refused(["would be the same"], "--augment", "none", "--copies", 2, "--image-size", 8)
        refused(["do not fit into a record"], "--augment", "cifar", "--copies", 9999, "--image-size", 9999)
        refused(["imagnet"], "--augment", "imagnet", "--image-size", 8)
        for size in ("0", "-3", "8x", "x8", "8x8x8", "eight", "8 x 8", "99999999999"):
            refused(["is not a size"], "--augment", "none", f"--image-size={size}")


class Training(Case):
    RECIPE = ["--net", "lenet", "--batch-size", 48, "--micro-batch", 6, "--lr", 0.05, "--epochs", 2, "--reproducible"]

    def setUp(self):
        super().setUp()
        self.learnable_idx(self.folder / "data", train=240, test=32)
        self.cache = self.folder / "cache"
        self.ok("ingest", self.folder / "data", "--out", self.cache, "--augment", "cifar", "--copies", 2, "--image-size",
                16)  # fmt: skip

    def train(self, name, *more, cache=None, ranks=0):
        out = self.folder / name
        result = self.ok("train", cache or self.cache, "--out", out, *self.RECIPE, *more, "--json", ranks=ranks)
        config = json.loads((out / "config.json").read_text())
        weights = tensors(out / "checkpoints" / "latest" / "model.safetensors")
        return result, config["data"]["augment"], weights

    def test_variants_are_augmentation_enough_unless_asked(self):
        said, recipe, weights = self.train("default")
        self.assertEqual(recipe, "none")
        self.assertIn("the cache's variants (recipe cifar), without further augmentation", said.err)
        self.assertEqual(said.json()["split"], "test")
        census = json.loads((self.folder / "default" / "census.json").read_text())
        self.assertEqual([(row["samples"], row["complete"]) for row in census["epochs"]], [(240, True), (240, True)])
        _, recipe, same = self.train("none", "--augment", "none")
        self.assertEqual((recipe, same), ("none", weights))
        said, recipe, more = self.train("cifar", "--augment", "cifar")
        self.assertEqual(recipe, "cifar")
        self.assertIn("cifar applied to them", said.err)
        self.assertNotEqual(more, weights)
        self.ok("eval", self.folder / "default", self.cache, "--json")

    def test_ranks_and_threads_change_nothing(self):
        _, _, weights = self.train("one", "--threads", 1)
        self.assertEqual(self.train("two", "--threads", 1, ranks=2)[2], weights)
        self.assertEqual(self.train("four", "--threads", 4)[2], weights)

    def test_killed_and_gone_on_with(self):
        more = ["--threads", 1, "--log-interval", 1, "--recovery-interval", 2]
        _, _, weights = self.train("whole", *more)
        losses = self.metrics(self.folder / "whole", "train.loss")
        for step in (3, 8):  # in the first and in the second epoch
            out = self.folder / f"killed-{step}"
            command = ["train", self.cache, "--out", out, *self.RECIPE, *more]
            killed = run(*command, env=failpoints("kill", "file.write.after", "metrics.jsonl", step))
            self.assertEqual(killed.code, -signal.SIGKILL, killed.err)
            self.assertEqual(self.train(out.name, *more, "--resume", "auto")[2], weights)
            self.assertEqual(self.metrics(out, "train.loss"), losses)

    def test_another_size_is_made_of_them(self):
        self.train("smaller", "--image-size", 20)
        sized = self.folder / "sized cache"
        self.ok("ingest", self.folder / "data", "--out", sized, "--augment", "none", "--image-size", "20")
        new, old = (json.loads((cache / "manifest.json").read_text()) for cache in (sized, self.cache))
        self.assertEqual(new["settings"]["augment"]["copies"], 1)
        self.assertEqual(new["pixel_sums"], old["pixel_sums"])
        _, recipe, weights = self.train("sized", cache=sized)  # no variants: training augments as usual
        self.assertEqual(recipe, "cifar")
        self.ok("ingest", self.folder / "data", "--out", self.folder / "plain")
        _, _, decoded = self.train("decoded", "--image-size", 20, cache=self.folder / "plain")
        self.assertEqual(weights, decoded)


if __name__ == "__main__":
    unittest.main()
