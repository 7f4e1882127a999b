"""winnow ingest --retry-failed asks again for inputs that a finished cache could not read.

The result equals, byte for byte, a new ingest of the repaired files. Nothing else is read. Killed or out of space at
each point, the cache stays whole.
"""

import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import unittest

import traces
from faults_test import TAKES_SPACE, failpoints, first_and_last, in_parallel, needs_shm, some_faults, tree
from golden import with_digest, xxh3_128
from program import SHM, Case, run

LIBRARY = os.environ.get("WINNOW_FAULTY_STORAGE", "")
SIDE = 200


class Retry(Case):
    def setUp(self):
        super().setUp()
        self.use_tmpfs()

    def photo(self):
        return b"P6\n%d %d\n255\n" % (SIDE, SIDE) + self.random.randbytes(3 * SIDE * SIDE)

    def broken_photos(self, count=40):
        """(a folder with unreadable files, the contents that they should have). Nine photos fill a shard of 1 MiB."""
        self.source = self.folder / "photos"
        for i in range(count):
            split, label = "train" if i % 3 else "test", ("cat", "dog")[i % 2]
            path = self.source / split / label / f"{i:02}.ppm"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self.photo())
        files = sorted(self.source.rglob("*.ppm"))
        sound = {path: path.read_bytes() for path in files}
        cut, empty, other, always = files[2], files[11], files[25], files[30]
        cut.write_bytes(sound[cut][: 3 * SIDE * SIDE // 2])
        empty.write_bytes(b"")
        other.write_bytes(b"X" + sound[other][1:])  # the same size
        always.write_bytes(b"never a photo")
        (self.source / "train" / "cat" / "zebra.heic").write_bytes(b"\0\0\0\x18ftypheic" + bytes(50))
        del sound[always]
        return {path: sound[path] for path in (cut, empty, other)}

    def repair(self, whole):
        for path, content in whole.items():
            path.write_bytes(content)

    def ingest(self, cache, *more, source=None, **how):
        sources = [self.source] if source is None else source
        size = [] if "--shard-size" in more or "--retry-failed" in more else ["--shard-size", 1]
        return self.ok("ingest", *sources, *size, "--out", cache, "--json", *more, **how)

    def expect_same(self, cache, want, where=""):
        got = tree(cache)
        self.assertEqual(sorted(got), sorted(want), where)
        for name, content in want.items():
            self.assertTrue(got[name] == content, f"{where}: {name}")

    def anew(self, *more, source=None):
        cache = self.folder / "anew"
        shutil.rmtree(cache, ignore_errors=True)
        self.ingest(cache, *more, source=source)
        return tree(cache)

    def opened(self, *args):
        """The files of the source that a run opens."""
        log = self.folder / "strace"
        env = {"ASAN_OPTIONS": "detect_leaks=0", **os.environ}  # leaks cannot be detected under ptrace
        subprocess.run(["strace", "-f", "-e", "trace=openat", "-o", log, os.environ["WINNOW"], *map(str, args)],
                       check=True, capture_output=True, env=env)  # fmt: skip
        return {line.split('"')[1] for line in log.read_text().splitlines() if str(self.source) in line and ".ppm" in line}

    def test_is_what_ingesting_anew_gives(self):
        for more in ([], ["--store", "raw"], ["--store", "none"], ["--resize", 64],
                     ["--augment", "cifar", "--copies", 3, "--image-size", 32], ["--shard-size", 256]):
            with self.subTest(more=more):
                shutil.rmtree(self.folder / "photos", ignore_errors=True)
                whole = self.broken_photos()
                cache = self.folder / "cache"
                shutil.rmtree(cache, ignore_errors=True)
                before = self.ingest(cache, *more).json()
                self.assertEqual((before["inputs"], before["ok"]), (41, 36))
                for path, content in whole.items():  # one after another
                    path.write_bytes(content)
                    said = self.ok("ingest", self.source, "--out", cache, "--retry-failed", "--json").json()
                    self.assertEqual(said["recovered"], 1)
                    self.expect_same(cache, self.anew(*more), f"{more}, {path.name}")
                self.assertEqual((said["retried"], said["ok"]), (3, 39))
                self.ok("verify", cache)

    def test_all_at_once_on_any_threads_and_ranks(self):
        whole = self.broken_photos()
        before = self.folder / "before"
        self.ingest(before)
        self.repair(whole)
        want = self.anew()
        for ranks, threads in ((0, 1), (0, 8), (2, 1), (3, 2)):
            cache = self.folder / f"cache-{ranks}-{threads}"
            shutil.copytree(before, cache)
            said = self.ingest(cache, "--retry-failed", "--threads", threads, ranks=ranks).json()
            self.assertEqual((said["retried"], said["recovered"]), (5, 3))
            self.expect_same(cache, want, f"{ranks} ranks, {threads} threads")

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_nothing_else_is_read(self):
        whole = self.broken_photos()
        cache = self.folder / "cache"
        self.ingest(cache)
        failed = {str(path) for path in whole} | {str(sorted(self.source.rglob("*.ppm"))[30])}
        self.repair(whole)
        self.assertEqual(self.opened("ingest", self.source, "--out", cache, "--retry-failed"), failed)

    def test_shards_stay_where_nothing_changed(self):
        whole = self.broken_photos()
        cache = self.folder / "cache"
        self.ingest(cache)
        inodes = {path.name: path.stat().st_ino for path in (cache / "shards").iterdir()}
        # The same size: shards end where they did, and only its own shard is made again.
        path = list(whole)[2]
        path.write_bytes(whole[path])
        self.ingest(cache, "--retry-failed")
        after = {path.name: path.stat().st_ino for path in (cache / "shards").iterdir()}
        self.assertEqual(sorted(after), sorted(inodes))
        changed = [name for name in after if after[name] != inodes[name]]
        self.assertEqual(len(changed), 1)
        self.expect_same(cache, self.anew())

    def test_nothing_to_retry_and_still_unreadable(self):
        whole = self.broken_photos()
        cache = self.folder / "cache"
        first = self.ingest(cache)
        self.assertIn(f"--out {cache} --retry-failed reads only these", first.err)
        digest = first.json()["digest"]
        self.ok("dedup", cache)
        files = tree(cache)
        still = self.ingest(cache, "--retry-failed")
        self.assertEqual((still.json()["retried"], still.json()["recovered"]), (5, 0))
        self.assertEqual(still.json()["digest"], digest)
        self.assertIn("retried 5 unreadable inputs: 0 could be read now", still.err)
        self.expect_same(cache, files, "still unreadable")
        self.ok("export", cache, "--selection", "default", "--as", "list", "--to", self.folder / "kept.csv")
        # Once repaired, the cache is another one, and selections of the older one are recognised as such.
        self.repair(whole)
        self.assertNotEqual(self.ingest(cache, "--retry-failed").json()["digest"], digest)
        self.refused(2, ["made for another cache; make it again with winnow dedup"], "train", cache, "--selection",
                     "default", "--out", self.folder / "run")  # fmt: skip
        self.ok("dedup", cache)
        sound = self.folder / "sound"
        (self.source / "train" / "cat" / "zebra.heic").unlink()
        for path in self.source.rglob("*.ppm"):
            if path.read_bytes() == b"never a photo":
                path.unlink()
        digest = self.ingest(sound).json()["digest"]
        files = tree(sound)
        again = self.ingest(sound, "--retry-failed")
        self.assertIn("nothing to retry", again.err)
        self.assertEqual((again.json()["retried"], again.json()["recovered"], again.json()["digest"]), (0, 0, digest))
        self.expect_same(sound, files, "nothing to retry")

    def test_limits_that_were_raised(self):
        self.broken_photos()
        big = self.source / "train" / "dog" / "big.ppm"
        big.write_bytes(b"P6\n300 300\n255\n" + self.random.randbytes(3 * 300 * 300))
        cache = self.folder / "cache"
        self.assertEqual(self.ingest(cache, "--max-pixels", 50000).json()["classes"]["too_large"], 1)
        self.refused(2, ["made with other settings"], "ingest", self.source, "--out", cache, "--retry-failed",
                     "--max-pixels", 40000)  # fmt: skip
        self.assertEqual(self.ingest(cache, "--retry-failed", "--max-pixels", 100000).json()["recovered"], 1)
        self.expect_same(cache, self.anew("--max-pixels", 100000))

    def test_several_sources_some_of_them_retried(self):
        whole = self.broken_photos()
        first = self.source
        second = self.folder / "more"
        shutil.copytree(first, second)
        for path in second.rglob("*.ppm"):
            if len(path.read_bytes()) > SIDE * SIDE * 3:
                path.write_bytes(self.photo())
        cache = self.folder / "cache"
        self.ingest(cache, source=[first, second])
        self.repair(whole)
        broken = list(whole)[0]
        (second / broken.relative_to(first)).write_bytes(self.photo())
        said = self.ingest(cache, "--retry-failed", source=[second]).json()
        self.assertEqual((said["retried"], said["recovered"]), (4, 1))
        said = self.ingest(cache, "--retry-failed", source=[second, first]).json()
        self.assertEqual((said["retried"], said["recovered"]), (8, 3))
        self.expect_same(cache, self.anew(source=[first, second]))

    def test_a_missing_file_of_a_list_comes_back(self):
        whole = self.broken_photos()
        self.repair(whole)
        files = sorted(self.source.rglob("*.ppm"))
        table = self.source / "list.csv"
        table.write_text("path,label\n" + "".join(f"{path.relative_to(self.source)},{i % 2}\n" for i, path in enumerate(files)))
        content = files[5].read_bytes()
        files[5].unlink()
        cache = self.folder / "cache"
        self.assertEqual(self.ingest(cache, source=[table]).json()["classes"]["missing"], 1)
        files[5].write_bytes(content)
        self.assertEqual(self.ingest(cache, "--retry-failed", source=[table]).json()["recovered"], 1)
        self.expect_same(cache, self.anew(source=[table]))

    @unittest.skipUnless(LIBRARY, "this build has no faulty storage to preload")
    def test_storage_that_is_back(self):
        whole = self.broken_photos()
        self.repair(whole)
        cache = self.folder / "cache"
        bad = {"LD_PRELOAD": LIBRARY, "FAULTY_ROOT": str(self.source), "FAULTY_CALLS": "read=EIO/2!",
               "FAULTY_COUNTS": str(self.folder / "counts")}  # fmt: skip
        lost = self.ingest(cache, env=bad).json()["classes"]["unreadable"]
        self.assertGreater(lost, 5)
        before = tree(cache)
        self.assertEqual(self.ingest(cache, "--retry-failed", env=bad).json()["recovered"], 0)
        self.expect_same(cache, before, "still out of order")
        self.assertEqual(self.ingest(cache, "--retry-failed").json()["ok"], 39)
        self.expect_same(cache, self.anew())

    @needs_shm
    def test_a_cache_in_memory(self):
        whole = self.broken_photos()
        cache = self.folder / "cache"
        self.ingest(cache, "--memory")
        shards = (cache / "shards").resolve()
        self.assertEqual(shards.parent, SHM)
        self.repair(whole)
        self.ingest(cache, "--retry-failed")
        self.assertEqual((cache / "shards").resolve(), shards)
        self.expect_same(cache, self.anew())
        self.ok("cache", "drop", cache)
        self.assertFalse(shards.exists())

    def test_what_cannot_be_retried(self):
        whole = self.broken_photos()
        cache = self.folder / "cache"
        self.ingest(cache)
        before = tree(cache)
        retry = ["--out", cache, "--retry-failed"]
        self.refused(2, ["there is no cache at"], "ingest", self.source, "--out", self.folder / "none", "--retry-failed")
        self.refused(2, ["--out CACHE", "--into CACHE"], "ingest", self.source, "--retry-failed")
        for more in (["--drop"], ["--estimate"]):
            self.refused(2, ["--retry-failed needs --out CACHE, a finished cache"], "ingest", self.source, *retry, *more)
        self.refused(2, ["made with other settings"], "ingest", self.source, *retry, "--hash", "dhash")
        other = self.folder / "other"
        shutil.copytree(self.source, other)
        self.refused(2, ["no source called 'other'", "'photos'"], "ingest", other, *retry)
        self.refused(2, ["'photos' is not the source", "same flags as then"], "ingest", self.source, *retry,
                     "--labels", "none")  # fmt: skip
        # A file that was readable has another size or is gone; a file is new.
        sound = next(path for path in sorted(self.source.rglob("*.ppm")) if path not in whole)
        content = sound.read_bytes()
        sound.write_bytes(content + b"!")
        self.refused(2, ["'photos' is not the source"], "ingest", self.source, *retry)
        sound.unlink()
        self.refused(2, ["had 41 inputs and now has 40"], "ingest", self.source, *retry)
        sound.write_bytes(content)
        (self.source / "train" / "cat" / "new.ppm").write_bytes(content)
        self.refused(2, ["had 41 inputs and now has 42"], "ingest", self.source, *retry)
        (self.source / "train" / "cat" / "new.ppm").unlink()
        self.expect_same(cache, before, "refused")
        self.refused(2, ["--retry-failed"], "ingest", self.source, "--out", cache)
        self.ok("ingest", self.source, *retry)
        # Nobody knows which duplicates there would be.
        dropped = self.folder / "dropped"
        self.ingest(dropped, "--drop")
        self.refused(2, ["was made without duplicates", "compact"], "ingest", self.source, "--out", dropped, "--retry-failed")

    def test_a_cache_of_before_sizes_were_booked(self):
        whole = self.broken_photos()
        cache = self.folder / "cache"
        self.ingest(cache)
        rows = [json.loads(line) for line in (cache / "ledger.jsonl").read_text().splitlines()]
        self.assertEqual(sum("bytes" in row for row in rows), 5)
        ledger = "".join(re.sub(r',"bytes":\d+', "", line + "\n") for line in (cache / "ledger.jsonl").read_text().splitlines())
        (cache / "ledger.jsonl").write_text(ledger)
        manifest = json.loads((cache / "manifest.json").read_text())
        (cache / "manifest.json").write_text(with_digest({**manifest, "ledger_hash": xxh3_128(ledger.encode())}))
        self.ok("verify", cache)
        path = list(whole)[2]
        path.write_bytes(whole[path])  # the same size
        self.assertEqual(self.ingest(cache, "--retry-failed").json()["recovered"], 1)
        self.expect_same(cache, self.anew())

    # Faults

    def command(self, cache):
        return ["ingest", self.source, "--threads", 1, "--readers", 1, "--out", cache, "--retry-failed"]

    def disturbed(self, action, chosen, most):
        whole = self.broken_photos()
        base = self.folder / "base" / "cache"
        digests = [self.ingest(base).json()["digest"]]
        self.repair(whole)
        place = self.folder / "trace" / "cache"
        shutil.copytree(base, place)
        path = self.folder / "points"
        self.ok(*self.command(place), env={"WINNOW_FAILPOINTS": f"trace={path}"})
        want = self.anew()
        self.expect_same(place, want, "undisturbed")
        digests.append(self.ok("verify", place, "--json").json()["digest"])
        prefix = str(place.parent) + "/"
        points = [(point, file.removeprefix(prefix)) for point, file in traces.read(path)]
        traces.Disk(points, r"cache/manifest\.json$").at_end()
        numbers = itertools.count()

        def disturb(point, file, k):
            where = f"{action} at {point} {file}, time {k}"
            cache = self.folder / f"{action}-{next(numbers)}" / "cache"
            shutil.copytree(base, cache)
            ended = run(*self.command(cache), env=failpoints(action, point, file, k))
            self.assertEqual(ended.code, -signal.SIGKILL if action == "kill" else 1, f"{where}: {ended.err}")
            # A whole cache at every moment: the old one or the new one.
            digest = self.ok("verify", cache, "--json").json()["digest"]
            self.assertIn(digest, digests, where)
            self.ok("info", cache)
            self.ok(*self.command(cache))
            self.expect_same(cache, want, where)
            shutil.rmtree(cache.parent)
            return digests.index(digest)

        chosen = chosen(points)
        self.assertGreater(len(chosen), 40)
        ends = in_parallel(disturb, some_faults(f"points of retrying, {action} at", chosen, most))
        self.assertEqual(set(ends), {0, 1})

    def test_killed_at_every_point(self):
        self.disturbed("kill", first_and_last, 20)

    def test_with_a_disk_full_at_every_point(self):
        def that_take_space(points):
            before = [(point, file) for point, file in points if point.endswith(".before")]
            return [key for key in first_and_last(before) if key[0].removesuffix(".before") in TAKES_SPACE]

        self.disturbed("enospc", that_take_space, 12)


if __name__ == "__main__":
    unittest.main(verbosity=2)
