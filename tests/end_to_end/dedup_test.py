"""winnow dedup on a data set where it is, and its check of itself."""

import csv
import io
import unittest

from program import Case, run, tree_bytes


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
        self.assertIn("1 inputs could not be read", result.err)
        self.assertIn("leak: 3 test samples", result.err)
        self.assertEqual(tree_bytes(self.source), before)
        self.assertEqual(list(temporary.iterdir()), [])

    def test_says_the_same_as_of_a_cache(self):
        cache = self.folder / "cache"
        self.ok("ingest", self.source, "--out", cache)
        of_cache = self.ok("dedup", cache, "--threshold", 8, "--csv", self.folder / "1.csv", "--json").json()
        in_place = self.ok("dedup", self.source, "--threshold", 8, "--csv", self.folder / "2.csv", "--json").json()
        self.assertEqual(of_cache, in_place)
        self.assertEqual((self.folder / "1.csv").read_bytes(), (self.folder / "2.csv").read_bytes())
        self.assertEqual(self.ok("dedup", self.source, "--threshold", 8, "--labels", "none", "--exclude", "copy*",
                                 "--json").json()["removed"], 1)

    def test_checks_itself(self):
        result = self.ok("dedup", self.source, "--threshold", 12, "--self-check", 10, "--json")
        self.assertIn("self-check: 10 images compared with every other", result.err)

    def test_refuses(self):
        gate = run("dedup", self.source, "--fail-on-leak")
        self.assertEqual(gate.code, 3, gate.err)
        self.assertIn("train/a/00.ppm", gate.out)
        self.refused(2, ["winnow ingest"], "dedup", self.folder / "nowhere")


if __name__ == "__main__":
    unittest.main(verbosity=2)
