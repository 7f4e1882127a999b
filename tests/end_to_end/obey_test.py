"""dedup, index, split and tune obey what people said of images: --review, --prefer, --protect."""

import csv
import io
import json
import shutil
import unittest

import schemas_test
from golden import xxh3_128
from program import Case


class Obey(Case):
    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        self.source = self.folder / "photos"
        self.hashes = {}
        for i in range(6):
            pixels = self.image(24, seed=i)
            self.put(f"web/{i}.ppm", pixels)
            # Another file that looks the same.
            self.put(f"gold/{i}.ppm", bytes(min(255, p + (k % 97 == 0)) for k, p in enumerate(pixels)))

    def put(self, name, pixels):
        path = self.source / name
        self.write_ppm(path, pixels, 24)
        self.hashes[name] = xxh3_128(path.read_bytes())

    def said(self, *judgements, name="said.jsonl", tail=""):
        path = self.folder / name
        lines = [{"schema": "winnow.review/1"}]
        lines += [{"verdict": verdict, "images": [self.hashes.get(n, n) for n in names], "names": list(names)}
                  for verdict, *names in judgements]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines) + tail)
        return path

    def json_of(self, schema, *args, **more):
        value = self.ok(*args, "--json", **more).json()
        if schemas_test.jsonschema:
            schemas_test.validator(schema).validate(value)
        return value

    def removed(self, *more, of=None):
        result = self.ok("dedup", of or self.source, "--threshold", 4, "--labels", "none", *more)
        rows = csv.DictReader(io.StringIO(result.out))
        return {row["name"]: row["kept_name"] for row in rows}, result.err

    def test_a_data_set_in_place(self):
        plain, _ = self.removed()
        self.assertEqual(plain, {f"web/{i}.ppm": f"gold/{i}.ppm" for i in range(6)})
        review = self.said(
            ("different", "web/0.ppm", "gold/0.ppm"),
            ("duplicate", "web/1.ppm", "web/2.ppm"),
            ("keep", "web/3.ppm"),
            ("different", "web/4.ppm", "gold/4.ppm"),
            ("none", "gold/4.ppm", "web/4.ppm"),
            ("unsure", "web/5.ppm", "gold/5.ppm"),
            ("duplicate", "web/5.ppm", "0" * 32),
        )
        removed, err = self.removed("--review", review)
        self.assertEqual(removed, {
            "web/1.ppm": "gold/1.ppm", "gold/2.ppm": "gold/1.ppm", "web/2.ppm": "gold/1.ppm",
            "gold/3.ppm": "web/3.ppm", "web/4.ppm": "gold/4.ppm", "web/5.ppm": "gold/5.ppm"})
        self.assertIn("3 judgements applied; 1 image that they name is not in these data", err)
        twice, _ = self.removed("--review", review, "--review", self.said(("none", "web/3.ppm"), name="more.jsonl"))
        self.assertEqual(twice["web/3.ppm"], "gold/3.ppm")
        _, err = self.removed("--review", self.said(("keep", "web/3.ppm"), name="one.jsonl"))
        self.assertIn("1 judgement applied\n", err)

    def test_an_export_in_place(self):
        def kept(*more):
            to = self.folder / "clean"
            shutil.rmtree(to, ignore_errors=True)
            err = self.ok("export", self.source, "--to", to, "--threshold", 4, "--on-conflict", "keep", *more).err
            return {str(path.relative_to(to)) for path in to.rglob("*.ppm")}, err

        self.assertEqual(kept()[0], {f"gold/{i}.ppm" for i in range(6)})
        review = self.said(("different", "web/0.ppm", "gold/0.ppm"), ("keep", "web/3.ppm"))
        names, err = kept("--review", review, "--prefer", "web/4.ppm")
        self.assertEqual(names, {"gold/0.ppm", "web/0.ppm", "gold/1.ppm", "gold/2.ppm", "web/3.ppm", "web/4.ppm", "gold/5.ppm"})
        self.assertIn("2 judgements applied", err)
        self.ok("ingest", self.source, "--out", self.folder / "cache")
        self.refused(2, ["--review is for a data set"], "export", self.folder / "cache", "--to", self.folder / "x", "--review", review)

    def test_near_images_of_two_labels_are_one_where_people_say_so(self):
        self.refused(2, ["stay", "keep"], "dedup", self.source, "--on-conflict", "nothing")
        review = self.said(("duplicate", "web/1.ppm", "gold/1.ppm"))
        for more, want in (([], {}), (["--review", review], {"web/1.ppm": "gold/1.ppm"}),
                           (["--on-conflict", "keep"], {f"web/{i}.ppm": f"gold/{i}.ppm" for i in range(6)})):  # fmt: skip
            result = self.ok("dedup", self.source, "--threshold", 4, *more)
            removed = {row["name"]: row["kept_name"] for row in csv.DictReader(io.StringIO(result.out))}
            self.assertEqual(removed, want)
            self.assertIn("6 groups have different labels", result.err)

    def test_images_that_are_dropped_by_themselves(self):
        cache, index = self.folder / "cache", self.folder / "index"
        self.ok("ingest", self.source, "--out", cache, "--labels", "none")
        self.ok("index", "add", index, cache, "--hash", "phash")
        lines = [{"image_verdict": verdict, "images": [self.hashes[name]], "names": [name]}
                 for verdict, name in (("drop", "gold/0.ppm"), ("keep", "gold/1.ppm"), ("drop", "web/2.ppm"))]  # fmt: skip
        review = self.folder / "images.jsonl"
        review.write_text("".join(json.dumps(line) + "\n" for line in ({"schema": "winnow.review/1"}, *lines)))
        flags = ["--threshold", 4, "--review", review]
        said = self.json_of("dedup", "dedup", cache, *flags)
        self.assertEqual((said["review"]["dropped"], said["review"]["judgements"], said["removed"]), (2, 3, 6))
        rows = list(csv.DictReader(io.StringIO((cache / "selections" / "default.csv").read_text())))
        self.assertEqual({row["name"]: row["rule"] for row in rows if row["rule"] != "duplicate"},
                         {"gold/0.ppm": "review", "web/2.ppm": "review"})
        self.assertNotIn("web/0.ppm", [row["name"] for row in rows])  # it stands for its group now
        self.assertEqual(self.json_of("dedup", "index", "dedup", index, *flags), said)
        result = self.ok("dedup", cache, *flags, "--protect", "gold/0.ppm")
        self.assertIn("1 image was to be dropped by a judgement, but kept because of --protect", result.err)
        # Wherever a selection is made of it.
        to = self.folder / "clean"
        self.ok("export", self.source, "--to", to, "--threshold", 4, "--on-conflict", "keep", "--review", review)
        self.assertEqual(sorted(str(path.relative_to(to)) for path in to.rglob("*.ppm")),
                         ["gold/1.ppm", "gold/2.ppm", "gold/3.ppm", "gold/4.ppm", "gold/5.ppm", "web/0.ppm"])
        split = self.json_of("split", "split", cache, "--val", 0.3, *flags)
        self.assertEqual(split["review"]["dropped"], 2)
        self.assertEqual(sum(part["samples"] for part in split["splits"]), 10)
        self.ok("tune", cache, "--review", review, "--images", 0)
        small = self.folder / "small"
        self.ok("dedup", cache, *flags, "--name", "said")
        self.ok("compact", cache, "--selection", "said", "--out", small)
        self.assertIn("left out because a review drops it", (small / "ledger.jsonl").read_text())
        # One sentence where both cannot be.
        both = self.said(("keep", "gold/0.ppm"))
        self.refused(2, ["'gold/0.ppm' represents its group", "images.jsonl, line 2", "it is dropped", "undo one"],
                     "dedup", cache, "--review", both, "--review", review)
        review.write_text(review.read_text().replace('"drop"', '"lose"'))
        self.refused(1, ["images.jsonl, line 2", "'image_verdict' is none of keep, drop, unsure and none"], "dedup", cache, "--review", review)

    def test_names(self):
        removed, _ = self.removed("--prefer", "web/**")
        self.assertEqual(removed, {f"gold/{i}.ppm": f"web/{i}.ppm" for i in range(6)})
        removed, err = self.removed("--prefer", "**/[01].ppm", "--prefer", "nowhere/*", "--protect", "web/?.ppm")
        self.assertEqual(removed, {f"gold/{i}.ppm": f"web/{i}.ppm" for i in range(6)})
        self.assertIn("no image matches --prefer 'nowhere/*'", err)
        removed, _ = self.removed("--protect", "**")
        self.assertEqual(removed, {})
        self.refused(2, ["--protect 'goldd/**'", "would protect nothing"],
                     "dedup", self.source, "--protect", "goldd/**")

    def test_a_cache_an_index_and_a_split(self):
        cache, index = self.folder / "cache", self.folder / "index"
        self.ok("ingest", self.source, "--out", cache, "--labels", "none")
        self.ok("index", "add", index, cache, "--hash", "phash")
        review = self.said(("different", "web/0.ppm", "gold/0.ppm"), ("keep", "web/3.ppm"), ("keep", "0" * 32))
        flags = ["--threshold", 4, "--review", review, "--prefer", "web/*", "--protect", "gold/5.ppm"]
        self.assertNotIn("review", self.json_of("dedup", "dedup", cache, "--threshold", 4))
        said = self.json_of("dedup", "dedup", cache, *flags)
        self.assertEqual(said["review"], {"judgements": 2, "unknown_images": 1, "equal_images": 0, "overruled": 0,
                                          "dropped": 0, "spared": 0, "protected_drops": 0})
        self.assertEqual(said["protected_leaks"], 0)
        self.assertEqual(said["removed"], 5)
        listed = (cache / "selections" / "default.csv").read_bytes()
        self.assertIn(b"gold/3.ppm", listed)
        self.assertIn(b"web/5.ppm", listed)
        self.assertNotIn(b"web/0.ppm", listed)
        self.assertIn("2 judgements of said.jsonl", self.ok("info", cache, "--selection", "default").out)
        self.assertEqual(self.json_of("dedup", "index", "dedup", index, *flags), said)
        self.assertEqual((index / "selections" / "default.csv").read_bytes(), listed)
        self.assertEqual(self.json_of("dedup", "dedup", cache, *flags, ranks=2), said)
        self.assertEqual((cache / "selections" / "default.csv").read_bytes(), listed)
        split = ["split", cache, "--val", 0.3, "--threshold", 4]
        self.assertEqual(self.json_of("split", *split)["blocks"], 6)
        parted = self.json_of("split", *split, "--review", review)
        self.assertEqual(parted["blocks"], 7)
        self.assertEqual(parted["review"], {"judgements": 2, "unknown_images": 1, "equal_images": 0, "dropped": 0})

    def test_tune_says_what_judged_pairs_say(self):
        cache = self.folder / "cache"
        self.ok("ingest", self.source, "--out", cache)
        review = self.said(*(("duplicate", f"web/{i}.ppm", f"gold/{i}.ppm") for i in range(3)),
                           ("different", "web/3.ppm", "gold/3.ppm"))
        tune = ["tune", cache, "--hash", "phash", "--images", 0, "--review", review]
        judged = self.json_of("tune", *tune)["hashes"][0]["judged"]
        self.assertFalse(judged["sampled"])
        last = judged["thresholds"][-1]
        self.assertEqual((last["judged"], last["duplicates"], last["precision"], last["recall"]), (4, 3, 0.75, 1))
        self.assertAlmostEqual(last["precision_at_least"], 0.1941, 4)  # Clopper and Pearson's of 3 of 4
        self.assertAlmostEqual(last["precision_at_most"], 0.9937, 4)
        self.assertIn("phash by review decisions, as if they were a drawn sample", self.ok(*tune).out)

    def test_wrong_reviews(self):
        good = self.said(("different", "web/0.ppm", "gold/0.ppm"))
        text = good.read_text()
        bad = self.folder / "bad.jsonl"
        for content, words in [
            ("", ["bad.jsonl is not a review", "a file that winnow review wrote"]),
            ("id,name\n1,a\n", ["bad.jsonl is not a review"]),
            (text + "nonsense\n", ["bad.jsonl, line 3 is damaged", "it is not JSON"]),
            (text.replace("different", "the same"), ["bad.jsonl, line 2 is damaged", "'verdict' is none of"]),
        ]:
            bad.write_text(content)
            self.refused(1, words, "dedup", self.source, "--review", bad)
        self.refused(2, ["nowhere.jsonl"], "dedup", self.source, "--review", self.folder / "nowhere.jsonl")
        against = self.said(("duplicate", "gold/0.ppm", "web/0.ppm", "web/1.ppm"), name="against.jsonl")
        self.refused(2, ["said.jsonl, line 2 says that 'gold/0.ppm' and 'web/0.ppm' are different",
                         "against.jsonl, line 2 says that they are the same picture", "undo one"],
                     "dedup", self.source, "--review", good, "--review", against)
        removed, err = self.removed("--review", self.said(("different", "web/0.ppm", "gold/0.ppm"), tail='{"verdict":"di'))
        self.assertNotIn("web/0.ppm", removed)
        self.assertIn("the last line of", err)
        self.assertIn("is cut off and was ignored", err)


if __name__ == "__main__":
    unittest.main()
