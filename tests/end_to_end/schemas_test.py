"""The output of --json and the lines of metrics.jsonl conform to docs/schemas, which accept nothing else."""

import copy
import json
import pathlib
import re
import unittest

from golden import mixed_set, write_tree
from program import ROOT, Case, run

try:
    import jsonschema
except ImportError:
    jsonschema = None

SCHEMAS = {path.name.split(".")[0]: json.loads(path.read_text()) for path in (ROOT / "docs" / "schemas").iterdir()}


def validator(name):
    return jsonschema.Draft202012Validator(SCHEMAS[name])


def objects(schema):
    """Every schema of an object in `schema`, itself included. Conditions only narrow it, and are left out."""
    if isinstance(schema, list):
        for part in schema:
            yield from objects(part)
    elif isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for key, part in schema.items():
            if key not in ("if", "then", "else"):
                yield from objects(part)


def spoiled(value):
    """Copies of a JSON value with a single error, each with a description."""
    if isinstance(value, dict):
        for key, part in value.items():
            for why, other in spoiled(part):
                yield f"{key}: {why}", {**value, key: other}
        yield "another field", {**value, "no such field": 1}
    elif isinstance(value, list):
        for i, part in enumerate(value[:2]):
            for why, other in spoiled(part):
                yield f"[{i}]: {why}", value[:i] + [other] + value[i + 1 :]
    elif isinstance(value, bool) or value is None:
        yield "text", "text"
    elif isinstance(value, (int, float)):
        yield "negative", -1
        yield "text", str(value)
    elif isinstance(value, str):
        yield "number", 17
    yield "a list of a list", [[value]]


