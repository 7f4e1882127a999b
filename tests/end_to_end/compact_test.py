"""winnow compact: a new cache with what a selection keeps; killed, stopped or out of space at each point."""

import itertools
import json
import pathlib
import shutil
import signal
import unittest

import faults_test
import traces
from export_test import columns
from faults_test import failpoints, first_and_last, in_parallel, some_faults, tree
from golden import mixed_set, picture, write_tree
from program import Case, errors_in, run, tree_bytes


def thumbnails_of(table):
    """The thumbnails of each row, from the result of columns()."""
    ends = [int.from_bytes(offset, "little") for offset in table["thumbnails:offsets"]]
    return [table["thumbnails:values"][begin:end] for begin, end in zip(ends, ends[1:])]


class Compact(Case):
    def photos(self, count=18, side=400):
        """Several shards of 1 MiB. One of them has only copies of images in the first."""
        root = self.folder / "photos"
        pixels = [self.random.randbytes(3 * side * side) for _ in range(count)]
        for i in range(count):
            split = "test" if i < 4 else "train"
            again = 4 <= i < 10
            self.write_ppm(root / split / ("cat", "dog")[i % 2] / f"{i:02}.ppm", pixels[i - 4 if again else i], side)
        return root

    def cache_of(self, source, *options):
        cache = self.folder / "cache"
        self.ok("ingest", source, "--out", cache, *options)
        self.ok("dedup", cache, "--hash", "exact")
        return cache

    def manifest(self, cache):
        return json.loads((cache / "manifest.json").read_text())

    def ledger(self, cache):
        return [json.loads(line) for line in (cache / "ledger.jsonl").read_text().splitlines()]

    def removed_from(self, cache):
        lines = (cache / "selections" / "default.csv").read_text().splitlines()[1:]
        return {int(line.split(",")[0]) for line in lines}

    def test_holds_what_the_selection_keeps(self):
        write_tree(self.folder / "mixed", mixed_set())
        for store in ("original", "raw"):
            with self.subTest(store=store):
                cache = self.cache_of(self.folder / "mixed", "--store", store)
                before = tree_bytes(cache)
                small = self.folder / f"small-{store}"
                said = self.ok("compact", cache, "--selection", "default", "--out", small, "--json").json()
                self.assertEqual(tree_bytes(cache), before)
                removed = self.removed_from(cache)
                self.assertEqual((said["kept"], said["removed"]), (18, len(removed)))
                self.assertEqual(len(removed), 2)
                old, new = self.manifest(cache), self.manifest(small)
                self.assertEqual(said["digest"], new["digest"])
                for same in ("inputs", "sources", "classes", "store", "hashes", "channels"):
                    self.assertEqual(new[same], old[same])
                self.assertEqual(new["settings"].pop("dropped")[0]["hash"], "exact")
                self.assertEqual(new["settings"], old["settings"])
                # The kept rows and records, with their ids.
                table, rest = (columns(c / "fingerprints" / "table") for c in (cache, small))
                keep = [i for i, id in enumerate(table["ids"]) if int.from_bytes(id, "little") not in removed]
                for name in table:
                    if not name.endswith((":values", ":offsets", ":hashes")):
                        words = len(table[name]) // len(table["ids"])  # words per row: a code may have several
                        want = [word for i in keep for word in table[name][words * i : words * (i + 1)]]
                        self.assertEqual(rest[name], want, name)
                thumbnails = thumbnails_of(table)
                self.assertEqual(thumbnails_of(rest), [thumbnails[i] for i in keep])
                # The ledger is the old one, except for those rows.
                names = {row["id"]: row["name"] for row in self.ledger(cache)}
                for was, row in zip(self.ledger(cache), self.ledger(small), strict=True):
                    if row["id"] in removed:
                        self.assertEqual(row["class"], "duplicate")
                        self.assertIn("distance 0, rule ", row["reason"])
                        stands = [name for name in names.values() if f"'{name}'" in row["reason"]]
                        self.assertEqual(len(stands), 1)
                        row = {**row, "class": "ok"}
                        del row["reason"]
                    self.assertEqual(row, was)
                self.assertEqual(new["ledger"], {**old["ledger"], "ok": 18, "duplicate": 2})
                # Statistics equal those of an ingest of the remaining images.
                rest_of = self.folder / f"rest-{store}"
                write_tree(rest_of, {n: d for n, d in mixed_set().items()
                                     if n.decode("utf-8", "replace") not in {names[i] for i in removed}})
                self.ok("ingest", rest_of, "--out", self.folder / f"other-{store}", "--store", store)
                other = self.manifest(self.folder / f"other-{store}")
                for same in ("pixel_sums", "split_counts", "channels", "height_px", "width_px"):
                    self.assertEqual(new[same], other[same], same)
                for statistics in (new["statistics"], other["statistics"]):
                    for which in ("smallest", "largest"):
                        del statistics[which]["id"]  # the other cache has fewer inputs
                self.assertEqual(new["statistics"], other["statistics"])
                # It works like any other cache.
                self.ok("verify", small)
                self.ok("info", small, "--report", self.folder / "page.html")
                page = (self.folder / "page.html").read_text()
                for word in ("left out as duplicates", "3 inputs of 23 could not be read", "stands for it: distance 0"):
                    self.assertIn(word, page)
                again = self.ok("dedup", small, "--hash", "exact", "--json").json()
                self.assertEqual(again["removed"], 0)
                for way in ("image-folder", "webdataset"):
                    for what, options in ((small, []), (cache, ["--selection", "default"])):
                        self.ok("export", what, "--as", way, "--to", self.folder / what.name / way, *options)
                    self.assertEqual(tree_bytes(small / way), tree_bytes(cache / way))
                shutil.rmtree(cache)

    def test_twice(self):
        cache = self.cache_of(self.photos())
        small, smaller = self.folder / "small", self.folder / "smaller"
        self.ok("compact", cache, "--selection", "default", "--out", small)
        self.ok("dedup", small, "--name", "near", "--threshold", 64)
        self.ok("compact", small, "--selection", "near", "--out", smaller)
        manifest = self.manifest(smaller)
        self.assertEqual([row["hash"] for row in manifest["settings"]["dropped"]], ["exact", "phash"])
        self.assertEqual(sum(manifest["ledger"].values()), 18)
        self.assertGreater(manifest["ledger"]["duplicate"], 6)
        self.assertTrue(all(row["reason"] for row in self.ledger(smaller) if row["class"] == "duplicate"))
        self.ok("verify", smaller)

    def test_of_several_sources_and_added_to(self):
        write_tree(self.folder / "mixed", mixed_set())
        write_tree(self.folder / "more", {b"train/ant/extra.ppm": picture(40), b"train/bee/copy.ppm": picture(3)})
        whole = self.folder / "whole"
        self.ok("ingest", self.folder / "mixed", self.folder / "more", "--out", whole)
        self.ok("dedup", whole, "--hash", "exact")
        small = self.folder / "small"
        self.ok("compact", whole, "--selection", "default", "--out", small)
        manifest = self.manifest(small)
        self.assertEqual(manifest["sources"], self.manifest(whole)["sources"])
        self.assertEqual((manifest["ledger"]["ok"], manifest["ledger"]["duplicate"]), (19, 3))
        self.ok("verify", small)
        # Sources added to a compacted cache come after its contents.
        cache = self.cache_of(self.folder / "mixed")
        grown = self.folder / "grown"
        self.ok("compact", cache, "--selection", "default", "--out", grown)
        self.ok("ingest", self.folder / "more", "--into", grown)
        manifest = self.manifest(grown)
        self.assertEqual((manifest["ledger"]["ok"], manifest["ledger"]["duplicate"]), (20, 2))
        self.assertEqual(len(manifest["settings"]["dropped"]), 1)
        self.ok("verify", grown)
        self.assertEqual([row["name"] for row in self.ledger(grown)], [row["name"] for row in self.ledger(whole)])
        self.ok("dedup", grown, "--hash", "exact")
        again = self.folder / "again"
        self.ok("compact", grown, "--selection", "default", "--out", again)
        table = columns(again / "fingerprints" / "table")
        self.assertEqual(table, columns(small / "fingerprints" / "table"))
        for same in ("ledger", "pixel_sums", "statistics", "split_counts", "fingerprints_hash"):
            self.assertEqual(self.manifest(again)[same], self.manifest(small)[same], same)

    def test_same_bytes_for_any_number_of_threads(self):
        cache = self.cache_of(self.photos(), "--shard-size", 1)
        shards = self.manifest(cache)["shards"]
        trees = []
        for threads in (1, 2, 8):
            small = self.folder / f"small-{threads}"
            self.ok("compact", cache, "--selection", "default", "--out", small, "--threads", threads)
            trees.append(tree_bytes(small))
        self.assertEqual(trees[0], trees[1])
        self.assertEqual(trees[0], trees[2])
        # Shards that have only copies are left out. The others keep their runs of ids.
        left = self.manifest(small)["shards"]
        self.assertLess(len(left), len(shards))
        run_of = {shard["file"]: (shard["first_id"], shard["last_id"]) for shard in shards}
        for shard in left:
            self.assertEqual(run_of[shard["file"]], (shard["first_id"], shard["last_id"]))
        self.assertEqual(len([name for name in trees[0] if name.endswith(".mdb")]), len(left))

    def test_trains(self):
        self.learnable_idx(self.folder / "data", train=64, test=16)
        cache = self.cache_of(self.folder / "data")
        small = self.folder / "small"
        self.ok("compact", cache, "--selection", "default", "--out", small)
        recipe = ["--out", self.folder / "run", "--net", "lenet", "--epochs", 1, "--batch-size", 8]
        trained = self.ok("train", small, *recipe, "--json").json()
        self.assertEqual(trained["split"], "test")
        self.ok("eval", self.folder / "run", small)

    def test_bad_use(self):
        cache = self.cache_of(self.photos(8, 16))
        small = self.folder / "small"
        self.refused(2, ["'near'", "default"], "compact", cache, "--selection", "near", "--out", small)
        self.refused(2, ["is inside the cache"], "compact", cache, "--selection", "default", "--out", cache / "small")
        self.refused(2, ["--selection"], "compact", cache, "--out", small)
        self.refused(2, ["one process"], "compact", cache, "--selection", "default", "--out", small, ranks=2)
        self.assertFalse(small.exists())
        self.ok("ingest", self.folder / "photos", "--out", self.folder / "prints", "--store", "none")
        self.ok("dedup", self.folder / "prints", "--hash", "exact")
        self.refused(2, ["fingerprints only"], "compact", self.folder / "prints", "--selection", "default", "--out", small)
        mine = self.folder / "mine"
        mine.mkdir()
        (mine / "file").write_text("mine")
        self.refused(2, ["not empty"], "compact", cache, "--selection", "default", "--out", mine)
        self.ok("compact", cache, "--selection", "default", "--out", small)
        self.refused(2, ["finished cache"], "compact", cache, "--selection", "default", "--out", small)
        self.refused(2, ["has none"], "export", small, "--selection", "default", "--to", self.folder / "x")

    def test_a_damaged_record_is_named(self):
        root = self.photos()
        cache = self.cache_of(root)
        shard = cache / "shards" / "00000.mdb"
        data = bytearray(shard.read_bytes())
        data[data.index((root / "train" / "cat" / "14.ppm").read_bytes()) + 100] ^= 1
        shard.write_bytes(data)
        small = self.folder / "small"
        self.refused(1, ["train/cat/14.ppm", "checksum"], "compact", cache, "--selection", "default", "--out", small)
        self.refused(2, ["was not finished"], "info", small)

    # Nothing is lost

    def made(self):
        """The result without any fault, and the points passed."""
        self.cache = self.cache_of(self.photos(), "--shard-size", 3)
        self.before = tree(self.cache)
        trace = self.folder / "trace"
        place = self.folder / "want" / "work"
        place.mkdir(parents=True)
        self.ok(*self.compact(place / "small"), env={"WINNOW_FAILPOINTS": f"trace={trace}"})
        base = str(place.parent) + "/"
        return tree(place / "small"), [(p, file.removeprefix(base)) for p, file in traces.read(trace)]

    def compact(self, out):
        return ["compact", self.cache, "--selection", "default", "--out", out, "--threads", 1]

    def at_each(self, want, points, action, code, most):
        numbers = itertools.count()

        def end(point, file, k):
            where = f"{action} at {point} {file}, time {k}"
            small = self.folder / f"{action}-{next(numbers)}" / "work" / "small"
            small.parent.mkdir(parents=True)
            ended = run(*self.compact(small), env=failpoints(action, point, file, k))
            self.assertEqual(ended.code, code, f"{where}: {ended.err}")
            if code == 1:
                lines = errors_in(ended.err)
                self.assertEqual(len(lines), 1, ended.err)
                self.assertIn("o space left", lines[0])
            if (small / "manifest.json").exists():
                self.ok("verify", small)
            if not (small / "manifest.json").exists() or (small / "unfinished").exists():
                self.ok(*self.compact(small))
            self.assertTrue(tree(small) == want, where)
            shutil.rmtree(small.parent.parent)

        in_parallel(end, some_faults(f"points of compacting, {action} at", points, most))
        self.assertTrue(tree(self.cache) == self.before)

    def test_killed_at_each_point(self):
        want, points = self.made()
        self.assertGreater(len(points), 60)
        self.at_each(want, first_and_last(points), "kill", -signal.SIGKILL, 20)

    def test_on_a_disk_full_at_each_point(self):
        want, points = self.made()
        needing = [p for p in points if p[0].removesuffix(".before") in faults_test.TAKES_SPACE]
        self.at_each(want, first_and_last(needing), "enospc", 1, 12)

    def test_stopped_goes_on_after_the_shards_that_are_finished(self):
        want, points = self.made()
        small = self.folder / "small"
        last = [file for point, file in points if point == "lmdb.create.before"][-1]
        stopped = run(*self.compact(small), env=failpoints("term", "lmdb.create.before", pathlib.PurePath(last).name, 1))
        self.assertEqual(stopped.code, 75, stopped.err)
        said = self.ok(*self.compact(small))
        trace = self.folder / "again"
        self.assertTrue(tree(small) == want, said.err)
        # Finished shards are not written again.
        shutil.rmtree(small)
        run(*self.compact(small), env=failpoints("term", "lmdb.create.before", pathlib.PurePath(last).name, 1))
        self.ok(*self.compact(small), env={"WINNOW_FAILPOINTS": f"trace={trace}"})
        made = [pathlib.PurePath(file).name for point, file in traces.read(trace) if point == "lmdb.create.before"]
        self.assertEqual(made, [pathlib.PurePath(last).name])

    def test_is_durable_before_its_manifest_is_there(self):
        _, points = self.made()
        commits = r"work/small/manifest\.json$"
        traces.Disk(points, commits).at_end()
        for file in {file for point, file in points if ".sync." in point}:
            with self.assertRaises(traces.Lost, msg=file):
                traces.Disk(traces.without_syncs_of(points, file), commits).at_end()


if __name__ == "__main__":
    unittest.main(verbosity=2)
