"""Ingest and dedup, as a user runs them."""

import csv
import io
import json
import unittest

from program import FASHION_MNIST, Case, needs_fashion_mnist, tree_bytes


class Cache(Case):
    def photos(self, count=12):
        """photos/{train,test}/{cat,dog}: distinct images, one exact leak, one duplicate inside train."""
        root = self.folder / "photos"
        for split in ("train", "test"):
            for i in range(count):
                name = "cat" if i % 2 else "dog"
                self.write_ppm(root / split / name / f"{i:02}.ppm", self.image(24), 24)
        copy = (root / "test" / "cat" / "01.ppm").read_bytes()
        (root / "train" / "cat" / "copy of test.ppm").write_bytes(copy)
        twin = (root / "train" / "dog" / "00.ppm").read_bytes()
        (root / "train" / "dog" / "00 again.ppm").write_bytes(twin)
        return root

    def test_folder_to_selection(self):
        root = self.photos()
        (root / "train" / "cat" / "cut.ppm").write_bytes((root / "test" / "cat" / "01.ppm").read_bytes()[:200])
        (root / "train" / "cat" / "text.jpg").write_text("no picture")
        (root / "train" / "cat" / "empty.png").write_bytes(b"")
        cache = self.folder / "cache"
        ingested = self.ok("ingest", root, "--out", cache, "--json").json()
        self.assertEqual(ingested["inputs"], 29)
        self.assertEqual(ingested["ok"], 26)
        self.assertEqual(sum(ingested["classes"].values()), 29)
        self.assertEqual(ingested["classes"]["empty"], 1)
        ledger = [json.loads(line) for line in (cache / "ledger.jsonl").read_text().splitlines()]
        self.assertEqual(len(ledger), 29)

        removed = self.folder / "removed.csv"
        found = self.ok("dedup", cache, "--json", "--list", removed).json()
        self.assertEqual(found["removed"], 2)
        self.assertEqual(found["kept"], 24)
        self.assertEqual(found["leaks"], [{"a": "train", "b": "test", "groups": 1, "samples": 1}])
        rows = {row["name"]: row for row in csv.DictReader(io.StringIO(removed.read_text()))}
        self.assertEqual(set(rows), {"train/cat/copy of test.ppm", "train/dog/00.ppm"})
        self.assertEqual(rows["train/cat/copy of test.ppm"]["kept_name"], "test/cat/01.ppm")
        self.refused(3, ["splits share pictures (1 of test are in train)"], "dedup", cache, "--on-leak", "fail")

        run = self.folder / "run"
        trained = self.ok("train", cache, "--out", run, "--selection", "default", "--net", "lenet",
                          "--batch-size", 4, "--epochs", 1, "--json").json()
        self.assertIsNotNone(trained["top1_leak_free"])
        self.assertEqual(self.ok("eval", run, cache, "--json").json()["leaked"], 1)
        self.ok("verify", cache)
        self.ok("info", cache)

    def test_same_bytes_for_any_number_of_threads(self):
        root = self.photos(40)
        trees = []
        for threads in (1, 2, 8):
            cache = self.folder / f"cache-{threads}"
            self.ok("ingest", root, "--out", cache, "--threads", threads, "--shard-size", 1)
            self.ok("dedup", cache)
            trees.append(tree_bytes(cache))
        self.assertGreaterEqual(len(trees[0]), 5)
        self.assertEqual(trees[0], trees[1])
        self.assertEqual(trees[0], trees[2])

    @needs_fashion_mnist
    def test_fashion_mnist_same_bytes_for_any_number_of_threads(self):
        digests = set()
        for threads in (1, 2, 8):
            cache = self.folder / f"cache-{threads}"
            result = self.ok("ingest", FASHION_MNIST, "--out", cache, "--threads", threads, "--json")
            digests.add(result.json()["digest"])
            self.assertEqual(result.json()["inputs"], 70000)
        self.assertEqual(len(digests), 1)
        first, second = (self.folder / f"cache-{n}" / "shards" / "00000.mdb" for n in (1, 8))
        self.assertEqual(first.read_bytes(), second.read_bytes())

    def test_unlabelled_folder_and_fingerprints_only(self):
        root = self.folder / "nas"
        same = self.image(20)
        for i, folder in enumerate(("2019/08", "2020", "2021/a/b/c")):
            self.write_ppm(root / folder / f"{i}.ppm", self.image(20), 20)
            self.write_ppm(root / folder / f"same-{i}.ppm", same, 20)
        cache = self.folder / "cache"
        self.ok("ingest", root, "--out", cache, "--store", "none")
        found = self.ok("dedup", cache, "--hash", "exact", "--json").json()
        self.assertEqual((found["groups"], found["removed"], found["kept"]), (1, 2, 4))
        self.assertEqual(found["leaks"], [])
        self.refused(2, ["fingerprints only"], "train", cache, "--out", self.folder / "run")

    def test_shards_in_memory(self):
        cache = self.folder / "cache"
        disk = self.folder / "disk"
        root = self.photos()
        self.ok("ingest", root, "--out", cache, "--memory")
        self.ok("ingest", root, "--out", disk)
        self.assertTrue((cache / "shards").is_symlink())
        memory = (cache / "shards").resolve()
        self.assertTrue(str(memory).startswith("/dev/shm/"))
        self.assertEqual((cache / "manifest.json").read_bytes(), (disk / "manifest.json").read_bytes())
        self.ok("verify", cache)
        self.ok("cache", "drop", cache)
        self.assertFalse(memory.exists())
        self.assertFalse(cache.exists())

    def test_bad_use(self):
        cache = self.folder / "cache"
        self.refused(2, ["nowhere"], "ingest", self.folder / "nowhere", "--out", cache)
        empty = self.folder / "empty"
        empty.mkdir()
        self.refused(2, ["empty"], "ingest", empty, "--out", cache)
        root = self.photos()
        (root / "train" / "bird").mkdir()
        self.refused(2, ["bird"], "ingest", root, "--out", cache)
        self.assertFalse(cache.exists())
        self.ok("ingest", root, "--out", cache, "--allow-empty")
        self.refused(2, ["already contains a finished cache"], "ingest", root, "--out", cache, "--allow-empty")
        self.refused(2, ["md5", "phash, dhash"], "dedup", cache, "--hash", "md5")
        self.refused(2, ["required"], "dedup")
        self.refused(2, ["empty"], "dedup", empty)
        self.refused(2, ["winnow ingest"], "tune", self.folder)
        self.refused(2, ["one process"], "tune", cache, ranks=2)
        manifest = cache / "manifest.json"
        manifest.write_text(manifest.read_text().replace('"version": 1', '"version": 99'))
        self.refused(1, ["newer winnow"], "info", cache)
        shard = cache / "shards" / "00000.mdb"
        shard.write_bytes(shard.read_bytes()[:-1])
        manifest.write_text(manifest.read_text().replace('"version": 99', '"version": 1'))
        self.refused(1, ["00000.mdb"], "verify", cache)


if __name__ == "__main__":
    unittest.main(verbosity=2)
