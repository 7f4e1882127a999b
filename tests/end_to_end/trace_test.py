"""winnow train --trace-steps: a file for trace viewers with every step of every rank, whose rows and clocks are
consistent; the weights are the same.
"""

import collections
import json
import unittest

from program import Case, tensors

COLLECTIVE = " all-reduce"


class Trace(Case):
    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        self.learnable_idx(self.folder / "data", train=256, test=32)
        self.cache = self.folder / "cache"
        self.ok("ingest", self.folder / "data", "--out", self.cache)

    def train(self, out, *more, **kinds):
        return self.ok("train", self.cache, "--out", self.folder / out, "--net", "lenet", "--recipe", "none", "--batch-size", 32,
                       "--micro-batch", 8, "--threads", 2, "--epochs", 2, "--lr", 0.02, "--bucket-size", 64, *more, **kinds)  # fmt: skip

    def read(self, out):
        return json.loads((self.folder / out / "trace.json").read_text())

    def spans(self, trace):
        """{process: {row: [event]}} of complete events, with rows by name."""
        names = {
            (e["pid"], e.get("tid")): e["args"]["name"] for e in trace["traceEvents"] if e["name"] in ("process_name", "thread_name")
        }
        found = collections.defaultdict(lambda: collections.defaultdict(list))
        for event in trace["traceEvents"]:
            self.assertIn(event["ph"], "XM")
            if event["ph"] == "X":
                self.assertGreaterEqual(event["dur"], 0)
                found[names[event["pid"], None]][names[event["pid"], event["tid"]]].append(event)
        return found

    def ns(self, event):
        """Begin and end, as whole nanoseconds in the file."""
        begin = round(event["ts"] * 1000)
        return begin, begin + round(event["dur"] * 1000)

    def assert_nested(self, events, row):
        """Each span lies inside another of its row, or next to it."""
        open_until = []
        for begin, end in sorted(map(self.ns, events), key=lambda span: (span[0], -span[1])):
            while open_until and open_until[-1] <= begin:
                open_until.pop()
            if open_until:
                self.assertLessEqual(end, open_until[-1], row)
            open_until.append(end)

    def test_every_rank_has_every_step_in_rows_that_fit(self):
        said = self.train("run", "--trace-steps", "5-8", ranks=2).err
        self.assertIn("trace of steps 5 to 8: ", said)
        trace = self.read("run")
        about = trace["otherData"]
        self.assertEqual((about["schema"], about["first_step"], about["last_step"]), ("winnow.trace/1", 5, 8))
        self.assertEqual(len(about["clock_error_us"]), 2)
        self.assertEqual(about["clock_error_us"][0], 0)
        error = about["clock_error_us"][1]
        self.assertGreater(error, 0)

        ranks = self.spans(trace)
        self.assertEqual(len(ranks), 2)
        for number, (name, rows) in enumerate(sorted(ranks.items())):
            self.assertRegex(name, rf"^rank {number} \(.+\)$")
            self.assertEqual([e["name"] for e in rows["steps"]], [f"step {step}" for step in range(5, 9)])
            self.assertEqual([e["args"]["step"] for e in rows["data wait"]], list(range(5, 9)))
            self.assertEqual([e["args"]["step"] for e in rows["update"]], list(range(5, 9)))
            for row, events in rows.items():
                self.assert_nested(events, (name, row))
            lane = collections.Counter(e["name"] for e in rows["lane 0"])
            self.assertEqual(lane["load parameters"], 4)
            self.assertGreaterEqual(lane["forward"], 4)
            self.assertEqual(lane["forward"], lane["bind micro-batch"])
            self.assertGreaterEqual(lane["backward"], lane["forward"])
            steps = {e["args"]["step"]: self.ns(e) for e in rows["steps"]}
            for row, events in rows.items():
                for event in events if not row.startswith("data exchange") else []:
                    begin, end = self.ns(event)
                    step = steps[event["args"]["step"]]
                    self.assertTrue(step[0] <= begin and end <= step[1], (name, row, event))

        # No rank has a sum before all have given their parts, within the accuracy of clocks that the file states.
        of_rank = [self.collectives(rows) for _, rows in sorted(ranks.items())]
        self.assertEqual(of_rank[0].keys(), of_rank[1].keys())
        self.assertGreaterEqual(len(of_rank[0]), 2 * 4, "a net of several buckets has several collectives a step")
        for key in of_rank[0]:
            begins, ends = zip(of_rank[0][key], of_rank[1][key])
            self.assertGreaterEqual(min(ends) + 2 * error * 1000, max(begins), key)

    def collectives(self, rows):
        """{(step, name, index): (begin, end)}."""
        counts = collections.Counter()
        found = {}
        for event in sorted((e for row, events in rows.items() if row.startswith("communication") for e in events), key=self.ns):
            key = event["args"]["step"], event["name"], event["args"]["bytes"]
            found[*key, counts[key]] = self.ns(event)
            counts[key] += 1
            self.assertRegex(event["name"], r"^bucket \d+ all-reduce$")
        return found

    def test_results_are_those_of_a_run_without_it(self):
        self.train("plain", "--reproducible", ranks=2)
        self.train("traced", "--reproducible", "--trace-steps", "2-9", ranks=2)
        self.train("alone", "--reproducible", "--trace-steps", "+3")
        weights = [tensors(next((self.folder / out / "checkpoints").glob("step-16/model.safetensors"))) for out in ("plain", "traced", "alone")]
        self.assertEqual(weights[0], weights[1])
        self.assertEqual(weights[0], weights[2])
        self.assertFalse((self.folder / "plain" / "trace.json").exists())
        alone = self.read("alone")["otherData"]
        self.assertEqual((alone["first_step"], alone["last_step"], alone["clock_error_us"]), (11, 13, [0]))

    def test_steps_that_do_not_come_are_said(self):
        self.assertIn("trace of steps 14 to 16: ", self.train("short", "--trace-steps", "14-30").err)
        self.assertIn("nothing was traced: steps 30 to 40 were not reached", self.train("none", "--trace-steps", "30-40").err)
        self.assertFalse((self.folder / "none" / "trace.json").exists())
        for words in ("a", "9-3", "1-5000"):
            self.refused(2, ["--trace-steps", words], "train", self.cache, "--out", self.folder / "no", "--trace-steps", words)
        self.assertFalse((self.folder / "no").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
