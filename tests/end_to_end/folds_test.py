"""winnow train --folds: a net that has not seen it predicts each training image."""

import csv
import json
import math
import signal
import struct
import unittest

from program import Case, columns, run


def read_npy(path):
    """The shape of a matrix of f32, (rows, columns), and its values."""
    raw = path.read_bytes()
    assert raw[:8] == b"\x93NUMPY\x01\x00"
    (size,) = struct.unpack("<H", raw[8:10])
    header = raw[10 : 10 + size].decode()
    assert header.startswith("{'descr': '<f4', 'fortran_order': False, 'shape': (") and header.endswith("\n")
    assert (10 + size) % 64 == 0
    shape = tuple(int(n) for n in header.split("(")[1].split(")")[0].split(","))
    return shape, struct.unpack(f"<{shape[0] * shape[1]}f", raw[10 + size :])


def read_csv(path):
    with open(path, newline="", encoding="utf-8", errors="surrogateescape") as file:
        return list(csv.DictReader(file))


class Folds(Case):
    RECIPE = ["--net", "lenet", "--batch-size", 16, "--lr", 0.02, "--epochs", 1, "--recipe", "none", "--log-interval", 1]

    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        self.cache = self.folder / "cache"

    def ingest(self, **more):
        self.learnable_idx(self.folder / "data", **more)
        self.ok("ingest", self.folder / "data", "--out", self.cache)

    def command(self, out, *more, folds=3):
        return ["train", self.cache, "--out", out, "--folds", folds, *self.RECIPE, *more]

    def files(self, out):
        return {name: (out / f"out-of-fold.{name}").read_bytes() for name in ("npy", "csv", "json")}

    def test_each_image_is_predicted_by_the_net_that_has_not_seen_it(self):
        self.ingest(train=150, test=20)
        out = self.folder / "run"
        told = self.ok(*self.command(out), "--json").json()
        rows = read_csv(out / "out-of-fold.csv")
        shape, values = read_npy(out / "out-of-fold.npy")
        self.assertEqual((shape, len(rows)), ((150, 4), 150))
        ids = [int(row["id"]) for row in rows]
        self.assertEqual(ids, sorted(set(ids)))
        self.assertEqual(told["samples"], 150)
        self.assertAlmostEqual(told["top1"], sum(row["label"] == row["prediction"] for row in rows) / 150)
        by_id = {row["id"]: (row, values[4 * i : 4 * i + 4]) for i, row in enumerate(rows)}
        for fold in (1, 2, 3):
            predictions = self.folder / f"{fold}.csv"
            evaluated = self.ok("eval", out / f"fold-{fold}", self.cache, "--predictions", predictions, "--logits", "--json").json()
            self.assertEqual((evaluated["split"], evaluated["leaked"]), ("val", 0))
            self.assertEqual(evaluated["top1"], told["folds"][fold - 1]["top1"])
            mine = read_csv(predictions)
            self.assertEqual({row["id"] for row in mine}, {row["id"] for row in rows if int(row["fold"]) == fold})
            self.assertEqual(len(mine), 50)
            for row in mine:
                known, probabilities = by_id[row["id"]]
                self.assertEqual([row[key] for key in ("name", "label", "prediction")],
                                 [known[key] for key in ("name", "label", "prediction")])  # fmt: skip
                weights = [math.exp(float(value)) for key, value in row.items() if key.startswith("logit_")]
                for p, weight in zip(probabilities, weights, strict=True):
                    self.assertAlmostEqual(p, weight / sum(weights), places=5)
        self.ok("report", out / "fold-1", out / "fold-2", "--out", self.folder / "page.html")

    def test_a_selection_is_obeyed_and_no_group_is_cut(self):
        photos = self.folder / "photos"
        for i in range(60):
            pixels = self.image(16, seed=i)
            self.write_ppm(photos / f"class {i % 2}" / f"{i:02}.ppm", pixels, 16)
            if i < 20:  # exact copies, known as duplicates, one of which the selection removes
                self.write_ppm(photos / f"class {i % 2}" / f"{i:02} copy.ppm", pixels, 16)
        self.ok("ingest", photos, "--out", self.cache)
        self.ok("dedup", self.cache, "--hash", "exact", "--name", "thin")
        all_of_them = self.folder / "all"
        self.ok(*self.command(all_of_them))  # also without splits: nothing else is held out
        rows = read_csv(all_of_them / "out-of-fold.csv")
        self.assertEqual(len(rows), 80)
        fold_of = {row["name"]: row["fold"] for row in rows}
        for name in fold_of:
            if name.endswith(" copy.ppm"):
                self.assertEqual(fold_of[name], fold_of[name.replace(" copy", "")])
        thin = self.folder / "thin"
        self.ok(*self.command(thin, "--selection", "thin"))
        self.assertEqual(len(read_csv(thin / "out-of-fold.csv")), 60)
        self.assertEqual(json.loads((thin / "out-of-fold.json").read_text())["selection"], "thin")
        self.assertEqual(sorted(path.stem for path in (self.cache / "selections").glob("*.selection")),
                         ["folds3-1", "folds3-2", "folds3-3", "thin", "thin-folds3-1", "thin-folds3-2", "thin-folds3-3"])  # fmt: skip
        chosen = columns(self.cache / "selections" / "thin-folds3-1.selection")
        removed = [row for row, weight in enumerate(chosen["weights"]) if struct.unpack("<f", weight)[0] == 0]
        self.assertEqual(len(removed), 20)
        self.assertEqual({chosen["splits"][row][0] for row in removed}, {0})

    def test_killed_or_stopped_it_goes_on_to_the_same_result(self):
        self.ingest(train=96, test=8)
        whole = self.folder / "whole"
        self.ok(*self.command(whole, "--reproducible", folds=2))
        spread = self.folder / "spread"
        self.ok(*self.command(spread, "--reproducible", folds=2), ranks=2)
        self.assertEqual(self.files(whole), self.files(spread))
        points = ["kill=file.write.after:folds2-2.selection:1", "kill=file.rename.before:config.json:2", "kill=file.write.after:metrics.jsonl:2",
                  "kill=file.write.after:metrics.jsonl:6", "kill=file.rename.before:out-of-fold.csv:1", "kill=file.rename.before:out-of-fold.json:1",
                  "kill=file.rename.after:out-of-fold.json:1", "term=file.write.after:metrics.jsonl:5"]  # fmt: skip
        for i, point in enumerate(points):
            with self.subTest(point):
                out = self.folder / f"run-{i}"
                command = [*self.command(out, "--reproducible", "--resume", "auto", folds=2)]
                ended = run(*command, env={"WINNOW_FAILPOINTS": point})
                self.assertEqual(ended.code, 75 if point.startswith("term") else -signal.SIGKILL, ended.err)
                self.ok(*command)
                self.assertEqual(self.files(whole), self.files(out))

    def test_refusals(self):
        self.ingest(train=24, test=8)
        out = self.folder / "run"
        self.refused(2, ["--holdout"], *self.command(out, "--holdout", 0.1))
        self.refused(2, ["--keep-best"], *self.command(out, "--keep-best", "top1"))
        self.refused(2, ["25 folds", "fewer folds"], *self.command(out, folds=25))
        self.refused(2, ["no selection", "none"], *self.command(out, "--selection", "none"))
        self.assertFalse(out.exists())
        self.assertEqual(run(*self.command(out, folds=1)).code, 2)
        self.ok("train", self.cache, "--out", out, *self.RECIPE)
        self.refused(2, ["run", "choose another --out"], *self.command(out))
        folds = self.folder / "folds"
        self.ok(*self.command(folds, folds=2))
        self.refused(2, ["fold-1 already contains a run", "--resume auto"], *self.command(folds, folds=2))
        self.refused(2, ["data.selection"], *self.command(folds, "--resume", "auto", folds=3))
        self.refused(2, ["recipe.momentum"], *self.command(folds, "--momentum", 0.5, "--resume", "auto", folds=2))
        self.refused(2, ["no run"], "train", self.cache, "--out", folds, *self.RECIPE)
        for verb in ("embed", "eval"):
            self.refused(2, [f"folds contains a run for each fold; name one of them, such as {folds / 'fold-1'}"], verb, folds, self.cache)


if __name__ == "__main__":
    unittest.main()
