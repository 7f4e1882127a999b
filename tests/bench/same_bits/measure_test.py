"""The comparison of two programs notices each kind of difference, and none where there is none."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
WINNOW = os.environ["WINNOW"]


class Measure(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        cls.holder = tempfile.TemporaryDirectory(prefix="winnow-test-", dir=shm)
        cls.folder = pathlib.Path(cls.holder.name)
        cls.addClassCleanup(cls.holder.cleanup)

    def measure(self, after, *more, only="lenet"):
        done = subprocess.run(
            [HERE / "measure", WINNOW, after, "--only", only, "--work", self.folder / "work", *more],
            capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return done.returncode, done.stdout

    def altered(self, name, script):
        """A program that is winnow except for `script`, part of a shell script that may call `winnow`."""
        path = self.folder / name
        path.write_text(f"#!/bin/bash\nwinnow() {{ '{WINNOW}' \"$@\"; }}\n{script}\n")
        path.chmod(0o755)
        return path

    def test_equals_itself(self):
        code, said = self.measure(WINNOW, only="lenet,resume_before_reproducible")
        self.assertEqual(code, 0, said)
        self.assertEqual(said.count(" equal in "), 2, said)

    def test_another_seed_differs_where_it_must(self):
        other = self.altered("seed", 'if [[ $1 == train ]]; then winnow "$@" --seed 2; else winnow "$@"; fi')
        code, said = self.measure(other)
        self.assertEqual(code, 1, said)
        for key in ("weights", "optimizer", "state", "config", "census", "train.loss", "data.digest", "json", "predictions"):
            self.assertRegex(said, rf"NOT EXPECTED  {key}: \d+ of \d+, first ")
        self.assertNotRegex(said, r"NOT EXPECTED  train\.lr")

    def test_what_is_expected_may_differ_and_nothing_else(self):
        other = self.altered("wd", 'if [[ $1 == train ]]; then winnow "$@" --weight-decay 0; else winnow "$@"; fi')
        code, said = self.measure(other, "--expect", "lenet:[!w]*")
        self.assertEqual(code, 1, said)
        self.assertEqual(said.count("NOT EXPECTED"), 1, said)
        self.assertIn("NOT EXPECTED  weights:", said)
        code, said = self.measure(other, "--expect", "lenet:*")
        self.assertEqual(code, 0, said)
        code, said = self.measure(WINNOW, "--expect", "lenet:weights")
        self.assertIn("nothing differs as lenet:weights says", said)

    def test_one_bit_of_a_tensor(self):
        flip = "import pathlib; p = pathlib.Path('run/checkpoints/latest/model.safetensors'); b = bytearray(p.read_bytes()); b[-1] ^= 1; p.write_bytes(b)"
        other = self.altered("bit", f'winnow "$@" || exit; [[ $1 == train ]] || exit 0; python3 -c "{flip}"')
        code, said = self.measure(other, only="momentum0")
        self.assertEqual(code, 1, said)
        self.assertRegex(said, r"NOT EXPECTED  weights: 1 of 8, first step-5 ")
        self.assertEqual(said.count("NOT EXPECTED"), 1, said)

    def test_failure_and_added_metrics(self):
        code, said = self.measure(self.altered("fails", "echo 'winnow: no' >&2; exit 1"))
        self.assertEqual(code, 1, said)
        self.assertIn("NOT EXPECTED  exit: winnow: no", said)
        add = json.dumps({"step": 1, "train.top5": 0.5})
        other = self.altered("adds", f"winnow \"$@\" || exit; [[ $1 == train ]] && echo '{add}' >> run/metrics.jsonl; true")
        code, said = self.measure(other)
        self.assertEqual(code, 0, said)
        self.assertIn("added: train.top5", said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
