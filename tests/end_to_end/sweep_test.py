"""winnow sweep: points and their controls, trained once whatever is killed; the same table."""

import csv
import json
import os
import random
import re
import signal
import statistics
import struct
import subprocess
import unittest
import xml.etree.ElementTree as xml

from program import ROOT, WINNOW, Case, columns, end_on_its_way, errors_in, lines_of_metrics, run, some_of

try:
    import jsonschema
except ImportError:
    jsonschema = None

TRAIN = ["--", "--net", "lenet", "--image-size", 16, "--batch-size", 32, "--micro-batch", 16, "--warmup-epochs", 0,
         "--augment", "none", "--lr", 0.02]  # fmt: skip

TEST, LEAKED = 36, 6


class Sweep(Case):
    whole = None  # of a sweep of all points by epochs, which several tests compare with: its table, its size in KiB, and its lines of metrics

    def whole_by_epochs(self):
        if not Sweep.whole:
            out = self.folder / "whole"
            self.ok(*self.command(out, "--equal", "epochs"))
            size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) >> 10
            Sweep.whole = (out / "table.csv").read_bytes(), size, lines_of_metrics(out)
        return Sweep.whole

    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        # 120 pictures of two classes; half of the pictures of the first come three times, a little changed.
        for i in range(120):
            label = "ab"[i % 2]
            pixels = bytearray(self.image(24, seed=i))
            for copy in range(3 if i % 4 == 0 else 1):
                pixels[copy] = (pixels[copy] + 40) % 256
                self.write_ppm(self.folder / "set" / "train" / label / f"{i}-{copy}.ppm", bytes(pixels), 24)
        for i in range(TEST - LEAKED):
            self.write_ppm(self.folder / "set" / "test" / "ab"[i % 2] / f"{i}.ppm", self.image(24, seed=1000 + i), 24)
        for i in range(LEAKED):  # pictures of train that are in test as well
            self.write_ppm(self.folder / "set" / "test" / "ab"[i % 2] / f"leak-{i}.ppm", self.image(24, seed=i), 24)
        self.cache = self.folder / "cache"
        self.ok("ingest", self.folder / "set", "--out", self.cache)

    def command(self, out, *more, seeds=2):
        return ["sweep", self.cache, "--out", out, "--removed", "0.1,0.2", "--epochs", 1, "--seeds", seeds,
                "--holdout", 0.2, *more, *TRAIN]  # fmt: skip

    def test_points_and_controls(self):
        out = self.folder / "sweep"
        value = self.ok(*self.command(out, "--json", "--lanes", 2)).json()
        if jsonschema:
            schema = json.loads((ROOT / "docs" / "schemas" / "sweep.schema.json").read_text())
            jsonschema.Draft202012Validator(schema).validate(value)
        arms = {(arm["arm"], arm["equal"]): arm for arm in value["arms"]}
        self.assertEqual(len(arms), 10)
        whole = arms["all", "epochs"]
        training = whole["kept"]
        self.assertEqual(whole["removed"], 0)
        for share in (10, 20):
            for equal in ("epochs", "steps"):
                arm = arms[f"phash-r{share}-first", equal]
                self.assertEqual(arm["removed"], int(training * share / 100 + 0.5))
                self.assertEqual(arm["removed"] + arm["kept"], training)
                control = arms[arm["control"], equal]
                self.assertEqual((control["removed"], control["kept"]), (arm["removed"], arm["kept"]))
                self.assertIsNone(control["control"])
                self.assertAlmostEqual(arm["epochs"], 1 if equal == "epochs" else training / arm["kept"], 5)
        confusion = json.loads(next(out.glob("runs/*/run/evaluation.json")).read_text())["confusion"]
        held_out = [sum(row[2] for row in confusion if row[0] == label) for label in range(2)]
        for arm in value["arms"]:
            self.assertEqual((len(arm["top1"]), arm["failures"]), (2, []))
            self.assertTrue(all(top1 is not None for top1 in arm["top1"]))
            self.assertEqual(sum(arm["removed_by_class"]), arm["removed"])
            self.assertEqual(arm["images"], round(arm["epochs"] * arm["kept"]))
            self.assertGreater(arm["seconds"], 0)
            # By class all that was right together is what was right.
            right = sum(share * images for share, images in zip(arm["top1_by_class"], held_out))
            self.assertAlmostEqual(right / sum(held_out), statistics.mean(arm["top1"]), 6)
        # Copies in test, but for those of images that are held out.
        self.assertTrue(0 < whole["leaks"] <= LEAKED, whole)
        self.assertEqual([(c["class"]) for c in value["classes"]], ["a", "b"])
        self.assertEqual(sum(c["samples"] for c in value["classes"]), training)
        self.assertEqual((whole["precision"], whole["bits"]), (None, None))
        self.assertGreater(arms["phash-r20-first", "steps"]["precision"], 0.9)
        self.assertIsNone(arms[arms["phash-r20-first", "steps"]["control"], "steps"]["precision"])
        self.assertEqual({key for arm in value["arms"] for key in arm["results"]}, {file.stem for file in (out / "results").iterdir()})
        # Which images each run has right, and which program on which machine said so.
        kept = [json.loads(json.loads(file.read_text())["result"]) for file in (out / "results").iterdir()]
        for run in (run for run in kept if "classes" in run):
            self.assertEqual(int(run["right"], 16).bit_count(), sum(right for right, _ in run["classes"]))
            self.assertEqual(len(run["right"]), -(-sum(held_out) // 4))
        self.assertEqual(len({(run["program"], run["machine"]) for run in kept if "classes" in run}), 1)
        # What removes nothing has the same steps either way, and is trained once.
        results = list((out / "results").iterdir())
        self.assertEqual(len(results), 2 * 9)
        # No run has seen test, and all are judged on the same images.
        for run in (out / "runs").iterdir():
            evaluation = json.loads((run / "run" / "evaluation.json").read_text())
            self.assertEqual(evaluation["split"], "val")
            self.assertEqual(sum(row[2] for row in evaluation["confusion"]), value["held_out"])
        with open(out / "table.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([float(row["top1"]) for row in rows], [top1 for arm in value["arms"] for top1 in arm["top1"]])
        text = " ".join("".join(xml.parse(out / "page.html").getroot().itertext()).split())
        self.assertIn(value["recommendation"], text)
        self.assertIn("winnow train", text)

        # With two seeds and few images nothing is recommended, and so nobody has looked at test.
        self.assertEqual((value["test"]["images"], value["test"]["looks"], value["test"]["arms"]), (TEST, 0, []))
        self.assertFalse((out / "looks.json").exists())

        # Again: nothing is trained, and the table is the same.
        table, times = (out / "table.csv").read_bytes(), {path: path.stat().st_mtime_ns for path in results}
        self.assertNotIn("false pairs expected", self.ok(*self.command(out)).err, "the hold-out is not cut again")
        self.assertEqual((out / "table.csv").read_bytes(), table)
        self.assertEqual({path: path.stat().st_mtime_ns for path in results}, times)
        # More seeds: those that are there stay.
        self.assertIn("27 runs", self.ok(*self.command(out, seeds=3)).err)
        self.assertEqual({path: path.stat().st_mtime_ns for path in results}, times)

    def test_estimate(self):
        out, before = self.folder / "sweep", sorted(self.folder.rglob("*"))
        value = self.ok(*self.command(out, "--estimate", "--json", "--lanes", 2)).json()
        if jsonschema:
            schema = json.loads((ROOT / "docs" / "schemas" / "sweep-estimate.schema.json").read_text())
            jsonschema.Draft202012Validator(schema).validate(value)
        # Nothing was made but what all runs have in common: the hold-out.
        made = {path for path in set(self.folder.rglob("*")) - set(before) if path.is_file()}
        self.assertEqual({path.name for path in made if path.parent == out}, {"hold-out.json", "queue.json", "queue.lock"})
        held = json.loads((out / "hold-out.json").read_text())
        self.assertEqual({path.stem for path in made if path.parent != out}, {held["base"], held["test"]}, made)
        self.assertEqual((value["runs"], value["shared"], value["done"]), (18, 2, 0))
        self.assertGreater(value["seconds"], 0)
        self.assertEqual(value["images"], 2 * sum(round(arm["epochs"] * arm["kept"]) for arm in value["arms"][1:]))
        # What is done is counted, and tells how fast runs are.
        self.ok(*self.command(out, "--equal", "epochs"))
        said = self.ok(*self.command(out, "--estimate")).err
        self.assertIn("18 runs (2 more equal one of them, not done again), 10 of them done", said)
        self.assertIn("about", said)
        # Points that remove the same are trained once: distances of this hash are even.
        value = self.ok("sweep", self.cache, "--out", self.folder / "even", "--threshold", "4,5", "--equal", "steps", "--seeds", 2,
                        "--estimate", "--json", *TRAIN).json()  # fmt: skip
        self.assertEqual((len(value["arms"]), value["runs"], value["shared"]), (4, 6, 2))

    def test_says_what_becomes_of_small_classes(self):
        self.write_ppm(self.folder / "set" / "train" / "rare" / "1.ppm", self.image(24, seed=2000), 24)
        for i in range(8):
            self.write_ppm(self.folder / "set" / "train" / "twin" / f"{i}.ppm", self.image(24, seed=0), 24)
        self.cache = self.folder / "more"
        self.ok("ingest", self.folder / "set", "--out", self.cache)
        notes = self.ok(*self.command(self.folder / "sweep", "--estimate", "--json")).json()["notes"]
        # All of a class lies on one side: an image alone, or pictures that are one.
        self.assertEqual(len(notes), 4, notes)
        self.assertRegex(notes[0], r"the hold-out has no image of the class '(rare|twin)', .*; a larger --holdout")
        self.assertRegex(notes[1], r"the hold-out leaves nothing to train on of the class '(rare|twin)'; a smaller --holdout")
        # The twins are one picture with one of class a, which comes first and stays.
        for note, point in zip(notes[2:], ("phash-r10-first", "phash-r20-first")):
            self.assertRegex(note, f"^{point} leaves nothing to train on of the class 'twin', .*thin less to keep it")

    def test_looks_at_test_once(self):
        out = self.folder / "sweep"
        command = self.command(out, "--equal", "epochs", "--margin", 99, "--json")
        value = self.ok(*command).json()
        test = value["test"]
        # The harder point is recommended, whatever it loses.
        names = ["all", "phash-r20-first", next(a["control"] for a in value["arms"] if a["arm"] == "phash-r20-first")]
        self.assertEqual([arm["arm"] for arm in test["arms"]], names)
        leaked = test["leaked"]
        self.assertEqual(leaked, next(arm["leaks"] for arm in value["arms"] if arm["arm"] == "all"))
        self.assertEqual((test["images"], test["looks"]), (TEST, 1))
        self.assertIn(f"without the {leaked} that have a duplicate in training", test["said"])
        # It is what winnow eval says of the runs, one of each seed.
        evaluations = []
        for path in sorted((out / "results").iterdir()):
            job = json.loads(json.loads(path.read_text())["job"])
            if "test" in job:
                evaluations.append(path)
                run, result = out / "runs" / job["run"] / "run", json.loads(json.loads(path.read_text())["result"])
                told = self.ok("eval", run, self.cache, "--selection", job["test"], "--json").json()
                self.assertEqual((told["split"], told["samples"], told["leaked"]), ("test", TEST, leaked))
                self.assertEqual((told["top1"], told["top1_leak_free"]), (result["top1"], result["top1_leak_free"]))
        self.assertEqual(len(evaluations), 2 * 3)
        with open(out / "table.csv", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["test_top1"]]
        self.assertEqual([float(row["test_top1_leak_free"]) for row in rows],
                         [top1 for arm in test["arms"] for top1 in arm["top1_leak_free"]])  # fmt: skip
        self.assertIn(test["said"], " ".join("".join(xml.parse(out / "page.html").getroot().itertext()).split()))
        # Again: nobody looks again. Where another point is recommended it is said that test is unseen no more.
        times = {path: path.stat().st_mtime_ns for path in evaluations}
        self.ok(*command)
        self.assertEqual({path: path.stat().st_mtime_ns for path in evaluations}, times)
        again = self.ok(*command[:5], "0.1", *command[6:]).json()["test"]
        self.assertEqual((again["looks"], again["arms"][1]["arm"]), (2, "phash-r10-first"))
        self.assertIn("2 different choices", again["said"])

    def test_stops_what_has_lost_early(self):
        # Pictures that are learnt in an epoch, and not from a fiftieth of them.
        self.learnable_idx(self.folder / "easy", train=512)
        self.ok("ingest", self.folder / "easy", "--out", self.folder / "easy-cache")
        out = self.folder / "sweep"
        command = ["sweep", self.folder / "easy-cache", "--out", out, "--removed", "0.9,0.98", "--equal", "epochs",
                   "--holdout", 0.2, "--epochs", 2, "--seeds", 6, "--lanes", 2, "--json"]  # fmt: skip
        value = self.ok(*command, *TRAIN).json()
        arms = {arm["arm"]: arm for arm in value["arms"]}
        self.assertEqual((len(arms["all"]["top1"]), arms["all"]["stopped_after"]), (6, None))
        for name in "phash-r98-first", arms["phash-r98-first"]["control"]:
            self.assertIn(arms[name]["stopped_after"], (3, 4, 5), value)
            self.assertEqual(len(arms[name]["top1"]), arms[name]["stopped_after"])
        self.assertEqual(arms["phash-r98-first"]["loss"], "a loss")
        self.assertIsNone(value["recommended"])
        # Runs that were left out are done on request; without that, it makes no difference.
        table = (out / "table.csv").read_bytes()
        whole = self.ok(*command, "--all-seeds", *TRAIN).json()
        self.assertEqual({len(arm["top1"]) for arm in whole["arms"]}, {6})
        self.ok(*command, *TRAIN)
        self.assertEqual((out / "table.csv").read_bytes(), table)

    def test_a_loss_that_is_not_finite_on_the_hold_out_alone_is_a_row(self):
        # One step, whose own loss is that of the initial weights.
        words = ["--", "--net", "lenet", "--image-size", 16, "--batch-size", 128, "--micro-batch", 16, "--warmup-epochs", 0,
                 "--augment", "none", "--lr", 1e30]  # fmt: skip
        command = self.command(self.folder / "sweep", "--equal", "epochs", "--json", seeds=1)[: -len(TRAIN)]
        value = self.ok(*command, *words).json()
        self.assertIsNone(value["recommended"])
        for arm in value["arms"]:
            self.assertEqual(arm["top1"], [None])
            self.assertEqual(arm["failures"], ["the loss on the hold-out is not finite"])

    def detailed_cache(self):
        """40 pictures with details, of each fourth a part, which no code finds; 8 of test."""
        photos = self.folder / "detailed"
        for i in range(40):
            picture = self.detailed(i)
            self.write_pgm(photos / "train" / "ab"[i % 2] / f"{i:02}.pgm", picture)
            if i % 4 == 0:
                self.write_pgm(photos / "train" / "ab"[i % 2] / f"{i:02} part.pgm", [row[15:85] for row in picture[6:60]])
        for i in range(8):
            self.write_pgm(photos / "test" / "ab"[i % 2] / f"{i}.pgm", self.detailed(100 + i))
        self.cache = self.folder / "detailed-cache"
        self.ok("ingest", photos, "--out", self.cache)

    def by_pictures(self, out, *more, holdout=0.2):
        return ["sweep", self.cache, "--out", out, "--verify", "--keep", "best", "--equal", "epochs", "--epochs", 1, "--seeds", 1,
                "--holdout", holdout, *more, *TRAIN]  # fmt: skip

    def assert_groups_are_told(self, out, removed):
        """Each selection has its groups beside it; what pictures told of those that were removed is among them."""
        for selection in (self.cache / "selections").glob("sweep-*.selection"):
            groups = columns(selection.with_suffix(".groups"))
            self.assertEqual(len(groups["members"]), sum(int.from_bytes(size, "little") for size in groups["sizes"]))
        thinned = columns(self.cache / "selections" / f"{self.name_of(out, 'pictures-best')}.groups")
        rows = {name: [int.from_bytes(row, "little") for row in thinned[name]] for name in ("members", "first", "second")}
        self.assertEqual(thinned["compared"], [b"\1"])
        self.assertLessEqual(set(removed), set(rows["members"]))
        self.assertLessEqual(set(removed), {*rows["first"], *rows["second"]})
        self.assertEqual(len(thinned["map"]), 6 * len(rows["first"]))

    def name_of(self, out, arm):
        """What an arm's first run was trained on."""
        text = " ".join("".join(xml.parse(out / "page.html").getroot().itertext()).split())
        return re.search(rf"{arm}, equal epochs ?winnow train.*?--selection (sweep-[0-9a-f]+)", text)[1]

    def selection_of(self, out, arm):
        """Of each row of what an arm's first run was trained on: its split and its weight."""
        found = columns(self.cache / "selections" / f"{self.name_of(out, arm)}.selection")
        return [split[0] for split in found["splits"]], [struct.unpack("<f", weight)[0] for weight in found["weights"]]

    def test_by_pictures(self):
        self.detailed_cache()
        out = self.folder / "sweep"
        first = self.ok(*self.by_pictures(out, "--mode", "keep,weight", "--removed", 0.05, "--json"))
        self.assertEqual(first.err.count("10 pairs show the same picture"), 1, first.err)
        value = first.json()
        if jsonschema:
            schema = json.loads((ROOT / "docs" / "schemas" / "sweep.schema.json").read_text())
            jsonschema.Draft202012Validator(schema).validate(value)
        arms = {arm["arm"]: arm for arm in value["arms"]}
        self.assertEqual(list(arms)[:5], ["all", "phash-r5-best", "phash-r5-weight", "pictures-best", "pictures-weight"])
        # Each picture of train that has a part there: no hold-out lies between both.
        self.ok("dedup", self.cache, "--verify", "--scope", "within", "--name", "whole")
        whole = columns(self.cache / "selections" / "whole.selection")["weights"]
        base, _ = self.selection_of(out, "all")
        removed = [row for row, weight in enumerate(whole) if weight == bytes(4) and base[row] == 1]
        _, weights = self.selection_of(out, "pictures-best")
        self.assertEqual([row for row, weight in enumerate(weights) if weight == 0], removed)
        self.assertTrue(0 < len(removed) <= 10, removed)
        self.assert_groups_are_told(out, removed)
        for name in "pictures-best", "pictures-weight":
            arm, control = arms[name], arms[arms[name]["control"]]
            self.assertEqual((arm["removed"], arm["bits"]), (len(removed), None))
            self.assertGreater(arm["precision"], 0.9)
            self.assertEqual(control["removed_by_class"], arm["removed_by_class"])
        self.assertEqual(arms["pictures-weight"]["images"], arms["all"]["images"])
        # Again, for another share, and for another hold-out: no picture is compared.
        table = (out / "table.csv").read_bytes()
        again = self.by_pictures(out, "--mode", "keep,weight", "--removed", 0.05)
        for command in again, self.by_pictures(out, "--estimate", "--removed", 0.1), self.by_pictures(out, "--estimate", holdout=0.3):
            self.assertNotIn("verify:", self.ok(*command).err)
        self.ok(*again)
        self.assertEqual((out / "table.csv").read_bytes(), table)
        # Nor after an estimate, in a folder of its own.
        other = self.folder / "other"
        command = [str(other) if word is out else word for word in again]
        said = self.ok(*command[:-len(TRAIN)], "--estimate", *TRAIN).err
        self.assertIn("of the pairs that show one picture", said)
        self.assertIn("verify:", said)
        self.assertNotIn("verify:", self.ok(*command).err)
        self.assertEqual((other / "table.csv").read_bytes(), table)

    def test_folders_without_pairs_keep_working(self):
        self.detailed_cache()
        out = self.folder / "sweep"
        self.ok(*self.by_pictures(out, "--removed", 0.05))
        table = (out / "table.csv").read_bytes()
        (out / "verified.pairs").unlink()  # as folders of an older winnow have none
        plain = [word for word in self.by_pictures(out, "--removed", 0.05) if word != "--verify"]
        self.assertNotIn("verify:", self.ok(*plain).err)
        self.assertFalse((out / "verified.pairs").exists())
        self.assertIn("verify:", self.ok(*self.by_pictures(out, "--removed", 0.05)).err)
        self.assertEqual((out / "table.csv").read_bytes(), table)
        pairs = (out / "verified.pairs").read_bytes()
        (out / "verified.pairs").write_bytes(pairs[:-1] + bytes([pairs[-1] ^ 1]))
        self.refused(1, ["verified.pairs", "damaged"], *self.by_pictures(out))
        # Those of another cache are none of this one.
        self.ok("ingest", self.folder / "set", "--out", self.folder / "second")
        (self.folder / "foreign").mkdir()
        foreign = [self.folder / "foreign" if word is out else word for word in self.by_pictures(out)]
        foreign[1] = self.folder / "second"
        self.ok(*foreign[:-len(TRAIN)], "--estimate", *TRAIN)
        (self.folder / "foreign" / "verified.pairs").write_bytes(pairs)
        self.refused(1, ["another cache", "remove this file"], *foreign)

    def test_killed_while_pictures_are_compared_it_gives_the_same_table(self):
        self.detailed_cache()
        whole = self.folder / "whole"
        self.ok(*self.by_pictures(whole))
        points = ["file.write.before:verified.pairs", "file.rename.before:verified.pairs", "file.rename.after:verified.pairs",
                  "file.rename.before:hold-out.json", "file.rename.after:hold-out.json"]  # fmt: skip
        for i, point in enumerate(some_of("points of comparing pictures for a sweep, killed at", points, 2,
                                          lambda point: point.split(":")[0], lambda point: point.split(":")[1])):  # fmt: skip
            with self.subTest(point):
                out = self.folder / f"killed-{i}"
                killed = run(*self.by_pictures(out), env={"WINNOW_FAILPOINTS": f"kill={point}:1"})
                self.assertEqual(killed.code, -signal.SIGKILL, killed.err)
                again = self.ok(*self.by_pictures(out)).err
                self.assertEqual("verify:" in again, "before:verified" in point, again)
                self.assertEqual((out / "table.csv").read_bytes(), (whole / "table.csv").read_bytes())

    def test_shares_are_met_by_the_nearest_pairs_first(self):
        # Pictures that turn into each other in steps, so that one more bit joins many, and copies of some of them.
        photos, count = self.folder / "steps", 0
        for film in range(8):
            keys = [self.image(24, seed=10 * film + k) for k in range(4)]
            for one, other in zip(keys, keys[1:]):
                for step in range(4):
                    pixels = bytearray((x * (4 - step) + y * step) // 4 for x, y in zip(one, other))
                    for copy in range(2 if step == 1 else 1):
                        pixels[copy] ^= 1
                        self.write_ppm(photos / "train" / "ab"[film % 2] / f"{count:03}-{copy}.ppm", bytes(pixels), 24)
                    count += 1
        self.cache = self.folder / "steps-cache"
        self.ok("ingest", photos, "--out", self.cache, "--hash", "phash,phash16,ahash")
        shares = (0.05, 0.15, 0.25, 0.4, 0.6)
        for name in "phash", "phash16", "ahash":
            value = self.ok("sweep", self.cache, "--out", self.folder / name, "--hash", name, "--removed", ",".join(map(str, shares)),
                            "--equal", "epochs", "--holdout", 0.1, "--estimate", "--json", *TRAIN)  # fmt: skip
            arms = value.json()["arms"]
            for arm, share in zip(arms[1:], shares):
                self.assertLessEqual(abs(arm["removed"] / arms[0]["kept"] - share), 0.01, arm)
            bits = [int(found) for found in re.findall(r"of pairs within (\d+) bits", value.err)]
            self.assertEqual(bits, sorted(bits))

    def test_most_images(self):
        out = self.folder / "sweep"
        command = self.command(out, "--equal", "epochs", "--json", seeds=1)
        value = self.ok(*command[:-len(TRAIN)], "--most-images", 140, *TRAIN).json()
        small = [arm for arm in value["arms"] if arm["kept"] <= 140 and not arm["arm"].startswith("control")]
        best = max(small, key=lambda arm: (arm["top1"][0], -arm["kept"]))
        self.assertEqual(value["recommended"], {"arm": best["arm"], "equal": "epochs"})
        self.assertIn("it is the most accurate", value["recommendation"])
        self.assertEqual([arm["arm"] for arm in value["test"]["arms"]][:2], ["all", best["arm"]])
        self.refused(2, ["no point keeps at most 10", "larger --removed"], *command[:-len(TRAIN)], "--most-images", 10, *TRAIN)

    def test_killed_it_gives_the_same_table(self):
        table, _, lines = self.whole_by_epochs()
        out, draw = self.folder / "killed", random.Random(1)
        kills = int(os.environ.get("WINNOW_TEST_SWEEP_KILLS", 4))
        for _ in range(kills):
            end_on_its_way(self.command(out, "--equal", "epochs", "--lanes", 2), out, draw.choice([signal.SIGKILL, signal.SIGTERM]),
                           draw.randrange(1 + 2 * lines // kills))  # fmt: skip
        self.ok(*self.command(out, "--equal", "epochs", "--lanes", 2))
        self.assertEqual((out / "table.csv").read_bytes(), table)

    def test_a_disk_that_is_really_full(self):
        script = """
            mount -t tmpfs -o size=${SIZE}k winnow /mnt
            "$@"; echo "exit $?"
            mount -o remount,size=200m /mnt
            "$@" || exit 10
            cp /mnt/sweep/table.csv "$TABLE"
        """
        if subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "winnow", "/mnt"], capture_output=True).returncode:
            self.skipTest("a small tmpfs cannot be mounted here")
        whole, size, _ = self.whole_by_epochs()
        command = [WINNOW, *map(str, self.command("/mnt/sweep", "--equal", "epochs"))]
        for part in (0.02, 0.5):
            table = self.folder / f"table-{part}"
            done = subprocess.run(["unshare", "-rm", "bash", "-c", "set -u\n" + script, "_", *command], capture_output=True, text=True,
                                  env={**os.environ, "SIZE": str(int(size * part)), "TABLE": str(table)})  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"exit [12]\n")
            said = errors_in(done.stderr)
            self.assertEqual(len(said), 1, done.stderr)
            self.assertRegex(said[0], "o space|do not fit")
            self.assertEqual(table.read_bytes(), whole)

    def test_refusals(self):
        out = self.folder / "sweep"
        sweep = ["sweep", self.cache, "--out", out]
        self.refused(2, ["say what to remove"], *sweep)
        self.refused(2, ["--removed: must be at least 0 and at most 1"], *sweep, "--removed", 1.5)
        self.refused(2, ["threshold of 65"], *sweep, "--threshold", 65)
        self.refused(2, ["winnow train", "nonet"], *sweep, "--threshold", 4, "--seeds", 1, "--", "--net", "nonet")
        self.assertIn("--seeds 3", self.ok(*self.command(self.folder / "one", "--equal", "epochs", seeds=1)).err)
        self.refused(2, ["--seed cannot be passed", "winnow sweep decides it", "--seeds"], *sweep, "--threshold", 4, "--", "--seed", 3)
        self.refused(2, ["--max-steps cannot be passed", "--epochs"], *sweep, "--threshold", 4, "--", "--max-steps=3")
        self.refused(2, ["cannot remove 99.99 %", "% at most", "smaller --removed"], *sweep, "--removed", 0.9999)
        self.refused(2, ["contains other files"], *self.command(self.folder / "set"))


if __name__ == "__main__":
    unittest.main()
