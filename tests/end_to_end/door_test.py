"""The program as a library (door.py) prints and does what the program does. library_tests.txt names enough tests that use it."""

import json
import pathlib
import re
import sys
import unittest

import door
from program import ROOT, Case, run, tree_bytes

sys.path.insert(0, str(ROOT / "tests" / "common"))
from python_tests import tests_of  # noqa: E402

LEAST = 300  # tests without a process
SPEED = r"in [\d.]+ s(?:, \d+ a second| \(\d+ samples a second\))"


@unittest.skipUnless(door.is_there(), "this build has no library of verbs")
class BothRoads(Case):
    def setUp(self):
        super().setUp()
        self.places = {process: self.folder / ("program" if process else "library") for process in (False, True)}

    def both(self, words):
        """Runs `words(folder)` both ways. Returns exit code, standard output and standard error, without the folder's name and speeds."""
        told = []
        for process, place in self.places.items():
            done = run(*words(place), process=process)
            told.append((done.code, *(re.sub(SPEED, "", text.replace(str(place), "PLACE")) for text in (done.out, done.err))))
        self.assertEqual(*told)
        return told[0]

    def test_what_makes_no_sense_has_the_same_words(self):
        verbs = [verb["name"] for verb in json.loads(run("reference").out)["program"]["verbs"]]
        self.assertGreater(len(verbs), 20)
        for verb in filter(lambda verb: door.leads_to([verb]), [*verbs, "dedupe"]):
            for more in ([], ["--nonsense"], ["--threads", "x"], ["nowhere", "--nonsens=1"]):
                code, out, err = self.both(lambda place: [verb, *more])
                self.assertEqual((code, out, err.count("\n")), (2, "", 1), f"{verb} {more}")

    def test_what_is_refused_has_the_same_words(self):
        for place in self.places.values():
            (place / "empty").mkdir(parents=True)
            (place / "file").write_text("no cache\n")
        for verb in ("dedup", "info", "tune", "verify", "compact", "split"):
            for name in ("empty", "file", "nowhere"):
                code, out, err = self.both(lambda place: [verb, place / name])
                self.assertEqual((code != 0, out, err.startswith("winnow: ")), (True, "", True), f"{verb} {name}")

    def test_verbs_do_the_same(self):
        for place in self.places.values():
            for i in range(12):
                self.write_ppm(place / f"set/{'train' if i % 3 else 'test'}/{'ab'[i % 2]}/{i:02}.ppm", self.image(24, seed=i // 2), 24)
        for process, place in self.places.items():  # prints its speed
            self.ok("ingest", place / "set", "--out", place / "cache", process=process)
        told = [self.both(lambda place, words=words: [word.replace("PLACE", str(place)) for word in words]) for words in (
            ["dedup", "PLACE/cache", "--threshold", "4", "--json", "--list-groups", "PLACE/groups.csv"],
            ["dedup", "PLACE/set", "--hash", "exact"],
            ["dedup", "PLACE/cache", "--threshold", "4", "--on-leak", "nowhere"],
            ["tune", "PLACE/cache", "--json", "--images", "4"],
            ["split", "PLACE/cache", "--test", "0.25", "--name", "cut", "--json"],
            ["index", "add", "PLACE/all.index", "PLACE/cache"],
            ["index", "query", "PLACE/all.index", "PLACE/set"],
            ["hash", "PLACE/set"],
            ["export", "PLACE/cache", "--to", "PLACE/out", "--selection", "default"],
            ["info", "PLACE/cache", "--json"],
            ["verify", "PLACE/cache"],
        )]  # fmt: skip
        self.assertTrue(all(code == 0 for code, _, _ in told[:2]), told)
        library, program = (tree_bytes(place / "out") for place in self.places.values())
        self.assertEqual(library, program)
        self.assertGreater(len(library), 1)


class Listed(unittest.TestCase):
    def test_enough_tests_start_no_process(self):
        listed = door.listed()
        self.assertEqual(listed, sorted(set(listed)))
        self.assertGreaterEqual(len(listed), LEAST)
        there = {f"{file.stem.removesuffix('_test')}.{test}" for file in pathlib.Path(__file__).parent.glob("*_test.py")
                 for test in tests_of(file.read_text())}  # fmt: skip
        self.assertEqual({name for name in listed if name not in there and name.rpartition(".")[0] not in there}, set())


if __name__ == "__main__":
    unittest.main()
