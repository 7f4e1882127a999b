"""This version and the reader in the docs read the golden files. A newer version of any format is refused."""

import importlib.util
import json
import pathlib
import shutil
import struct
import unittest

from golden import (GOLDEN, TUNING, fill_safetensors, mixed_set, momentum, pixels, seal_checkpoint, square_variant, squares, weight,
                    with_digest, xxh3_128, xxh3_64)
from program import ROOT, Case, tensors

V1 = GOLDEN / "v1"
VARIANTS = GOLDEN / "v2" / "variants"

try:
    import lmdb
except ImportError:
    lmdb = None


def pnm_parts(data):
    """(width, height, channels, pixels) of an image made by golden.pnm."""
    magic, size, _, rest = data.split(b"\n", 3)
    width, height = map(int, size.split())
    return width, height, 1 if magic == b"P5" else 3, rest


class Copies(Case):
    def copy(self, name):
        to = self.folder / name
        shutil.copytree(V1 / name, to, symlinks=True)
        return to


class Golden(Copies):
    LOSS = 0.8219633847475052
    CONFUSION = [[1, 3], [4, 0]]

    def test_caches(self):
        for cache, inputs, ok in ((V1 / "original", 23, 20), (V1 / "raw", 32, 32), (VARIANTS, 32, 32)):
            verified = self.ok("verify", cache, "--json").json()
            self.assertEqual((verified["records"], verified["selections"]), (ok, ["golden"]))
            manifest = self.ok("info", cache, "--json").json()["manifest"]
            self.assertEqual((manifest["inputs"], manifest["ledger"]["ok"]), (inputs, ok))

    def test_thumbnails(self):
        """Reads them as the page on the format says."""
        cache = GOLDEN / "v3" / "pictured"
        self.ok("verify", cache)
        data = (cache / "fingerprints" / "table").read_bytes()
        self.assertEqual(struct.unpack_from("<I", data, 8), (3,))
        columns = {}
        for i in range(struct.unpack_from("<I", data, 12)[0]):
            name, size, _, count, at = struct.unpack_from("<40sIIQQ", data, 24 + 64 * i)
            columns[name.rstrip(b"\0").decode()] = data[at : at + count * size], at
        values, at = columns["thumbnails:values"]
        self.assertEqual(at + len(values), len(data) - 8)
        self.assertEqual(struct.pack("<Q", xxh3_64(data[:at])), data[-8:])
        self.assertEqual(xxh3_128(data[:at] + data[-8:]), json.loads((cache / "manifest.json").read_text())["fingerprints_hash"])
        hashes = [xxh3_64(values[i : i + 65536]) for i in range(0, len(values), 65536)]
        self.assertEqual(struct.pack(f"<{len(hashes)}Q", *hashes), columns["thumbnails:hashes"][0])
        offsets = struct.unpack("<5I", columns["thumbnails:offsets"][0])
        self.assertEqual(offsets, (0, 4, 23, 71, 119))  # 20 x 12, 40 x 30, 64 x 48 and 10 x 307 px
        self.assertEqual(values[:256], pixels(0, 20, 12, 1) + bytes(16))
        rgb = pixels(1, 40, 30, 3)
        gray = bytes((19595 * r + 38470 * g + 7471 * b + 32768) >> 16 for r, g, b in zip(rgb[::3], rgb[1::3], rgb[2::3]))
        self.assertEqual(values[256 : 256 + 1216], gray + bytes(16))

    def test_a_damaged_thumbnail_is_found_by_who_looks(self):
        cache = self.folder / "pictured"
        shutil.copytree(GOLDEN / "v3" / "pictured", cache)
        table = cache / "fingerprints" / "table"
        data = bytearray(table.read_bytes())
        data[-100] ^= 1
        table.write_bytes(data)
        self.refused(1, [str(table), "not what was written"], "verify", cache)
        self.ok("dedup", cache, "--no-verify")
        self.refused(1, [str(table), "not what was written"], "dedup", cache, "--verify")
        data[1500] ^= 1  # not in the thumbnails
        table.write_bytes(data)
        self.refused(1, [str(table)], "dedup", cache)

    def test_deduplicating_again_decides_the_same(self):
        for name, options in (("original", ["--hash", "exact"]), ("raw", ["--hash", "phash", "--threshold", 0])):
            cache = self.copy(name)
            # Its settings now have more entries than then.
            lists = [self.folder / f"{name}-{when}.csv" for when in ("before", "after")]
            self.ok("export", cache, "--as", "list", "--selection", "golden", "--to", lists[0])
            (cache / "selections" / "golden.selection").unlink()
            self.ok("dedup", cache, "--name", "golden", *options)
            self.ok("export", cache, "--as", "list", "--selection", "golden", "--to", lists[1])
            self.assertEqual(lists[0].read_bytes(), lists[1].read_bytes())

    @unittest.skipUnless(lmdb, "this Python has no package lmdb (Debian: python3-lmdb)")
    def test_the_reader_in_the_docs(self):
        spec = importlib.util.spec_from_file_location("read_cache", ROOT / "docs" / "read_cache.py")
        reader = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(reader)
        unreadable = {b"train/ant/cut.ppm", b"train/ant/empty.pgm", b"train/bee/text.jpg"}
        for name, files in (("original", mixed_set()), ("raw", squares())):
            listing = sorted(files)
            classes = sorted({path.split(b"/")[1] for path in listing})
            records = list(reader.records(V1 / name))
            self.assertEqual([r[0] for r in records], [i for i, path in enumerate(listing) if path not in unreadable])
            for number, split, labels, group, coding, shape, payload in records:
                path = listing[number]
                width, height, channels, raw = pnm_parts(files[path])
                self.assertEqual(split.encode(), path.split(b"/")[0])
                self.assertEqual(labels, (classes.index(path.split(b"/")[1]),))
                self.assertEqual((group, shape), (b"", (height, width, channels)))
                self.assertEqual(coding, "raw" if name == "raw" else "encoded")
                self.assertEqual(payload, raw if name == "raw" else files[path])

    @unittest.skipUnless(lmdb, "this Python has no package lmdb (Debian: python3-lmdb)")
    def test_the_reader_in_the_docs_and_variants(self):
        spec = importlib.util.spec_from_file_location("read_cache", ROOT / "docs" / "read_cache.py")
        reader = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(reader)
        files = squares()
        listing = sorted(files)
        records = list(reader.records(VARIANTS))
        self.assertEqual(len(records), 32)
        for number, split, _, _, coding, shape, payload in records:
            self.assertEqual((coding, shape), ("raw", (16, 16, 1)))
            *_, raw = pnm_parts(files[listing[number]])
            if split == "test":
                self.assertEqual(payload, raw)
                continue
            k = int(listing[number].split(b"/")[-1][:2])
            wanted = b"".join(square_variant(3 if k == 5 else k, number, which) for which in range(3))
            self.assertEqual(payload, wanted, listing[number])

    def test_a_cache_with_variants_is_trained_on(self):
        out = self.folder / "run"
        self.ok("train", VARIANTS, "--out", out, "--net", "lenet", "--batch-size", 8, "--epochs", 3, "--selection", "golden")
        self.assertEqual(json.loads((out / "config.json").read_text())["data"]["augment"], "none")

    def test_checkpoint(self):
        latest = V1 / "run" / "checkpoints" / "latest"
        for file, value, names in (("model.safetensors", weight, 8), ("optimizer.safetensors", momentum, 8)):
            found = tensors(latest / file)
            self.assertEqual(len(found), names)
            for name, data in found.items():
                count = len(data) // 4
                self.assertEqual(struct.unpack(f"<{count}f", data), tuple(value(name, i) for i in range(count)), name)

    def test_queue(self):
        """Read as the page on the format says, and by the program, which does nothing again."""
        queue = self.copy("queue")
        manifest = json.loads((V1 / "raw" / "manifest.json").read_text())
        self.assertEqual(json.loads((queue / "queue.json").read_text()), {"version": 1, "of": "cache " + manifest["digest"]})
        failed, keys = 0, {path.stem for path in (queue / "results").iterdir()}
        for path in (queue / "results").iterdir():
            result = json.loads(path.read_text())
            self.assertEqual(xxh3_128(result["job"].encode()), path.stem)
            self.assertEqual((queue / "claims" / path.stem).read_bytes(), b"done\n")
            job = json.loads(result["job"])
            self.assertEqual(job["cache"], manifest["digest"])
            failed += result["failed"]
            if result["failed"]:
                self.assertIn("not finite", result["why"])
            elif "run" in job:
                self.assertIn(job["run"], keys)
                self.assertEqual(set(json.loads(result["result"])), {"top1", "top1_leak_free"})
            else:
                run = json.loads(result["result"])
                self.assertEqual(run["top1"], sum(right for right, _ in run["classes"]) / sum(images for _, images in run["classes"]))
        self.assertEqual((failed, len(keys)), (1, 4))
        value = self.ok("tune-lr", V1 / "raw", "--out", queue, "--json", *TUNING).json()
        self.assertEqual(list((queue / "runs").iterdir()), [])
        (arm,) = value["arms"]
        self.assertEqual((arm["setting"]["lr"], arm["trials_diverged"], arm["top1"], arm["test"]["top1"], value["test"]["looks"]),
                         (0.05, 1, [1 / 3], [0.5], 1))  # fmt: skip

    def test_run_is_evaluated_and_goes_on(self):
        found = self.ok("eval", V1 / "run", V1 / "raw", "--json").json()
        self.assertEqual((found["samples"], found["leaked"], found["split"]), (8, 1, "test"))
        self.assertAlmostEqual(found["loss"], self.LOSS, delta=1e-4 * self.LOSS)
        self.assertEqual(found["confusion"], self.CONFUSION)
        self.assertIn("does not name its classes", self.ok("eval", V1 / "run", V1 / "raw").err)
        run = self.copy("run")
        config = json.loads((run / "config.json").read_text())["recipe"]
        # Made elsewhere, perhaps by another compiler: --replan.
        self.ok("train", V1 / "raw", "--out", run, "--net", "lenet", "--batch-size", config["batch_size"], "--epochs",
                config["epochs"], "--selection", "golden", "--resume", "auto", "--replan")
        self.assertEqual((run / "checkpoints" / "latest").readlink(), pathlib.Path("step-3"))


