"""Hosts in network namespaces: all-reduces over one and two cables, which are slowed and cut meanwhile; nothing is left behind."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from hosts_case import HOSTS, PATIENCE_S, RUN_S, TMPFS, HostsCase, eventually
from local_mpi import local_mpi

WINNOW = os.environ["WINNOW"]


def namespaces(of):
    """The network namespaces that the process `of` has made."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout.splitlines()
    return [line.split()[0] for line in listed if line.startswith(f"wx{of.pid}-")]


class ClusterTest(HostsCase):
    def hosts(self, *words, timeout=RUN_S):
        return subprocess.run([str(word) for word in (HOSTS, *words)], capture_output=True, text=True, timeout=timeout)

    def bench(self, *words, meanwhile="true"):
        """The rows of winnow bench allreduce on these hosts; `meanwhile` is what a shell does to their cables once all are connected.
        self.events is what that wrote to the file $EVENTS, a word each, with "over" where the bench was."""
        with tempfile.NamedTemporaryFile() as said, tempfile.NamedTemporaryFile("r") as events:
            begun = f"until grep -q additions: {said.name}; do sleep 0.05; done"
            bench = f"hosts_mpirun {WINNOW} bench allreduce -b 1M -e 1M -n 4 --schedule auto,multicolor,hierarchical --json"
            ended = f"echo over >> {events.name}; echo additions: >> {said.name}"
            command = f"EVENTS={events.name}; ({begun}; {meanwhile}) & {bench} 2> >(tee {said.name} >&2); rc=$?; {ended}; wait; exit $rc"
            done = self.hosts(*words, "bash", "-c", command)
            self.events = events.read().split()
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.strip().splitlines()[-1])["rows"]

    def assert_right(self, rows, *more):
        names = [row["schedule"].split(":")[0] for row in rows]
        self.assertEqual(names, ["auto", "multicolor", "hierarchical", *more, "MPI_Allreduce"])
        for row in rows:
            self.assertEqual(row["wrong"], 0, row)

    def test_three_hosts(self):
        self.assert_right(self.bench(3, "200mbit"))

    @unittest.skipUnless(shutil.which("mpiexec.mpich"), "MPICH is not installed (Debian: mpich)")
    def test_mpich_starts_on_hosts_of_their_own(self):
        done = self.hosts(3, "200mbit", "hosts_mpiexec", "sh", "-c", "echo $(hostname) $PMI_RANK of $PMI_SIZE")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(done.stdout.splitlines()), ["h1 0 of 3", "h2 1 of 3", "h3 2 of 3"])

    def test_two_ranks_on_each_host_by_two_cables(self):
        self.assert_right(self.bench("--rails", 2, "--ranks-per-host", 2, 2, "200mbit"), "hierarchical/memory")

    def test_a_cable_that_is_slowed_and_cut_meanwhile(self):
        """TCP resends what was lost while the cable was cut."""
        cut = "hosts_link h3 0 down; echo cut >> $EVENTS; sleep 3; hosts_link h3 0 up; echo mended >> $EVENTS"
        for _ in range(5):  # a shell without a core is late
            self.assert_right(self.bench("--rails", 2, 3, "50mbit", meanwhile=f"hosts_link h2 1 10mbit; sleep 1; {cut}"))
            if self.events[0] == "cut":
                break
        self.assertEqual(self.events, ["cut", "mended", "over"])

    def test_training_on_hosts_chooses_by_the_network(self):
        """Chooses schedules and the size of buckets, which a resumed run keeps."""
        with tempfile.TemporaryDirectory(dir=TMPFS) as folder:
            cache, out = f"{folder}/cache", f"{folder}/run"
            images = pathlib.Path(folder, "images")
            for i in range(48):
                (images / f"train/{i % 2}").mkdir(parents=True, exist_ok=True)
                pixels = bytes((i * 37 + k * 11 * (1 + i % 2)) % 256 for k in range(3 * 16 * 16))
                (images / f"train/{i % 2}/{i}.ppm").write_bytes(b"P6\n16 16\n255\n" + pixels)
            subprocess.run([WINNOW, "ingest", images, "--out", cache], check=True, capture_output=True)
            train = f"hosts_mpirun {WINNOW} train {cache} --out {out} --net resnet20 --batch-size 8 --micro-batch 2 --threads 1 --max-steps "
            first = self.hosts("--ranks-per-host", 2, 2, "200mbit", "bash", "-c", f"{train} 2")
            self.assertEqual(first.returncode, 0, first.stderr)
            plan = json.loads(pathlib.Path(out, "plan.json").read_text())
            self.assertIn(plan["layout"]["bucket_bytes"], [4**i << 10 for i in range(3, 9)])
            sizes = [row["elements"] for row in plan["layout"].get("smaller", [])]
            self.assertEqual(sizes, sorted(set(sizes)))
            self.assertIn(f"all-reduce {plan['layout']['schedule']}", first.stderr)
            again = self.hosts("--ranks-per-host", 2, 2, "50mbit", "bash", "-c", f"{train} 4 --resume auto")
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertEqual(json.loads(pathlib.Path(out, "plan.json").read_text())["layout"], plan["layout"])

    def small_cache(self, folder):
        images = pathlib.Path(folder, "images")
        for i in range(96):
            (images / f"train/{i % 2}").mkdir(parents=True, exist_ok=True)
            pixels = bytes((i * 37 + k * 11 * (1 + i % 2)) % 256 for k in range(3 * 16 * 16))
            (images / f"train/{i % 2}/{i}.ppm").write_bytes(b"P6\n16 16\n255\n" + pixels)
        subprocess.run([WINNOW, "ingest", images, "--out", f"{folder}/cache"], check=True, capture_output=True)

    def in_step(self, step, folder):
        return f"until [ $(grep -c train.loss {folder}/run/metrics.jsonl 2> /dev/null || true) -ge {step} ] 2> /dev/null; do sleep 0.05; done"

    def test_a_link_that_is_down_is_named_on_both_sides_and_the_run_goes_on(self):
        with tempfile.TemporaryDirectory(dir=TMPFS) as folder:
            self.small_cache(folder)
            began = self.in_step(20, folder)
            logs = f"{folder}/run/health/h[123].log"
            named = f"[ $(grep -l 'the link is down\\|the link of this one, h3, is down' {logs} 2> /dev/null | wc -l) -eq 3 ]"
            named = f"for i in $(seq {20 * PATIENCE_S}); do {named} && break; sleep 0.05; done"
            meanwhile = f"{began}; hosts_link h3 0 down; {named}; cp {logs} {folder}/; hosts_link h3 0 up"
            train = f"hosts_mpirun {WINNOW} train {folder}/cache --out {folder}/run --net lenet --image-size 32 --batch-size 9 --micro-batch 3 \
--threads 1 --epochs 40 --max-steps 80 --log-interval 1"
            done = self.hosts(3, "200mbit", "bash", "-c", f"({meanwhile}) & {train}; rc=$?; wait; exit $rc")
            self.assertEqual(done.returncode, 0, done.stderr)
            logs = {host: pathlib.Path(folder, f"{host}.log").read_text() for host in ("h1", "h2", "h3")}
        cut = r"waiting \d+ s for rank 2 \(h3\), last seen in step \d+, [a-z ,0-9]+: nothing comes from its machine: the link is down"
        self.assertRegex(logs["h1"], cut)
        self.assertRegex(logs["h2"], cut)
        self.assertRegex(logs["h3"], r"for ranks 0 and 1 \(h1, h2\), .*: nothing comes from any other machine: the link of this one, h3, is down")
        self.assertRegex(done.stderr, cut)
        self.assertRegex(done.stderr, r"all ranks continue, after \d+ s of waiting for rank 2 \(h3\)")

    def test_a_job_whose_link_stays_down_ends_on_both_sides(self):
        with tempfile.TemporaryDirectory(dir=TMPFS) as folder:
            self.small_cache(folder)
            began = self.in_step(20, folder)
            train = f"hosts_mpirun {WINNOW} train {folder}/cache --out {folder}/run --net lenet --image-size 32 --batch-size 9 --micro-batch 3 \
--threads 1 --epochs 40 --log-interval 1 --stall-warning 5 --hang-timeout 8"
            # The ranks end while it is down. Then it comes back, because mpirun waits for the machine that it cannot reach.
            ended = f"for i in $(seq {5 * PATIENCE_S}); do [ $(cat {folder}/run/health/*.log | grep -c 'ended after') -ge 2 ] && break; sleep 0.2; done"
            shell = f"({began}; hosts_link h2 0 down; {ended}; hosts_link h2 0 up) & {train}; rc=$?; wait; exit $rc"
            done = self.hosts(2, "200mbit", "bash", "-c", shell)
            logs = [pathlib.Path(folder, f"run/health/{host}.log").read_text() for host in ("h1", "h2")]
        self.assertIn(done.returncode, (1, 75), done.stderr)
        for log in logs:
            self.assertRegex(log, r"ended after \d+ s of waiting for rank [01]")

    def said_until(self, sentences, folder, *hosts, train, before="true"):
        """The output of a start that does not connect. It is ended once all these sentences have been printed."""
        pathlib.Path(folder, "sentences").write_text("".join(f"{sentence}\n" for sentence in sentences))
        there = f"while read -r line; do grep -qF -- \"$line\" {folder}/said || exit 1; done < {folder}/sentences"
        told = f"while kill -0 $job && ! ({there}); do sleep 0.1; done"
        done = self.hosts(*hosts, "bash", "-c", f"{before}; {train} 2> {folder}/said & job=$!; {told}; kill $job; wait $job")
        self.assertNotEqual(done.returncode, 0)
        said = pathlib.Path(folder, "said").read_text()
        for sentence in sentences:
            self.assertIn(sentence, said)
        return said

    def starting(self, folder, ranks, *more):
        return " ".join(f"hosts_mpirun {WINNOW} train {folder}/cache --out {folder}/run --net lenet --image-size 32 --batch-size {3 * ranks} \
--micro-batch 3 --threads 1 --max-steps 2 {' '.join(more)}".split())

    def test_ranks_of_uneven_hosts_have_their_own_machines_cores(self):
        """A rank that is alone on its host makes the same collective calls as those that share theirs, and has all cores."""
        with tempfile.TemporaryDirectory(dir=TMPFS) as folder:
            self.small_cache(folder)
            train = f"{WINNOW} train {folder}/cache --out {folder}/run --net lenet --image-size 32 --batch-size 12 --micro-batch 3 --max-steps 2"
            done = self.hosts(3, "1gbit", "hosts_mpirun", "--host", "h1:1,h2:2,h3:1", "-np", 4, *train.split())
            self.assertEqual(done.returncode, 0, done.stderr)
            for host, ranks in (("h1", "rank 0"), ("h2", "ranks 1-2"), ("h3", "rank 3")):
                self.assertIn(f"{host}: {ranks} on ", done.stderr)
            rows = json.loads(pathlib.Path(folder, "run", "plan.json").read_text())["layout"]["ranks"]
        self.assertEqual([row["node"] for row in rows], [0, 1, 1, 2])
        threads = [row["threads"] for row in rows]
        self.assertEqual((threads[3], threads[2]), (threads[0], threads[1]))
        if len(os.sched_getaffinity(0)) > 1:
            self.assertGreater(threads[0], threads[1])
            self.assertIn("4 ranks, rank 0 with ", done.stderr)

    def test_cards_of_one_address_on_two_hosts_are_named(self):
        """MPI takes docker0 of the other host for a route to it, and waits forever before a rank can report anything."""
        with tempfile.TemporaryDirectory(dir=TMPFS) as folder:
            self.small_cache(folder)
            sentences = ["--mca btl_tcp_if_include eth0"]
            for host, address, other, others in (("h1", "10.213.0.1", "h2", "10.213.0.2"), ("h2", "10.213.0.2", "h1", "10.213.0.1")):
                sentences += [f"{host}: MPI has not connected this machine with the others for 2 s; its network cards are",
                              f"eth0 {address}",
                              f"{host} reaches {other} by eth0 {others}, but not by docker0 172.17.0.1, whose address {host} has too"]  # fmt: skip
            train = self.starting(folder, 2, "--stall-warning 2")
            self.said_until(sentences, folder, "--containers", 1, 2, "1gbit", train=train)
            named = train.replace("hosts_mpirun", "hosts_mpirun --mca btl_tcp_if_include eth0")  # as the message advises
            done = self.hosts("--containers", 1, 2, "1gbit", "bash", "-c", named)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_two_hosts_that_do_not_reach_each_other_are_named(self):
        """mpirun reaches all of three, so they start; what the second and the third send each other goes nowhere. --stall-warning 0
        says nothing, and the job ends by --hang-timeout all the same."""
        with tempfile.TemporaryDirectory(dir=TMPFS) as folder:
            self.small_cache(folder)
            nowhere = "lladdr 02:00:00:00:00:99 dev eth0"
            cut = f"ip -n wx$PPID-2 neigh replace 10.213.0.3 {nowhere}; ip -n wx$PPID-3 neigh replace 10.213.0.2 {nowhere}"
            sentences = ["h2 does not reach h3: eth0 10.213.0.3, which does not answer",
                         "h3 does not reach h2: eth0 10.213.0.2, which does not answer"]  # fmt: skip
            train = self.starting(folder, 3, "--stall-warning 2")
            said = self.said_until(sentences, folder, 3, "1gbit", train=train, before=cut)
            self.assertNotIn("h1 does not reach", said)
            self.assertNotIn("not reach h1", said)
            train = self.starting(folder, 3, "--stall-warning 0", "--hang-timeout 3")
            done = self.hosts(3, "1gbit", "bash", "-c", f"{cut}; {train}")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(done.stderr, r"MPI has not connected its ranks for 3 s \(--hang-timeout\); this job ends")
            self.assertNotIn("not reach", done.stderr)

    def test_heartbeats_that_are_held_up_stop_no_run(self):
        """UDP does not get through: a sentence, and the run continues."""
        with tempfile.TemporaryDirectory(dir=TMPFS) as folder:
            self.small_cache(folder)
            train = f"hosts_mpirun {WINNOW} train {folder}/cache --out {folder}/run --net lenet --image-size 32 --batch-size 8 --micro-batch 2 --threads 1 \
--epochs 100000 --log-interval 100"
            told = f"while kill -0 $job && ! grep -q 'no heartbeats' {folder}/said; do sleep 0.1; done"
            steps = f"$(cat {folder}/run/metrics.jsonl 2> /dev/null | wc -l)"
            goes_on = f"before={steps}; while kill -0 $job && [ {steps} -le $before ]; do sleep 0.1; done"
            shell = f"ip -n wx$PPID-2 rule add ipproto udp prohibit; {train} 2> {folder}/said & job=$!; {told}; {goes_on}; kill -USR1 $job; wait $job"
            done = self.hosts(2, "1gbit", "bash", "-c", shell)
            said = pathlib.Path(folder, "said").read_text()
        self.assertEqual(done.returncode, 75, said)
        self.assertRegex(said, r"no heartbeats from rank 1 \(h2\) reach h1: the run continues, but cannot report it if they hang; allow UDP")
        self.assertNotIn("waiting", said)

    def test_ranks_that_cannot_share_memory_send_messages(self):
        """Ranks of one machine in separate process namespaces, as in containers."""
        mpirun = ["mpirun", "-np", "2", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo", "unshare", "--pid", "--fork", "--mount-proc"]
        bench = [WINNOW, "bench", "allreduce", "-b", "64K", "-e", "64K", "-n", "2", "--schedule", "ring,auto", "--json"]
        done = subprocess.run([*mpirun, *bench], capture_output=True, text=True, timeout=RUN_S, env={**os.environ, **local_mpi()})
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads(done.stdout.strip().splitlines()[-1])["rows"]
        self.assertEqual([row["schedule"] for row in rows], ["ring", "auto: multicolor", "MPI_Allreduce"])
        self.assertEqual([row["wrong"] for row in rows], [0, 0, 0])

    def test_hosts_are_held_to_a_share_of_a_core(self):
        quotas = "cat /sys/fs/cgroup/cpu/wx$PPID-*/cpu.cfs_quota_us /sys/fs/cgroup/wx$PPID-*/cpu.max 2> /dev/null"
        done = self.hosts("--cores", "0.5", 2, "1gbit", "bash", "-c", f"hosts_mpirun cat /proc/self/cgroup && {quotas} || true")
        if done.returncode and "cgroup" in done.stderr:
            self.skipTest(f"no control groups can be made here: {done.stderr.strip()}")
        self.assertEqual(done.returncode, 0, done.stderr)
        groups = set(re.findall(r"/(wx\d+-\d)$", done.stdout, re.MULTILINE))
        self.assertEqual({group.split("-")[1] for group in groups}, {"1", "2"}, done.stdout)
        self.assertEqual(re.findall(r"^2000\b", done.stdout, re.MULTILINE), ["2000"] * 2)  # us of a period of 4 ms
        self.assertEqual([path for group in groups for path in pathlib.Path("/sys/fs/cgroup").glob(f"**/{group}")], [])

    def test_nothing_is_left_of_hosts_that_are_stopped(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            hosts = subprocess.Popen([HOSTS, "2", "1gbit", "cat"], stdin=subprocess.PIPE)
            eventually(lambda: hosts.poll() is not None or len(namespaces(hosts)) == 3, "hosts")
            self.assertIsNone(hosts.poll())
            hosts.send_signal(number)
            hosts.stdin.close()  # the shell takes the signal when the command that it runs has ended
            self.assertNotEqual(hosts.wait(timeout=PATIENCE_S), 0)
            self.assertEqual(namespaces(hosts), [])

    def test_what_makes_no_sense_is_refused(self):
        for words in (["0", "1gbit", "true"], ["2", "1gbit"], ["--rails", "x", "2", "1gbit", "true"], ["--rails", "0.5", "2", "1gbit", "true"], ["--cables", "2", "2", "1gbit", "true"]):
            refused = self.hosts(*words)
            self.assertEqual(refused.returncode, 2, words)
            self.assertIn("usage: hosts", refused.stderr)


if __name__ == "__main__":
    unittest.main()
