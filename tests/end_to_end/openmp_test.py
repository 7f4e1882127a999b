"""How OpenMP's threads wait is decided before its library is loaded. The library reports what it has read."""

import os
import pathlib
import re
import subprocess
import unittest

from program import WINNOW, Case, eventually, run

for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT"):
    os.environ.pop(name)  # as when users start the program


class OpenMp(Case):
    def setUp(self):
        super().setUp()
        self.learnable_idx(self.folder / "data", train=64, test=16)
        self.cache = self.folder / "cache"
        self.ok("ingest", self.folder / "data", "--out", self.cache)
        self.words = ["train", self.cache, "--out", self.folder / "run", "--net", "lenet", "--batch-size", 16]

    def read_by_openmp(self, *words, ranks=0, env=None):
        """(policy, spin count) for each time the library was loaded, in order; the last one does the computing."""
        result = run(*words, ranks=ranks, env={"OMP_DISPLAY_ENV": "verbose", **(env or {})})
        self.assertEqual(result.code, 0, result.err)
        policies = re.findall(r"OMP_WAIT_POLICY = '(\w+)'", result.err)
        return list(zip(policies, re.findall(r"GOMP_SPINCOUNT = '(\w+)'", result.err)))

    def test_train_and_eval_spin_briefly(self):
        seen = self.read_by_openmp(*self.words, "--epochs", 9, "--max-steps", 1)
        self.assertEqual(len(seen), 2)
        self.assertNotEqual(seen[0], ("PASSIVE", "1000"))
        self.assertEqual(seen[1], ("PASSIVE", "1000"))
        self.assertEqual(self.read_by_openmp("eval", self.folder / "run", self.cache)[1:], [("PASSIVE", "1000")])

    def test_on_several_ranks(self):
        seen = self.read_by_openmp(*self.words, "--epochs", 9, "--max-steps", 1, ranks=2)
        self.assertEqual(len(seen), 4)
        self.assertEqual(seen.count(("PASSIVE", "1000")), 2)

    def test_what_the_user_says_is_kept(self):
        seen = self.read_by_openmp(*self.words, "--epochs", 9, "--max-steps", 1, env={"OMP_WAIT_POLICY": "active"})
        self.assertEqual([policy for policy, _ in seen], ["ACTIVE"])
        seen = self.read_by_openmp(*self.words, "--epochs", 9, "--max-steps", 2, "--resume", "auto", env={"GOMP_SPINCOUNT": "77"})
        self.assertEqual([count for _, count in seen], ["77"])

    def test_it_goes_on_under_its_own_name(self):
        job = subprocess.Popen([WINNOW, *map(str, self.words), "--epochs", "10000"], stderr=subprocess.DEVNULL)
        try:
            environment = f"/proc/{job.pid}/environ"
            eventually(lambda: job.poll() is not None or b"GOMP_SPINCOUNT" in pathlib.Path(environment).read_bytes(), "a start with other variables")
            self.assertEqual(pathlib.Path(f"/proc/{job.pid}/comm").read_text(), "winnow\n")
        finally:
            job.kill()
            job.wait()

    def test_other_verbs_start_once(self):
        self.assertEqual(len(self.read_by_openmp("info", self.cache)), 1)

    def test_options_from_a_pipe_are_not_lost(self):
        done = subprocess.run([WINNOW, "--config", "/dev/stdin", *map(str, self.words), "--epochs", "9"], capture_output=True, text=True,
                              input="[train]\nmax-steps = 3\n")  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.folder / "run" / "checkpoints" / "step-3").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
