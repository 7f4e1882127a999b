"""winnow tune, and winnow dedup --precision: what a threshold would do, before it is used."""

import json
import unittest
import xml.etree.ElementTree as ElementTree

from golden import with_digest
from program import Case


class Tune(Case):
    def setUp(self):
        super().setUp()
        # Pictures in ten classes, and slightly darker copies of some.
        self.source = self.folder / "in"
        for i in range(120):
            pixels = self.image(24, seed=i)
            self.write_ppm(self.source / f"{i % 10}" / f"{i}.ppm", pixels, 24)
            if i % 6 == 0:
                self.write_ppm(self.source / f"{i % 10}" / f"{i} again.ppm", bytes(p * 9 // 10 for p in pixels), 24)
        self.cache = self.folder / "cache"
        self.ok("ingest", self.source, "--out", self.cache)

    def test_prints_tables_and_draws(self):
        plot = self.folder / "plot.svg"
        result = self.ok("tune", self.cache, "--precision", 0.9, "--images", 20, "--plot", plot)
        for words in ("phash of 140 images", "phash16 of 140 images", "false pairs estimated from classes", "JPEG quality 10"):
            self.assertIn(words, result.out)
        for line in result.out.splitlines()[:-2]:  # the last lines are a sentence, with a command to copy
            self.assertLessEqual(len(line), 80, line)
        self.assertIn(f"winnow dedup {self.cache} --hash ", result.out.splitlines()[-2])
        self.assertRegex(result.err, r"phash: \d+ bits for a precision of 90.0 %")
        picture = ElementTree.parse(plot).getroot()
        self.assertTrue(picture.tag.endswith("svg"))
        self.assertIn("phash: expected recall", plot.read_text())
        self.check_plot(picture)
        again = self.ok("tune", self.cache, "--precision", 0.9, "--images", 20, "--threads", 1)
        self.assertEqual(result.out, again.out)

    def check_plot(self, picture, step=7.0):
        """No text of the legend lies partly outside the picture, and no two hashes have the same colour."""
        width, height = float(picture.get("width")), float(picture.get("height"))
        legend = [text for text in picture.iter() if text.get("class") == "legend"]
        self.assertTrue(legend)
        for text in legend:
            self.assertLessEqual(float(text.get("x")) + step * len(text.text), width)
            self.assertLessEqual(float(text.get("y")), height)
        lines = [path for path in picture.iter() if path.tag.endswith("path") and len(path)]
        colours = {}
        for path in lines:
            colours.setdefault(path.get("style").split(")")[0], set()).add(path[0].text.split(":")[0])
        self.assertTrue(all(len(hashes) == 1 for hashes in colours.values()), colours)

    def test_draws_many_hashes_of_codes_of_two_lengths(self):
        hashes = ("phash,dhash,dhash_vertical,ahash,whash,phash16,pdq,imagededup_phash,imagededup_whash")
        cache = self.folder / "many"
        self.ok("ingest", self.source, "--out", cache, "--hash", hashes)
        plot = self.folder / "plot.svg"
        result = self.ok("tune", cache, "--images", 2, "--plot", plot)
        picture = ElementTree.parse(plot).getroot()
        self.check_plot(picture)
        texts = [text.text for text in picture.iter() if text.tag.endswith("text")]
        self.assertIn("share of the bits that may differ", texts)
        # A row for each distance that adds pairs, not for each threshold.
        rows = [line.split()[:2] for line in result.out.splitlines() if line[:4].strip().isdigit()]
        for before, row in zip(rows, rows[1:]):
            if int(row[0]) > int(before[0]):
                self.assertNotEqual(before[1], row[1])
        self.assertLess(len(result.out.splitlines()), 300)

    def test_a_clean_set_gets_the_usual_threshold(self):
        for i in range(60):
            self.write_ppm(self.folder / "clean" / f"{i}.ppm", self.random.randbytes(64 * 64 * 3), 64)
        cache = self.folder / "of clean"
        self.ok("ingest", self.folder / "clean", "--out", cache, "--hash", "pdq")
        result = self.ok("dedup", cache, "--hash", "pdq", "--precision", 0.95, "--json")
        self.assertEqual(result.json()["threshold"], 71)
        self.assertIn("its usual threshold", result.err)
        self.assertEqual(self.ok("tune", cache, "--images", 0, "--json").json()["recommended"],
                         {"hash": "exact", "threshold": 0, "removed": 0, "unsafe": False})
        self.assertEqual(self.ok("tune", cache, "--images", 0, "--hash", "pdq", "--json").json()["recommended"],
                         {"hash": "pdq", "threshold": 71, "pairs": 0, "false_pairs": 0, "removed": 0, "unsafe": False})

    def test_says_where_the_search_ended(self):
        result = self.ok("tune", self.cache, "--hash", "phash", "--images", 0, "--most", 3)
        self.assertIn("larger distances than 3 bits were not searched", result.out)

    def test_dedup_takes_what_tune_names(self):
        tuned = self.ok("tune", self.cache, "--hash", "phash", "--images", 0, "--precision", 0.9, "--json").json()
        (phash,) = tuned["hashes"]
        point = phash["thresholds"][phash["chosen"]]
        self.assertGreaterEqual(point["precision"], 0.9)
        result = self.ok("dedup", self.cache, "--hash", "phash", "--precision", 0.9, "--json")
        self.assertEqual(result.json()["threshold"], phash["chosen"])
        self.assertEqual(result.json()["removed"], point["removable"])
        self.assertGreaterEqual(point["removable"], 20)
        self.assertIn("pairs are false", result.err)

    def settings(self, selection):
        return self.ok("info", self.cache, "--selection", selection, "--json").json()["selection"]["settings"]

    def test_without_flags_all_verbs_take_what_tune_recommends(self):
        for flags in ([], ["--risk", 3], ["--precision", 0.9]):
            tuned = self.ok("tune", self.cache, "--images", 0, "--json", *flags).json()
            best = {name: tuned["recommended"][name] for name in ("hash", "threshold")}
            by = f"{flags[0][2:]} {flags[1]}" if flags else "risk 0.5"
            for verb, *to in (["dedup", self.cache], ["dedup", self.source], ["split", self.cache]):
                told = self.ok(verb, *to, *flags, "--json")
                self.assertEqual({name: told.json()[name] for name in best}, best)
                self.assertIn(f"{best['hash']} within {best['threshold']} bits of ", told.err)
                self.assertIn("it finds JPEG", told.err)
                if verb == "dedup":
                    self.assertEqual(told.json()["chosen_by"], by)
            for name in ("default", "split"):
                self.assertIn(f"(chosen by {by})", self.ok("info", self.cache, "--selection", name).out)
                settings = self.settings(name)
                self.assertEqual((settings["chosen_by"], settings["hash_chosen"]), (by, True))
        said = self.ok("ingest", self.source, "--out", self.folder / "dropped", "--drop", "--json")
        self.assertIn(" false pairs expected among 140 images", said.err)
        kept = self.ok("dedup", self.cache, "--json").json()
        self.assertEqual((said.json()["ok"], said.json()["dropped"]), (kept["kept"], kept["removed"]))
        index = self.folder / "all.index"
        self.ok("index", "add", index, self.cache)
        of_index = self.ok("index", "dedup", index, "--json").json()
        of_cache = self.ok("dedup", self.cache, "--hash", "phash16", "--json").json()
        self.assertEqual(of_index, of_cache)
        self.assertRegex(self.ok("index", "query", index, self.source).err, r"phash16 within \d+ bits of 256: fewer than 0.5")
        # If both are given, nothing is chosen.
        told = self.ok("dedup", self.cache, "--threshold", 4, "--json")
        self.assertNotIn(" within ", told.err)
        self.assertNotIn("chosen_by", told.json())
        self.assertEqual((told.json()["hash"], told.json()["threshold"]), ("phash", 4))
        self.ok("split", self.cache, "--hash", "phash")
        self.assertEqual(self.settings("split")["chosen_by"], "risk 0.5")
        self.assertNotIn("hash_chosen", self.settings("split"))
        self.ok("split", self.cache, "--threshold", 4)
        self.assertNotIn("chosen_by", self.settings("split"))

    def test_where_no_hash_will_do_files_and_pixels_are_compared(self):
        # Shades of one picture: random pairs are as near as any.
        pixels = self.image(24, seed=1)
        for i in range(120):
            self.write_ppm(self.folder / "shades" / f"{i:03}.ppm", bytes(max(0, p - i // 2) for p in pixels), 24)
        cache = self.folder / "of shades"
        self.ok("ingest", self.folder / "shades", "--out", cache, "--hash", "phash")
        told = self.ok("dedup", cache, "--self-check", 5, "--json")
        self.assertIn("no stored hash has fewer than 0.5 false pairs expected among 120 images", told.err)
        self.assertIn("no self-check: it checks the search by codes", told.err)
        self.assertEqual((told.json()["hash"], told.json()["removed"]), ("exact", 60))
        # With a given threshold there is a search to check.
        told = self.ok("dedup", cache, "--threshold", 4, "--self-check", 5)
        self.assertIn("self-check: 5 images compared with every other", told.err)

    def test_the_hashes_of_a_cache_are_those_of_its_table(self):
        made = self.ok("dedup", self.cache, "--json").json()
        file = self.cache / "manifest.json"
        manifest = json.loads(file.read_text())
        file.write_text(with_digest(manifest | {"settings": None}))  # as if it did not say how it was made
        self.assertEqual(self.ok("dedup", self.cache, "--json").json(), made)
        self.assertIn(f"--hash {made['hash']} --threshold {made['threshold']}", self.ok("tune", self.cache, "--images", 0).out)
        file.write_text(with_digest(manifest | {"hashes": []}))
        for verb in ("dedup", "split", "tune"):
            self.refused(1, ["manifest.json lists no hashes"], verb, self.cache)

    def test_pictures_that_are_alike_are_warned_of(self):
        # Ten classes, and each picture is close to one of another class.
        for i in range(150):
            pixels = self.image(24, seed=i)
            self.write_ppm(self.folder / "alike" / f"{i % 10}" / f"{i}.ppm", pixels, 24)
            paler = bytes(p * 9 // 10 for p in pixels)
            self.write_ppm(self.folder / "alike" / f"{(i + 3) % 10}" / f"{i}.ppm", paler, 24)
        cache = self.folder / "of alike"
        self.ok("ingest", self.folder / "alike", "--out", cache)
        told = self.ok("dedup", cache, "--list", self.folder / "removed.csv", "--json")
        self.assertIn("warning: many images here look alike", told.err)
        self.assertIn("--hash exact", told.err)
        self.assertEqual(told.json()["conflicts"], 0)
        # With a larger threshold they are found, and are kept unless told otherwise.
        far = ["--hash", "phash", "--threshold", 8, "--list-groups", self.folder / "groups.csv", "--json"]
        told = self.ok("dedup", cache, *far)
        self.assertGreater(told.json()["near_conflicts"], 100)
        self.assertEqual(told.json()["removed"], 0)
        self.assertRegex(told.err, r"groups have different labels; \d+ of them are only near duplicates, and one image of each label stays")
        self.assertGreater(self.ok("dedup", cache, *far, "--on-conflict", "keep").json()["removed"], 100)

    def test_refuses(self):
        self.refused(2, ["no codes of 'pdq'", "--hash pdq"], "tune", self.cache, "--hash", "pdq")
        self.refused(2, ["no hash 'nope'"], "tune", self.cache, "--hash", "nope")
        self.refused(2, [], "dedup", self.cache, "--precision", 0.9, "--threshold", 4)
        self.refused(2, [], "dedup", self.cache, "--precision", 0.9, "--risk", 1)
        self.refused(2, [], "dedup", self.cache, "--risk", 1, "--threshold", 4)
        self.refused(2, ["--risk: must be above 0"], "dedup", self.cache, "--risk", 0)
        self.refused(2, ["exact compares no codes"], "dedup", self.cache, "--risk", 1, "--hash", "exact")
        self.refused(2, ["--drop-risk: must be above 0"], "ingest", self.source, "--out", self.folder / "no", "--drop", "--drop-risk", -1)
        # Pictures as similar as possible, each in another class.
        pixels = self.image(24, seed=1)
        for i in range(20):
            shade = bytes(max(0, p - 3 * i) for p in pixels)
            self.write_ppm(self.folder / "alike" / f"class {i}" / "1.ppm", shade, 24)
        self.ok("ingest", self.folder / "alike", "--out", self.folder / "other", "--thumbnails", "off")
        self.refused(3, ["precision of 99.0 %"], "dedup", self.folder / "other", "--precision", 0.99)
        # Their thumbnails show that they are one picture, so their labels say nothing about a threshold.
        self.ok("ingest", self.folder / "alike", "--out", self.folder / "shown")
        self.assertIn("19 images stay though they are like others", self.ok("dedup", self.folder / "shown", "--precision", 0.99).err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