class Newer(Copies):
    """Each version is raised by one, and every checksum corrected: so it is the version that is refused."""

    def refuses(self, file, *args):
        self.refused(1, [str(file), "newer"], *args)

    def seal_manifest(self, cache, **changes):
        manifest = json.loads((cache / "manifest.json").read_text())
        (cache / "manifest.json").write_text(with_digest({**manifest, **changes}))

    def raise_version(self, path, at, layout):
        data = bytearray(path.read_bytes())
        (version,) = struct.unpack_from(layout, data, at)
        struct.pack_into(layout, data, at, version + 1)
        return data

    def column_file(self, path):
        data = self.raise_version(path, 8, "<I")
        struct.pack_into("<Q", data, len(data) - 8, xxh3_64(data[:-8]))
        path.write_bytes(data)

    def test_the_changes_alone_are_read(self):
        cache = self.copy("original")
        self.seal_manifest(cache)
        sealed = (cache / "manifest.json").read_bytes()
        self.assertEqual(sealed, (V1 / "original" / "manifest.json").read_bytes())
        run = self.copy("run")
        seal_checkpoint(run / "checkpoints" / "latest")
        self.ok("eval", run, V1 / "raw")

    def test_manifest(self):
        cache = self.copy("original")
        self.seal_manifest(cache, version=2)
        for verb in (["info", cache], ["verify", cache], ["dedup", cache], ["train", cache, "--out", self.folder / "run"]):
            self.refuses(cache / "manifest.json", *verb)
        self.assertFalse((self.folder / "run").exists())

    def test_queue(self):
        for name in ("queue.json", "looks.json", "results/*.json"):
            queue = self.copy("queue")
            file = sorted(queue.glob(name))[0]
            file.write_text(json.dumps({**json.loads(file.read_text()), "version": 2}))
            self.refuses(file, "tune-lr", V1 / "raw", "--out", queue, *TUNING)
            shutil.rmtree(queue)

    def test_fingerprints(self):
        cache = self.copy("original")
        table = cache / "fingerprints" / "table"
        for _ in range(3):  # version 2 has one more column, version 3 has thumbnails
            self.column_file(table)
        self.seal_manifest(cache, fingerprints_hash=xxh3_128(table.read_bytes()))
        self.refuses(table, "verify", cache)
        self.refuses(table, "dedup", cache)

    def test_selection(self):
        cache = self.copy("raw")
        selection = cache / "selections" / "golden.selection"
        for _ in range(4):  # versions 2 to 4 have more fields
            self.column_file(selection)
        self.refuses(selection, "verify", cache)
        self.refuses(selection, "train", cache, "--out", self.folder / "run", "--net", "lenet", "--selection", "golden")
        self.assertFalse((self.folder / "run").exists())

    def test_record(self):
        cache = self.copy("raw")
        shard = cache / "shards" / "00000.mdb"
        data = bytearray(shard.read_bytes())
        raw = pixels(7, 16, 16, 1)  # in train/right
        payload = data.index(raw)
        header = payload - 48  # 40 bytes and a label, rounded up to a multiple of 8
        checksum, version = struct.unpack_from("<QH", data, header)
        self.assertEqual((checksum, version), (xxh3_64(data[header + 8 : payload + len(raw)]), 1))
        struct.pack_into("<H", data, header + 8, 3)  # 2 is for variants
        struct.pack_into("<Q", data, header, xxh3_64(data[header + 8 : payload + len(raw)]))
        shard.write_bytes(data)
        manifest = json.loads((cache / "manifest.json").read_text())
        manifest["shards"][0]["block_hashes"] = ["%016x" % xxh3_64(data)]
        self.seal_manifest(cache, shards=manifest["shards"])
        self.refuses(shard, "train", cache, "--out", self.folder / "run", "--net", "lenet", "--batch-size", 8)

    def test_checkpoint_manifest(self):
        run = self.copy("run")
        manifest = run / "checkpoints" / "latest" / "manifest.json"
        self.newer_json(manifest)
        self.refuses(manifest.resolve(), "eval", run, V1 / "raw")
        self.refuses(manifest.resolve(), *self.resume(run), "--replan")  # whatever built this program

    def newer_json(self, path, by=1):
        document = json.loads(path.read_text())
        document["version"] += by
        path.write_text(with_digest(document) if "digest" in document else json.dumps(document, indent=2) + "\n")

    def test_state(self):
        run = self.copy("run")
        state = run / "checkpoints" / "latest" / "state.json"
        self.newer_json(state)
        seal_checkpoint(state.parent)
        self.refuses(state.resolve(), "eval", run, V1 / "raw")

    def test_plan(self):
        run = self.copy("run")
        self.newer_json(run / "plan.json", by=2)  # it has version 1, today's is 2
        self.refuses(run / "plan.json", *self.resume(run))

    def resume(self, run):
        return ["train", V1 / "raw", "--out", run, "--net", "lenet", "--batch-size", 8, "--epochs", 1, "--selection",
                "golden", "--resume", "auto"]

    def test_run_configuration(self):
        run = self.copy("run")
        config = run / "config.json"
        self.newer_json(config)
        self.refuses(config, "eval", run, V1 / "raw")


