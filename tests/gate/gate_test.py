"""What the gate runs is chosen as choice.py says: nothing is forgotten, and a change runs what it can break."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import checkout
import choice
from choice import Test

PAGES = {"docs/dedup.md": "text\n```console\n$ winnow dedup photos\n```\n", "docs/index.md": "<!-- setup: winnow index add x -->\n",
         "README.md": "```console\n$ winnow --version\n$ winnow tune-lr cache\n```\n`winnow train` in a text is no example"}  # fmt: skip


def tests():
    fast = [Test(f"common.A.{i}", frozenset({"unit"}), 0.1) for i in range(50)]
    slow = [Test(f"end_to_end.b.{i}", frozenset({"end_to_end"}), 8.0 + i % 7) for i in range(40)]
    labelled = [Test("package.x", frozenset({"package"})), Test("cluster.x", frozenset({"cluster"})),
                Test("bench.evidence", frozenset({"end_to_end", "evidence"})), Test("mpi.x", frozenset({"mpi", "slow"}))]  # fmt: skip
    pages = [Test(f"docs.{name}", frozenset({"docs"}), 3.0) for name in ("dedup.md", "index.md", "README.md")]
    return fast + slow + labelled + pages + [Test("docs.site", frozenset({"docs", "lint"}), 9.0)]


class Choosing(unittest.TestCase):
    def test_costs_are_read(self):
        self.assertEqual(choice.read_costs("# a comment\n12.5 3.0 2 a.B c/1\n\n1.0 1.0 1 d\n"), {"a.B c/1": (12.5, 3.0), "d": (1.0, 1.0)})

    def test_twelve_gates_run_everything(self):
        always, rest = choice.choose(tests(), set(), "0")[0], []
        for digest in range(choice.PARTS):
            again, part, number = choice.choose(tests(), set(), f"{digest:x}")
            self.assertEqual((again, number), (always, digest + 1))
            rest += part
        self.assertEqual(sorted(test.name for test in always + rest), sorted(test.name for test in tests()))
        self.assertEqual({test.name for test in always}, {f"common.A.{i}" for i in range(50)} | {"docs.site"})

    def test_what_was_not_measured_counts_where_it_is_slow(self):
        self.assertEqual(choice.cost_of({"unit"}, None), 0)
        self.assertEqual(choice.cost_of({"unit"}, 0.2), 0.2)
        self.assertEqual(choice.cost_of({"package"}, None), choice.UNKNOWN_S)
        self.assertEqual(choice.cost_of({"package"}, 3.0), 3.0)

    def test_parts_cost_as_much_as_each_other(self):
        rest = [test for test in tests() if choice.is_of_the_rest(test, set())]
        costs = [sum(test.cost for test in part) for part in choice.parts_of(rest)]
        self.assertLess(max(costs) - min(costs), max(test.cost for test in rest))

    def test_a_long_digest_chooses(self):
        self.assertEqual(choice.choose(tests(), set(), "f" * 39 + "e")[2], 3)  # 16^40 - 2 has remainder 2

    def test_pages(self):
        for changed, run in ((set(), set()), ({"docs/dedup.md"}, {"docs/dedup.md"}), ({"tools/cmd_dedup.cpp"}, {"docs/dedup.md"}),
                             ({"tools/dedup_flags.h"}, {"docs/dedup.md"}), ({"tools/index_query.cpp", "train/x.cpp"}, {"docs/index.md"}),
                             ({"tools/cmd_tune_lr.cpp"}, {"README.md"}), ({"tools/cmd_train.cpp", "dedup/x.cpp"}, set()),
                             ({"README.md", "tools/cmd_index.cpp"}, {"README.md", "docs/index.md"})):  # fmt: skip
            self.assertEqual(choice.pages_to_run(PAGES, changed), run, changed)
        always, part, _ = choice.choose(tests(), {"docs/dedup.md"}, "0")
        self.assertIn("docs.dedup.md", [test.name for test in always])
        self.assertNotIn("docs.index.md", [test.name for test in always])

    def test_verbs_of_sources(self):
        verbs = {"train", "tune", "tune-lr", "report"}
        for path, verb in (("tools/cmd_tune_lr.cpp", "tune-lr"), ("app/tune/tune_page.cpp", "tune"), ("app/report/run_page.cpp", "report"),
                           ("tools/main.cpp", None), ("tools/run-tests", None), ("train/train.cpp", None), ("tools/trainer.cpp", None)):  # fmt: skip
            self.assertEqual(choice.verb_of(path, verbs), verb, path)

    def test_headers(self):
        headers = [f"common/{i}.h" for i in range(30)]
        first = choice.headers_to_compile(headers, {"common/3.h", "common/x.cpp"}, "0")
        self.assertIn("common/3.h", first)
        seen = set()
        for digest in range(12):
            seen |= set(choice.headers_to_compile(headers, set(), f"{digest:x}"))
        self.assertEqual(seen, set(headers))
        self.assertEqual(len(first), 1 + 3)


class Checkout(unittest.TestCase):
    """The base of a branch, and what changed since it, in a small repository."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="winnow-test-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.addCleanup(setattr, checkout, "ROOT", checkout.ROOT)
        checkout.ROOT = self.folder
        self.git("init", "-q", "-b", "main")

    def git(self, *words, day=1):
        date = f"2026-01-{day:02}T12:00:00Z"
        done = subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", self.folder, *words], capture_output=True, text=True,
                              env={"PATH": "/usr/bin:/bin", "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date})  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def commit(self, name, day):
        (self.folder / name).write_text(name)
        self.git("add", name)
        self.git("commit", "-q", "-m", name, day=day)
        return self.git("rev-parse", "HEAD")

    def test_a_branch_begins_where_it_left_main(self):
        self.commit("a", 1)
        left = self.commit("b", 5)
        self.git("switch", "-q", "-c", "work")
        self.commit("c", 5)
        (self.folder / "new").write_text("new")
        self.assertEqual(checkout.base(), left)
        self.assertEqual(checkout.changed(left), {"c", "new"})

    def test_on_main_the_last_day_counts(self):
        self.commit("a", 1)
        left = self.commit("b", 3)
        self.commit("c", 5)
        self.commit("d", 5)
        self.assertEqual(checkout.base(), left)
        self.assertEqual(checkout.changed(checkout.base()), {"c", "d"})

    def test_without_git_nothing_is_known(self):
        self.assertIsNone(checkout.base())
        self.assertEqual(checkout.changed(None), set())
        checkout.ROOT = self.folder / "none"
        self.assertEqual(checkout.digest(), "0")


class Running(unittest.TestCase):
    """tests/gate/run over a build of two tests."""

    def run_gate(self, *words, passes="true"):
        with tempfile.TemporaryDirectory(prefix="winnow-test-") as build:
            (pathlib.Path(build) / "CTestTestfile.cmake").write_text(f'add_test(common.A.b "true")\nadd_test(common.C.d "{passes}")\n')
            done = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("run"), build, *words],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip
        return done.returncode, done.stdout

    def test_without_words_for_ctest(self):
        for words in ((), ("--",), ("--spent", "build=59", "--")):
            code, said = self.run_gate(*words)
            self.assertEqual(code, 0, said)
            self.assertRegex(said.splitlines()[-1], r"^2 passed, 0 skipped, 0 failed of 2 tests and part \d+ of 12 of the rest, 0 of 0 in ")

    def test_words_for_ctest_choose(self):
        code, said = self.run_gate("--minutes", "5", "--", "-R", "common.A")
        self.assertEqual(code, 0, said)
        self.assertIn("1 passed, 0 skipped, 0 failed of chosen tests in ", said.splitlines()[-1])

    def test_all(self):
        self.assertIn("2 passed, 0 skipped, 0 failed of all tests", self.run_gate("--whole", "--")[1])

    def test_a_failure_is_the_exit_code(self):
        code, said = self.run_gate("--", passes="false")
        self.assertNotEqual(code, 0)
        self.assertIn("1 passed, 0 skipped, 1 failed of ", said.splitlines()[-1])

    def test_a_gate_that_takes_too_long_names_the_costliest_and_goes_on(self):
        code, said = self.run_gate("--minutes", "1", "--spent", "build=61", "--")
        self.assertEqual(code, 0, said)
        self.assertIn("minutes are over, and it goes on. These tests took longest:", said)
        self.assertRegex(said, r"The gate took \d+:\d\d and has 1 minutes")
        self.assertIn("2 passed", said.splitlines()[-1])
        self.assertIn("(build 1:01, tests ", said.splitlines()[-1])


