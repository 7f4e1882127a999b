"""Figures of pages are those of their tables, tables those of their raw results, and no table mixes programs or machines."""

import csv
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
import figures  # noqa: E402
import student  # noqa: E402
from bench import Bench, machine, script  # noqa: E402

ARMS = """arm,equal,removed,bits,precision,seeds,top1,beside_all,all_least,all_most,loss,beside_control,control_least,control_most,p_control,top1_by_seed
all,epochs,0.0,,,3,60.00,,,,,,,,,60.1 59.9 60.0
one,epochs,5.0,10,66.8,3,61.00,1.00,-0.50,2.50,not shown,0.40,-0.60,1.40,0.3,60.6 60.4 62.0
two,epochs,9.0,12,40.7,3,59.00,-1.00,-2.50,0.50,not shown,-0.40,-1.40,0.60,0.3,58.9 59.0 59.1
control-one,epochs,5.0,,,3,60.60,,,,,,,,,60.0 60.3 61.5
"""


class Case(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="winnow-test-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        figures.rows_of.cache_clear()


class Statistics(unittest.TestCase):
    def test_quantiles_are_those_of_tables(self):
        for freedom, half in ((1, 12.706), (2, 4.303), (3, 3.182), (7, 2.365), (30, 2.042)):
            self.assertAlmostEqual(student.quantile(0.95, freedom), half, places=3)
        self.assertAlmostEqual(student.quantile(0.99, 5), 4.032, places=3)

    def test_paired(self):
        mean, least, most, p = student.paired([0.27, 0.12, 0.40])
        self.assertEqual([f"{value:.2f}" for value in (mean, least, most, p)], ["0.26", "-0.08", "0.61", "0.08"])
        self.assertEqual(student.paired([1.5, 1.5, 1.5]), (1.5, 1.5, 1.5, 0.0))

    def test_what_could_be_shown_is_shown_four_times_in_five(self):
        limit = student.quantile(1 - 0.05 / 9, 2)
        shift = student.could_show(3, 9) * student.quantile(0.95, 2)
        self.assertAlmostEqual(student.power(shift, limit, 2), 0.8, places=3)
        self.assertLess(student.could_show(8, 9), student.could_show(3, 9))
        self.assertLess(student.could_show(3, 1), student.could_show(3, 9))


    def test_wilson(self):
        self.assertEqual([f"{end:.4f}" for end in student.wilson(84, 100)], ["0.7558", "0.8990"])

    def test_a_bootstrap_is_over_seeds_and_images(self):
        rng = random.Random(2)
        images, seeds = 400, 8
        first = [[int(rng.random() < 0.5) for _ in range(images)] for _ in range(seeds)]
        better = [[a or int(rng.random() < 0.1) for a in of] for of in first]  # 5 points more
        least, most = student.bootstrapped(first, better, images, times=400)
        self.assertTrue(0.02 < least < 0.05 < most < 0.08, (least, most))
        few = student.bootstrapped(first, better, images // 8, times=400)
        self.assertGreater(few[1] - few[0], most - least)
        self.assertEqual(student.bootstrapped(first, first, images, times=50), (0, 0))


class Pages(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "sweep").mkdir()
        self.arms = self.folder / "sweep" / "arms.csv"
        self.arms.write_text(ARMS)
        self.page = self.folder / "page.md"

    def pages(self, *words):
        return subprocess.run([sys.executable, "-B", HERE / "pages", self.folder, *words], capture_output=True, text=True)

    def filled(self, text):
        self.page.write_text(text)
        self.assertEqual(self.pages().returncode, 0)
        self.assertEqual(self.pages("--check").returncode, 0)
        return self.page.read_text()

    def figure(self, key, what):
        return figures.figure(self.arms, key, what)

    def test_figures(self):
        self.assertEqual(self.figure("one", "beside_all"), "+1.00 (-0.50 to +2.50)")
        self.assertEqual(self.figure("two", "beside_control: .1f"), "-0.4 (-1.4 to +0.6)")
        self.assertEqual(self.figure("one epochs", "top1"), "61.00")
        self.assertEqual(self.figure("one", "(removed + bits) / 30: .0%"), "50 %")
        self.assertEqual(self.figure("one", "share seeds of (bits + 20)"), "10 % (3 to 26)")
        self.assertEqual(self.figure("one", "p_control: .3g"), "0.3")
        self.assertEqual(self.figure("one less control-one", "seeds top1_by_seed: .1f"), "+0.4 (-0.3 to +1.1)")
        self.assertEqual(self.figure("all epochs 0.0", "mean top1_by_seed: .1f"), "60.0 (59.8 to 60.2)")
        self.assertEqual(self.figure("all", "ratio top1_by_seed: .1f"), "**60.0** (59.8 to 60.2)")
        self.assertEqual(self.figure("one", "could_show beside_control: .2f"), f"{student.could_show(3, 2):.2f}")

    def test_a_row_that_is_not_there_is_an_error(self):
        with self.assertRaisesRegex(SystemExit, "arms.csv has 0 rows 'three'"):
            self.figure("three", "top1")

    def test_a_figure_is_filled_and_one_that_differs_is_found(self):
        text = self.filled("It gained <!-- is: sweep/arms.csv; one; beside_all -->9.00<!-- . --> points.\n")
        self.assertIn("-->+1.00 (-0.50 to +2.50)<!-- . --> points", text)
        self.page.write_text(text.replace("+1.00", "+1.10"))
        done = self.pages("--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("page.md says something else than its tables", done.stderr)

    def test_the_end_of_a_mark_may_be_broken_over_lines(self):
        text = self.filled("<!-- given: 12 % -->\n\nIt gained <!-- is: sweep/arms.csv; one; top1 -->9.00<!--\n. --> per cent, 12 % of\n"
                           "them, at <!-- is: sweep/arms.csv; one; top1 -->9.00<!-- . -->.\n")  # fmt: skip
        self.assertEqual(re.sub(r"<!--[^>]*-->", "", text), "\n\nIt gained 61.00 per cent, 12 % of\nthem, at 61.00.\n")

    def test_a_figure_without_a_name_is_found(self):
        given = "<!-- given: 0.05, 25 % -->\n\n"
        fine = given + ("<!-- accuracy: sweep/arms.csv -->\n\nBy `0.77` of the rate, a share of 0.05 or 25 %, ranges of 95 %, of Apache-2.0.\n\n"
                        "## What was done\n\nA rate of 0.77.\n\n## Beside others\n\nThey lost <!-- given -->0.77<!-- . --> points.\n")  # fmt: skip
        text = self.filled(fine)
        self.assertIn("| one | 5.0 % | 61.00 | +1.00 (-0.50 to +2.50) |", text)
        for figure in ("61.0", "61 %", "25.0 %", "3 points", "12 times", "-0.5"):
            with self.subTest(figure):
                self.page.write_text(text + f"\nIt came to {figure} of it.\n")
                done = self.pages("--check")
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, rf"page\.md:\d+: {figure} names no row of a table")

    def test_a_mark_does_not_begin_a_line(self):
        self.page.write_text("It gained\n<!-- is: sweep/arms.csv; one; top1 -->61.00<!-- . --> points.\n")
        self.assertIn("page.md:2: a line begins with a mark", self.pages("--check").stderr)

    def test_figures_of_other_pages_name_their_tables(self):
        self.page.write_text("Nothing.\n")
        other = self.folder / "other" / "README.md"
        other.parent.mkdir()
        other.write_text("At the rate:\n\n| what | measured |\n|---|---|\n| one | [1.0 better](docs/results/page.md) |\n| two | 2.0 |\n")
        done = self.pages(other, "--check")
        self.assertEqual(done.returncode, 1)
        for line in ("5: 1.0", "6: 2.0"):
            self.assertIn(f"README.md:{line} names no row of a table", done.stderr)
        self.assertNotIn("6: 2.0", self.pages("--partly", other, "--check").stderr)
        other.write_text(other.read_text().replace("1.0 better", "<!-- is: sweep/arms.csv; one; beside_all: .1f -->+1.0 (-0.5 to +2.5)<!-- . -->"))
        self.assertEqual(self.pages("--partly", other, "--check").returncode, 0)

    def test_a_table_is_filled_when_it_is_there(self):
        text = self.filled("Before.\n\n<!-- accuracy: sweep/one.csv -->\nAfter.\n")
        self.assertIn("one.csv -->\n\nNot yet run.\n\nAfter.", text)
        (self.folder / "sweep" / "one.csv").write_text("arm,seeds,top1,difference,least,most,p\na,3,60.00,,,,\nb,3,61.00,1.00,-0.50,2.50,0.2\n")
        self.assertEqual(self.pages("--check").returncode, 1)
        text = self.filled(text)
        self.assertIn(f"| b | 61.00 | +1.00 (-0.50 to +2.50) | 0.2 | {1.5 * student.could_show(3, 1):.1f} |\n\nAfter.", text)
        self.assertNotIn("Not yet run", text)

    def test_what_was_measured_by_turns(self):
        (self.folder / "sweep" / "steps.csv").write_text(
            "net,pixels,batch,type,first_cpu,second_cpu,first_wall,second_wall\n"
            "lenet,28,64,f32,0.2 0.1 0.4,0.4 0.1 0.3,1 3 2,5 4 6\n")  # fmt: skip
        text = self.filled("<!-- libraries: sweep/steps.csv -->\n")
        self.assertIn("| lenet, 28, 64 | f32 | 0.200 (0.100 to 0.400) | 0.300 (0.100 to 0.400) | 1.000 (0.750 to 2.000) |\n", text)
        (self.folder / "sweep" / "sums.csv").write_text(
            "hosts,mib,auto_ms,share,default,tuned,ring,rabenseifner,mpich\n4,16,70 64 110,61 111,185 2.89,179 1.56,164 1.88,197 2.64,89 1.05\n")
        text = self.filled("<!-- all_reduces: sweep/sums.csv -->\n")
        self.assertIn("| 4, 16 | 64–110, 61–111 % | 185 (2.89) | 179 (1.56) | 164 (1.88) | 197 (2.64) | 89 (1.05) |", text)

    def test_tables_say_what_could_have_been_shown(self):
        text = self.filled("<!-- accuracy: sweep/arms.csv -->\n")
        self.assertIn(f"| 0.3 | {student.could_show(3, 2):.1f} | not shown |", text)
        self.assertNotIn("control-one", text)


class Origins(Case):
    """Results that are kept; the program is never called."""

    def setUp(self):
        super().setUp()
        program = self.folder / "winnow"
        program.write_text("a program")
        self.bench = Bench(program, self.folder, self.folder / "work", self.folder / "results", True, 1)
        self.bench.call = lambda *_: [{"top1": 0.5}]
        self.bench.made_by = {"version": "a program"}

    def keep(self, seed, **changes):
        """A kept result of a training, made by `once`, with some of what it says changed."""
        words, done = ["train", "cache", "--out", f"runs/a-{seed}", "--seed", seed], self.folder / "work" / "done"
        before = set(done.glob("*.json"))
        self.bench.once(*words)
        self.bench.origins.clear()
        (file,) = set(done.glob("*.json")) - before
        value = json.loads(file.read_text())
        value.update(changes)
        file.write_text(json.dumps({key: of for key, of in value.items() if of is not None}))
        return words, file.name

    def refused(self, *kept):
        for words, _ in kept:
            self.bench.once(*words)
        with self.assertRaises(SystemExit) as refused:
            self.bench.table("sweep", "arms.csv", [{"arm": "a"}])
        return str(refused.exception)

    def test_one_origin_makes_a_table(self):
        for words, _ in (self.keep(1), self.keep(2)):
            self.bench.once(*words)
        self.bench.table("sweep", "arms.csv", [{"arm": "a"}])
        with (self.folder / "results" / "sweep" / "arms.csv").open() as rows:
            self.assertEqual(list(csv.DictReader(rows)), [{"arm": "a"}])

    def test_two_programs_are_refused_by_name(self):
        own, other = self.keep(1), self.keep(2, program="another")
        said = self.refused(own, other)
        self.assertIn("sweep/arms.csv would mix results of 2 programs: ", said)
        self.assertIn(f"another: done/{other[1]} (train cache --out runs/a-2 --seed 2)", said)
        self.assertIn(f"{self.bench.program}: done/{own[1]} (train cache --out runs/a-1 --seed 1)", said)
        self.assertFalse((self.folder / "results" / "sweep").exists())

    def test_two_machines_are_refused_by_name(self):
        said = self.refused(self.keep(1), self.keep(2, machine="another processor, 64 cores"))
        self.assertIn("would mix results of 2 machines: ", said)
        self.assertIn("another processor, 64 cores: done/", said)

    def queued(self, **origin):
        """A run that a sweep's queue keeps, with what its result says of its origin."""
        results = self.folder / "work" / "sweep-a" / "results"
        results.mkdir(parents=True, exist_ok=True)
        key = f"{len(list(results.iterdir())):032x}"
        run = {"version": 1, "job": "{}", "failed": False, "result": json.dumps({"top1": 0.5, **origin})}
        (results / f"{key}.json").write_text(json.dumps(run))
        return key

    def test_runs_of_a_sweep_are_of_one_origin(self):
        sweep = ["sweep", "cache", "--out", "sweep-a"], ""
        same = {"program": "00ff", "machine": machine()}
        for origin in ({}, same, same):
            self.queued(**origin)
        self.bench.once(*sweep[0])
        self.bench.table("sweep", "arms.csv", [{"arm": "a"}])
        key = self.queued(program="ff00", machine=machine())
        said = self.refused(sweep)
        self.assertIn("would mix results of 2 executables: ", said)
        self.assertIn(f"ff00: sweep-a/results/{key}.json", said)

    def test_runs_of_a_sweep_on_another_machine_are_refused_by_name(self):
        key = self.queued(program="00ff", machine="another processor, 64 cores, AVX2")
        said = self.refused((["sweep", "cache", "--out", "sweep-a"], ""))
        self.assertIn(f"another processor, 64 cores, AVX2: sweep-a/results/{key}.json", said)
        self.assertIn("would mix results of 2 machines: ", said)

    def test_older_results_say_their_machine_in_what_was_printed(self):
        printed = [[{"top1": 0.5, "machines": [{"build": "winnow 0.1.0", "cores_online": cores}]}] for cores in (2, 64)]
        kept = [self.keep(seed, machine=None, printed=said) for seed, said in enumerate(printed)]
        self.assertIn("would mix results of 2 builds and machines: winnow 0.1.0, 2 cores: done/", self.refused(*kept))

    def test_a_table_counts_what_was_read_for_it_alone(self):
        self.bench.once(*self.keep(1)[0])
        self.bench.table("planted", "found.csv", [{"arm": "a"}])
        self.bench.once(*self.keep(2, program="another")[0])
        self.bench.table("planted", "arms.csv", [{"arm": "a"}])
        self.assertTrue((self.folder / "results" / "planted" / "arms.csv").exists())


class Raw(Case):
    """`tables`: all of docs/results is what its raw results say. Those of faults, of reproducible and of bf16 were not kept."""

    def tables(self, results, *words):
        return subprocess.run([sys.executable, "-B", HERE / "tables", results, *words], capture_output=True, text=True)

    def test_tables_and_charts_are_made_of_raw_results_alone(self):
        done = self.tables(HERE.parents[2] / "docs" / "results", "--check")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lost = [line.partition(": raw results")[0] for line in done.stdout.splitlines()]
        self.assertEqual(lost, ["copies: half", "copies: all", "faults: 3", "faults: 8", "variants: execution", "peers"])

    def test_steps_of_other_programs_are_refused_by_name(self):
        libraries = script("step/libraries")
        rows = [{"net": "lenet", "type": "f32"}, {"net": "lenet", "type": "bf16", "origin": "programs 00 and ff on a processor"}]
        libraries.refuse_others(rows, rows[1]["origin"], "steps.csv")
        with self.assertRaisesRegex(SystemExit, "steps.csv has rows of others: lenet bf16 is of programs 00 and ff on a processor, this is another"):
            libraries.refuse_others(rows, "another", "steps.csv")

    def test_all_reduces_of_two_programs_are_refused_by_name(self):
        results = self.folder / "results"
        shutil.copytree(HERE.parents[2] / "docs" / "results", results)
        raw = results / "all-reduce" / "debian-13-raw.jsonl"
        lines = [{**json.loads(line), "origin": "program 00ff on a processor"} for line in raw.read_text().splitlines()]
        write = lambda: raw.write_text("".join(json.dumps(line) + "\n" for line in lines))  # noqa: E731
        lines[-1]["origin"] = "program of MPICH on a processor"
        self.assertEqual(lines[-1]["algorithm"], "MPICH")
        write()
        lines[2]["origin"] = "program ff00 on a processor"
        found = {line["origin"] for line in lines}
        write()
        self.assertEqual(len(found), 3)
        done = self.tables(results, "--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("a table would mix 2 programs or machines: ", done.stderr)
        self.assertIn(f"{lines[2]['hosts']} hosts, {lines[2]['size']}, {lines[2]['algorithm']}: program ff00", done.stderr)

    def test_what_differs_is_found_and_made_anew(self):
        results = self.folder / "results"
        shutil.copytree(HERE.parents[2] / "docs" / "results", results)
        arms, chart = results / "planted" / "arms.csv", results / "sweep" / "cifar10-epochs.svg"
        was = arms.read_bytes(), chart.read_bytes()
        arms.write_bytes(was[0].replace(b"1.35", b"1.45"))
        chart.unlink()
        found = self.tables(results, "--check")
        self.assertEqual(found.returncode, 1)
        self.assertIn("raw results say something else than planted/arms.csv, sweep/cifar10-epochs.svg", found.stderr)
        self.assertFalse(chart.exists())
        self.assertEqual(self.tables(results).returncode, 0)
        self.assertEqual((arms.read_bytes(), chart.read_bytes()), was)


if __name__ == "__main__":
    unittest.main()
