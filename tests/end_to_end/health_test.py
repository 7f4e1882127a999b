"""Ranks that freeze, die or wait for a disk are named with machine, step and stage. A job that hangs ends. Ordinary
training prints nothing, and signals do not change a training.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time
import unittest

from program import BY_RANK, ROOT, RUN_S, WINNOW, Case, eventually, tensors

HOST = socket.gethostname().split(".")[0]


def with_rank(rank, parent):
    """The process of a rank started by the mpirun `parent`, or None."""
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            status = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            environment = (entry / "environ").read_bytes().split(b"\0")
        except OSError:  # the process has gone
            continue
        if int(status[1]) == parent and f"OMPI_COMM_WORLD_RANK={rank}".encode() in environment:
            return int(entry.name)
    return None


class Job:
    """winnow train under mpirun. Its output goes to a file, which can be read meanwhile."""

    def __init__(self, case, out, *args, ranks=3, faults="", last=""):
        """`faults` are WINNOW_FAILPOINTS of all ranks; `last` are those of one additional rank, the last."""
        self.out = case.folder / out
        self.said = case.folder / f"{out}.err"
        self.ranks = ranks + (1 if last else 0)
        train = [WINNOW, "train", case.folder / "cache", "--out", self.out, *case.recipe, *args]
        if last:
            train = [BY_RANK, *["+"] * ranks, "env", f"WINNOW_FAILPOINTS={last}", "++", *train]
        words = [ROOT / "tools/local_mpirun", self.ranks, *train]
        with open(self.said, "w") as err:
            self.process = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=err,
                                            env={**os.environ, "WINNOW_MPI_TIMEOUT": "800", **({"WINNOW_FAILPOINTS": faults} if faults else {})})  # fmt: skip
        case.addCleanup(self.end)

    def end(self):
        if self.process.poll() is None:
            for rank in range(self.ranks):
                if (pid := with_rank(rank, self.process.pid)) is not None:
                    os.kill(pid, signal.SIGKILL)
            self.process.kill()
        self.process.wait()

    def text(self):
        return self.said.read_text()

    def until(self, condition, what):
        eventually(condition, lambda: f"{what}; it said:\n{self.text()}")

    def steps(self):
        metrics = self.out / "metrics.jsonl"
        return metrics.read_text().count("train.loss") if metrics.exists() else 0

    def in_step(self, step):
        self.until(lambda: self.steps() >= step or self.process.poll() is not None, f"step {step}")
        assert self.process.poll() is None, f"over before it was disturbed; it said:\n{self.text()}"

    def longest_pause(self):
        """The longest time between two steps, in seconds."""
        walls = [json.loads(line)["wall"] for line in (self.out / "metrics.jsonl").read_text().splitlines() if "train.loss" in line]
        return max(after - before for before, after in zip([0, *walls], walls))

    def send(self, rank, number):
        os.kill(with_rank(rank, self.process.pid), number)

    def says(self, pattern):
        self.until(lambda: re.search(pattern, self.text()), pattern)

    def code(self):
        return self.process.wait(timeout=RUN_S)


class HealthTest(Case):
    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        self.learnable_idx(self.folder / "data", train=256, test=32)
        self.ok("ingest", self.folder / "data", "--out", self.folder / "cache")
        self.recipe = ["--net", "lenet", "--image-size", "32", "--batch-size", "24", "--micro-batch", "8", "--reproducible", "--threads", "1",
                       "--epochs", "60", "--max-steps", "150", "--log-interval", "1"]  # fmt: skip

    def weights(self, run):
        return tensors(run / "checkpoints/step-150/model.safetensors")

    def test_a_frozen_rank_is_named_and_the_run_goes_on_as_if_nothing_was(self):
        quiet = Job(self, "quiet")
        self.assertEqual(quiet.code(), 0, quiet.text())
        if (pause := quiet.longest_pause()) > 9:
            print(f"the machine was so busy that a step took {pause:.0f} s: whether ordinary training is silent is not asked", flush=True)
        else:
            self.assertNotRegex(quiet.text(), "waiting|heartbeats")
            self.assertFalse((quiet.out / "health").exists())
        job = Job(self, "job")
        job.in_step(10)
        job.send(1, signal.SIGSTOP)
        frozen = rf"waiting \d+ s for rank 1 \({HOST}\), last seen (in step \d+, [a-z ]+.*|starting): its process is frozen, but its machine answers; 1 other waits too"
        job.says(frozen)
        log = job.out / f"health/{HOST}.log"  # written after it is printed
        job.until(lambda: log.exists() and re.search(rf"(?m)^\d{{4}}-\d\d-\d\dT\S+ {frozen}$", log.read_text()), log)
        job.send(1, signal.SIGCONT)
        self.assertEqual(job.code(), 0, job.text())
        told = [int(seconds) for seconds in re.findall(r"winnow: waiting (\d+) s for rank 1 .*frozen", job.text())]
        for earlier, later in zip(told, told[1:]):  # repeated after twice the time, as on a busy machine
            self.assertGreaterEqual(later, 2 * earlier - 1, job.text())
        self.assertEqual(self.weights(job.out), self.weights(quiet.out))

    def test_a_job_that_hangs_ends_with_its_checkpoint_and_goes_on(self):
        job = Job(self, "job", "--stall-warning", "5", "--hang-timeout", "8")
        job.in_step(25)
        job.send(0, signal.SIGSTOP)  # the rank that would report
        self.assertEqual(job.code(), 75, job.text())
        self.assertRegex(job.text(), rf"waiting \d+ s for rank 0 \({HOST}\), last seen (in step \d+|starting)")
        self.assertRegex(job.text(), r"ended after \d+ s of waiting for rank 0 .*; the checkpoint of step \d+ is the newest: resume from it with --resume auto")
        again = Job(self, "job", "--resume", "auto")
        self.assertEqual(again.code(), 0, again.text())

    def test_without_a_checkpoint_it_ends_with_1(self):
        self.learnable_idx(self.folder / "more", train=6000, test=32)  # an epoch of 250 steps
        shutil.rmtree(self.folder / "cache")
        self.ok("ingest", self.folder / "more", "--out", self.folder / "cache")
        job = Job(self, "job", "--stall-warning", "2", "--hang-timeout", "7")
        job.in_step(2)
        job.send(2, signal.SIGSTOP)
        self.assertEqual(job.code(), 1, job.text())
        self.assertRegex(job.text(), r"ended after \d+ s of waiting for rank 2 .*; there is no checkpoint yet: start it again")

    def test_a_killed_rank_ends_the_job_at_once(self):
        job = Job(self, "job")
        job.in_step(10)
        job.send(2, signal.SIGKILL)
        self.assertEqual(job.code(), 137, job.text())
        self.assertNotRegex(job.text(), "ended after")  # it would be a minute later

    def test_a_job_that_was_suspended_as_a_whole_says_nothing(self):
        job = Job(self, "job", "--stall-warning", "10", "--hang-timeout", "12")
        job.in_step(10)
        for rank in range(3):
            job.send(rank, signal.SIGSTOP)
        time.sleep(15)  # longer than either limit
        for rank in range(3):
            job.send(rank, signal.SIGCONT)
        self.assertEqual(job.code(), 0, job.text())
        self.assertNotRegex(job.text(), "waiting|ended")

    def test_a_disk_that_hangs_is_named(self):
        job = Job(self, "job", "--stall-warning", "4", ranks=2, last="hang=load.record.before:*:200")
        job.says(rf"waiting \d+ s for rank 2 \({HOST}\), last seen in step \d+, waiting for its batch: its disk gives it no data; 1 other waits too")

    def test_a_checkpoint_that_cannot_be_written_is_named(self):
        job = Job(self, "job", "--stall-warning", "4", faults="hang=file.sync.before:model.safetensors:1")
        job.says(rf"waiting \d+ s for rank 0 \({HOST}\), last seen in step \d+, saving a checkpoint: it does not compute, read or write")

    def test_messages_of_mpi_that_do_not_arrive_are_named(self):
        job = Job(self, "job", "--stall-warning", "4", "--hang-timeout", "7", ranks=2, last="hang=mpi.send.before:*:300")
        job.says(r"waiting \d+ s for ranks 0, 1 and 2 .*: all wait for one another: messages of MPI do not arrive")
        self.assertIn(job.code(), (1, 75), job.text())  # although the thread that calls MPI is stuck

    def test_signals_amid_kernels_damage_nothing(self):
        """oneDNN's kernels have no stack to spare for a signal handler."""
        self.learnable_idx(self.folder / "more", train=2048, test=32)
        self.ok("ingest", self.folder / "more", "--out", self.folder / "large")
        words = ["train", self.folder / "large", "--net", "lenet", "--image-size", "32", "--batch-size", "2048", "--threads", "1",
                 "--epochs", "50", "--log-interval", "1", "--reproducible"]  # fmt: skip
        out = self.folder / "run"
        amid = 0
        for _ in range(30):
            shutil.rmtree(out, ignore_errors=True)
            shutil.rmtree(self.folder / "whole", ignore_errors=True)
            run = subprocess.Popen([str(word) for word in (WINNOW, *words, "--out", out)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            metrics = out / "metrics.jsonl"
            self.addCleanup(run.kill)
            eventually(lambda: run.poll() is not None or (metrics.exists() and "train.loss" in metrics.read_text()), "a step")
            begin, sent = time.monotonic(), 0
            while run.poll() is None and time.monotonic() < begin + 0.3:  # signals within a second count as one
                run.send_signal(signal.SIGUSR1)
                sent += 1
                time.sleep(0.0005)
            said = run.communicate()[1]
            if run.returncode == -signal.SIGUSR1:
                continue  # so busy that a second passed between two of them
            self.assertEqual(run.returncode, 75, said)
            step = (out / "checkpoints/latest").resolve().name
            self.ok(*words, "--out", self.folder / "whole", "--max-steps", step.removeprefix("step-"))
            self.assertEqual(tensors(out / "checkpoints" / step / "model.safetensors"), tensors(self.folder / "whole/checkpoints" / step / "model.safetensors"))
            amid += sent
            if amid > 20:
                break  # otherwise it was between two steps
        self.assertGreater(amid, 20)

    def test_what_makes_no_sense_is_refused(self):
        self.refused(2, ["--hang-timeout 5 is shorter than --stall-warning 10"], "train", self.folder / "cache", "--out",
                     self.folder / "run", "--hang-timeout", "5")  # fmt: skip
        self.refused(2, ["--stall-warning"], "train", self.folder / "cache", "--out", self.folder / "run", "--stall-warning", "-1")


if __name__ == "__main__":
    unittest.main()
