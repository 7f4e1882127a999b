"""The comparison of two programs notices each kind of difference, and none where there is none."""

import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
WINNOW = os.environ["WINNOW"]

sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
loader = importlib.machinery.SourceFileLoader("measure", str(HERE / "measure"))
measure = importlib.util.module_from_spec(importlib.util.spec_from_loader("measure", loader))
loader.exec_module(measure)


class Measure(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        temporary = tempfile.TemporaryDirectory(prefix="same-results-test-", dir=shm)
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)

    def measure(self, after, *more, only, before=WINNOW):
        """(exit code, output); the data sets are made once for all tests."""
        line = [sys.executable, "-B", HERE / "measure", before, after, "--only", only, "--work", self.folder / "work", *more]
        done = subprocess.run(line, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def altered(self, name, script):
        """A program that runs bash's `script`, in which `winnow` is the real program."""
        path = self.folder / name
        path.write_text(f'#!/usr/bin/env bash\nwinnow() {{ "{WINNOW}" "$@"; }}\n{script}\n')
        path.chmod(0o755)
        return path

    def differs(self, script, only, *says):
        """Checks that one difference is found, described like this."""
        code, said = self.measure(self.altered("other", script), only=only)
        self.assertEqual(code, 1, said)
        self.assertEqual(said.count("NOT EXPECTED"), 1, said)
        for words in says:
            self.assertIn(words, said)

    def test_one_program(self):
        code, said = self.measure(WINNOW, "--threads", "1,2", only="format_idx,dedup_exact,index_query,cache,help")
        self.assertEqual(code, 0, said)
        self.assertEqual(said.count(" equal in "), 5, said)
        self.assertIn("5 cases; unexpected: none", said)

    def flip(self, file, at=-1):
        return f'python3 -c "p = \'{file}\'; b = bytearray(open(p, \'rb\').read()); b[{at}] ^= 1; open(p, \'wb\').write(b)"'

    def test_one_bit_of_a_file(self):
        flip = self.flip("cache/shards/00000.mdb", 5000)
        self.differs(f'winnow "$@" || exit; [[ $1 != info ]] || {flip}', "format_idx",
                     "NOT EXPECTED  cache/shards/00000.mdb: 1 of ", "first at 5000: ")  # fmt: skip
        flip = self.flip("cache/selections/default.selection", 99)
        self.differs(f'winnow "$@" || exit; [[ "$*" != *--json ]] || {flip}', "dedup_exact",
                     "NOT EXPECTED  cache/selections/default.selection: 1 of ")  # fmt: skip
        self.differs(f'winnow "$@" || exit; [[ $1 != info ]] || {self.flip("cache/ledger.jsonl", 2)}', "format_idx",
                     "NOT EXPECTED  cache/ledger.jsonl: line 1: ")  # fmt: skip

    def test_what_is_printed(self):
        self.differs('winnow "$@" | sed "s/removed/Removed/"', "dedup_exact", 'NOT EXPECTED  stdout: line 3: ', '"Removed"')
        self.differs('winnow "$@" 2> >(sed "s/kept/left/" >&2); code=$?; wait $!; exit $code', "dedup_exact",
                     "NOT EXPECTED  stderr: line 2: ", " left")  # fmt: skip
        self.differs('winnow "$@"; code=$?; [[ $code != 2 ]] || exit 3; exit $code', "hash_refused",
                     "NOT EXPECTED  exit: line 2: '2' -> '3'")  # fmt: skip

    def test_which_files_there_are(self):
        self.differs('winnow "$@" || exit; touch cache/more', "dedup_exact", "NOT EXPECTED  tree: ", "cache/more")
        self.differs('winnow "$@" || exit; touch tmp/left', "dedup_exact", "NOT EXPECTED  tree: ", "tmp/left")
        self.differs('winnow "$@" || exit; chmod +x cache/ledger.jsonl', "dedup_exact", "NOT EXPECTED  tree: ", "-rwxr-xr-x")
        self.differs('winnow "$@" || exit; rm cache/selections/default.csv', "dedup_exact", "NOT EXPECTED  tree: ")

    def test_what_is_expected(self):
        other = self.altered("other", 'winnow "$@" || exit; echo more; touch cache/more')
        code, said = self.measure(other, "--expect", "dedup_*:stdout", only="dedup_exact")
        self.assertEqual(code, 1, said)
        self.assertIn("expected      stdout: line 2: ", said)
        self.assertIn("NOT EXPECTED  tree: ", said)
        code, said = self.measure(other, "--expect", "dedup_*:stdout", "--expect", "*:tree", only="dedup_exact")
        self.assertEqual(code, 0, said)
        code, said = self.measure(WINNOW, "--expect", "dedup_exact:stdout", only="dedup_exact")
        self.assertEqual(code, 0, said)
        self.assertIn("nothing differs as dedup_exact:stdout says", said)

    def test_a_program_before_that_fails(self):
        fails = self.altered("fails", '[[ $1 != dedup ]] || { echo "winnow: no" >&2; exit 1; }; winnow "$@"')
        code, said = self.measure(fails, before=fails, only="dedup_exact")
        self.assertEqual(code, 1, said)
        self.assertIn("NOT EXPECTED  before: 'dedup cache --hash exact --list-groups groups.jsonl' ends with 1, not 0: winnow: no", said)

    def test_inputs_stay(self):
        code, said = self.measure(self.altered("other", 'winnow "$@" || exit; touch in/idx/more'), only="format_idx")
        self.assertEqual(code, 1, said)
        self.assertIn("the inputs were changed", said)

    def test_masks_hide_times_and_nothing_else(self):
        for text, left in (
            (b"105 of 105 inputs read, 105 in 0.2 s, 558 a second", b"105 of 105 inputs read, 105 in T s, T a second"),
            (b'{"ok":30,"images_per_second":1569.36,"digest":"02"}', b'{"ok":30,"images_per_second":T,"digest":"02"}'),
            (b'"stages":{"read":{"busy_seconds":2.4e-05,"threads":1}},"slowest":"write"', b'"stages":{"read":T},"slowest":T'),
            (b"the cache would take about 9 KiB; 23 GiB are free there", b"the cache would take about 9 KiB; T are free there"),
        ):  # fmt: skip
            self.assertEqual(measure.masked(text), left)
        for text in (b"12 groups of duplicates; 27 samples removed, 78 kept", b"leak: 3 val samples have a duplicate in train (1 groups)",
                     b"smallest  32 x 32 px, largest 80 x 64 px", b"shards    1 (0 MiB, store original)", b"0268418f8203ae81 2 selections",
                     b'{"threshold":4,"threads":2,"seconds_more":5,"removed":30}', b"reading is slow.\nfree 23 GiB"):  # fmt: skip
            self.assertEqual(measure.masked(text), text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