@unittest.skipUnless(jsonschema, "this Python has no package jsonschema (Debian: python3-jsonschema)")
class Schemas(Case):
    def check(self, name, value):
        for error in validator(name).iter_errors(value):
            self.fail(f"{name}: {error.json_path}: {error.message}")

    def json_of(self, name, *args, **more):
        """Runs `winnow ARGS --json`, which must print one line that conforms to the schema `name`."""
        result = self.ok(*args, "--json", **more)
        self.assertEqual(result.out.count("\n"), 1, result.out)
        value = json.loads(result.out)
        self.assertEqual(value["schema"], f"winnow.{name}/1")
        self.check(name, value)
        return value

    def lines_of(self, name, path):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        self.assertTrue(lines)
        for line in lines:
            self.check(name, line)
        return lines

    def refuses_spoiled(self, name, value):
        count = 0
        for why, other in spoiled(value):
            self.assertFalse(validator(name).is_valid(other), f"{name} takes {why}: {other}")
            count += 1
        for field in SCHEMAS[name]["required"]:
            less = copy.deepcopy(value)
            del less[field]
            self.assertFalse(validator(name).is_valid(less), f"{name} does without {field}")
        self.assertGreater(count, 3)

    def test_schemas_are_strict(self):
        for name, schema in SCHEMAS.items():
            jsonschema.Draft202012Validator.check_schema(schema)
            self.assertEqual(schema["type"], "object")
            for part in objects(schema):
                self.assertIs(part.get("additionalProperties"), False, f"{name}: {part}")
                self.assertLessEqual(set(part["required"]), set(part["properties"]))
                for field, what in part["properties"].items():
                    kinds = {"type", "const", "enum", "$ref"} & set(what)
                    self.assertTrue(kinds, f"{name}: {field} may be anything")

    def test_every_verb_with_json_has_a_schema(self):
        verbs = re.findall(r"^  ([a-z][a-z-]*)  ", run("--help").out.partition("\nExit codes")[0], re.MULTILINE)
        with_json = [verb for verb in verbs if "--json" in run(verb, "--help-all").out.split("Subcommands:")[0]]
        self.assertIn("train", with_json)
        for verb in with_json:
            self.assertIn(verb.replace("-", "_"), SCHEMAS, f"winnow {verb} --json has no schema")

    def test_folds(self):
        for i in range(8):
            self.write_ppm(self.folder / "photos" / "stuck" / f"{i}.ppm", self.image(16, seed=0), 16)
            self.write_ppm(self.folder / "photos" / "free" / f"{i}.ppm", self.image(16, seed=i + 1), 16)
        cache = self.folder / "cache"
        self.ok("ingest", self.folder / "photos", "--out", cache)
        folds = self.json_of("folds", "split", cache, "--folds", 2, "--name", "cv", "--hash", "exact")
        self.assertEqual([row["class"] for row in folds["off"]], ["stuck"])
        self.refuses_spoiled("folds", folds)
        self.json_of("info", "info", cache, "--selection", "cv-2")

    def test_caches(self):
        write_tree(self.folder / "mixed", mixed_set())
        for store in ("original", "raw", "none"):
            cache = self.folder / store
            ingested = self.json_of("ingest", "ingest", self.folder / "mixed", "--out", cache, "--store", store)
            self.assertEqual(sum(ingested["classes"].values()), ingested["inputs"])
            self.assertGreater(ingested["stages"]["decode"]["busy_seconds"], 0)
            self.assertEqual(self.json_of("info", "info", cache)["selections"], [])
            self.lines_of("ledger", cache / "ledger.jsonl")
            manifest = json.loads((cache / "manifest.json").read_text())
            info = self.json_of("info", "info", cache)
            self.assertEqual(info["manifest"], manifest)
            self.assertEqual(manifest["digest"], ingested["digest"])

            exact = self.json_of("dedup", "dedup", cache, "--hash", "exact", "--name", "exact")
            self.assertEqual(exact["leaks"], [{"a": "train", "b": "test", "groups": 1, "samples": 1}])
            alike = self.json_of("dedup", "dedup", cache, "--threshold", 12, "--scope", "within")
            self.assertEqual(alike["removed"] + alike["kept"], ingested["ok"])
            tuned = self.json_of("tune", "tune", cache, "--images", 5, "--precision", 0.5)
            self.refuses_spoiled("tune", tuned)
            self.assertEqual(self.json_of("info", "info", cache)["selections"], ["default", "exact"])
            self.assertEqual(self.json_of("verify", "verify", cache)["selections"], ["default", "exact"])
            dealt = self.json_of("split", "split", cache, "--threshold", 26, "--train", 0.6, "--val", 0.2)
            self.assertEqual(sum(row["samples"] for row in dealt["splits"]), ingested["ok"])
            self.json_of("info", "info", cache, "--selection", "split")
            self.assertGreater(len(dealt["off"]), 0)
            self.refuses_spoiled("split", dealt)
            exported = self.json_of("export", "export", cache, "--to", self.folder / f"{store}.csv", "--as", "list",
                                    "--selection", "exact")
            self.assertEqual((exported["samples"], exported["left_out"]), (ingested["ok"], exact["removed"]))
            if store != "none":
                small = self.folder / f"small-{store}"
                compacted = self.json_of("compact", "compact", cache, "--selection", "exact", "--out", small)
                self.assertEqual(compacted["kept"], exact["kept"])
                self.json_of("info", "info", small)
                self.lines_of("ledger", small / "ledger.jsonl")
        augmented = self.folder / "augmented"
        self.json_of("ingest", "ingest", self.folder / "mixed", "--out", augmented, "--augment", "cifar", "--copies", 2,
                     "--image-size", 8)  # fmt: skip
        said = self.json_of("info", "info", augmented)
        self.assertEqual(said["manifest"]["settings"]["augment"]["copies"], 2)
        self.refuses_spoiled("info", said)
        self.refuses_spoiled("compact", compacted)
        estimated = self.json_of("estimate", "ingest", self.folder / "mixed", "--out", self.folder / "no", "--estimate")
        self.assertEqual(estimated["inputs"], ingested["inputs"])
        self.assertFalse((self.folder / "no").exists())
        self.refuses_spoiled("estimate", estimated)
        self.refuses_spoiled("export", exported)
        self.refuses_spoiled("ingest", ingested)
        dropped = self.json_of("ingest", "ingest", self.folder / "mixed", "--out", self.folder / "less", "--drop")
        self.assertEqual(dropped["dropped"], dropped["classes"]["duplicate"])
        self.json_of("info", "info", self.folder / "less")
        self.lines_of("ledger", self.folder / "less" / "ledger.jsonl")
        self.refuses_spoiled("ingest", dropped)
        retried = self.json_of("ingest", "ingest", self.folder / "mixed", "--out", cache, "--retry-failed")
        self.assertEqual((retried["retried"], retried["recovered"]), (ingested["inputs"] - ingested["ok"], 0))
        self.refuses_spoiled("ingest", retried)
        self.refuses_spoiled("info", self.json_of("info", "info", cache, "--selection", "exact"))
        self.refuses_spoiled("dedup", exact)
        self.refuses_spoiled("verify", self.json_of("verify", "verify", cache))
        self.refuses_spoiled("info", self.json_of("info", "info", cache, "--issues", "blurry,odd_size"))
        self.json_of("dedup", "dedup", cache, "--hash", "exact", "--name", "fine", "--drop-issues", "dark,blurry")
        self.json_of("info", "info", cache, "--selection", "fine")
        # Everything that the settings of a selection can contain.
        (review := self.folder / "review.jsonl").write_text('{"schema":"winnow.review/1"}\n')
        obeyed = ["--review", review, "--least-quality", 10, "--name"]
        said = self.json_of("dedup", "dedup", cache, "--thin", "val", "--prefer", "**", "--protect", "**", *obeyed, "all")
        self.assertEqual(said["least_quality"], 10)
        self.assertNotIn("least_quality", alike)
        self.json_of("info", "info", cache, "--selection", "all")
        self.assertEqual(self.json_of("split", "split", cache, *obeyed, "dealt")["least_quality"], 10)
        self.assertEqual(self.json_of("folds", "split", cache, "--folds", 2, *obeyed, "cv")["least_quality"], 10)
        self.json_of("info", "info", cache, "--selection", "dealt")

    def test_index(self):
        write_tree(self.folder / "mixed", mixed_set())
        index = self.folder / "index"
        self.ok("index", "add", index, self.folder / "mixed")
        decided = self.ok("index", "dedup", index, "--threshold", 8, "--json").json()
        self.check("dedup", decided)
        said = self.json_of("index", "index", "info", index)
        self.assertEqual(said["images"], decided["kept"] + decided["removed"])
        self.refuses_spoiled("index", said)
        for more in ([], ["--verify"]):
            asked = self.json_of("index_query", "index", "query", index, self.folder / "mixed", "--threshold", 8, *more)
            self.assertEqual(asked["known"], asked["images"])
            self.assertEqual("verified" in asked, "--verify" in more)
            self.refuses_spoiled("index_query", asked)

    def test_bench(self):
        write_tree(self.folder / "mixed", mixed_set())
        caches = self.folder / "caches"
        caches.mkdir()
        lines = self.ok("hash", self.folder / "mixed", "--hash", "phash,pdq", "--json").out.splitlines()
        self.assertGreater(len(lines), 10)
        for line in lines:
            self.check("hash", json.loads(line))
        self.refuses_spoiled("hash", json.loads(lines[0]))
        quick = ["--seconds", 0.01, "--rounds", 2, "--labels", "none"]
        decoded = self.json_of("bench", "bench", "decode", self.folder / "mixed", *quick)
        self.assertEqual([row["name"] for row in decoded["rows"]], ["decode", "decode pixels"])
        ingested = self.json_of("bench", "bench", "ingest", self.folder / "mixed", *quick, "--out", caches)
        self.assertEqual([row["name"] for row in ingested["rows"]],
                         ["ingest", "ingest, of decoding and writing"])
        hashed = self.json_of("bench", "bench", "hash", "--seconds", 0.01, "--hash", "pdq,ahash", "--width", 40)
        self.assertEqual([row["name"] for row in hashed["rows"]], ["pdq", "ahash", "pdq+ahash"])
        searched = self.json_of("bench", "bench", "search", "--count", 20000, "--bits", 128, "--radius", 9)
        self.assertEqual([(row["name"], row["unit"]) for row in searched["rows"]], [("search", "codes/s")])
        self.refused(2, ["multiple of 64"], "bench", "search", "--bits", 100)
        self.ok("ingest", self.folder / "mixed", "--out", self.folder / "photos", "--labels", "none")
        loaded = self.json_of("bench", "bench", "loader", self.folder / "photos", "--image-size", 16, "--batch-size", 8,
                              "--seconds", 0.01, "--rounds", 2)
        self.assertEqual([row["name"] for row in loaded["rows"]],
                         ["loader, of reading", "loader, of decoding", "loader, of augmenting"])
        self.ok("ingest", self.folder / "mixed", "--out", self.folder / "bare", "--labels", "none", "--store", "raw")
        bare = self.ok("bench", "loader", self.folder / "bare", "--image-size", 16, "--seconds", 0.01, "--json")
        self.assertEqual([row["name"] for row in bare.json()["rows"]],
                         ["loader, of reading", "loader, of augmenting", "loader, of copying"])
        self.assertIn("the bottleneck is", bare.err)
        for row in decoded["rows"] + ingested["rows"] + hashed["rows"] + searched["rows"] + loaded["rows"]:
            self.assertGreater(row["achieved"], 0)
            self.assertGreater(row["attainable"], 0)
        shuffle = ["bench", "shuffle", self.folder / "bare", "--batch-size", 4, "--partitions", 2]
        shuffled = self.json_of("bench", *shuffle)
        self.assertEqual([row["name"] for row in shuffled["rows"] if "outside" in row["name"]],
                         [f"shuffle of {q}, used outside their lane" for q in ("0", "0.05", "0.1", "0.25", "0.5", "1")])
        once = self.json_of("bench", *shuffle, "--shuffle-fraction", 0.25)
        self.assertEqual({row["name"] for row in once["rows"]} - {row["name"] for row in shuffled["rows"]}, set())
        self.refused(2, ["partitions, 4"], *shuffle[:3], "--batch-size", 3, "--partitions", 4)
        exchange = ["bench", "alltoall", "-b", "300K", "--rounds", 1]
        exchanged = self.json_of("bench", *exchange, "--segment", 1000, "--gradients", "40K", ranks=3)
        self.assertEqual([(row["name"], row["unit"]) for row in exchanged["rows"]],
                         [("alltoall", "MB/s"), ("alltoall, of MPI_Ialltoallv", "MB/s"),
                          ("allreduce beside alltoall", "MB/s")])  # fmt: skip
        self.refused(2, ["at least 2 ranks"], *exchange)
        summed = self.json_of("allreduce", "bench", "allreduce", "-b", "4K", "-e", "64K", "-f", 16, "-n", 2, "--schedule", "ring,auto,hierarchical",
                              ranks=3)  # fmt: skip
        self.assertEqual([(row["bytes"], row["schedule"].split(":")[0], row["wrong"]) for row in summed["rows"]],
                         [(bytes_, name, 0) for bytes_ in (4096, 65536) for name in ("ring", "auto", "hierarchical", "hierarchical/memory", "MPI_Allreduce")])
        stepped = self.json_of("allreduce", "bench", "allreduce", "-b", "4K", "-e", "12K", "-i", "4K", "-n", 1, "-w", 0, "--schedule", "ring",
                               ranks=2)  # fmt: skip
        self.assertEqual([row["bytes"] for row in stepped["rows"] if row["schedule"] == "ring"], [4096, 8192, 12288])
        typed = self.json_of("allreduce", "bench", "allreduce", "-b", "4K", "-e", "4K", "-n", 1, "--schedule", "ring", "--type",
                             "f64,bf16,f16,i32,i64", ranks=3)  # fmt: skip
        self.assertEqual([(row["type"], row["messages"], row["schedule"], row["count"], row["wrong"]) for row in typed["rows"]],
                         [(type_, type_, name, 4096 // size, 0) for type_, size, names in
                          (("f64", 8, ("ring", "MPI_Allreduce")), ("bf16", 2, ("ring",)), ("f16", 2, ("ring",)),
                           ("i32", 4, ("ring", "MPI_Allreduce")), ("i64", 8, ("ring", "MPI_Allreduce"))) for name in names])
        self.refused(2, ["no type of elements 'f8'"], "bench", "allreduce", "--type", "f8", ranks=2)
        self.refused(2, ["at least 2 ranks"], "bench", "allreduce")
        self.refused(2, ["no all-reduce schedule 'star'"], "bench", "allreduce", "--schedule", "star", ranks=2)
        self.refused(2, ["--max-bytes"], "bench", "allreduce", "-b", "1M", "-e", "1K", ranks=2)
        self.refuses_spoiled("allreduce", summed)
        self.refused(2, ["without mpirun"], "bench", "hash", ranks=2)
        self.assertEqual(list(caches.iterdir()), [])
        self.refuses_spoiled("bench", ingested)
        self.learnable_idx(self.folder / "pixels", train=8, test=8)
        self.refused(2, ["bare pixels"], "bench", "decode", self.folder / "pixels")
        self.refused(2, ["not a folder"], "bench", "ingest", self.folder / "mixed", "--out", caches / "none")

    def test_a_gate_that_refuses_prints_its_object_too(self):
        write_tree(self.folder / "mixed", mixed_set())
        cache = self.folder / "cache"
        self.ok("ingest", self.folder / "mixed", "--out", cache)
        refused = run("dedup", cache, "--on-leak", "fail", "--json")
        self.assertEqual(refused.code, 3)
        self.check("dedup", json.loads(refused.out))

    def test_training(self):
        self.learnable_idx(self.folder / "data", train=48, test=16)
        cache = self.folder / "cache"
        self.ok("ingest", self.folder / "data", "--out", cache)
        self.ok("dedup", cache, "--hash", "exact")
        recipe = ["--net", "lenet", "--batch-size", 8, "--micro-batch", 4, "--epochs", 1, "--log-interval", 2]
        plain = self.json_of("train", "train", cache, "--out", self.folder / "plain", *recipe)
        self.assertIsNone(plain["top1_leak_free"])
        self.assertNotIn("top1_ema", plain)
        judged = self.json_of("train", "train", cache, "--out", self.folder / "judged", *recipe, "--selection", "default",
                              "--ema-decay", 0.9, ranks=2)
        self.assertGreaterEqual(judged["top1_ema"], 0)
        self.assertEqual(judged["split"], "test")
        self.assertIsNotNone(judged["top1_leak_free"])
        lines = self.lines_of("metrics", self.folder / "judged" / "metrics.jsonl")
        self.assertTrue(all("ranks.slowest_in" in line for line in lines if "train.loss" in line))
        ranks = json.loads((self.folder / "judged" / "ranks.json").read_text())
        self.check("ranks", ranks)
        self.assertEqual([row["rank"] for row in ranks["ranks"]], [0, 1])
        self.refuses_spoiled("ranks", ranks)
        census = json.loads((self.folder / "judged" / "census.json").read_text())
        self.check("census", census)
        self.refuses_spoiled("census", census)
        self.assertTrue(any("test.top1_leak_free" in line for line in lines))
        self.assertTrue(any("test_ema.top1" in line for line in lines))
        self.assertTrue(any("train.loss" in line for line in lines))
        self.assertTrue(all("train.top1" in line for line in lines if "train.loss" in line))
        self.assertEqual({line["run"] for line in lines}, {(self.folder / "judged" / "run_id").read_text().strip()})
        for split in ("test", "train"):
            evaluated = self.json_of("eval", "eval", self.folder / "judged", cache, "--split", split)
            self.assertEqual(sum(map(sum, evaluated["confusion"])), evaluated["samples"])
        self.json_of("eval", "eval", self.folder / "plain", cache)
        self.json_of("eval", "eval", self.folder / "plain", cache, "--tta", "mirror-shift")
        watched = self.json_of("train", "train", cache, "--out", self.folder / "watched", *recipe, "--holdout", 0.3, "--tta", "shift",
                               "--keep-best", "loss", "--eval-every", 2)  # fmt: skip
        self.lines_of("metrics", self.folder / "watched" / "metrics.jsonl")
        self.refuses_spoiled("train", watched)
        evaluation = json.loads((self.folder / "watched" / "evaluation.json").read_text())
        self.check("evaluation", evaluation)
        self.assertEqual(evaluation["split"], "val")
        self.refuses_spoiled("evaluation", evaluation)
        self.refuses_spoiled("train", judged)
        self.refuses_spoiled("eval", evaluated)
        self.refuses_spoiled("predict", self.json_of("predict", "predict", self.folder / "judged", cache, "--out", self.folder / "predicted"))
        self.refuses_spoiled("predict_status", self.json_of("predict_status", "predict", "--status", "--out", self.folder / "predicted"))
        self.refuses_spoiled("embed", self.json_of("embed", "embed", self.folder / "judged", cache))
        self.refuses_spoiled("info", self.json_of("info", "info", cache))
        self.refuses_spoiled("metrics", lines[0])
        folds = self.json_of("train_folds", "train", cache, "--out", self.folder / "folds", *recipe, "--folds", 2)
        self.refuses_spoiled("train_folds", folds)
        suspects = self.json_of("suspects", "suspects", cache, "--run", self.folder / "folds")
        self.assertGreater(len(suspects["suspects"]), 0)
        self.refuses_spoiled("suspects", suspects)
        self.ok("train", cache, "--out", self.folder / "partial", *recipe, "--shuffle-fraction", 0.1, "--partitions", 2)
        (line, *_) = self.lines_of("metrics", self.folder / "partial" / "metrics.jsonl")
        self.assertEqual((line["step"], len(line)), (0, 8))
        self.refuses_spoiled("metrics", line)
        self.ok("train", cache, "--out", self.folder / "scaled", *recipe, "--max-steps", 2, "--backend", "reference", "--dtype", "f16")
        (line, *_) = self.lines_of("metrics", self.folder / "scaled" / "metrics.jsonl")
        self.assertEqual((line["train.loss_scale"], line["train.repeated_steps"]), (65536, 0))
        self.refuses_spoiled("metrics", line)

    def test_training_without_anything_to_evaluate_on(self):
        root = self.folder / "photos"
        for i in range(16):
            self.write_ppm(root / "train" / ("cat", "dog")[i % 2] / f"{i}.ppm", self.image(16), 16)
        cache = self.folder / "cache"
        self.ok("ingest", root, "--out", cache)
        trained = self.json_of("train", "train", cache, "--out", self.folder / "run", "--net", "lenet", "--batch-size", 8,
                               "--epochs", 1)
        self.assertIsNone(trained["split"])
        self.assertIsNone(trained["top1"])

    def test_class_names_of_any_bytes(self):
        root = self.folder / "photos"
        for i in range(16):
            label = ("cat", b"caf\xe9".decode("utf-8", "surrogateescape"))[i % 2]
            self.write_ppm(root / ("train" if i < 8 else "val") / label / f"{i}.ppm", self.image(16), 16)
        cache = self.folder / "cache"
        self.ok("ingest", root, "--out", cache)
        self.ok("train", cache, "--out", self.folder / "run", "--net", "lenet", "--batch-size", 8, "--epochs", 1)
        evaluated = self.json_of("eval", "eval", self.folder / "run", cache)
        self.assertEqual(evaluated["split"], "val")
        self.assertEqual(evaluated["classes"], ["caf\uefe9", "cat"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
