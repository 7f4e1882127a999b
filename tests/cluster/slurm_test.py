"""A real Slurm of two machines (./slurm): which launches are ranks of one job, and a job that is preempted and goes on to the same weights."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from hosts_case import PATIENCE_S, TMPFS, eventually

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs/how-to/slurm.md"
WINNOW = os.environ["WINNOW"]
RECIPE = ["--net", "lenet", "--image-size", "28", "--batch-size", "8", "--micro-batch", "4", "--threads", "1", "--reproducible"]
SKIPPED = 77


def shell(command, timeout=PATIENCE_S):
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=timeout)


def slurm_has_processes_of(job):
    """Whether a slurmstepd of this Slurm still runs a step of the job."""
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):  # the process has gone
                ours = os.environ["SLURM_CONF"].encode() in (entry / "environ").read_bytes()
                if ours and (entry / "cmdline").read_bytes().startswith(f"slurmstepd: [{job}.".encode()):
                    return True
    return False


def weights(run):
    (newest,) = sorted((run / "checkpoints").glob("step-*"), key=lambda path: int(path.name[5:]))[-1:]
    return (newest / "model.safetensors").read_bytes()


class Slurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="winnow-slurm-", dir=TMPFS))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        for i in range(64):
            image = cls.folder / f"images/train/{i % 2}/{i}.ppm"
            image.parent.mkdir(parents=True, exist_ok=True)
            pixels = bytes((i * 37 + k * 11 * (1 + i % 2)) % 256 for k in range(3 * 28 * 28))
            image.write_bytes(b"P6\n28 28\n255\n" + pixels)
        cls.cache = cls.folder / "cache"
        subprocess.run([WINNOW, "ingest", cls.folder / "images", "--out", cls.cache], check=True, capture_output=True)

    def train(self, out, *more):
        return " ".join(map(str, [WINNOW, "train", self.cache, "--out", self.folder / out, *RECIPE, *more]))

    def only_task(self, number, command):
        """A script with a single task; a shell without a terminal would end at once."""
        script = self.folder / f"task-{number}"
        script.write_text(f"#!/bin/bash\n[[ $SLURM_PROCID != {number} ]] || exec {command}\n")
        script.chmod(0o755)
        return script

    def refused(self, command, words):
        done = shell(command)
        self.assertEqual(done.returncode, 2, done.stderr)
        said = [line for line in done.stderr.splitlines() if line.startswith("winnow: ")]
        self.assertTrue(said, done.stderr)
        for word in words:
            self.assertIn(word, said[0])

    def test_ranks_by_pmix_are_one_job(self):
        done = shell(f"srun --mpi=pmix -N 2 -n 2 {self.train('two', '--max-steps', 2, '--json')}")
        self.assertEqual(done.returncode, 0, done.stderr)
        machines = json.loads(done.stdout)["machines"]
        self.assertEqual([(machine["host"], machine["ranks"]) for machine in machines], [("h1", [0]), ("h2", [1])])
        for machine in machines:
            self.assertRegex(done.stderr, rf"(?m)^{machine['host']}: rank \d on {machine['cores']} of \d+ core")

    def test_tasks_that_mpi_does_not_see_are_refused(self):
        self.refused(f"srun --mpi=none -n 2 {self.train('none')}", ["srun started 2 tasks", "each alone", "srun --mpi=pmix -n 2 winnow train"])
        self.assertNotEqual(shell(f"srun --mpi=pmi2 -n 2 {self.train('none')}").returncode, 0)  # Open MPI says so
        self.assertFalse((self.folder / "none").exists())

    def test_what_is_one_process_is_one(self):
        """Shells of a job of several tasks, one task, and tasks that leave the launch."""
        steps = "--max-steps", 1
        shells = {
            "salloc": f"salloc -n 2 {self.train('salloc', *steps)}",
            "one": f"salloc -n 2 srun --mpi=pmix -n 1 {self.train('one', *steps)}",
            "pty": f"script -qec 'srun -n 2 --pty {self.only_task(0, self.train('pty', *steps))}' /dev/null < /dev/null",
            "apart": f"srun -n 2 {self.only_task(1, 'env -u SLURM_STEP_NUM_TASKS ' + self.train('apart', *steps))}",
        }
        for name, command in shells.items():
            with self.subTest(name=name):
                done = shell(command)
                self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
                self.assertIn("1 rank, each with", done.stdout + done.stderr)

    def test_a_preempted_job_goes_on_to_the_same_weights(self):
        """By the script of the page."""
        steps = "--epochs", 1000, "--max-steps", 800
        script = re.search(r'```text title="train.sbatch"\n(.*?)```', PAGE.read_text(), re.DOTALL).group(1)
        ours = {"--nodes=4": "--nodes=2", "--cpus-per-task=32": "--cpus-per-task=1", "--output=train.log": f"--output={self.folder}/log"}
        ours["winnow train /shared/cache --out /shared/run --epochs 90"] = self.train("run", *steps, "--log-interval", 10)
        for theirs, mine in ours.items():
            self.assertIn(theirs, script)
            script = script.replace(theirs, mine)
        (self.folder / "train.sbatch").write_text(script)
        job = shell(f"sbatch --parsable {self.folder}/train.sbatch").stdout.strip()
        self.addCleanup(shell, f"scancel {job}")
        metrics = self.folder / "run/metrics.jsonl"
        eventually(lambda: metrics.exists() and metrics.read_bytes().count(b"\n") > 1, "steps")
        self.assertEqual(shell("srun --partition urgent --exclusive -N 2 -n 2 true").returncode, 0)
        said = (self.folder / "log").read_text()
        self.assertRegex(said, r"stopped on request after step \d+ of \d+; checkpoint in")
        eventually(lambda: re.search("JobState=PENDING(.|\n)*Restarts=1", shell(f"scontrol show job {job}").stdout), "the job waits for its second start")
        eventually(lambda: shell("sinfo --noheader --states idle --format %D").stdout.strip() == "2", "both machines are idle")
        eventually(lambda: not slurm_has_processes_of(job), "the first start is over")
        time.sleep(2)  # a start in the second in which Slurm ended the one before is refused as that one
        shell(f"scontrol update JobId={job} StartTime=now")
        eventually(lambda: re.search("JobState=(COMPLETED|FAILED)", shell(f"scontrol show job {job}").stdout), "the job is over")
        said = (self.folder / "log").read_text()
        logs = shell("tail -n 20 ${SLURM_CONF%/*}/log/*").stdout
        self.assertIn("JobState=COMPLETED", shell(f"scontrol show job {job}").stdout, said + logs)
        self.assertIn("resuming from", said)
        self.assertEqual(shell(self.train("undisturbed", *steps)).returncode, 0)
        self.assertEqual(weights(self.folder / "run"), weights(self.folder / "undisturbed"))


if __name__ == "__main__":
    if "SLURM_CONF" not in os.environ:
        tried = subprocess.run([HERE / "slurm", "2", "true"], capture_output=True, text=True)
        if tried.returncode != 0:
            why = tried.stderr.strip() or "Slurm does not start"
            print(f"skipped: no Slurm can be made here: {why}; by hand: apt-get install slurm-wlm munge, and root")
            sys.exit(SKIPPED)
        sys.exit(subprocess.run([HERE / "slurm", "2", sys.executable, "-B", *sys.argv]).returncode)
    unittest.main()
