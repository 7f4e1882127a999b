"""winnow hash prints what the authors' programs print for the same pixels."""

import csv
import io
import json
import unittest

from program import Case, run

# Results for "blob" at 97 x 61 by imagehash 4.3, imagededup 0.3, OpenCV 4.6 and PDQ's reference.
BLOB = {
    "ahash": "78f8f8fcfcf8f878",
    "block_mean": "fc01fe01fe03ff03ff07ff07ff07ff07ff07ff07ff07ff07ff03fe03fe01fc01",
    "dhash": "c0c0c0c0c0c0c0c0",
    "dhash_vertical": "ffffffff00000000",
    "phash": "c0002b002d002d00",
    "phash16": "c00000002b540000295200002d5a00002d5a00002d4a00002d6a00002d630000",
    "whash": "3078f8f8f8f87830",
    "pdq": "4c4a09896b526f602b5af9dc2d5af997295aba3fad5a1934a55ab300956a07eb",
    "imagededup_ahash": "78f8f8fcfcf8f878",
    "imagededup_dhash": "c0c0c0c0c0c0c0c0",
    "imagededup_phash": "c0ff2bff29ff2dff",
    "imagededup_whash": "3078f8f8f8f87830",
}


def blob(width, height):
    """A picture made by an integer formula, the same as in the tests of hashes."""
    pixels = bytearray()
    for y in range(height):
        for x in range(width):
            far = (x - width // 3) ** 2 + (y - height // 2) ** 2
            pixels += bytes(255 - min(255, far * (c + 1) * 255 // (width * height)) for c in range(3))
    return bytes(pixels)


class Hash(Case):
    def setUp(self):
        super().setUp()
        self.source = self.folder / "in"
        self.source.mkdir()
        (self.source / "blob, \u00e9.ppm").write_bytes(b"P6\n97 61\n255\n" + blob(97, 61))
        (self.source / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 no more")

    def test_prints_what_the_authors_print(self):
        result = self.ok("hash", self.source, "--labels", "none", "--hash", ",".join(BLOB))
        picture, broken = csv.DictReader(io.StringIO(result.out))
        self.assertEqual({name: picture[name] for name in BLOB}, BLOB)
        self.assertEqual(picture["image"], "blob, \u00e9.ppm")
        self.assertEqual((picture["width"], picture["height"]), ("97", "61"))
        self.assertEqual((picture["pdq_quality"], picture["problem"]), ("77", ""))
        self.assertEqual((broken["image"], broken["phash"], broken["width"]), ("broken.jpg", "", ""))
        self.assertTrue(broken["problem"])
        self.assertIn("1 of 2 images hashed", result.err)

    def test_json_has_the_same(self):
        result = self.ok("hash", self.source, "--labels", "none", "--hash", "pdq,phash", "--json")
        picture, broken = map(json.loads, result.out.splitlines())
        self.assertEqual(picture["hashes"], [{"hash": "pdq", "version": 1, "hex": BLOB["pdq"], "quality": 77},
                                             {"hash": "phash", "version": 1, "hex": BLOB["phash"]}])
        self.assertNotIn("hashes", broken)

    def test_any_number_of_threads_prints_the_same(self):
        images = [self.image(16, channels=1) for _ in range(700)]
        self.write_idx(self.folder / "many", "train", images, [0] * len(images), 16)
        one, many = (self.ok("hash", self.folder / "many", "--hash", "phash,pdq", "--threads", n).out for n in (1, 3))
        self.assertEqual(one, many)
        self.assertEqual(one.count("\n"), 701)

    def test_bad_use(self):
        self.refused(2, ["no hash 'md5'", "phash16"], "hash", self.source, "--labels", "none", "--hash", "md5")
        (self.source / "blob, \u00e9.ppm").unlink()
        self.assertEqual(run("hash", self.source, "--labels", "none").code, 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
