"""winnow dedup: which picture of a group is kept, and what lists say about it."""

import csv
import io
import json
import subprocess
import unittest

from program import WINNOW, Case


def twice(rows):
    """Enlarged to twice each side, with linear interpolation."""
    wide = [[(row[x // 2] + row[min(len(row) - 1, (x + 1) // 2)]) // 2 for x in range(2 * len(row))] for row in rows]
    return [[(a + b) // 2 for a, b in zip(wide[y // 2], wide[min(len(wide) - 1, (y + 1) // 2)], strict=True)] for y in range(2 * len(rows))]


class Best(Case):
    def setUp(self):
        super().setUp()
        self.source = self.folder / "photos"
        pictures = {name: self.detailed(seed, 240, 180) for seed, name in enumerate(("crop", "frame", "twice", "other"))}
        for name, picture in pictures.items():
            self.write_pgm(self.source / f"train/a/{name}-m.pgm", picture)
        copies = {
            "crop": [row[30:210] for row in pictures["crop"][20:160]],
            "frame": [[255] * 264] * 12 + [[255] * 12 + row + [255] * 12 for row in pictures["frame"]] + [[255] * 264] * 12,
            "twice": twice(pictures["twice"]),
        }
        for name, picture in copies.items():  # one name sorts before the original's, one after it
            self.write_pgm(self.source / f"train/a/{name}-{'a' if name != 'frame' else 'z'}.pgm", picture)

    def removed(self, *more):
        rows = csv.DictReader(io.StringIO(self.ok("dedup", self.source, "--verify", *([] if "--keep" in more else ["--keep", "best"]), *more, "--list", "-").out))
        return {row["name"].rsplit("/")[-1][:-4]: (row["kept_name"].rsplit("/")[-1][:-4], row["because"]) for row in rows}

    def test_originals_stay(self):
        self.assertEqual(self.removed(), {
            "crop-a": ("crop-m", "shows more"),
            "frame-z": ("frame-m", "nothing added"),
            "twice-a": ("twice-m", "not enlarged"),
        })

    def test_other_policies_are_as_they_were(self):
        self.assertEqual(self.removed("--keep", "first"), {
            "crop-m": ("crop-a", "first"),
            "frame-z": ("frame-m", "first"),
            "twice-m": ("twice-a", "first"),
        })
        self.assertEqual(self.removed("--keep", "largest")["twice-m"], ("twice-a", "largest"))

    def test_wishes_come_before(self):
        self.assertEqual(self.removed("--prefer", "**/crop-a*")["crop-m"], ("crop-a", "preferred"))
        self.assertEqual(self.removed("--protect", "**/twice-a*")["twice-m"], ("twice-a", "protected"))

    def test_lists_have_it_in_every_form(self):
        cache = self.folder / "cache"
        self.ok("ingest", self.source, "--out", cache)
        groups = self.folder / "groups.jsonl"
        self.ok("dedup", cache, "--verify", "--keep", "best", "--list-groups", groups)
        lines = [json.loads(line) for line in groups.read_text().splitlines()]
        self.assertEqual({line["name"].rsplit("/")[-1]: line["because"] for line in lines if line["because"]},
                         {"crop-a.pgm": "shows more", "frame-z.pgm": "nothing added", "twice-a.pgm": "not enlarged"})
        with open(cache / "selections" / "default.csv", newline="") as file:
            self.assertEqual(sorted(row["because"] for row in csv.DictReader(file)), ["not enlarged", "nothing added", "shows more"])

    def test_it_does_not_depend_on_threads(self):
        cache = self.folder / "cache"
        self.ok("ingest", self.source, "--out", cache)
        written = []
        for cores in (["taskset", "-c", "0"], []):
            subprocess.run([*cores, WINNOW, "dedup", cache, "--verify", "--keep", "best"], capture_output=True, check=True)
            written.append(((cache / "selections/default.selection").read_bytes(), (cache / "selections/default.csv").read_bytes()))
        self.assertEqual(*written)

    def test_codes_alone_go_by_columns(self):
        source = self.folder / "codes"
        small = self.detailed(9, 64, 48)
        self.write_pgm(source / "a.pgm", small)
        self.write_pgm(source / "b.pgm", twice(small))
        rows = list(csv.DictReader(io.StringIO(self.ok("dedup", source, "--threshold", 8, "--keep", "best", "--list", "-").out)))
        self.assertEqual([(row["name"], row["kept_name"], row["because"]) for row in rows], [("a.pgm", "b.pgm", "more pixels")])


if __name__ == "__main__":
    unittest.main()
