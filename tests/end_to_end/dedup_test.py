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

    def test_decides_the_same_on_any_number_of_ranks(self):
        cache = self.folder / "cache"
        self.ok("ingest", self.source, "--out", cache, "--hash", "phash,phash_mirrored")
        for options in (["--hash", "phash"], ["--hash", "phash_mirrored", "--scope", "within"], ["--hash", "exact"]):
            made = {}
            for ranks in range(4):  # 0: without mpirun
                result = self.ok("dedup", cache, "--threshold", 8, *options, "--json", ranks=ranks)
                self.assertEqual(len(result.out.strip().splitlines()), 1)
                made[ranks] = result.json(), tree_bytes(cache / "selections")
            self.assertTrue(made[0][0]["removed"])
            self.assertEqual(made, dict.fromkeys(range(4), made[0]))
        of_source = [self.ok("dedup", self.source, "--threshold", 8, ranks=ranks).out for ranks in (0, 3)]
        self.assertEqual(*of_source)
        self.refused(3, ["rank 0", "--fail-on-leak"], "dedup", cache, "--fail-on-leak", ranks=3)
        self.refused(2, ["rank 0", "65 bits"], "dedup", cache, "--threshold", 65, ranks=2)

    def test_refuses(self):
        gate = run("dedup", self.source, "--fail-on-leak")
        self.assertEqual(gate.code, 3, gate.err)
        self.assertIn("train/a/00.ppm", gate.out)
        self.refused(2, ["winnow ingest"], "dedup", self.folder / "nowhere")


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
        result = self.ok("dedup", *args, "--threshold", 6, "--csv", table, "--json", "--self-check", 20).json()
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
        gate = run("dedup", self.cache, "--hash", "phash_mirrored", "--fail-on-leak")
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
        differ = int(codes["train/a/07.ppm"][6], 16) ^ int(plain["train/a/turned 07.ppm"], 16)  # to the right
        self.assertLessEqual(bin(differ).count("1"), 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
