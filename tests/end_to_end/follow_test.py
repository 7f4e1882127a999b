"""Following a training run: event files, evaluations during the run, the best checkpoint, reports."""

import csv
import json
import math
import operator
import os
import re
import shutil
import statistics
import struct
import subprocess
import unittest
import xml.etree.ElementTree as xml

from program import PATIENCE_S, WINNOW, Case, run, some_of, tensors

# A Python with TensorBoard, as made by `python3 -m venv` and `pip install tensorboard`.
PYTHON = os.environ.get("WINNOW_PACKAGES_PYTHON", "python3")
SCALARS = """
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0})
events.Reload()
print(json.dumps({tag: [[e.step, e.value, e.wall_time] for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}))
"""


def has_tensorboard():
    probe = subprocess.run([PYTHON, "-c", "import tensorboard"], capture_output=True)
    return probe.returncode == 0


class Follow(Case):
    RECIPE = ["--net", "lenet", "--recipe", "none", "--batch-size", 48, "--micro-batch", 6, "--threads", 1, "--resume", "auto"]

    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        self.learnable_idx(self.folder / "data", train=384, test=32)  # 8 steps per epoch
        self.cache = self.folder / "cache"
        self.ok("ingest", self.folder / "data", "--out", self.cache)

    def command(self, out, *more):
        return ["train", self.cache, "--out", self.folder / out, *self.RECIPE, *more]

    def rows(self, out):
        return [json.loads(line) for line in (self.folder / out / "metrics.jsonl").read_text().splitlines()]

    def event_file(self, out):
        (path,) = (self.folder / out / "tensorboard").iterdir()
        return path


class TensorBoard(Follow):
    def expected(self, out):
        """The values of metrics.jsonl, {tag: [[step, value]]}."""
        found = {}
        for row in self.rows(out):
            for name, value in row.items():
                if name not in ("step", "epoch", "wall", "run") and not isinstance(value, str):
                    found.setdefault(name.replace(".", "/"), []).append([row["step"], value])
        return found

    def stopped_and_gone_on(self):
        command = self.command("run", "--epochs", 2, "--log-interval", 1, "--holdout", 0.25, "--recovery-interval", 3,
                               "--tensorboard")  # fmt: skip
        killed = run(*command, env={"WINNOW_FAILPOINTS": "kill=file.write.after:metrics.jsonl:6"})
        self.assertNotEqual(killed.code, 0)
        first = self.event_file("run")
        self.ok(*command)
        self.assertNotEqual(self.event_file("run"), first)
        self.ok(*command)  # a finished run evaluates again

    @unittest.skipUnless(has_tensorboard(), f"{PYTHON} has no package tensorboard (WINNOW_PACKAGES_PYTHON names one)")
    def test_tensorboard_reads_every_number_once(self):
        self.stopped_and_gone_on()
        done = subprocess.run([PYTHON, "-c", SCALARS, str(self.folder / "run" / "tensorboard")], capture_output=True,
                              text=True, check=True)  # fmt: skip
        found = json.loads(done.stdout)
        expected = self.expected("run")
        self.assertEqual(set(found), set(expected))
        for tag in expected:
            self.assertEqual([step for step, _, _ in found[tag]], [step for step, _ in expected[tag]], tag)
            for (_, value, _), (_, due) in zip(found[tag], expected[tag]):
                self.assertAlmostEqual(value, due, delta=1e-6 * abs(due), msg=tag)
        steps = [step for step, _, _ in found["train/loss"]]
        self.assertEqual(steps, list(range(1, 13)))
        walls = [wall for _, _, wall in found["train/loss"]]
        self.assertEqual(walls, sorted(walls))
        self.assertEqual(len(found["val/top1"]), 2)

    def test_event_files_are_tfrecords(self):
        """Our own reader reads all frames, and finds no image in any."""
        self.stopped_and_gone_on()
        records = self.folder / "run.tfrecord"
        records.write_bytes(self.event_file("run").read_bytes())
        self.refused(2, ["no record has a feature"], "ingest", records, "--out", self.folder / "no")
        records.write_bytes(records.read_bytes()[:-1])
        self.refused(2, ["is cut short"], "ingest", records, "--out", self.folder / "no")

    def test_nothing_is_written_unasked(self):
        self.ok(*self.command("plain", "--max-steps", 2))
        self.assertFalse((self.folder / "plain" / "tensorboard").exists())
        self.ok(*self.command("plain", "--max-steps", 4, "--log-interval", 1, "--tensorboard"))
        self.assertEqual(len(self.rows("plain")), 5)  # earlier steps are in the events, too
        self.assertGreater(self.event_file("plain").stat().st_size, 500)


