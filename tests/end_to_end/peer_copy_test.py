"""A cache that only some machines of a job have: the others get a copy over MPI, which serves as the cache. Nothing of it stays if that fails."""

import contextlib
import itertools
import json
import operator
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from faults_test import moments
from program import BY_RANK, ROOT, RUN_S, TMPFS, WINNOW, Case, Kills, Result, end_of_killed, errors_in, eventually, ranks_of, run, some_of, tree_bytes

MPIRUN = ROOT / "tools" / "local_mpirun"


class PeerCopy(Case):
    RECIPE = ["--net", "lenet", "--batch-size", 48, "--micro-batch", 6, "--lr", 0.01, "--image-size", 20,
              "--log-batches", "--log-interval", 100, "--epochs", 1, "--threads", 1]  # fmt: skip
    MEMORY = ["--memory-dir", "memory", "--ranks-per-machine", 1]

    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        # 4 MiB in shards of 1 MiB, so that every machine gets some.
        self.images = []
        for prefix, count in (("train", 384), ("t10k", 40)):
            images = [self.random.randbytes(100 * 100) for _ in range(count)]
            labels = [self.random.randrange(4) for _ in range(count)]
            self.write_idx(self.folder / "data", prefix, images, labels, 100)
            self.images += images
        self.made = self.folder / "made"
        self.ok("ingest", self.folder / "data", "--out", self.made, "--shard-size", 1)
        self.ok("dedup", self.made, "--name", "first")
        self.runs = 0
        self.machines = [self.folder / f"machine-{i}" for i in range(3)]
        for machine in self.machines:
            (machine / "memory").mkdir(parents=True)

    def fresh(self):
        self.runs += 1
        return self.folder / f"run-{self.runs}"

    def put(self, *machines):
        """Puts the cache on this machine, and on no other."""
        for i, machine in enumerate(self.machines):
            shutil.rmtree(machine / "cache", ignore_errors=True)
            if i in machines:
                shutil.copytree(self.made, machine / "cache")

    def command(self, args, env=None):
        """winnow ARGS with one rank on each machine, in its folder; `env`: {rank: {NAME: VALUE}}."""
        words = []
        for rank, machine in enumerate(self.machines):
            words += ["env", "-C", machine, *[f"{name}={value}" for name, value in (env or {}).get(rank, {}).items()], "+"]
        return list(map(str, [MPIRUN, len(self.machines), BY_RANK, *words, "++", WINNOW, *args]))

    def everywhere(self, *args, env=None):
        done = subprocess.run(self.command(args, env), capture_output=True, text=True, timeout=RUN_S,
                              env={**os.environ, "WINNOW_MPI_TIMEOUT": "800"})  # fmt: skip
        return Result(done)

    def all_ok(self, *args):
        result = self.everywhere(*args)
        self.assertEqual(result.code, 0, result.err)
        return result

    def digests(self, out):
        rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
        return [(row["step"], row["data.digest"]) for row in rows if "data.digest" in row]

    def trained(self, *more):
        out = self.fresh()
        said = self.all_ok("train", "cache", "--out", out, *self.RECIPE, *self.MEMORY, *more).err
        return self.digests(out), said

    def folders(self, machine):
        return sorted(path.name for path in (self.machines[machine] / "memory").iterdir())

    def drop(self):
        for machine in self.machines:
            shutil.rmtree(machine / "memory")
            (machine / "memory").mkdir()

    def is_as_made(self, machine, whole=False):
        """Checks the only copy on a machine that never had the cache."""
        (folder,) = (self.machines[machine] / "memory").iterdir()
        made = tree_bytes(self.made)
        copy = tree_bytes(folder)
        description = json.loads(copy.pop("copy.json"))
        copy.pop("pinned", None)
        files = {name: data for name, data in made.items() if not name.startswith("shards/")}
        got = {name.removeprefix("cache/"): data for name, data in copy.items() if name.startswith("cache/")}
        for name in got:
            self.assertTrue(got[name] == files[name], name)
        for name in ("manifest.json", "ledger.jsonl", "fingerprints/table", "selections/first.selection"):
            self.assertIn(name, got)
        shards = {name: data for name, data in copy.items() if not name.startswith("cache/")}
        self.assertEqual(len(shards), len(description["shards"]))
        if whole:
            for name, data in shards.items():
                self.assertTrue(data == made["shards/" + name], name)
            self.assertEqual(len(shards), description["of"])
        else:  # the pictures of its ids, and no others
            data = b"".join(shards.values())
            self.assertEqual(sum(image in data for image in self.images),
                             sum(last - first + 1 for first, last in description["ids"]))  # fmt: skip
            self.assertLess(len(data), sum(map(len, made.values())) * 0.5)
        self.assertEqual(description["cache"], str(self.machines[machine] / "cache"))


