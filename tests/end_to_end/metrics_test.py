"""Each line of an interval, and ranks.json, tell what all ranks did. Prometheus gets it by a file and by a port."""

import collections
import json
import math
import re
import socket
import subprocess
import time
import unittest
import urllib.error
import urllib.request

from program import PATIENCE_S, WINNOW, Case, eventually, tensors

try:
    from prometheus_client.parser import text_string_to_metric_families
except ImportError:  # Debian: python3-prometheus-client
    text_string_to_metric_families = None

COLUMNS = ("compute", "data_wait", "exposed", "reduction", "received", "sent", "memory")
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
VALUE = r"(?:NaN|[+-]Inf|[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"'
SERIES = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? ({VALUE})")


def families(text):
    """{name: (type, {labels: value})}, by the rules that promtool applies to the text format."""
    assert text.endswith("\n"), "the last line has no end"
    found = {}
    current = None
    lines = iter(text.splitlines())
    for line in lines:
        if match := re.fullmatch(rf"# HELP ({NAME}) (\S.*)", line):
            current = match[1]
            kind = re.fullmatch(rf"# TYPE {current} (counter|gauge)", next(lines))
            assert kind, f"{current} has no type"
            assert current not in found, f"{current} is there twice"
            assert (kind[1] == "counter") == current.endswith("_total"), f"{current} is a {kind[1]}"
            found[current] = (kind[1], {})
        elif not line.startswith("#"):
            match = SERIES.fullmatch(line)
            assert match, line
            assert match[1] == current, f"{line} stands among {current}"
            labels = tuple(sorted((key, value) for key, value in re.findall(LABEL, match[2] or "")))
            assert len({key for key, _ in labels}) == len(labels), line
            series = found[current][1]
            assert labels not in series, f"{line} is there twice"
            series[labels] = float(match[match.lastindex])
    assert all(series for _, series in found.values()), "a metric has no series"
    return found


def series(text, name):
    """{labels without run: value} of a metric."""
    return {tuple(label for label in labels if label[0] != "run"): value for labels, value in families(text)[name][1].items()}