class Best(Follow):
    """--keep-best, --eval-every and --early-stop. A kill changes nothing about them."""

    WATCHED = ["--epochs", 3, "--holdout", 0.25, "--log-interval", 1, "--checkpoint-hist", 1]  # 6 steps per epoch

    def checkpoints(self, out):
        folder = self.folder / out / "checkpoints"
        links = {path.name: os.readlink(path) for path in folder.iterdir() if path.is_symlink()}
        return {path.name for path in folder.iterdir() if not path.is_symlink()}, links

    def evaluations(self, out, name="val.top1"):
        return [(row["step"], row[name]) for row in self.rows(out) if name in row]

    def best_of(self, evaluations, better=max):
        best = better(value for _, value in evaluations)
        return next((step, value) for step, value in evaluations if value == best)

    def test_evaluates_every_n_steps_and_keeps_the_best(self):
        out = self.folder / "run"
        said = self.ok(*self.command("run", *self.WATCHED, "--eval-every", 4, "--keep-best", "loss", "--json"))
        steps = [step for step, _ in self.evaluations("run")]
        self.assertEqual(steps, [4, 8, 12, 16, 18])
        step, value = self.best_of(self.evaluations("run", "val.loss"), min)
        self.assertEqual(said.json()["best"], {"metric": "val.loss", "value": value, "step": step})
        self.assertEqual(self.checkpoints("run")[1]["best"], f"step-{step}")
        state = json.loads((out / "checkpoints" / "latest" / "state.json").read_text())
        self.assertEqual((state["best"]["step"], state["best"]["value"]), (step, value))

    # Steps so large that an early evaluation remains the best.
    WILD = [*WATCHED, "--eval-every", 2, "--keep-best", "loss", "--lr", 2, "--clip-grad-norm", 1, "--momentum", 0,
            "--warmup-epochs", 0, "--sched", "constant"]  # fmt: skip

    def test_the_best_stays_until_a_better_one_is_whole(self):
        self.ok(*self.command("run", *self.WILD))
        best, value = self.best_of(self.evaluations("run", "val.loss"), min)
        names, links = self.checkpoints("run")
        self.assertEqual(names, {f"step-{best}", "step-18"})
        self.assertEqual(links, {"best": f"step-{best}", "latest": "step-18"})
        ends = {
            name: self.ok("eval", self.folder / "run", self.cache, *more, "--split", "test", "--json").json()
            for name, more in (("best", ["--checkpoint", "best"]), ("named", ["--checkpoint", f"step-{best}"]), ("newest", []))
        }
        self.assertEqual(ends["best"]["loss"], ends["named"]["loss"])
        self.assertAlmostEqual(ends["best"]["epoch"], best / 6, delta=0.2)
        self.assertNotEqual(ends["best"]["loss"], ends["newest"]["loss"])
        (self.folder / "run" / "checkpoints" / "best" / "model.safetensors").write_bytes(b"")
        self.refused(1, ["model.safetensors", "damaged"], "eval", self.folder / "run", self.cache, "--checkpoint", "best")

    def test_early_stop(self):
        command = self.command("run", *self.WILD, "--early-stop", 3)
        ended = self.ok(*command, "--json")
        self.assertIn("ended after step", ended.err)
        evaluations = self.evaluations("run", "val.loss")
        best, _ = self.best_of(evaluations, min)
        steps = [step for step, _ in evaluations]
        self.assertEqual(steps, list(range(2, best + 8, 2)))
        self.assertEqual(self.checkpoints("run")[1]["latest"], f"step-{steps[-1]}")
        again = self.ok(*command, "--json")
        self.assertEqual(self.evaluations("run", "val.loss"), evaluations)
        for field in ("top1", "split", "best", "train_loss"):
            self.assertEqual(again.json()[field], ended.json()[field], field)
        self.ok(*command[:-1], 4)  # with more patience it continues
        self.assertEqual([step for step, _ in self.evaluations("run", "val.loss")], [*steps, steps[-1] + 2])

    def test_kills_change_nothing(self):
        """Killed at each write of an evaluation, a checkpoint or a link."""
        options = [*self.WILD, "--early-stop", 2]
        log = self.folder / "trace"
        self.ok(*self.command("whole", *options), env={"WINNOW_FAILPOINTS": f"trace={log}"})
        points = {}
        for line in log.read_text().splitlines():
            point, file = line.split("\t")
            file = "/".join(file.split("/")[-2:]) if "step-" in file else file.split("/")[-1]
            if file != "whole":
                points[point, file] = points.get((point, file), 0) + 1
        self.assertIn(("link.rename.before", "best"), points)
        whole = self.state_of("whole")
        hits = []
        for (point, file), times in sorted(points.items()):
            if not point.startswith(("link.", "dir.rename", "dir.sync")) and file != "metrics.jsonl":
                continue
            if file == "metrics.jsonl" and point != "file.write.after":
                continue
            hits += [(point, file, k) for k in sorted({1, times // 2, times} - {0})]
        self.assertGreater(len(hits), 20)
        chosen = some_of("writes of a run that keeps its best, killed at", hits, 8, operator.itemgetter(0), operator.itemgetter(1))
        for number, (point, file, k) in enumerate(chosen):
            out = f"run-{number}"
            killed = run(*self.command(out, *options), env={"WINNOW_FAILPOINTS": f"kill={point}:{file}:{k}"})
            self.assertNotEqual(killed.code, 0, (point, file, k))
            # The checkpoint named best is complete at all times.
            best = self.folder / out / "checkpoints" / "best"
            if best.is_symlink():
                self.ok("eval", self.folder / out, self.cache, "--checkpoint", "best")
            self.ok(*self.command(out, *options))
            self.assertEqual(self.state_of(out), whole, (point, file, k))

    def state_of(self, out):
        names, links = self.checkpoints(out)
        weights = {
            link: tensors(self.folder / out / "checkpoints" / link / "model.safetensors") for link in ("best", "latest")
        }
        return names, links, weights, self.evaluations(out, "val.loss"), self.metrics(self.folder / out, "train.loss")

    def test_ranks_agree_on_the_best(self):
        watched = ["--eval-every", 2, "--keep-best", "top1:val_ema", "--early-stop", 2, "--ema-decay", 0.9, "--reproducible"]
        results = [
            self.ok(*self.command(f"on-{ranks}", *self.WATCHED, *watched), "--json", ranks=ranks).json() for ranks in (1, 3)
        ]
        self.assertEqual(results[0]["best"], results[1]["best"])
        self.assertEqual(results[0]["best"]["metric"], "val_ema.top1")
        self.assertEqual(self.state_of("on-1")[:3], self.state_of("on-3")[:3])

    def test_the_best_by_its_averages_is_these(self):
        averages = ["--ema-decay", 0.9, "--max-steps", 6]
        self.ok(*self.command("run", *self.WATCHED, "--eval-every", 2, "--keep-best", "loss:val_ema", *averages))
        run = self.folder / "run"

        def figures(*what):
            """Values to five digits: the last bits of a sum depend on threads and batch, which a file does not record."""
            said = self.ok("eval", *what, "--json")
            return {"loss": round(said.json()["loss"], 5), "top1": said.json()["top1"]}, said.err

        def of_file(checkpoint, name):
            return figures(run / "checkpoints" / checkpoint / f"{name}.safetensors", self.cache, "--net", "lenet")[0]

        self.assertNotEqual(of_file("best", "ema"), of_file("best", "model"))
        found, said = figures(run, self.cache, "--checkpoint", "best")
        self.assertEqual(found, of_file("best", "ema"))
        self.assertIn("moving averages, which the best checkpoint was chosen by: val_ema.loss", said)
        found, said = figures(run, self.cache)
        self.assertEqual((found, "moving averages" in said), (of_file("latest", "model"), False))
        self.assertEqual(figures(run, self.cache, "--ema")[0], of_file("latest", "ema"))
        models = []
        for flags in (["--checkpoint", "best"], ["--checkpoint", "best", "--ema"], ["--ema"], []):
            self.ok("onnx", run, "--to", self.folder / "net.onnx", *flags)
            models.append((self.folder / "net.onnx").read_bytes())
        self.assertEqual(models[0], models[1])
        self.assertNotEqual(models[2], models[3])
        self.ok(*self.command("plain", *self.WATCHED, "--eval-every", 2, "--keep-best", "loss", *averages))
        self.assertNotIn("averages", figures(self.folder / "plain", self.cache, "--checkpoint", "best")[1])
        self.ok(*self.command("none", "--max-steps", 1))
        self.refused(2, ["no moving averages", "--ema-decay"], "eval", self.folder / "none", self.cache, "--ema")
        self.refused(2, ["is a file", "--ema"], "eval", run / "checkpoints" / "best" / "ema.safetensors", self.cache, "--net", "lenet", "--ema")

    def test_what_cannot_be_watched(self):
        for words, more in ((["--early-stop", "--keep-best"], ["--early-stop", 2]),
                            (["--holdout"], ["--keep-best", "top1"]),
                            (["--eval-every", "--holdout"], ["--eval-every", 2]),
                            (["accuracy", "top1_leak_free"], ["--keep-best", "accuracy", "--holdout", 0.2]),
                            (["top1:test", "test is evaluated once"], ["--keep-best", "top1:test", "--holdout", 0.2]),
                            (["--ema-decay"], ["--keep-best", "top1:val_ema", "--holdout", 0.2]),
                            (["4 classes"], ["--keep-best", "top5", "--holdout", 0.2]),
                            (["--selection"], ["--keep-best", "top1_leak_free", "--holdout", 0.2])):  # fmt: skip
            self.refused(2, words, *self.command("no", *more))
            self.assertFalse((self.folder / "no").exists(), more)
        self.ok(*self.command("run", "--max-steps", 2))
        self.refused(2, ["no checkpoint best", "--keep-best"], "eval", self.folder / "run", self.cache, "--checkpoint", "best")


class Norms(Follow):
    def weights(self, out, step):
        """The parameters after `step` steps, {name: values}."""
        raw = tensors(self.folder / out / "checkpoints" / f"step-{step}" / "model.safetensors")
        return {name: struct.unpack(f"<{len(data) // 4}f", data) for name, data in raw.items() if "tracked" not in name}

    def test_norms_are_those_of_the_weights_and_their_steps(self):
        rate = 0.125
        plain = ["--max-steps", 3, "--log-interval", 1, "--recovery-interval", 1, "--checkpoint-hist", 9, "--lr", rate,
                 "--momentum", 0, "--weight-decay", 0, "--sched", "constant", "--warmup-epochs", 0]  # fmt: skip
        self.ok(*self.command("run", *plain))
        rows = self.rows("run")
        for step in (2, 3):
            before, after = self.weights("run", step - 1), self.weights("run", step)
            moved = math.dist([x for w in before.values() for x in w], [x for w in after.values() for x in w])
            row = rows[step - 1]
            self.assertAlmostEqual(row["train.gradient_norm"], moved / rate, delta=1e-4 * moved / rate)
            norm = math.hypot(*(x for w in after.values() for x in w))
            self.assertAlmostEqual(row["train.weight_norm"], norm, delta=1e-6 * norm)
            self.assertGreater(row["memory.peak"], 1e6)
        self.ok(*self.command("clipped", *plain, "--clip-grad-norm", 1e-3), ranks=2)
        clipped = self.rows("clipped")[0]["train.gradient_norm"]  # before clipping
        self.assertAlmostEqual(clipped, rows[0]["train.gradient_norm"], delta=1e-5 * clipped)


class Reports(Follow):
    """winnow report, and the files that it reads: evaluation.json, summary.csv."""

    def page(self, path):
        """The text of a page. It must be well-formed XML, run nothing and fetch nothing."""
        text = path.read_text()
        root = xml.fromstring(text)
        for element in root.iter():
            self.assertNotIn(element.tag.split("}")[-1], {"script", "link", "iframe", "object", "base", "form", "a"})
            for name, value in element.attrib.items():
                if name == "src":
                    self.assertRegex(value, r"^data:image/jpeg;base64,[\w+/]+=*$")
                else:
                    self.assertFalse(name.startswith("on") or name in ("href", "action"), name)
                    self.assertNotIn("://", value)
        self.assertNotIn("url(", text)
        body = root.find("{http://www.w3.org/1999/xhtml}body")
        return " ".join("".join(body.itertext()).split()), root

    def count(self, root, tag):
        return sum(element.tag.split("}")[-1] == tag for element in root.iter())

    def trained(self, out, *more):
        recipe = ["--epochs", 2, "--log-interval", 2, "--holdout", 0.25, "--lr", 0.01, *more]
        return self.ok(*self.command(out, *recipe), "--json").json()

    def test_one_run(self):
        ended = self.trained("run")
        out = self.folder / "run.html"
        self.assertIn("report: ", self.ok("report", self.folder / "run", "--out", out).err)
        text, root = self.page(out)
        stored = json.loads((self.folder / "run" / "evaluation.json").read_text())
        right = sum(n for label, prediction, n in stored["confusion"] if label == prediction)
        samples = sum(n for _, _, n in stored["confusion"])
        self.assertAlmostEqual(right / samples, ended["top1"])
        self.assertIn(f"{right} of {samples} labelled images of val correct after 12 steps", text)
        self.assertIn(f"{100 * ended['top1']:.2f} %", text)
        losses = [row["loss"] for row in stored["worst"]]
        self.assertEqual(losses, sorted(losses, reverse=True))
        self.assertEqual(len(losses), min(60, samples - right))
        self.assertEqual(self.count(root, "img"), len(losses))
        self.assertGreater(len(losses), 0)
        for title in ("Loss", "Accuracy", "Learning rate", "Norm of the gradients", "recipe.lr", "net.name"):
            self.assertIn(title, text)

    def over_runs(self, outs):
        """The row of these runs, for val only."""
        cells = [", ".join(outs), str(len(outs))]
        for name in ("val.top1", "val.loss", "train.loss"):
            last = [[row[name] for row in self.rows(out) if name in row][-1] for out in outs]
            figure = "{:.2f} %" if "top1" in name else "{:.4g}"
            scale = 100 if "top1" in name else 1
            cells += [f"{figure} ± {figure}".format(scale * statistics.mean(last), scale * statistics.stdev(last))]
        return "".join(cells)

    def test_runs_over_folds_have_a_mean(self):
        self.ok("split", self.cache, "--folds", 3, "--name", "cv")
        for out, fold, rate in (("fold-1", 1, 0.01), ("fold-2", 2, 0.01), ("fold-3", 3, 0.01), ("other", 1, 0.02)):
            self.ok(*self.command(out, "--epochs", 1, "--lr", rate, "--selection", f"cv-{fold}"))
        for out in ("other", "fold-1", "fold-2", "fold-3"):  # without test, which every fold has
            rows = [row for row in self.rows(out) if "test.loss" not in row]
            (self.folder / out / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        folds = [self.folder / f"fold-{fold}" for fold in (1, 2, 3)]
        self.ok("report", *folds, self.folder / "other", "--out", self.folder / "folds.html")
        text, _ = self.page(self.folder / "folds.html")
        self.assertIn(self.over_runs(["fold-1", "fold-2", "fold-3"]), text)
        self.assertNotIn(", other", text.partition("Over folds and seeds")[2].partition("Settings")[0])
        self.ok("report", folds[0], self.folder / "other", "--out", self.folder / "two.html")
        self.assertNotIn("Over folds", self.page(self.folder / "two.html")[0])

    def test_several_runs_and_what_differs(self):
        for out, seed in (("a", 1), ("b", 2)):
            self.trained(out, "--seed", seed)
        self.ok("report", self.folder / "a", self.folder / "b", "--out", self.folder / "two.html")
        text, _ = self.page(self.folder / "two.html")
        differs = text.partition("What differs")[2].partition("All settings")[0]
        self.assertIn("recipe.seed", differs)
        self.assertNotIn("recipe.lr", differs)
        self.assertIn(self.over_runs(["a", "b"]), text)
        other = self.folder / "other" / "a"
        shutil.copytree(self.folder / "a", other, symlinks=True)
        self.ok("report", self.folder / "a", other, "--out", self.folder / "two.html")
        text, _ = self.page(self.folder / "two.html")
        self.assertIn("All settings are the same", text)
        self.assertNotIn("Over folds and seeds", text)
        self.assertIn(str(other), text)  # to tell the two apart

    def test_a_run_whose_data_is_gone_or_elsewhere(self):
        self.trained("run")
        moved = self.folder / "moved"
        self.cache.rename(moved)
        out = self.folder / "run.html"
        self.ok("report", self.folder / "run", "--out", out)
        text, root = self.page(out)
        self.assertIn("There are no pictures", text)
        self.assertEqual(self.count(root, "img"), 0)
        self.ok("report", self.folder / "run", "--out", out, "--cache", moved)
        self.assertGreater(self.count(self.page(out)[1], "img"), 0)
        self.learnable_idx(self.folder / "more", train=48, test=8)
        self.ok("ingest", self.folder / "more", "--out", self.folder / "another")
        self.refused(2, ["is not the cache"], "report", self.folder / "run", "--out", out, "--cache", self.folder / "another")

    def test_a_run_on_its_way(self):
        command = self.command("run", "--epochs", 2, "--log-interval", 1)
        run(*command, env={"WINNOW_FAILPOINTS": "kill=file.write.after:metrics.jsonl:5"})
        self.ok("report", self.folder / "run", "--out", self.folder / "run.html")
        text, _ = self.page(self.folder / "run.html")
        self.assertIn("not evaluated yet", text)
        (self.folder / "run" / "metrics.jsonl").unlink()
        self.ok("report", self.folder / "run", "--out", self.folder / "run.html")
        self.assertIn("Nothing is logged yet", self.page(self.folder / "run.html")[0])

    def test_names_of_any_bytes(self):
        hostile = [b"<script>alert(1)</script>".replace(b"/", b"_"), b"caf\xe9 \x1b[2J&\"'"]
        root = self.folder / "photos"
        for i in range(32):
            label = hostile[i % 2].decode("utf-8", "surrogateescape")
            self.write_ppm(root / ("train" if i < 16 else "val") / label / f"<b>{i}.ppm", self.image(16, seed=i), 16)
        cache = self.folder / "photo <cache>"
        self.ok("ingest", root, "--out", cache)
        out = self.folder / "run <i>"
        self.ok("train", cache, "--out", out, "--net", "lenet", "--batch-size", 8, "--epochs", 1, "--threads", 1)
        self.ok("report", out, "--out", self.folder / "page.html")
        text, _ = self.page(self.folder / "page.html")
        self.assertIn("<script>alert(1)<_script>", text)
        self.assertIn("caf\\xE9", text)
        self.assertIn("run <i>", text)

    def test_what_is_refused(self):
        self.trained("run")
        self.refused(2, ["no run", "winnow train"], "report", self.folder, "--out", self.folder / "page.html")
        self.refused(2, ["no folder"], "report", self.folder / "run", "--out", self.folder / "nowhere" / "page.html")
        kept = self.folder / "kept.txt"
        kept.write_text("mine")
        self.refused(2, ["is not an HTML page"], "report", self.folder / "run", "--out", kept)
        self.assertEqual(kept.read_text(), "mine")
        stored = self.folder / "run" / "evaluation.json"
        text = stored.read_text()
        for old, new in (('"confusion":[[0,', '"confusion":[[9,'), ('"classes":["0"', '"classes":[7'), ("}", "")):
            stored.write_text(text.replace(old, new))
            self.assertNotEqual(stored.read_text(), text)
            self.refused(1, ["evaluation.json"], "report", self.folder / "run", "--out", self.folder / "page.html")
        self.assertFalse((self.folder / "page.html").exists())

    def forged(self, **changes):
        """The page of `run` after these changes to its evaluation.json, if it has one."""
        stored = self.folder / "run" / "evaluation.json"
        stored.write_text(json.dumps({**json.loads(stored.read_text()), **changes}))
        return ["report", self.folder / "run", "--out", self.folder / "page.html"]

    def test_a_strangers_run_makes_no_page_larger_than_its_size_bounds(self):
        self.trained("run")
        stored = self.folder / "run" / "evaluation.json"
        text = stored.read_text()
        classes = json.loads(text)["classes"]
        n = len(classes)
        for words, change in ((["out of order"], {"confusion": [[0, 0, 1]] * 2000}), (["samples"], {"confusion": [[0, 1, 0]]}),
                              (["version"], {"version": 0}), (["val"], {"split": "\u202e"}),
                              (["worst", "60"], {"worst": [{"id": i, "label": 0, "prediction": 1, "loss": 1} for i in range(61)]})):  # fmt: skip
            self.refused(1, ["evaluation.json", *words], *self.forged(**change))
            stored.write_text(text)
        cells = [[label, prediction, 1] for label in range(n) for prediction in range(n)]
        self.ok(*self.forged(classes=["é" * 100_000] * n, confusion=cells, right=f"{(1 << n) - 1:x}"))
        self.assertLess((self.folder / "page.html").stat().st_size, 300_000)
        self.assertIn("é" * 50 + "…", self.page(self.folder / "page.html")[0])
        stored.unlink()
        config = {"k" * 50_000: {str(i): 0 for i in range(10_000)}, "many": {str(i): i for i in range(3000)}}
        (self.folder / "run" / "config.json").write_text(json.dumps(config))
        self.ok("report", self.folder / "run", "--out", self.folder / "page.html")
        self.assertLess((self.folder / "page.html").stat().st_size, 500_000)
        self.assertIn("and 1,001 more", self.page(self.folder / "page.html")[0])

    def test_numbers_of_no_run_are_left_out(self):
        self.trained("run")
        with open(self.folder / "run" / "metrics.jsonl", "a") as file:
            for epoch, value in ((1.8, 1e308), (1.9, -1e308), (1e308, 1), (2, 5e-324)):
                file.write(json.dumps({"step": 12, "epoch": epoch, "wall": 1e300 if value == 1 else 9, "train.loss": value,
                                       "val.top1": value, "train.lr": value}) + "\n")  # fmt: skip
        self.ok("report", self.folder / "run", "--out", self.folder / "page.html")
        self.page(self.folder / "page.html")
        self.assertEqual(re.findall(r"[^a-z](?:nan|inf)[^a-z]", (self.folder / "page.html").read_text()), [])

    def test_a_cache_that_is_a_pipe_keeps_nobody_waiting(self):
        self.trained("run")
        (self.folder / "pipe").mkdir()
        os.mkfifo(self.folder / "pipe" / "manifest.json")
        command = self.forged(cache=str(self.folder / "pipe"))
        subprocess.run([WINNOW, *map(str, command)], check=True, timeout=PATIENCE_S, capture_output=True)
        text, _ = self.page(self.folder / "page.html")
        self.assertIn("There are no pictures: cannot read", text)
        self.assertIn("regular file", text)

    def test_the_best_is_that_of_the_metric_that_is_watched(self):
        self.trained("watched", "--keep-best", "loss")
        self.trained("plain")
        self.ok("report", self.folder / "watched", "--out", self.folder / "page.html")
        text, _ = self.page(self.folder / "page.html")
        state = json.loads((self.folder / "watched" / "checkpoints" / "latest" / "state.json").read_text())["best"]
        self.assertIn(f"best val.loss{state['value']:.4g}, step {state['step']}", text)
        self.assertNotIn("best val.top1", text)
        self.ok("report", self.folder / "watched", self.folder / "plain", "--out", self.folder / "page.html")
        text, _ = self.page(self.folder / "page.html")
        self.assertIn("best val.loss", text)
        self.assertIn("best val.top1", text)

    def test_names_do_not_turn_the_text_around_them(self):
        self.trained("run")
        config = {"net": {"name": "\u202ea", "description": "a = 1\nb = 2\n"}, "\u202ekey": 1}
        (self.folder / "run" / "config.json").write_text(json.dumps(config))
        self.cache.rename(self.folder / "moved")
        self.ok("report", self.folder / "run", "--out", self.folder / "page.html")
        _, root = self.page(self.folder / "page.html")
        for element in root.iter():
            apart = element.tag.split("}")[-1] == "bdi"
            for text in ((element.text or "") if not apart else "", element.tail or ""):
                self.assertNotIn("\u202e", text)
                self.assertNotIn("There are no pictures", text)
        (lines,) = [element for element in root.iter() if element.tag.endswith("pre")]
        self.assertEqual(lines.text, "a = 1\nb = 2\n")

    def test_the_summary_has_a_row_for_each_epoch_and_evaluation(self):
        self.ok(*self.command("run", "--epochs", 2, "--log-interval", 1, "--holdout", 0.25, "--eval-every", 4))
        with open(self.folder / "run" / "summary.csv", newline="") as file:
            table = list(csv.DictReader(file))
        self.assertEqual([int(row["step"]) for row in table], [4, 6, 8, 12])  # epochs end after steps 6 and 12
        rows = {row["step"]: row for row in self.rows("run") if "train.loss" in row}
        for begin, row in zip((0, 4, 6, 8), table):
            losses = [rows[step]["train.loss"] for step in range(begin + 1, int(row["step"]) + 1)]
            self.assertAlmostEqual(float(row["train.loss"]), sum(losses) / len(losses))
            self.assertEqual(float(row["train.lr"]), rows[int(row["step"])]["train.lr"])
        evaluated = {row["step"]: row["val.top1"] for row in self.rows("run") if "val.top1" in row}
        self.assertEqual([row["val.top1"] != "" for row in table], [True, False, True, True])
        self.assertEqual(float(table[-1]["val.top1"]), evaluated[12])


if __name__ == "__main__":
    unittest.main(verbosity=2)
