"""What is planted does not change between runs, and the truth says what was done."""

import csv
import json
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
import edits as e  # noqa: E402
import kinds  # noqa: E402
import plant  # noqa: E402
import score  # noqa: E402

BESIDE = ("held_out_collage", "held_out_double_exposure")


def photo(number, width=150, height=110):
    """Smooth and unlike the others, so that a JPEG is near it."""
    y, x = numpy.mgrid[0:height, 0:width]
    waves = [numpy.sin(x / (9 + number + c) + number) + numpy.cos(y / (11 - c) + 2 * number * c) for c in range(3)]
    return Image.fromarray((127 + 60 * numpy.stack(waves, axis=-1)).astype(numpy.uint8))


def chance():
    return plant.chance_of("test")


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Planted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory(prefix="winnow-test-")
        cls.addClassCleanup(cls.holder.cleanup)
        cls.folder = pathlib.Path(cls.holder.name)
        names = [f"photo {i}" for i in range(12)]
        cls.halves = {half: [n for n in names if plant.half_of(plant.name_of(n)) == half] for half in ("choose", "judge")}
        cls.names = [cls.halves["choose"][0], cls.halves["choose"][1], cls.halves["judge"][0]]
        (cls.folder / "photos").mkdir()
        for i, name in enumerate(cls.names):
            photo(i).save(cls.folder / "photos" / f"{name}.png")
        cls.out = cls.plant("out", "--half", "choose", "--distractors", "3")
        with open(cls.out / "truth.csv", newline="") as file:
            cls.rows = list(csv.DictReader(file))

    @classmethod
    def plant(cls, out, *words):
        words = [str(cls.folder / "photos"), "--out", str(cls.folder / out), "--jobs", "1", *words]
        plant.plant(plant.parser().parse_args(words))
        return cls.folder / out

    def of_original(self, row):
        return Image.open(self.out / "original" / (row["original"] + ".png"))

    def test_again_by_more_processes_is_the_same(self):
        again = self.plant("again", "--half", "choose", "--distractors", "3", "--jobs", "2")
        self.assertEqual(contents(self.out), contents(again))

    def test_other_photos_and_kinds_change_nothing(self):
        before = contents(self.out)
        for path, content in contents(self.plant("some", "--half", "choose", "--limit", "1", "--kinds", "crop_*,text_25")).items():
            if path != "truth.csv":
                self.assertEqual(content, before[path], path)

    def test_another_seed_is_another_crop(self):
        other = contents(self.plant("seed", "--half", "choose", "--kinds", "crop_20", "--seed", "2"))
        before = contents(self.out)
        self.assertTrue(all(before[path] != content for path, content in other.items() if path.startswith("crop_20/")))

    def test_the_truth_has_each_file_and_each_file_is_an_image(self):
        files = {path for path in contents(self.out) if path != "truth.csv"}
        self.assertEqual(files, {row["file"] for row in self.rows})
        self.assertEqual(len(files), 2 + 2 * len(kinds.table()) + 3)
        for file in files:
            with Image.open(self.out / file) as picture:
                self.assertEqual(picture.convert("RGB").mode, "RGB")
                self.assertGreater(min(picture.size), 20, file)

    def test_crops_are_what_the_boxes_say(self):
        checked = 0
        for row in self.rows:
            if row["family"] == "crop" and row["kind"].startswith(("crop_", "study_crop_")) and row["kind"] != "crop_border":
                did = json.loads(row["parameters"])
                left, top, right, bottom = did["box"]
                original, copy = self.of_original(row), Image.open(self.out / row["file"])
                self.assertEqual(did["of"], list(original.size))
                self.assertTrue(0 <= left < right <= original.width and 0 <= top < bottom <= original.height, row)
                self.assertEqual(copy.size, (right - left, bottom - top))
                away = numpy.abs(numpy.asarray(copy, dtype=int) - numpy.asarray(original.crop(did["box"]), dtype=int))
                self.assertLess(away.mean(), 4, row)
                checked += 1
        self.assertEqual(checked, 2 * 14)

    def test_the_named_share_is_cut_away(self):
        for row in self.rows:
            if row["kind"] in ("crop_10", "crop_25", "crop_40"):
                did, share = json.loads(row["parameters"]), int(row["kind"][5:]) / 100
                self.assertAlmostEqual(1 - (did["box"][2] - did["box"][0]) / did["of"][0], share, delta=0.01)
                self.assertAlmostEqual(1 - (did["box"][3] - did["box"][1]) / did["of"][1], share, delta=0.01)

    def test_boxes_lie_inside(self):
        boxes = [(row, json.loads(row["parameters"]).get("box")) for row in self.rows if row["family"] == "overlay"]
        self.assertGreater(sum(box is not None for _, box in boxes), 10)
        for row, box in boxes:
            if box is not None:
                self.assertTrue(0 <= box[0] < box[2] <= 150 and 0 <= box[1] < box[3] <= 110, row)

    def test_what_lies_beside_is_of_the_truth_too(self):
        for row in self.rows:
            self.assertEqual(len(row["photos"].split()), 2 if row["kind"] in BESIDE else 1, row)

    def test_distractors_are_of_no_planted_photo(self):
        spare = {plant.name_of(name) for name in self.halves["judge"]}
        of = [row for row in self.rows if row["kind"] == "distractor"]
        self.assertEqual(len(of), 3)
        self.assertTrue(all(row["photos"] in spare and row["original"] == "" for row in of))

    def test_qualities_are_the_kinds(self):
        size = {row["kind"]: (self.out / row["file"]).stat().st_size for row in self.rows}
        self.assertLess(size["study_jpeg_10"], size["study_jpeg_50"])
        self.assertLess(size["study_jpeg_50"], size["study_jpeg_95"])


