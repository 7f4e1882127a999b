"""Storage that fails occasionally leaves no trace in an ingested cache. Inputs that it never delivers are recorded, and
asked for again by the next run.
"""

import csv
import json
import os
import pathlib
import signal
import tarfile
import unittest

from program import Case, run, tree_bytes

LIBRARY = os.environ.get("WINNOW_FAULTY_STORAGE", "")
PASSING = "open=ESTALE/3,read=EIO/3,list=ESTALE/2,stat=EIO/3"


@unittest.skipUnless(LIBRARY, "this build has no faulty storage to preload (a sanitizer must be the first library)")
class Storage(Case):
    def setUp(self):
        super().setUp()
        self.source = self.folder / "source"
        for i in range(60):
            split, name = ("train", "val", "test")[i % 3], ("ant", "bee", "cat", "dog")[i % 4]
            self.write_ppm(self.source / split / name / f"{i:02}.ppm", self.image(24, seed=i), 24)
        elsewhere = self.source / "elsewhere"  # reached only by links
        for i in range(10):
            self.write_ppm(elsewhere / "emu" / f"{i}.ppm", self.image(24, seed=100 + i), 24)
        (self.source / "train" / "emu").symlink_to(elsewhere / "emu")
        (self.source / "train" / "ant" / "link.ppm").symlink_to(elsewhere / "emu" / "3.ppm")

    def ingest(self, source, name, calls=None, code=0, env=None, more=()):
        """(the output of --json, {call: (calls, faults)}) of an ingest into `name`, on storage where `calls` fail."""
        counts = self.folder / f"{name}.counts"
        env = dict(env or {})
        if calls is not None:
            env |= {"LD_PRELOAD": LIBRARY, "FAULTY_ROOT": str(self.source), "FAULTY_CALLS": calls,
                    "FAULTY_COUNTS": str(counts)}  # fmt: skip
        result = run("ingest", source, "--out", self.folder / name, "--labels", "none", "--json", *more, env=env)
        self.assertEqual(result.code, code, result.err)
        seen = {}
        if counts.exists():
            for line in counts.read_text().splitlines():
                call, calls_seen, faults = line.split()
                seen[call] = (int(calls_seen), int(faults))
        return (result.json() if code == 0 else None), seen

    def leaves_no_trace(self, source, kinds):
        name = pathlib.Path(source).name.replace(".", "-")
        want, _ = self.ingest(source, f"want-{name}")
        got, seen = self.ingest(source, f"got-{name}", PASSING)
        for kind in kinds:
            self.assertGreater(seen[kind][1], 0, f"{kind} never failed: {seen}")
        self.assertEqual(want["classes"]["unreadable"], 0)
        self.assertEqual(got["digest"], want["digest"])
        self.assertEqual(tree_bytes(self.folder / f"got-{name}"), tree_bytes(self.folder / f"want-{name}"))

    def test_a_folder(self):
        self.leaves_no_trace(self.source, ("open", "read", "list", "stat"))

    def archive(self, name, mode):
        path = self.source / name
        with tarfile.open(path, mode) as tar:
            for file in sorted((self.source / "train").rglob("*.ppm")):
                tar.add(file.resolve(), arcname=str(file.relative_to(self.source)))
        return path

    def test_archives(self):
        faults = {"open": 0, "read": 0}
        for name in [f"{letter}.tar" for letter in "abcdef"] + [f"{letter}.tar.gz" for letter in "ghijkl"]:
            path = self.archive(name, "w:gz" if name.endswith("gz") else "w")
            stem = name.replace(".", "-")
            want, _ = self.ingest(path, f"want-{stem}")
            got, seen = self.ingest(path, f"got-{stem}", PASSING)
            self.assertEqual(got["digest"], want["digest"])
            for call in faults:
                faults[call] += seen[call][1]
        for call, count in faults.items():
            self.assertGreater(count, 0, call)

    def test_a_list(self):
        rows = [["path", "label"]]
        for i, file in enumerate(sorted((self.source / "train").rglob("*.ppm"))):
            rows.append([str(file.relative_to(self.source)), str(i % 3)])
        table = self.source / "list.csv"
        with table.open("w", newline="") as file:
            csv.writer(file).writerows(rows)
        self.leaves_no_trace(table, ("open", "read"))

    def unreadable(self, name):
        rows = [json.loads(line) for line in (self.folder / name / "ledger.jsonl").read_text().splitlines()]
        return {row["name"] for row in rows if row["class"] == "unreadable"}, len(rows)

    def test_what_never_comes_is_booked_and_redone(self):
        want, _ = self.ingest(self.source, "want")
        got, seen = self.ingest(self.source, "got", "read=EIO/5!")
        missing, inputs = self.unreadable("got")
        self.assertGreater(len(missing), 3)
        self.assertEqual(inputs, want["inputs"])
        self.assertEqual(sum(got["classes"].values()), want["inputs"])
        self.assertEqual(got["classes"]["unreadable"], len(missing))
        self.assertEqual(got["ok"], want["ok"] - len(missing))
        # The same faults give the same result.
        again, _ = self.ingest(self.source, "again", "read=EIO/5!")
        self.assertEqual(again["digest"], got["digest"])
        # If a run with such inputs was stopped, resuming it asks for them again.
        died = run("ingest", self.source, "--out", self.folder / "redone", "--labels", "none",
                   env={"LD_PRELOAD": LIBRARY, "FAULTY_ROOT": str(self.source), "FAULTY_CALLS": "read=EIO/5!",
                        "WINNOW_FAILPOINTS": "kill=file.rename.before:manifest.json:1"})  # fmt: skip
        self.assertEqual(died.code, -signal.SIGKILL, died.err)
        redone, _ = self.ingest(self.source, "redone")
        self.assertEqual(redone["digest"], want["digest"])
        self.assertEqual(tree_bytes(self.folder / "redone"), tree_bytes(self.folder / "want"))

    def test_a_folder_that_cannot_be_listed_is_named(self):
        result = run("ingest", self.source, "--out", self.folder / "none", "--labels", "none",
                     env={"LD_PRELOAD": LIBRARY, "FAULTY_ROOT": str(self.source), "FAULTY_CALLS": "list=EIO/1!"})
        self.assertEqual(result.code, 1, result.err)
        self.assertIn("cannot list", result.err)
        self.assertFalse((self.folder / "none").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
