"""The global batches of a run are the same on any ranks, threads and machines, from disk and from memory, and after any
kill. What a machine does not hold comes from the others.
"""

import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time
import unittest

from program import ALL, BY_RANK, ROOT, RUN_S, WINNOW, Case, end_of_killed, eventually, ranks_of, some_of


class GlobalBatches(Case):
    RECIPE = ["--net", "lenet", "--batch-size", 48, "--micro-batch", 6, "--lr", 0.01,
              "--image-size", 20, "--log-batches", "--log-interval", 100]  # fmt: skip

    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        # 4 MiB in shards of 1 MiB, so that every machine gets some.
        for prefix, count in (("train", 384), ("t10k", 40)):
            images = [self.random.randbytes(100 * 100) for _ in range(count)]
            labels = [self.random.randrange(4) for _ in range(count)]
            self.write_idx(self.folder / "data", prefix, images, labels, 100)
        self.cache = self.folder / "cache"
        self.ok("ingest", self.folder / "data", "--out", self.cache, "--shard-size", 1)
        self.memory = self.folder / "memory"
        self.memory.mkdir()
        self.runs = 0

    def fresh(self):
        self.runs += 1
        return self.folder / f"run-{self.runs}"

    def digests(self, out):
        """The digests of a run, [(step, digest)]."""
        rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
        return [(row["step"], row["data.digest"]) for row in rows if "data.digest" in row]

    def trained(self, *flags, ranks=0, recipe=(), threads=1):
        out = self.fresh()
        self.ok("train", self.cache, "--out", out, *self.RECIPE, "--epochs", 1, "--threads", threads, *recipe, *flags,
                ranks=ranks)  # fmt: skip
        census = json.loads((out / "census.json").read_text())
        self.assertTrue(census["epochs"][0]["complete"])
        accuracy = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
        return self.digests(out), [row["test.top1"] for row in accuracy if "test.top1" in row]

    def machines(self, per_machine, *more):
        return ["--memory-dir", self.memory, "--ranks-per-machine", per_machine, *more]

    def test_any_ranks_threads_machines_and_memory(self):
        for recipe in (["--augment", "cifar"], ["--augment", "crop+flip+erase:p=0.5+mixup+cutmix"]):
            whole, _ = self.trained(recipe=recipe)
            self.assertEqual([step for step, _ in whole], list(range(1, 9)))
            self.assertEqual(len({digest for _, digest in whole}), 8)
            settings = [
                (1, 8, []),
                (2, 1, []),
                (1, 1, ["--memory-dir", self.memory]),
                (2, 1, self.machines(2)),
                (2, 1, self.machines(1)),
                (3, 1, self.machines(1)),
                (4, 1, self.machines(2)),
                (4, 1, self.machines(1)),
                (4, 2, self.machines(1, "--replicas", 2)),
                (4, 1, self.machines(1, "--replicas", 4)),
                (4, 1, self.machines(1, "--segment-size", 1)),
            ]
            for ranks, threads, flags in some_of(f"settings with {recipe[1]}", settings, 5, lambda setting: setting[0]):
                with self.subTest(recipe=recipe, ranks=ranks, threads=threads, flags=flags):
                    self.assertEqual(self.trained(*flags, ranks=ranks, recipe=recipe, threads=threads)[0], whole)

    def test_partial_shuffles_of_any_ranks(self):
        partial = ["--shuffle-fraction", 0.25, "--partitions", 4]
        plain, _ = self.trained()
        whole, _ = self.trained(recipe=partial)
        self.assertNotEqual([digest for _, digest in whole], [digest for _, digest in plain])
        settings = [(2, []), (3, []), (4, []), (2, self.machines(1)), (4, self.machines(2)), (4, self.machines(1))]
        for ranks, flags in some_of("settings with a partial shuffle", settings, 3, lambda setting: bool(setting[1])):
            with self.subTest(ranks=ranks, flags=flags):
                self.assertEqual(self.trained(*flags, ranks=ranks, recipe=partial)[0], whole)
        self.assertEqual(self.trained(recipe=["--shuffle-fraction", 1, "--partitions", 1000])[0], plain)

    def test_machines_hold_the_partitions_they_read(self):
        """Then less comes from others: of each machine's own partitions, only what is exchanged."""
        partial = ["--shuffle-fraction", 0.1, "--partitions", 4]
        whole, _ = self.trained(recipe=partial)
        received = {}
        for flags in ([], partial):
            self.trained(*self.machines(1), ranks=4, recipe=flags)
            rows = (self.folder / f"run-{self.runs}" / "metrics.jsonl").read_text().splitlines()
            received[bool(flags)] = max(json.loads(row).get("data.received", 0) for row in rows)
        # Three of four records, compared with a tenth of that and a little more, because partitions differ in size.
        self.assertLess(received[True], received[False] / 3)
        self.assertGreater(received[False], 384 / 4 * 0.6 * 100 * 100)
        for ranks, flags in ((3, self.machines(1)), (4, self.machines(2)), (4, self.machines(1, "--replicas", 2))):
            with self.subTest(ranks=ranks, flags=flags):
                self.assertEqual(self.trained(*flags, ranks=ranks, recipe=partial)[0], whole)
        # A copy that was loaded before is joined, and reported as what it is.
        memory = self.memory / "pinned"
        memory.mkdir()
        at = ["--memory-dir", memory, "--ranks-per-machine", 1]
        self.ok("cache", "load", self.cache, *at, "--partitions", 4, ranks=2)
        copies = self.ok("cache", "list", "--memory-dir", memory, "--json").json()["copies"]
        self.assertEqual([copy["partitions"] for copy in sorted(copies, key=lambda copy: copy["partitions"]["begin"])],
                         [{"begin": 0, "end": 2, "of": 4}, {"begin": 2, "end": 4, "of": 4}])  # fmt: skip
        out = self.fresh()
        said = self.ok("train", self.cache, "--out", out, *self.RECIPE, "--epochs", 1, *partial, *at, ranks=2).err
        self.assertIn("were there already", said)
        self.assertEqual(self.digests(out), whole)

    def test_a_partial_shuffle_goes_on_after_a_kill(self):
        partial = ["--shuffle-fraction", 0.25, "--partitions", 4]
        whole = self.fresh()
        self.ok("train", self.cache, "--out", whole, *self.RECIPE, *self.LONG, "--threads", 1, *partial)
        out = self.fresh()
        code, said = self.job(out, 3, [*partial, *self.machines(1)], "kill=load.record.before:*:150")
        self.assertNotEqual(code, 0, said)
        self.assertLess(len(self.digests(out)), len(self.digests(whole)))
        # A run is not resumed in another way.
        for flags, name in (([], "data.shuffle_fraction"), ([*partial[:2], "--partitions", 6], "data.partitions")):
            code, said = self.job(out, 2, flags)
            self.assertEqual(code, 2, said)
            self.assertIn(name, said)
        code, said = self.job(out, 2, partial)
        self.assertEqual(code, 0, said)
        self.assertEqual(self.digests(out), self.digests(whole))
        self.assertEqual((out / "census.json").read_text(), (whole / "census.json").read_text())

    def test_hosts_that_are_network_namespaces(self):
        hosts = ROOT / "tests" / "cluster" / "hosts"
        tried = subprocess.run([hosts, "1", "1gbit", "true"], capture_output=True, text=True)
        if tried.returncode != 0:
            self.skipTest(f"no network namespaces can be made here: {tried.stderr.strip()}")
        whole, _ = self.trained()
        for count in (2, 3):
            out = self.fresh()
            done = subprocess.run(
                [hosts, str(count), "1gbit", "hosts_mpirun", WINNOW, "train", self.cache, "--out", out, *map(str, self.RECIPE),
                 "--epochs", "1", "--threads", "1", "--memory-dir", self.memory],
                capture_output=True, text=True, timeout=RUN_S)  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"{count} machines hold the shards", done.stderr)
            self.assertEqual(self.digests(out), whole)

    def test_machines_hold_their_part_alone(self):
        """A run joins what was loaded for it before."""
        self.ok("cache", "load", self.cache, *self.machines(1), ranks=3)
        out = self.fresh()
        said = self.ok("train", self.cache, "--out", out, *self.RECIPE, "--epochs", 1, "--threads", 1, *self.machines(1),
                       ranks=3).err  # fmt: skip
        self.assertIn("were there already", said)
        self.refused(2, ["without mpirun"], "cache", "list", "--memory-dir", self.memory, ranks=2)
        copies = self.ok("cache", "list", "--memory-dir", self.memory, "--json").json()["copies"]
        self.assertEqual(len(copies), 3)
        self.are_parts(copies, self.cache)

    def are_parts(self, copies, cache):
        """Together they are the cache, once. Two parts differ by at most one block, an eighth of a part (and, as files, by LMDB's pages)."""
        whole = sum(path.stat().st_size for path in (cache / "shards").iterdir())
        inputs = [copy["ids"]["held"] for copy in copies]
        self.assertEqual({copy["ids"]["of"] for copy in copies}, {384 + 40})
        self.assertEqual(sum(inputs), 384 + 40)
        self.assertLessEqual(max(inputs) - min(inputs), 424 / len(copies) / 8 + 1)
        sizes = [copy["bytes"] for copy in copies]
        self.assertLess(max(sizes) - min(sizes), whole / len(copies) / 8 + 0x10000)
        self.assertLess(sum(sizes), whole + len(copies) * copies[0]["of_shards"] * 0x8000)

    def test_a_shard_is_a_part_on_each_of_four_machines(self):
        whole, _ = self.trained()
        shutil.rmtree(self.cache)
        self.ok("ingest", self.folder / "data", "--out", self.cache)
        self.assertEqual(len(list((self.cache / "shards").iterdir())), 1)
        for more in ([], ["--replicas", 2]):
            out = self.fresh()
            memory = self.memory / str(len(more))
            memory.mkdir()
            said = self.ok("train", self.cache, "--out", out, *self.RECIPE, "--epochs", 1, "--threads", 1, "--memory-dir",
                           memory, "--ranks-per-machine", 1, *more, ranks=4).err  # fmt: skip
            self.assertIn("4 machines hold the shards, " + ("2 copies" if more else "each its part") + ": about ", said)
            self.assertEqual(self.digests(out), whole)
            rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
            # Rank 0 uses a quarter of 384 records. Its machine lacks three in four of these, or one in two.
            received = max(row.get("data.received", 0) for row in rows) / 100 / 100
            self.assertTrue(0.3 * 96 < received < 1.1 * 96, received)
        # Copies of two groups are the same two parts, shared by machines that use one folder.
        copies = self.ok("cache", "list", "--memory-dir", self.memory / "0", "--json").json()["copies"]
        self.assertEqual(len(copies), 4)
        self.are_parts(copies, self.cache)
        copies = self.ok("cache", "list", "--memory-dir", self.memory / "2", "--json").json()["copies"]
        self.assertEqual(len(copies), 2)
        self.are_parts(copies, self.cache)

    def test_the_same_weights_and_accuracy_as_from_disk(self):
        flags = ["--reproducible"]
        disk, there = self.trained(*flags, ranks=2)
        spread, here = self.trained(*flags, *self.machines(1), ranks=2)
        self.assertEqual((disk, there), (spread, here))

    def test_evaluation_gets_what_other_machines_hold(self):
        out = self.fresh()
        self.ok("train", self.cache, "--out", out, *self.RECIPE, "--epochs", 1, "--threads", 1)
        alone = self.folder / "alone.csv"
        spread = self.folder / "spread.csv"
        self.ok("eval", out, self.cache, "--predictions", alone, "--threads", 1)
        self.ok("eval", out, self.cache, "--predictions", spread, "--threads", 1, *self.machines(1), ranks=3)
        self.assertEqual(alone.read_bytes(), spread.read_bytes())

    LONG = ["--epochs", 2, "--recovery-interval", 3]

    def start(self, out, ranks, flags):
        return subprocess.Popen(
            [str(ROOT / "tools" / "local_mpirun"), str(ranks), WINNOW, "train", str(self.cache), "--out", str(out),
             *map(str, [*self.RECIPE, "--threads", 1, "--resume", "auto", *flags])],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
            env={**os.environ, "WINNOW_MPI_TIMEOUT": "800"})  # fmt: skip

    def job(self, out, ranks, flags, faults=None):
        """Runs a whole job, with failpoints on its last rank. Returns its exit code and messages."""
        command = [WINNOW, "train", self.cache, "--out", out, *self.RECIPE, *self.LONG, "--threads", 1,
                   "--resume", "auto", *flags]  # fmt: skip
        if faults:
            command = [BY_RANK, *["+"] * (ranks - 1), "env", f"WINNOW_FAILPOINTS={faults}", "++", *command]
        done = subprocess.run([ROOT / "tools" / "local_mpirun", *map(str, [ranks, *command])], text=True, timeout=RUN_S,
                              capture_output=True, env={**os.environ, "WINNOW_MPI_TIMEOUT": "800"})  # fmt: skip
        return done.returncode, done.stderr

    def test_failures_of_a_loader_and_of_an_exchange(self):
        """A record that cannot be read, or a rank killed while it sends or receives a part, ends the job at once. It
        resumes with another number of ranks.
        """
        whole = self.fresh()
        self.ok("train", self.cache, "--out", whole, *self.RECIPE, *self.LONG, "--threads", 1)
        due = self.digests(whole)
        for faults in ("eio=load.record.before:*:50", "kill=load.record.before:*:70", "kill=mpi.send.before:*:30",
                       "kill=mpi.send.after:*:20", "kill=mpi.receive.before:*:15", "kill=mpi.receive.after:*:25"):
            with self.subTest(faults=faults):
                out = self.fresh()
                code, said = self.job(out, 3, self.machines(1), faults)
                self.assertNotEqual(code, 0, said)
                if faults.startswith("eio"):
                    self.assertIn("cannot load sample", said)
                self.assertLess(len(self.digests(out)), len(due))
                code, said = self.job(out, 2, self.machines(1))
                self.assertEqual(code, 0, said)
                self.assertEqual(self.digests(out), due)

    def test_a_wrong_block_names_its_place(self):
        """Where a machine holds the block, the run ends with a sentence; the others do not wait for it."""
        shard = sorted((self.cache / "shards").iterdir())[-1]
        data = bytearray(shard.read_bytes())
        data[len(data) // 2] ^= 1
        shard.write_bytes(data)
        out = self.fresh()
        code, said = self.job(out, 3, self.machines(1))
        self.assertNotEqual(code, 0)
        self.assertIn(shard.name, said)
        self.assertIn("damaged", said)
        self.assertEqual(self.digests(out) if out.exists() else [], [])

    def peak_anonymous(self, flags):
        """The most anonymous memory of any rank of a run, in MiB, sampled every few ms."""
        job = subprocess.Popen(
            [str(ROOT / "tools" / "local_mpirun"), "2", WINNOW, "train", str(self.cache), "--out", str(self.fresh()),
             *map(str, [*self.RECIPE, "--epochs", 1, "--threads", 1, *flags])],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)  # fmt: skip
        peak = 0
        ranks = set()
        while job.poll() is None:
            ranks.update(ranks_of(job) if len(ranks) < 2 else [])
            for pid in ranks:
                try:
                    status = pathlib.Path(f"/proc/{pid}/status").read_text()
                except (FileNotFoundError, ProcessLookupError):
                    continue
                found = re.search(r"RssAnon:\s+(\d+)", status)
                peak = max(peak, int(found[1]) / 1024 if found else 0)
            time.sleep(0.005)
        self.assertEqual(job.returncode, 0, job.stderr.read())
        job.stderr.close()
        self.assertGreater(peak, 0)
        return peak

    def test_an_exchange_takes_two_segments_of_memory(self):
        shutil.rmtree(self.cache)
        images = [self.random.randbytes(100 * 100) for _ in range(9000)]
        self.write_idx(self.folder / "data", "train", images, [i % 4 for i in range(9000)], 100)
        self.ok("ingest", self.folder / "data", "--out", self.cache, "--shard-size", 4)
        segment = 12
        without = self.peak_anonymous(self.machines(2))
        extra = self.peak_anonymous(self.machines(1, "--segment-size", segment)) - without
        print(f"an exchange in segments of {segment} MiB takes {extra:.1f} MiB; a rank without it {without:.0f} MiB")
        self.assertLess(extra, 2 * segment + 3)  # the memory of a segment's list of records and of a thread

    def test_random_kills(self):
        """One rank or all are killed at any time, even in the middle of an exchange; then the run resumes on other ranks."""
        flags = ["--augment", "cifar", "--epochs", 6, "--recovery-interval", 3]
        whole = self.fresh()
        began = time.monotonic()
        self.ok("train", self.cache, "--out", whole, *self.RECIPE, "--threads", 1, *flags, ranks=2)
        length = time.monotonic() - began
        due = self.digests(whole)
        census = (whole / "census.json").read_text()
        kills = int(os.environ.get("WINNOW_KILLS", 12 if ALL else 4))
        draw = random.Random(7)
        done = 0
        for _ in range(10 * kills):
            if done >= kills:
                break
            out = self.fresh()
            while True:
                ranks = draw.choice([2, 3, 4])
                spread = draw.choice([self.machines(1), self.machines(1, "--segment-size", 1), self.machines(2), []])
                job = self.start(out, ranks, [*flags, *spread])
                if draw.random() < 0.75 and done < kills:
                    eventually(lambda: ranks_of(job) or job.poll() is not None, "ranks")
                    waited = draw.uniform(0.1, 0.9) * length
                    time.sleep(waited)  # the rest of the run may end earlier
                    pids = ranks_of(job)
                    victims = pids if draw.random() < 0.5 else pids[:1] if draw.random() < 0.5 else pids[-1:]
                    for pid in victims:
                        try:
                            os.kill(pid, signal.SIGKILL)
                        except ProcessLookupError:
                            pass
                    if victims:
                        done += 1
                    else:
                        length = waited
                end_of_killed(job)
                if job.returncode == 0:
                    break
            self.assertEqual(self.digests(out), due)
            self.assertEqual((out / "census.json").read_text(), census)
        self.assertGreaterEqual(done, kills)
        print(f"global batches after {done} random kills are those of a run that never stopped")


if __name__ == "__main__":
    unittest.main()