class Edits(unittest.TestCase):
    def test_a_rotated_picture_that_is_cut_has_no_corner(self):
        for size in ((200, 100), (100, 200), (120, 120)):
            for degrees in (2, 5, 10):
                out, _ = e.rotate(degrees, "cut")(Image.new("RGB", size, (200, 200, 200)), chance())
                self.assertGreater(numpy.asarray(out).min(), 195, (size, degrees))
                self.assertGreater(out.width * out.height, 0.4 * size[0] * size[1])

    def test_overlays_cover_the_named_share(self):
        plain = Image.new("RGB", (300, 200), (90, 90, 90))
        for edit, share in ((e.logo(0.1), 0.1), (e.logo(0.25), 0.25), (e.sticker(0.1), 0.1)):
            out, _ = edit(plain, chance())
            changed = (numpy.asarray(out) != 90).any(axis=-1).mean()
            self.assertAlmostEqual(changed, share, delta=0.02)
        for share in (0.1, 0.25):
            out, did = e.text(share)(plain, chance())
            changed = (numpy.asarray(out) != 90).any(axis=-1).mean()
            self.assertAlmostEqual(changed, did["inked"], delta=0.05)
            self.assertLess(changed, share)
            self.assertGreater(changed, share / 5)

    def test_bars_leave_the_picture_whole(self):
        picture = photo(0)
        for edit in (e.screenshot(dark=True), e.meme(below_too=False), e.meme(below_too=True)):
            out, did = edit(picture, chance())
            above = round(did["above"] * picture.height)
            self.assertEqual(out.crop((0, above, out.width, above + picture.height)).tobytes(), picture.tobytes())

    def test_frames_have_the_named_aspect_and_the_picture_whole(self):
        picture = photo(0)
        for across, down, fill in ((16, 9, "black"), (9, 16, "blurred")):
            out, _ = e.fit(across, down, fill)(picture, chance())
            self.assertAlmostEqual(out.width / out.height, across / down, delta=0.02)
            left, top = (out.width - picture.width) // 2, (out.height - picture.height) // 2
            self.assertEqual(out.crop((left, top, left + 150, top + 110)).tobytes(), picture.tobytes())


class Score(unittest.TestCase):
    ROWS = [("original/a.jpg", "a", "original", "", "", "a"), ("original/b.jpg", "b", "original", "", "", "b"),
            ("crop/a.jpg", "a", "crop", "crop", "more", "a"), ("crop/b.jpg", "b", "crop", "crop", "more", "b"),
            ("side/a.jpg", "a", "side", "bars", "held_out", "a b"), ("distractor/1.jpg", "", "distractor", "", "", "c"),
            ("distractor/2.jpg", "", "distractor", "", "", "d")]  # fmt: skip

    def test_counts(self):
        with tempfile.TemporaryDirectory(prefix="winnow-test-") as folder:
            with open(pathlib.Path(folder) / "truth.csv", "w", newline="") as file:
                csv.writer(file).writerows([plant.COLUMNS, *([*row, "{}"] for row in self.ROWS)])
            truth = score.read(pathlib.Path(folder))
        pairs = [("crop/a.jpg", "original/a.jpg"), ("original/a.jpg", "crop/a.jpg"), ("crop/b.jpg", "side/a.jpg"),
                 ("side/a.jpg", "original/b.jpg"), ("original/a.jpg", "original/b.jpg"), ("distractor/1.jpg", "distractor/2.jpg"),
                 ("crop/a.jpg", "distractor/1.jpg"), ("side/a.jpg", "distractor/2.jpg")]  # fmt: skip
        said = score.score(truth, pairs)
        self.assertEqual(said["kinds"]["crop"], {"family": "crop", "part": "more", "copies": 2, "found": 1, "linked": 2})
        self.assertEqual((said["mean"], said["linked"], said["held_out"], said["pairs"]), (0.5, 1.0, 0.0, 7))
        self.assertEqual({place: len(of) for place, of in said["false"].items()}, {"others": 1, "held out": 1, "originals": 1, "distractors": 1})


if __name__ == "__main__":
    unittest.main()
