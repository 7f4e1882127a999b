"""Nothing is lost: ingest and dedup are killed, or run out of space, at each point where something becomes durable, and
at random moments. What is reported as done is durable before it is reported.
"""

import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import zlib

import traces
from embed_test import npy
from golden import GOLDEN
from program import ALL, PATIENCE_S, SHM, WINNOW, Case, Kills, ends_by_a_second_signal, errors_in, eventually, png, png_chunk, run, some_of

needs_shm = unittest.skipUnless(os.access(SHM, os.W_OK), "there is no /dev/shm to write to here")
# Acts that need space; the others cannot fail on a full disk.
TAKES_SPACE = ("file.create", "file.write", "file.sync", "file.rename", "dir.create", "dir.sync", "link.create",
               "link.rename", "lmdb.create", "lmdb.commit", "lmdb.sync")  # fmt: skip


def tree(folder):
    """Every file below `folder`; links are followed."""
    return {
        os.path.relpath(os.path.join(where, name), folder): pathlib.Path(where, name).read_bytes()
        for where, _, names in os.walk(folder, followlinks=True)
        for name in names
    }


def passes(points):
    """How often each point is passed: (point, file) -> count."""
    return {key: len(list(group)) for key, group in itertools.groupby(sorted(points))}


def first_and_last(points):
    return [(point, file, k) for (point, file), count in passes(points).items() for k in sorted({1, count})]


def some_faults(what, hits, most):
    """A sample of hits (point, file, time), with every point and every kind of file."""
    return some_of(what, hits, most, lambda hit: hit[0], lambda hit: re.sub(r"\d+", "0", hit[1]))


def moments(count, few, draw):
    """`few` moments of a run from 0 to 1, one at random in each of `few` equal parts. With WINNOW_TEST_ALL=1 `count`
    moments, with WINNOW_KILLS=N N.
    """
    parts = int(os.environ.get("WINNOW_KILLS", count if ALL else few))
    return [(part + draw.random()) / parts for part in range(parts)]


