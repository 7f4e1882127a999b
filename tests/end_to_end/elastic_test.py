"""winnow-elastic: its decisions, what it starts and stops, and a job that reaches the same weights after a rank was
killed.

tests/cluster/elastic_test kills machines. Here most jobs are a script in place of mpirun.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import unittest

from local_mpi import local_mpi
from program import PATIENCE_S, ROOT, WINNOW, Case, eventually, tensors

ELASTIC = ROOT / "tools" / "winnow-elastic"

# Replaces mpirun: records its arguments, and does what the next line of FOLDER/script says. A number: ends with that code at once.
# "runs": writes metrics until SIGUSR1 ends it with 75. "hangs": hangs after what it started has ended. "lost": a machine was lost; ends with 0,
# as Open MPI 5 does.
MPIRUN = """#!/bin/bash
folder=$(dirname "$0")
echo "$*" >> "$folder/calls"
read -r act < "$folder/script"
sed -i 1d "$folder/script"
if [[ $act == hangs ]]; then
  sleep 2 &
  mkfifo "$folder/never"
  read -r <> "$folder/never"
fi
[[ $act == lost ]] && exit 0
[[ $act == 0 ]] && echo epoch >> "$folder/run/summary.csv"
[[ $act == runs ]] || exit "$act"
trap 'exit 75' USR1
while true; do echo step >> "$folder/run/metrics.jsonl"; sleep 0.05; done
"""


def decided(function, *arguments):
    done = subprocess.run(["bash", "-c", f'source "$1"; shift; {function} "$@"', "bash", ELASTIC, *map(str, arguments)], capture_output=True, text=True, check=True)
    return done.stdout.strip()


class Decisions(unittest.TestCase):
    def test_what_to_do_when_the_job_ended(self):
        # code, why, restarts left, ranks that answer, ranks needed: decision
        for arguments, what in (
            ((0, "itself", 3, 4, 1), "end 0"),
            ((0, "grow", 3, 4, 1), "end 0"),  # it ended before the signal
            ((2, "itself", 3, 4, 1), "end 2"),
            ((3, "itself", 3, 4, 1), "end 3"),
            ((2, "grow", 3, 4, 1), "end 2"),
            ((75, "stop", 3, 4, 1), "end 75"),
            ((137, "stop", 3, 4, 1), "end 137"),  # the user's second signal
            ((75, "itself", 3, 4, 1), "start 1"),  # --hang-timeout
            ((1, "itself", 3, 4, 1), "start 1"),
            ((137, "itself", 1, 3, 1), "start 1"),
            ((137, "itself", 0, 4, 1), "give-up 137"),
            ((75, "grow", 0, 4, 1), "start 0"),
            ((138, "grow", 0, 4, 1), "give-up 138"),  # killed by a signal
            ((138, "grow", 1, 4, 1), "start 1"),
            ((137, "lost", 1, 3, 1), "start 1"),
            ((2, "lost", 1, 3, 1), "start 1"),  # the exit code of a killed job means nothing
            ((137, "lost", 0, 3, 1), "give-up 137"),
            ((137, "itself", 1, 3, 4), "wait 1"),
            ((75, "grow", 1, 3, 4), "wait 0"),
            ((137, "itself", 1, 0, 1), "wait 1"),
        ):
            self.assertEqual(decided("decide", *arguments), what, arguments)

    def test_what_a_look_at_a_machine_means(self):
        # answers, used, times in a row: decision
        for arguments, what in (
            ((1, 1, 9), "nothing"),
            ((0, 0, 9), "nothing"),
            ((0, 1, 1), "nothing"),
            ((0, 1, 2), "lost"),
            ((1, 0, 1), "nothing"),
            ((1, 0, 2), "back"),
        ):
            self.assertEqual(decided("look", *arguments), what, arguments)


class Elastic(Case):
    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        self.mpirun = self.folder / "mpirun"
        self.mpirun.write_text(MPIRUN)
        self.mpirun.chmod(0o755)
        (self.folder / "run").mkdir()

    def start(self, script, *options):
        (self.folder / "script").write_text("".join(f"{act}\n" for act in script))
        return self.begin(*options, "--mpirun", self.mpirun, "--", "train", "cache", "--out", self.folder / "run")

    def begin(self, *words, env=None):
        with open(self.folder / "said", "w") as said:
            job = subprocess.Popen([ELASTIC, *map(str, words)], stdout=subprocess.DEVNULL, stderr=said, env={**os.environ, **(env or {})})
        self.addCleanup(lambda: (job.terminate(), job.wait()) if job.poll() is None else None)
        return job

    def text(self):
        return (self.folder / "said").read_text()

    def calls(self):
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def until(self, condition, what):
        eventually(condition, lambda: f"{what}; it said:\n{self.text()}")

    def test_it_starts_mpirun_anew_until_the_job_is_done(self):
        job = self.start([137, 1, 75, 0], "--hosts", "a,b:2", "--probe", "true")
        self.assertEqual(job.wait(PATIENCE_S), 0, self.text())
        self.assertEqual(self.calls(), [f"-np 3 --host a:1,b:2 {WINNOW} train cache --out {self.folder}/run --resume auto"] * 4)
        self.assertEqual(re.findall(r"\d+ restarts left", self.text()), ["9 restarts left", "8 restarts left", "7 restarts left"])
        self.assertIn("a rank was killed (137)", self.text())

    def test_an_mpirun_that_lost_a_machine_may_end_with_0(self):
        job = self.start(["lost", 0, "lost"], "--hosts", "a,b", "--probe", "true")
        self.assertEqual(job.wait(PATIENCE_S), 0, self.text())
        self.assertEqual(len(self.calls()), 2)
        self.assertIn("it failed (1); 9 restarts left", self.text())
        job = self.start(["lost"], "--hosts", "a,b", "--probe", "true", "--restarts", 0)  # the previous table does not count
        self.assertEqual(job.wait(PATIENCE_S), 1, self.text())
        self.assertIn("no restarts are left", self.text())

    def test_wrong_usage_and_refused_data_are_not_tried_again(self):
        for code in (2, 3):
            (self.folder / "calls").unlink(missing_ok=True)
            self.assertEqual(self.start([code, 0], "-n", 2).wait(60), code)
            self.assertEqual(len(self.calls()), 1)

    def test_it_gives_up_when_no_restarts_are_left(self):
        self.assertEqual(self.start([1, 137, 0], "-n", 2, "--restarts", 1).wait(60), 137)
        self.assertEqual(len(self.calls()), 2)
        self.assertRegex(self.text(), "killed.*no restarts are left: giving up")

    def test_an_mpirun_that_does_not_end_with_its_ranks_is_ended(self):
        job = self.start(["hangs", 0], "-n", 2, "--probe-every", 1)
        self.assertEqual(job.wait(PATIENCE_S), 0, self.text())
        self.assertEqual(len(self.calls()), 2)
        self.assertRegex(self.text(), "all ranks have ended, and mpirun does not: ending it\n.* 9 restarts left")

    def test_a_signal_of_the_users_stops_the_job_and_starts_none(self):
        for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGINT):
            (self.folder / "calls").unlink(missing_ok=True)
            (self.folder / "run" / "metrics.jsonl").unlink(missing_ok=True)
            job = self.start(["runs", 0], "-n", 2)
            self.until(lambda: (self.folder / "run" / "metrics.jsonl").exists() and self.calls(), "it runs")
            job.send_signal(number)
            self.assertEqual(job.wait(PATIENCE_S), 75, self.text())
            self.assertEqual(len(self.calls()), 1)

    def machines(self, *answering):
        for name in "abc":
            (self.folder / f"up-{name}").unlink(missing_ok=True)
        for name in answering:
            (self.folder / f"up-{name}").touch()
        return ["--hosts", "a,b,c", "--probe", f"test -e {self.folder}/up-{{}}", "--probe-every", 1]

    def test_a_machine_that_falls_silent_is_left_out_and_taken_in_again(self):
        job = self.start(["runs", "runs", 0], *self.machines("a", "b", "c"))
        self.until(lambda: len(self.calls()) == 1, "the first start")
        self.machines("a", "c")
        self.until(lambda: len(self.calls()) == 2, "a start without b")
        self.assertIn("--host a:1,c:1 ", self.calls()[1])
        self.assertIn("no answer from b: ending the job", self.text())
        self.machines("a", "b", "c")
        self.assertEqual(job.wait(PATIENCE_S), 0, self.text())
        self.assertIn("--host a:1,b:1,c:1 ", self.calls()[2])
        self.assertIn("an answer from b: stopping the job at a checkpoint, to go on with it", self.text())
        self.assertEqual(re.findall("winnow-elastic: (.* restarts left)", self.text()), ["the job was ended; no answer from b: going on without; 9 restarts left"])

    def test_it_waits_for_enough_machines(self):
        job = self.start([0], *self.machines("a"), "--min-ranks", 2)
        self.until(lambda: "waiting for b, c" in self.text(), "it waits")
        self.assertEqual(self.calls(), [])
        self.machines("a", "c")
        self.assertEqual(job.wait(PATIENCE_S), 0, self.text())
        self.assertIn("-np 2 --host a:1,c:1 ", self.calls()[0])

    def test_waiting_ends_by_a_signal(self):
        job = self.start([0], *self.machines(), "--probe-every", 1)
        self.until(lambda: "waiting for a, b, c" in self.text(), "it waits")
        job.send_signal(signal.SIGTERM)
        self.assertEqual(job.wait(PATIENCE_S), 75)
        self.assertEqual(self.calls(), [])

    def test_hosts_of_a_file(self):
        hosts = self.folder / "hosts"
        hosts.write_text("# four\nnode1 slots=2\n\nnode2   # one\nnode3 max_slots=4 slots = 3\n")
        self.assertEqual(self.start([0], "--hostfile", hosts, "--probe", "true").wait(60), 0, self.text())
        self.assertIn("-np 6 --host node1:2,node2:1,node3:3 ", self.calls()[0])

    def test_what_makes_no_sense_is_refused(self):
        train = ["--", "train", "cache", "--out", "run"]
        (self.folder / "bad").write_text("node1 slots=two\n")
        for words, why in (
            (train, "name machines by --hosts or --hostfile"),
            (["-n", "2"], "behind -- comes what winnow is to do"),
            (["-n", "2", "--", "dedup", "cache"], "behind -- comes what winnow is to do"),
            (["-n", "0", *train], "-n 0 is no number from 1 on"),
            (["-n", "2", "--restarts", "many", *train], "--restarts many is no number from 0 on"),
            (["-n", "2", "--hosts", "a", *train], "-n is for ranks of this machine alone"),
            (["--hosts", "a,b,a", *train], "machine a is named twice"),
            (["--hosts", "a:0", *train], "machine a has '0' ranks"),
            (["--hosts", "a;reboot", *train], "is no name of a machine"),
            (["--hostfile", self.folder / "none", *train], "cannot read"),
            (["--hostfile", self.folder / "bad", *train], "machine node1 has 'two' ranks"),
            (["--hosts", "a,b", "--min-ranks", "3", *train], "--min-ranks 3 is more than the 2 ranks"),
            (["--hosts"], "--hosts needs a value"),
            (["--host", "a", *train], "unknown option --host"),
            (["-n", "2", "--mpirun", "no-such-mpirun", *train], "there is no 'no-such-mpirun'"),
        ):
            job = self.begin(*words)
            self.assertEqual(job.wait(PATIENCE_S), 2, words)
            self.assertIn(why, self.text())
            self.assertEqual(len(self.text().splitlines()), 1, self.text())
        described = subprocess.run([ELASTIC, "--help"], capture_output=True, text=True, check=True).stdout
        self.assertIn("--min-ranks M", described)
        self.assertNotIn("set -u", described)

    def test_a_job_whose_rank_is_killed_goes_on_to_the_same_weights(self):
        self.learnable_idx(self.folder / "data", train=256, test=32)
        self.ok("ingest", self.folder / "data", "--out", self.folder / "cache")
        recipe = ["--net", "lenet", "--image-size", 32, "--batch-size", 24, "--micro-batch", 8, "--threads", 1, "--epochs", 12, "--log-interval", 1]
        self.ok("train", self.folder / "cache", "--out", self.folder / "whole", *recipe, ranks=2)
        out = self.folder / "job"
        job = self.begin("-n", 2, "--", "train", self.folder / "cache", "--out", out, *recipe,
                         env={**local_mpi(), "OMP_NUM_THREADS": "1", "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "detect_leaks=0")})  # fmt: skip
        self.until(lambda: (out / "checkpoints" / "latest").exists(), "a checkpoint")
        victim = next(pid for pid in pathlib.Path("/proc").iterdir() if pid.name.isdigit() and self.is_rank(pid, out))
        os.kill(int(victim.name), signal.SIGKILL)
        self.assertEqual(job.wait(PATIENCE_S), 0, self.text())
        self.assertIn("9 restarts left", self.text())
        latest = pathlib.Path("checkpoints", "latest", "model.safetensors")
        self.assertEqual(tensors(out / latest), tensors(self.folder / "whole" / latest))
        self.assertEqual(json.loads((out / "census.json").read_text()), json.loads((self.folder / "whole" / "census.json").read_text()))

    @staticmethod
    def is_rank(pid, out):
        try:
            words = (pid / "cmdline").read_bytes().split(b"\0")
            return b"OMPI_COMM_WORLD_RANK=1" in (pid / "environ").read_bytes().split(b"\0") and str(out).encode() in words
        except OSError:  # the process has gone
            return False


if __name__ == "__main__":
    unittest.main(verbosity=2)
