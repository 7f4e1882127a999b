"""The GPU suite's script with stand-ins for its programs and for the clock: what is stopped when, and what is kept."""

import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import sys
import tempfile
import time
import unittest
from contextlib import redirect_stdout
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import parts  # noqa: E402
import sanitizer  # noqa: E402
import turns  # noqa: E402

LOADER = importlib.machinery.SourceFileLoader("gpu_run", str(HERE / "run"))
run = importlib.util.module_from_spec(importlib.util.spec_from_loader(LOADER.name, LOADER))
sys.dont_write_bytecode = True
LOADER.exec_module(run)

NO_LIMIT = parts.Limit(None)


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Folder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="winnow-test-")
        self.addCleanup(holder.cleanup)
        self.out = pathlib.Path(holder.name)

    def program(self, text, name="program"):
        """A stand-in: a Python script."""
        path = self.out / name
        path.write_text(f"#!{sys.executable}\nimport json, os, pathlib, sys, time\nout = pathlib.Path({str(self.out)!r})\n{text}")
        path.chmod(0o755)
        return path

    def quietly(self, function, *arguments):
        said = io.StringIO()
        with redirect_stdout(said):
            function(*arguments)
        return said.getvalue()

    def kept(self, stage):
        return json.loads((self.out / f"{stage}.json").read_text())


