"""Kinds draw different pictures of one look, the same in each run; what is planted is what the truth says; scores count right.

An even sample of the kinds is drawn; with WINNOW_TEST_ALL=1 all of them.
"""

import collections
import csv
import io
import os
import pathlib
import sys
import tempfile
import unittest

try:
    import numpy
    from PIL import Image
except ImportError:
    print("Pillow and numpy are not installed (Debian: python3-pil, python3-numpy)")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import draw  # noqa: E402
import kinds  # noqa: E402
import plant  # noqa: E402
import real  # noqa: E402
import score  # noqa: E402

if lacks := draw.lacks_fonts():
    print(lacks)
    sys.exit(77)


def sample():
    rows = [kind for kind in kinds.table() if not real.lacks(kind.packages)]
    return rows if os.environ.get("WINNOW_TEST_ALL") == "1" else rows[::7]


def gray(picture):
    return numpy.asarray(picture.convert("L").resize((256, 256), Image.Resampling.BOX), dtype=int)


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Kinds(unittest.TestCase):
    def test_families_are_of_one_look_and_each_picture_is_another(self):
        for kind in sample():
            with self.subTest(kind.name):
                pictures = list(kind.family(plant.chance_of("test", kind.name), 3))
                self.assertEqual(len(pictures), 3)
                self.assertEqual({picture.mode for picture in pictures}, {"RGB"})
                for picture in pictures:
                    self.assertTrue(200 <= min(picture.size) and max(picture.size) <= 1000, picture.size)
                for a, b in ((0, 1), (0, 2), (1, 2)):
                    differ = (numpy.abs(gray(pictures[a]) - gray(pictures[b])) > 25).sum()
                    self.assertGreater(differ, 50, (a, b))

    def test_another_run_draws_the_same_and_another_seed_does_not(self):
        for kind in sample()[::4]:
            with self.subTest(kind.name):
                once, again, other = (next(iter(kind.family(plant.chance_of(seed, kind.name), 2))) for seed in (1, 1, 2))
                self.assertEqual(once.tobytes(), again.tobytes())
                self.assertNotEqual(once.tobytes(), other.tobytes())

    def test_enough_kinds_of_each_sort(self):
        sorts = collections.Counter((kind.made, kind.part) for kind in kinds.table())
        self.assertGreaterEqual(sorts[True, "tune"] + sorts[True, "judge"], 40)
        self.assertGreaterEqual(sorts[False, "tune"] + sorts[False, "judge"], 10)
        judged = sum(count for (_, part), count in sorts.items() if part == "judge")
        self.assertGreaterEqual(judged / sum(sorts.values()), 0.3)

    def test_distinct_and_apart_draw_anew(self):
        chance = plant.chance_of("test")
        self.assertEqual(sorted(draw.distinct(lambda: chance.whole(1, 20), 20)), list(range(1, 21)))
        values = numpy.sort(list(draw.apart(lambda: chance.rng.uniform(0, 1, 1), 8, 0.05)), axis=0)
        self.assertGreater(numpy.diff(values[:, 0]).min(), 0.03)

    def test_what_is_missing_is_named(self):
        self.assertEqual(real.lacks(()), "")
        signs, real.SIGNS = real.SIGNS, {"lost": pathlib.Path("/no/such/file"), "gone": "no_such_program"}
        try:
            self.assertTrue(real.lacks(("lost", "gone")).endswith(" lost gone"))
        finally:
            real.SIGNS = signs


