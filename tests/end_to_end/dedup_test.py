"""winnow dedup on a data set in place, and its self-check."""

import csv
import io
import json
import math
import os
import random
import re
import struct
import subprocess
import unittest
import zlib

from program import WINNOW, Case, columns, npy, png, png_chunk, run, tree_bytes


class Dedup(Case):
    def setUp(self):
        super().setUp()
        self.source = self.folder / "photos"
        for i in range(30):
            pixels = self.image(24, seed=i)
            self.write_ppm(self.source / "train" / "a" / f"{i:02}.ppm", pixels, 24)
            if i % 10 == 0:
                self.write_ppm(self.source / "test" / "a" / f"copy of {i:02}.ppm", pixels, 24)
        self.write_ppm(self.source / "train" / "a" / "darker 01.ppm", bytes(p * 9 // 10 for p in self.image(24, seed=1)), 24)
        (self.source / "train" / "a" / "broken.jpg").write_bytes(b"\xff\xd8\xff no more")

    def test_looks_at_a_data_set_in_place(self):
        before = tree_bytes(self.source)
        temporary = self.folder / "tmp"
        temporary.mkdir()
        result = self.ok("dedup", self.source, "--threshold", 8, env={"TMPDIR": str(temporary)})
        rows = list(csv.DictReader(io.StringIO(result.out)))
        removed = {row["name"]: (row["kept_name"], row["rule"]) for row in rows}
        self.assertEqual(removed, {
            "train/a/00.ppm": ("test/a/copy of 00.ppm", "leak"),
            "train/a/10.ppm": ("test/a/copy of 10.ppm", "leak"),
            "train/a/20.ppm": ("test/a/copy of 20.ppm", "leak"),
            "train/a/darker 01.ppm": ("train/a/01.ppm", "duplicate"),
        })
        self.assertIn("1 input could not be read", result.err)
        self.assertIn("leak: 3 test samples", result.err)
        self.assertEqual(tree_bytes(self.source), before)
        self.assertEqual(list(temporary.iterdir()), [])

    def test_two_at_once_leave_what_fits_together(self):
        cache = self.folder / "cache"
        self.ok("ingest", self.source, "--out", cache)
        chosen = cache / "selections/default.selection"
        for _ in range(6):
            both = [subprocess.Popen([WINNOW, "dedup", str(cache), *flags], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                    for flags in (["--hash", "exact"], ["--threshold", "8"], ["--threshold", "8", "--keep", "sharpest"])]
            for process in both:
                told = process.communicate()[1]
                self.assertEqual(process.returncode, 0, told)
            table = columns(chosen)
            removed = {struct.unpack("<Q", i)[0] for i, weight in zip(table["ids"], table["weights"]) if weight == bytes(4)}
            with open(chosen.with_suffix(".csv"), newline="") as listed:
                self.assertEqual({int(row["id"]) for row in csv.DictReader(listed)}, removed)
            self.ok("info", cache, "--selection", "default")
            self.assertEqual([path.name for path in (cache / "selections").glob("*.tmp")], [])

    def test_gives_a_terminal_no_bytes_that_it_would_obey(self):
        name = "\x1b[31mred\x07 00.ppm"
        (self.source / "train/a/00.ppm").rename(self.source / "train/a" / name)
        piped = self.ok("dedup", self.source, "--hash", "exact").out
        self.assertIn(name, piped)
        for verb in (["dedup", "--hash", "exact"], ["hash"]):
            ours, theirs = os.openpty()
            with subprocess.Popen([WINNOW, verb[0], str(self.source), *verb[1:]], stdout=theirs, stderr=subprocess.DEVNULL) as process:
                os.close(theirs)
                shown = b""
                try:
                    while more := os.read(ours, 1 << 16):
                        shown += more
                except OSError:  # the other end is closed
                    pass
                os.close(ours)
                self.assertEqual(process.wait(), 0)
            self.assertIn(b"?[31mred? 00.ppm", shown)
            self.assertNotIn(b"\x1b", shown)

    def test_says_the_same_as_of_a_cache(self):
        cache = self.folder / "cache"
        self.ok("ingest", self.source, "--out", cache)
        of_cache = self.ok("dedup", cache, "--threshold", 8, "--list", self.folder / "1.csv", "--json").json()
        in_place = self.ok("dedup", self.source, "--threshold", 8, "--list", self.folder / "2.csv", "--json").json()
        self.assertEqual(of_cache, in_place)
        self.assertEqual((self.folder / "1.csv").read_bytes(), (self.folder / "2.csv").read_bytes())
        self.assertEqual(self.ok("dedup", self.source, "--threshold", 8, "--labels", "none", "--exclude", "copy*",
                                 "--json").json()["removed"], 1)

    def test_compares_pictures_where_that_is_asked(self):
        source = self.folder / "detailed"
        for i in range(12):
            self.write_pgm(source / f"train/a/{i:02}.pgm", self.detailed(i))
        self.write_pgm(source / "test/a/cropped 03.pgm", [row[15:85] for row in self.detailed(3)[6:60]])
        self.write_pgm(source / "test/a/mirrored 05.pgm", [row[::-1] for row in self.detailed(5)])
        self.write_pgm(source / "test/a/barred 07.pgm", [[0] * 96] * 30 + self.detailed(7) + [[0] * 96] * 30)
        cache = self.folder / "verified"
        self.ok("ingest", source, "--out", cache)
        plain = self.ok("dedup", cache, "--no-verify", "--json", "--name", "plain").json()
        self.assertEqual(plain["removed"], 0)
        unasked = self.ok("dedup", cache, "--json", "--name", "unasked").json()
        self.assertEqual((unasked["removed"], unasked["verified"]), (3, 0.9))
        for said in (["--risk", 0.5], ["--hash", "phash16"], ["--threshold", 8]):
            self.assertNotIn("verified", self.ok("dedup", cache, *said, "--json", "--name", "said").json())
        found = self.ok("dedup", cache, "--verify", "--list-pairs", self.folder / "pairs.csv", "--json", "--name", "looked")
        selection = (cache / "selections" / "looked.selection").read_bytes()
        self.assertEqual((found.json()["removed"], found.json()["verified"]), (3, 0.9))
        self.assertIn("3 pairs show the same picture", found.err)
        with open(self.folder / "pairs.csv", newline="") as file:
            pairs = {(row["name"], row["other_name"]): row for row in csv.DictReader(file)}
        self.assertEqual(set(pairs), {(f"test/a/{edit} {i}.pgm", f"train/a/{i}.pgm")
                                      for edit, i in (("cropped", "03"), ("mirrored", "05"), ("barred", "07"))})
        self.assertTrue(all(0.9 <= float(row["probability"]) <= 1 for row in pairs.values()))
        told = {edit.split("/")[2].split()[0]: row["transformation"] for (edit, _), row in pairs.items()}
        self.assertEqual(told["mirrored"], "mirrored")
        self.near_shares(told["cropped"], "more around", 70 / 96, 54 / 72)
        self.near_shares(told["barred"], "crop to", 1, 72 / 132)
        alone = subprocess.run(["taskset", "-c", "0", WINNOW, "dedup", cache, "--verify", "--name", "looked"], capture_output=True, check=False,
                               env={**os.environ, "WINNOW_SIMD": "none"})
        self.assertEqual(alone.returncode, 0, alone.stderr)
        self.assertEqual((cache / "selections" / "looked.selection").read_bytes(), selection)
        leaks = self.ok("split", cache, "--verify", "--name", "apart", "--json").json()
        self.assertEqual(leaks["verified"], 0.9)
        self.verifies_the_same_on_any_number_of_ranks(cache, source)

    def verifies_the_same_on_any_number_of_ranks(self, cache, source):
        want = (self.folder / "pairs.csv").read_bytes(), (cache / "selections" / "looked.selection").read_bytes()
        for ranks in (1, 2, 3):
            pairs = self.folder / f"pairs of {ranks}.csv"
            (cache / "selections" / "looked.selection").unlink()
            self.ok("dedup", cache, "--verify", "--list-pairs", pairs, "--name", "looked", ranks=ranks)
            self.assertEqual((pairs.read_bytes(), (cache / "selections" / "looked.selection").read_bytes()), want)
        # A data set, which only rank 0 reads and splits.
        self.assertEqual(*[self.ok("dedup", source, "--verify", ranks=ranks).out for ranks in (0, 2)])
        apart = (cache / "selections" / "apart.selection").read_bytes()
        (cache / "selections" / "apart.selection").unlink()
        self.ok("split", cache, "--verify", "--name", "apart", ranks=3)
        self.assertEqual((cache / "selections" / "apart.selection").read_bytes(), apart)

    def test_pictures_have_the_last_word_on_what_features_bring_together(self):
        source, cache, pairs = self.folder / "detailed", self.folder / "cache", self.folder / "pairs.csv"
        for i in range(8):
            self.write_pgm(source / f"{i}.pgm", self.detailed(i))
        self.write_pgm(source / "cropped 3.pgm", [row[15:85] for row in self.detailed(3)[6:60]])
        self.write_pgm(source / "mirrored 5.pgm", [row[::-1] for row in self.detailed(5)])
        self.ok("ingest", source, "--out", cache)
        # Images 0 and 1 are unrelated but have the same vector. One copy is near its original, the other is far from it.
        turns = {"0.pgm": 0, "1.pgm": 0, "3.pgm": 40, "cropped 3.pgm": 41, "5.pgm": 80, "mirrored 5.pgm": 120}
        vectors, names = self.folder / "turns.npy", self.folder / "turns.txt"
        vectors.write_bytes(npy([[math.cos(math.radians(turn)), math.sin(math.radians(turn))] for turn in turns.values()]))
        names.write_text("".join(name + "\n" for name in turns))
        self.ok("embed", vectors, cache, "--names", names, "--name", "turns")
        by = ["dedup", cache, "--features", "turns", "--cosine", 0.99, "--name", "near", "--json"]
        self.assertEqual(self.ok(*by).json()["groups"], 2)
        looked = self.ok(*by, "--verify", "--list-pairs", pairs)
        told = looked.json()
        self.assertEqual((told["groups"], told["features"], told["verified"]), (2, "turns", 0.9))
        self.assertIn("rejected although their cosine codes are near: 1 pair", looked.err)
        with open(pairs, newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({(row["name"], row["other_name"]) for row in rows}, {("3.pgm", "cropped 3.pgm"), ("5.pgm", "mirrored 5.pgm")})
        # True distances, even far beyond the flag's limit: 1 and 40 degrees.
        self.assertEqual([(row["distance"], round(float(row["cosine"]), 3)) for row in rows], [("0", 1.0), ("234", 0.766)])
        selection = cache / "selections" / "near.selection"
        want = selection.read_bytes()
        self.ok(*by, "--verify", ranks=2)
        self.assertEqual(selection.read_bytes(), want)
        index = self.folder / "all.index"
        self.ok("index", "add", index, cache)
        kept = ["index", "dedup", index, "--features", "turns", "--cosine", 0.99, "--source", cache, "--json"]
        self.assertEqual([self.ok(*kept, *more).json()["removed"] for more in ([], ["--verify"])], [2, 2])
        self.refused(2, ["--features", "--verify"], "index", "query", index, cache, *kept[3:-1], "--verify")

    def near_shares(self, words, kind, *shares):
        """Checks that `words` are of that kind, with shares of width and height near these."""
        self.assertTrue(words.startswith(kind), words)
        for told, share in zip(re.findall(r"\d+", words), shares, strict=True):
            self.assertAlmostEqual(int(told) / 100, share, delta=0.03, msg=words)

    def test_says_why_pictures_cannot_be_compared(self):
        self.refused(2, ["--verify", "--hash exact"], "dedup", self.source, "--verify", "--hash", "exact")
        cache = self.folder / "bare"
        self.ok("ingest", self.source, "--out", cache, "--thumbnails", "off")
        self.refused(2, ["no thumbnails", "ingest"], "dedup", cache, "--verify")
        self.refused(2, ["--least-probability", "--no-verify"], "dedup", cache, "--no-verify", "--least-probability", 0.7)

    def test_leaves_pictures_with_few_details_to_their_codes_unless_asked(self):
        source = self.folder / "plain shapes"
        for i in range(30):
            self.write_pgm(source / f"{i:02}.pgm", [[40 + 5 * i if 20 < x < 60 + i and y > 30 else 10 for x in range(96)] for y in range(72)])
        found = self.ok("dedup", source, "--list", self.folder / "removed.csv", "--json")
        self.assertIn("so few details", found.err)
        self.assertNotIn("verified", found.json())
        self.assertIn("verified", self.ok("dedup", source, "--verify", "--list", self.folder / "removed.csv", "--json").json())

    def leaky_cache(self):
        """A cache of the photos. Copies of three training images are in test, and one image is blank."""
        self.write_ppm(self.source / "train" / "a" / "white.ppm", b"\xff" * (24 * 24 * 3), 24)
        cache = self.folder / "cache"
        self.ok("ingest", self.source, "--out", cache)
        return cache

    def exported(self, cache, selection):
        to = self.folder / f"exported {selection}"
        self.ok("export", cache, "--to", to, "--selection", selection)
        return {str(path.relative_to(to)) for path in to.rglob("*.ppm")}

    def test_deals_with_leaks_as_asked(self):
        cache = self.leaky_cache()
        originals = {f"train/a/{i}.ppm" for i in ("00", "10", "20")}
        copies = {f"test/a/copy of {i}.ppm" for i in ("00", "10", "20")}

        def dedup(action, *flags):
            return self.ok("dedup", cache, "--name", action, "--scope", "across", "--on-leak", action, "--threshold", 8,
                           "--json", *flags).json()

        everything = {str(path.relative_to(self.source)) for path in self.source.rglob("*.ppm")}
        self.assertEqual(dedup("drop-train")["removed"], 3)
        self.assertEqual(self.exported(cache, "drop-train"), everything - originals)
        self.assertEqual(dedup("drop-eval")["removed"], 3)
        files = self.exported(cache, "drop-eval")  # all are in one split: no folder of that name
        self.assertEqual({f"train/{name}" for name in files}, everything - copies)
        moved = dedup("move", "--split-order", "train,val,test")
        self.assertEqual((moved["removed"], moved["moved"], moved["mode"]), (0, 3, "keep"))
        self.assertEqual(len(self.exported(cache, "move")), len(everything))
        refused = run("dedup", cache, "--name", "fail", "--on-leak", "fail", "--json")
        self.assertEqual(refused.code, 3)
        self.assertIn("splits share pictures (3 of test are in train)", refused.err)
        self.refused(2, ["has no selection 'fail'"], "export", cache, "--to", self.folder / "x", "--selection", "fail")
        # Others can start from a selection that moves samples, as a choice of splits.
        again = self.ok("dedup", cache, "--splits", "move", "--name", "again", "--threshold", 8, "--json").json()
        self.assertEqual((again["leaks"], again["removed"]), ([], 4))
        again = self.ok("dedup", cache, "--splits", "drop-eval", "--scope", "across", "--name", "again", "--threshold", 8,
                        "--json").json()
        self.assertEqual((again["leaks"], again["removed"]), ([], 3))  # unchanged
        self.assertEqual(self.exported(cache, "again"), files)
        self.refused(2, ["samples to other splits"], "compact", cache, "--selection", "move", "--out", self.folder / "y")
        self.refused(2, ["train, val and test, each once"], "dedup", cache, "--split-order", "train,train,test")
        self.refused(2, ["can neither move nor weigh"], "ingest", self.source, "--out", self.folder / "z", "--drop",
                     "--drop-mode", "weight")

    def test_an_evaluation_goes_by_the_selection_of_the_run(self):
        cache = self.leaky_cache()
        train = ["train", cache, "--net", "lenet", "--batch-size", 4, "--epochs", 1, "--selection", "default", "--out"]
        self.ok("dedup", cache, "--scope", "across", "--on-leak", "move")
        self.ok(*train, self.folder / "run")
        self.ok("eval", self.folder / "run", cache)
        self.ok("dedup", cache, "--scope", "across", "--on-leak", "move", "--split-order", "train,val,test")
        self.refused(2, ["another version of selection 'default'", "--selection"], "eval", self.folder / "run", cache)
        self.ok("eval", self.folder / "run", cache, "--selection", "default", "--split", "train")

    def test_an_evaluation_still_sees_what_was_dropped_from_it(self):
        cache = self.leaky_cache()
        self.ok("dedup", cache, "--on-leak", "drop-eval", "--threshold", 8)
        run_folder = self.folder / "run"
        trained = self.ok("train", cache, "--out", run_folder, "--selection", "default", "--net", "lenet",
                          "--batch-size", 4, "--epochs", 1, "--json").json()
        self.assertEqual(trained["split"], "test")
        evaluated = self.ok("eval", run_folder, cache, "--json").json()
        self.assertEqual((evaluated["samples"], evaluated["leaked"]), (3, 3))

    def test_lists_pairs_groups_and_what_is_blank(self):
        cache = self.leaky_cache()
        names = {name: self.folder / name for name in ("pairs.csv", "groups.jsonl", "blank.csv", "removed.jsonl")}
        self.ok("dedup", cache, "--threshold", 8, "--mode", "weight", "--scope", "within",
                "--list-pairs", names["pairs.csv"], "--list-groups", names["groups.jsonl"],
                "--list-blank", names["blank.csv"], "--list", names["removed.jsonl"])
        pairs = list(csv.DictReader(io.StringIO(names["pairs.csv"].read_text())))
        self.assertEqual([(p["name"], p["other_name"], p["other_split"]) for p in pairs],
                         [("train/a/01.ppm", "train/a/darker 01.ppm", "train")])
        members = [json.loads(line) for line in names["groups.jsonl"].read_text().splitlines()]
        self.assertEqual([(m["name"], m["weight"], m["rule"], m["chain"]) for m in members],
                         [("train/a/01.ppm", 0.5, "kept", False), ("train/a/darker 01.ppm", 0.5, "duplicate", False)])
        self.assertEqual(members[1]["kept_name"], "train/a/01.ppm")
        blank = list(csv.DictReader(io.StringIO(names["blank.csv"].read_text())))
        self.assertEqual([row["name"] for row in blank], ["train/a/white.ppm"])
        self.assertEqual(names["removed.jsonl"].read_text(), "")

    def test_least_quality(self):
        """Two faint copies: their quality is below what pdq's authors advise, but enough for phash."""
        faint = self.image(64, seed=9)
        for name, add in (("faint", 100), ("faint again", 101)):
            self.write_ppm(self.source / "train" / "a" / f"{name}.ppm", bytes(add + value // 2 for value in faint), 64)
        cache, copy = self.folder / "cache", "train/a/faint.ppm"  # sorts after the other one
        self.ok("ingest", self.source, "--out", cache, "--hash", "pdq,phash")

        def finds(hash_, *flags):
            out = self.ok("dedup", cache, "--hash", hash_, "--threshold", 8, "--list", "-", *flags).out
            return copy in [row["name"] for row in csv.DictReader(io.StringIO(out))]

        self.assertFalse(finds("pdq"))
        self.assertTrue(finds("pdq", "--least-quality", 1))
        self.assertIn("quality from 1", self.ok("info", cache, "--selection", "default").out)
        self.assertTrue(finds("phash"))
        self.assertFalse(finds("phash", "--least-quality", 90, "--self-check", 20))
        blank = [self.ok("dedup", cache, "--hash", "pdq", "--least-quality", least, "--json").json()["blank"] for least in (0, 1, 50, 100)]
        self.assertEqual(blank, sorted(blank))
        self.assertEqual(self.ok("dedup", cache, "--hash", "pdq", "--json").json()["blank"], blank[2])
        self.assertLess(blank[1], blank[2])
        # Every verb that chooses or searches.
        pdq = ("--hash", "pdq", "--threshold", 8)
        blocks = [self.ok("split", cache, "--val", 0.2, *pdq, "--json", *more).json()["blocks"] for more in ((), ("--least-quality", 1))]
        self.assertLess(blocks[1], blocks[0])
        images = [self.ok("tune", cache, "--hash", "pdq", "--images", 0, "--json", *more).json()["hashes"][0]["images"]
                  for more in ((), ("--least-quality", 1))]  # fmt: skip
        self.assertEqual(images[1] - images[0], blank[2] - blank[1])
        for number, more in enumerate(((), ("--drop-least-quality", 1))):
            self.ok("ingest", self.source, "--out", self.folder / f"dropped{number}", "--hash", "pdq", "--drop", "--drop-hash", "pdq", "--drop-threshold", 8, *more)
        stored = [(self.folder / f"dropped{number}" / "ledger.jsonl").read_text().count('"duplicate"') for number in range(2)]
        self.assertLess(stored[0], stored[1])
        index = self.folder / "index"
        self.ok("index", "add", index, cache, "--hash", "pdq")
        self.refused(2, ["--least-quality: must be at least 0 and at most 100"], "dedup", cache, "--least-quality", "nan")
        self.refused(2, ["quality 50 or more"], "index", "dedup", index, "--least-quality", 1)
        self.refused(2, ["quality 50 or more"], "index", "query", index, cache, "--least-quality", 1)
        self.assertEqual(self.ok("index", "dedup", index, "--threshold", 8, "--least-quality", 100, "--json").json()["blank"], blank[3])
        found = [self.ok("index", "query", index, self.source, "--threshold", 8, *more).out for more in ((), ("--least-quality", 50))]
        self.assertEqual(found[0], found[1])
        self.refused(2, ["--least-quality", "exact"], "dedup", cache, "--hash", "exact", "--least-quality", 1)
        self.refused(2, ["--least-quality"], "dedup", cache, "--least-quality", 101)

    def test_conflicting_labels_are_kept_dropped_or_weighed(self):
        self.write_ppm(self.source / "train" / "b" / "01 again.ppm", self.image(24, seed=1), 24)
        cache = self.folder / "cache"
        self.ok("ingest", self.source, "--out", cache)
        removed = {}
        for action in ("keep", "drop", "weight"):
            found = self.ok("dedup", cache, "--threshold", 8, "--on-conflict", action, "--json").json()
            self.assertEqual(found["conflicts"], 1)
            removed[action] = (found["removed"], found["mode"])
        # There are three leaks. Of the three images of 01, two, all or none are removed.
        self.assertEqual(removed, {"keep": (5, "keep"), "drop": (6, "keep"), "weight": (3, "weight")})

    def test_counts_what_val_and_test_have_twice_and_removes_it_on_request(self):
        for split, copies in (("val", 1), ("test", 2)):
            for i in range(copies + 1):
                self.write_ppm(self.source / split / "a" / f"twin {i}.ppm",
                               bytes(max(0, p - i) for p in self.image(24, seed=100 + len(split))), 24)
        cache = self.folder / "cache"
        self.ok("ingest", self.source, "--out", cache)
        found = self.ok("dedup", cache, "--threshold", 8, "--json")
        self.assertEqual(found.json()["evaluation_duplicates"], {"val": 1, "test": 2})
        self.assertIn("2 test samples have a duplicate in test itself; kept (--thin test", found.err)
        thinned = self.ok("dedup", cache, "--threshold", 8, "--thin", "val,test", "--json")
        self.assertEqual(thinned.json()["removed"], found.json()["removed"] + 3)
        self.assertIn("itself; removed", thinned.err)
        self.refused(2, ["--scope across"], "dedup", cache, "--thin", "val", "--scope", "across")

    def test_keeps_the_selection_before(self):
        cache = self.folder / "cache"
        selections = cache / "selections"
        self.ok("ingest", self.source, "--out", cache)
        for verb in ("dedup", "split"):
            first = self.ok(verb, cache, "--name", verb, "--hash", "exact")
            self.assertNotIn("previous", first.err)
            again = self.ok(verb, cache, "--name", verb, "--hash", "exact")
            self.assertNotIn("previous", again.err, "the same selection")
            second = self.ok(verb, cache, "--name", verb, "--threshold", 8)
            self.assertIn(f"the previous selection '{verb}' is kept as '{verb}.previous'", second.err)
            kept = self.ok("info", cache, "--selection", f"{verb}.previous")
            self.assertIn("equal files and pixels", kept.out)
            self.assertNotIn("{", kept.out)
        self.assertIn("darker 01", (selections / "dedup.csv").read_text())
        self.assertNotIn("darker 01", (selections / "dedup.previous.csv").read_text())
        # A damaged selection is not worth keeping.
        (selections / "dedup.selection").write_bytes(b"x")
        self.assertNotIn("previous", self.ok("dedup", cache, "--name", "dedup", "--threshold", 4).err)

    def test_lists_on_the_standard_output(self):
        listed = self.ok("dedup", self.source, "--threshold", 8, "--list-groups", "-")
        rows = list(csv.DictReader(io.StringIO(listed.out)))
        self.assertEqual(len(rows), 8)
        self.assertIn("diameter", rows[0])
        self.refused(2, ["--json", "name a file"], "dedup", self.source, "--list-groups", "-", "--json")
        self.refused(2, ["two lists"], "dedup", self.source, "--list-groups", "-", "--list", "-")

    def test_says_where_lists_can_go_if_the_cache_cannot_be_written_to(self):
        cache = self.folder / "cache"
        self.ok("ingest", self.source, "--out", cache)
        (cache / "selections").write_text("in the way, whoever may write")
        self.refused(1, ["cannot be written to", "--list -"], "dedup", cache, "--threshold", 8)
        self.refused(1, ["cannot be written to"], "split", cache, "--threshold", 8)
        listed = self.ok("dedup", cache, "--threshold", 8, "--list", "-")
        self.assertEqual(len(list(csv.DictReader(io.StringIO(listed.out)))), 4)
        self.assertIn("no selection is kept", listed.err)

    def test_leaves_nothing_behind_when_it_is_stopped(self):
        large = self.image(256, seed=1)
        for i in range(400):
            self.write_ppm(self.source / "train" / "b" / f"{i}.ppm", bytes([i % 256]) + large[1:], 256)
        temporary = self.folder / "tmp"
        temporary.mkdir()
        for point in ("dir.create.after:*:1", "file.write.before:00000:1"):
            stopped = self.refused(75, ["stopped before"], "dedup", self.source, env={"TMPDIR": str(temporary), "WINNOW_FAILPOINTS": f"term={point}"})
            self.assertEqual(stopped.out, "")
            self.assertEqual(list(temporary.iterdir()), [])

    def test_checks_itself(self):
        result = self.ok("dedup", self.source, "--threshold", 12, "--self-check", 10, "--json")
        self.assertIn("self-check: 10 images compared with every other", result.err)

    def test_decides_the_same_on_any_number_of_ranks(self):
        cache = self.folder / "cache"
        self.ok("ingest", self.source, "--out", cache, "--hash", "phash,phash_mirrored")
        for options in (["--hash", "phash"], ["--hash", "phash_mirrored", "--scope", "within"], ["--hash", "exact"],
                        ["--groups", "stars", "--list-pairs", cache / "selections" / "pairs.csv"]):
            made = {}
            for ranks in range(4):  # 0: without mpirun
                result = self.ok("dedup", cache, "--threshold", 8, *options, "--json", ranks=ranks)
                self.assertEqual(len(result.out.strip().splitlines()), 1)
                made[ranks] = result.json(), tree_bytes(cache / "selections")
            self.assertTrue(made[0][0]["removed"])
            self.assertEqual(made, dict.fromkeys(range(4), made[0]))
        of_source = [self.ok("dedup", self.source, "--threshold", 8, ranks=ranks).out for ranks in (0, 3)]
        self.assertEqual(*of_source)
        self.refused(3, ["rank 0", "splits share pictures"], "dedup", cache, "--on-leak", "fail", ranks=3)
        self.refused(2, ["rank 0", "65 bits"], "dedup", cache, "--threshold", 65, ranks=2)

    def test_refuses(self):
        gate = run("dedup", self.source, "--on-leak", "fail")
        self.assertEqual(gate.code, 3, gate.err)
        self.assertIn("train/a/00.ppm", gate.out)
        self.refused(2, ["winnow ingest"], "dedup", self.folder / "nowhere")
        self.refused(2, ["is a data set; ingest it first"], "dedup", self.source, "--splits", "x")
        self.refused(2, ["--precision: must be at least 0 and at most 1"], "dedup", self.source, "--precision", "nan")
        self.refused(2, ["--hash exact compares no codes"], "dedup", self.source, "--hash", "exact", "--self-check", 3)
        # Refused before anything is read, whether it exists or not.
        nowhere = self.folder / "nowhere"
        self.refused(2, ["no issue 'ugly'", "known: dark"], "dedup", nowhere, "--drop-issues", "dark,ugly")
        self.refused(2, ["near_duplicate is not an issue of a single picture"], "dedup", nowhere, "--drop-issues", "near_duplicate")
        for verb in (["dedup"], ["index", "dedup"]):
            self.refused(2, ["leave out --on-leak or --split-order"], *verb, nowhere, "--on-leak", "drop-eval", "--split-order", "test,val,train")
            self.refused(2, ["leave out one of the two flags"], *verb, nowhere, "--thin", "val", "--scope", "across")
            self.refused(2, ["two lists would go into"], *verb, nowhere, "--list", "l.csv", "--list-groups", "./l.csv")
            self.refused(2, ["--json", "name a file"], *verb, nowhere, "--list", "-", "--json")
            self.refused(2, ["a list and the report"], *verb, nowhere, "--list", "l.csv", "--report", "l.csv")
        self.refused(2, ["two lists would go into"], "dedup", self.source, "--list", self.folder / "l.csv",
                     "--list-groups", self.folder / "l.csv")


class MirroredAndTurned(Case):
    SIDE = 40

    def setUp(self):
        super().setUp()
        self.source = self.folder / "photos"
        at = range(self.SIDE)
        for i in range(12):
            pixels = self.image(self.SIDE, seed=i)
            row = [[pixels[3 * (y * self.SIDE + x):][:3] for x in at] for y in at]
            self.write("train", f"{i:02}", row)
            if i == 3:
                self.write("test", "mirrored 03", [[row[y][-1 - x] for x in at] for y in at])
            if i == 7:
                self.write("train", "turned 07", [[row[-1 - x][y] for x in at] for y in at])
        self.cache = self.folder / "cache"
        self.ok("ingest", self.source, "--out", self.cache, "--hash", "phash,phash_mirrored,phash_dihedral")

    def write(self, split, name, rows):
        pixels = b"".join(pixel for row in rows for pixel in row)
        self.write_ppm(self.source / split / "a" / f"{name}.ppm", pixels, self.SIDE)

    def removed(self, *args):
        table = self.folder / "removed.csv"
        result = self.ok("dedup", *args, "--threshold", 6, "--list", table, "--json", "--self-check", 20).json()
        rows = csv.DictReader(io.StringIO(table.read_text()))
        return {row["name"]: (row["kept_name"], row["rule"]) for row in rows}, result["leaks"]

    def test_are_found_by_the_hashes_of_their_orientations(self):
        leak = {"train/a/03.ppm": ("test/a/mirrored 03.ppm", "leak")}
        copy = {"train/a/turned 07.ppm": ("train/a/07.ppm", "duplicate")}
        self.assertEqual(self.removed(self.cache, "--hash", "phash"), ({}, []))
        for source in self.cache, self.source:
            removed, leaks = self.removed(source, "--hash", "phash_mirrored")
            self.assertEqual(removed, leak)
            self.assertEqual(len(leaks), 1)
            self.assertEqual(self.removed(source, "--hash", "phash_dihedral")[0], {**leak, **copy})
        self.assertEqual(self.removed(self.source, "--hash", "phash_dihedral@1/2")[0], {**leak, **copy})
        gate = run("dedup", self.cache, "--hash", "phash_mirrored", "--on-leak", "fail")
        self.assertEqual(gate.code, 3, gate.err)
        self.refused(2, ["65 bits", "from 0 to 64"], "dedup", self.cache, "--hash", "phash_dihedral", "--threshold", 65)

    def test_have_a_curve_of_thresholds(self):
        curve = self.ok("tune", self.cache, "--hash", "phash_dihedral", "--images", 2, "--json").json()["hashes"][0]
        self.assertEqual(curve["bits"], 64)
        self.assertEqual(curve["thresholds"][6]["pairs"], 2)
        self.assertTrue(all(0 <= edit["found"][12] <= 1 for edit in curve["edits"]))

    def test_print_the_code_of_each_orientation(self):
        plain, turned = (
            {row["image"]: row[name] for row in csv.DictReader(io.StringIO(self.ok("hash", self.source, "--hash", name).out))}
            for name in ("phash", "phash_dihedral")
        )
        codes = {image: [text[k:k + 16] for k in range(0, 128, 16)] for image, text in turned.items()}
        self.assertEqual({image: of_image[0] for image, of_image in codes.items()}, plain)
        self.assertEqual(codes["train/a/03.ppm"][1], plain["test/a/mirrored 03.ppm"])
        differ = int(codes["train/a/07.ppm"][6], 16) ^ int(plain["train/a/turned 07.ppm"], 16)  # a turn to the right
        self.assertLessEqual(bin(differ).count("1"), 2)


def drawn_in_alpha(kind, alpha):
    """A black PNG of 16 x 16 that is opaque where `alpha` (rows of booleans) says so, in one of PNG's ways to store that."""
    depth, colour, seen, hidden, chunks = {
        "gray and alpha": (8, 4, b"\0\xff", b"\0\0", []),
        "colour and alpha": (8, 6, b"\0\0\0\xff", b"\0\0\0\0", []),
        "colour and alpha of 16 bits": (16, 6, b"\0\0" * 3 + b"\xff\xff", bytes(8), []),
        "partly transparent": (8, 6, b"\0\0\0\xff", b"\0\0\0\x80", []),
        "palette": (8, 3, b"\0", b"\1", [png_chunk(b"PLTE", bytes(6)), png_chunk(b"tRNS", b"\xff\0")]),
    }[kind]
    pixels = b"".join(b"\0" + b"".join(seen if opaque else hidden for opaque in row) for row in alpha)
    header = struct.pack(">IIBBBBB", 16, 16, depth, colour, 0, 0, 0)
    return png(png_chunk(b"IHDR", header), *chunks, png_chunk(b"IDAT", zlib.compress(pixels)), png_chunk(b"IEND"))


class Alpha(Case):
    KINDS = ("gray and alpha", "colour and alpha", "colour and alpha of 16 bits", "partly transparent", "palette")

    def icons(self, kind):
        folder = self.folder / kind.replace(" ", "_")
        for i in range(4):
            blocks = random.Random(i)  # no icon is another one turned or mirrored
            shown = [[blocks.random() < 0.5 for _ in range(4)] for _ in range(4)]
            icon = [[shown[y // 4][x // 4] for x in range(16)] for y in range(16)]
            for place in (f"train/{'ab'[i % 2]}", f"test/{'ab'[i % 2]}")[: 1 if i else 2]:
                (folder / place).mkdir(parents=True, exist_ok=True)
                content = drawn_in_alpha(kind, icon)
                # The copy in test has the same pixels, but not the same bytes.
                content = content[:-12] + (png_chunk(b"tEXt", b"a\0b") if "test" in place else b"") + content[-12:]
                (folder / place / f"{i}.png").write_bytes(content)
        return folder

    def test_pictures_that_differ_in_it_are_not_equal(self):
        for kind in self.KINDS:
            source = self.icons(kind)
            cache = self.folder / f"cache {kind}"
            told = self.ok("ingest", source, "--out", cache, "--json")
            self.assertEqual(told.json()["transparent"], 5, kind)
            self.assertRegex(told.err, r"5 images have transparent pixels.*--matte")
            for verb in (("dedup", cache), ("dedup", source), ("dedup", cache, "--hash", "exact"),
                         ("dedup", cache, "--hash", "phash", "--threshold", 4)):
                told = self.ok(*verb, "--json", "--list", self.folder / "list.csv")
                self.assertEqual(told.json()["removed"], 1, (kind, verb))
            self.ok("dedup", source, "--hash", "phash@1/2", "--threshold", 4)  # alpha is scaled, too
            self.assertEqual(self.ok("ingest", source, "--out", self.folder / f"white {kind}", "--matte", "white",
                                     "--json").json()["transparent"], 0)

    def test_cut_outs_of_one_photo_are_not_copies_of_each_other(self):
        """They share what is hidden, none of which is visible. The same cut-out at half its size is a copy."""
        photo = self.image(128, seed=7)
        source = self.folder / "cut outs"
        source.mkdir()

        def cut_out(name, side, shown):
            step = 128 // side
            rows = b"".join(b"\0" + b"".join(photo[3 * (step * y * 128 + step * x) :][:3] + (b"\xff" if shown(step * x, step * y) else b"\0")
                                             for x in range(side)) for y in range(side))
            header = struct.pack(">IIBBBBB", side, side, 8, 6, 0, 0, 0)
            (source / name).write_bytes(png(png_chunk(b"IHDR", header), png_chunk(b"IDAT", zlib.compress(rows)), png_chunk(b"IEND")))

        def quarter(i):
            return lambda x, y: x // 64 == i % 2 and y // 64 == i // 2

        for i in range(4):
            cut_out(f"{i}.png", 128, quarter(i))
        cut_out("half of 3.png", 64, quarter(3))
        cache = self.folder / "cache of cut outs"
        self.ok("ingest", source, "--out", cache)
        for verb in (("dedup", source, "--verify"), ("dedup", cache, "--verify"), ("dedup", cache, "--hash", "phash", "--threshold", 8)):
            removed = self.folder / "cut.csv"
            self.ok(*verb, "--list", removed)
            with open(removed, newline="") as listed:
                names = {row["name"] for row in csv.DictReader(listed)}
            self.assertLessEqual(names, {"half of 3.png"}, verb)
        self.assertEqual(names, {"half of 3.png"}, "by codes")

    def test_a_cache_of_before_says_that_it_was_not_looked_at(self):
        cache = self.folder / "cache"
        self.ok("ingest", self.icons("palette"), "--out", cache)
        digest = self.ok("info", cache, "--json").json()["manifest"]["digest"]
        self.assertNotIn("comparing alpha", self.ok("dedup", cache).err)
        (cache / "alpha").unlink()
        self.assertIn("was made without comparing alpha", self.ok("dedup", cache).err)
        self.assertIn("was made without comparing alpha", self.ok("info", cache).err)
        self.assertEqual(self.ok("info", cache, "--json").json()["manifest"]["digest"], digest)


if __name__ == "__main__":
    unittest.main(verbosity=2)
