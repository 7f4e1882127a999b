"""The experiments at reduced size: every table has its arms and its control, and a driver that was killed makes the same bytes."""

import csv
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "end_to_end"))
from program import CAN_TRAIN_IN_BF16, FASHION_MNIST  # noqa: E402

WINNOW = os.environ["WINNOW"]


def read(file):
    with file.open(newline="") as rows:
        return list(csv.DictReader(rows))


def bytes_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Evidence(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        cls.holder = tempfile.TemporaryDirectory(prefix="winnow-test-", dir=shm)
        cls.addClassCleanup(cls.holder.cleanup)
        cls.folder = pathlib.Path(cls.holder.name)

    def command(self, work, only):
        return [sys.executable, "-B", HERE / "measure", WINNOW, "--work", self.folder / work, "--results", self.folder / work / "results",
                "--only", only, "--reduced"]  # fmt: skip

    def made(self, only, work="whole"):
        done = subprocess.run(self.command(work, only), capture_output=True, text=True, timeout=300)
        log = self.folder / work / "log"
        self.assertEqual(done.returncode, 0, done.stderr + (log.read_text()[-2000:] if log.exists() else ""))
        return self.folder / work / "results" / only

    def test_sweep_has_a_control_for_each_point(self):
        folder = self.made("sweep")
        rows = {row["arm"]: row for row in read(folder / "fashion-mnist.csv")}
        self.assertEqual(list(rows)[0], "all")
        for share in (25, 50):
            point, control = rows[f"phash-r{share}-first"], rows[f"control-phash-r{share}-first"]
            self.assertEqual(point["removed"], control["removed"])
            self.assertAlmostEqual(float(point["removed"]), share, delta=0.1)
            self.assertEqual(point["images"], control["images"])
            apart = float(point["top1"]) - float(control["top1"])
            self.assertAlmostEqual(float(point["beside_control"]), apart, delta=0.02)
            self.assertLess(float(point["control_least"]), apart)
        self.assertIn("<svg", (folder / "fashion-mnist-epochs.svg").read_text())
        self.assertIn("winnow sweep fashion-mnist", (folder / "commands.txt").read_text())

    def test_killed_it_goes_on_to_the_same_bytes(self):
        whole = self.made("sweep")
        for after in (1.0, 3.0):
            driver = subprocess.Popen(self.command("killed", "sweep"), stdout=subprocess.DEVNULL, start_new_session=True)
            time.sleep(after)
            os.killpg(driver.pid, signal.SIGKILL)
            driver.wait()
        self.assertEqual(bytes_of(self.made("sweep", "killed")), bytes_of(whole))

    def test_a_second_call_runs_nothing(self):
        folder = self.made("variants")
        log = self.folder / "whole" / "log"
        first, said = bytes_of(folder), log.read_bytes()
        self.made("variants")
        self.assertEqual(bytes_of(folder), first)
        self.assertEqual(log.read_bytes(), said)

    def test_with_the_raw_results_another_machine_trains_nothing(self):
        made = bytes_of(self.made("sweep"))
        elsewhere = self.folder / "elsewhere" / "results"
        shutil.copytree(self.folder / "whole" / "results" / "raw", elsewhere / "raw")
        (elsewhere / "raw" / "done.jsonl").unlink()  # so that winnow sweep itself has to go on
        self.assertEqual(bytes_of(self.made("sweep", "elsewhere")), made)
        self.assertEqual(list((self.folder / "elsewhere" / "sweep-fashion-mnist" / "runs").iterdir()), [])

    def test_variants_are_paired_with_the_plain_run(self):
        folder = self.made("variants")
        for group, arms in (("execution", 3), ("micro-batch", 6), ("shuffling", 5)):
            rows = read(folder / f"{group}.csv")
            self.assertEqual(len(rows), arms)
            self.assertEqual(rows[0]["difference"], "")
            self.assertTrue(all(float(row["least"]) <= float(row["difference"]) <= float(row["most"]) for row in rows[1:]))
        plain = {read(folder / f"{group}.csv")[0]["top1_by_seed"] for group in ("execution", "micro-batch", "shuffling")}
        self.assertEqual(len(plain), 1, "the plain runs are trained once and shared")

    def test_batches_have_tuned_rows_scaling_and_ratios(self):
        folder = self.made("batches")
        self.assertEqual({(row["optimizer"], row["batch_size"]) for row in read(folder / "tuned-table.csv")},
                         {("sgd", "64"), ("lars", "64"), ("sgd", "256"), ("lars", "256")})  # fmt: skip
        self.assertIn("lars", (folder / "tuned.svg").read_text())
        self.assertEqual(len(read(folder / "scaling-64.csv")), 2)
        self.assertEqual(len(read(folder / "scaling-256.csv")), 4)
        ratios = read(folder / "ratios.csv")
        self.assertGreaterEqual(len({row["layer"] for row in ratios}), 3)
        self.assertTrue(all(float(row["weight_norm_by_gradient_norm"]) > 0 for row in ratios))

    def needs_pillow(self):
        try:
            import PIL  # noqa: F401
        except ImportError:
            self.skipTest("Pillow (python3-pil) is not installed")

    def test_planted_copies_are_found(self):
        self.needs_pillow()
        folder = self.made("planted")
        found = read(folder / "found.csv")
        shares = [float(row["found_percent"]) for row in found]
        self.assertEqual(shares, sorted(shares))
        self.assertGreater(shares[-1], 90)
        arms = [row["arm"] for row in read(folder / "arms.csv")]
        self.assertIn("all", arms)
        for mode in ("first", "weight", "one_per_group"):
            self.assertIn(f"phash-t6-{mode}", arms)
        self.assertTrue(any(arm.startswith("control-") for arm in arms))

    def test_copies_have_controls_at_both_budgets_and_class_weights(self):
        self.needs_pillow()
        rows = {(row["arm"], row["equal"]): row for row in read(self.made("copies") / "half.csv")}
        for equal in ("epochs", "steps"):
            for arm in ("phash-t6-first", "phash-t6-weight", "phash-t6-one_per_group", "control-phash-t6-first"):
                self.assertIn((arm, equal), rows)
            self.assertNotEqual(rows["phash-t6-first", equal]["beside_control"], "")
        for arm in ("all", "phash-t6-first", "control-phash-t6-first"):
            row = rows[f"class weights, {arm}", "steps"]
            self.assertTrue(float(row["both_least"]) <= float(row["beside_all"]) <= float(row["both_most"]), row)

    def test_faults_are_dropped_beside_as_many_at_random(self):
        self.needs_pillow()
        folder = self.made("faults")
        found = {row["selection"]: row for row in read(folder / "found.csv")}
        self.assertGreater(int(found["damage dropped"]["dark"]), 45, "of 50 dark images")
        self.assertGreater(int(found["conflicts dropped"]["conflict"]), 80, "of 100 conflicts")
        self.assertGreater(int(found["leaks dropped"]["leak"]), 40, "of 50 leaks")
        arms = [row["arm"] for row in read(folder / "arms.csv")]
        self.assertEqual((arms[0], arms[-1]), ("as it is", "as many at random"))
        leaks = read(folder / "leaks.csv")
        self.assertEqual([row["arm"] for row in leaks], ["as it is", "leaks dropped"])


if __name__ == "__main__":
    if not FASHION_MNIST.exists():
        print("Debian's dataset-fashion-mnist is not installed")
        raise SystemExit(77)
    if not CAN_TRAIN_IN_BF16:
        print("this processor cannot train in bf16, which needs AVX-512")
        raise SystemExit(77)
    unittest.main()