class Minutes(Folder):
    def test_parts_have_what_the_help_says(self):
        stages = list(parts.MINUTES)
        left, taken = 9 * 60, {}
        for stage in stages:
            taken[stage] = parts.share(stage, stages, left)
            left -= taken[stage]
        self.assertEqual({stage: round(seconds, 6) for stage, seconds in taken.items()},
                         {"sanitize": 90, "conformance": 120, "bench": 210, "cache": 90, "train": 30})  # fmt: skip

    def test_what_one_leaves_is_for_those_behind_and_never_for_more_than_there_is(self):
        stages = list(parts.MINUTES)
        self.assertEqual(parts.share("bench", stages, 540), 540 * 3.5 / 5.5)
        self.assertEqual(parts.share("train", stages, 77), 77)
        self.assertEqual(parts.share("cache", stages, -3), 0)
        self.assertIsNone(parts.share("cache", stages, None))

    def test_limits(self):
        clock = Clock()
        limit = parts.Limit(60, clock)
        self.assertEqual(limit.part(3).left(), 20)
        clock.now = 45
        self.assertEqual((limit.left(), limit.is_over(), limit.part(3).left()), (15, False, 5))
        clock.now = 60
        self.assertEqual((limit.left(), limit.is_over(), limit.part(1).is_over()), (0, True, True))
        self.assertEqual((NO_LIMIT.left(), NO_LIMIT.is_over(), NO_LIMIT.part(2).left()), (None, False, None))

    def test_all_takes_nine_minutes_and_one_stage_as_long_as_it_takes(self):
        self.assertEqual(run.parse(["--stage", "all"]).minutes, 9)
        self.assertEqual(run.parse(["--stage", "all", "--minutes", "0"]).minutes, 0)
        self.assertEqual(run.parse(["--stage", "bench"]).minutes, 0)

    def test_one_that_goes_on_is_stopped_with_what_it_started_and_what_it_wrote_stays(self):
        program = self.program(
            "if os.fork() == 0:\n    (out / 'child').write_text(str(os.getpid()))\n    time.sleep(1000)\n"
            "while not (out / 'child').exists(): time.sleep(0.01)\nprint('said', flush=True)\n(out / 'kept').touch()\ntime.sleep(1000)\n")
        # The time is over as soon as there is something to keep.
        limit = parts.Limit(1, lambda: 2 if (self.out / "kept").exists() else 0)
        self.assertEqual(parts.call([program], self.out / "log", limit), parts.STOPPED)
        self.assertEqual((self.out / "log").read_text(), "said\n")
        while self.is_alive((self.out / "child").read_text()):  # killed ones take a moment
            time.sleep(0.01)
        self.assertFalse(self.is_alive((self.out / "child").read_text()))

    @staticmethod
    def is_alive(process):
        try:
            return (pathlib.Path("/proc") / process / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except (FileNotFoundError, ProcessLookupError):
            return False

    def test_one_that_ends_is_not_stopped(self):
        self.assertEqual(parts.call([self.program("print('well')")], self.out / "log", NO_LIMIT), parts.PASSED)
        self.assertEqual(parts.call([self.program("sys.exit(3)")], self.out / "log", NO_LIMIT), parts.FAILED)

    def test_nothing_begins_when_the_time_is_over(self):
        state = parts.call([self.program("(out / 'began').touch()")], self.out / "log", parts.Limit(0, Clock()))
        self.assertEqual(state, parts.STOPPED)
        self.assertFalse((self.out / "began").exists())


class Summary(Folder):
    def test_says_what_was_kept(self):
        report = parts.Report(self.out, "sanitize", {"commit": "abc"})
        self.quietly(report.add, "own kernels: memcheck", parts.PASSED)
        self.quietly(report.add, "own kernels: racecheck", parts.STOPPED)
        report.finish()
        self.assertEqual(parts.summary(self.out, ["sanitize"]), (["sanitize: 1 passed, 0 failed; stopped before the end"], True))
        self.quietly(report.add, "own kernels: initcheck", parts.FAILED)
        lines, good = parts.summary(self.out, ["sanitize", "bench"])
        self.assertFalse(good)
        self.assertEqual(lines[1], "bench: nothing was kept")
        self.assertFalse(parts.summary(self.out, ["bench"])[1])

    def test_what_is_left_out_says_why(self):
        report = parts.Report(self.out, "cache", {})
        self.quietly(lambda: report.add("cache", parts.LEFT_OUT, note="not here: winnow"))
        report.finish()
        self.assertEqual(parts.summary(self.out, ["cache"]), (["cache: 0 passed, 0 failed; left out cache: not here: winnow"], True))


# As compute-sanitizer 2025 and older releases say it.
LOG = """
========= COMPUTE-SANITIZER
passed   bf16 operations
========= Uninitialized __global__ memory read of size 4 bytes
=========     at void winnow::train::cudnn::kernels::<unnamed>::execute<winnow::train::cudnn::kernels::ChannelSumsKernel<float, 4>>(T1, long)+0x170
=========     by thread (31,0,0) in block (1,0,0)
=========     Address 0x7f3c7ec000fc
=========
========= Uninitialized __global__ memory read of size 4 bytes
=========     at void cutlass::Kernel2<sm80_xmma_wgrad<(int)1>>(T1::Params)+0x60
=========     by thread (0,0,0) in block (0,0,0)
=========
========= Uninitialized __global__ memory read of size 4 bytes
=========     at 0x150 in void cutlass::Kernel2<sm80_xmma_wgrad<(int)1>>(T1::Params)
=========     by thread (1,0,0) in block (0,0,0)
========= Uninitialized __global__ memory read of size 1 bytes
=========     at ThreadLoad<const unsigned char *>(T2)+0x8a70 in /usr/include/cub/thread_load.cuh:260
=========     Device Frame:void cub::Iterate<(int)0>(T1)+0x90
=========     Device Frame:void cub::DeviceReduceKernel<Policy>(T1, T2)+0x90
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: main [0x1]
========= Host API memory access error at host access to 0x7f7fcdc01200 of size 400 bytes
=========     Uninitialized access at 0x7f7fcdc01300 on access by cudaMemcpy source
=========     Saved host backtrace up to driver entry point at error
========= ERROR SUMMARY: 5 errors
"""

RACES = """
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at void winnow::train::cudnn::kernels::(anonymous namespace)::execute<winnow::train::cudnn::kernels::SoftmaxKernel<float>>(T1, long)+0x430
=========     and Read access at void winnow::train::cudnn::kernels::(anonymous namespace)::execute<winnow::train::cudnn::kernels::SoftmaxKernel<float>>(T1, long)+0x770 [248 hazards]
=========
========= Warning: Race reported between Read access at implicit_convolve_sgemm(float *)+0xd0 in probe.cu:13
=========     and Write access at implicit_convolve_sgemm(float *)+0xd0 [16 hazards]
=========
========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)
"""  # fmt: skip


class Sanitizer(Folder):
    def test_counts_reports_by_kernel_own_ones_first(self):
        self.assertEqual(sanitizer.counts(LOG), [
            {"kernel": "ChannelSumsKernel", "own": True, "reports": 1},
            {"kernel": "cutlass::Kernel2<sm80_xmma_wgrad<(int)1>>", "own": False, "reports": 2},
            {"kernel": "cub::DeviceReduceKernel<Policy>", "own": False, "reports": 1},
            {"kernel": "host: cudaMemcpy source", "own": False, "reports": 1}])  # fmt: skip

    def test_counts_races(self):
        self.assertEqual(sanitizer.counts(RACES), [{"kernel": "SoftmaxKernel", "own": True, "reports": 1},
                                                   {"kernel": "implicit_convolve_sgemm", "own": False, "reports": 1}])  # fmt: skip

    def test_nothing_found_is_nothing(self):
        self.assertEqual(sanitizer.counts("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"), [])

    def test_a_program_that_dies_is_a_report(self):
        log = '========= Program hit cudaErrorLaunchFailure (error 719) due to "unspecified launch failure" on CUDA API call to cudaFree.\n'
        self.assertEqual(sum(row["reports"] for row in sanitizer.counts(log)), 1)

    def sanitize(self, stage):
        """The stage with a checker that finds races in libraries' kernels, of which it says what it was called for."""
        self.program("import shutil\nwords = sys.argv\nopen(out / 'called', 'a').write(f'{words[2]} {words[8]}\\n')\n"
                     f"race = words[2] == 'racecheck' and words[8] == 'operations'\nprint({RACES!r} if race else '')\n"
                     "sys.exit(9 if race else 0)\n", "compute-sanitizer")  # fmt: skip
        o = run.parse(["--stage", stage, "--out", str(self.out)])
        with mock.patch.dict(os.environ, {"PATH": f"{self.out}:{os.environ['PATH']}"}):
            self.quietly(run.Suite(o, "suite").sanitize, NO_LIMIT)
        return self.kept("sanitize")

    def test_own_kernels_come_first_and_the_json_has_the_counts(self):
        kept = self.sanitize("sanitize")
        self.assertEqual((self.out / "called").read_text().split("\n")[:4],
                         ["memcheck own-operations", "racecheck own-operations", "initcheck own-operations", "memcheck operations"])  # fmt: skip
        self.assertEqual([item["name"] for item in kept["items"]][2:5],
                         ["own kernels: initcheck", "all kernels: memcheck", "all kernels: racecheck"])  # fmt: skip
        self.assertEqual((kept["items"][4]["state"], kept["items"][4]["reports"]), ("failed", 2))
        self.assertEqual(kept["items"][4]["kernels"][0], {"kernel": "SoftmaxKernel", "own": True, "reports": 1})
        self.assertEqual((kept["passed"], kept["failed"], kept["finished"]), (5, 1, True))

    def test_in_all_only_own_kernels_have_time(self):
        self.assertEqual([item["name"] for item in self.sanitize("all")["items"]], [f"own kernels: {tool}" for tool in run.TOOLS])

    def test_without_the_checker_it_says_so(self):
        o = run.parse(["--stage", "sanitize", "--out", str(self.out)])
        with mock.patch.object(run.shutil, "which", lambda name: None):
            self.quietly(run.Suite(o, "suite").sanitize, NO_LIMIT)
        self.assertEqual(self.kept("sanitize")["items"][0]["state"], "left out")


ANSWERS = """
name, rates = sys.argv[1], json.loads(sys.argv[2])
print(json.dumps({"facts": {"name": name}}), flush=True)
for line in sys.stdin:
    with (out / "asked").open("a") as asked:
        asked.write(f"{name} {line}")
    rate = rates.pop(0)
    if rate == "never":
        (out / "waits").touch()
        time.sleep(1000)
    print(json.dumps({"error": rate} if isinstance(rate, str) else {"images_per_second": rate, "step_ms": 1000 / rate}), flush=True)
"""
CASES = (turns.Case("resnet50", 224, 1000, 256, "bf16", compiled=True), turns.Case("resnet20", 32, 10, 1024, "f32"))


class Turns(Folder):
    def bench(self, limit=NO_LIMIT, **rates):
        """The report of two cases by stand-ins that answer with these rates."""
        report = parts.Report(self.out, "bench", {"commit": "abc"})
        contestants = {}
        for name, given in rates.items():
            contestants[name] = turns.Contestant([self.program(ANSWERS), name, json.dumps(given)], self.out / "log")
            self.addCleanup(contestants[name].close)
        self.quietly(turns.bench, CASES, contestants, report, limit)
        report.finish()
        return self.kept("bench")

    def test_takes_turns_in_both_orders_and_gives_ranges(self):
        kept = self.bench(winnow=[100, 110, 90, 50, 50, 50], eager=[100, 100, 100, 100, 100, 100], compiled=[200, 200, 200])
        first, second = kept["items"]
        self.assertEqual(first["winnow"]["images_per_second"], {"median": 100, "least": 90, "most": 110, "turns": [100, 110, 90]})
        self.assertEqual(first["times_eager"], {"median": 1.0, "least": 0.9, "most": 1.1, "turns": [1.0, 1.1, 0.9]})
        self.assertEqual(first["times_compiled"]["median"], 0.5)
        self.assertEqual(second["times_eager"]["median"], 0.5)
        self.assertNotIn("times_compiled", second)
        asked = [line.split()[0] for line in (self.out / "asked").read_text().splitlines()]
        self.assertEqual(asked[:9], ["winnow", "eager", "compiled", "compiled", "eager", "winnow", "winnow", "eager", "compiled"])
        self.assertEqual(kept["facts"], {"commit": "abc", **{name: {"name": name} for name in ("winnow", "eager", "compiled")}})
        self.assertEqual((kept["passed"], kept["finished"]), (2, True))

    def test_warms_up_for_long_but_once(self):
        self.bench(winnow=[100] * 6)
        self.assertEqual((self.out / "asked").read_text().splitlines()[:2],
                         ["winnow resnet50 224 1000 256 bf16 10 30", "winnow resnet50 224 1000 256 bf16 3 30"])  # fmt: skip

    def test_keeps_the_turns_it_had_when_the_time_is_over(self):
        limit = parts.Limit(1, lambda: 2 if (self.out / "waits").exists() else 0)
        kept = self.bench(limit, winnow=[100, 110, "never"], eager=[100, 100])
        first, second = kept["items"]
        self.assertEqual((first["state"], first["winnow"]["images_per_second"]["turns"]), ("stopped", [100, 110]))
        self.assertEqual((second["state"], second["winnow"]), ("stopped", {"error": "not measured"}))
        self.assertFalse(kept["finished"])

    def test_an_error_of_a_peer_is_told_and_one_of_ours_is_a_failure(self):
        kept = self.bench(winnow=[100, 100, 100, "full", "full", "full"], eager=["no torchvision"] * 3 + [100] * 3)
        first, second = kept["items"]
        self.assertEqual((first["state"], first["eager"]), ("passed", {"error": "no torchvision"}))
        self.assertEqual((second["state"], second["winnow"]), ("failed", {"error": "full"}))

    def test_one_that_dies_is_told(self):
        report = parts.Report(self.out, "bench", {})
        contestant = turns.Contestant([self.program("sys.exit('no card')")], self.out / "log")
        self.addCleanup(contestant.close)
        self.quietly(turns.bench, CASES[:1], {"winnow": contestant}, report, NO_LIMIT)
        self.assertEqual((self.kept("bench")["items"][0]["state"], (self.out / "log").read_text()), ("failed", "no card\n"))


WINNOW = """
verb, to = sys.argv[1], pathlib.Path(sys.argv[sys.argv.index("--out") + 1])
to.mkdir(parents=True)
if verb == "train":
    for step, content in json.loads(os.environ["CONTENT"])[to.name].items():
        folder = to / "checkpoints" / f"step-{step}"
        folder.mkdir(parents=True)
        (folder / "model.safetensors").write_text(content)
    (to / "checkpoints" / "latest").symlink_to(f"step-{step}")
    if step == "stuck":
        (out / "waits").touch()
        time.sleep(1000)
"""


class FromACache(Folder):
    def train(self, first, second, limit=NO_LIMIT):
        report = parts.Report(self.out, "cache", {})
        with mock.patch.dict(os.environ, {"CONTENT": json.dumps({"run-1": first, "run-2": second})}):
            self.quietly(parts.train_twice, [self.program(WINNOW)], self.out, report, self.out, limit)
        report.finish()
        return self.kept("cache")

    def test_the_same_bits_pass_and_digests_are_kept(self):
        kept = self.train({"10": "a", "20": "b"}, {"10": "a", "20": "b"})
        self.assertEqual((kept["items"][-1]["state"], kept["items"][-1]["compared"]), ("passed", 2))
        self.assertEqual(kept["items"][0]["checkpoints"], kept["items"][1]["checkpoints"])
        self.assertEqual(sorted(kept["items"][0]["checkpoints"]), ["step-10/model.safetensors", "step-20/model.safetensors"])

    def test_other_bits_fail_and_are_named(self):
        kept = self.train({"10": "a", "20": "b"}, {"10": "a", "20": "c"})
        self.assertEqual((kept["items"][-1]["state"], kept["items"][-1]["different"]), ("failed", ["step-20/model.safetensors"]))

    def test_what_was_stopped_is_compared_as_far_as_it_came(self):
        limit = parts.Limit(1, lambda: 2 if (self.out / "waits").exists() else 0)
        kept = self.train({"10": "a", "20": "b"}, {"10": "a", "stuck": ""}, limit)
        self.assertEqual([item["state"] for item in kept["items"]], ["passed", "stopped", "stopped"])
        self.assertEqual((kept["items"][-1]["compared"], kept["finished"]), (1, False))

    def test_without_the_program_it_is_left_out(self):
        o = run.parse(["--stage", "cache", "--out", str(self.out), "--winnow", str(self.out / "none")])
        self.quietly(run.Suite(o, "suite").cache, NO_LIMIT)
        self.assertEqual(self.kept("cache")["items"], [{"name": "cache", "state": "left out", "note": "not here: winnow and images"}])


class Whole(Folder):
    def test_stages_of_the_program_keep_their_own_json(self):
        program = self.program("(out / 'conformance.json').write_text(json.dumps({'passed': 3, 'failed': 0, 'finished': False, 'items': []}))\n"
                               "print('passed   f32 operations')\nsys.exit(1)\n")  # fmt: skip
        with mock.patch.object(sys, "argv", ["run", "--stage", "conformance", "--suite", str(program), "--out", str(self.out)]):
            said = self.quietly(lambda: self.assertEqual(run.main(), 0))
        self.assertIn("passed   f32 operations\n", said)
        self.assertIn("conformance: 3 passed, 0 failed; stopped before the end", said)

    def test_only_the_programs_see_where_their_libraries_are(self):
        program = self.program("(out / 'seen').write_text(os.environ.get('LD_LIBRARY_PATH', 'none'))\n")
        words = ["run", "--stage", "train", "--suite", str(program), "--out", str(self.out), "--library-path", "/a:/b"]
        with mock.patch.object(sys, "argv", words):
            self.quietly(run.main)
        self.assertEqual((self.out / "seen").read_text(), "/a:/b")
        self.assertNotEqual(os.environ.get("LD_LIBRARY_PATH"), "/a:/b")

    def test_figures_of_changes_that_are_not_committed_are_for_no_page(self):
        for commit, told in (("59b1c840166d-dirty", True), ("unknown", True), ("59b1c840166d", False)):
            with mock.patch.object(run, "commit", lambda commit=commit: commit), \
                    mock.patch.object(sys, "argv", ["run", "--stage", "cache", "--suite", sys.executable, "--out", str(self.out)]):  # fmt: skip
                self.assertEqual("is for a page" in self.quietly(run.main), told, commit)

    def test_an_old_json_is_not_taken_for_a_new_one(self):
        (self.out / "train.json").write_text(json.dumps({"passed": 3, "failed": 0, "finished": True, "items": []}))
        program = self.program("sys.exit('no NVIDIA card')")
        with mock.patch.object(sys, "argv", ["run", "--stage", "train", "--suite", str(program), "--out", str(self.out)]):
            said = self.quietly(lambda: self.assertEqual(run.main(), 1))
        self.assertIn("no NVIDIA card", said)
        self.assertIn("train: nothing was kept", said)


if __name__ == "__main__":
    unittest.main()
