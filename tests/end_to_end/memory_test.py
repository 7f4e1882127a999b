"""Shards in memory: copied once, shared, sized beforehand, never half there, and removed when they are dropped. Also
what happens to a job whose cache is replaced, removed or cut short.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

import traces
from program import PATIENCE_S, ROOT, SHM, WINNOW, Case, Kills, errors_in, eventually, run, tensors

try:
    import jsonschema
except ImportError:
    jsonschema = None


def inside_own_mounts(script, *args):
    """`script` in a namespace where it may mount file systems that nobody else sees; "$@" are `args`."""
    unshare = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    return subprocess.run([*unshare, "bash", "-c", script, "bash", *map(str, args)], capture_output=True, text=True,
                          timeout=300)  # fmt: skip


def may_mount():
    try:
        return inside_own_mounts("mount -t tmpfs -o size=1m none /tmp").returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


needs_mounts = unittest.skipUnless(may_mount(), "this user may not mount a small tmpfs in a namespace of its own")
needs_shm = unittest.skipUnless(os.access(SHM, os.W_OK), "there is no /dev/shm to write to here")


class Memory(Case):
    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        self.memory = self.folder / "memory"
        self.memory.mkdir()
        self.cache = self.make("cache")

    def make(self, name, train=256, **more):
        """A cache of a few shards."""
        source = self.folder / f"{name}-source"
        self.learnable_idx(source, train=train, test=64, **more)
        cache = self.folder / name
        self.ok("ingest", source, "--out", cache, "--shard-size", 1, "--store", "raw")
        return cache

    def large(self, name="large", count=24, side=240):
        """A cache of 4 MiB in shards of 1 MiB."""
        source = self.folder / f"{name}-source"
        for i in range(count):
            self.write_ppm(source / ("train", "test")[i % 2] / "cat" / f"{i:03}.ppm",
                           self.random.randbytes(3 * side * side), side)  # fmt: skip
        cache = self.folder / name
        self.ok("ingest", source, "--out", cache, "--shard-size", 1, "--store", "raw")
        return cache

    def load(self, cache=None, **more):
        return self.ok("cache", "load", cache or self.cache, "--memory-dir", self.memory, **more)

    def copies(self, memory=None):
        return self.ok("cache", "list", "--memory-dir", memory or self.memory, "--json").json()["copies"]

    def folders(self):
        return sorted(path.name for path in self.memory.iterdir())

    def is_copied(self, cache):
        """Checks that the only folder has the shards of `cache`, byte for byte."""
        (folder,) = self.memory.iterdir()
        shards = sorted(path.name for path in (cache / "shards").iterdir())
        (row,) = self.copies()
        self.assertEqual(sorted(path.name for path in folder.iterdir()),
                         [*shards, "copy.json", *(["pinned"] if row["pinned"] else [])])  # fmt: skip
        for name in shards:
            self.assertTrue((folder / name).read_bytes() == (cache / "shards" / name).read_bytes(), name)

    def start(self, *args, env=None):
        winnow = subprocess.Popen([WINNOW, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, **(env or {})})  # fmt: skip
        self.addCleanup(winnow.communicate)
        self.addCleanup(winnow.kill)
        return winnow

    def wait_until(self, condition, winnow):
        def is_over():
            if winnow.poll() is not None and not condition():
                self.fail(f"ended with {winnow.returncode}: {winnow.communicate()[1]}")
            return condition()

        eventually(is_over)

    def one_sentence(self, text, *words):
        lines = errors_in(text)
        self.assertEqual(len(lines), 1, text)
        for word in words:
            self.assertIn(word, lines[0])

    def train(self, out, *more):
        return ["train", self.cache, "--out", out, "--net", "lenet", "--batch-size", 32, "--micro-batch", 8, "--seed", 3,
                "--lr", 0.01, *more]  # fmt: skip


class Verbs(Memory):
    def test_ranks_say_that_one_of_them_loaded(self):
        said = self.load(ranks=2).err
        self.assertRegex(said, r"shards: .*, loaded (in|by another rank)")
        self.assertNotIn("there already", said)
        self.assertIn("there already", self.load(ranks=2).err)

    def test_load_list_and_drop(self):
        before = {path: path.read_bytes() for path in self.cache.rglob("*") if path.is_file()}
        self.assertIn("loaded in", self.load().err)
        self.assertIn("were there already", self.load().err)
        self.is_copied(self.cache)
        (row,) = self.copies()
        digest = self.ok("info", self.cache, "--json").json()["manifest"]["digest"]
        self.assertEqual((row["cache"], row["cache_digest"]), (str(self.cache), digest))
        self.assertTrue(row["pinned"])
        self.assertFalse(row["in_use"])
        text = self.ok("cache", "list", "--memory-dir", self.memory).out
        self.assertIn(f"{self.cache}: ", text)
        self.assertIn("pinned", text)
        self.assertIn("is as it was", self.ok("cache", "drop", self.cache, "--memory-dir", self.memory).err)
        self.assertEqual(self.folders(), [])
        self.assertEqual({path: path.read_bytes() for path in self.cache.rglob("*") if path.is_file()}, before)
        # Copies on disk are removed only by an explicit flag.
        self.refused(2, ["no copy of", "--delete"], "cache", "drop", self.cache, "--memory-dir", self.memory)
        self.ok("verify", self.cache)
        self.load()
        self.ok("cache", "drop", self.cache, "--delete", "--memory-dir", self.memory)
        self.assertFalse(self.cache.exists())
        self.assertEqual(self.folders(), [])
        self.refused(2, ["not a winnow cache"], "cache", "drop", self.cache, "--memory-dir", self.memory)

    def test_what_is_left_of_a_cache_that_is_gone(self):
        other = self.make("other")
        self.load()
        self.load(other)
        shutil.rmtree(self.cache)
        self.ok("cache", "drop", self.cache, "--memory-dir", self.memory)
        (row,) = self.copies()
        shutil.rmtree(other)
        self.ok("cache", "drop", row["cache_digest"], "--memory-dir", self.memory)
        self.assertEqual(self.folders(), [])

    @unittest.skipUnless(jsonschema, "this Python has no package jsonschema (Debian: python3-jsonschema)")
    def test_the_list_is_what_its_schema_says(self):
        schema = jsonschema.Draft202012Validator(
            json.loads((ROOT / "docs" / "schemas" / "cache_list.schema.json").read_text()))  # fmt: skip

        def check():
            value = self.ok("cache", "list", "--memory-dir", self.memory, "--json").json()
            schema.validate(value)
            for wrong in ({**value, "more": 1}, {**value, "copies": [{}]}, {**value, "room_bytes": "1"}):
                self.assertFalse(schema.is_valid(wrong))
            return [row["state"] for row in value["copies"]]

        self.assertEqual(check(), [])
        self.load()
        self.assertEqual(check(), ["whole"])
        next(self.memory.iterdir()).joinpath("copy.json").unlink()
        self.assertEqual(check(), ["half_made"])
        self.assertIn("left by a process that died", self.ok("cache", "list", "--memory-dir", self.memory).out)
        self.load()
        self.assertEqual(check(), ["whole"])

    @needs_shm
    def test_a_cache_whose_shards_are_in_memory_only(self):
        cache = self.folder / "in-memory"
        self.ok("ingest", self.folder / "cache-source", "--out", cache, "--memory")
        shards = (cache / "shards").resolve()
        row = next(row for row in self.copies(SHM) if row["folder"] == str(shards))
        self.assertEqual((row["state"], row["pinned"], row["cache"]), ("of_ingest", True, None))
        self.cache = cache
        trained = self.ok(*self.train(self.folder / "run", "--epochs", 1, "--memory"))
        self.assertIn("are in memory already", trained.err)
        self.ok("cache", "drop", cache)
        self.assertFalse(shards.exists())
        self.assertFalse(cache.exists())

    def test_what_is_in_use_is_not_dropped(self):
        training = self.start(*self.train(self.folder / "run", "--epochs", 4000, "--memory-dir", self.memory))
        self.wait_until(lambda: (self.folder / "run" / "checkpoints" / "latest").exists(), training)
        (row,) = self.copies()
        self.assertTrue(row["in_use"])
        self.assertFalse(row["pinned"])
        self.assertEqual(row["processes"], [training.pid])
        used = [f"process {training.pid}", "nothing of"]
        self.refused(2, used, "cache", "drop", self.cache, "--memory-dir", self.memory)
        self.refused(2, used, "cache", "drop", self.cache, "--delete", "--memory-dir", self.memory)
        training.kill()
        training.wait()
        self.ok("cache", "drop", self.cache, "--memory-dir", self.memory)
        # The same for a run that reads from disk.
        training = self.start(*self.train(self.folder / "run2", "--epochs", 4000))
        self.wait_until(lambda: (self.folder / "run2" / "checkpoints" / "latest").exists(), training)
        self.refused(2, used[1:] + [f"process {training.pid}"], "cache", "drop", self.cache, "--delete", "--memory-dir",
                     self.memory)  # fmt: skip
        training.kill()
        training.wait()
        self.ok("cache", "drop", self.cache, "--delete", "--memory-dir", self.memory)
        self.assertFalse(self.cache.exists())


class Sharing(Memory):
    def test_processes_that_load_at_once_share_one_copy(self):
        large = self.large()
        loads = [self.start("cache", "load", large, "--memory-dir", self.memory) for _ in range(5)]
        said = [winnow.communicate(timeout=PATIENCE_S)[1] for winnow in loads]
        self.assertEqual([winnow.returncode for winnow in loads], [0] * 5, said)
        self.assertEqual(sum("loaded in" in text for text in said), 1, said)
        self.assertEqual(sum("were there already" in text for text in said), 4, said)
        self.is_copied(large)

    def test_one_waits_for_another_and_makes_it_where_that_dies(self):
        slow = self.start("cache", "load", self.cache, "--memory-dir", self.memory,
                          env={"WINNOW_FAILPOINTS": "hang=file.rename.before:copy.json:1"})  # fmt: skip
        self.wait_until(lambda: list(self.memory.glob("*/copy.json.tmp")), slow)
        self.assertEqual([row["state"] for row in self.copies()], ["loading"])
        self.refused(2, [f"process {slow.pid}"], "cache", "drop", self.cache, "--memory-dir", self.memory)
        other = self.start("cache", "load", self.cache, "--memory-dir", self.memory)
        self.assertIn("waiting for another process", other.stderr.readline())
        self.assertIsNone(other.poll())
        slow.kill()
        self.assertIn("loaded in", other.communicate(timeout=PATIENCE_S)[1])
        self.assertEqual(other.returncode, 0)
        self.is_copied(self.cache)

    def test_training_from_memory_is_training_from_disk(self):
        def weights(name, *more, ranks=0):
            out = self.folder / name
            result = self.ok(*self.train(out, "--epochs", 2, "--reproducible", *more), ranks=ranks)
            newest = (out / "checkpoints" / "latest").resolve() / "model.safetensors"
            self.ok("eval", out, self.cache, "--predictions", self.folder / f"{name}.csv", *more)
            return tensors(newest), (out / "census.json").read_bytes(), (self.folder / f"{name}.csv").read_bytes(), result

        memory = ["--memory-dir", self.memory]
        *disk, _ = weights("disk")
        *first, loads = weights("first", *memory)
        self.assertIn("loaded in", loads.err)
        *second, joins = weights("second", *memory, ranks=2)
        self.assertIn("were there already", joins.err)
        self.assertEqual(disk, first)
        self.assertEqual(disk, second)
        self.is_copied(self.cache)
        # Ranks that find no copy make one together.
        self.ok("cache", "drop", self.cache, *memory)
        *third, _ = weights("third", *memory, ranks=3)
        self.assertEqual(disk, third)
        self.is_copied(self.cache)
        rows = self.ok("bench", "loader", self.cache, "--seconds", 0.1, "--rounds", 1, "--json", *memory).json()["rows"]
        self.assertGreater(rows[0]["achieved"], 0)


class Faults(Memory):
    def points(self):
        log = self.folder / "trace"
        self.load(env={"WINNOW_FAILPOINTS": f"trace={log}"})
        self.ok("cache", "drop", self.cache, "--memory-dir", self.memory)
        found = {}
        for point, file in traces.read(log):
            name = pathlib.PurePath(file).name
            key = (point, name if not name.startswith("winnow-") else "*")
            found[key] = found.get(key, 0) + 1
        return found

    def test_killed_at_each_point_of_a_load(self):
        killed = 0
        for (point, file), count in self.points().items():
            for k in {1, count}:
                died = run("cache", "load", self.cache, "--memory-dir", self.memory,
                           env={"WINNOW_FAILPOINTS": f"kill={point}:{file}:{k}"})  # fmt: skip
                self.assertEqual(died.code, -signal.SIGKILL, f"{point} {file}: {died.err}")
                killed += 1
                for row in self.copies():
                    self.assertFalse(row["in_use"])
                    self.assertIn(row["state"], ("whole", "half_made"))
                if killed % 2:
                    self.load()
                    self.is_copied(self.cache)
                if self.folders():
                    self.ok("cache", "drop", self.cache, "--memory-dir", self.memory)
                self.assertEqual(self.folders(), [], f"{point} {file}")
        self.assertGreater(killed, 20)

    def test_killed_at_random_moments(self):
        large = self.large()
        begin = time.monotonic()
        self.load(large)
        whole = time.monotonic() - begin
        self.ok("cache", "drop", large, "--memory-dir", self.memory)
        kills = Kills(whole, [self.random.random() for _ in range(20)], 5)
        for seconds in kills:
            winnow = self.start("cache", "load", large, "--memory-dir", self.memory)
            time.sleep(seconds)
            winnow.kill()
            winnow.communicate()
            kills.tell(winnow.returncode == -signal.SIGKILL)
        self.load(large)
        self.is_copied(large)

    def test_no_space_at_each_write_of_a_load(self):
        full = 0
        for point, file in self.points():
            if not point.endswith(".before") or point.split(".")[0] not in ("file", "dir") or "remove" in point:
                continue
            if (point, file) == ("dir.sync.before", "*"):
                continue
            result = run("cache", "load", self.cache, "--memory-dir", self.memory,
                         env={"WINNOW_FAILPOINTS": f"enospc={point}:{file}:1"})  # fmt: skip
            self.assertEqual(result.code, 1, f"{point} {file}: {result.err}")
            self.one_sentence(result.err, "o space left on device")
            self.assertEqual(self.folders(), [], f"{point} {file}")
            full += 1
        self.assertGreater(full, 5)
        self.load()
        self.is_copied(self.cache)

    def test_a_block_that_is_not_what_was_written(self):
        large = self.large()
        shard = sorted((large / "shards").iterdir())[1]
        sound = shard.read_bytes()
        wrong = bytearray(sound)
        wrong[-100] ^= 1
        shard.write_bytes(wrong)
        self.refused(1, [f"{shard} is damaged: bytes 0 to {len(sound) - 1}"], "cache", "load", large, "--memory-dir",
                     self.memory)  # fmt: skip
        self.assertEqual(self.folders(), [])
        self.cache = large
        self.refused(1, [f"{shard} is damaged"], *self.train(self.folder / "run", "--memory-dir", self.memory))
        self.assertEqual(self.folders(), [])
        shard.write_bytes(sound)
        self.load(large)
        self.is_copied(large)

    def test_places_that_do_not_serve(self):
        nowhere = self.folder / "nowhere"
        for words in (["cache", "load", self.cache], self.train(self.folder / "run")):
            self.refused(2, [str(nowhere), "--memory-dir"], *words, "--memory-dir", nowhere)
        self.refused(2, ["network file system", "--memory-dir"], "cache", "load", self.cache, "--memory-dir", self.memory,
                     env={"WINNOW_FAILPOINTS": "eio=fs.type.before:memory:1"})  # fmt: skip
        self.ok("ingest", self.folder / "cache-source", "--out", self.folder / "prints", "--store", "none")
        self.refused(2, ["fingerprints only"], "cache", "load", self.folder / "prints", "--memory-dir", self.memory)
        self.assertEqual(self.folders(), [])

    @needs_mounts
    def test_a_tmpfs_that_is_too_small(self):
        large = self.large()
        done = inside_own_mounts(
            """
            mount -t tmpfs -o size=2m none "$1"
            "$2" cache load "$3" --memory-dir "$1"
            echo "exit $?"; ls -A "$1"
            """, self.memory, WINNOW, large)  # fmt: skip
        self.assertEqual(done.stdout, "exit 2\n", done.stderr)
        self.one_sentence(done.stderr, "need 4 MiB", "2 MiB by the file system", "--memory-dir")

    @needs_mounts
    def test_a_tmpfs_that_runs_full_all_the_same(self):
        # Enough room by size, but not for that many files.
        large = self.large()
        done = inside_own_mounts(
            """
            mount -t tmpfs -o size=50m,nr_inodes=4 none "$1"
            "$2" cache load "$3" --memory-dir "$1"
            echo "exit $?"; ls -A "$1"
            mount -o remount,nr_inodes=1k "$1"
            "$2" cache load "$3" --memory-dir "$1" || exit 9
            """, self.memory, WINNOW, large)  # fmt: skip
        self.assertEqual((done.returncode, done.stdout), (0, "exit 1\n"), done.stderr)
        self.one_sentence(done.stderr, "o space left on device", "copy was removed", "--memory-dir")

    @needs_mounts
    def test_what_nobody_uses_makes_room_oldest_first(self):
        caches = [self.large(f"large{i}") for i in range(4)]
        done = inside_own_mounts(
            """
            mount -t tmpfs -o size=9m none "$1"
            list() { "$W" cache list --memory-dir "$M" --json; }
            M=$1 W=$2 A=$3 B=$4 C=$5 D=$6
            load() { "$W" train "$1" --out "$RUNS/$RANDOM$RANDOM" --net lenet --batch-size 4 --image-size 28 --max-steps 1 --memory-dir "$M" || exit 9; }
            RUNS=$7
            load "$A"; sleep 0.05; load "$B"; sleep 0.05; load "$A"; sleep 0.05; load "$C"; list   # B was longest unused
            "$W" cache load "$A" --memory-dir "$M" || exit 10
            "$W" cache load "$C" --memory-dir "$M" || exit 11
            "$W" cache load "$D" --memory-dir "$M"; echo "{\\"exit\\": $?}"
            list
            """, self.memory, WINNOW, *caches, self.folder / "runs")  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        first, code, second = [json.loads(line) for line in done.stdout.splitlines()]
        for listed in (first, second):
            self.assertEqual(sorted(row["cache"] for row in listed["copies"]), [str(caches[0]), str(caches[2])])
        self.assertEqual(code, {"exit": 2})
        self.one_sentence(done.stderr, "winnow cache list shows what is kept")
        self.assertIn(f"removed the copy of {caches[1]}", done.stderr)


class NetworkStorage(Memory):
    """Network storage, simulated by a failpoint."""

    def test_shards_are_read_from_a_copy(self):
        far = {"WINNOW_FAILPOINTS": "eio=fs.type.before:cache/shards:1"}
        self.addCleanup(run, "cache", "drop", self.cache)
        trained = self.ok(*self.train(self.folder / "run", "--epochs", 1), env=far)
        self.assertIn("is on a network file system", trained.err)
        self.assertIn("loaded in", trained.err)
        evaluated = self.ok("eval", self.folder / "run", self.cache, env=far)
        self.assertIn("were there already", evaluated.err)
        self.ok("bench", "loader", self.cache, "--seconds", 0.1, "--rounds", 1, env=far)
        self.ok("cache", "drop", self.cache)

    def test_they_are_never_mapped(self):
        # The first check, which would copy the shards, sees a disk.
        self.refused(2, ["network file system", "--memory-dir"], *self.train(self.folder / "run", "--epochs", 1),
                     env={"WINNOW_FAILPOINTS": "eio=fs.type.before:cache/shards:2"})  # fmt: skip


class Replaced(Memory):
    def running(self, *more, epochs=4000):
        out = self.folder / "run"
        training = self.start(*self.train(out, "--epochs", epochs, *more))
        self.wait_until(lambda: (out / "checkpoints" / "latest").exists(), training)
        return out, training

    def ended(self, training, code, *words):
        said = training.communicate(timeout=PATIENCE_S)[1]
        self.assertEqual(training.returncode, code, said)
        self.one_sentence(said, *words)

    def test_a_cache_replaced_under_a_running_job(self):
        other = self.make("other")
        whole = self.folder / "whole"
        self.ok(*self.train(whole, "--epochs", 300))
        for more in ([], ["--memory-dir", self.memory]):
            out, training = self.running(*more, epochs=300)
            os.rename(self.cache, self.folder / "aside")
            os.rename(other, self.cache)
            self.ended(training, 1, "was replaced by another while this run was training", "--resume auto")
            self.refused(2, ["cache_digest"], *self.train(out, "--epochs", 300, "--resume", "auto", *more))
            os.rename(self.cache, other)
            os.rename(self.folder / "aside", self.cache)
            self.ok(*self.train(out, "--epochs", 300, "--resume", "auto", *more))
            self.assertEqual((out / "census.json").read_bytes(), (whole / "census.json").read_bytes())
            self.assertEqual(*[tensors((run_ / "checkpoints" / "latest").resolve() / "model.safetensors")
                               for run_ in (out, whole)])  # fmt: skip
            shutil.rmtree(out)

    def test_a_cache_removed_under_a_running_job(self):
        _, training = self.running()
        shutil.rmtree(self.cache)
        self.ended(training, 1, "was removed while this run was training")

    def test_sources_added_under_a_running_job(self):
        _, training = self.running()
        more = self.folder / "more"
        self.learnable_idx(more, train=64, test=16)
        self.ok("ingest", more, "--into", self.cache)
        self.ended(training, 1, "was replaced by another while this run was training")

    def test_a_shard_cut_short_under_a_running_job(self):
        _, training = self.running()
        for shard in (self.cache / "shards").iterdir():
            os.truncate(shard, 0)
        self.ended(training, 1, "cut short", "run the same command again")


if __name__ == "__main__":
    unittest.main(verbosity=2)
