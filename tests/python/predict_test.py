"""winnow.predict: the numbers of the program, as arrays."""

import subprocess
import sys
import unittest

from needs_package import ROOT, numpy, winnow

from program import Case

SIDE = 16
CLASSES = 3


class Predict(Case):
    @classmethod
    def setUpClass(cls):
        case = cls("ok")
        case.setUp()
        cls.addClassCleanup(case.doCleanups)
        cls.photos, cls.trained = case.folder / "photos", case.folder / "run"
        for i in range(24):
            case.write_ppm(cls.photos / "train" / f"class-{i % CLASSES}" / f"{i:02}.ppm", case.image(SIDE, seed=i), SIDE)
        case.ok("ingest", cls.photos, "--out", case.folder / "cache")
        cls.cache = case.folder / "cache"
        case.ok("train", cls.cache, "--out", cls.trained, "--net", "resnet20", "--batch-size", 8, "--augment", "none", "--max-steps", 4)
        (cls.photos / "train" / "class-0" / "broken.ppm").write_bytes(b"P6\n9 9\n255\n")

    def by_program(self, *args, source=None):
        """Probabilities and names written by the program."""
        out = self.folder / f"out-{len(list(self.folder.iterdir()))}"
        self.ok("predict", self.trained, source or self.photos, "--out", out, "--format", "npy", *args)
        return numpy.load(out / "predictions.npy"), (out / "names.txt").read_text().splitlines()

    def test_a_path_gives_what_the_program_writes(self):
        expected, names = self.by_program()
        said = winnow.predict(self.trained, self.photos)
        self.assertEqual(said.names, names)
        self.assertEqual(said.classes, [f"class-{k}" for k in range(CLASSES)])
        self.assertTrue((said.probabilities == expected).all())
        self.assertEqual(said.labels(), [said.classes[k] for k in expected.argmax(axis=1)])
        ((name, (fate, why)),) = said.failed.items()
        self.assertEqual((name, fate), ("train/class-0/broken.ppm", "truncated"))
        self.assertTrue(why)
        self.assertIsNone(said.features)
        of_cache = winnow.predict(self.trained, self.cache, features=True, threads=1)
        self.assertEqual(of_cache.probabilities.shape, (24, CLASSES))
        self.assertEqual(of_cache.features.shape, (24, 64))

    def test_pictures_in_memory_give_what_files_do(self):
        expected, names = self.by_program()
        pictures = [numpy.frombuffer((self.photos / name).read_bytes()[-3 * SIDE * SIDE:], numpy.uint8).reshape(SIDE, SIDE, 3)
                    for name in names]  # fmt: skip
        said = winnow.predict(self.trained, pictures, names=names)
        self.assertEqual(said.names, names)
        self.assertLess(numpy.abs(said.probabilities - expected).max(), 1e-6)
        self.assertEqual(winnow.predict(self.trained, numpy.stack(pictures[:3])).names, ["0", "1", "2"])

    def test_windows_are_those_of_the_program(self):
        large = self.folder / "large"
        large.mkdir()
        pixels = numpy.frombuffer(self.random.randbytes(3 * 50 * 40), numpy.uint8).reshape(40, 50, 3)
        (large / "one.ppm").write_bytes(b"P6\n50 40\n255\n" + pixels.tobytes())
        expected, _ = self.by_program("--window", SIDE, "--pool", "max", source=large)
        said = winnow.predict(self.trained, [pixels], window=SIDE, pool="max")
        self.assertLess(numpy.abs(said.probabilities - expected).max(), 1e-6)

    def test_what_makes_no_sense_is_refused(self):
        for words, call in (
            ("no image to predict", lambda: winnow.predict(self.trained, [])),
            ("uint8, not float", lambda: winnow.predict(self.trained, [numpy.zeros((4, 4))])),
            ("have 2 names", lambda: winnow.predict(self.trained, [numpy.zeros((4, 4), numpy.uint8)], names=["a", "b"])),
            ("height x width", lambda: winnow.predict(self.trained, [numpy.zeros((4, 4, 2), numpy.uint8)])),
            ("--window 16", lambda: winnow.predict(self.trained, self.photos, window=32)),
            ("--pool median", lambda: winnow.predict(self.trained, self.photos, window=16, pool="median")),
            ("no run", lambda: winnow.predict(self.photos, self.photos)),
        ):
            with self.assertRaisesRegex(winnow.UsageError, words):
                call()

    def test_the_example_watches_a_folder(self):
        script = ROOT / "examples" / "predict" / "watch_folder.py"
        done = subprocess.run([sys.executable, script, self.trained, self.photos / "train" / "class-0", "--once"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 9)
        said = winnow.predict(self.trained, self.photos / "train" / "class-0")
        rows = dict(zip(said.names, said.labels()))
        for line in lines:
            if line.startswith("broken.ppm"):
                self.assertIn("cannot be read", line)
                continue
            name, label, _ = line.split(",")
            self.assertEqual(label, rows[name])


if __name__ == "__main__":
    unittest.main()