class Metrics(Case):
    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        self.learnable_idx(self.folder / "data", train=120, test=16)
        self.cache = self.folder / "cache"
        self.ok("ingest", self.folder / "data", "--out", self.cache)
        self.recipe = ["--net", "lenet", "--image-size", 32, "--batch-size", 24, "--micro-batch", 8, "--threads", 1]

    def train(self, out, *args):
        return ["train", self.cache, "--out", self.folder / out, *self.recipe, *args]

    def intervals(self, out):
        rows = [json.loads(line) for line in (self.folder / out / "metrics.jsonl").read_text().splitlines()]
        return [row for row in rows if "train.loss" in row]

    def check_lines(self, out, ranks):
        """Each interval has three figures for each column, and ranks.json has the rows from which the last one was made."""
        rows = self.intervals(out)
        wall = 0
        for row in rows:
            for name in COLUMNS:
                least, median, most = (row[f"ranks.{name}.{which}"] for which in ("min", "median", "max"))
                self.assertTrue(0 <= least <= median <= most, (name, row))
            self.assertGreater(row["ranks.compute.min"], 0)
            self.assertGreater(row["ranks.memory.min"], 1 << 20)
            # "wall" is rank 0's, which cannot exceed the elapsed time. Intervals of other ranks begin and end slightly apart.
            self.assertLessEqual(row["ranks.compute.min"], row["wall"] - wall)
            wall = row["wall"]
            self.assertIn(row["ranks.slowest"], range(ranks))
            self.assertEqual(row["ranks.slowest_host"], socket.gethostname().split(".")[0])
            self.assertIn(row["ranks.slowest_in"], ("compute", "data"))
        table = json.loads((self.folder / out / "ranks.json").read_text())
        last = rows[-1]
        self.assertEqual((table["schema"], table["step"], table["run"]), ("winnow.ranks/1", last["step"], last["run"]))
        self.assertLessEqual(table["time"], time.time())
        self.assertEqual([row["rank"] for row in table["ranks"]], list(range(ranks)))
        for name in COLUMNS:
            values = [row[name] for row in table["ranks"]]
            self.assertEqual((min(values), max(values)), (last[f"ranks.{name}.min"], last[f"ranks.{name}.max"]))
        slowest = max(table["ranks"], key=lambda row: row["compute"] + row["data_wait"])
        self.assertEqual(last["ranks.slowest"], slowest["rank"])
        return rows

    def test_a_single_rank_has_all_of_it(self):
        self.ok(*self.train("run", "--epochs", 2, "--log-interval", 3))
        rows = self.check_lines("run", 1)
        self.assertEqual([row["step"] for row in rows], [3, 6, 9, 10])
        for row in rows:
            self.assertEqual({row[f"ranks.{name}.max"] for name in ("received", "sent", "reduction")}, {0})
        summary = (self.folder / "run" / "summary.csv").read_text()
        self.assertNotIn("ranks.", summary)  # the last interval of an epoch does not describe the whole epoch

    def test_the_rank_with_more_to_do_is_the_slowest(self):
        # There are three micro-batches, and rank 1 of two has two of them in every step. Intervals are long enough for a busy machine.
        self.ok(*self.train("run", "--epochs", 75, "--log-interval", 25), ranks=2)
        rows = self.check_lines("run", 2)
        slowest = collections.Counter(row["ranks.slowest"] for row in rows)
        self.assertGreater(slowest[1], len(rows) / 2, slowest)
        # The time that one waits is the other's work.
        exposed = [sum(row[f"ranks.exposed.{which}"] for row in rows) for which in ("min", "max")]
        self.assertLess(exposed[0], exposed[1])

    def test_messages_are_counted_by_what_they_take(self):
        sizes = {}
        for name, flags in (("f32", []), ("bf16", ["--bf16-gradients"])):
            self.ok(*self.train(name, "--max-steps", 4, "--log-interval", 2, "--schedule", "ring", *flags), ranks=2)
            rows = self.check_lines(name, 2)
            self.assertEqual(len({row["ranks.sent.max"] for row in rows}), 1)  # each interval has two steps
            for row in rows:
                self.assertEqual(row["ranks.sent.median"], row["ranks.received.median"])
            sizes[name] = rows[0]["ranks.sent.median"] / 2
        # Around a ring of two, each sends all gradients once: half to be added, half summed. Plus a few numbers per step.
        gradients = sum(map(len, tensors(self.folder / "f32/checkpoints/step-4/model.safetensors").values()))
        self.assertGreaterEqual(sizes["f32"], gradients)
        self.assertLess(sizes["f32"], gradients + 100)
        self.assertAlmostEqual(sizes["bf16"] / sizes["f32"], 0.5, delta=0.01)
        self.ok(*self.train("shared", "--max-steps", 4, "--log-interval", 2), ranks=2)
        rows = self.check_lines("shared", 2)
        self.assertEqual([row["ranks.sent.max"] for row in rows], [0, 0])  # through shared memory
        self.assertGreater(rows[0]["ranks.reduction.min"], 0)

    def test_records_between_machines_are_counted(self):
        # Each rank holds its part of the shards of 1 MiB, as if it were a machine of its own.
        images = [self.random.randbytes(100 * 100) for _ in range(240)]
        self.write_idx(self.folder / "large", "train", images, [i % 4 for i in range(240)], 100)
        cache, memory = self.folder / "shards", self.folder / "memory"
        memory.mkdir()
        self.ok("ingest", self.folder / "large", "--out", cache, "--shard-size", 1)
        self.ok("train", cache, "--out", self.folder / "run", *self.recipe, "--epochs", 1, "--log-interval", 2, "--memory-dir", memory,
                "--ranks-per-machine", 1, ranks=2)  # fmt: skip
        rows = self.check_lines("run", 2)
        received, sent = ([sum(row[f"ranks.{name}.{which}"] for row in rows) for which in ("min", "max")] for name in ("received", "sent"))
        self.assertEqual(sum(received), sum(sent))
        # About half of what each rank trains on is held by the other.
        self.assertGreater(sum(received), 240 * 100 * 100 / 4)
        self.assertLess(sum(received), 240 * 100 * 100)

    def test_a_run_that_goes_on_begins_its_counts_anew(self):
        self.ok(*self.train("run", "--epochs", 2, "--log-interval", 5, "--max-steps", 5))
        self.ok(*self.train("run", "--epochs", 2, "--log-interval", 5, "--resume", "auto"))
        self.assertEqual([row["step"] for row in self.check_lines_of_resumed("run")], [5, 10])

    def check_lines_of_resumed(self, out):
        rows = self.intervals(out)
        for row in rows:
            self.assertGreater(row["ranks.compute.min"], 0)
        return rows

    def test_the_file_is_one_that_prometheus_reads(self):
        file = self.folder / "winnow.prom"
        args = self.train("run", "--epochs", 3, "--log-interval", 2, "--holdout", 0.2, "--ema-decay", 0.9, "--metrics-file", file)
        self.ok(*args, ranks=2)
        text = file.read_text()
        found = families(text)
        rows = self.intervals("run")
        self.assertEqual({dict(labels)["run"] for _, series_ in found.values() for labels in series_}, {rows[0]["run"]})
        self.assertEqual(series(text, "winnow_steps_total"), {(): rows[-1]["step"]})
        self.assertEqual(series(text, "winnow_loss")[("split", "train"),], rows[-1]["train.loss"])
        self.assertIn((("split", "val_ema"),), series(text, "winnow_top1_ratio"))
        host = socket.gethostname().split(".")[0]
        ranks = [(("host", host), ("rank", str(rank))) for rank in (0, 1)]
        for name, unit in (("compute", "seconds"), ("data_wait", "seconds"), ("reduction", "seconds"), ("sent", "bytes")):
            counted = series(text, f"winnow_rank_{name}_{unit}_total")
            self.assertEqual(sorted(counted), ranks)
            # All intervals together.
            for which, of in (("min", min), ("max", max)):
                total = sum(row[f"ranks.{name}.{which}"] for row in rows)
                self.assertTrue(of(counted.values()) >= total * (1 - 1e-9) if which == "min" else of(counted.values()) <= total * (1 + 1e-9), name)
        # Everything is present that the run measures of training and evaluations, except figures of rank 0 alone.
        measured = {name for line in (self.folder / "run/metrics.jsonl").read_text().splitlines() for name, value in json.loads(line).items()
                    if isinstance(value, (int, float)) and name.split(".")[0] not in ("data", "comm", "memory", "shuffle", "ranks")}
        self.assertEqual(sum(len(series_) for name, (_, series_) in found.items() if "_rank" not in name) - 1, len(measured))
        if text_string_to_metric_families is None:
            print("skipped: the text is not read by Prometheus' client; by hand: apt-get install python3-prometheus-client", flush=True)
            return
        theirs = {sample.name: family.type for family in text_string_to_metric_families(text) for sample in family.samples}
        self.assertEqual(theirs, {name: kind for name, (kind, _) in found.items()})
        values = {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for family in text_string_to_metric_families(text)
                  for sample in family.samples}  # fmt: skip
        self.assertEqual(values, {(name, labels): value for name, (_, series_) in found.items() for labels, value in series_.items()})

    def start(self, *args):
        said = self.folder / "said"
        with open(said, "w") as err:
            process = subprocess.Popen([WINNOW, *map(str, args)], stdout=subprocess.DEVNULL, stderr=err)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process, said

    def test_the_port_answers_as_long_as_the_run_goes_on(self):
        process, said = self.start(*self.train("run", "--epochs", 5000, "--log-interval", 1, "--metrics-port", 0))
        address = eventually(lambda: re.search(r"^metrics: (http://127\.0\.0\.1:\d+/metrics)$", said.read_text(), re.MULTILINE))[1]

        def fetch():
            with urllib.request.urlopen(address, timeout=PATIENCE_S) as reply:
                self.assertEqual(reply.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
                return reply.read().decode()

        eventually(lambda: "winnow_steps_total{" in fetch())
        before = fetch()
        (step,) = series(before, "winnow_steps_total").values()
        eventually(lambda: series(fetch(), "winnow_steps_total")[()] > step)
        after = fetch()
        for name, (kind, counted) in families(before).items():
            for labels, value in counted.items():
                now = families(after)[name][1][labels]
                self.assertFalse(math.isnan(now), name)
                if kind == "counter":
                    self.assertGreaterEqual(now, value, name)
        for path, code in (("", 404), ("metrics/x", 404)):
            with self.assertRaises(urllib.error.HTTPError) as caught:
                urllib.request.urlopen(address.replace("metrics", path), timeout=PATIENCE_S)
            self.assertEqual(caught.exception.code, code)
            caught.exception.close()
        process.terminate()
        self.assertEqual(process.wait(timeout=PATIENCE_S), 75)
        with self.assertRaises(urllib.error.URLError):
            urllib.request.urlopen(address, timeout=PATIENCE_S)

    def test_what_cannot_be_had_is_refused_before_the_run_begins(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            for ranks in (0, 2):
                self.refused(2, ["--metrics-port", f"port {port}", "taken"], *self.train("run", "--metrics-port", port), ranks=ranks)
        self.refused(2, ["--metrics-file", "winnow.prom"], *self.train("run", "--metrics-file", self.folder / "none/winnow.prom"))
        self.refused(2, ["--metrics-port"], *self.train("run", "--metrics-port", 65536))
        self.assertFalse((self.folder / "run").exists())

    def test_weights_are_the_same_whoever_looks_on(self):
        flags = ["--epochs", 1, "--reproducible", "--log-interval"]
        model = "checkpoints/step-5/model.safetensors"
        self.ok(*self.train("seldom", *flags, 100), ranks=2)
        self.ok(*self.train("often", *flags, 1, "--metrics-port", 0, "--metrics-file", self.folder / "winnow.prom"), ranks=2)
        self.ok(*self.train("alone", *flags, 1))
        models = [(self.folder / out / model).read_bytes() for out in ("seldom", "often", "alone")]
        self.assertEqual(models[0], models[1])
        self.assertEqual(models[0], models[2])


if __name__ == "__main__":
    unittest.main(verbosity=2)
