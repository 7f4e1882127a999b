"""A training run one can follow: event files, evaluations on the way, the best checkpoint, reports of runs."""

import glob
import json
import os
import subprocess
import unittest

from program import Case, run, tensors

# A Python with TensorBoard, as `python3 -m venv` and `pip install tensorboard` make one.
PYTHON = os.environ.get("WINNOW_TENSORBOARD_PYTHON", "python3")
SCALARS = """
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0})
events.Reload()
print(json.dumps({tag: [[e.step, e.value, e.wall_time] for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}))
"""


def has_tensorboard():
    probe = subprocess.run([PYTHON, "-c", "import tensorboard"], capture_output=True)
    return probe.returncode == 0


class Follow(Case):
    RECIPE = ["--net", "lenet", "--batch-size", 48, "--micro-batch", 6, "--lr", 0.05, "--threads", 1, "--resume", "auto"]

    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        self.learnable_idx(self.folder / "data", train=384, test=32)  # 8 steps an epoch
        self.cache = self.folder / "cache"
        self.ok("ingest", self.folder / "data", "--out", self.cache)

    def command(self, out, *more):
        return ["train", self.cache, "--out", self.folder / out, *self.RECIPE, *more]

    def rows(self, out):
        return [json.loads(line) for line in (self.folder / out / "metrics.jsonl").read_text().splitlines()]

    def event_file(self, out):
        (path,) = (self.folder / out / "tensorboard").iterdir()
        return path


class TensorBoard(Follow):
    def expected(self, out):
        """{tag: [[step, value]]} as metrics.jsonl has them."""
        found = {}
        for row in self.rows(out):
            for name, value in row.items():
                if name not in ("step", "epoch", "wall", "run"):
                    found.setdefault(name.replace(".", "/"), []).append([row["step"], value])
        return found

    def stopped_and_gone_on(self):
        command = self.command("run", "--epochs", 2, "--log-interval", 1, "--holdout", 0.25, "--recovery-interval", 3,
                               "--tensorboard")  # fmt: skip
        killed = run(*command, env={"WINNOW_FAILPOINTS": "kill=file.write.after:metrics.jsonl:6"})
        self.assertNotEqual(killed.code, 0)
        first = self.event_file("run")
        self.ok(*command)
        self.assertNotEqual(self.event_file("run"), first)
        self.ok(*command)  # a run that has ended evaluates again

    @unittest.skipUnless(has_tensorboard(), f"{PYTHON} has no package tensorboard (WINNOW_TENSORBOARD_PYTHON names one)")
    def test_tensorboard_reads_every_number_once(self):
        self.stopped_and_gone_on()
        done = subprocess.run([PYTHON, "-c", SCALARS, str(self.folder / "run" / "tensorboard")], capture_output=True,
                              text=True, check=True)  # fmt: skip
        found = json.loads(done.stdout)
        expected = self.expected("run")
        self.assertEqual(set(found), set(expected))
        for tag in expected:
            self.assertEqual([step for step, _, _ in found[tag]], [step for step, _ in expected[tag]], tag)
            for (_, value, _), (_, due) in zip(found[tag], expected[tag]):
                self.assertAlmostEqual(value, due, delta=1e-6 * abs(due), msg=tag)
        steps = [step for step, _, _ in found["train/loss"]]
        self.assertEqual(steps, list(range(1, 13)))
        walls = [wall for _, _, wall in found["train/loss"]]
        self.assertEqual(walls, sorted(walls))
        self.assertEqual(len(found["val/top1"]), 2)

    def test_event_files_are_tfrecords(self):
        """Our own reader goes through all frames, and finds no image in any."""
        self.stopped_and_gone_on()
        records = self.folder / "run.tfrecord"
        records.write_bytes(self.event_file("run").read_bytes())
        self.refused(2, ["no record has a feature"], "ingest", records, "--out", self.folder / "no")
        records.write_bytes(records.read_bytes()[:-1])
        self.refused(2, ["is cut short"], "ingest", records, "--out", self.folder / "no")

    def test_nothing_is_written_unasked(self):
        self.ok(*self.command("plain", "--max-steps", 2))
        self.assertFalse((self.folder / "plain" / "tensorboard").exists())
        self.ok(*self.command("plain", "--max-steps", 4, "--log-interval", 1, "--tensorboard"))
        self.assertEqual(len(self.rows("plain")), 5)  # what was done before is in the events, too
        self.assertGreater(self.event_file("plain").stat().st_size, 500)


if __name__ == "__main__":
    unittest.main(verbosity=2)
