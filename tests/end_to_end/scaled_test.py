"""Hashes of pictures decoded at a scale: the pixels that they hash, what a cache says about them, and their use."""

import csv
import io
import json
import struct
import unittest

from bad_use_test import JPEG
from export_test import columns
from faults_test import tree
from golden import mixed_set, write_tree
from program import Case

try:
    from PIL import Image
except ImportError:
    Image = None

NAMES = ["phash@1/8", "dhash@1/8"]


def ppm(width, height, pixels):
    return b"P6\n%d %d\n255\n" % (width, height) + bytes(pixels)


class Scaled(Case):
    def setUp(self):
        super().setUp()
        self.source = self.folder / "photos"

    def smooth(self, width, height):
        """Pixels with something to see at any scale."""
        r = self.random
        waves = [(r.uniform(0.01, 0.1), r.uniform(0.01, 0.1), r.uniform(0, 6)) for _ in range(3)]
        return [int(127 + 90 * ((x * a + y * b + c) % 2 - 1) + 30 * ((x * y) % 7 / 7))
                for y in range(height) for x in range(width) for a, b, c in waves]  # fmt: skip

    def boxes(self, width, height, pixels, scale):
        small = []
        for top in range(0, height, scale):
            for left in range(0, width, scale):
                for c in range(3):
                    box = [pixels[3 * (y * width + x) + c] for y in range(top, min(top + scale, height))
                           for x in range(left, min(left + scale, width))]  # fmt: skip
                    small.append((sum(box) + len(box) // 2) // len(box))
        return ppm(-(-width // scale), -(-height // scale), small)

    def hashes(self, folder, *names, **how):
        out = self.ok("hash", folder, "--labels", "none", "--hash", ",".join(names), **how).out
        return {row["image"].rpartition(".")[0]: row for row in csv.DictReader(io.StringIO(out))}

    def test_other_formats_are_averaged_over_boxes(self):
        (self.folder / "whole").mkdir()
        for scale in (2, 4, 8):
            small = self.folder / f"small-{scale}"
            small.mkdir()
            for i, (width, height) in enumerate([(96, 64), (77, 101), (130, 9)]):
                pixels = self.smooth(width, height)
                (self.folder / "whole" / f"{i}.ppm").write_bytes(ppm(width, height, pixels))
                (small / f"{i}.ppm").write_bytes(self.boxes(width, height, pixels, scale))
            want = self.hashes(small, "phash", "dhash", "pdq")
            got = self.hashes(self.folder / "whole", *(f"{name}@1/{scale}" for name in ("phash", "dhash", "pdq")))
            for name, row in got.items():
                for hash in ("phash", "dhash", "pdq"):
                    self.assertEqual(row[f"{hash}@1/{scale}"], want[name][hash])
            self.assertEqual((got["1"]["width"], got["1"]["height"]), ("77", "101"))

    @unittest.skipUnless(Image, "Pillow is not installed (Debian: python3-pil)")
    def test_jpegs_are_what_pillow_drafts(self):
        whole = self.folder / "whole"
        whole.mkdir()
        for i in range(6):
            width, height = self.random.randrange(80, 300), self.random.randrange(80, 300)
            picture = Image.frombytes("RGB", (width, height), bytes(self.smooth(width, height)))
            picture.save(whole / f"{i}.jpg", subsampling=i % 3, progressive=i >= 3, quality=75 + 4 * i)
        for scale in (2, 4, 8):
            small = self.folder / f"small-{scale}"
            small.mkdir()
            for file in whole.iterdir():
                draft = Image.open(file)
                draft.draft("RGB", (draft.width // scale, draft.height // scale))
                draft.save((small / file.name).with_suffix(".png"))
            want = self.hashes(small, "phash", "dhash")
            got = self.hashes(whole, f"phash@1/{scale}", f"dhash@1/{scale}")
            self.assertEqual(len(got), 6)
            for name, row in got.items():
                for hash in ("phash", "dhash"):
                    self.assertEqual(row[f"{hash}@1/{scale}"], want[name][hash])
            # The same from libjpeg without its vector code.
            plain = self.hashes(whole, f"phash@1/{scale}", f"dhash@1/{scale}", env={"JSIMD_FORCENONE": "1"})
            self.assertEqual(plain, got)

    def photos(self):
        for i in range(24):
            width, height = 90 + 7 * i, 120 + 3 * i
            pixels = self.smooth(width, height)
            folder = self.source / ("train" if i % 3 else "test") / ("cat", "dog")[i % 2]
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{i:02}.ppm").write_bytes(ppm(width, height, pixels))
            if i % 5 == 1:  # a near copy
                pixels[100] ^= 3
                (folder / f"{i:02} near.ppm").write_bytes(ppm(width, height, pixels))
        for name, content in (("sound", JPEG), ("cut", JPEG[:-40])):
            (self.source / "train" / "cat" / f"{name}.jpg").write_bytes(content)
        (self.source / "train" / "cat" / "copy.jpg").write_bytes(JPEG)

    def ingest(self, cache, *more, **how):
        return self.ok("ingest", self.source, "--out", cache, "--hash", ",".join(NAMES), "--json", *more, **how).json()

    def test_a_cache_of_them(self):
        self.photos()
        cache = self.folder / "cache"
        said = self.ingest(cache)
        self.assertEqual(said["classes"]["truncated"], 1)
        manifest = json.loads((cache / "manifest.json").read_text())
        self.assertEqual(manifest["hashes"], ["phash@1/8:1", "dhash@1/8:1"])
        table = columns(cache / "fingerprints" / "table")
        self.assertIn("codes:phash@1/8:1:64", table)
        self.assertNotIn("codes:phash:1:64", table)
        # Sizes are those of the whole picture, sums are of the scaled one; equal pixels here mean equal bytes.
        self.assertEqual(table["pixel_hashes"], table["file_hashes"])
        widths = [struct.unpack("<I", raw)[0] for raw in table["widths_px"]]
        self.assertIn(90 + 7 * 23, widths)
        heights = [struct.unpack("<I", raw)[0] for raw in table["heights_px"]]
        splits = [raw[0] for raw in table["splits"]]
        small = sum(-(-w // 8) * -(-h // 8) for w, h, split in zip(widths, heights, splits) if split == 1)
        self.assertEqual(manifest["pixel_sums"]["pixels"], small)
        whole = sum(w * h for w, h in zip(widths, heights))
        self.assertEqual(manifest["statistics"]["total_pixels"], whole)
        self.ok("verify", cache)
        self.ok("info", cache)
        # The stored picture is whole.
        full = self.folder / "full"
        self.ok("ingest", self.source, "--out", full)
        self.assertEqual(tree(cache / "shards"), tree(full / "shards"))
        # winnow hash agrees.
        names = [json.loads(line)["name"] for line in (cache / "ledger.jsonl").read_text().splitlines()
                 if json.loads(line)["class"] == "ok"]  # fmt: skip
        said = self.hashes(self.source, *NAMES)
        for column, name in (("codes:phash@1/8:1:64", "phash@1/8"), ("codes:dhash@1/8:1:64", "dhash@1/8")):
            codes = ["%016x" % struct.unpack("<Q", raw) for raw in table[column]]
            self.assertEqual(codes, [said[n.rpartition(".")[0]][name] for n in names])

    def test_threads_ranks_and_a_second_source_change_nothing(self):
        self.photos()
        want = None
        for ranks, threads in ((0, 1), (0, 8), (2, 1)):
            cache = self.folder / f"cache-{ranks}-{threads}"
            self.ingest(cache, "--threads", threads, ranks=ranks)
            want = want or tree(cache)
            self.assertTrue(tree(cache) == want, (ranks, threads))
        plain = self.folder / "plain"
        self.ingest(plain, env={"JSIMD_FORCENONE": "1"})
        self.assertTrue(tree(plain) == want)
        more = self.folder / "more"
        write_tree(more, mixed_set())
        self.ok("ingest", more, "--into", plain)
        both = self.folder / "both"
        self.ok("ingest", self.source, more, "--out", both, "--hash", ",".join(NAMES))
        self.assertTrue(tree(plain) == tree(both))

    def test_duplicates_by_them(self):
        self.photos()
        cache = self.folder / "cache"
        self.ingest(cache)
        found = self.ok("dedup", cache, "--hash", "phash@1/8", "--threshold", 4, "--json").json()
        self.assertEqual(found["removed"], 4)  # in train; test stays as it is
        self.ok("dedup", cache, "--hash", "exact", "--name", "exact")
        self.refused(2, ["no codes of 'phash'", "winnow info"], "dedup", cache, "--hash", "phash")
        self.refused(2, ["no codes of 'phash@1/4'"], "dedup", cache, "--hash", "phash@1/4")
        self.refused(2, ["has no such scale", "@1/8"], "dedup", cache, "--hash", "phash@1/3")
        # Left out afterwards or at once: the same, sums included.
        small, dropped = self.folder / "small", self.folder / "dropped"
        self.ok("compact", cache, "--selection", "default", "--out", small)
        self.ingest(dropped, "--drop", "--drop-hash", "phash@1/8", "--drop-threshold", 4)
        manifests = [json.loads((folder / "manifest.json").read_text()) for folder in (small, dropped)]
        for manifest in manifests:
            manifest.pop("shards")
            manifest.pop("digest")
        self.assertEqual(*manifests)

    def test_what_could_not_be_read_is_retried(self):
        self.photos()
        cache, anew = self.folder / "cache", self.folder / "anew"
        self.ingest(cache)
        (self.source / "train" / "cat" / "cut.jpg").write_bytes(JPEG)
        self.assertEqual(self.ok("ingest", self.source, "--out", cache, "--retry-failed", "--json").json()["recovered"], 1)
        self.ingest(anew)
        self.assertTrue(tree(cache) == tree(anew))

    def test_what_is_refused(self):
        self.photos()
        out = ["ingest", self.source, "--out", self.folder / "cache", "--hash"]
        self.refused(2, ["two scales", "phash@1/8"], *out, "phash,phash@1/8")
        self.refused(2, ["two scales"], *out, "phash@1/4,dhash@1/8")
        self.refused(2, ["has no such scale"], *out, "phash@1/16")
        self.refused(2, ["there is no hash 'md5'"], *out, "md5@1/8")
        self.refused(2, ["named twice"], *out, "phash@1/8,phash@1/8")
        for more in (["--store", "raw"], ["--resize", 64], ["--augment", "cifar", "--copies", 2, "--image-size", 32]):
            self.refused(2, ["decoded at a smaller scale"], *out, "phash@1/8", *more)
        self.assertFalse((self.folder / "cache").exists())
        self.ok(*out, "phash@1/8", "--store", "none")


if __name__ == "__main__":
    unittest.main(verbosity=2)
