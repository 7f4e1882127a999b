"""Several sources in one cache, at once or one after another, on any number of ranks and threads: the same bytes. Also
adding to a cache, killed or out of space at any point.
"""

import itertools
import shutil
import signal
import unittest

import traces
from faults_test import TAKES_SPACE, failpoints, first_and_last, in_parallel, needs_shm, some_faults, tree
from program import SHM, Case, run


class Sources(Case):
    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        self.sources = [
            self.photos("one", ["cat", "dog"], 14),
            self.photos("two", ["ant", "cat"], 20),
            self.photos("three", [""], 9),
        ]

    def photos(self, name, classes, count, side=200):
        root = self.folder / name
        for i in range(count):
            folder = root / ("train" if i % 3 else "test") / classes[i % len(classes)]
            self.write_ppm(folder / f"{i:02}.ppm", self.random.randbytes(3 * side * side), side)
        (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff nothing")
        return root

    def ingest(self, sources, *more, **how):
        return self.ok("ingest", *sources, "--shard-size", 1, "--json", *more, **how).json()

    def whole(self):
        """The files of a cache of all sources, made at once."""
        self.ingest(self.sources, "--out", self.folder / "want")
        return tree(self.folder / "want")

    def expect_same(self, cache, want, where):
        got = tree(cache)
        self.assertEqual(sorted(got), sorted(want), where)
        for name, content in want.items():
            self.assertTrue(got[name] == content, f"{where}: {name}")

    def test_one_after_another_gives_what_all_at_once_gives(self):
        want = self.whole()
        self.assertGreater(sum(name.endswith(".mdb") for name in want), 4)
        cache = self.folder / "cache"
        self.ingest(self.sources[:1], "--out", cache)
        sealed = {name: content for name, content in tree(cache).items() if name.endswith(".mdb")}
        self.ingest(self.sources[1:2], "--into", cache)
        added = self.ingest(self.sources[1:], "--into", cache)
        self.assertEqual(added["inputs"], 46)
        self.expect_same(cache, want, "added")
        for name, content in sealed.items():
            self.assertTrue(want[name] == content, name)
        again = self.ok("ingest", *self.sources, "--into", cache)
        self.assertIn("3 sources are already in the cache", again.err)
        self.expect_same(cache, want, "added again")
        self.ok("verify", cache)
        self.assertEqual(self.ok("info", cache, "--json").json()["manifest"]["classes"], ["cat", "dog", "ant"])

    @needs_shm
    def test_a_cache_in_memory_gets_more_there(self):
        want = self.whole()
        cache = self.folder / "cache"
        self.ingest(self.sources[:1], "--out", cache, "--memory")
        self.ingest(self.sources[1:], "--into", cache)
        shards = (cache / "shards").resolve()
        self.assertEqual(shards.parent, SHM)
        self.expect_same(cache, want, "in memory")
        self.ok("cache", "drop", cache)
        self.assertFalse(shards.exists())

    def test_ranks_and_threads_change_nothing(self):
        want = self.whole()
        for ranks, threads in [(1, 8), (2, 1), (4, 2)]:
            where = f"{ranks} ranks, {threads} threads"
            cache = self.folder / f"cache-{ranks}"
            at_once = ["--out", cache, "--threads", threads]
            self.ingest(self.sources, *at_once, ranks=ranks)
            self.expect_same(cache, want, where)
            added = self.folder / f"added-{ranks}"
            self.ingest(self.sources[:2], "--out", added, ranks=ranks)
            self.ingest(self.sources[2:], "--into", added, ranks=ranks)
            self.expect_same(added, want, f"{where}, added")

    def test_ranks_that_were_killed_are_gone_on_with_by_any_number(self):
        want = self.whole()
        for before, after in [(2, 4), (4, 1), (1, 2)]:
            where = f"{before} ranks, then {after}"
            cache = self.folder / f"cache-{before}"
            command = ["ingest", *self.sources, "--shard-size", 1, "--out", cache]
            died = run(*command, ranks=before, env=failpoints("kill", "lmdb.commit.after", "00001.mdb", 1))
            self.assertNotEqual(died.code, 0, where)
            self.assertFalse((cache / "manifest.json").exists(), where)
            self.ok(*command, ranks=after)
            self.expect_same(cache, want, where)

    def add_command(self, cache):
        return ["ingest", *self.sources[1:], "--shard-size", 1, "--threads", 1, "--readers", 1, "--into", cache]

    def points_of_adding(self):
        """A cache of the first source, the one that results from adding the others, and the points that adding passes."""
        base = self.folder / "base" / "cache"
        self.ingest(self.sources[:1], "--out", base)
        place = self.folder / "trace" / "cache"
        shutil.copytree(base, place)
        path = self.folder / "points"
        self.ok(*self.add_command(place), env={"WINNOW_FAILPOINTS": f"trace={path}"})
        prefix = str(place.parent) + "/"
        points = [(point, file.removeprefix(prefix)) for point, file in traces.read(path)]
        self.assertGreater(len(points), 60)
        return base, tree(place), points

    def disturbed(self, action, name, chosen, most):
        base, want, points = self.points_of_adding()
        digests = [self.ok("verify", folder, "--json").json()["digest"]
                   for folder in (base, self.folder / "trace" / "cache")]  # fmt: skip
        numbers = itertools.count()

        def disturb(point, file, k):
            where = f"{action} at {point} {file}, time {k}"
            cache = self.folder / f"{name}-{next(numbers)}" / "cache"
            shutil.copytree(base, cache)
            ended = run(*self.add_command(cache), env=failpoints(action, point, file, k))
            self.assertEqual(ended.code, -signal.SIGKILL if action == "kill" else 1, f"{where}: {ended.err}")
            # A whole cache at every moment: the old one or the new one.
            self.assertIn(self.ok("verify", cache, "--json").json()["digest"], digests, where)
            self.ok(*self.add_command(cache))
            self.expect_same(cache, want, where)
            shutil.rmtree(cache.parent)

        chosen = chosen(points)
        self.assertGreater(len(chosen), 20)
        in_parallel(disturb, some_faults(f"points of adding to a cache, {action} at", chosen, most))

    def test_adding_killed_at_every_point(self):
        self.disturbed("kill", "kill", first_and_last, 20)

    def test_adding_with_a_disk_full_at_every_point(self):
        def that_take_space(points):
            before = [(point, file) for point, file in points if point.endswith(".before")]
            return [key for key in first_and_last(before) if key[0].removesuffix(".before") in TAKES_SPACE]

        self.disturbed("enospc", "full", that_take_space, 12)

    def test_what_cannot_be_added(self):
        cache = self.folder / "cache"
        self.ingest(self.sources[:1], "--out", cache)
        before = tree(cache)
        two = self.sources[1]
        self.refused(2, ["--out CACHE", "--into CACHE"], "ingest", two)
        self.refused(2, ["--out CACHE", "--into CACHE"], "ingest", two, "--out", self.folder / "x", "--into", cache)
        self.refused(2, ["made with other settings"], "ingest", two, "--into", cache, "--hash", "dhash")
        self.refused(2, ["there is no cache at"], "ingest", two, "--into", self.folder / "none")
        changed = self.folder / "else" / "one"
        shutil.copytree(self.sources[0], changed)
        (changed / "train" / "dog" / "more.ppm").write_bytes(b"P6 1 1 255 abc")
        self.refused(2, ["has a source called 'one' with other files"], "ingest", changed, "--into", cache)
        self.expect_same(cache, before, "refused")


if __name__ == "__main__":
    unittest.main()
