"""winnow info and verify: what a selection keeps, in numbers and pictures, and what is lost by damage."""

import json
import struct
import unittest
import zlib

from embed_test import npy
from program import Case, errors_in, run, tree_bytes


def read_png(path):
    """(width, height, rows of RGB triples) of a PNG of 8-bit RGB without interlacing."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, body, size = 8, b"", None
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind, content = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            size = struct.unpack(">IIBBBBB", content)
        elif kind == b"IDAT":
            body += content
        at += 12 + length
    width, height, depth, colour, _, _, interlaced = size
    assert (depth, colour, interlaced) == (8, 2, 0)
    raw, stride, rows = zlib.decompress(body), 3 * width, []
    before = bytes(stride)
    for y in range(height):
        kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1 : (y + 1) * (stride + 1)])
        for i in range(stride):
            a = line[i - 3] if i >= 3 else 0
            b = before[i]
            c = before[i - 3] if i >= 3 else 0
            paeth = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[kind]) & 255
        before = bytes(line)
        rows.append([before[3 * x : 3 * x + 3] for x in range(width)])
    return width, height, rows


class Info(Case):
    SIDE = 32

    def colour(self, i):
        return bytes([20 * i, 255 - 20 * i, 100])

    def photos(self):
        """Squares of a single colour each: 8 for train, 4 for test. Two training images are copies."""
        root = self.folder / "photos"
        for i in range(12):
            split, label = "train" if i < 8 else "test", ("cat", "dog")[i % 2]
            of = {6: 4, 7: 9}.get(i, i)
            self.write_ppm(root / split / label / f"{i:02}.ppm", self.colour(of) * self.SIDE**2, self.SIDE)
        return root

    def cache(self, *options):
        cache = self.folder / "cache"
        self.ok("ingest", self.photos(), "--out", cache, *options)
        self.ok("dedup", cache, "--hash", "exact")
        return cache

    def test_counts_of_a_selection(self):
        cache = self.cache()
        said = self.ok("info", cache, "--selection", "default", "--json").json()["selection"]
        self.assertEqual((said["name"], said["kept"], said["removed"]), ("default", 10, 2))
        self.assertEqual(said["settings"]["hash"], "exact")
        self.assertEqual(said["splits"], {"train": {"kept": 6, "removed": 2}, "test": {"kept": 4, "removed": 0}})
        cat, dog = said["classes"]
        self.assertEqual((cat["name"], cat["splits"]["train"]), ("cat", {"kept": 3, "removed": 1}))
        self.assertEqual((dog["name"], dog["splits"]["train"]), ("dog", {"kept": 3, "removed": 1}))
        self.assertEqual(said["unlabelled"], {"kept": 0, "removed": 0, "splits": {}})
        text = self.ok("info", cache, "--selection", "default").out
        self.assertIn("default: 10 kept, 2 removed", text)
        self.assertRegex(text, r"\n +train +test\n")
        self.assertRegex(text, r"\n  cat +3 \(-1\) +2\n")
        self.assertNotIn("selection", self.ok("info", cache, "--json").json())
        self.refused(2, ["'other'", "default"], "info", cache, "--selection", "other")

    def squares(self, sheet, columns):
        """The colour in the middle of each thumbnail that is present."""
        _, height, rows = read_png(sheet)
        cells = [rows[8 + 64 + top][8 + 64 + 136 * i] for top in range(0, height - 8, 160) for i in range(columns)]
        return [bytes(c) for c in cells if c != b"\xff\xff\xff"]

    def test_features_that_there_are(self):
        cache = self.cache()
        self.assertEqual(self.ok("info", cache, "--json").json()["features"], [])
        self.assertNotIn("features", self.ok("info", cache).out)
        names = [json.loads(line)["name"] for line in (cache / "ledger.jsonl").read_text().splitlines()]
        (self.folder / "names.txt").write_text("".join(f"{name}\n" for name in names[:10]))
        (self.folder / "clip.npy").write_bytes(npy([[1.0, i, -3.0] for i in range(10)]))
        made = [self.ok("embed", self.folder / "clip.npy", cache, "--names", self.folder / "names.txt", "--name", name,
                        "--dtype", dtype, "--json").json() for name, dtype in (("b", "i8"), ("a", "f16"))]  # fmt: skip
        said = self.ok("info", cache, "--json").json()["features"]
        keys = ["name", "images", "dimensions", "dtype", "bytes", "source"]
        self.assertEqual([{key: row[key] for key in keys} for row in said], [{key: row[key] for key in keys} for row in made[::-1]])
        self.assertEqual([row["current"] for row in said], [True, True])
        text = self.ok("info", cache).out
        self.assertRegex(text, r"\nfeatures  a: 10 images, 3 dimensions, f16, \d+ B, by clip\.npy\nfeatures  b: 10 images, 3 .*i8, .*\n")

        # Now another cache has them.
        other = self.folder / "other"
        self.ok("ingest", self.folder / "photos", "--out", other, "--hash", "phash")
        (other / "features").mkdir()
        (other / "features" / "a.features").write_bytes((cache / "features" / "a.features").read_bytes())
        self.assertFalse(self.ok("info", other, "--json").json()["features"][0]["current"])
        self.assertIn("made for another cache", self.ok("info", other).out)
        (other / "features" / "a.features").write_bytes(b"WNWFEATS no more")
        self.refused(1, ["a.features", "feature file"], "info", other)

    def test_contact_sheet(self):
        for store in ("original", "raw"):
            with self.subTest(store=store):
                cache = self.folder / store
                self.ok("ingest", self.photos(), "--out", cache, "--store", store)
                self.ok("dedup", cache, "--hash", "exact")
                sheet = self.folder / f"{store}.png"
                names = [json.loads(line)["name"] for line in (cache / "ledger.jsonl").read_text().splitlines()]
                colours = [self.colour({6: 4, 7: 9}.get(i, i)) for i in (int(n[-6:-4]) for n in names)]
                self.ok("info", cache, "--sheet", sheet, "--columns", 5)
                width, height, _ = read_png(sheet)
                self.assertEqual((width, height), (5 * 136 + 8, 3 * 160 + 8))
                self.assertEqual(self.squares(sheet, 5), colours)
                first = sheet.read_bytes()
                self.ok("info", cache, "--sheet", sheet, "--columns", 5)
                self.assertEqual(sheet.read_bytes(), first)
                self.ok("info", cache, "--sheet", sheet, "--columns", 4, "--split", "test", "--class", "dog")
                self.assertEqual(self.squares(sheet, 2), [self.colour(9), self.colour(11)])
                self.ok("info", cache, "--sheet", sheet, "--selection", "default", "--split", "train")
                self.assertEqual(len(self.squares(sheet, 6)), 6)
                self.ok("info", cache, "--sheet", sheet, "--count", 3)
                self.assertEqual(self.squares(sheet, 3), colours[::4])
                chosen = set()
                for seed in range(8):
                    self.ok("info", cache, "--sheet", sheet, "--count", 2, "--seed", seed)
                    chosen.add(tuple(self.squares(sheet, 2)))
                self.assertGreater(len(chosen), 3)

    def test_sheets_of_tiny_huge_gray_and_broken_pictures(self):
        root = self.folder / "photos"
        root.mkdir()
        (root / "0-tiny.pgm").write_bytes(b"P5\n1 1\n255\n\x40")
        (root / "1-gray.pgm").write_bytes(b"P5\n28 28\n255\n" + bytes([0x60]) * 784)
        (root / "2-wide.ppm").write_bytes(b"P6\n3000 60\n255\n" + bytes([9, 8, 7]) * 180_000)
        (root / "3-huge.ppm").write_bytes(b"P6\n2000 3000\n255\n" + bytes([1, 2, 3]) * 6_000_000)
        (root / "4-b\xf6se \x1b[2J.ppm").write_bytes(b"P6\n40 40\n255\n" + bytes([7, 7, 9]) * 1600)
        cache = self.folder / "cache"
        self.ok("ingest", root, "--out", cache)
        shard = cache / "shards" / "00000.mdb"
        data = bytearray(shard.read_bytes())
        data[data.index(bytes([7, 7, 9]) * 1600) + 99] ^= 1
        shard.write_bytes(data)
        sheet = self.folder / "sheet.png"
        said = self.ok("info", cache, "--sheet", sheet)
        self.assertEqual(self.squares(sheet, 5)[:4], [b"\x40" * 3, b"\x60" * 3, bytes([9, 8, 7]), bytes([1, 2, 3])])
        self.assertIn("no picture of '4-b", said.err)
        self.assertNotIn("\x1b", said.err)
        _, _, rows = read_png(sheet)
        across = [rows[8 + 64][8 + x] for x in range(128)]
        self.assertEqual(sum(p == b"\x60" * 3 for p in [rows[8 + 64][8 + 136 + x] for x in range(128)]), 4 * 28)
        self.assertEqual(sum(p == b"\x40" * 3 for p in across), 128)

    def test_sheets_of_groups(self):
        cache = self.cache()  # 6 is removed for 4; 7 for 9, which is in test
        sheet = self.folder / "sheet.png"
        green, orange = b"\x1f\x8a\x5b", b"\xb4\x55\x2d"

        def lines():
            width, height, rows = read_png(sheet)
            return [[(rows[top - 3][left], rows[top + 64][left + 64]) for left in range(8, width - 8, 136)]
                    for top in range(8, height - 8, 160)]

        nothing = (b"\xff\xff\xff", b"\xff\xff\xff")
        first = [(green, self.colour(9)), (orange, self.colour(9)), nothing]  # files of test have the lowest ids
        second = [(green, self.colour(4)), (orange, self.colour(4)), nothing]
        said = self.ok("info", cache, "--sheet", sheet, "--groups", "default", "--columns", 3)
        self.assertIn("4 of the pictures are in", said.err)
        self.assertEqual(lines(), [first, second])
        self.ok("info", cache, "--sheet", sheet, "--groups", "default", "--columns", 3, "--split", "test")
        self.assertEqual(lines(), [first])
        self.ok("info", cache, "--sheet", sheet, "--groups", "default", "--columns", 3, "--class", "cat")
        self.assertEqual(lines(), [second])
        self.ok("info", cache, "--sheet", sheet, "--groups", "default", "--columns", 3, "--count", 1)
        self.assertEqual(lines(), [first])
        # More groups than fit in a line: the last place has only text.
        self.ok("dedup", cache, "--threshold", 64, "--name", "all")
        self.ok("info", cache, "--sheet", sheet, "--groups", "all", "--columns", 3)
        self.assertEqual([[colour for colour, _ in line][2] for line in lines()], [nothing[0]] * len(lines()))
        self.ok("info", cache, "--sheet", sheet, "--selection", "default", "--removed")
        self.assertEqual(self.squares(sheet, 2), [self.colour(4), self.colour(9)])
        self.refused(2, ["no such groups"], "info", cache, "--sheet", sheet, "--groups", "default", "--split", "val")
        self.refused(2, ["'other'"], "info", cache, "--sheet", sheet, "--groups", "other")
        self.refused(2, ["--groups"], "info", cache, "--groups", "default")
        self.refused(2, ["--removed"], "info", cache, "--sheet", sheet, "--removed")

    def test_bad_use_of_sheets(self):
        cache = self.cache()
        sheet = self.folder / "sheet.png"
        self.refused(2, ["'bird'", "cat"], "info", cache, "--sheet", sheet, "--class", "bird")
        self.refused(2, ["no such samples"], "info", cache, "--sheet", sheet, "--split", "val")
        self.refused(2, ["--sheet"], "info", cache, "--split", "train")
        self.refused(2, ["--count"], "info", cache, "--sheet", sheet, "--count", 0)
        self.ok("ingest", self.folder / "photos", "--out", self.folder / "prints", "--store", "none")
        self.refused(2, ["fingerprints only"], "info", self.folder / "prints", "--sheet", sheet)
        self.assertFalse(sheet.exists())
        sheet.write_text("old")
        full = run("info", cache, "--sheet", sheet, env={"WINNOW_FAILPOINTS": "enospc=file.write.before:sheet.png:1"})
        self.assertEqual(full.code, 1, full.err)
        self.assertEqual(sheet.read_text(), "old")


class Verify(Case):
    def cache(self, count=8, side=700):
        """Records of 1.4 MB in two shards; sample 1 is a copy of 0."""
        root = self.folder / "photos"
        self.pixels = [self.random.randbytes(3 * side * side) for _ in range(count)]
        self.pixels[1] = self.pixels[0]
        for i, pixels in enumerate(self.pixels):
            self.write_ppm(root / f"{i}.ppm", pixels, side)
        cache = self.folder / "cache"
        self.ok("ingest", root, "--out", cache, "--shard-size", 6)
        self.ok("dedup", cache, "--hash", "exact")
        self.assertEqual(len(list((cache / "shards").iterdir())), 2)
        return cache

    def flip(self, file, at):
        data = bytearray(file.read_bytes())
        data[at] ^= 1
        file.write_bytes(data)

    def damage(self, cache, *samples):
        for i in samples:
            for shard in (cache / "shards").iterdir():
                at = shard.read_bytes().rfind(self.pixels[i][1000:2000])
                if at >= 0:
                    self.flip(shard, at)
                    break

    def verified(self, cache, *options):
        """The exit code, the object on stdout and the sentence."""
        result = run("verify", cache, "--json", *options)
        lines = errors_in(result.err)
        self.assertEqual(len(lines), result.code, result.err)
        return result.code, result.json(), "".join(lines)

    def test_a_whole_cache(self):
        cache = self.cache()
        before = tree_bytes(cache)
        code, said, _ = self.verified(cache)
        self.assertEqual((code, said["samples"], said["affected"], said["damage"]), (0, 8, 0, []))
        code, said, _ = self.verified(cache, "--selection", "default")
        self.assertEqual((code, said["samples"], said["affected"], said["damage"]), (0, 7, 0, []))
        self.assertEqual(tree_bytes(cache), before)

    def test_damaged_records_are_counted_and_named(self):
        cache = self.cache()
        self.damage(cache, 1, 3, 6)
        code, said, sentence = self.verified(cache)
        self.assertEqual((code, said["samples"], said["affected"]), (1, 8, 3))
        self.assertEqual(len(said["damage"]), 2)
        for word in ("00000.mdb", "00001.mdb", "3 of 8 samples", "'1.ppm', '3.ppm', '6.ppm'"):
            self.assertIn(word, sentence)
        # The removed copy does not matter to training on the rest.
        code, said, sentence = self.verified(cache, "--selection", "default")
        self.assertEqual((code, said["samples"], said["affected"]), (1, 7, 2))
        self.assertIn("2 of 7 samples cannot be read: '3.ppm', '6.ppm';", sentence)
        small = self.folder / "small"
        self.refused(1, ["'3.ppm'"], "compact", cache, "--selection", "default", "--out", small,
                     "--threads", 1)

    def test_damage_where_no_sample_is(self):
        cache = self.cache()
        shard = cache / "shards" / "00001.mdb"
        self.flip(shard, 4096 - 8)  # between the fields of the first page and the next page
        code, said, sentence = self.verified(cache)
        self.assertEqual((code, said["affected"], len(said["damage"])), (1, 0, 1))
        self.assertIn("0 of 8 samples", sentence)
        self.assertEqual(self.verified(cache, "--selection", "default")[0], 0)

    def test_a_shard_that_is_gone_or_cut(self):
        cache = self.cache()
        shards = json.loads((cache / "manifest.json").read_text())["shards"]
        (cache / "shards" / "00000.mdb").unlink()
        code, said, sentence = self.verified(cache)
        self.assertEqual((code, said["affected"]), (1, shards[0]["records"]))
        self.assertIn("00000.mdb cannot be read (No such file", sentence)
        second = cache / "shards" / "00001.mdb"
        second.write_bytes(second.read_bytes()[:-1])
        code, said, sentence = self.verified(cache)
        self.assertEqual((code, said["affected"], len(said["damage"])), (1, 8, 2))
        self.assertEqual(self.verified(cache, "--selection", "default")[1]["affected"], 7)

    def test_tables_and_selections(self):
        cache = self.cache()
        for file in (cache / "fingerprints" / "table", cache / "ledger.jsonl",
                     cache / "selections" / "default.selection"):
            with self.subTest(file=file.name):
                sound = file.read_bytes()
                self.flip(file, len(sound) // 2)
                code, said, sentence = self.verified(cache)
                self.assertEqual((code, said["affected"], len(said["damage"])), (1, 0, 1))
                self.assertIn(file.name, sentence)
                file.write_bytes(sound)
        # Affected samples are known by id as long as one of the two is undamaged.
        self.flip(cache / "ledger.jsonl", 30)
        self.damage(cache, 4)
        code, said, sentence = self.verified(cache)
        self.assertEqual((said["affected"], len(said["damage"])), (1, 2))
        self.assertIn("'id 4'", sentence)
        self.flip(cache / "fingerprints" / "table", 100)
        code, said, sentence = self.verified(cache)
        self.assertGreaterEqual(said["affected"], 4)  # possibly all samples of that shard
        self.assertEqual(len(said["damage"]), 3)

    def test_bad_use(self):
        root = self.folder / "photos"
        self.write_ppm(root / "0.ppm", self.image(16), 16)
        cache = self.folder / "cache"
        self.ok("ingest", root, "--out", cache, "--store", "none")
        self.ok("dedup", cache)
        self.assertEqual(self.verified(cache)[1]["samples"], 0)
        self.refused(2, ["fingerprints only"], "verify", cache, "--selection", "default")
        self.refused(2, ["'other'"], "info", cache, "--selection", "other")
        self.refused(2, ["winnow ingest"], "verify", self.folder / "nowhere")


if __name__ == "__main__":
    unittest.main(verbosity=2)
