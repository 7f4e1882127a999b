"""Hosts that are network namespaces: all-reduces over one and two cables, slowed and cut while they run; nothing is left behind."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
HOSTS = HERE / "hosts"
WINNOW = os.environ["WINNOW"]


def namespaces(of):
    """Those that the process `of` has made."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout.splitlines()
    return [line.split()[0] for line in listed if line.startswith(f"wx{of.pid}-")]


class ClusterTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            tried = subprocess.run([HOSTS, "1", "1gbit", "true"], capture_output=True, text=True)
        except OSError as error:
            raise unittest.SkipTest(f"no network namespaces can be made here: {error}") from None
        if tried.returncode != 0:
            raise unittest.SkipTest(f"no network namespaces can be made here: {tried.stderr.strip()}")

    def hosts(self, *words, timeout=300):
        return subprocess.run([str(word) for word in (HOSTS, *words)], capture_output=True, text=True, timeout=timeout)

    def bench(self, *words, meanwhile="true"):
        """The rows of winnow bench allreduce on these hosts; `meanwhile` is what a shell does to their cables once all are connected."""
        with tempfile.NamedTemporaryFile() as said:
            begun = f"until grep -q additions: {said.name}; do sleep 0.05; done"
            bench = f"hosts_mpirun {WINNOW} bench allreduce -b 1M -e 1M -n 4 --schedule auto,multicolor,hierarchical --json"
            command = f"({begun}; {meanwhile}) & {bench} 2> >(tee {said.name} >&2); rc=$?; echo additions: >> {said.name}; wait; exit $rc"
            done = self.hosts(*words, "bash", "-c", command)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.strip().splitlines()[-1])["rows"]

    def assert_right(self, rows, *more):
        names = [row["schedule"].split(":")[0] for row in rows]
        self.assertEqual(names, ["auto", "multicolor", "hierarchical", *more, "MPI_Allreduce"])
        for row in rows:
            self.assertEqual(row["wrong"], 0, row)

    def test_three_hosts(self):
        self.assert_right(self.bench(3, "200mbit"))

    def test_two_ranks_on_each_host_by_two_cables(self):
        self.assert_right(self.bench("--rails", 2, "--ranks-per-host", 2, 2, "200mbit"), "hierarchical/memory")

    def test_a_cable_that_is_slowed_and_cut_meanwhile(self):
        """TCP sends again what was lost while it was cut."""
        began = time.monotonic()
        rows = self.bench("--rails", 2, 3, "50mbit", meanwhile="hosts_link h2 1 10mbit; sleep 1; hosts_link h3 0 down; sleep 3; hosts_link h3 0 up")
        self.assert_right(rows)
        self.assertGreater(time.monotonic() - began, 5)  # it was cut while they ran

    def test_training_on_hosts_chooses_by_the_network(self):
        """Schedules and the size of buckets, which a run that goes on keeps."""
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            cache, out = f"{folder}/cache", f"{folder}/run"
            images = pathlib.Path(folder, "images")
            for i in range(48):
                (images / f"train/{i % 2}").mkdir(parents=True, exist_ok=True)
                pixels = bytes((i * 37 + k * 11 * (1 + i % 2)) % 256 for k in range(3 * 16 * 16))
                (images / f"train/{i % 2}/{i}.ppm").write_bytes(b"P6\n16 16\n255\n" + pixels)
            subprocess.run([WINNOW, "ingest", images, "--out", cache], check=True, capture_output=True)
            train = f"hosts_mpirun {WINNOW} train {cache} --out {out} --net resnet20 --batch-size 8 --threads 1 --max-steps "
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

    def test_ranks_that_cannot_share_memory_send_messages(self):
        """Ranks of one machine in process namespaces of their own, as in containers."""
        mpirun = ["mpirun", "-np", "2", "--oversubscribe", "--bind-to", "none", "--mca", "plm", "isolated", "--mca", "btl", "tcp,self",
                  "--mca", "btl_tcp_if_include", "lo", "--mca", "oob_tcp_if_include", "lo", "unshare", "--pid", "--fork", "--mount-proc"]  # fmt: skip
        bench = [WINNOW, "bench", "allreduce", "-b", "64K", "-e", "64K", "-n", "2", "--schedule", "ring,auto", "--json"]
        allowed = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        done = subprocess.run([*mpirun, *bench], capture_output=True, text=True, timeout=300, env=allowed)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads(done.stdout.strip().splitlines()[-1])["rows"]
        self.assertEqual([row["schedule"] for row in rows], ["ring", "auto: multicolor", "MPI_Allreduce"])
        self.assertEqual([row["wrong"] for row in rows], [0, 0, 0])

    def test_nothing_is_left_of_hosts_that_are_stopped(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            hosts = subprocess.Popen([HOSTS, "2", "1gbit", "sleep", "3"])
            while len(namespaces(hosts)) < 3:
                self.assertIsNone(hosts.poll())
                time.sleep(0.05)
            hosts.send_signal(number)
            self.assertNotEqual(hosts.wait(timeout=60), 0)
            self.assertEqual(namespaces(hosts), [])

    def test_what_makes_no_sense_is_refused(self):
        for words in (["0", "1gbit", "true"], ["2", "1gbit"], ["--rails", "x", "2", "1gbit", "true"], ["--cables", "2", "2", "1gbit", "true"]):
            refused = self.hosts(*words)
            self.assertEqual(refused.returncode, 2, words)
            self.assertIn("usage: hosts", refused.stderr)


if __name__ == "__main__":
    unittest.main()