def with_columns(selection, change, more=0):
    """A selection file whose columns `change` made, with `more` additional rows and a valid frame."""
    data = selection.read_bytes()
    columns, rows = struct.unpack_from("<IQ", data, 12)
    directory, body = [], b""
    for c in range(columns):
        entry = bytearray(data[24 + 64 * c : 88 + 64 * c])
        element, _, count, offset = struct.unpack_from("<IIQQ", entry, 40)
        values = change(entry[:40].rstrip(b"\0").decode(), data[offset : offset + element * count])
        struct.pack_into("<QQ", entry, 48, len(values) // element, 24 + 64 * columns + len(body))
        directory.append(bytes(entry))
        body += values + bytes(-len(values) % 8)
    made = data[:16] + struct.pack("<Q", rows + more) + b"".join(directory) + body
    return made + struct.pack("<Q", xxh3_64(made))


def with_settings(selection, settings):
    return with_columns(selection, lambda name, values: settings if name == "settings" else values)


def with_rows_more(selection, count):
    """Adds samples that the cache lacks, two per group."""
    columns = {}
    with_columns(selection, lambda name, values: columns.setdefault(name, values))
    id, = struct.unpack("<Q", columns["ids"][-8:])
    groups = struct.unpack(f"<{len(columns['groups']) // 4}I", columns["groups"])
    ids = struct.pack(f"<{count}Q", *range(id + 1, id + 1 + count))
    more = {"ids": ids, "kept": ids, "weights": struct.pack("<f", 1) * count, "distances": bytes(2 * count),
            "rules": bytes(count), "groups": struct.pack(f"<{count}I", *(max(groups) + 1 + i // 2 for i in range(count)))}
    return with_columns(selection, lambda name, values: values + more.get(name, b""), count)


class OfOtherSamples(Copies):
    """A selection for other samples than the cache's is refused before any row is looked up."""

    def test_by_every_reader(self):
        cache = self.copy("raw")
        selection = cache / "selections" / "golden.selection"
        selection.write_bytes(with_rows_more(selection, 200_000))
        out = self.folder / "out"
        for verb in (["info", cache, "--selection", "golden"], ["info", cache, "--sheet", out, "--selection", "golden"],
                     ["info", cache, "--sheet", out, "--groups", "golden"],
                     ["info", cache, "--sheet", out, "--groups", "golden", "--split", "train"],
                     ["review", cache, "--name", "golden"],
                     ["review", cache, "--name", "golden", "--issues", "odd_size"],
                     ["export", cache, "--selection", "golden", "--to", out],
                     ["compact", cache, "--selection", "golden", "--out", out],
                     ["dedup", cache, "--hash", "exact", "--name", "more", "--splits", "golden"],
                     ["eval", V1 / "run", cache, "--selection", "golden"],
                     ["train", cache, "--selection", "golden", "--out", out, "--net", "lenet", "--epochs", 1]):
            with self.subTest(verb[0]):
                self.refused(1, ["golden"], *verb)
                self.assertFalse(out.exists())


class Nested(Copies):
    """JSON nested deeper than the stack is refused with a sentence, in time that its length bounds."""

    def deep(self, levels):
        return '{"a":' * levels + "1" + "}" * levels

    def test_settings_of_a_selection(self):
        cache = self.copy("raw")
        selection = cache / "selections" / "golden.selection"
        selection.write_bytes(with_settings(selection, b'{"hash":"exact"}'))
        said = self.ok("info", cache, "--selection", "golden", "--json").json()["selection"]
        self.assertEqual(said["settings"], {"hash": "exact"})
        selection.write_bytes(with_settings(selection, self.deep(400_000).encode()))
        self.refused(1, ["golden", "nested too deep"], "info", cache, "--selection", "golden", "--json")
        self.refused(1, ["selection", "nested too deep"], "compact", cache, "--selection", "golden", "--out",
                     self.folder / "compacted")

    def test_run_configuration(self):
        run = self.copy("run")
        (run / "config.json").write_text(self.deep(300_000))
        self.refused(2, [str(run), "config.json"], "train", V1 / "raw", "--out", run, "--net", "lenet", "--batch-size", 8,
                     "--epochs", 1, "--selection", "golden", "--resume", "auto")
        self.refused(1, ["config.json", "nested too deep"], "eval", run, V1 / "raw")


if __name__ == "__main__":
    unittest.main(verbosity=2)
