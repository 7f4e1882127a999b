"""Every way to deduplicate gives the same answer about duplicates and what is removed: dedup of a folder and of a
cache, export, ingest --drop, an index, split and Python.
"""

import csv
import io
import json
import shutil
import unittest

from golden import xxh3_128
from program import Case, columns, run, tree_bytes


class Doors(Case):
    """Sets of pictures, and whether pictures are compared by default in each."""

    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        self.count = 0

    def photo(self, name, seed, width=192, height=144, edit=lambda rows: rows):
        self.write_pgm(self.folder / "set" / name, edit(self.detailed(seed, width, height)))

    def photos(self, count=10):
        for i in range(count):
            self.photo(f"a/{i:02}.pgm", i)

    def edited(self):
        """Photos, and copies of some: cropped, mirrored, framed, darker, the same file, and the same pixels."""
        self.photos()
        self.photo("a/cropped 03.pgm", 3, edit=lambda rows: [row[30:170] for row in rows[12:120]])
        self.photo("a/mirrored 05.pgm", 5, edit=lambda rows: [row[::-1] for row in rows])
        self.photo("a/barred 07.pgm", 7, edit=lambda rows: [[0] * 192] * 60 + rows + [[0] * 192] * 60)
        self.photo("a/darker 02.pgm", 2, edit=lambda rows: [[value * 7 // 8 for value in row] for row in rows])
        self.photo("a/same 08.pgm", 8)
        self.photo("a/another 08.pgm", 8)

    def collage(self):
        self.photos(8)
        first, second = (self.detailed(seed, 192, 144) for seed in (1, 4))
        self.write_pgm(self.folder / "set/a/both.pgm", [left + right for left, right in zip(first, second)])

    def crossfade(self):
        """From one photo to another in small steps."""
        self.photos(6)
        first, second = (self.detailed(seed, 192, 144) for seed in (0, 3))
        for step in range(9):
            mixed = [[(a * (8 - step) + b * step) // 8 for a, b in zip(*rows)] for rows in zip(first, second)]
            self.write_pgm(self.folder / f"set/fade/{step}.pgm", mixed)

    def scans(self):
        """Pages of one layout: black lines of words on white."""
        for page in range(8):
            rows = [[255] * 160 for _ in range(224)]
            self.random.seed(page)
            for line in range(16, 208, 12):
                for left in range(16, 136, 8):
                    for y in range(line, line + self.random.randrange(3, 8)):
                        rows[y][left:left + self.random.randrange(2, 7)] = [0] * 2
            rows = [row[:160] + [255] * (160 - len(row)) for row in rows]
            self.write_pgm(self.folder / f"set/pages/{page}.pgm", rows)
        shutil.copy(self.folder / "set/pages/3.pgm", self.folder / "set/pages/3 again.pgm")

    def small(self):
        """Pictures with few details, and darker copies, which match by codes alone."""
        for i in range(110):
            pixels = self.image(24, seed=i)
            self.write_ppm(self.folder / f"set/{'ab'[i % 2]}/{i:03}.ppm", pixels, 24)
            if i % 5 == 0:
                darker = bytes(p * 9 // 10 for p in pixels)
                self.write_ppm(self.folder / f"set/{'ab'[i % 2]}/{i:03} again.ppm", darker, 24)

    def gray_first(self):
        """Coloured pictures, each preceded by its grey copy, which is removed."""
        for i in range(10):
            gray = self.detailed(i, 144, 144)
            colours = bytes(max(0, min(255, value + shift)) for row in gray for value in row for shift in (40, 0, -40))
            self.write_pgm(self.folder / f"set/a/{i}.pgm", gray)
            self.write_ppm(self.folder / f"set/a/{i} colours.ppm", colours, 144)

    def few_small(self):
        """Too few pictures to tell which codes are near by chance."""
        for i in range(12):
            self.write_ppm(self.folder / f"set/{i:03}.ppm", self.image(24, seed=i), 24)
            self.write_ppm(self.folder / f"set/{i:03} darker.ppm", bytes(p * 9 // 10 for p in self.image(24, seed=i)), 24)

    def labels_that_contradict(self):
        self.edited()
        for name in ("02.pgm", "mirrored 05.pgm", "barred 07.pgm"):
            (self.folder / "set/b").mkdir(exist_ok=True)
            (self.folder / "set/a" / name).rename(self.folder / "set/b" / name)

    def one_image(self):
        self.photo("a/alone.pgm", 1)

    def none(self):
        (self.folder / "set").mkdir()
        (self.folder / "set/notes.txt").write_text("no picture")

    def place(self, name):
        self.count += 1
        return self.folder / f"{self.count}-{name}"

    def listed(self, *words):
        out = self.ok(*words, "--list", "-").out
        return {row["name"] for row in csv.DictReader(io.StringIO(out))}

    # For each way: the names of the images that it leaves out.

    def of_folder(self, *flags):
        return self.listed("dedup", self.folder / "set", *flags)

    def of_cache(self, *flags):
        return self.listed("dedup", self.cache, *flags)

    def of_export(self, *flags):
        clean, gone = self.place("clean"), self.place("gone")
        self.ok("export", self.folder / "set", "--to", clean, "--removed", gone, *flags)
        return set(tree_bytes(gone)) if gone.exists() else set()

    def of_drop(self, *flags):
        out = self.place("dropped")
        flags = [f"--drop-{flag[2:]}" if str(flag).startswith("--") else flag for flag in flags]
        self.ok("ingest", self.folder / "set", "--out", out, "--drop", *flags)
        rows = [json.loads(line) for line in (out / "ledger.jsonl").read_text().splitlines()]
        return {row["name"] for row in rows if row.get("class") == "duplicate"}

    def of_index(self, *flags):
        return self.listed("index", "dedup", self.index, "--source", self.folder / "set", *flags)

    def check(self, *flags):
        """Checks that all ways leave out the same images, and returns them."""
        expected = self.of_folder(*flags)
        self.assertEqual(self.of_cache(*flags), expected, flags)
        self.assertEqual(self.of_export(*flags), expected, flags)
        self.assertEqual(self.of_drop(*flags), expected, flags)
        self.assertEqual(self.of_index(*flags), expected, flags)
        return expected

    def check_split(self, *flags):
        """Checks that split keeps together what dedup reports as one component."""
        self.ok("dedup", self.cache, *flags)
        self.ok("split", self.cache, "--train", 0.5, "--val", 0.5, *flags)
        one, other = (columns(self.cache / f"selections/{name}.selection") for name in ("default", "split"))
        self.assertEqual(one["groups"], other["groups"], flags)

    def open(self):
        self.cache, self.index = self.place("cache"), self.place("index")
        self.ok("ingest", self.folder / "set", "--out", self.cache)
        self.ok("index", "add", self.index, self.folder / "set")

    def test_photos_with_edited_copies(self):
        self.edited()
        self.open()
        self.assertEqual(len(self.check()), 6)
        self.check_split()
        self.check_split("--no-verify")
        review = self.folder / "said.jsonl"
        names = ["a/02.pgm", "a/darker 02.pgm"]
        images = [xxh3_128((self.folder / "set" / name).read_bytes()) for name in names]
        judged = {"verdict": "different", "images": images, "names": names}
        review.write_text('{"schema": "winnow.review/1"}\n' + json.dumps(judged) + "\n")
        self.assertEqual(len(self.check("--review", review)), 5)
        self.assertEqual(len(self.check("--protect", "**/same*")), 6)
        self.check("--prefer", "**/barred*")
        self.check("--groups", "cliques")
        self.check("--groups", "components", "--keep", "largest")
        self.check("--no-verify")
        self.check("--hash", "phash16", "--threshold", 60)
        self.check("--hash", "phash16", "--precision", 0.9)
        self.check("--risk", 2, "--hash", "phash16")
        self.check("--verify", "--least-probability", 0.99)
        self.check("--on-conflict", "keep")
        self.check("--hash", "exact")

    def test_other_sets(self):
        for name in ("collage", "crossfade", "scans", "small", "few_small", "labels_that_contradict", "one_image"):
            with self.subTest(name):
                shutil.rmtree(self.folder / "set", ignore_errors=True)
                getattr(self, name)()
                self.open()
                self.check()
                if name == "one_image":  # it cannot be in two splits
                    self.refused(2, ["nothing left for val"], "split", self.cache, "--train", 0.5, "--val", 0.5)
                else:
                    self.check_split()

    def test_a_coloured_picture_stays_before_its_gray_copy(self):
        self.gray_first()
        self.open()
        self.assertEqual(self.check(), {f"a/{i}.pgm" for i in range(10)})

    def test_copies_across_labels_are_the_first_line_with_the_command_that_removes_them(self):
        self.labels_that_contradict()
        self.open()
        page = self.folder / "page.html"
        doors = {
            "--on-conflict": [["dedup", self.folder / "set", "--report", page], ["dedup", self.cache],
                              ["index", "dedup", self.index, "--source", self.folder / "set"],
                              ["export", self.folder / "set", "--to", self.place("clean")]],
            "--drop-on-conflict": [["ingest", self.folder / "set", "--out", self.place("dropped"), "--drop"]],
        }  # fmt: skip
        for flag, commands in doors.items():
            for command in commands:
                with self.subTest(command):
                    words = " ".join(["winnow", *map(str, command), flag, "keep"])
                    said = self.ok(*command).err.splitlines()
                    line = f"3 images stay though they are like others, but labels differ; this removes them: {words}"
                    self.assertIn(line, said)
                    before = [at for at, text in enumerate(said) if "groups of duplicates" in text or "exported" in text or " inputs read" in text]
                    self.assertTrue(all(said.index(line) < at for at in before), said)
        self.assertIn("3 images stay though they are like others", page.read_text())
        self.assertEqual(len(self.check("--on-conflict", "keep")), len(self.check()) + 3)

    def test_none(self):
        self.none()
        said = {run("dedup", self.folder / "set").code, run("export", self.folder / "set", "--to", self.place("x")).code,
                run("ingest", self.folder / "set", "--drop", "--out", self.place("x")).code}  # fmt: skip
        self.assertEqual(len(said), 1)

    def test_what_one_door_refuses_every_door_refuses(self):
        self.photos(3)
        self.open()
        doors = [["dedup", self.folder / "set"], ["dedup", self.cache], ["export", self.folder / "set", "--to", self.place("clean")],
                 ["index", "dedup", self.index]]  # fmt: skip
        drop = ["ingest", self.folder / "set", "--out", self.place("dropped"), "--drop"]
        for flags in (["--verify", "--hash", "exact"], ["--no-verify", "--least-probability", 0.95], ["--least-quality", 5, "--hash", "exact"],
                      ["--hash", "exact", "--risk", 1], ["--protect", "nobody/**"], ["--drop-issues", "twins"],
                      ["--thin", "val", "--scope", "across"], ["--on-leak", "drop-eval", "--split-order", "val,test,train"]):  # fmt: skip
            words = [run(*door, *flags) for door in doors]
            with self.subTest(flags):
                self.assertEqual({said.code for said in words}, {2})
                self.assertEqual(len({said.err.splitlines()[-1] for said in words}), 1, [said.err for said in words])
                as_drop = [flag if flag == "--drop-issues" else f"--drop-{flag[2:]}" if str(flag).startswith("--") else flag for flag in flags]
                self.assertEqual(run(*drop, *as_drop).code, 2)


if __name__ == "__main__":
    unittest.main()
