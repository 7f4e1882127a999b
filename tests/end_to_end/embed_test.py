"""winnow embed: features of nets and from .npy files, how they are stored, and when they are refused."""

import json
import math
import struct
import unittest

from program import Case, columns, npy, run, tensors


def vectors(path):
    """The vectors of a feature file, {id: vector}."""
    found = columns(path)
    dimensions = int.from_bytes(found["dimensions"][0], "little")
    scales = struct.unpack(f"<{len(found['scales'])}f", b"".join(found["scales"]))
    ids = [int.from_bytes(raw, "little") for raw in found["ids"]]
    code, raw = ("e", found["f16"]) if "f16" in found else ("b", found["i8"])
    values = struct.unpack(f"<{len(raw)}{code}", b"".join(raw))
    return {
        id: [scale * v for v in values[k * dimensions : (k + 1) * dimensions]]
        for k, (id, scale) in enumerate(zip(ids, scales))
    }


def off(ours, theirs):
    """The largest difference in a vector, relative to its largest magnitude, over all images."""
    assert ours.keys() == theirs.keys()
    return max(
        max(abs(a - b) for a, b in zip(ours[id], theirs[id])) / max(map(abs, theirs[id])) for id in theirs
    )


def write_safetensors(path, tensors):
    """Writes tensors, {name: (shape, floats)}."""
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        raw = struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


