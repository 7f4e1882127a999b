"""Machines that die and come back while winnow-elastic trains on them: it continues without them and with them again.
The result has the bits of an undisturbed run.

    elastic_test.py [--rounds N] [--seed S] [TEST...]

A round kills a machine (of four, network namespaces; with all that runs there, and its cable) at a random moment, and lets it come back at
another. Prints how long it took from each death to the next step.
"""

import argparse
import json
import os
import pathlib
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

from hosts_case import HOSTS, PATIENCE_S, TMPFS, HostsCase, eventually

HERE = pathlib.Path(__file__).resolve().parent
ELASTIC = HERE.parents[1] / "tools" / "winnow-elastic"
WINNOW = os.environ["WINNOW"]
ROUNDS, SEED = 3, 1
RECIPE = ["--net", "lenet", "--image-size", "32", "--batch-size", "12", "--micro-batch", "1", "--reproducible", "--threads", "1",
          "--epochs", "100000", "--log-interval", "1"]  # fmt: skip


class Elastic:
    """winnow-elastic on four hosts, and what a test does to them meanwhile."""

    def __init__(self, case, folder, *options):
        self.folder = pathlib.Path(folder)
        self.run = self.folder / "run"
        self.said = self.folder / "said"
        train = [WINNOW, "train", self.folder / "cache", "--out", self.run, *RECIPE]
        words = [ELASTIC, "--hosts", "h1,h2,h3,h4", "--mpirun", "hosts_mpirun", "--probe", "hosts_answers {}", "--probe-every", "1", *options, "--"]
        shell = f'dirname "$(command -v hosts_on)" > {folder}/tools; echo $$ > {folder}/pid; exec "$@" 2> {self.said}'
        self.process = subprocess.Popen([str(word) for word in (HOSTS, 4, "1gbit", "bash", "-c", shell, "elastic", *words, *train[1:])],
                                        stdout=subprocess.DEVNULL)  # fmt: skip
        case.addCleanup(self.end)
        self.until(lambda: (self.folder / "pid").exists() and (self.folder / "pid").read_text(), "a shell")

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()

    def hosts(self, act, *words):
        tools = pathlib.Path((self.folder / "tools").read_text().strip())
        return subprocess.run([tools / f"hosts_{act}", *words], capture_output=True, text=True, check=act != "answers")

    def text(self):
        return self.said.read_text() if self.said.exists() else ""

    def until(self, condition, what):
        """Waits until it is true. Returns the seconds that this took."""
        begin = time.monotonic()
        eventually(condition, lambda: f"{what}; it said:\n{self.text()}")
        return time.monotonic() - begin

    def starts(self):
        return re.findall(r"starting on (.*), (\d+) ranks", self.text())

    def metrics(self):
        """Returns values that change with every start of a run, and the bytes of its metrics."""
        path = self.run / "metrics.jsonl"
        return (path.stat().st_ino, path.stat().st_size) if path.exists() else (0, 0)

    def steps_of_start(self, starts, before=0):
        """Waits until so many jobs were started, and the newest has done a step; how long that took. `before` is the file of metrics
        before that: self.metrics()[0], taken before what makes it start."""

        def begun():
            return len(self.starts()) >= starts and self.metrics()[0] not in (0, before)

        took = self.until(begun, f"start {starts}")
        size = self.metrics()[1]
        return took + self.until(lambda: self.metrics()[1] > size, f"a step of start {starts}")

    def stop(self):
        """Stops it with the user's signal. Returns its exit code."""
        os.kill(int((self.folder / "pid").read_text()), signal.SIGUSR1)
        return self.process.wait(timeout=PATIENCE_S)


class ElasticTest(HostsCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(dir=TMPFS)
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        images = self.folder / "images"
        for i in range(96):
            (images / f"train/{i % 2}").mkdir(parents=True, exist_ok=True)
            pixels = bytes((i * 37 + k * 11 * (1 + i % 2)) % 256 for k in range(3 * 16 * 16))
            (images / f"train/{i % 2}/{i}.ppm").write_bytes(b"P6\n16 16\n255\n" + pixels)
        subprocess.run([WINNOW, "ingest", images, "--out", self.folder / "cache"], check=True, capture_output=True)

    def check_same_as_undisturbed(self, job):
        latest = job.run / "checkpoints" / "latest"
        step = json.loads((latest / "state.json").read_text())["step"]
        whole = self.folder / "whole"
        done = subprocess.run([WINNOW, "train", self.folder / "cache", "--out", whole, *RECIPE, "--max-steps", str(step)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("model.safetensors", "optimizer.safetensors"):
            self.assertEqual((whole / "checkpoints" / f"step-{step}" / name).read_bytes(), (latest / name).read_bytes(), name)
        census = json.loads((job.run / "census.json").read_text())
        self.assertEqual(census, json.loads((whole / "census.json").read_text()))
        self.assertTrue(all(row["complete"] for row in census["epochs"][:-1]))
        steps = [row["step"] for row in map(json.loads, (job.run / "metrics.jsonl").read_text().splitlines()) if "train.loss" in row]
        self.assertEqual(steps, list(range(1, step + 1)))
        return step

    def test_machines_die_and_come_back(self):
        rng = random.Random(SEED)
        job = Elastic(self, self.folder, "--restarts", str(ROUNDS))
        job.steps_of_start(1)
        deaths, returns = [], []
        for i in range(ROUNDS):
            time.sleep(rng.uniform(0, 3))
            host = f"h{rng.randrange(2, 5)}"
            before = job.metrics()[0]
            job.hosts("die", host)
            deaths.append(job.steps_of_start(2 * i + 2, before))
            others = ", ".join(f"h{k}" for k in range(1, 5) if f"h{k}" != host)
            self.assertEqual(job.starts()[-1], (others, "3"))
            time.sleep(rng.uniform(0, 3))
            before = job.metrics()[0]
            job.hosts("return", host)
            returns.append(job.steps_of_start(2 * i + 3, before))
            self.assertEqual(job.starts()[-1], ("h1, h2, h3, h4", "4"))
        self.assertEqual(job.stop(), 75)
        step = self.check_same_as_undisturbed(job)
        self.assertEqual(len(re.findall("restarts left", job.text())), ROUNDS)  # growing uses none
        print(f"{ROUNDS} deaths and returns in {step} steps: the same weights; from death to the next step {statistics.median(deaths):.1f} s, "
              f"at most {max(deaths):.1f} s, from return {statistics.median(returns):.1f} s, at most {max(returns):.1f} s", flush=True)  # fmt: skip

    def test_a_machine_that_is_cut_off_is_left_out_while_its_processes_live(self):
        job = Elastic(self, self.folder)
        job.steps_of_start(1)
        before = job.metrics()[0]
        job.hosts("link", "h3", "0", "down")
        job.steps_of_start(2, before)
        self.assertEqual(job.starts()[-1], ("h1, h2, h4", "3"))
        self.assertIn("no answer from h3: ending the job", job.text())
        before = job.metrics()[0]
        job.hosts("link", "h3", "0", "up")
        job.steps_of_start(3, before)
        self.assertEqual(job.starts()[-1], ("h1, h2, h3, h4", "4"))
        self.assertEqual(job.stop(), 75)
        self.check_same_as_undisturbed(job)


def main():
    global ROUNDS, SEED
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seed", type=int, default=SEED)
    arguments, rest = parser.parse_known_args()
    ROUNDS, SEED = arguments.rounds, arguments.seed
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