class Folders(unittest.TestCase):
    """tests/common/test_folders.py, with a process in place of CTest."""

    @unittest.skipUnless(os.access("/dev/shm", os.W_OK), "a machine without /dev/shm")
    def test_nothing_is_left_when_ctest_ends(self):
        ctest = subprocess.Popen(["sleep", "infinity"])
        self.addCleanup(ctest.kill)
        script = pathlib.Path(checkout.ROOT) / "tests" / "common" / "test_folders.py"
        said = subprocess.run([sys.executable, "-B", script, str(ctest.pid)], stdout=subprocess.PIPE, text=True, check=True).stdout
        environment = dict(re.findall(r'set\(ENV\{(\w+)\} "(.+)"\)', said))
        files, memory = (pathlib.Path(environment[name]) for name in ("TMPDIR", "WINNOW_TEST_TMPFS"))
        self.assertEqual(environment["OMPI_MCA_btl_vader_backing_directory"], str(memory))
        shards, copy, others = (pathlib.Path("/dev/shm") / f"winnow-{os.geteuid()}-gate-{os.getpid()}-{i}" for i in range(3))
        for folder in (shards, copy, others, files / "cache"):
            folder.mkdir(parents=True)
            self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        (files / "cache" / "shards").symlink_to(shards)
        (copy / "copy.json").write_text(json.dumps({"cache": str(files / "other")}))
        (others / "copy.json").write_text(json.dumps({"cache": "/elsewhere"}))
        left = subprocess.Popen(["sleep", "infinity"], env=os.environ | environment)
        self.addCleanup(left.kill)
        ctest.kill()
        ctest.wait()
        self.assertEqual(left.wait(60), -signal.SIGKILL)
        for _ in range(6000):
            if not any(map(pathlib.Path.exists, (files, memory, shards, copy))):
                break
            time.sleep(0.01)
        self.assertEqual([path for path in (files, memory, shards, copy) if path.exists()], [])
        self.assertTrue(others.exists())


class Lines(unittest.TestCase):
    def test_what_ctest_prints_is_read(self):
        run = pathlib.Path(__file__).with_name("run").read_text()
        read = {"__name__": "run", "__doc__": ""}
        exec(compile(run, "run", "exec"), read)
        watched = read["Watched"]()
        for line in (" 1/10 Test  #12: common.A.B ........................   Passed    0.52 sec",
                     "10/10 Test #3: mpi.x.np2 ..............***Failed    1.00 sec", "3/10 Test #4: docs.a ...***Skipped   2.10 sec",
                     "4/10 Test #5: e.f ....***Timeout 300.01 sec", "5/10 Test #6: pipeline.All/X.Y/0 ...***Exception: SegFault  0.11 sec",
                     "    Start 7: other", "100% tests passed"):  # fmt: skip
            watched.read(line)
        self.assertEqual([watched.count(result) for result in ("passed", "skipped", "failed")], [1, 1, 3])
        self.assertEqual(watched.took["docs.a"], 2.1)
        self.assertTrue(watched.costliest().splitlines()[0].endswith("e.f"))


if __name__ == "__main__":
    unittest.main()
