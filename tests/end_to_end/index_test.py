"""winnow index: a growing index decides as one cache of everything does. An interrupted change leaves the index as it was."""

import csv
import io
import itertools
import json
import math
import os
import re
import shutil
import signal
import subprocess
import unittest

import program
import traces
from embed_test import npy
from faults_test import TAKES_SPACE, failpoints, first_and_last, in_parallel, some_faults, tree
from program import Case, run, some_of


def columns(path):
    """A table or selection as {name: bytes}."""
    return {name: b"".join(rows) for name, rows in program.columns(path).items()}


class Index(Case):
    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        self.sources = [self.photos("one", ["cat", "dog"], 14), self.photos("two", ["ant", "cat"], 16),
                        self.photos("three", ["dog"], 9)]  # fmt: skip
        self.index = self.folder / "all.index"

    def photos(self, name, classes, count):
        """Pictures. Some are also in the other sources, possibly slightly darker."""
        root = self.folder / name
        for i in range(count):
            pixels = self.image(24, seed=i if i % 2 else f"{name} {i}")
            if i % 4 == 3:
                pixels = bytes(p * (8 + len(name) % 3) // 11 for p in pixels)
            path = root / ("test" if i % 5 == 0 else "train") / classes[i % len(classes)] / f"{name} {i:02}.ppm"
            self.write_ppm(path, pixels, 24)
        (root / "train" / classes[0] / "broken.jpg").write_bytes(b"\xff\xd8\xff no more")
        return root

    def cache(self, *sources, name):
        self.ok("ingest", *sources, "--out", self.folder / name, "--store", "none")
        return self.folder / name

    def info(self, index=None):
        return self.ok("index", "info", index or self.index, "--json").json()

    def removed(self, path):
        rows = list(csv.DictReader(io.StringIO(path.read_text())))
        return {(row["name"], row["kept_name"], row["distance"], row["rule"]) for row in rows}

    def test_decides_as_one_cache_of_all_does(self):
        full = self.cache(*self.sources, name="full")
        self.ok("index", "add", self.index, self.cache(self.sources[0], name="first"), "--radius", 60)
        self.ok("index", "add", self.index, *self.sources[1:])
        for more in (["--hash", "phash16"], ["--threshold", 50, "--scope", "within"], ["--threshold", 80, "--keep", "sharpest"],
                     ["--hash", "exact"], ["--verify", "--hash", "phash16"], ["--threshold", 50, "--verify", "--least-probability", 0.7]):  # fmt: skip
            decided = self.ok("index", "dedup", self.index, *more, "--json")
            want = self.ok("dedup", full, *([] if "--hash" in more else ["--hash", "phash16"]), *more, "--json")
            self.assertEqual(decided.json(), want.json())
            self.assertGreater(decided.json()["removed"], 3)
            self.assertEqual("bits are more than the radius, 60 bits" in decided.err, 80 in more)
            one, other = (place / "selections" / "default.csv" for place in (self.index, full))
            self.assertEqual(one.read_bytes(), other.read_bytes())
            one, other = (columns(place / "selections" / "default.selection") for place in (self.index, full))
            self.assertNotEqual(one.pop("cache_digest"), other.pop("cache_digest"))
            self.assertEqual(one, other)
        said = self.info()
        self.assertEqual((said["classes"], said["images"]), (["cat", "dog", "ant"], 39))
        self.assertEqual(said["selections"], [{"name": "default", "current": True}])
        self.assertIn("39 images", self.ok("index", "info", self.index).out)

    def embed(self, cache, name="mine"):
        """Adds vectors that are near if the numbers in names are near, in any source."""
        rows = [json.loads(line) for line in (cache / "ledger.jsonl").read_text().splitlines()]
        names = [row["name"] for row in rows if row["class"] == "ok"]
        numbers = [int(name[-6:-4]) for name in names]
        angles = [0.3 * number + 0.002 * len(name) for name, number in zip(names, numbers)]
        (self.folder / "v.npy").write_bytes(npy([[math.cos(a), math.sin(a), 0.2] for a in angles]))
        (self.folder / "n.txt").write_text("".join(f"{name}\n" for name in names))
        self.ok("embed", self.folder / "v.npy", cache, "--names", self.folder / "n.txt", "--name", name)
        return cache

    def test_decides_by_features_as_one_cache_of_all_does(self):
        full = self.embed(self.cache(*self.sources, name="full"))
        caches = [self.embed(self.cache(source, name=f"cache {i}")) for i, source in enumerate(self.sources)]
        self.ok("index", "add", self.index, *caches[:2])
        self.ok("index", "add", self.index, caches[2])
        by = ["--features", "mine", "--cosine", 0.999]
        sources = [word for cache in caches for word in ("--source", cache)]
        for more in ([], ["--scope", "within", "--keep", "sharpest"], ["--list-pairs", self.folder / "pairs.csv"]):
            decided = self.ok("index", "dedup", self.index, *by, *more, *sources, "--json").json()
            self.assertEqual(decided, self.ok("dedup", full, *by, *more, "--json").json())
            self.assertGreater(decided["removed"], 3)
            one, other = (place / "selections" / "default.csv" for place in (self.index, full))
            self.assertEqual(one.read_bytes(), other.read_bytes())
        self.ok("index", "dedup", self.index, *by, *sources, "--source", self.sources[0], "--report", self.folder / "page.html")
        self.refused(2, ["three (source 2", "--source"], "index", "dedup", self.index, *by, *sources[:4])
        self.refused(2, ["no features 'other'", "mine"], "index", "dedup", self.index, "--features", "other", "--cosine", 0.9, *sources)
        self.refused(2, ["--cosine"], "index", "dedup", self.index, "--features", "mine", *sources)
        self.refused(2, ["fingerprints only"], "index", "dedup", self.index, *sources)
        stranger = self.embed(self.cache(self.photos("four", ["cow"], 6), name="stranger"))
        self.refused(2, ["holds no data set of"], "index", "dedup", self.index, *by, *sources, "--source", stranger)

    def test_answers_by_features(self):
        caches = [self.embed(self.cache(source, name=f"cache {i}")) for i, source in enumerate(self.sources)]
        self.ok("index", "add", self.index, *caches[:2])
        by = ["--features", "mine", "--cosine", 0.999]
        ask = ["index", "query", self.index, caches[2], *by, "--source", caches[0], "--source", caches[1]]
        told = self.ok(*ask, "--json").json()
        self.assertEqual((told["hash"], told["features"], told["threshold"], told["images"]), ("cosine", "mine", 1, 9))
        # An image differs from one of the same number in earlier sources by 0.002 of a turn or not at all.
        self.assertEqual({int(row["name"][-6:-4]) for row in told["matches"]}, set(range(9)))
        equal = {(row["name"], row["match_name"]) for row in told["matches"] if row["distance"] == 0}
        self.assertGreater(len(equal), 3)
        for row in told["matches"]:
            self.assertEqual(row["name"][-6:-4], row["match_name"][-6:-4])
        rows = list(csv.DictReader(io.StringIO(self.ok(*ask).out)))
        self.assertEqual([(row["name"], row["match_name"], int(row["distance"])) for row in rows],
                         [(row["name"], row["match_name"], row["distance"]) for row in told["matches"]])  # fmt: skip
        self.refused(3, ["--fail-on-match"], *ask, "--fail-on-match")
        self.ok(*ask, "--report", self.folder / "page.html")
        self.assertIn("from a cosine of 0.999", (self.folder / "page.html").read_text())
        self.refused(2, ["ingest it first"], *ask[:3], self.sources[2], *ask[4:])
        self.refused(2, ["two (source 1", "--source"], *ask[:-2])
        self.refused(2, ["instead of a hash"], *ask, "--threshold", 3)
        self.refused(2, ["fingerprints only"], "index", "query", self.index, caches[2], "--source", caches[0])

    def test_a_new_one_compares_by_phash16_where_its_first_cache_has_it(self):
        self.ok("ingest", self.sources[0], "--out", self.folder / "old", "--store", "none", "--hash", "phash,dhash")
        for hash_, cache in (("phash", self.folder / "old"), ("phash16", self.cache(self.sources[1], name="new"))):
            index = self.folder / f"{hash_}.index"
            added = self.ok("index", "add", index, cache)
            self.assertIn(f"of 1 source, compared by {hash_}", added.err)
            said = self.info(index)
            self.assertEqual((said["hash"], said["radius"]), (hash_, {"phash": 8, "phash16": 74}[hash_]))
        self.refused(2, ["phash16"], "index", "add", self.folder / "phash16.index", self.folder / "old")

    def test_deletes_merges_and_compacts(self):
        other = self.folder / "other.index"
        self.ok("index", "add", self.index, self.sources[0], "--hash", "phash")
        self.ok("index", "add", other, self.sources[1], "--hash", "phash")
        self.ok("index", "add", other, self.sources[2])
        gone = ["train/cat/one 02.ppm", "train/cat/one 04.ppm", "test/cat/one 10.ppm", "train/ant/two 08.ppm"]
        (self.folder / "names").write_text("\r\n".join(gone[1:3]) + "\r\n", newline="")
        self.ok("index", "delete", self.index, gone[0], "--names", self.folder / "names")
        self.ok("index", "delete", other, gone[3], "--source", 0)
        self.ok("index", "merge", self.index, other)
        before = self.info()
        self.assertEqual((before["images"], before["deleted"], before["segments"]), (35, 3, 2))
        for name in gone:
            next(path for path in self.folder.glob(f"*/{name}")).unlink()
        full = self.cache(*self.sources, name="full")
        self.ok("dedup", full, "--threshold", 6)
        want = self.removed(full / "selections" / "default.csv")
        self.assertGreater(len(want), 3)
        for _ in range(2):
            self.ok("index", "dedup", self.index, "--threshold", 6)
            self.assertEqual(self.removed(self.index / "selections" / "default.csv"), want)
            self.ok("index", "compact", self.index)
        after = self.info()
        self.assertEqual((after["images"], after["deleted"], after["segments"]), (35, 0, 1))
        self.assertEqual(after["digest"], before["digest"])
        self.assertTrue(after["selections"][0]["current"])

        # Duplicates found by dedup are deleted for good.
        self.ok("index", "delete", self.index, "--ids", self.index / "selections" / "default.csv")
        self.assertEqual(self.info()["images"], 35 - len(want))
        self.assertFalse(self.info()["selections"][0]["current"])
        self.assertEqual(self.ok("index", "dedup", self.index, "--threshold", 6, "--json").json()["removed"], 0)
        self.ok("index", "delete", self.index, "--source", 2)
        self.assertEqual([source["images"] for source in self.info()["sources"]][2], 0)

    def test_a_cache_that_got_more_adds_only_that(self):
        cache = self.cache(self.sources[0], name="cache")
        self.ok("index", "add", self.index, cache)
        before = tree(self.index)
        again = self.ok("index", "add", self.index, cache, self.sources[0])
        self.assertEqual(again.err.count("1 source is already in the index"), 2)
        self.assertEqual(tree(self.index), before)
        self.ok("ingest", self.sources[1], "--into", cache)
        more = self.ok("index", "add", self.index, cache)
        self.assertIn("1 source is already in the index", more.err)
        self.assertIn("16 images of 1 source added", more.err)
        self.assertEqual([source["images"] for source in self.info()["sources"]], [14, 16])

    def test_tells_what_it_has_of_new_images(self):
        self.ok("index", "add", self.index, self.sources[0], "--hash", "phash")
        asked = self.ok("index", "query", self.index, self.sources[1], "--threshold", 6)
        rows = {row["name"]: row for row in csv.DictReader(io.StringIO(asked.out))}
        # Every picture with an odd number is the same one, or a darker copy.
        self.assertLessEqual({f"train/cat/two {i:02}.ppm" for i in (1, 3, 7, 9, 11, 13)}, set(rows))
        self.assertEqual(rows["train/cat/two 01.ppm"]["match_name"], "train/dog/one 01.ppm")
        self.assertEqual(rows["train/cat/two 01.ppm"]["match_source"], "one")
        self.assertIn(f"{len(rows)} of 16 images have a duplicate", asked.err)
        of_cache = self.ok("index", "query", self.index, self.cache(self.sources[1], name="two.cache"),
                           "--threshold", 6)  # fmt: skip
        self.assertEqual(of_cache.out.replace(str(self.folder / "two.cache"), str(self.sources[1])), asked.out)
        both = self.ok("index", "query", self.index, *self.sources[:2], "--threshold", 6)
        of = [row["input"] for row in csv.DictReader(io.StringIO(both.out))]
        self.assertEqual(of, [str(self.sources[0])] * 14 + [str(self.sources[1])] * len(rows))
        self.refused(2, ["no cache at"], "index", "query", self.index, self.sources[0], self.folder / "none")
        gate = run("index", "query", self.index, self.sources[1], "--fail-on-match")
        self.assertEqual(gate.code, 3, gate.err)
        self.assertIn("two 01.ppm", gate.out)

    def edits(self, count=12):
        """Pictures for an index, and a delivery: edited copies of some, an unrelated picture, and a copy of another."""
        for i in range(count):
            self.write_pgm(self.folder / "known" / f"{i:02}.pgm", self.detailed(i))
        delivery = self.folder / "delivery"
        self.write_pgm(delivery / "cropped 03.pgm", [row[15:85] for row in self.detailed(3)[6:60]])
        self.write_pgm(delivery / "mirrored 05.pgm", [row[::-1] for row in self.detailed(5)])
        self.write_pgm(delivery / "barred 07.pgm", [[0] * 96] * 30 + self.detailed(7) + [[0] * 96] * 30)
        self.write_pgm(delivery / "same 08.pgm", self.detailed(8))
        self.write_pgm(delivery / "stranger.pgm", self.detailed(99))
        return self.folder / "known", delivery

    def test_tells_which_pictures_it_has_of_new_images(self):
        known, delivery = self.edits()
        self.ok("index", "add", self.index, self.cache(known, name="known.cache"))
        before = tree(self.index)
        plain = self.ok("index", "query", self.index, delivery, "--no-verify")
        self.assertEqual([row["name"] for row in csv.DictReader(io.StringIO(plain.out))], ["same 08.pgm"])
        asked = self.ok("index", "query", self.index, delivery)
        self.assertEqual(self.ok("index", "query", self.index, delivery, "--verify").out, asked.out)
        self.assertEqual(tree(self.index), before)
        rows = list(csv.DictReader(io.StringIO(asked.out)))
        self.assertEqual([(row["name"], row["match_name"]) for row in rows],
                         [("barred 07.pgm", "07.pgm"), ("cropped 03.pgm", "03.pgm"), ("mirrored 05.pgm", "05.pgm"),
                          ("same 08.pgm", "08.pgm")])  # fmt: skip
        self.assertTrue(all(float(row["probability"]) >= 0.9 for row in rows))
        self.assertEqual((rows[3]["distance"], rows[3]["probability"]), ("0", "1.0000"))
        self.assertIn("4 of 5 images have a duplicate", asked.err)
        self.assertNotIn("landmarks", asked.err)  # `add` made them
        again = self.ok("index", "query", self.index, self.cache(delivery, name="delivery.cache"), "--verify", "--json")
        self.assertNotIn("landmarks", again.err)
        said = again.json()
        self.assertEqual((said["images"], said["known"], said["verified"], said["hash"]), (5, 4, 0.9, "phash16"))
        for match, row in zip(said["matches"], rows, strict=True):
            self.assertEqual({key: str(value) for key, value in match.items() if key not in ("input", "probability")},
                             {key: value for key, value in row.items() if key not in ("input", "probability")})  # fmt: skip
            self.assertAlmostEqual(match["probability"], float(row["probability"]))
        page = self.folder / "known.html"
        self.ok("index", "query", self.index, delivery, "--verify", "--report", page, "--source", known)
        self.assertIn("by the pictures themselves", page.read_text())
        one = self.ok("index", "query", self.index, delivery / "cropped 03.pgm")
        self.assertEqual([row["match_name"] for row in csv.DictReader(io.StringIO(one.out))], ["03.pgm"])
        # Both inputs at once; each is compared only with the index.
        both = self.ok("index", "query", self.index, delivery, known, "--verify", "--json").json()
        self.assertEqual((both["images"], both["known"], len(both["matches"])), (17, 16, 16))
        gate = run("index", "query", self.index, delivery, "--verify", "--fail-on-match")
        self.assertEqual(gate.code, 3, gate.err)

    def test_says_that_thumbnails_alone_tell_the_best_picture(self):
        known, _ = self.edits()
        self.ok("index", "add", self.index, known)
        words = "which also decide the best picture of a group; to compare larger pictures"
        for keep, flags, is_said in (("best", [], True), ("first", [], False), ("best", ["--source", known], False),
                                     ("best", ["--no-verify"], False)):  # fmt: skip
            with self.subTest(keep=keep, flags=flags):
                said = self.ok("index", "dedup", self.index, "--keep", keep, *flags).err
                self.assertEqual(words in said, is_said, said)

    def test_says_where_there_are_no_thumbnails(self):
        bare = self.folder / "bare"
        self.ok("ingest", self.sources[0], "--out", bare, "--thumbnails", "off")
        self.ok("index", "add", self.index, bare)
        for verb in ("query", "dedup"):
            self.refused(2, [f"{self.index} lacks thumbnails", "--thumbnails on"], "index", verb, self.index,
                         *([self.sources[1]] if verb == "query" else []), "--verify")  # fmt: skip
        full = self.folder / "full.index"
        self.ok("index", "add", full, self.sources[1])
        self.refused(2, [f"{bare} has no thumbnails", "--thumbnails on"], "index", "query", full, bare, "--verify")
        self.refused(2, ["--no-verify"], "index", "query", full, self.sources[0], "--no-verify", "--least-probability", 0.95)

    def test_refuses(self):
        self.refused(2, ["winnow index add"], "index", "info", self.index)
        self.refused(2, ["ahash"], "index", "add", self.index, self.cache(self.sources[0], name="c"), "--hash", "ahash")
        self.assertFalse(self.index.exists())
        self.refused(2, ["not an index"], "index", "add", self.sources[0], self.sources[1])
        self.ok("index", "add", self.index, self.sources[0])
        self.refused(2, ["--radius"], "index", "add", self.index, self.sources[1], "--radius", 5)
        self.refused(2, ["no image nothing.ppm"], "index", "delete", self.index, "nothing.ppm")
        self.refused(2, ["--source"], "index", "delete", self.index)
        (self.folder / "ids").write_text("id,name\n7x,a\n")
        self.refused(2, ["line 2", "7x"], "index", "delete", self.index, "--ids", self.folder / "ids")
        self.refused(2, ["dhash"], "index", "dedup", self.index, "--hash", "dhash")
        self.ok("index", "add", self.folder / "wide.index", self.sources[1], "--radius", 9)
        self.refused(2, ["radius 74", "radius 9"], "index", "merge", self.index, self.folder / "wide.index")
        for ending in ("table", "names", "links"):
            damaged = self.folder / f"damaged-{ending}"
            shutil.copytree(self.index, damaged)
            file = next(damaged.glob(f"*.{ending}"))
            content = bytearray(file.read_bytes())
            # Most of a table is thumbnails, which are not read here.
            content[len(content) // (16 if ending == "table" else 2)] ^= 4
            file.write_bytes(content)
            self.refused(1, [file.name, "restore"], "index", "dedup", damaged)
            file.unlink()
            self.refused(1, [file.name, "is missing"], "index", "dedup", damaged)

    def test_tells_an_index_from_a_cache(self):
        cache = self.cache(self.sources[0], name="cache")
        self.ok("index", "add", self.index, cache)
        for verb in ("dedup", "split", "info"):
            self.refused(2, [f"{self.index} is an index of fingerprints, not a cache"], verb, self.index)
        self.refused(2, ["not a cache"], "index", "add", self.folder / "other", self.index)
        before = tree(cache)
        for command in (["add", cache, self.sources[1]], ["dedup", cache], ["query", cache, self.sources[1]],
                        ["compact", cache], ["merge", self.index, cache]):  # fmt: skip
            self.refused(2, [f"{cache} is a cache, not an index"], "index", *command)
        self.assertEqual(tree(cache), before)

    def test_dedups_hash_is_that_of_the_index(self):
        self.assertIn("auto: that of the index", " ".join(self.ok("index", "dedup", "--help-all").out.split()))

    def test_leaves_nothing_behind_when_stopped(self):
        self.ok("index", "add", self.index, self.sources[0])
        before = tree(self.index)
        temporary = self.folder / "temporary"
        temporary.mkdir()
        for signal_name in ("int", "term", "usr1"):
            for verb in ("add", "query"):
                stopped = self.refused(
                    75, ["stopped"], "index", verb, self.index, self.sources[1],
                    env={"TMPDIR": str(temporary), "WINNOW_FAILPOINTS": f"{signal_name}=dir.create.after:*:1"},
                )  # fmt: skip
                self.assertNotIn(str(temporary), stopped.err)
                self.assertEqual(os.listdir(temporary), [])
                self.assertEqual(tree(self.index), before)

    def test_a_change_that_is_stopped_takes_back_what_it_wrote(self):
        caches = [self.cache(source, name=f"{source.name}.cache") for source in self.sources]
        other, new = self.folder / "other.index", self.folder / "new.index"
        self.ok("index", "add", other, caches[2])
        self.ok("index", "add", self.index, caches[0])
        links = next(self.index.glob("*.links")).name
        self.ok("index", "delete", self.index, "train/cat/one 02.ppm")
        before = tree(self.index)
        for action in ("int", "term", "usr1"):
            for command in (["add", self.index, caches[1]], ["merge", self.index, other], ["compact", self.index],
                            ["delete", self.index, "--source", 0]):  # fmt: skip
                self.refused(75, ["stopped", "the index"], "index", *command, env=failpoints(action, "file.create.before", "*", 1))
                self.assertEqual(tree(self.index), before, command)
            self.refused(75, ["stopped"], "index", "add", new, caches[1], env=failpoints(action, "file.create.before", links, 1))
            self.assertFalse(new.exists())
        self.ok("index", "add", new, caches[1])

    def test_csv_is_read_by_pythons_csv_whatever_the_names_are(self):
        """Read as docs/formats/manifest.md says."""

        def rows(path):
            with open(path, newline="", encoding="utf-8", errors="surrogateescape") as file:
                return list(csv.DictReader(file))

        def stdout(name, *args):
            path = self.folder / name
            with open(path, "wb") as file:
                subprocess.run([program.WINNOW, *map(str, args)], stdout=file, stderr=subprocess.DEVNULL, check=True)
            return rows(path)

        names = [b"caf\xe9", b"caf\xc3\xa9", b"a,b", b'"quoted" ', b"two\nlines", b"a\rb", b"\xff\xfe", b"\xee\xbe\x80", b"=1+1", b" "]
        images = [b"train/cl\xe4ss, one/" + name + b".ppm" for name in names]
        root = self.folder / "odd"
        picture = b"P6\n24 24\n255\n" + self.image(24, seed=7)
        for image in images:
            path = os.path.join(os.fsencode(root), image)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(picture)
        cache = self.cache(root, name="odd.cache")
        self.ok("dedup", cache, "--list-groups", self.folder / "groups.csv", "--list-pairs", self.folder / "pairs.csv")
        self.ok("index", "add", self.index, cache)
        self.ok("index", "dedup", self.index)

        def in_column(column, table):
            return sorted(os.fsencode(row[column]) for row in table)

        self.assertEqual(in_column("name", rows(self.folder / "groups.csv")), sorted(images))
        removed = rows(cache / "selections" / "default.csv")
        self.assertEqual(sorted([*in_column("name", removed), os.fsencode(removed[0]["kept_name"])]), sorted(images))
        self.assertEqual(rows(self.index / "selections" / "default.csv"), removed)
        self.assertEqual(in_column("image", stdout("hashes.csv", "hash", root)), sorted(images))
        found = stdout("found.csv", "index", "query", self.index, cache)
        self.assertEqual(in_column("name", found), sorted(images))
        self.assertEqual(set(in_column("input", found)), {os.fsencode(cache)})
        self.assertEqual(set(in_column("match_source", found)), {b"odd"})
        # Names are also accepted as written: the first column as ids, the name as an argument.
        self.ok("index", "delete", self.index, "--ids", self.index / "selections" / "default.csv")
        self.assertEqual(self.info()["images"], 1)

    # Faults

    def test_what_cannot_be_removed_fails_no_change(self):
        self.ok("index", "add", self.index, *self.sources[:2])
        self.ok("index", "compact", self.index, env={"WINNOW_FAILPOINTS": "eio=file.remove.before:00001.table:1"})
        self.assertEqual((self.info()["segments"], (self.index / "00001.table").exists()), (1, True))
        self.ok("index", "delete", self.index, "--source", 0)
        self.assertFalse((self.index / "00001.table").exists())

    def test_landmarks_are_in_nobodys_way(self):
        """A query that makes them answers even on a full disk, and leaves the index undamaged if it is killed."""
        known, delivery = self.edits(count=6)
        asked = self.cache(delivery, name="delivery.cache")
        base = self.folder / "base" / "x.index"
        self.ok("index", "add", base, known)

        def command(place):
            return ["index", "query", place, asked, "--verify"]

        # `add` made them and the fitted model; then they were lost.
        self.lose_what_can_be_made(base)
        old = tree(base)
        want, points = self.points_of("query", base, command)
        answer = self.ok(*command(base)).out
        self.assertEqual(set(want) - set(old), {"00001.landmarks", "00001.fitted"})
        numbers = itertools.count()

        def fault(point, file, k):
            for action, code in (("kill", -signal.SIGKILL), ("enospc", 0)):
                if action == "enospc" and not (point.endswith(".before") and point[:-7] in TAKES_SPACE):
                    continue
                where = f"{action} at {point} {file}, time {k}"
                place = self.place(f"run-{next(numbers)}", None)
                self.ok("index", "add", place, known)
                self.lose_what_can_be_made(place)
                died = run(*command(place), env=failpoints(action, point, file, k))
                self.assertEqual(died.code, code, f"{where}: {died.err}")
                if action == "enospc":
                    self.assertEqual(died.out, answer, where)
                    if ".landmarks" in file:
                        self.assertRegex(died.err, "not kept in the index.*o space left", where)
                left = {name: content for name, content in tree(place).items() if not self.can_be_made(name)}
                self.assertEqual(left, old, where)
                self.assertEqual(self.ok(*command(place)).out, answer, where)
                self.assertEqual(tree(place), want, where)

        chosen = [point for point in first_and_last(points) if self.can_be_made(point[1])]
        self.assertGreater(len(chosen), 10)
        in_parallel(fault, some_faults("points of writing landmarks, killed at", chosen, 6))

    def can_be_made(self, name):
        """Whether a file is made again if it is missing."""
        return ".landmarks" in name or ".fitted" in name

    def lose_what_can_be_made(self, index):
        for path in index.iterdir():
            if self.can_be_made(path.name):
                path.unlink()

    def changes(self):
        """Name -> (index that it begins with or None, command for a path)."""
        caches = [self.cache(source, name=f"{source.name}.cache") for source in self.sources]
        base = self.folder / "base" / "x.index"
        self.ok("index", "add", base, caches[0])
        self.ok("index", "add", base, caches[1])
        self.ok("index", "delete", base, "train/cat/one 02.ppm")
        self.ok("index", "dedup", base, "--threshold", 2)
        other = self.folder / "other.index"
        self.ok("index", "add", other, caches[2])
        return {
            "make": (None, lambda x: ["index", "add", x, caches[0]]),
            "add": (base, lambda x: ["index", "add", x, caches[2]]),
            "delete": (base, lambda x: ["index", "delete", x, "--source", 1]),
            "merge": (base, lambda x: ["index", "merge", x, other]),
            "compact": (base, lambda x: ["index", "compact", x]),
            "dedup": (base, lambda x: ["index", "dedup", x, "--threshold", 8]),
        }

    def place(self, name, base):
        folder = self.folder / name / "work"
        folder.mkdir(parents=True)
        if base:
            shutil.copytree(base, folder / "x.index")
        return folder / "x.index"

    def points_of(self, name, base, command):
        place = self.place(f"trace-{name}", base)
        path = self.folder / f"points-{name}"
        self.ok(*command(place), env={"WINNOW_FAILPOINTS": f"trace={path}"})
        prefix = str(place.parent.parent) + "/"
        points = [(point, file.removeprefix(prefix)) for point, file in traces.read(path)]
        return tree(place), [point for point in points if point[1].startswith("work")]

    def disturb(self, action, code, most):
        changes = {}
        hits = []
        for name, (base, command) in self.changes().items():
            want, points = self.points_of(name, base, command)
            changes[name] = (base, command, want)
            # The change is complete when only files are written that can be made again.
            points = list(itertools.takewhile(lambda point: not self.can_be_made(point[1]), points))
            self.assertGreater(len(points), 10, name)
            hits += [(name, *hit) for hit in first_and_last(points)]
        if action == "enospc":
            hits = [hit for hit in hits if hit[1].endswith(".before") and hit[1][:-7] in TAKES_SPACE]
        numbers = itertools.count()

        def fault(name, point, file, k):
            base, command, want = changes[name]
            old = tree(base) if base else {}
            where = f"{name}: {action} at {point} {file}, time {k}"
            place = self.place(f"run-{next(numbers)}", base)
            died = run(*command(place), env=failpoints(action, point, file, k))
            self.assertEqual(died.code, code, f"{where}: {died.err}")
            if code == 1:
                self.assertRegex(died.err, r"winnow: [^\n]*o space left", where)
            left = tree(place) if place.exists() else {}
            # The old or the new state, each complete: what the manifest names, and the selections.
            manifest = left.get("manifest.json")
            if base or not manifest or json.loads(manifest)["sources"]:
                self.assertIn(manifest, (old.get("manifest.json"), want["manifest.json"]), where)
            whole = want if left.get("manifest.json") == want["manifest.json"] else old
            for file_name, content in whole.items():
                if self.can_be_made(file_name):
                    continue
                if not file_name.startswith("selections"):
                    self.assertEqual(left[file_name], content, f"{where}: {file_name}")
                else:
                    self.assertIn(left.get(file_name), (old.get(file_name), want.get(file_name)), where)
            # Leftovers of a fault do not stay.
            if name == "delete" and whole is want:
                return
            self.ok(*command(place))
            self.assertEqual(tree(place), want, where)
            shutil.rmtree(place.parent.parent)

        def kind_of_file(hit):
            return re.sub(r"[0-9a-f]{2,}|\d", "0", hit[2])

        in_parallel(fault, some_of(f"points of changes of an index, {action} at", hits, most, lambda hit: hit[0], lambda hit: hit[1],
                                kind_of_file))

    def test_killed_at_each_point(self):
        self.disturb("kill", -signal.SIGKILL, 40)

    def test_on_a_disk_full_at_each_point(self):
        self.disturb("enospc", 1, 20)

    def test_changes_are_durable_when_they_are_said_to_be(self):
        for name, (base, command) in self.changes().items():
            _, points = self.points_of(name, base, command)
            commits = r"\.selection$" if name == "dedup" else r"/manifest\.json$"
            traces.Disk(points, commits).at_end()
            for file in {file for point, file in points if ".sync." in point}:
                with self.assertRaises(traces.Lost, msg=f"{name}: {file}"):
                    traces.Disk(traces.without_syncs_of(points, file), commits).at_end()


if __name__ == "__main__":
    unittest.main(verbosity=2)