def catches(pid, number):
    """Whether the process has a handler for the signal."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"SigCgt:\s*(\w+)", status).group(1), 16) >> (number - 1) & 1


def in_parallel(work, items):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda item: work(*item), items))


def failpoints(action, point, file, k):
    return {"WINNOW_FAILPOINTS": f"{action}={point}:{file}:{k}"}


class Faults(Case):
    def setUp(self):
        super().setUp()
        self.use_tmpfs()

    def photos(self, count=18, side=400):
        root = self.folder / "photos"
        for i in range(count):
            split, name = "train" if i % 3 else "test", "cat" if i % 2 else "dog"
            self.write_ppm(root / split / name / f"{i:02}.ppm", self.random.randbytes(3 * side * side), side)
        return root

    def place(self, name):
        """A folder for one run. Its cache has the same path relative to it in every run."""
        folder = self.folder / f"run-{name}" / "work"
        folder.mkdir(parents=True)
        return folder

    def trace(self, place, *args):
        """The points that a run passes, with files as paths from the parent of `place`."""
        path = self.folder / "trace"
        path.unlink(missing_ok=True)
        self.ok(*args, env={"WINNOW_FAILPOINTS": f"trace={path}"})
        base = str(place.parent) + "/"
        return [(point, file.removeprefix(base)) for point, file in traces.read(path)]

    def one_sentence(self, result, *words):
        lines = errors_in(result.err)
        self.assertEqual(len(lines), 1, result.err)
        for word in words:
            self.assertIn(word, lines[0])

    # Ingest

    def ingest(self, *more):
        return ["ingest", self.source, "--shard-size", 3, "--threads", 1, *more]

    def undisturbed(self, *more):
        """Files of a cache, and the points passed when making it."""
        self.source = self.photos()
        place = self.place("want")
        points = self.trace(place, *self.ingest("--out", place / "cache", *more))
        want = tree(place / "cache")
        self.assertEqual(sum(name.endswith(".mdb") for name in want), 3)
        return want, points

    def goes_on(self, cache, want, where, *more):
        """After a fault there is no cache or a complete one, and the same ingest then ends as if nothing had happened."""
        if (cache / "manifest.json").exists():
            self.ok("verify", cache)
        if not (cache / "manifest.json").exists() or (cache / "unfinished").exists():
            self.ok(*self.ingest("--out", cache, *more))
        self.assertTrue(tree(cache) == want, f"{where}: {sorted(tree(cache))}")

    def killed_at(self, want, points, *more, most=20):
        numbers = itertools.count()

        def kill(point, file, k):
            where = f"killed at {point} {file}, time {k}"
            cache = self.place(f"kill-{next(numbers)}") / "cache"
            died = run(*self.ingest("--out", cache, *more), env=failpoints("kill", point, file, k))
            self.assertEqual(died.code, -signal.SIGKILL, f"{where}: {died.err}")
            self.goes_on(cache, want, where, *more)
            shards = (cache / "shards").resolve()
            self.ok("cache", "drop", cache, "--delete")
            self.assertFalse(shards.exists(), where)
            shutil.rmtree(cache.parent.parent)

        in_parallel(kill, some_faults(f"points of an ingest {' '.join(more)}, killed at", points, most))

    def full_at(self, want, points, *more):
        numbers = itertools.count()
        order = [(point, file) for point, file in points]
        finished = order.index(("file.rename.after", "work/cache/manifest.json"))

        def fill(point, file, k):
            where = f"full at {point} {file}, time {k}"
            cache = self.place(f"full-{next(numbers)}") / "cache"
            failed = run(*self.ingest("--out", cache, *more), env=failpoints("enospc", point, file, k))
            self.assertEqual(failed.code, 1, f"{where}: {failed.err}")
            self.one_sentence(failed, pathlib.PurePath(file).name, "o space left")
            self.assertEqual(failed.out, "")
            at = [i for i, key in enumerate(order) if key == (point, file)][k - 1]
            self.assertEqual((cache / "manifest.json").exists(), at > finished, where)
            self.goes_on(cache, want, where, *more)
            shutil.rmtree(cache.parent.parent)

        needing = [p for p in points if p[0].removesuffix(".before") in TAKES_SPACE]
        in_parallel(fill, some_faults("points of an ingest, on a full disk", first_and_last(needing), 12))

    def test_ingest_killed_at_each_point(self):
        want, points = self.undisturbed()
        self.assertGreater(len(passes(points)), 90)
        self.killed_at(want, first_and_last(points))

    def test_ingest_on_a_disk_full_at_each_point(self):
        want, points = self.undisturbed()
        self.full_at(want, points)

    @needs_shm
    def test_ingest_in_memory_killed_at_each_kind_of_point(self):
        want, points = self.undisturbed("--memory")
        self.ok("cache", "drop", self.folder / "run-want" / "work" / "cache", "--delete")
        kinds = {}
        for point, file in points:
            # Names on tmpfs depend on the cache's path.
            file = "*" if file.startswith("/dev/shm/winnow-") else file
            kinds.setdefault((point, pathlib.PurePath(file).suffix), (point, file, 1))
        self.killed_at(want, list(kinds.values()), "--memory", most=12)

    def test_ingest_killed_at_random_moments(self):
        want, _ = self.undisturbed()
        begin = time.monotonic()
        self.ok(*self.ingest("--out", self.place("timed") / "cache"))
        whole = time.monotonic() - begin
        cache = self.place("killed") / "cache"
        when = moments(50, 16, self.random)
        kills = Kills(whole, when, 0.4 * len(when))
        for seconds in kills:
            winnow = subprocess.Popen([WINNOW, *map(str, self.ingest("--out", cache))],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
            time.sleep(seconds)
            winnow.kill()
            kills.tell(winnow.wait() == -signal.SIGKILL)
            if (cache / "manifest.json").exists() and not (cache / "unfinished").exists():
                self.assertTrue(tree(cache) == want)
                self.ok("cache", "drop", cache, "--delete")
        self.goes_on(cache, want, "killed at random moments")

    def test_a_mixed_set_killed_at_random_moments_and_done_again_on_any_threads(self):
        # Large and tiny pictures in class folders. What a run left is resumed with another number of threads.
        self.source = self.photos(10, side=500)
        for i in range(600):
            self.write_ppm(self.source / "train" / "dog" / f"tiny{i}.ppm", self.random.randbytes(3 * 8 * 8), 8)
        (self.source / "train" / "cat" / "broken.jpg").write_bytes(b"\xff\xd8\xff no photo")

        def ingest(cache, threads):
            return ["ingest", self.source, "--shard-size", 1, "--out", cache, "--threads", threads]

        want = None
        for threads in (1, 2, 8):
            cache = self.place(f"on-{threads}") / "cache"
            begin = time.monotonic()
            self.ok(*ingest(cache, threads))
            whole = time.monotonic() - begin
            want = want or tree(cache)
            self.assertTrue(tree(cache) == want, f"{threads} threads")

        def kill(number):
            threads = (1, 2, 8)[number % 3]
            cache = self.place(f"kill-{number}") / "cache"
            winnow = subprocess.Popen([WINNOW, *map(str, ingest(cache, threads))],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
            time.sleep(when[number] * whole)
            winnow.kill()
            killed = winnow.wait() == -signal.SIGKILL
            if not (cache / "manifest.json").exists() or (cache / "unfinished").exists():
                self.ok(*ingest(cache, (2, 8, 1)[number % 3]))
            self.assertTrue(tree(cache) == want, f"kill {number}, {threads} threads")
            shutil.rmtree(cache.parent.parent)
            return killed

        when = moments(50, 16, self.random)
        for _ in range(6):
            if sum(in_parallel(kill, [(number,) for number in range(len(when))])) > 0.4 * len(when):
                return
            whole /= 2  # the machine has become faster
        self.fail("too few were killed before they were over")

    @needs_shm
    def test_cache_drop_killed_at_each_point(self):
        self.source = self.photos(6)
        place = self.place("drop")

        def make(cache):
            self.ok(*self.ingest("--out", cache, "--memory"))
            self.ok("dedup", cache)
            return (cache / "shards").resolve()

        make(place / "cache")
        points = self.trace(place, "cache", "drop", place / "cache", "--delete")
        self.assertGreater(len(points), 12)
        numbers = itertools.count()

        def kill(point, file, k):
            cache = self.place(f"drop-{next(numbers)}") / "cache"
            shards = make(cache)
            file = "*" if file.startswith("/dev/shm/winnow-") else file
            died = run("cache", "drop", cache, "--delete", env=failpoints("kill", point, file, k))
            self.assertEqual(died.code, -signal.SIGKILL, point)
            # Complete, or no cache; never part of one.
            if (cache / "manifest.json").exists():
                self.ok("verify", cache)
            if cache.exists() and os.listdir(cache):
                self.ok("cache", "drop", cache, "--delete")
            self.assertFalse(shards.exists(), point)

        in_parallel(kill, some_faults("points of a cache drop, killed at", first_and_last(points), 12))

    # Signals

    def test_ingest_stops_on_a_signal_and_goes_on(self):
        want, _ = self.undisturbed()
        for action in ("term", "usr1"):
            cache = self.place(action) / "cache"
            stopped = run(*self.ingest("--out", cache, "--json"),
                          env=failpoints(action, "lmdb.commit.after", "00001.mdb", 2))  # fmt: skip
            self.assertEqual(stopped.code, 75, stopped.err)
            self.one_sentence(stopped, str(cache), "run the same command again")
            self.assertEqual(stopped.out, "")
            self.assertTrue((cache / "parts" / "00000").exists())
            self.assertFalse((cache / "shards" / "00002.mdb").exists())
            self.refused(2, ["not finished"], "info", cache)
            again = self.ok(*self.ingest("--out", cache, "--json"))
            self.assertIn("that an earlier run had finished", again.err)
            self.assertEqual(again.json()["inputs"], 18)
            self.assertTrue(tree(cache) == want)

    def test_a_signal_that_comes_twice_at_once_is_one(self):
        self.source = self.photos()
        twice = "term=file.write.before:unfinished:1,term=file.sync.before:unfinished:1"
        stopped = run(*self.ingest("--out", self.place("twice") / "cache"), env={"WINNOW_FAILPOINTS": twice})
        self.assertEqual(stopped.code, 75, stopped.err)

    def test_a_second_signal_ends_it_at_once(self):
        self.source = self.photos()
        cache = self.place("hung") / "cache"
        trace = self.folder / "trace"
        trace.touch()
        hang = f"trace={trace},hang=lmdb.commit.before:00001.mdb:1"
        winnow = subprocess.Popen([WINNOW, *map(str, self.ingest("--out", cache))], stderr=subprocess.DEVNULL,
                                  env={**os.environ, "WINNOW_FAILPOINTS": hang})  # fmt: skip
        self.addCleanup(winnow.kill)
        eventually(lambda: re.search(r"lmdb.commit.before\t.*/00001.mdb\n", trace.read_text()), "an ingest that hangs")
        winnow.send_signal(signal.SIGTERM)  # a second signal of another kind ends nothing
        ends_by_a_second_signal(winnow, signal.SIGUSR1)
        self.assertEqual(winnow.returncode, -signal.SIGUSR1)

    def test_verbs_with_nothing_to_finish_end_at_once(self):
        self.source = self.photos(3)
        cache = self.place("verbs") / "cache"
        self.ok(*self.ingest("--out", cache))
        page = cache.parent / "page.html"
        for action in ("int", "term", "usr1"):
            stopped = self.refused(75, ["stopped before the end"], "info", cache, "--report", page,
                                   env=failpoints(action, "file.create.before", "*", 1))  # fmt: skip
            self.assertEqual(stopped.err.count("\n"), 1)
            self.assertEqual(list(page.parent.iterdir()), [cache])

    def test_an_evaluation_stops(self):
        for action in ("int", "term"):
            self.refused(75, ["stopped before the end"], "eval", GOLDEN / "v1" / "run", GOLDEN / "v1" / "raw",
                         env=failpoints(action, "load.record.before", "*", 1))  # fmt: skip

    def test_ctrl_c_stops_an_ingest_as_a_batch_system_does(self):
        self.source = self.photos(6)
        cache = self.place("ctrl-c") / "cache"
        said = []
        for action in ("term", "int"):
            said.append(self.refused(75, ["stopped"], *self.ingest("--out", cache),
                                     env=failpoints(action, "lmdb.commit.after", "00000.mdb", 1)))  # fmt: skip
            self.assertTrue((cache / "unfinished").exists())
            shutil.rmtree(cache)
        sentences = [errors_in(one.err)[0] for one in said]
        self.assertEqual(sentences[0], sentences[1])
        self.assertIn("Ctrl-C again ends it at once", said[1].err)

    def test_an_ignored_ctrl_c_stays_ignored(self):
        self.source = self.photos(3)
        cache = self.place("background") / "cache"
        words = [str(word) for word in self.ingest("--out", cache)]
        done = subprocess.run([WINNOW, *words], capture_output=True, text=True,
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
                              env={**os.environ, **failpoints("int", "lmdb.commit.after", "00000.mdb", 1)})  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)

    # Errors that are reported

    def test_a_bad_disk_is_an_error(self):
        self.source = self.photos(6)
        for number, (point, file) in enumerate(
            [("lmdb.sync.before", "00000.mdb"), ("file.sync.before", "00000.mdb"), ("dir.sync.before", "fingerprints"),
             ("file.sync.before", "ledger.jsonl"), ("file.remove.before", "unfinished")]
        ):  # fmt: skip
            cache = self.place(number) / "cache"
            failed = run(*self.ingest("--out", cache), env=failpoints("eio", point, file, 1))
            self.assertEqual(failed.code, 1, failed.err)
            self.one_sentence(failed, file, "Input/output error")

    def test_a_report_that_cannot_be_written_is_an_error(self):
        self.source = self.photos(6)
        cache = self.place("reports") / "cache"
        self.ok(*self.ingest("--out", cache))
        for verb in (["info", cache], ["info", cache, "--json"], ["dedup", cache, "--json"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([WINNOW, *map(str, verb)], stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("winnow: cannot write to the standard output: No space left on device", done.stderr)
        self.refused(2, ["nowhere/x.csv"], "dedup", cache, "--name", "other", "--list", self.folder / "nowhere/x.csv")
        self.refused(2, ["other"], "train", cache, "--selection", "other", "--out", self.folder / "run")

    def test_failpoints_that_cannot_be_understood_are_refused(self):
        self.source = self.photos(3)
        for text in ("kill", "kill=", "kill=a:b", "kill=file.write.before:x:0", "kill=file.write.before:x:1k",
                     "kill=file.write:x:1", "enospc=file.write.after:x:1", "die=file.write.before:x:1"):  # fmt: skip
            self.refused(2, ["WINNOW_FAILPOINTS", text], *self.ingest("--out", self.folder / "cache"),
                         env={"WINNOW_FAILPOINTS": text})  # fmt: skip

    # Dedup

    def test_dedup_killed_or_full_at_each_point(self):
        self.source = self.photos()
        place = self.place("dedup")
        self.ok(*self.ingest("--out", place / "cache"))

        def dedup(cache, threshold):
            return ["dedup", cache, "--threshold", threshold, "--list-groups", cache.parent / "groups.csv"]

        def written(cache):
            files = tree(cache / "selections")
            return {name: files[name] for name in ("default.selection", "default.csv")}

        # In a cache without a selection, and in one with an older selection.
        fresh = self.folder / "fresh"
        shutil.copytree(place, fresh)
        self.ok(*dedup(place / "cache", 2))
        old = written(place / "cache")
        used = self.folder / "used"
        shutil.copytree(place, used)
        points = self.trace(place, *dedup(place / "cache", 4))
        new = written(place / "cache")
        self.assertNotEqual(old["default.selection"], new["default.selection"])
        numbers = itertools.count()

        def break_at(action, before, point, file, k):
            where = f"{action} at {point} {file}, time {k}"
            work = self.folder / f"break-{next(numbers)}" / "work"
            shutil.copytree(before, work, copy_function=os.link)  # files are replaced, never changed
            cache = work / "cache"
            broken = run(*dedup(cache, 4), env=failpoints(action, point, file, k))
            if action == "kill":
                self.assertEqual(broken.code, -signal.SIGKILL, where)
            else:
                self.assertEqual(broken.code, 1, where)
                self.one_sentence(broken, pathlib.PurePath(file).name, "o space left")
            self.ok("verify", cache)
            if before == used:
                for name, content in written(cache).items():
                    self.assertIn(content, (old[name], new[name]), where)
                # The decision is written last.
                if written(cache)["default.selection"] == new["default.selection"]:
                    self.assertEqual(written(cache), new, where)
            self.ok(*dedup(cache, 4))
            self.assertEqual(written(cache), new, where)
            shutil.rmtree(work.parent)

        kinds = first_and_last(points)
        self.assertGreater(len(kinds), 20)
        needing = [kind for kind in kinds if kind[0].removesuffix(".before") in TAKES_SPACE]
        in_parallel(break_at, [("kill", used, *kind) for kind in some_faults("points of a dedup, killed at", kinds, 12)])
        in_parallel(break_at, [("enospc", used, *kind) for kind in some_faults("points of a dedup, on a full disk", needing, 6)])
        of_fresh = [kind for kind in kinds if kind[1].endswith("/default.selection")]  # there was none before
        in_parallel(break_at, [("kill", fresh, *kind) for kind in of_fresh])

    # Features, comparing pictures, folds

    def pictured(self, count=60):
        """A cache of pictures with edges, every third a brighter copy of the one before, and vectors of all."""
        photos, place = self.folder / "photos", self.place("pictured")
        for i in range(count):
            brighter = 12 * (i % 3 == 2)
            rows = self.detailed(i - (i % 3 == 2), width=64, height=48)
            pixels = bytes(min(255, value + brighter) for row in rows for value in row)
            name = photos / f"class {i % 2}" / f"{i:03}.pgm"
            name.parent.mkdir(parents=True, exist_ok=True)
            name.write_bytes(b"P5\n64 48\n255\n" + pixels)
        self.ok("ingest", photos, "--out", place / "cache")
        vectors = [[self.random.random() for _ in range(8)] for _ in range(count)]
        (self.folder / "v.npy").write_bytes(npy(vectors))
        ledger = [json.loads(line) for line in (place / "cache" / "ledger.jsonl").read_text().splitlines()]
        (self.folder / "names").write_text("".join(f"{row['name']}\n" for row in ledger))
        return place

    def embed(self, cache):
        return ["embed", self.folder / "v.npy", cache, "--names", self.folder / "names", "--name", "given"]

    def test_embed_killed_or_full_at_each_point(self):
        place = self.pictured(12)
        cache, file = place / "cache", place / "cache" / "features" / "given.features"
        points = self.trace(place, *self.embed(cache))  # the folder is created as well
        traces.Disk(points, r"\.features$").at_end()
        new = file.read_bytes()
        # If there are some already, only their replacement matters.
        replaced = [point for point in points if point[0].startswith(("file.write", "file.rename"))]

        def break_at(action, old, point, name, k):
            where = f"{action} at {point} {name}, time {k}"
            shutil.rmtree(file.parent, ignore_errors=True)
            if old:
                file.parent.mkdir()
                file.write_bytes(old)
            broken = run(*self.embed(cache), env=failpoints(action, point, name, k))
            self.assertEqual(broken.code, -signal.SIGKILL if action == "kill" else 1, where)
            if action == "enospc":
                self.one_sentence(broken, pathlib.PurePath(name).name, "o space left")
            self.assertIn(file.read_bytes() if file.exists() else None, (old, new), where)
            self.ok(*self.embed(cache))
            self.assertEqual((file.read_bytes(), os.listdir(file.parent)), (new, [file.name]), where)

        for old, passed in ((None, points), (b"what was there", replaced)):
            kinds = first_and_last(passed)
            self.assertGreaterEqual(len(kinds), 4)
            for kind in some_faults(f"points of embedding, killed or full at, {len(passed)} passed", kinds, 6):
                break_at("kill", old, *kind)
                if kind[0].removesuffix(".before") in TAKES_SPACE:
                    break_at("enospc", old, *kind)

    def test_verbs_killed_at_random_moments(self):
        place = self.pictured()
        cache = place / "cache"
        folds = ["train", cache, "--out", self.folder / "cv", "--folds", 2, "--net", "lenet", "--epochs", 1, "--batch-size", 20,
                 "--recipe", "none", "--reproducible", "--resume", "auto"]  # fmt: skip
        out = self.folder / "cv"
        for words, written in (
            (self.embed(cache), [cache / "features" / "given.features"]),
            (["dedup", cache, "--verify", "--name", "by"], [cache / "selections" / f"by.{end}" for end in ("selection", "csv", "groups")]),
            (folds, [out / f"out-of-fold.{ending}" for ending in ("csv", "npy", "json")]),
        ):
            begin = time.monotonic()
            self.ok(*words)
            whole = time.monotonic() - begin
            want = [path.read_bytes() for path in written]
            for path in written:
                path.unlink()
            shutil.rmtree(out, ignore_errors=True)
            kills = Kills(whole, moments(8, 4, self.random), 2)
            for seconds in kills:
                winnow = subprocess.Popen([WINNOW, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(seconds)
                winnow.kill()
                kills.tell(winnow.wait() == -signal.SIGKILL)
                # The file that vouches for the others is complete if it exists, and so are they.
                if written[-1].suffix == ".json" and written[-1].exists():
                    self.assertEqual([path.read_bytes() for path in written], want)
                for path, content in zip(written, want):
                    self.assertTrue(not path.exists() or path.suffix == ".json" or path.read_bytes() == content, path)
            self.ok("verify", cache)
            self.ok(*words)
            self.assertEqual([path.read_bytes() for path in written], want)

    def test_comparing_pictures_stops_on_a_signal_at_any_moment(self):
        cache = self.pictured(90) / "cache"
        command = [WINNOW, "dedup", str(cache), "--verify", "--name", "by"]
        begin = time.monotonic()
        self.ok(*command[1:])
        whole = time.monotonic() - begin
        before = tree(cache)
        stops = Kills(whole, moments(8, 4, self.random), 1)
        for seconds in stops:
            winnow = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.addCleanup(winnow.kill)
            eventually(lambda: catches(winnow.pid, signal.SIGTERM) or winnow.poll() is not None, "a handler")
            time.sleep(seconds)
            winnow.send_signal(signal.SIGTERM)
            self.assertIn(winnow.wait(timeout=PATIENCE_S), (0, 75))
            stops.tell(winnow.returncode == 75)
            self.assertTrue(tree(cache) == before)

    def test_features_and_lists_on_a_disk_that_is_really_full(self):
        place = self.pictured()
        whole = sum(map(len, tree(place / "cache").values())) >> 10
        done = self.in_a_namespace(
            """
            mount -t tmpfs -o size=${SIZE}k winnow /mnt
            cp -r "$CACHE" /mnt/cache && head -c 100m /dev/zero > /mnt/fill 2> /dev/null
            embed() { "$WINNOW" embed "$VECTORS" /mnt/cache --names "$NAMES" --name given; echo "exit $?"; }
            dedup() { "$WINNOW" dedup /mnt/cache --verify --name by; echo "exit $?"; }
            suspects() { "$WINNOW" suspects /mnt/cache --features given --outlier-score 1 --list /mnt/list.csv; echo "exit $?"; }
            embed; dedup
            ls /mnt/cache/features /mnt/cache/selections 2> /dev/null | grep -v : | grep . && exit 9
            rm /mnt/fill && embed && head -c 100m /dev/zero > /mnt/fill 2> /dev/null
            suspects; test -e /mnt/list.csv && exit 10
            rm /mnt/fill && dedup && suspects
            """,
            SIZE=whole + 400, CACHE=place / "cache", VECTORS=self.folder / "v.npy", NAMES=self.folder / "names",
        )  # fmt: skip
        self.assertEqual(done.stdout, "exit 1\nexit 1\nexit 0\nexit 1\nexit 0\nexit 0\n")
        for name in ("given.features", "by.csv", "list.csv"):
            self.assertRegex(done.stderr, rf"winnow: cannot [^\n]*/{name}[^\n]*o space left")

    # The order in which files become durable

    def test_an_ingest_is_durable_before_its_manifest_is_there(self):
        _, points = self.undisturbed()
        commits = r"work/cache/manifest\.json$"
        traces.Disk(points, commits).at_end()
        # The rules detect each sync that is left out.
        synced = {file for point, file in points if ".sync." in point}
        self.assertGreaterEqual(len(synced), 13)
        for file in synced:
            with self.assertRaises(traces.Lost, msg=file):
                traces.Disk(traces.without_syncs_of(points, file), commits).at_end()
        renamed = points.index(("file.rename.before", "work/cache/manifest.json"))
        sealed = points.index(("lmdb.sync.before", "work/cache/shards/00002.mdb"))
        with self.assertRaises(traces.Lost):  # the manifest is written too soon
            traces.Disk(points[:sealed] + points[renamed:] + points[sealed:renamed], commits)

    def test_a_dedup_is_durable_when_it_says_so(self):
        self.source = self.photos(6)
        place = self.place("dedup")
        self.ok(*self.ingest("--out", place / "cache"))
        points = self.trace(place, "dedup", place / "cache")
        traces.Disk(points, r"\.selection$").at_end()
        for file in {file for point, file in points if ".sync." in point}:
            with self.assertRaises(traces.Lost, msg=file):
                traces.Disk(traces.without_syncs_of(points, file), r"\.selection$").at_end()

    def test_a_checkpoint_is_durable_before_it_is_the_latest(self):
        self.learnable_idx(self.folder / "data", train=64, test=16)
        place = self.place("train")
        self.ok("ingest", self.folder / "data", "--out", place / "cache")
        points = self.trace(place, "train", place / "cache", "--out", place / "run", "--net", "lenet", "--epochs", 3,
                            "--batch-size", 32, "--checkpoint-hist", 1, "--log-interval", 1)  # fmt: skip
        # Steps continue, and are logged, while a checkpoint is written.
        rules = {"commits": r"checkpoints/(step-\d+|latest)$", "beside": r"metrics\.jsonl$"}
        traces.Disk(points, **rules).at_end()
        removed = [file for point, file in points if point == "dir.remove.after"]
        self.assertEqual(removed, [f"work/run/checkpoints/step-{n}" for n in (2, 4)])
        for name in ("checkpoints/step-4.part", "checkpoints/step-4.part/model.safetensors", "checkpoints", "metrics.jsonl"):
            with self.assertRaises(traces.Lost, msg=name):
                traces.Disk(traces.without_syncs_of(points, f"work/run/{name}"), **rules)
        # An older checkpoint is removed only when `latest` and the step that it names are durable.
        moved = points.index(("link.rename.after", "work/run/checkpoints/latest"))
        gone = points.index(("dir.remove.before", "work/run/checkpoints/step-2"))
        self.assertLess(moved, gone)

    # Disks that are really full

    def in_a_namespace(self, script, **variables):
        """Runs bash with mounts of its own."""
        if subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "winnow", "/mnt"], capture_output=True).returncode:
            self.skipTest("a small tmpfs cannot be mounted here")
        done = subprocess.run(
            ["unshare", "-rm", "bash", "-c", "set -u\n" + script],
            capture_output=True, text=True, timeout=300,
            env={**os.environ, "WINNOW": WINNOW, **{name: str(value) for name, value in variables.items()}},
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_a_disk_that_is_really_full(self):
        want, _ = self.undisturbed()
        whole = sum(map(len, want.values())) >> 10
        for kibibytes in (8, 64, whole // 3, 2 * whole // 3, whole - 8):
            done = self.in_a_namespace(
                """
                mount -t tmpfs -o size=${SIZE}k winnow /mnt
                "$WINNOW" ingest "$SOURCE" --out /mnt/cache --shard-size 3
                echo "exit $?"
                if [ -e /mnt/cache/manifest.json ]; then exit 9; fi
                mount -o remount,size=64m /mnt
                "$WINNOW" ingest "$SOURCE" --out /mnt/cache --shard-size 3 || exit 10
                cp -r /mnt/cache "$COPY"
                """,
                SIZE=kibibytes, SOURCE=self.source, COPY=self.folder / f"copy-{kibibytes}",
            )  # fmt: skip
            self.assertIn("exit 1\n", done.stdout)
            self.assertRegex(done.stderr, r"winnow: cannot [^\n]*/mnt/cache[^\n]*o space left")
            self.assertTrue(tree(self.folder / f"copy-{kibibytes}") == want)

    def png(self, path, side, colours):
        """A PNG of random bytes or of a single colour."""
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = b"".join(
            b"\0" + (self.random.randbytes(3 * side) if colours else bytes(3 * side)) for _ in range(side)
        )
        header = side.to_bytes(4, "big") * 2 + bytes([8, 2, 0, 0, 0])
        path.write_bytes(
            png(png_chunk(b"IHDR", header), png_chunk(b"IDAT", zlib.compress(rows)), png_chunk(b"IEND"))
        )

    def test_a_tmpfs_that_is_really_full(self):
        # To estimate the size, every second input is read. The others are far larger as pixels than as files.
        shutil.rmtree(self.folder)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="winnow-test-"))  # /dev/shm will be another one
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        source = self.folder / "photos"
        for i in range(96):
            self.png(source / f"{i:03}.png", side=200 if i % 2 else 16, colours=i % 2 == 0)
        ingest = '"$WINNOW" ingest "$SOURCE" --labels none --store raw'
        want = self.folder / "want"
        self.ok("ingest", source, "--labels", "none", "--store", "raw", "--out", want)
        done = self.in_a_namespace(
            f"""
            mount -t tmpfs -o size=64k winnow /dev/shm
            {ingest} --out "$CACHE" --memory
            echo "exit $?"
            if [ -e "$CACHE" ]; then exit 9; fi
            mount -o remount,size=2m /dev/shm
            {ingest} --out "$CACHE" --memory
            echo "exit $?"
            if [ -e "$CACHE/manifest.json" ]; then exit 9; fi
            mount -o remount,size=64m /dev/shm
            {ingest} --out "$CACHE" --memory || exit 10
            "$WINNOW" verify "$CACHE" || exit 11
            cp -rL "$CACHE" "$COPY"
            """,
            SOURCE=source, CACHE=self.folder / "cache", COPY=self.folder / "copy",
        )  # fmt: skip
        refused, full = errors_in(done.stderr)
        self.assertEqual(done.stdout, "exit 2\nexit 1\n")
        self.assertIn("of memory, but only", refused)
        self.assertRegex(full, r"cannot write .*shards/00000\.mdb: no space left")
        self.assertTrue(tree(self.folder / "copy") == tree(want))


if __name__ == "__main__":
    unittest.main(verbosity=2)