class Planted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory(prefix="winnow-test-")
        cls.addClassCleanup(cls.holder.cleanup)
        cls.folder = pathlib.Path(cls.holder.name)
        (cls.folder / "some").mkdir()
        Image.new("RGB", (80, 60), (90, 120, 30)).save(cls.folder / "some/photo.png")
        cls.out = cls.plant("out", "--kinds", "business_cards,bar_charts", "--photos", str(cls.folder / "some"))
        cls.truth = score.read(cls.out)

    @classmethod
    def plant(cls, out, *words):
        words = ["--out", str(cls.folder / out), "--sizes", "4,2", "--copies", "4", "--jobs", "1", *words]
        plant.plant(plant.parser().parse_args(words))
        return cls.folder / out

    def test_the_truth_has_each_file_and_each_file_is_an_image(self):
        self.assertEqual(set(self.truth), set(contents(self.out)) - {"truth.csv"})
        for name in self.truth:
            with Image.open(self.out / name) as picture:
                self.assertEqual(picture.convert("RGB").mode, "RGB")

    def test_families_have_their_sizes_and_copies_an_original(self):
        originals = collections.Counter((row["kind"], row["family"]) for row in self.truth.values() if not row["edit"])
        wanted = {(kind, f"{size}-0"): size for kind in ("business_cards", "bar_charts") for size in (2, 4)}
        self.assertEqual(dict(originals), {**wanted, ("photos", "all"): 1})
        copies = [row for row in self.truth.values() if row["edit"]]
        self.assertGreater(len(copies), 2)
        self.assertTrue({row["picture"] for row in copies} <= {row["picture"] for row in self.truth.values() if not row["edit"]})
        self.assertTrue({row["edit"] for row in copies} <= set(plant.COPIES))

    def test_other_kinds_and_more_processes_change_nothing(self):
        before = contents(self.out)
        for name, content in contents(self.plant("again", "--kinds", "bar_charts", "--jobs", "2")).items():
            if name != "truth.csv":
                self.assertEqual(content, before[name], name)

    def test_pictures_of_many_colours_are_stored_as_jpeg(self):
        noise = Image.fromarray(plant.chance_of("test").rng.integers(0, 256, (200, 200, 3), dtype=numpy.uint8))
        self.assertEqual(plant.encoded(noise)[0], "jpg")
        ending, content = plant.encoded(Image.new("RGB", (20, 20)))
        self.assertEqual((ending, Image.open(io.BytesIO(content)).format), ("png", "PNG"))


def row(name, group, size, edit=""):
    """A row of the truth."""
    kind, family, file = name.split("/")
    return name, kind, group, "tune", family, size, f"{kind}/{family}/{file[0]}", edit


class Score(unittest.TestCase):
    """Two families of cards, of 2 pictures and of 40 cut short; a rich kind; a photo."""

    ROWS = [
        row("c/2/a.png", "small", 2),
        row("c/2/a_scaled.png", "small", 2, "scaled"),
        row("c/2/b.png", "small", 2),
        row("c/40/a.png", "small", 40),
        row("c/40/b.png", "small", 40),
        row("c/40/b_mirrored.png", "small", 40, "mirrored"),
        row("r/2/a.jpg", "rich", 2),
        row("r/2/b.jpg", "rich", 2),
        row("photos/all/p.jpg", "photos", ""),
        row("photos/all/q.jpg", "photos", ""),
    ]

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory(prefix="winnow-test-") as folder:
            with open(pathlib.Path(folder) / "truth.csv", "w", newline="") as file:
                csv.writer(file).writerows([plant.COLUMNS, *cls.ROWS])
            cls.truth = score.read(pathlib.Path(folder))
        cls.removed = ["c/2/a.png", "c/2/b.png", "c/40/b.png", "c/40/b_mirrored.png", "r/2/b.jpg"]
        pairs = [
            ("c/2/a.png", "c/2/a_scaled.png"),
            ("c/2/a_scaled.png", "c/2/a.png"),
            ("c/2/a.png", "c/2/b.png"),
            ("c/2/b.png", "c/2/a.png"),
            ("c/40/a.png", "c/40/b_mirrored.png"),
            ("r/2/a.jpg", "r/2/b.jpg"),
            ("photos/all/p.jpg", "photos/all/q.jpg"),
        ]
        cls.said = score.score(cls.truth, cls.removed, pairs)

    def test_a_picture_of_which_a_copy_stays_is_not_lost(self):
        self.assertEqual(score.lost(self.truth, self.removed), {"c/2/b", "c/40/b", "r/2/b"})
        self.assertEqual(dict(self.said["kinds"]["c"]["removed"]), {2: 1, 40: 1})

    def test_copies_and_false_pairs(self):
        self.assertEqual(self.said["edits"], {"scaled": {"copies": 1, "found": 1}, "mirrored": {"copies": 1, "found": 0}})
        self.assertEqual((self.said["false_pairs"], len(self.said["photo_pairs"])), (3, 1))
        self.assertEqual([self.said["kinds"][kind]["false_pairs"] for kind in ("c", "r")], [2, 1])

    def test_totals_leave_out_rich_kinds_in_small_families(self):
        totals = score.totals(self.said)
        self.assertEqual(
            (totals["pictures"], totals["removed"], totals["small_families"], totals["worst"], totals["found"]), (4, 2, 1, ("c", 0.5), 0.5)
        )
        twice = score.totals(score.added([self.said, self.said]))
        self.assertEqual((twice["pictures"], twice["removed"], twice["found"]), (8, 4, 0.5))

    def test_the_table_has_a_row_a_kind(self):
        lines = score.table(self.said)
        self.assertEqual(len(lines), 2 + 2 + 2)
        self.assertIn("| c | small | tune | 1/2 | 1/2 | 1/2 | 2 |", lines)


if __name__ == "__main__":
    unittest.main()
