"""winnow ingest --drop gives the same as ingest, dedup and compact, and never stores more than that; killed or out of
space at each point, on any threads and ranks.
"""

import itertools
import json
import pathlib
import shutil
import signal
import unittest

import traces
from bad_use_test import JPEG
from export_test import columns
from faults_test import TAKES_SPACE, failpoints, first_and_last, in_parallel, some_faults, tree
from golden import mixed_set, picture, write_tree
from program import Case, run, tree_bytes


class Drop(Case):
    def setUp(self):
        super().setUp()
        self.use_tmpfs()

    def large(self, side):
        """A smooth image in blocks of 4 x 4."""
        small = self.image(side // 4)
        rows = [small[at : at + 3 * (side // 4)] for at in range(0, len(small), 3 * (side // 4))]
        wide = [b"".join(row[x : x + 3] * 4 for x in range(0, len(row), 3)) for row in rows]
        return b"".join(row * 4 for row in wide)

    def photos(self, count=18, side=300):
        """Several shards of 1 MiB: 4 to 9 are copies of test images, 12 and 13 near duplicates of 14 and 15."""
        root = self.folder / "photos"
        pixels = [self.large(side) for _ in range(count)]
        for i in range(count):
            split = "test" if i < 4 else "train"
            image = bytearray(pixels[i - 4 if 4 <= i < 8 else i - 8 if 8 <= i < 10 else i])
            if i in (12, 13):
                image = bytearray(pixels[i + 2])
                image[0] ^= 1
            self.write_ppm(root / split / ("cat", "dog")[i % 2] / f"{i:02}.ppm", bytes(image), side)
        for label, name, content in (("cat", "sound", JPEG), ("dog", "warned", JPEG[:-2] + bytes(50) + JPEG[-2:])):
            (root / "train" / label).mkdir(parents=True, exist_ok=True)
            (root / "train" / label / f"{name}.jpg").write_bytes(content)
        (root / "train" / "cat" / "cut.ppm").write_bytes(b"P6\n30 30\n255\nno pixels")
        for i in range(70):
            self.write_ppm(root / "train" / "dog" / f"tiny{i}.ppm", self.image(16, seed=i % 60), 16)
        return root

    def manifest(self, cache):
        return json.loads((cache / "manifest.json").read_text())

    def check_is_compacted(self, sources, ingest, dedup):
        """Checks that an ingest drops what compact leaves out after dedup with the same flags."""
        whole, small, cache = (self.folder / name for name in ("whole", "small", "cache"))
        for folder in (whole, small, cache):
            shutil.rmtree(folder, ignore_errors=True)
        self.ok("ingest", *sources, *ingest, "--out", whole)
        self.ok("dedup", whole, *dedup)
        compacted = self.ok("compact", whole, "--selection", "default", "--out", small, "--json").json()
        drop = [f"--drop-{flag[2:]}" if str(flag).startswith("--") else flag for flag in dedup]
        said = self.ok("ingest", *sources, *ingest, "--out", cache, "--drop", *drop, "--json")
        self.assertFalse((self.folder / "cache.first").exists())
        self.assertEqual((said.json()["dropped"], said.json()["ok"]), (compacted["removed"], compacted["kept"]))
        self.assertIn(f"  {compacted['removed']} left out as duplicates", said.err)
        was, got = self.manifest(small), self.manifest(cache)
        self.assertEqual(sum(got["ledger"].values()), got["inputs"])
        for of in (was, got):  # packs may end elsewhere
            of.pop("shards")
            of.pop("digest")
        self.assertEqual(got, was)
        self.assertEqual((cache / "ledger.jsonl").read_bytes(), (small / "ledger.jsonl").read_bytes())
        table = "fingerprints/table"
        self.assertEqual(columns(cache / table), columns(small / table))
        self.assertEqual((cache / table).read_bytes(), (small / table).read_bytes())
        self.ok("verify", cache)
        for way in ("image-folder", "webdataset"):
            for of in (small, cache):
                self.ok("export", of, "--as", way, "--to", of / way)
            self.assertEqual(tree_bytes(cache / way), tree_bytes(small / way))
        self.assertEqual(self.ok("dedup", cache, *dedup, "--json").json()["removed"], 0)
        return said.json()

    def test_is_what_compact_makes(self):
        photos = [self.photos()]
        for ingest in (["--shard-size", 1], ["--store", "raw"]):
            for dedup in (["--hash", "exact"], ["--threshold", 6, "--keep", "largest"],
                          ["--hash", "phash16", "--threshold", 70, "--keep", "sharpest", "--scope", "within"]):  # fmt: skip
                with self.subTest(ingest=ingest, dedup=dedup):
                    said = self.check_is_compacted(photos, ingest, dedup)
                    self.assertGreater(said["dropped"], 10)
                    self.assertEqual(said["classes"]["truncated"], 1)
                    ledger = (self.folder / "cache" / "ledger.jsonl").read_text()
                    self.assertIn(", rule duplicate; the decoder warned: ", ledger)

    def test_of_several_sources(self):
        write_tree(self.folder / "mixed", mixed_set())
        write_tree(self.folder / "more", {b"train/ant/extra.ppm": picture(40), b"train/bee/copy.ppm": picture(3)})
        sources = [self.folder / "mixed", self.folder / "more"]
        self.assertEqual(self.check_is_compacted(sources, [], ["--hash", "exact"])["dropped"], 3)
        self.ok("ingest", self.photos(), "--into", self.folder / "cache")
        self.ok("verify", self.folder / "cache")

    def test_without_duplicates_and_of_a_shard_that_is_all_duplicates(self):
        pixels = [self.image(28) for _ in range(32)]
        for i in range(1000):  # about 440 per shard
            label = ("cat", "dog")[i % 2]
            self.write_ppm(self.folder / "photos" / "train" / label / f"{i:04}.ppm", pixels[i % 32], 28)
        said = self.ok("ingest", self.folder / "photos", "--out", self.folder / "cache", "--shard-size", 1, "--drop",
                       "--drop-hash", "exact", "--json").json()  # fmt: skip
        self.assertEqual((said["ok"], said["dropped"]), (32, 968))
        self.assertIn(0, [shard["records"] for shard in self.manifest(self.folder / "cache")["shards"]])
        self.ok("verify", self.folder / "cache")
        self.ok("train", self.folder / "cache", "--out", self.folder / "run", "--net", "lenet", "--epochs", 1,
                "--batch-size", 8, "--holdout", 0.25)  # fmt: skip
        for i in range(32, 1000):
            (self.folder / "photos" / "train" / ("cat", "dog")[i % 2] / f"{i:04}.ppm").unlink()
        said = self.ok("ingest", self.folder / "photos", "--out", self.folder / "other", "--drop", "--drop-hash", "exact",
                       "--json").json()  # fmt: skip
        self.assertEqual((said["ok"], said["dropped"]), (32, 0))
        self.assertNotIn("duplicate", said["classes"])
        self.assertEqual(self.manifest(self.folder / "other")["settings"]["dropped"][0]["hash"], "exact")

    def ingest(self, out, *more):
        return ["ingest", self.source, "--shard-size", 1, "--drop", "--out", out, *more]

    def test_same_bytes_on_any_threads_and_ranks(self):
        self.source = self.photos()
        want = None
        for name, how, ranks in (("one", ["--threads", 1], 0), ("two", ["--threads", 2], 0), ("ranks", [], 2)):
            self.ok(*self.ingest(self.folder / name, "--resize", 200, *how), ranks=ranks)
            want = want or tree(self.folder / name)
            self.assertGreater(sum(file.endswith(".mdb") for file in want), 3)
            self.assertTrue(tree(self.folder / name) == want, name)
            self.assertFalse((self.folder / f"{name}.first").exists())

    def test_bad_use(self):
        self.source = self.photos(4, 16)
        cache = self.folder / "cache"
        for words, flags in ((["phsh"], ["--drop-hash", "phsh"]), (["threshold"], ["--drop-threshold", 65]),
                             (["phash", "dhash", "--hash"], ["--hash", "dhash", "--drop-hash", "phash"]), (["--drop"], ["--estimate"]),
                             (["resized"], ["--store", "none", "--resize", 100])):  # fmt: skip
            self.refused(2, words, *self.ingest(cache, *flags))
        self.refused(2, ["--drop-keep", "requires --drop"], "ingest", self.source, "--out", cache, "--drop-keep", "first")
        mine = self.folder / "mine"
        mine.mkdir()
        (mine / "file").write_text("mine")
        self.refused(2, ["not empty"], *self.ingest(mine))
        self.refused(2, ["cache.first", "not empty"], *self.in_the_way())
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["cache.first", "mine", "photos"])
        shutil.rmtree(self.folder / "cache.first")
        self.ok(*self.ingest(cache))
        self.refused(2, ["finished cache"], *self.ingest(cache))
        self.refused(2, ["--drop is for new caches", "compact"], "ingest", self.source, "--into", cache, "--drop")
        self.assertFalse((self.folder / "cache.first").exists())

    def in_the_way(self):
        (self.folder / "cache.first").mkdir()
        (self.folder / "cache.first" / "file").write_text("mine")
        return self.ingest(self.folder / "cache")

    # Nothing is lost

    def made(self, more=0):
        """The result without any fault, and the points passed."""
        self.source = self.photos(10)
        for i in range(more):
            self.write_ppm(self.source / "train" / "cat" / f"more{i}.ppm", self.image(16, seed=1000 + i), 16)
        trace = self.folder / "trace"
        place = self.folder / "want" / "work"
        place.mkdir(parents=True)
        self.ok(*self.ingest(place / "cache", "--threads", 1), env={"WINNOW_FAILPOINTS": f"trace={trace}"})
        base = str(place.parent) + "/"
        return tree(place), [(p, file.removeprefix(base)) for p, file in traces.read(trace)]

    def at_each(self, want, points, action, code, most):
        numbers = itertools.count()

        def end(point, file, k):
            where = f"{action} at {point} {file}, time {k}"
            place = self.folder / f"{action}-{next(numbers)}" / "work"
            place.mkdir(parents=True)
            cache = place / "cache"
            ended = run(*self.ingest(cache, "--threads", 1), env=failpoints(action, point, file, k))
            self.assertEqual(ended.code, code, f"{where}: {ended.err}")
            if (cache / "manifest.json").exists():
                self.ok("verify", cache)
            there = [(place / path).exists() for path in ("cache/manifest.json", "cache/unfinished", "cache.first")]
            if there != [True, False, False]:
                self.ok(*self.ingest(cache))
            self.assertTrue(tree(place) == want, f"{where}: {sorted(tree(place))}")
            self.assertEqual([path.name for path in place.iterdir()], ["cache"], where)
            shutil.rmtree(place.parent)

        in_parallel(end, some_faults(f"points of an ingest that drops, {action} at", points, most))

    def test_killed_at_each_point(self):
        want, points = self.made()
        self.assertGreater(len(points), 150)
        self.assertGreater(sum("cache.first" in file for _, file in points), 50)
        self.at_each(want, first_and_last(points), "kill", -signal.SIGKILL, 20)

    def test_what_images_chose_is_known_again(self):
        """For more than 100 images, winnow chooses another hash and threshold than for none, which are tried first."""
        want, points = self.made(more=80)
        dropped = self.manifest(self.folder / "want" / "work" / "cache")["settings"]["dropped"][0]
        self.assertEqual(dropped["chosen_by"], "risk 0.5")
        self.assertNotIn((dropped["hash"], dropped["threshold"]), [("phash", 4), ("phash16", 70)])
        finished = max(i for i, (_, file) in enumerate(points) if file.endswith("work/cache/manifest.json"))
        left = {point for point in points[finished + 1 :] if "cache.first" in point[1]}
        self.assertGreater(len(left), 5)
        self.at_each(want, [(*point, points.count(point)) for point in sorted(left)], "kill", -signal.SIGKILL, 4)

    def test_on_a_disk_full_at_each_point(self):
        want, points = self.made()
        needing = [p for p in points if p[0].removesuffix(".before") in TAKES_SPACE]
        self.at_each(want, first_and_last(needing), "enospc", 1, 12)

    def test_what_is_there_is_gone_on_with_unless_the_source_changed(self):
        want, points = self.made()
        cache = self.folder / "work" / "cache"
        shard = [file for point, file in points if point == "lmdb.create.before"][-1]
        stop = failpoints("kill", "lmdb.create.before", pathlib.PurePath(shard).name, 1)
        self.assertEqual(run(*self.ingest(cache), env=stop).code, -signal.SIGKILL)
        trace = self.folder / "again"
        self.ok(*self.ingest(cache), env={"WINNOW_FAILPOINTS": f"trace={trace}"})
        made = [file for point, file in traces.read(trace) if point == "lmdb.create.before"]
        self.assertLess(len(made), sum(point == "lmdb.create.before" for point, _ in points))
        self.assertNotIn("ledger.jsonl", [pathlib.PurePath(file).name for point, file in traces.read(trace)
                                          if point == "file.create.before" and "cache.first" in file])  # fmt: skip
        self.assertTrue(tree(cache.parent) == want)
        # Another decision needs no new fingerprints; another source does.
        shutil.rmtree(cache)
        self.assertEqual(run(*self.ingest(cache), env=stop).code, -signal.SIGKILL)
        exact = self.ok(*self.ingest(cache, "--drop-hash", "exact", "--json")).json()
        self.ok("ingest", self.source, "--shard-size", 1, "--drop", "--drop-hash", "exact", "--out", self.folder / "exact")
        self.assertTrue(tree(cache) == tree(self.folder / "exact"))
        shutil.rmtree(cache)
        self.assertEqual(run(*self.ingest(cache), env=stop).code, -signal.SIGKILL)
        self.write_ppm(self.source / "train" / "cat" / "new.ppm", self.image(50), 50)
        more = self.ok(*self.ingest(cache, "--json")).json()
        self.assertEqual(more["inputs"], exact["inputs"] + 1)
        self.assertEqual([path.name for path in cache.parent.iterdir()], ["cache"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
