"""winnow tune, and winnow dedup --precision: what a threshold comes to, before it is taken."""

import unittest
import xml.etree.ElementTree as ElementTree

from program import Case


class Tune(Case):
    def setUp(self):
        super().setUp()
        # Pictures of ten classes, and copies of some, a little darker.
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
        for words in ("phash of 140 images", "dhash of 140 images", "the classes of pairs", "JPEG quality 10"):
            self.assertIn(words, result.out)
        self.assertRegex(result.err, r"phash: \d+ bits for a precision of 90.0 %")
        picture = ElementTree.parse(plot).getroot()
        self.assertTrue(picture.tag.endswith("svg"))
        self.assertIn("phash: expected recall", plot.read_text())
        again = self.ok("tune", self.cache, "--precision", 0.9, "--images", 20, "--threads", 1)
        self.assertEqual(result.out, again.out)

    def test_dedup_takes_what_tune_names(self):
        tuned = self.ok("tune", self.cache, "--hash", "phash", "--images", 0, "--precision", 0.9, "--json").json()
        (phash,) = tuned["hashes"]
        point = phash["thresholds"][phash["chosen"]]
        self.assertGreaterEqual(point["precision"], 0.9)
        result = self.ok("dedup", self.cache, "--precision", 0.9, "--json")
        self.assertEqual(result.json()["threshold"], phash["chosen"])
        self.assertEqual(result.json()["removed"], point["removable"])
        self.assertGreaterEqual(point["removable"], 20)
        self.assertIn("pairs are false", result.err)

    def test_refuses(self):
        self.refused(2, ["no codes of 'pdq'", "--hash pdq"], "tune", self.cache, "--hash", "pdq")
        self.refused(2, ["no hash 'nope'"], "tune", self.cache, "--hash", "nope")
        self.refused(2, [], "dedup", self.cache, "--precision", 0.9, "--threshold", 4)
        # Pictures that are as alike as can be, each of another class.
        pixels = self.image(24, seed=1)
        for i in range(20):
            shade = bytes(max(0, p - 3 * i) for p in pixels)
            self.write_ppm(self.folder / "alike" / f"class {i}" / "1.ppm", shade, 24)
        self.ok("ingest", self.folder / "alike", "--out", self.folder / "other")
        self.refused(3, ["precision of 99.0 %"], "dedup", self.folder / "other", "--precision", 0.99)


if __name__ == "__main__":
    unittest.main(verbosity=2)