class Embed(Case):
    @classmethod
    def setUpClass(cls):
        """Pictures of all splits, and a run."""
        case = cls("ok")
        case.setUp()
        cls.addClassCleanup(case.doCleanups)
        cls.shared = case.folder
        for split, count in (("train", 12), ("val", 5), ("test", 9)):
            for i in range(count):
                case.write_ppm(case.folder / "photos" / split / f"class-{i % 3}" / f"{i:02}.ppm",
                               case.image(24, seed=100 * len(split) + i), 24)
        case.ok("ingest", case.folder / "photos", "--out", case.folder / "cache")
        cls.photos, cls.cache, cls.trained = case.folder / "photos", case.folder / "cache", case.folder / "run"
        case.ok("train", cls.cache, "--out", cls.trained, "--net", "resnet20", "--batch-size", 10, "--augment", "none",
                "--max-steps", 4, "--ema-decay", 0.5)
        cls.weights = cls.trained / "checkpoints" / "latest" / "model.safetensors"

    def embed(self, source, *args, name="default", cache=None):
        result = self.ok("embed", source, cache or self.cache, "--name", name, "--json", *args)
        return result.json(), self.features(name, cache)

    def features(self, name="default", cache=None):
        return (cache or self.cache) / "features" / f"{name}.features"

    def test_every_image_of_every_split_has_a_vector(self):
        said, file = self.embed(self.trained)
        self.assertEqual((said["images"], said["without"], said["dimensions"]), (26, 0, 64))
        ids = [int.from_bytes(raw, "little") for raw in columns(self.cache / "fingerprints" / "table")["ids"]]
        self.assertEqual(list(vectors(file)), ids)
        source = json.loads(b"".join(columns(file)["source"]))
        self.assertEqual(source, said["source"])
        self.assertEqual((source["run"], source["net"], source["checkpoint"], source["ema"]),
                         ("run", "resnet20", "step-4", False))

    def test_logits_follow_from_the_vectors(self):
        """The classifier applied to them gives the predictions of eval."""
        _, file = self.embed(self.trained)
        csv = self.folder / "predictions.csv"
        self.ok("eval", self.trained, self.cache, "--split", "test", "--predictions", csv, "--logits")
        found = tensors(self.weights)
        bias = struct.unpack("<3f", found["fc.bias"])
        weight = struct.unpack(f"<{3 * 64}f", found["fc.weight"])
        of = vectors(file)
        lines = csv.read_text().splitlines()[1:]
        self.assertEqual(len(lines), 9)
        for line in lines:
            id, *rest = line.split(",")
            logits = [float(value) for value in rest[-3:]]
            for k in range(3):
                mine = bias[k] + sum(w * v for w, v in zip(weight[64 * k : 64 * k + 64], of[int(id)]))
                self.assertAlmostEqual(mine, logits[k], delta=2e-3 * max(map(abs, logits)) + 2e-3)

    def test_a_file_of_other_classes_gives_the_same_vectors(self):
        _, of_run = self.embed(self.trained)
        _, of_file = self.embed(self.weights, "--net", "resnet20", name="file")
        self.assertEqual(vectors(of_run), vectors(of_file))
        # A cache of the same pictures without labels.
        flat = self.folder / "flat"
        flat.mkdir()
        for path in sorted(self.photos.rglob("*.ppm")):
            (flat / "-".join(path.parts[-3:])).write_bytes(path.read_bytes())
        self.ok("ingest", flat, "--out", self.folder / "unlabelled")
        said, file = self.embed(self.trained, cache=self.folder / "unlabelled")
        self.assertEqual(said["images"], 26)
        self.assertEqual(sorted(map(str, vectors(file).values())), sorted(map(str, vectors(of_run).values())))

    def test_the_bytes_are_the_same_on_any_number_of_threads(self):
        seen = {self.embed(self.trained, "--threads", threads)[1].read_bytes() for threads in (1, 2, 5)}
        self.assertEqual(len(seen), 1)

    def test_a_run_s_averages_and_checkpoints_can_be_taken(self):
        _, plain = self.embed(self.trained)
        said, averages = self.embed(self.trained, "--ema", name="ema")
        self.assertTrue(said["source"]["ema"])
        self.assertNotEqual(vectors(plain), vectors(averages))
        _, step = self.embed(self.trained, "--checkpoint", "step-4", name="step")
        self.assertEqual(vectors(step), vectors(plain))

    def given(self, rows, names, *args, dtype="<f4", major=1, name="given"):
        (self.folder / "v.npy").write_bytes(npy(rows, dtype, major=major))
        (self.folder / "names.txt").write_text("".join(f"{line}\n" for line in names))
        return self.embed(self.folder / "v.npy", "--names", self.folder / "names.txt", *args, name=name)

    def names(self):
        return [json.loads(line)["name"] for line in (self.cache / "ledger.jsonl").read_text().splitlines()]

    def test_given_vectors_go_to_the_images_they_are_named_after(self):
        names = self.names()
        rows = [[float(i), 1.0, -0.5 * i] for i in range(len(names))]
        ids = [int.from_bytes(raw, "little") for raw in columns(self.cache / "fingerprints" / "table")["ids"]]
        order = list(range(len(names)))
        self.random.shuffle(order)
        for major, dtype in ((1, "<f4"), (2, "<f2"), (3, "<f8")):
            said, file = self.given([rows[i] for i in order], [names[i] for i in order], dtype=dtype, major=major)
            self.assertEqual((said["without"], said["dimensions"]), (0, 3))
            self.assertEqual(vectors(file), dict(zip(ids, rows)))
        said, file = self.given(rows[:4], names[:4])
        self.assertEqual((said["images"], said["without"]), (4, 22))
        self.assertEqual(vectors(file), dict(zip(ids[:4], rows)))

    def test_given_vectors_are_refused_with_a_sentence(self):
        names = self.names()
        file, list_ = self.folder / "v.npy", self.folder / "names.txt"
        for words, rows, lines, code in (
            (["row 1", names[1], "NaN or infinity"], [[1, 2], [math.nan, 1]], names[:2], 1),
            (["row 0", names[0], "NaN or infinity"], [[math.inf, 2], [1, 1]], names[:2], 1),
            (["row 1", names[1], "all zero"], [[1, 2], [0, 0]], names[:2], 1),
            (["row 0", names[0], "3.4e38"], [[-3.402e38, 2], [1, 0]], names[:2], 1),
            (["v.npy have 0 dimensions"], [[], []], names[:2], 2),
            (["v.npy have 65537 dimensions"], [[1] * 65537], names[:1], 2),
            (["3 images", "2 vectors"], [[1, 2], [3, 4]], names[:3], 2),
            (["line 2", "no image 'nothing'", "ledger.jsonl"], [[1, 2], [3, 4]], [names[0], "nothing"], 2),
            (["lines 1 and 2", names[0]], [[1, 2], [3, 4]], [names[0], names[0]], 2),
        ):
            file.write_bytes(npy(rows))
            list_.write_text("".join(f"{line}\n" for line in lines))
            self.refused(code, words, "embed", file, self.cache, "--names", list_, "--name", "bad")
        for words, raw in ((["<i4", "numpy.save("], npy([[1]], "<i4")), (["fewer or more bytes"], npy([[1, 2]])[:-1]),
                           (["not a matrix"], npy([[1]], shape="(1,)")), (["not written by numpy"], b"nothing")):
            file.write_bytes(raw)
            self.refused(1, words, "embed", file, self.cache, "--names", list_, "--name", "bad")
        file.write_bytes(npy([[1, 2]]))
        list_.write_text("it's " + "a long line, " * 80000 + "the end\n")
        said = self.refused(2, ["line 1", "no image 'it's a long", "the end'; names are"], "embed", file, self.cache, "--names", list_)
        self.assertLess(len(said.err), 1000)
        self.refused(2, ["--names FILE"], "embed", file, self.cache)
        self.refused(2, ["so no net is needed"], "embed", file, self.cache, "--names", list_, "--net", "resnet20")
        self.assertFalse(self.features("bad").exists())

    def angles(self, degrees, names, name="angles"):
        """Features whose cosines are those of these angles."""
        self.given([[math.cos(math.radians(a)), math.sin(math.radians(a))] for a in degrees], names, name=name)

    def test_duplicates_are_found_by_features(self):
        names = [name for name in self.names() if name.startswith("train/")]
        # 0 and 5 degrees have a cosine of 0.996, and so have 30 and 35. The others are alone or have no vector.
        self.angles([0, 5, 30, 35, 90, 180], names[:6])
        decided = self.ok("dedup", self.cache, "--features", "angles", "--cosine", 0.99, "--name", "near", "--list-pairs",
                          self.folder / "pairs.csv", "--list-groups", self.folder / "groups.csv", "--json").json()
        self.assertEqual((decided["hash"], decided["features"], decided["threshold"], decided["cosine"], decided["groups"]),
                         ("cosine", "angles", 10, 0.99, 2))
        pairs = [line.split(",") for line in (self.folder / "pairs.csv").read_text().splitlines()]
        self.assertEqual(pairs[0][-2:], ["distance", "cosine"])
        self.assertEqual([(p[1], p[5], p[-2], p[-1]) for p in pairs[1:]],
                         [(names[0], names[1], "4", "0.996"), (names[2], names[3], "4", "0.996")])
        kept = columns(self.cache / "selections" / "near.selection")
        self.assertEqual({int.from_bytes(raw, "little") for raw in kept["distances"]}, {0, 4})
        wide = self.ok("dedup", self.cache, "--features", "angles", "--cosine", 0.9, "--groups", "cliques", "--name", "wide",
                       "--json").json()
        self.assertEqual(wide["groups"], 2)  # the cosine of 5 and 30 degrees is 0.906; 0 and 30 are further apart
        chained = self.ok("dedup", self.cache, "--features", "angles", "--cosine", 0.9, "--name", "wide", "--json").json()
        self.assertEqual((chained["groups"], chained["chains"]), (1, 1))
        page = self.folder / "page.html"
        self.ok("dedup", self.cache, "--features", "angles", "--cosine", 0.9, "--name", "wide", "--report", page)
        self.assertIn("<!DOCTYPE html>", page.read_text()[:100])

    def test_splits_and_reviews_go_by_features_too(self):
        names = self.names()
        self.angles([10 * (i // 2) for i in range(len(names))], names)  # each vector occurs twice
        split = self.ok("split", self.cache, "--features", "angles", "--cosine", 0.999, "--val", 0.4, "--of", "train", "val", "test",
                        "--name", "dealt", "--json").json()
        self.assertEqual((split["hash"], split["threshold"], split["features"], split["largest_block"]), ("cosine", 1, "angles", 2))
        dealt = columns(self.cache / "selections" / "dealt.selection")["splits"]
        for k in range(0, len(names), 2):
            self.assertEqual(dealt[k], dealt[k + 1])
        self.refused(2, ["instead of a hash"], "split", self.cache, "--features", "angles", "--cosine", 0.9, "--hash", "phash")
        self.ok("dedup", self.cache, "--features", "angles", "--cosine", 0.98, "--name", "turns")
        info = self.ok("info", self.cache, "--selection", "turns").out
        self.assertIn("cosine of features angles", info)

    def test_a_file_that_was_renamed_is_known_by_its_new_name(self):
        self.angles([0, 5], self.names()[:2], name="first")
        self.features("first").rename(self.features("second"))
        self.refused(2, ["has no features 'first'", "second"], "dedup", self.cache, "--features", "first", "--cosine", 0.9)
        self.ok("dedup", self.cache, "--features", "second", "--cosine", 0.9, "--name", "by-second")
        self.assertIn("cosine of features second", self.ok("info", self.cache, "--selection", "by-second").out)

    def test_features_that_cannot_be_compared_are_refused_with_a_sentence(self):
        names = self.names()
        self.angles([0, 5], names[:2], name="two")
        by = ["dedup", self.cache, "--features"]
        self.refused(2, ["has no features 'none'", "two"], *by, "none", "--cosine", 0.9)
        self.refused(2, ["--cosine", "0.97"], *by, "two")
        self.refused(2, ["--features NAME"], "dedup", self.cache, "--cosine", 0.9)
        for value in (0, 1.2, 0.9995):
            self.refused(2, ["--cosine: must be at least -1" if value > 1 else "in steps of 0.001"], *by, "two", "--cosine", value)
        for more in (["--hash", "phash"], ["--threshold", 3], ["--risk", 1]):
            self.refused(2, ["instead of a hash"], *by, "two", "--cosine", 0.9, *more)
        self.refused(2, ["ingest it first"], "dedup", self.photos, "--features", "two", "--cosine", 0.9)
        whole = self.features("two").read_bytes()
        self.features("cut").write_bytes(whole[:-9])
        self.refused(1, ["cut.features", "damaged", "make it again"], *by, "cut", "--cosine", 0.9)
        self.features("cut").unlink()
        self.ok("ingest", self.photos / "train", "--out", self.folder / "other")
        (self.folder / "other" / "features").mkdir()
        self.features("two", self.folder / "other").write_bytes(whole)
        self.refused(2, ["two.features was made for another cache", "winnow embed"], "dedup", self.folder / "other",
                     "--features", "two", "--cosine", 0.9)

    def test_bad_use_is_refused_with_a_sentence(self):
        self.refused(2, ["--net"], "embed", self.weights, self.cache)
        self.refused(2, ["knows its net"], "embed", self.trained, self.cache, "--net", "resnet20")
        self.refused(2, ["--names", "not one"], "embed", self.trained, self.cache, "--names", "n.txt")
        self.refused(2, ["nothing at"], "embed", self.folder / "nowhere", self.cache)
        self.refused(2, ["no checkpoint step-9"], "embed", self.trained, self.cache, "--checkpoint", "step-9")
        self.refused(2, ["cannot name features"], "embed", self.trained, self.cache, "--name", "a/b")
        self.ok("ingest", self.photos, "--out", self.folder / "bare", "--store", "none")
        self.refused(2, ["fingerprints only", "--store original"], "embed", self.trained, self.folder / "bare")

    def test_weights_that_give_no_numbers_are_refused(self):
        broken = bytearray(self.weights.read_bytes())
        (size,) = struct.unpack("<Q", broken[:8])
        header = json.loads(broken[8 : 8 + size])
        begin = 8 + size + header["bn1.weight"]["data_offsets"][0]
        broken[begin : begin + 64] = struct.pack("<f", 3e38) * 16
        (self.folder / "broken.safetensors").write_bytes(broken)
        self.refused(1, ["are not finite", "broken"], "embed", self.folder / "broken.safetensors", self.cache,
                     "--net", "resnet20", "--name", "bad")
        self.assertFalse(self.features("bad").exists())

    def test_a_signal_leaves_nothing_half_written(self):
        command = ["embed", self.trained, self.cache, "--name", "stopped", "--backend", "reference"]
        folder = self.cache / "features"
        # It stops while it computes; a file that it has begun to write is finished.
        for point, code, left in (("load.record.before:*:1", 75, []), ("file.create.before:stopped.features:1", 0, ["stopped.features"]),
                                  ("file.write.before:stopped.features:1", 0, ["stopped.features"])):  # fmt: skip
            done = run(*command, env={"WINNOW_FAILPOINTS": f"int={point}"})
            self.assertEqual((done.code, sorted(path.name for path in folder.glob("*stopped*"))), (code, left), done.err)
            if left:
                self.ok("verify", self.cache)
                self.features("stopped").unlink()

    def test_the_vectors_are_those_of_float64(self):
        """With random weights, which have no symmetry that could hide errors."""
        raw = self.weights.read_bytes()
        (size,) = struct.unpack("<Q", raw[:8])
        values = {}
        for name, row in json.loads(raw[8 : 8 + size]).items():
            if name == "__metadata__" or row["dtype"] != "F32":
                continue
            shape = row["shape"]
            middle = 1 if name.endswith(("running_var", "bn1.weight", "bn2.weight")) else 0
            values[name] = (shape, [middle + self.random.uniform(-0.3, 0.3) if len(shape) == 1
                                    else self.random.gauss(0, (2 / math.prod(shape[1:])) ** 0.5)
                                    for _ in range(math.prod(shape))])
        write_safetensors(self.folder / "random.safetensors", values)
        args = (self.folder / "random.safetensors", "--net", "resnet20")
        exact = vectors(self.embed(*args, "--backend", "reference", name="exact")[1])
        for dtype, limit in (("f16", 1e-3), ("i8", 5e-3)):
            ours = vectors(self.embed(*args, "--dtype", dtype, name="fast")[1])
            self.assertLess(off(ours, exact), limit)


if __name__ == "__main__":
    unittest.main()