class Work(PeerCopy):
    def test_global_batches_wherever_the_cache_is(self):
        out = self.fresh()
        self.ok("train", self.made, "--out", out, *self.RECIPE, "--selection", "first")
        due = self.digests(out)
        self.assertEqual(len(due), 8)
        where = ((0, 1, 2), (0,), (1,), (2,), (0, 2), (1, 2))
        cases = itertools.product(where, ([], ["--replicas", 3], ["--segment-size", 1]))
        for machines, more in some_of("places of a cache and ways to copy it", cases, 6, lambda case: case[0], lambda case: str(case[1])):
            with self.subTest(machines=machines, more=more):
                self.put(*machines)
                self.drop()
                got, said = self.trained("--selection", "first", *more)
                self.assertEqual(got, due)
                self.assertEqual("went from machine to machine" in said, len(machines) < 3, said)
                for machine in {0, 1, 2} - set(machines):
                    self.is_as_made(machine, whole="--replicas" in more)
                got, said = self.trained("--selection", "first", *more)
                self.assertEqual(got, due)
                self.assertNotIn("went from machine to machine", said)

    def test_what_is_said_of_classes_wherever_the_cache_is(self):
        """Rank 0 reports it, whether the cache is on its machine, was copied there, or is only in memory there."""
        shutil.rmtree(self.made)
        shutil.rmtree(self.folder / "data")
        for prefix, labels in (("train", [i % 3 for i in range(96)]), ("t10k", [3] * 12)):
            self.write_idx(self.folder / "data", prefix, [self.random.randbytes(100 * 100) for _ in labels], labels, 100)
        self.ok("ingest", self.folder / "data", "--out", self.made)
        self.ok("dedup", self.made, "--name", "first")
        for machines in ((0, 1, 2), (1,), (0,), ()):
            self.put(*machines)
            for more in ([], ["--selection", "first"]):
                _, said = self.trained("--max-steps", 1, *more)
                self.assertIn("1 class is in val or test but not in train, so training never sees it: '3'", said)

    def test_partitions_of_a_cache_that_is_elsewhere(self):
        partial = ["--shuffle-fraction", 0.25, "--partitions", 3]
        out = self.fresh()
        self.ok("train", self.made, "--out", out, *self.RECIPE, *partial)
        self.put(1)
        got, _ = self.trained(*partial)
        self.assertEqual(got, self.digests(out))
        for machine in range(3):
            (folder,) = (self.machines[machine] / "memory").iterdir()
            description = json.loads((folder / "copy.json").read_text())
            self.assertEqual(description["partitions"], [machine, machine + 1, 3])
            self.assertEqual(sorted(path.suffix for path in folder.iterdir() if path.name[0].isdigit()),
                             [".mdb"] * description["of"])  # fmt: skip

    def test_machines_that_have_it_in_memory_and_on_disk(self):
        """Machines that need no copy make none, and all still agree on who gives what."""
        disk = pathlib.Path(tempfile.mkdtemp(prefix="winnow-test-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, disk, ignore_errors=True)
        kind = subprocess.run(["stat", "-f", "-c", "%T", disk], capture_output=True, text=True, check=True)
        if kind.stdout.strip() == "tmpfs" or self.folder.parent != TMPFS:
            self.skipTest("there is no disk here, or no memory")
        self.put(0, 1, 2)
        due, _ = self.trained()
        shutil.move(self.machines[1] / "cache", disk / "cache")
        (self.machines[1] / "cache").symlink_to(disk / "cache")
        self.addCleanup(run, "cache", "drop", disk / "cache")
        out = self.fresh()
        self.all_ok("train", "cache", "--out", out, *self.RECIPE, "--memory", "--ranks-per-machine", 1)
        self.assertEqual(self.digests(out), due)
        self.ok("cache", "drop", disk / "cache")

    def test_loaded_once_then_used_with_the_cache_or_without(self):
        self.put(1)
        self.all_ok("cache", "load", "cache", *self.MEMORY)
        self.is_as_made(0)
        self.is_as_made(2)
        due, said = self.trained()
        self.assertIn("were there already", said)
        # A selection that is made later is copied, too.
        self.ok("dedup", self.machines[1] / "cache", "--name", "later")
        self.trained("--selection", "later")
        # The machine that had the cache gets a copy like the others; then nobody needs it.
        self.put(0)
        shutil.rmtree(self.machines[1] / "memory")
        (self.machines[1] / "memory").mkdir()
        self.all_ok("cache", "load", "cache", *self.MEMORY)
        self.put()
        got, said = self.trained()
        self.assertEqual(got, due)
        self.assertIn("were there already", said)
        # Fewer machines need other parts, which nobody has.
        self.machines.pop()
        result = self.everywhere("train", "cache", "--out", self.fresh(), *self.RECIPE, *self.MEMORY)
        self.assertEqual(result.code, 2, result.err)
        self.assertIn("no machine of this job has", result.err)

    def test_several_ranks_on_a_machine(self):
        """They use the same folder in turn, and only a whole copy is made."""
        self.put(2)
        due, _ = self.trained()
        self.drop()
        self.machines = [self.machines[0], self.machines[0], self.machines[0], self.machines[2]]
        out = self.fresh()
        self.all_ok("train", "cache", "--out", out, *self.RECIPE, "--memory-dir", "memory", "--ranks-per-machine", 3)
        self.assertEqual(self.digests(out), due)
        self.is_as_made(0)

    def test_evaluation(self):
        out = self.fresh()
        self.ok("train", self.made, "--out", out, *self.RECIPE, "--selection", "first")
        self.ok("eval", out, self.made, "--predictions", self.folder / "alone.csv", "--threads", 1)
        self.put(2)
        self.all_ok("eval", out, "cache", "--predictions", self.folder / "there.csv", "--threads", 1, *self.MEMORY)
        self.assertEqual((self.folder / "alone.csv").read_bytes(), (self.folder / "there.csv").read_bytes())

    def test_list_and_drop_where_the_cache_never_was(self):
        self.put(0)
        self.all_ok("cache", "load", "cache", *self.MEMORY)
        for name in ("path", "digest"):
            machine = self.machines[1 if name == "path" else 2]
            memory = ["--memory-dir", machine / "memory"]
            (row,) = self.ok("cache", "list", *memory, "--json").json()["copies"]
            self.assertEqual((row["state"], row["pinned"], row["cache"]), ("whole", True, str(machine / "cache")))
            self.assertEqual(row["bytes"], sum(map(len, tree_bytes(machine / "memory").values())))
            what = machine / "cache" if name == "path" else row["cache_digest"]
            said = self.ok("cache", "drop", what, *memory).err
            self.assertIn("are free again", said)
            self.assertNotIn("is as it was", said)
            self.assertEqual(list((machine / "memory").iterdir()), [])

    def test_hosts_that_are_network_namespaces(self):
        hosts = ROOT / "tests" / "cluster" / "hosts"
        tried = subprocess.run([hosts, "1", "1gbit", "true"], capture_output=True, text=True)
        if tried.returncode != 0:
            self.skipTest(f"no network namespaces can be made here: {tried.stderr.strip()}")
        whole = self.fresh()
        self.ok("train", self.made, "--out", whole, *self.RECIPE)
        shutil.copytree(self.made, self.folder / "h3" / "cache")
        for i in (1, 2, 3):
            (self.folder / f"h{i}" / "memory").mkdir(parents=True)
        out = self.fresh()
        inside = 'cd "$0/$(hostname)" && exec "$@"'
        done = subprocess.run(
            [hosts, "3", "1gbit", "hosts_mpirun", "bash", "-c", inside, self.folder, WINNOW, "train", "cache", "--out", out,
             *map(str, self.RECIPE), "--memory-dir", "memory"],
            capture_output=True, text=True, timeout=RUN_S)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("went from machine to machine", done.stderr)
        self.assertEqual(self.digests(out), self.digests(whole))


class Faults(PeerCopy):
    def setUp(self):
        super().setUp()
        self.put(1)

    def fails(self, code, words, *args, env=None, whole_elsewhere=False):
        """Expects one sentence, on any rank, and no remains except copies that are complete elsewhere if the failure comes late."""
        result = self.everywhere(*(args or ("cache", "load", "cache", *self.MEMORY)), env=env)
        self.assertEqual(result.code, code, result.err)
        lines = errors_in(result.err)
        self.assertEqual(len(lines), 1, result.err)
        for word in words:
            self.assertIn(word, lines[0])
        for machine in range(3):
            if whole_elsewhere and machine not in env:
                continue
            self.assertEqual(self.folders(machine), [])
        if whole_elsewhere:
            self.assertEqual({row["state"] for machine in self.machines for row in self.ok(
                "cache", "list", "--memory-dir", machine / "memory", "--json").json()["copies"]}, {"whole"})  # fmt: skip
            self.drop()

    def train(self, *more):
        return ["train", "cache", "--out", self.fresh(), *self.RECIPE, *more]

    def test_where_no_copy_was_asked_for(self):
        self.put(0, 1)
        self.fails(2, ["rank 2: ", "there is no cache at cache on this machine", "--memory"], *self.train())
        self.put()
        for more in ([], self.MEMORY):
            result = self.everywhere(*self.train(*more))
            self.assertEqual(result.code, 2, result.err)
            self.assertIn("there is no cache at cache; make one with", result.err)

    def test_another_cache(self):
        self.put(0, 1)
        self.write_idx(self.folder / "more", "train", [self.random.randbytes(100 * 100)], [1], 100)
        self.ok("ingest", self.folder / "more", "--into", self.machines[1] / "cache")
        self.fails(1, ["rank 1: rank 1 has another cache at cache than rank 0"])

    def test_a_wrong_block(self):
        for shard in sorted((self.machines[1] / "cache" / "shards").iterdir()):
            sound = shard.read_bytes()
            wrong = bytearray(sound)
            wrong[len(wrong) // 2] ^= 1
            shard.write_bytes(wrong)
            self.fails(1, ["rank 1: ", f"cache/shards/{shard.name}, record ", " is damaged: "])
            shard.write_bytes(sound)
        self.all_ok("cache", "load", "cache", *self.MEMORY)

    def test_no_room(self):
        cases = [case for case in itertools.product(range(3), ("00000.mdb", "table", "manifest.json", "copy.json"),
                                                    ("write", "sync"))
                 if case[0] != 1 or case[1] not in ("table", "manifest.json")]  # it has the cache
        for rank, file, act in some_of("writes of a copy without room", cases, 6, *map(operator.itemgetter, range(3))):
            point = f"file.{act}.before"
            if file == "00000.mdb":
                point = {"write": "lmdb.commit.before", "sync": "lmdb.sync.before"}[act]
            self.fails(1, [f"rank {rank}: ", "o space left", "copy was removed"],
                       env={rank: {"WINNOW_FAILPOINTS": f"enospc={point}:{file}:1"}},
                       whole_elsewhere=file in ("manifest.json", "copy.json"))  # fmt: skip
        self.all_ok("cache", "load", "cache", *self.MEMORY)

    def test_a_signal_ends_it_cleanly(self):
        for rank in range(3):
            self.fails(75, [f"rank {rank}: stopped on request before all shards were loaded"],
                       *self.train(*self.MEMORY, "--segment-size", 1),
                       env={rank: {"WINNOW_FAILPOINTS": "usr1=mpi.send.after:*:1" if rank == 1 else
                                   "usr1=mpi.receive.after:*:1"}})  # fmt: skip

    def test_one_that_is_killed(self):
        """The job ends. What it left on other machines goes with the next load."""
        faults = {0: ["lmdb.commit.before:00000.mdb:2", "mpi.receive.before:*:2", "file.rename.after:copy.json:1"],
                  1: ["mpi.send.before:*:1", "mpi.send.after:*:9", "mpi.collective.before:*:9"],
                  2: ["mpi.receive.after:*:1", "dir.create.after:*:1", "file.rename.before:manifest.json:1"]}  # fmt: skip
        for rank, points in faults.items():
            for point in points:
                with self.subTest(rank=rank, point=point):
                    result = self.everywhere("cache", "load", "cache", *self.MEMORY,
                                             env={rank: {"WINNOW_FAILPOINTS": f"kill={point}"}})  # fmt: skip
                    self.assertNotEqual(result.code, 0, result.err)
                    self.all_ok("cache", "load", "cache", *self.MEMORY)
                    for machine in (0, 2):
                        self.is_as_made(machine)
                    self.drop()

    def test_killed_at_random_moments(self):
        begin = time.monotonic()
        self.all_ok("cache", "load", "cache", *self.MEMORY)
        whole = time.monotonic() - begin
        kills = Kills(whole, moments(10, 4, self.random), 2)
        for seconds in kills:
            self.drop()
            job = subprocess.Popen(self.command(["cache", "load", "cache", *self.MEMORY]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env={**os.environ, "WINNOW_MPI_TIMEOUT": "800"})  # fmt: skip
            eventually(lambda: ranks_of(job) or job.poll() is not None, "ranks")  # mpirun itself takes longer than they do
            time.sleep(seconds)
            ranks = ranks_of(job)
            for pid in ranks:
                if self.random.random() < 0.5:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            kills.tell(bool(ranks))
            end_of_killed(job)
            self.all_ok("cache", "load", "cache", *self.MEMORY)
            for machine in (0, 2):
                self.is_as_made(machine)


if __name__ == "__main__":
    unittest.main(verbosity=2)
