"""winnow split: splits without leaks, with the class shares of the samples."""

import collections
import csv
import json
import struct
import unittest
import xml.etree.ElementTree

from program import Case, columns, run


SPLITS = ("none", "train", "val", "test")


class Split(Case):
    SIDE = 24

    def leaking(self, classes=4, pictures=40, copies=10):
        """photos/{train,val,test}/CLASS: some pictures of every class have one or two copies in other splits."""
        root = self.folder / "photos"
        self.picture_of = {}  # by name
        seed = 0
        for label in range(classes):
            for i in range(pictures):
                pixels = self.image(self.SIDE, seed=seed)
                home = i % 10
                split = "val" if home == 8 else "test" if home == 9 else "train"
                splits = [split]
                if i < copies:
                    splits = [("train", "val"), ("train", "test"), ("val", "test"), ("train", "val", "test")][i % 4]
                for k, where in enumerate(splits):
                    name = f"{where}/class {label}/{i:03} {k}.ppm"
                    darker = bytes(p * (20 - k) // 20 for p in pixels)  # another file, the same picture
                    self.write_ppm(root / name, darker, self.SIDE)
                    self.picture_of[name] = seed
                seed += 1
        return root

    def ingest(self, root):
        cache = self.folder / "cache"
        self.ok("ingest", root, "--out", cache)
        return cache

    def used(self, cache, name="split"):
        """The split in which the selection uses each image, by name; None if it is left out."""
        chosen = columns(cache / "selections" / f"{name}.selection")
        ids = [struct.unpack("<Q", x)[0] for x in chosen["ids"]]
        names = {}
        for line in (cache / "ledger.jsonl").read_text().splitlines():
            row = json.loads(line)
            names[row["id"]] = row["name"]
        weights = [struct.unpack("<f", x)[0] for x in chosen["weights"]]
        return {
            names[i]: SPLITS[chosen["splits"][row][0]] if weights[row] > 0 else None for row, i in enumerate(ids)
        }

    def expect_no_leak(self, used, key_of):
        reached = collections.defaultdict(set)
        for name, split in used.items():
            if split not in (None, "none"):
                reached[key_of(name)].add(split)
        self.assertEqual([key for key, splits in reached.items() if len(splits) > 1], [])

    def counts(self, used):
        counts = collections.Counter()
        for name, split in used.items():
            counts[name.split("/")[-2], split] += 1
        return counts

    def test_mends_splits_that_leak(self):
        cache = self.ingest(self.leaking())
        self.assertEqual(len(self.ok("dedup", cache, "--threshold", 6, "--json").json()["leaks"]), 3)
        said = self.ok("split", cache, "--threshold", 6, "--json").json()
        used = self.used(cache)
        self.assertNotIn(None, used.values())
        self.expect_no_leak(used, self.picture_of.get)
        self.assertEqual(said["blocks"], 160)
        self.assertEqual(said["largest_block"], 3)

        # Splits keep their sizes, with each class alike.
        before = collections.Counter(name.split("/")[0] for name in used)
        after = collections.Counter(used.values())
        for row in said["splits"][1:]:
            split = row["split"]
            self.assertAlmostEqual(row["share"], before[split] / len(used))
            self.assertEqual((row["samples"], row["dealt"]), (after[split], after[split]))
            self.assertLessEqual(abs(after[split] - before[split]), 2)
        counts = self.counts(used)
        for label in range(4):
            whole = sum(counts[f"class {label}", split] for split in SPLITS)
            for split in SPLITS[1:]:
                self.assertLess(abs(counts[f"class {label}", split] - whole * before[split] / len(used)), 1)
        self.assertEqual(said["off"], [])
        self.assertLess(said["furthest"], 1)
        self.assertEqual(said["moved"], sum(name.split("/")[0] != split for name, split in used.items()))

        # Only copies moved, and no more in the other direction.
        copies = len(used) - len(set(self.picture_of.values()))
        self.assertLessEqual(said["moved"], 2 * copies)

        # Another seed gives other splits; the same seed gives the same.
        first = (cache / "selections" / "split.selection").read_bytes()
        self.ok("split", cache, "--threshold", 6, ranks=2)
        self.assertEqual((cache / "selections" / "split.selection").read_bytes(), first)
        reshuffled = self.ok("split", cache, "--threshold", 6, "--val", 0.2, "--test", 0.2, "--seed", 7, "--json").json()
        self.assertGreater(reshuffled["moved"], said["moved"])
        self.assertNotEqual(self.used(cache), used)

    def test_leaves_a_fixed_test_alone(self):
        cache = self.ingest(self.leaking())
        said = self.ok("split", cache, "--threshold", 6, "--of", "train", "--val", 0.2, "--json").json()
        used = self.used(cache)
        self.expect_no_leak(used, self.picture_of.get)
        for name, split in used.items():
            if name.startswith("test/"):
                self.assertEqual(split, "test")
            elif name.startswith("val/"):
                self.assertIn(split, ("val", None))
        in_test = {self.picture_of[name] for name in used if name.startswith("test/")}
        in_val = {self.picture_of[name] for name in used if name.startswith("val/")}
        for name, split in used.items():
            if name.startswith("test/"):
                continue
            self.assertEqual(split is None, self.picture_of[name] in in_test, name)
            if name.startswith("train/") and self.picture_of[name] in in_val - in_test:
                self.assertEqual(split, "val")
        left_out = [name for name, split in used.items() if split is None]
        self.assertEqual(said["left_out"], sum(name.startswith("train/") for name in left_out))
        self.assertEqual(said["leaks"], sum(name.startswith("val/") for name in left_out))
        self.assertEqual(said["of"], ["train"])
        self.assertLess(said["furthest"], 1)
        # By default, a split without a share stays as it is.
        again = self.ok("split", cache, "--threshold", 6, "--val", 0.2, "--json").json()
        self.assertEqual(again["of"], ["none", "train", "val"])
        self.assertEqual(again["leaks"], 0)

    def test_keeps_bursts_together(self):
        rows = [("file", "label", "group")]
        root = self.folder / "photos"
        for i in range(120):
            name = f"{i:03}.ppm"
            self.write_ppm(root / name, self.image(self.SIDE, seed=1000 + i), self.SIDE)
            rows.append((name, f"class {i % 3}", f"scene {i // 4}" if i < 48 else ""))
        table = root / "photos.csv"
        with table.open("w", newline="") as file:
            csv.writer(file).writerows(rows)
        cache = self.folder / "cache"
        self.ok("ingest", table, "--out", cache)
        fresh = self.ok("split", cache, "--hash", "exact", "--json")
        self.assertEqual(fresh.json()["moved"], 0, "there were no splits to move them out of")
        self.assertNotIn("another split", fresh.err)
        scene = {row[0]: row[2] or row[0] for row in rows}
        key_of = lambda name: scene[name.split("/")[-1]]
        label_of = {row[0]: row[1] for row in rows}

        self.ok("split", cache, "--val", 0.15, "--test", 0.25, "--hash", "exact")
        used = self.used(cache)
        self.expect_no_leak(used, key_of)
        counts = collections.Counter((label_of[name.split("/")[-1]], split) for name, split in used.items())
        for label in range(3):
            for split, share in (("train", 0.6), ("val", 0.15), ("test", 0.25)):
                self.assertLess(abs(counts[f"class {label}", split] - 40 * share), 1 + 1e-6)
        self.assertEqual(self.ok("split", cache, "--hash", "exact", "--json").json()["largest_block"], 4)
        free = self.ok("split", cache, "--hash", "exact", "--ignore-group-keys", "--json").json()
        self.assertEqual(free["largest_block"], 1)

    def test_others_obey(self):
        cache = self.ingest(self.leaking(classes=2))
        self.ok("split", cache, "--threshold", 6, "--train", 0.5, "--test", 0.3, "--val", 0.2)
        used = self.used(cache)
        seen = self.ok("dedup", cache, "--threshold", 6, "--splits", "split", "--name", "thinned", "--json").json()
        self.assertEqual(seen["leaks"], [])
        self.assertGreater(seen["removed"], 0)
        thinned = self.used(cache, "thinned")
        self.assertEqual({name: split for name, split in thinned.items() if split}.items() - used.items(), set())
        exported = self.folder / "exported"
        self.ok("export", cache, "--to", exported, "--selection", "split")
        counts = collections.Counter(path.parent.relative_to(exported).parts for path in exported.rglob("*.ppm"))
        expected = collections.Counter((split, name.split("/")[1]) for name, split in used.items())
        self.assertEqual(counts, expected)
        self.ok("ingest", exported, "--out", self.folder / "again")
        again = self.ok("dedup", self.folder / "again", "--threshold", 6, "--json").json()
        self.assertEqual(again["leaks"], [])
        self.ok("train", cache, "--out", self.folder / "run", "--net", "lenet", "--selection", "split", "--batch-size", 8,
                "--epochs", 1)
        evaluated = self.ok("eval", self.folder / "run", cache, "--json").json()
        self.assertEqual((evaluated["split"], evaluated["samples"]), ("test", list(used.values()).count("test")))

    def test_tells_which_classes_are_off(self):
        root = self.folder / "photos"
        pixels = self.image(self.SIDE, seed=0)
        for i in range(10):
            self.write_ppm(root / "stuck" / f"{i}.ppm", pixels, self.SIDE)
            self.write_ppm(root / "free" / f"{i}.ppm", self.image(self.SIDE, seed=i + 1), self.SIDE)
        cache = self.ingest(root)
        result = self.ok("split", cache, "--train", 0.5, "--test", 0.5)
        self.assertIn("stuck: ", result.out)
        self.assertIn("up to 10 stay together", result.out)
        self.assertNotIn("free: ", result.out)
        (off,) = self.ok("split", cache, "--train", 0.5, "--json").json()["off"]
        self.assertEqual((off["class"], off["reason"], off["largest_block"], off["wanted"]), ("stuck", "block", 10, 5))
        self.assertIn(off["got"], (0, 10))

    def test_shares(self):
        cache = self.ingest(self.leaking(classes=1, copies=0))

        def shares(*flags):
            said = self.ok("split", cache, "--of", "none,train,val,test", *flags, "--json").json()
            return [round(row["share"], 6) for row in said["splits"][1:]]

        self.assertEqual(shares(), [0.8, 0.1, 0.1])
        self.assertEqual(shares("--val", 0.2), [0.8, 0.2, 0])
        self.assertEqual(shares("--train", 0.7), [0.7, 0, 0.3])
        self.assertEqual(shares("--train", 0.7, "--val", 0.2), [0.7, 0.2, 0.1])
        self.assertEqual(shares("--train", 0.7, "--test", 0.2), [0.7, 0.1, 0.2])
        self.assertEqual(shares("--train", 0, "--val", 0, "--test", 1), [0, 0, 1])

    def files_of(self, cache, folds=5):
        return [(cache / "selections" / f"cv-{i}.selection").read_bytes() for i in range(1, folds + 1)]

    def test_folds(self):
        cache = self.ingest(self.leaking())
        page = self.folder / "folds.html"
        flags = ("split", cache, "--threshold", 6, "--folds", 5, "--name", "cv")
        said = self.ok(*flags, "--report", page, "--json").json()
        self.assertEqual([fold["selection"] for fold in said["folds"]], [f"cv-{i}" for i in range(1, 6)])
        self.assertEqual((said["of"], said["largest_block"]), (["none", "train", "val"], 3))
        xml.etree.ElementTree.fromstring(page.read_text().split("\n", 1)[1])
        self.assertIn("fold 5", page.read_text())

        folds = [self.used(cache, f"cv-{i}") for i in range(1, 6)]
        in_test = {self.picture_of[name] for name in self.picture_of if name.startswith("test/")}
        for used, fold in zip(folds, said["folds"]):
            self.expect_no_leak(used, self.picture_of.get)
            counts = collections.Counter(used.values())
            self.assertEqual((counts["train"], counts["val"]), (fold["train"], fold["val"]))
            self.assertEqual((counts["test"], counts[None]), (said["test"], said["left_out"]))
            by_class = [count for (_, split), count in self.counts(used).items() if split == "val"]
            self.assertEqual((min(by_class), max(by_class)), (fold["fewest"], fold["most"]))
            self.assertLessEqual(max(by_class) - min(by_class), 2)
        self.assertEqual(said["off"], [])
        for name, picture in self.picture_of.items():
            splits = [used[name] for used in folds]
            if name.startswith("test/"):
                self.assertEqual(splits, ["test"] * 5, name)
            elif picture in in_test:
                self.assertEqual(splits, [None] * 5, name)
            else:
                self.assertEqual(sorted(splits), ["train"] * 4 + ["val"], name)

        # Ranks give the same, another seed others; replaced ones are kept.
        first = self.files_of(cache)
        self.ok(*flags, ranks=2)
        self.assertEqual(self.files_of(cache), first)
        self.assertEqual(len(list((cache / "selections").glob("*.selection"))), 5)
        other = self.ok(*flags, "--seed", 1)
        self.assertEqual(len(set(self.files_of(cache) + first)), 10)
        self.assertIn("'cv-2.previous'", other.err)
        self.assertRegex(other.out, r"(?m)^cv-5 +[\d,]+ ")
        fewer = self.ok("split", cache, "--threshold", 6, "--folds", 3, "--name", "cv")
        self.assertIn("'cv-4' to 'cv-5' belong to folds that were made before", fewer.err)

    def test_folds_are_whole_whenever_it_dies(self):
        self.use_tmpfs()
        cache = self.ingest(self.leaking(classes=2))
        flags = ("split", cache, "--threshold", 6, "--folds", 5, "--name", "cv")
        self.ok(*flags)
        expected = self.files_of(cache)
        for act in ("file.rename.before", "file.rename.after"):
            for path in (cache / "selections").iterdir():
                path.unlink()
            died = run(*flags, env={"WINNOW_FAILPOINTS": f"kill={act}:cv-3.selection:1"})
            self.assertEqual(died.code, -9)
            there = [cache / "selections" / f"cv-{i}.selection" for i in range(1, 4 if act.endswith("after") else 3)]
            self.assertEqual(sorted((cache / "selections").glob("*.selection")), there)
            self.assertEqual([path.read_bytes() for path in there], expected[: len(there)])
            self.ok(*flags)
            self.assertEqual(self.files_of(cache), expected)

    def test_trains_on_a_fold(self):
        cache = self.ingest(self.leaking(classes=2))
        said = self.ok("split", cache, "--threshold", 6, "--folds", 4, "--name", "cv", "--json").json()
        info = self.ok("info", cache, "--selection", "cv-3")
        self.assertIn("val is fold 3 of 4", info.out)
        settings = self.ok("info", cache, "--selection", "cv-3", "--json").json()["selection"]["settings"]
        self.assertEqual((settings["fold"], settings["folds"]), (3, 4))
        folder = self.folder / "run-3"
        self.ok("train", cache, "--out", folder, "--net", "lenet", "--selection", "cv-3", "--batch-size", 8, "--epochs", 1)
        evaluated = self.ok("eval", folder, cache, "--split", "val", "--json").json()
        self.assertEqual((evaluated["split"], evaluated["samples"]), ("val", said["folds"][2]["val"]))
        self.assertEqual(evaluated["leaked"], 0)
        self.assertAlmostEqual(self.metrics(folder, "val.top1")[-1], evaluated["top1"])
        test = self.ok("eval", folder, cache, "--json").json()
        self.assertEqual((test["split"], test["samples"], test["leaked"]), ("test", said["test"], 0))

    def test_refuses_folds(self):
        cache = self.ingest(self.leaking(classes=1, copies=0))

        def refused(words, *flags):
            self.refused(2, words, "split", cache, *flags)

        refused(["100 folds", "more blocks than 36"], "--folds", 100, "--hash", "exact")
        refused(["--val"], "--folds", 5, "--val", 0.2)
        refused(["--stay"], "--folds", 5, "--stay")
        refused(["train and val"], "--folds", 5, "--of", "train")
        refused(["too long"], "--folds", 10, "--name", "n" * 189)
        for count in (-1, 0, 1, 101, "some"):
            refused(["--folds"], "--folds", count)
        self.assertEqual(list((cache / "selections").glob("*")) if (cache / "selections").exists() else [], [])
        self.ok("split", cache, "--folds", 10, "--name", "n" * 188)

    def test_refuses(self):
        cache = self.ingest(self.leaking(classes=1, copies=0))
        self.refused(2, ["add up to 1"], "split", cache, "--val", 0.7, "--test", 0.7)
        self.refused(2, [], "split", cache, "--val", 1.5)
        self.refused(2, ["--of"], "split", cache, "--of", "none")
        self.refused(2, [], "split", cache, "--of", "some")
        self.refused(2, ["no hash 'nope'"], "split", cache, "--hash", "nope")
        self.refused(2, [], "split", cache, "--name", "../split")
        self.refused(2, ["winnow ingest"], "split", self.folder / "nowhere")
        one = self.folder / "one"
        for i in range(20):  # one group cannot be in three splits
            self.write_ppm(one / f"{i:02}.ppm", self.image(self.SIDE, seed=0), self.SIDE)
        self.ok("ingest", one, "--out", self.folder / "of one")
        self.refused(2, ["nothing left for val and test", "1 block"], "split", self.folder / "of one")
        self.refused(2, ["more blocks than 1"], "split", self.folder / "of one", "--folds", 3)
        self.assertEqual(list((cache / "selections").glob("*")) if (cache / "selections").exists() else [], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
