"""The package winnow gives what the program gives, byte for byte."""

import inspect
import json
import os
import pathlib
import pickle
import re
import struct
import subprocess
import sys
import threading
import unittest
import unittest.mock
import warnings
import zlib

from needs_package import ROOT, numpy, torchrun, winnow

from program import Case, png, png_chunk, tree_bytes
import winnow.ranks
from winnow.cache import SPLITS

MASK = (1 << 64) - 1


class Package(Case):
    """One cache for all tests: 96 grey images of 20 x 20, some of them copies."""

    SIDE = 20

    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        self.source = self.folder / "data"
        for prefix, count in (("train", 96), ("t10k", 24)):
            images = [self.image(self.SIDE, 1) for _ in range(count)]
            images[5] = images[3]
            images[7] = images[3]
            labels = [self.random.randrange(4) for _ in range(count)]
            self.write_idx(self.source, prefix, images, labels, self.SIDE)
            if prefix == "train":
                self.pixels, self.labels = images, labels
        self.path = self.folder / "cache"
        self.ok("ingest", self.source, "--out", self.path)

    def python(self, code, **environment):
        """The output of a fresh interpreter."""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300,
                              env={**os.environ, **environment})  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()


class Import(Package):
    def test_loads_nothing(self):
        loaded = self.python("import sys, winnow; print([m for m in ('numpy', 'torch', 'pandas', 'winnow._core') if m in sys.modules])")
        self.assertEqual(loaded, "[]")

    def test_initialises_no_mpi(self):
        said = self.python(f"import winnow; winnow.Cache({str(self.path)!r}); print('libmpi' in open('/proc/self/maps').read())")
        self.assertEqual(said, "False")

    def test_stubs_name_what_there_is(self):
        """In both directions. mypy cannot see the types in a module of C++."""
        import ast

        from winnow import _core

        def named(nodes):
            return {node.name if hasattr(node, "name") else node.target.id for node in nodes
                    if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AnnAssign))}  # fmt: skip

        def public(thing):
            return {name for name in vars(thing) if not name.startswith("_")}

        stubs = ast.parse((ROOT / "python" / "winnow" / "_core.pyi").read_text())
        self.assertEqual(named(stubs.body), public(_core))
        for stub in stubs.body:
            if isinstance(stub, ast.ClassDef):
                with self.subTest(stub.name):
                    self.assertEqual({name for name in named(stub.body) if not name.startswith("_")}, public(getattr(_core, stub.name)))

    def test_ends_without_a_word(self):
        code = f"""
import winnow
cache = winnow.Cache({str(self.path)!r})
table, record, loader = cache.fingerprints(), cache[0], winnow.Loader(cache, 8)
batch, ids, image, selection = loader.next(), table.ids, record.image(), cache.select("all")
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_every_name_is_there(self):
        for name in winnow.__all__:
            self.assertIsNotNone(getattr(winnow, name))


class Packaging(unittest.TestCase):
    def test_is_built_by_the_nanobind_that_it_is_tested_with(self):
        required = re.search(r'"nanobind([^"]*)"', (ROOT / "pyproject.toml").read_text())[1]
        tested = re.search(r"^nanobind(==\S+)$", (ROOT / "tests" / "python" / "requirements.txt").read_text(), re.MULTILINE)[1]
        self.assertEqual(required, tested)


class Caches(Package):
    def test_records_by_position_slice_and_id(self):
        cache = winnow.Cache(self.path)
        self.assertEqual(len(cache), 120)
        train = [i for i, split in enumerate(cache.splits) if SPLITS[split] == "train"]
        self.assertEqual(len(train), 96)
        for k in (0, 3, 95):
            record = cache[train[k]]
            self.assertEqual((record.split, record.labels, record.encoded), ("train", [self.labels[k]], False))
            self.assertEqual(record.id, cache.ids[train[k]])
            self.assertEqual(record.payload, self.pixels[k])
            self.assertEqual(record.image().shape, (self.SIDE, self.SIDE, 1))
            self.assertEqual(record.image().tobytes(), self.pixels[k])
        self.assertEqual([record.id for record in cache[2:5]], cache.ids[2:5].tolist())
        self.assertEqual(cache[-1].id, cache.ids[-1])
        with self.assertRaises(IndexError):
            cache[120]
        with self.assertRaises(winnow.Error):
            cache.record(10**6)
        with self.assertRaisesRegex(winnow.UsageError, "has 1 variant"):
            cache.record(int(cache.ids[0]), variant=1)

    def test_what_a_cache_says_of_itself(self):
        cache = winnow.Cache(self.path)
        manifest = json.loads((self.path / "manifest.json").read_text())
        self.assertIn(cache.digest, self.ok("info", self.path).out)
        self.assertEqual(cache.class_names, manifest["classes"])
        self.assertEqual(cache.image_shape, (self.SIDE, self.SIDE, 1))
        self.assertEqual(cache.inputs["ok"], 120)

    def test_columns_outlive_their_cache_and_are_no_copies(self):
        table = winnow.Cache(self.path).fingerprints()
        ids, codes, sharpness = table.ids, table.codes("phash16"), table.sharpness
        self.assertIs(ids.base is not None, True)
        self.assertEqual(table.ids.ctypes.data, ids.ctypes.data)
        del table
        self.assertEqual((len(ids), codes.shape, sharpness.dtype), (120, (120, 4), numpy.float32))
        self.assertFalse(codes.flags.writeable)
        same = [i for i in range(120) if (codes[i] == codes[3]).all()]
        self.assertEqual(len({tuple(codes[i]) for i in same}), 1)
        some = winnow.Cache(self.path).fingerprints(["widths_px"])
        self.assertEqual((some.widths_px.tolist(), len(some.quality)), ([self.SIDE] * 120, 0))
        with self.assertRaisesRegex(winnow.UsageError, "no codes of pdq"):
            some.codes("pdq")

    def test_codes_are_those_of_hash(self):
        cache = winnow.Cache(self.path)
        codes = cache.fingerprints().codes("phash")
        for row in (0, 50, 119):
            self.assertEqual(winnow.hash(cache[row].image()), f"{int(codes[row][0]):016x}")
        wide = numpy.zeros((30, 40, 3), numpy.uint8)[::2, ::2]  # not contiguous
        self.assertEqual(winnow.hash(wide), winnow.hash(wide.copy()))
        with self.assertRaisesRegex(winnow.UsageError, "uint8"):
            winnow.hash(wide.astype(numpy.float32))
        with self.assertRaisesRegex(winnow.UsageError, "1 or 3"):
            winnow.hash(numpy.zeros((4, 4, 2), numpy.uint8))

    def test_ledger_and_names(self):
        cache = winnow.Cache(self.path)
        rows = [json.loads(line) for line in (self.path / "ledger.jsonl").read_text().splitlines()]
        self.assertEqual([(row.id, row.name, row.fate) for row in cache.ledger()],
                         [(row["id"], row["name"], row["class"]) for row in rows])  # fmt: skip
        self.assertEqual(cache.ledger(remarks_only=True), [])
        self.assertEqual(cache.names(cache.ids[:3]), [row["name"] for row in rows[:3]])

    def test_loads_samples_that_are_asked_for(self):
        cache = winnow.Cache(self.path)
        ids, weights = cache.samples("train")
        batch = cache.load(ids[[7, 1]])
        self.assertEqual(batch.images.tobytes(), self.pixels[7] + self.pixels[1])
        self.assertEqual(batch.labels.tolist(), [self.labels[7], self.labels[1]])
        self.assertEqual(cache.load(ids[:3], image_size=(8, 16)).images.shape, (3, 8, 16, 1))
        self.assertEqual(weights.tolist(), [1] * 96)

    def test_pickles_and_forks(self):
        cache = winnow.Cache(self.path)
        self.assertEqual(pickle.loads(pickle.dumps(cache)).digest, cache.digest)
        pid = os.fork()
        if pid == 0:
            os._exit(0 if cache[3].image().tobytes() == winnow.Cache(self.path)[3].image().tobytes() else 1)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        self.assertEqual(len(cache[3].payload), self.SIDE**2)

    def test_threads_share_it(self):
        cache = winnow.Cache(self.path)
        failed = []

        def read():
            for row in range(120):
                if cache[row].image().shape != (self.SIDE, self.SIDE, 1):
                    failed.append(row)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])

    def test_errors_are_the_programs(self):
        for path, code in ((self.folder / "nothing", 2), (self.folder / "cut", 1)):
            if path.name == "cut":
                subprocess.run(["cp", "-r", self.path, path], check=True)
                os.truncate(path / "manifest.json", 200)
            said = self.refused(code, [], "verify", path)
            with self.assertRaises(winnow.Error) as caught:
                winnow.verify(path)
            self.assertIn(str(caught.exception), said.err)
            self.assertEqual(caught.exception.exit_code, code)
        with self.assertRaises(winnow.UsageError) as caught:
            winnow.Cache(self.folder / "nothing")
        self.assertIsInstance(caught.exception, ValueError)

    def test_verify(self):
        self.assertTrue(winnow.verify(self.path).whole)
        shard = self.path / "shards" / "00000.mdb"
        raw = bytearray(shard.read_bytes())
        raw[-5000] ^= 255
        shard.chmod(0o644)
        shard.write_bytes(raw)
        found = winnow.verify(self.path)
        self.assertFalse(found.whole)
        self.assertIn("00000.mdb", " ".join(found.damage))


class Selections(Package):
    def setUp(self):
        super().setUp()
        self.ok("dedup", self.path, "--name", "near")
        self.cache = winnow.Cache(self.path)

    def test_reads_what_dedup_wrote(self):
        near = self.cache.selection("near")
        self.assertEqual(self.cache.selections(), ["near"])
        self.assertEqual(near.mode, "keep")
        removed = [line.split(",")[0] for line in (self.path / "selections/near.csv").read_text().splitlines()[1:]]
        self.assertEqual(near.ids[~near.mask()].tolist(), [int(id) for id in removed])
        self.assertGreaterEqual(len(removed), 2)
        with self.assertRaisesRegex(winnow.UsageError, "near"):
            self.cache.selection("far")

    def test_groups_and_pairs(self):
        near = self.cache.selection("near")
        rows = self.cache.groups(near, frame=False)
        self.assertEqual(self.cache.groups("near", frame=False), rows)
        train = [row for row in rows if row["split"] == "train"]
        ids = self.cache.samples("train")[0]
        first = next(row["group"] for row in train if row["id"] == ids[3])
        self.assertEqual([row["id"] for row in train if row["group"] == first], ids[[3, 5, 7]].tolist())
        self.assertEqual({row["kept_id"] for row in train if row["group"] == first}, {int(ids[3])})
        listed = self.folder / "pairs.csv"
        self.ok("dedup", self.path, "--name", "other", "--hash", "phash", "--threshold", 6, "--list-pairs", listed)
        program = [line.split(",") for line in listed.read_text().splitlines()]
        at = [program[0].index(name) for name in ("id", "other_id", "distance")]
        self.assertEqual([[row[name] for name in ("id", "other_id", "distance")]
                          for row in self.cache.pairs("phash", 6, frame=False)],
                         [[int(row[i]) for i in at] for row in program[1:]])  # fmt: skip

    def test_groups_are_those_that_the_program_lists(self):
        listed = self.folder / "groups.jsonl"
        same = ("group", "id", "name", "split", "used_in", "weight", "kept_id", "distance", "rule", "transformation")
        for flags in (["--verify"], ["--verify", "--groups", "components"], ["--threshold", 8, "--groups", "stars"], ["--threshold", 8]):
            with self.subTest(flags=flags):
                self.ok("dedup", self.path, "--name", "both", "--list-groups", listed, *flags)
                program = [json.loads(line) for line in listed.read_text().splitlines()]
                rows = self.cache.groups("both", frame=False)
                self.assertEqual([[row[name] or "" for name in same] for row in rows], [[row[name] or "" for name in same] for row in program])
                for row, said in zip(rows, program):
                    self.assertEqual(row["probability"] is None, said["probability"] == "")
                    if row["probability"] is not None:
                        self.assertAlmostEqual(row["probability"], said["probability"], 4)
        self.ok("dedup", self.path, "--name", "both", "--verify")
        (self.path / "selections" / "both.groups").unlink()
        with self.assertWarnsRegex(UserWarning, "connected components"):
            self.assertTrue(all(row["probability"] is None for row in self.cache.groups("both", frame=False)))

    def test_groups_of_one_that_was_made_of_another_are_its(self):
        self.ok("dedup", self.path, "--name", "seen", "--verify")
        seen = self.cache.selection("seen")

        def of_pairs(selection):  # what it reports about removed samples
            return {(group, id): probability for group, id, probability in
                    ((row["group"], row["id"], row["probability"]) for row in self.cache.groups(selection, frame=False)) if probability}  # fmt: skip

        told = of_pairs(seen)
        self.assertTrue(told)
        weights = numpy.where(seen.mask(), 2, 0)
        for made in (seen.named("made"), seen.with_weights(weights).named("made"), (seen & self.cache.select("all")).named("made"),
                     (self.cache.select("made") & seen), (seen.with_weights(weights) & seen).named("made")):  # fmt: skip
            with self.subTest(made):
                self.assertEqual(of_pairs(made), told)
                self.cache.write(made)
                self.assertTrue((self.path / "selections/made.groups").exists())
                self.assertEqual(of_pairs("made"), told)
        # Under its own name, its groups are kept with it. Groups of another selection are no longer known.
        self.cache.write(seen.with_weights(weights))
        self.assertEqual(of_pairs("seen"), told)
        other = (self.cache.selection("seen") & self.cache.selection("near")).named("other")
        self.cache.write(other)
        self.assertFalse((self.path / "selections/other.groups").exists())
        with self.assertWarnsRegex(UserWarning, "'other' are its connected components.* because it was made from other selections"):
            self.assertFalse(of_pairs("other"))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(self.cache.groups(self.cache.select("mine", weights), frame=False), [])

    def test_frames_where_pandas_is(self):
        try:
            import pandas
        except ModuleNotFoundError:
            self.assertIsInstance(self.cache.groups("near"), list)
            with self.assertRaises(ModuleNotFoundError):
                self.cache.groups("near", frame=True)
            return
        frame = self.cache.groups("near")
        self.assertIsInstance(frame, pandas.DataFrame)
        told = frame.astype(object).where(frame.notna(), None)
        self.assertEqual(told.to_dict("records"), self.cache.groups("near", frame=False))

    def test_ones_own_is_obeyed_by_the_program(self):
        keep = numpy.arange(120) % 3 > 0
        mine = self.cache.select("mine", keep)
        self.assertEqual(self.cache.write(mine), None)
        self.assertEqual(self.cache.selection("mine"), mine)
        listed = self.folder / "list.csv"
        self.ok("export", self.path, "--as", "list", "--to", listed, "--selection", "mine")
        rows = [line.split(",") for line in listed.read_text().splitlines()]
        kept = [row[rows[0].index("kept")] for row in rows[1:]]
        self.assertEqual([word == "yes" for word in kept], keep.tolist())
        weights = numpy.linspace(0.5, 2, 120)
        weighed = self.cache.select("mine", weights)
        self.assertEqual(self.cache.write(weighed), "mine.previous")
        self.assertEqual(self.cache.selection("mine").mode, "weight")
        self.assertEqual(self.cache.selection("mine").weights.tolist(), weights.astype(numpy.float32).tolist())

    def test_and_or_minus(self):
        near, mine = self.cache.selection("near"), self.cache.select("mine", numpy.arange(120) % 2)
        self.assertEqual((near & mine).mask().tolist(), (near.mask() & mine.mask()).tolist())
        self.assertEqual((near | mine).mask().tolist(), (near.mask() | mine.mask()).tolist())
        self.assertEqual((near - mine).mask().tolist(), (near.mask() & ~mine.mask()).tolist())
        self.assertEqual((near & mine).name, "near")
        both = (near & mine).named("both")
        self.cache.write(both)
        self.ok("verify", self.path)
        self.assertEqual(self.ok("info", self.path, "--json").code, 0)
        self.assertEqual(winnow.Loader(self.cache, 4, selection="both").samples, int((both.mask() & (self.cache.splits == 1)).sum()))

    def test_refuses_what_makes_no_sense(self):
        for weights in ([1] * 119, [-1] * 120, [float("nan")] * 120):
            with self.assertRaises(winnow.UsageError):
                self.cache.select("mine", weights)
        with self.assertRaises(winnow.UsageError):
            self.cache.write(self.cache.select("../mine"))
        other = self.folder / "other"
        self.ok("ingest", self.source, "--out", other, "--store", "raw", "--hash", "dhash")
        with self.assertRaisesRegex(winnow.UsageError, "another cache"):
            winnow.Cache(other).write(self.cache.selection("near"))


class Loaders(Package):
    RECIPES = ("none", "cifar", "crop+flip+erase:p=0.9,value=random+mixup+cutmix")

    def logged(self, *flags, augment="none", epochs=2):
        out = self.folder / f"run-{len(list(self.folder.glob('run-*')))}"
        self.ok("train", self.path, "--out", out, "--net", "lenet", "--batch-size", 36, "--micro-batch", 6, "--lr", 0.01,
                "--epochs", epochs, "--threads", 1, "--log-batches", "--augment", augment, *flags)  # fmt: skip
        rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
        return [row["data.digest"] for row in rows if "data.digest" in row]

    def loader(self, rank=0, ranks=1, **more):
        return winnow.Loader(self.path, 36, **{"tensors": "numpy", **more}, rank=rank, ranks=ranks)

    def digests(self, ranks, steps, first=0, states=None, **more):
        """For each step, the sum over ranks; each rank has its own loader."""
        loaders = [self.loader(rank, ranks, **more) for rank in range(ranks)]
        for loader in loaders:
            if states:
                loader.load_state_dict(states)
        sums = [sum(int(loader.next().digest(), 16) for loader in loaders) & MASK for _ in range(steps - first)]
        return [f"{sum:016x}" for sum in sums], loaders

    def test_every_batch_is_that_of_winnow_train(self):
        for augment in self.RECIPES:
            whole = self.logged(augment=augment)
            self.assertEqual(len(set(whole)), 5)  # 2 * 96 / 36
            for ranks in (1, 2, 3):
                for micro in (1, 6):
                    with self.subTest(augment=augment, ranks=ranks, micro=micro):
                        self.assertEqual(self.digests(ranks, len(whole), augment=augment, micro_batch=micro)[0], whole)

    def test_sampling_selections_and_partial_shuffles_are_those_of_winnow_train(self):
        self.ok("dedup", self.path, "--name", "near", "--mode", "one_per_group")
        cache = winnow.Cache(self.path)
        cache.write(cache.select("weighed", numpy.linspace(0, 3, 120)))
        settings = [
            (["--sampling", "balanced"], {"sampling": "balanced"}),
            (["--sampling", "repeat-factor", "--repeat-threshold", 0.5], {"sampling": "repeat-factor", "repeat_threshold": 0.5}),
            (["--selection", "near"], {"selection": "near"}),
            (["--selection", "weighed"], {"selection": "weighed"}),
            (["--selection", "weighed", "--sampling", "weighted"], {"selection": "weighed", "sampling": "weighted"}),
            (["--shuffle-fraction", 0.25, "--partitions", 4], {"shuffle_fraction": 0.25, "partitions": 4}),
            (["--image-size", 16], {"image_size": 16}),
            (["--seed", 7], {"seed": 7}),
        ]  # fmt: skip
        for flags, more in settings:
            with self.subTest(flags=flags):
                whole = self.logged(*flags, augment="cifar")
                self.assertEqual(self.digests(2, len(whole), augment="cifar", **more)[0], whole)

    def test_a_state_goes_on_in_the_middle_of_an_epoch_on_other_ranks(self):
        whole, _ = self.digests(1, 9, augment="cifar")
        for ranks, others, at in ((1, 3, 1), (3, 2, 4), (2, 1, 7)):
            with self.subTest(ranks=ranks, others=others, at=at):
                before, loaders = self.digests(ranks, at, augment="cifar")
                states = [loader.state_dict() for loader in loaders]
                self.assertTrue(all(state == states[0] for state in states))
                stored = json.loads(json.dumps(states[0]))
                after, _ = self.digests(others, 9, first=at, states=stored, augment="cifar")
                self.assertEqual(before + after, whole)

    def test_fifty_interruptions_repeat_and_lose_nothing(self):
        """What was prepared ahead when a job ended is loaded again by the next, on another number of ranks."""
        whole = self.loader()
        ids, state, step, interruptions = [], None, 0, 0
        while interruptions < 50:
            ranks = self.random.randint(1, 4)
            loaders = [self.loader(rank, ranks, threads=1) for rank in range(ranks)]
            for loader in loaders:
                if state:
                    loader.load_state_dict(state)
                self.assertEqual(loader.step, step)
            for _ in range(self.random.randint(1, 3)):
                ids += [int(id) for loader in loaders for id in loader.next().ids]
                step += 1
            state = loaders[self.random.randrange(ranks)].state_dict()
            interruptions += 1
        self.assertEqual(ids, [int(id) for _ in range(step) for id in whole.next().ids])
        train = sorted(winnow.Cache(self.path).samples("train")[0].tolist())
        for epoch in range(len(ids) // 96):
            self.assertEqual(sorted(ids[96 * epoch : 96 * (epoch + 1)]), train)

    def test_a_state_of_other_data_is_refused(self):
        state = self.loader().state_dict()
        for more in ({"seed": 2}, {"augment": "cifar"}, {"split": "test"}, {"sampling": "balanced"}, {"image_size": 8}):
            with self.subTest(**more), self.assertRaisesRegex(winnow.UsageError, next(iter(more)).replace("image_size", "image_size")):
                self.loader(**more).load_state_dict(state)
        with self.assertRaisesRegex(winnow.UsageError, "not a state"):
            self.loader().load_state_dict({})

    def test_epochs(self):
        loader = self.loader(epochs=3)
        counts, ids = [], []
        for epoch in range(4):
            self.assertEqual(loader.epoch, epoch)
            loader.set_epoch(epoch)
            batches = list(loader)
            counts.append(len(batches))
            ids += [int(id) for batch in batches for id in batch.ids]
        self.assertEqual(counts, [3, 3, 2, 0])  # batches begin at 0 36 72 | 108 144 180 | 216 252
        train = winnow.Cache(self.path).samples("train")[0].tolist()
        for epoch in range(3):
            self.assertEqual(sorted(ids[96 * epoch : 96 * (epoch + 1)]), train)  # each sample once

    def test_who_leaves_early_goes_on_there(self):
        whole = [batch.digest() for batch in self.loader(epochs=1)]
        loader = self.loader()
        first = next(iter(loader))
        loader.set_epoch(0)  # it is already there
        self.assertEqual([first.digest()] + [batch.digest() for batch in loader], whole)
        loader.set_epoch(0)
        self.assertEqual([batch.digest() for batch in loader], whole)

    def test_arrays_outlive_the_loader(self):
        loader = self.loader()
        batch = loader.next()
        images, digest = batch.images, batch.digest()
        copy = images.copy()
        for _ in range(8):
            loader.next()  # memory of unreferenced batches is reused; this batch is referenced
        loader.close()
        del loader, batch
        self.assertTrue((images == copy).all())
        self.assertEqual((images.shape, images.dtype), ((36, self.SIDE, self.SIDE, 1), numpy.uint8))
        self.assertEqual(digest, self.loader().next().digest())

    def test_mixed_samples_have_targets(self):
        batch = self.loader(augment="mixup").next()
        with self.assertRaisesRegex(winnow.UsageError, "targets"):
            batch.labels
        targets = batch.targets(4)
        self.assertEqual((targets.shape, targets.dtype), ((36, 4), numpy.float32))
        self.assertTrue(numpy.allclose(targets.sum(axis=1), 1))
        with self.assertRaisesRegex(winnow.UsageError, "classes"):
            batch.targets(1)

    def test_ranks_of_the_launcher(self):
        code = f"import winnow; loader = winnow.Loader({str(self.path)!r}, 36); print(loader.rank, loader.ranks)"
        self.assertEqual(self.python(code), "0 1")
        self.assertEqual(self.python(code, RANK="2", WORLD_SIZE="3"), "2 3")
        self.assertEqual(self.python(code, OMPI_COMM_WORLD_RANK="1", OMPI_COMM_WORLD_SIZE="2"), "1 2")
        for rank, ranks in ((2, 2), (-1, 2), (0, None)):
            with self.assertRaises(winnow.UsageError):
                self.loader(rank, ranks)

    def test_a_child_is_refused_and_leaves_its_parent_alone(self):
        loader = self.loader()
        first = loader.next().digest()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                loader.next()
            except winnow.UsageError:
                del loader
                code = 0 if self.loader().next().digest() == first else 2
            os._exit(code)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        self.assertEqual(loader.next().step, 1)

    def test_errors_name_what_is_wrong(self):
        for more, word in (({"augment": "cifarr"}, "cifarr"), ({"selection": "far"}, "far"), ({"split": "tset"}, "tset"),
                           ({"sampling": "fair"}, "fair"), ({"micro_batch": 5}, "multiple"), ({"image_size": 0}, "image_size"),
                           ({"tensors": "jax"}, "jax")):  # fmt: skip
            with self.subTest(**more), self.assertRaisesRegex(winnow.UsageError, word):
                self.loader(**more)
        with self.assertRaisesRegex(winnow.UsageError, "more ranks"):
            self.loader(40, 41)


class Evaluations(Package):
    def test_all_samples_once_in_order(self):
        cache = winnow.Cache(self.path)
        test = cache.samples("test")[0].tolist()
        for ranks in (1, 2, 5):
            with self.subTest(ranks=ranks):
                parts = [winnow.Evaluation(cache, 7, rank=rank, ranks=ranks, tensors="numpy") for rank in range(ranks)]
                for _ in range(2):  # new each time
                    batches = [batch for part in parts for batch in part]
                    self.assertEqual([int(id) for batch in batches for id in batch.ids], test)
                    self.assertLessEqual(max(len(batch) for batch in batches), 7)
                pixels = b"".join(batch.images.tobytes() for batch in batches)
                self.assertEqual(pixels, b"".join(cache.image(id).tobytes() for id in test))
        self.assertEqual((parts[0].samples, parts[0].leaked.tolist()), (24, []))

    def test_what_leaks(self):
        """A test picture that is also in train is still compared, and named."""
        images = [self.image(self.SIDE, 1) for _ in range(8)]
        self.write_idx(self.folder / "leaky", "train", images, [0] * 8, self.SIDE)
        self.write_idx(self.folder / "leaky", "t10k", [self.image(self.SIDE, 1), images[2]], [0, 0], self.SIDE)
        path = self.folder / "leaky-cache"
        winnow.ingest(self.folder / "leaky", path)
        winnow.dedup(path, hash="exact")
        evaluation = winnow.Evaluation(path, 8, selection="default", tensors="numpy")
        self.assertEqual(evaluation.leaked.tolist(), winnow.Cache(path).samples("test")[0][1:].tolist())
        self.assertEqual(sum(len(batch) for batch in evaluation), 2)

    def test_errors(self):
        for more, word in (({"split": "val"}, "val"), ({"batch_size": 0}, "batch"), ({"image_size": (0, 3)}, "image_size")):
            with self.subTest(**more), self.assertRaisesRegex(winnow.UsageError, word):
                winnow.Evaluation(self.path, **{"batch_size": 4, **more})


def brightest(picture):
    return int(picture.max())


class Datasets(Package):
    def test_samples_of_a_selection(self):
        cache = winnow.Cache(self.path)
        cache.write(cache.select("odd", numpy.arange(120) % 2))
        dataset = winnow.Dataset(cache, selection="odd")
        ids = cache.samples("train", "odd")[0].tolist()
        self.assertEqual((len(dataset), dataset.ids.tolist()), (len(ids), ids))
        for at in (0, 5, -1):
            picture, label = dataset[at]
            self.assertEqual((picture.tobytes(), [label]), (cache.record(ids[at]).payload, cache.record(ids[at]).labels))
        self.assertEqual(len(list(dataset)), len(ids))  # IndexError at the end

    def test_workers_get_it(self):
        import multiprocessing

        dataset = winnow.Dataset(self.path, split="test", transform=brightest)
        here = [dataset[at] for at in range(24)]
        for method in ("spawn", "fork"):
            with self.subTest(method=method), multiprocessing.get_context(method).Pool(2) as pool:
                self.assertEqual(pool.map(dataset.__getitem__, range(24)), here)


class Dedup(Package):
    def test_makes_the_bytes_of_the_program(self):
        theirs = self.folder / "theirs"
        subprocess.run(["cp", "-r", self.path, theirs], check=True)
        for i, (flags, more) in enumerate((
            (["--hash", "phash", "--threshold", 6], {"hash": "phash", "threshold": 6}),
            (["--hash", "phash16", "--threshold", 40, "--groups", "stars", "--keep", "sharpest"],
             {"hash": "phash16", "threshold": 40, "groups": "stars", "keep": "sharpest"}),
            (["--hash", "exact", "--mode", "weight", "--scope", "within"], {"hash": "exact", "mode": "weight", "scope": "within"}),
            (["--hash", "phash", "--threshold", 12, "--on-leak", "move", "--on-conflict", "drop"],
             {"hash": "phash", "threshold": 12, "on_leak": "move", "on_conflict": "drop"}),
            (["--hash", "phash", "--threshold", 12, "--on-leak", "drop-eval"], {"hash": "phash", "threshold": 12, "on_leak": "drop-eval"}),
        )):  # fmt: skip
            with self.subTest(flags=flags):
                said = self.ok("dedup", theirs, "--name", f"n{i}", "--json", *flags).json()
                done = winnow.dedup(self.path, f"n{i}", **more)
                self.assertEqual(tree_bytes(self.path), tree_bytes(theirs))
                self.assertEqual((done.removed, done.kept, done.moved), (said["removed"], said["kept"], said["moved"]))
                self.assertEqual(len(done.groups()), said["groups"])

    def test_the_images_choose_as_the_program_lets_them(self):
        theirs = self.folder / "theirs"
        subprocess.run(["cp", "-r", self.path, theirs], check=True)
        for i, (flags, more) in enumerate((([], {}), (["--no-verify"], {"verify": False}), (["--hash", "phash"], {"hash": "phash"}),
                                           (["--precision", 0.9], {"precision": 0.9}), (["--risk", 0.1], {"risk": 0.1}),
                                           (["--verify", "--keep", "largest"], {"verify": True, "keep": "largest"}))):  # fmt: skip
            with self.subTest(flags=flags):
                said = self.ok("dedup", theirs, "--name", f"n{i}", "--json", *flags).json()
                done = winnow.dedup(winnow.Cache(self.path), f"n{i}", **more)
                self.assertEqual(tree_bytes(self.path), tree_bytes(theirs))
                self.assertEqual((done.removed, done.kept, done.hash, done.threshold, done.low_quality, done.verified, done.chosen_by),
                                 (said["removed"], said["kept"], said["hash"], said["threshold"], said["blank"], said.get("verified"),
                                  said.get("chosen_by")))  # fmt: skip
                self.assertEqual(len(done.groups()), said["groups"])
                self.assertEqual([vars(leak) for leak in done.leaks], said["leaks"])
        with self.assertRaises(winnow.UsageError):
            winnow.dedup(self.path, precision=2)

    def test_progress_errors_and_what_was_there(self):
        winnow.dedup(self.path, hash="phash", threshold=2)
        before = (self.path / "selections" / "default.selection").read_bytes()
        for more in ({"hash": "md5"}, {"hash": "pdq"}, {"hash": "phash", "threshold": 65}, {"hash": "phash", "keep": "finest"},
                     {"hash": "phash", "on_leak": "fail"}, {"hash": "phash", "name": "../x"}):  # fmt: skip
            with self.subTest(**more), self.assertRaises(winnow.UsageError):
                winnow.dedup(self.path, **more)

        self.assertEqual((self.path / "selections" / "default.selection").read_bytes(), before)
        winnow.dedup(self.path, hash="phash", threshold=20)
        self.assertEqual(winnow.Cache(self.path).selections(), ["default", "default.previous"])


class Decisions(Package):
    """Objects with what the program prints as JSON."""

    def test_split(self):
        said = self.ok("split", self.path, "--name", "theirs", "--val", 0.2, "--seed", 3, "--json").json()
        done = winnow.split(self.path, "mine", val=0.2, seed=3)
        self.assertEqual((done.moved, done.of, done.blocks), (said["moved"], said["of"], said["blocks"]))
        self.assertEqual([vars(share) for share in done.splits], said["splits"])
        self.assertEqual([off.class_name for off in done.off], [off["class"] for off in said["off"]])
        mine, theirs = (winnow.Cache(self.path).selection(name) for name in ("mine", "theirs"))
        self.assertEqual(mine.splits.tolist(), theirs.splits.tolist())
        with self.assertRaisesRegex(winnow.UsageError, "stay|share|1"):
            winnow.split(self.path, train=0.9, val=0.9)

    def test_folds(self):
        flags = ("--folds", 3, "--seed", 3, "--json")
        said = self.ok("split", self.path, "--name", "theirs", *flags).json()
        done = winnow.split(self.path, "mine", folds=3, seed=3)
        self.assertIsInstance(done, winnow.Folds)
        for name in ("hash", "threshold", "of", "blocks", "largest_block", "left_out", "dealt", "test", "none"):
            self.assertEqual(getattr(done, name), said[name], name)
        self.assertEqual([vars(fold) for fold in done.folds],
                         [{**fold, "selection": f"mine-{at}"} for at, fold in enumerate(said["folds"], 1)])  # fmt: skip
        self.assertEqual([(off.class_name, off.fold, off.got) for off in done.off], [(off["class"], off["fold"], off["got"]) for off in said["off"]])
        cache = winnow.Cache(self.path)
        for at, fold in enumerate(done.folds, 1):
            mine, theirs = cache.selection(fold.selection), cache.selection(f"theirs-{at}")
            self.assertEqual((mine.splits.tolist(), mine.weights.tolist()), (theirs.splits.tolist(), theirs.weights.tolist()))
            self.assertEqual([winnow.Loader(cache, 4, selection=fold.selection, split=split).samples for split in ("train", "val")],
                             [fold.train, fold.val])  # fmt: skip
        for more in ({"folds": 1}, {"folds": 3, "val": 0.1}, {"folds": 3, "stay": True}):
            with self.subTest(**more), self.assertRaises(winnow.UsageError):
                winnow.split(self.path, **more)

    def test_tune(self):
        said = self.ok("tune", self.path, "--images", 20, "--json").json()
        done = winnow.tune(self.path, images=20)
        self.assertEqual([hash.hash for hash in done.hashes], [hash["hash"] for hash in said["hashes"]])
        for mine, theirs in zip(done.hashes, said["hashes"], strict=True):
            self.assertEqual([{name: value for name, value in vars(row).items() if value is not None} for row in mine.thresholds],
                             theirs["thresholds"])  # fmt: skip
        for mine, theirs in ((done.recommended, said.get("recommended")), (done.pictures, said.get("pictures"))):
            self.assertEqual(mine and {name: value for name, value in vars(mine).items() if value is not None}, theirs)
        self.assertEqual(len(winnow.tune(self.path, hashes=["phash"], images=0).hashes), 1)

    def test_index(self):
        index = winnow.Index(self.folder / "all.index")
        with self.assertRaises(winnow.UsageError):
            index.info()
        made = index.add(winnow.Cache(self.path), hash="phash", radius=8)
        self.assertEqual((made.hash, made.radius, made.images, [source.images for source in made.sources]), ("phash", 8, 120, [120]))
        self.assertEqual(index.add(self.path), made)
        answer = index.query(self.source, threshold=2)
        self.assertEqual((answer.images, answer.known), (120, 120))
        self.assertEqual({match.distance for match in answer.matches}, {0})
        said = self.ok("index", "query", index.path, self.source, "--threshold", 2, "--json").json()
        self.assertEqual([vars(match) for match in answer.matches], [{"probability": None, **match} for match in said["matches"]])
        name = answer.matches[0].match_name
        self.assertEqual(index.delete([name]).images, 119)
        self.assertEqual(index.delete(ids=[answer.matches[1].match_id]).deleted, 2)
        self.assertEqual((index.compact().deleted, index.info().images), (0, 118))
        other = winnow.Index(self.folder / "other.index")
        self.write_idx(self.folder / "more", "train", [self.image(self.SIDE, 1) for _ in range(5)], [0] * 5, self.SIDE)
        other.add(self.folder / "more", hash="phash", radius=8)
        self.assertEqual(len(index.merge(other).sources), 2)
        with self.assertRaisesRegex(winnow.UsageError, "nothing to delete"):
            index.delete()


    def test_duplicates_in_an_index(self):
        mine, theirs = self.folder / "mine.index", self.folder / "theirs.index"
        winnow.Index(mine).add(self.path, hash="phash", radius=8)
        subprocess.run(["cp", "-r", mine, theirs], check=True)
        for i, (flags, more) in enumerate(((["--threshold", 6], {"threshold": 6}), (["--hash", "exact"], {"hash": "exact"}),
                                           (["--risk", 0.1, "--keep", "largest", "--mode", "weight"],
                                            {"risk": 0.1, "keep": "largest", "mode": "weight"}))):  # fmt: skip
            with self.subTest(flags=flags):
                said = self.ok("index", "dedup", theirs, "--name", f"n{i}", "--json", *flags).json()
                done = winnow.Index(mine).dedup(f"n{i}", **more)
                self.assertEqual(tree_bytes(mine), tree_bytes(theirs))
                self.assertEqual((done.removed, done.kept, done.hash, done.threshold, done.chosen_by),
                                 (said["removed"], said["kept"], said["hash"], said["threshold"], said.get("chosen_by")))  # fmt: skip
                self.assertEqual(len(done.groups()), said["groups"])
                self.assertEqual([vars(leak) for leak in done.leaks], said["leaks"])
        of_cache = winnow.dedup(self.path, hash="phash", threshold=6)
        self.assertEqual(sorted(winnow.Index(mine).dedup(threshold=6).groups()), sorted(of_cache.groups()))  # its only source: the same ids
        with self.assertRaisesRegex(winnow.UsageError, "nowhere"):
            winnow.Index(self.folder / "nowhere").dedup()


class Verbs(Package):
    """Verbs that run in this process."""

    FUNCTIONS = {  # the verb of each, and parameters that are no flags
        ("dedup",): (lambda: winnow.dedup, {"cache", "progress"}),
        ("split",): (lambda: winnow.split, {"cache"}),
        ("tune",): (lambda: winnow.tune, {"cache", "hashes"}),  # --hash, which may be repeated
        ("index", "add"): (lambda: winnow.Index.add, {"self", "inputs"}),
        ("index", "query"): (lambda: winnow.Index.query, {"self", "inputs"}),
        ("index", "dedup"): (lambda: winnow.Index.dedup, {"self"}),
        ("index", "delete"): (lambda: winnow.Index.delete, {"self"}),
    }  # fmt: skip

    def test_options_are_the_verbs(self):
        verbs = self.ok("reference").json()["program"]["verbs"]
        for path, (function, own) in self.FUNCTIONS.items():
            rows = verbs
            for name in path:
                (verb,) = (row for row in rows if row["name"].split()[-1] == name)
                rows = verb.get("verbs", [])
            flags = {flag.lstrip("-").replace("-", "_"): option.get("default") for option in verb["options"] for flag in option["names"]}
            parameters = inspect.signature(function()).parameters.values()
            named = {one.name: one.default for one in parameters if one.kind is not one.VAR_KEYWORD and one.name not in own}
            with self.subTest(path=path):
                self.assertGreater(len(named), 0)
                self.assertLessEqual(set(named), set(flags))
                if path != ("index", "delete"):  # it has no other flags
                    self.assertIn(inspect.Parameter.VAR_KEYWORD, {one.kind for one in parameters})
                for name, default in named.items():
                    if isinstance(default, str) and flags[name]:
                        self.assertEqual(default, flags[name], name)

    def test_any_flag_is_taken(self):
        listed = self.folder / "groups.csv"
        winnow.dedup(self.path, hash="phash", threshold=6, thin=["val", "test"], protect=["**"], list_groups=listed)
        self.assertTrue(listed.read_text().startswith("id,name,split,labels,group,"))
        with self.assertRaisesRegex(winnow.UsageError, "--no-such-flag"):
            winnow.dedup(self.path, no_such_flag=1)
        with self.assertRaisesRegex(winnow.UsageError, "threshold"):
            winnow.dedup(self.path, hash="phash", threshold=-1)

    def test_the_environment_says_nothing(self):
        with unittest.mock.patch.dict(os.environ, WINNOW_DEDUP_THRESHOLD="60", WINNOW_DEDUP_NAME="other"):
            self.assertEqual(winnow.dedup(self.path, hash="phash", threshold=6).threshold, 6)
        self.assertEqual(winnow.Cache(self.path).selections(), ["default"])

    def test_no_process_is_started(self):
        """No program is even searched for."""
        code = f"""if True:
            import subprocess, sys
            sys.addaudithook(lambda event, _: event in ("subprocess.Popen", "os.system", "os.fork", "os.posix_spawn", "os.exec") and 1 / 0)
            import winnow
            winnow.dedup({str(self.path)!r})
            winnow.split({str(self.path)!r}, val=0.2)
            winnow.tune({str(self.path)!r}, images=5)
            index = winnow.Index({str(self.folder / "own.index")!r})
            index.add({str(self.path)!r})
            index.query({str(self.path)!r})
            index.dedup()
            index.compact()
            print(index.info().images)"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PATH": ""})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "120\n", ""))

    def test_what_progress_raises_ends_it(self):
        """As a signal ends the program: the previous selection stays."""
        winnow.dedup(self.path, hash="phash", threshold=2)
        before = tree_bytes(self.path)

        def refuse(done, total):
            raise KeyError("enough")

        with self.assertRaisesRegex(KeyError, "enough"):
            winnow.dedup(self.path, verify=True, progress=refuse)
        self.assertEqual(tree_bytes(self.path), before)


class Runs(Package):
    """What `winnow report` shows, as objects."""

    def setUp(self):
        super().setUp()
        self.runs = [self.folder / "runs" / name for name in ("one", "two")]
        for seed, run in enumerate(self.runs, 1):
            self.ok("train", self.path, "--out", run, "--net", "lenet", "--batch-size", 12, "--lr", 0.01, "--epochs", 2, "--seed", seed,
                    "--threads", 1, "--log-interval", 2)  # fmt: skip

    def test_settings_figures_and_the_last_evaluation(self):
        page = self.folder / "page.html"
        report = winnow.report(*self.runs, out=page)
        self.assertEqual((report.page, [run.name for run in report.runs]), (str(page), ["one", "two"]))
        self.assertEqual(report.differing(), {"recipe.seed": [1, 2]})
        text = page.read_text()
        for run, folder in zip(report.runs, self.runs, strict=True):
            lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
            self.assertEqual(run.metrics, lines)
            self.assertEqual(run.settings["data.cache_digest"], winnow.Cache(self.path).digest)
            top1 = [line["test.top1"] for line in lines if "test.top1" in line]
            self.assertEqual((run.last("test.top1"), run.last("val.top1")), (top1[-1], None))
            self.assertIn(f">{100 * top1[-1]:.2f} %<", text)
            epochs, losses = run.curve("train.loss")
            self.assertEqual(losses.tolist(), [line["train.loss"] for line in lines if "train.loss" in line])
            self.assertTrue((numpy.diff(epochs) > 0).all())
            best = run.best("train.loss")
            self.assertEqual((best.value, best.step), min((line["train.loss"], line["step"]) for line in lines if "train.loss" in line))
            self.assertEqual((len(run.curve("val.top1")[0]), run.best()), (0, None))
            seen = run.evaluation
            self.assertEqual((seen.split, seen.classes, seen.confusion.sum()), ("test", ["0", "1", "2", "3"], 24))
            self.assertAlmostEqual(seen.confusion.trace() / 24, top1[-1])
            self.assertEqual(len(seen.worst), 24 - seen.confusion.trace())
            cache = winnow.Cache(self.path)
            for mistake in seen.worst:
                self.assertEqual([mistake.label], cache.record(mistake.id).labels)
                self.assertEqual([mistake.name], cache.names([mistake.id]))
        self.assertEqual(report.figures()["test.top1"], [run.last("test.top1") for run in report.runs])
        (both,) = report.repetitions()
        self.assertEqual(both.runs, ["one", "two"])
        self.assertIn(f"{100 * both.mean['test.top1']:.2f} % ± {100 * both.deviation['test.top1']:.2f} %", text)
        self.assertEqual(winnow.report(self.runs[0]).repetitions(), [])

    def test_of_runs_that_are_not_whole(self):
        one, two = self.runs
        with open(one / "metrics.jsonl", "a") as file:
            file.write('{"step": 1, "epoch": NaN}\n{"step"')  # only valid lines count
        self.assertEqual(len(winnow.report(one).runs[0].metrics), len((one / "metrics.jsonl").read_text().splitlines()) - 2)
        self.path.rename(self.folder / "moved")
        self.assertEqual({mistake.name for mistake in winnow.report(one).runs[0].evaluation.worst}, {None})
        named = winnow.report(one, cache=self.folder / "moved").runs[0].evaluation.worst
        self.assertTrue(all(mistake.name for mistake in named) and named)
        self.ok("ingest", self.source, "--out", self.folder / "other", "--hash", "dhash")
        with self.assertRaisesRegex(winnow.UsageError, "is not the cache that one was evaluated on"):
            winnow.report(one, cache=self.folder / "other")
        sound = json.loads((two / "evaluation.json").read_text())
        for wrong in ("{", "[]", json.dumps({**sound, "confusion": [[9, 0, 1]]}), json.dumps({**sound, "confusion": [[-1, 0, 1]]}),
                      json.dumps({key: value for key, value in sound.items() if key != "worst"})):  # fmt: skip
            (two / "evaluation.json").write_text(wrong)
            with self.subTest(wrong=wrong[:20]), self.assertRaisesRegex(winnow.DataError, "evaluation.json is damaged"):
                winnow.report(two)
        (two / "evaluation.json").unlink()
        self.assertIsNone(winnow.report(two).runs[0].evaluation)
        other = self.folder / "elsewhere" / "two"
        subprocess.run(["cp", "-rT", two, self.folder / "elsewhere"], check=True)
        self.assertEqual([run.name for run in winnow.report(two, self.folder / "elsewhere").runs], ["two", "elsewhere"])
        subprocess.run(["cp", "-r", two, other], check=True)
        self.assertEqual([run.name for run in winnow.report(two, other).runs], [str(two), str(other)])
        said = self.refused(2, ["contains no run"], "report", self.folder, "--out", self.folder / "no.html")
        with self.assertRaises(winnow.UsageError) as caught:
            winnow.report(self.folder)
        self.assertIn(str(caught.exception), said.err)
        with self.assertRaises(winnow.UsageError):
            winnow.report()


class Ingest(Package):
    def setUp(self):
        super().setUp()
        self.photos = self.folder / "photos"
        for split, count in (("train", 30), ("test", 6)):
            for i in range(count):
                self.write_ppm(self.photos / split / f"class{i % 3}" / f"{i}.ppm", self.image(24), 24)
        (self.photos / "train" / "class0" / "broken.ppm").write_bytes(b"P6\n24 24\n255\n")

    def contents(self, cache):
        return {name: raw for name, raw in tree_bytes(cache).items() if not name.endswith(".log")}

    def test_makes_the_bytes_of_the_program(self):
        for flags, more in (([], {}), (["--store", "raw", "--hash", "dhash,phash"], {"store": "raw", "hashes": ["dhash", "phash"]}),
                            (["--labels", "none", "--resize", 16, "--exclude", "1*"], {"labels": "none", "resize": 16, "exclude": ["1*"]}),
                            (["--store", "none", "--thumbnails", "off"], {"store": "none", "thumbnails": False})):  # fmt: skip
            with self.subTest(flags=flags):
                name = "-".join(map(str, flags)) or "plain"
                theirs, mine = self.folder / f"theirs{name}", self.folder / f"mine{name}"
                said = self.ok("ingest", self.photos, "--out", theirs, "--json", *flags).json()
                done = winnow.ingest(self.photos, mine, **more)
                self.assertEqual(self.contents(mine), self.contents(theirs))
                self.assertEqual((done.digest, done.inputs, done.classes), (said["digest"], said["inputs"], said["classes"]))

    def test_says_how_many_have_transparent_pixels_or_are_to_be_turned(self):
        pixels = b"".join(b"\0" + bytes((shade, shade, shade, 128)) * 24 for shade in range(24))
        header = struct.pack(">IIBBBBB", 24, 24, 8, 6, 0, 0, 0)
        (self.photos / "train" / "class1" / "icon.png").write_bytes(
            png(png_chunk(b"IHDR", header), png_chunk(b"IDAT", zlib.compress(pixels)), png_chunk(b"IEND")))  # fmt: skip
        said = self.ok("ingest", self.photos, "--out", self.folder / "theirs", "--json").json()
        done = winnow.ingest(self.photos, self.folder / "mine")
        self.assertEqual((done.transparent, done.oriented), (1, 0))
        self.assertEqual((said["transparent"], said["oriented"]), (1, 0))

    def test_adds_and_retries(self):
        one, two = self.folder / "one", self.folder / "two"
        winnow.ingest([self.photos], one, store="raw", hashes=["dhash"])
        winnow.ingest(self.source, one, into=True)
        self.ok("ingest", self.photos, self.source, "--out", two, "--store", "raw", "--hash", "dhash")
        self.assertEqual(self.contents(one), self.contents(two))
        self.write_ppm(self.photos / "train/class0/broken.ppm", self.image(24), 24)
        done = winnow.ingest([self.photos, self.source], one, retry_failed=True)
        self.assertEqual((done.retried, done.recovered), (1, 1))

    def large(self):
        """A source of 16 MiB, which makes several shards of 1 MiB."""
        images = [self.random.randbytes(64 * 64) for _ in range(64)] * 64
        self.write_idx(self.folder / "large", "train", images, [0] * len(images), 64)
        return self.folder / "large", len(images)

    def test_progress(self):
        seen = []
        winnow.ingest(self.photos, self.folder / "out", progress=lambda done, total: seen.append((done, total)))
        self.assertEqual(seen[-1], (37, 37))
        self.assertEqual(seen, sorted(seen))

    def test_what_progress_raises_ends_it_and_the_same_call_goes_on(self):
        large, count = self.large()

        def fail(done, total):
            raise LookupError("enough")

        out = self.folder / "out"
        with self.assertRaisesRegex(LookupError, "enough"):
            winnow.ingest(large, out, shard_mib=1, progress=fail)
        self.assertFalse((out / "manifest.json").exists())
        self.assertEqual(winnow.ingest(large, out, shard_mib=1).inputs, count)
        winnow.ingest(large, self.folder / "whole", shard_mib=1)
        self.assertEqual(self.contents(out), self.contents(self.folder / "whole"))

    def test_control_c(self):
        large, count = self.large()
        code = f"""
import os, signal, sys, winnow
signal.signal(signal.SIGINT, signal.default_int_handler)
how = ({str(large)!r}, {str(self.folder / "out")!r})
try:
    winnow.ingest(*how, shard_mib=1, threads=1, progress=lambda done, total: os.kill(os.getpid(), signal.SIGINT))
except KeyboardInterrupt:
    print("stopped", os.path.exists(how[1] + "/manifest.json"))
print(winnow.ingest(*how, shard_mib=1).inputs)
"""
        self.assertEqual(self.python(code).split(), ["stopped", "False", str(count)])

    def test_errors(self):
        for source, more in ((self.folder / "nothing", {}), ([], {}), (self.photos, {"store": "some"}), (self.photos, {"hashes": ["md5"]}),
                             (self.photos, {"labels": "some"}), (self.photos, {"format": "some"})):  # fmt: skip
            with self.subTest(source=source, **more), self.assertRaises(winnow.UsageError):
                winnow.ingest(source, self.folder / "out", **more)
        with self.assertRaises(winnow.UsageError):
            winnow.ingest(self.photos, self.path)  # a finished cache


class MapStyle:
    """A data set like torchvision's."""

    classes = ["cat", "dog", "eel"]

    def __init__(self, rows):
        self.rows, self.drawn = rows, []

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, at):
        self.drawn.append(at)
        return self.rows[at]


class Items(Package):
    """Iterables instead of files."""

    BROKEN = {7: b"P6\n24 24\n255\nshort", 20: b"", 33: None, 40: b"no image at all"}
    # For a separate interpreter: the same items, and optional events after some of them.
    CODE = """
import os, random, signal, sys, winnow

def files(count=64):
    r = random.Random(5)
    for at in range(count):
        broken = {broken!r}
        image = broken[at] if at in broken else b"P6\\n24 24\\n255\\n" + r.randbytes(24 * 24 * 3)
        yield image, at % 3, f"group{{at // 4}}"

def until(at, then):
    for number, item in enumerate(files()):
        if number == at:
            then()
        yield item

def die():
    os.kill(os.getpid(), signal.SIGKILL)

out = {out!r}
"""

    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"

    def files(self, count=64):
        found = {}
        exec(self.CODE.format(broken=self.BROKEN, out=str(self.out)), found)
        return found["files"](count)

    def killed(self, code):
        done = subprocess.run([sys.executable, "-c", self.CODE.format(broken=self.BROKEN, out=str(self.out)) + code],
                              capture_output=True, text=True, timeout=300)  # fmt: skip
        self.assertEqual(done.returncode, -9, done.stderr)

    def assert_is_whole(self, out, **more):
        """Checks that a cache has the bytes of one made without disturbance."""
        whole = self.folder / "whole"
        winnow.ingest(self.files(), whole, **more)
        self.assertEqual(tree_bytes(out), tree_bytes(whole))
        self.assertFalse(pathlib.Path(f"{out}.items").exists())

    def test_a_generator_with_broken_images(self):
        done = winnow.ingest(self.files(), self.out)
        self.assertEqual((done.inputs, done.classes["ok"]), (64, 60))
        cache = winnow.Cache(self.out)
        ledger = cache.ledger()
        self.assertEqual([row.id for row in ledger], list(range(64)))
        self.assertEqual([row.name for row in ledger], [f"{at:05}" for at in range(64)])
        fates = {row.id: row.fate for row in ledger if row.fate != "ok"}
        self.assertEqual(fates, {7: "truncated", 20: "empty", 33: "missing", 40: "unsupported"})
        self.assertEqual(cache.class_names, ["0", "1", "2"])
        images = dict(enumerate(self.files()))
        for at in (0, 41, 63):
            record = cache.record(at)
            self.assertEqual((record.payload, record.labels, record.group), (images[at][0], [at % 3], f"group{at // 4}".encode()))
        self.ok("verify", self.out)
        self.assertFalse(pathlib.Path(f"{self.out}.items").exists())

    def test_killed_while_it_gathers(self):
        for at in (0, 1, 9, 41, 63):
            self.killed(f"winnow.ingest(until({at}, die), out)")
            self.assertFalse((self.out / "manifest.json").exists())
        winnow.ingest(self.files(), self.out)
        self.assert_is_whole(self.out)

    def test_killed_while_it_ingests(self):
        self.killed("winnow.ingest(files(), out, threads=1, progress=lambda done, total: total and die())")
        self.assertTrue((self.out / "unfinished").exists())
        winnow.ingest(self.files(), self.out)
        self.assert_is_whole(self.out)

    def test_killed_at_its_end(self):
        kept = pathlib.Path(f"{self.out}.items")
        self.killed("winnow.ingest(until(63, die), out)")
        subprocess.run(["cp", "-r", kept, self.folder / "copy"], check=True)
        winnow.ingest(self.files(), self.out)
        (self.folder / "copy").rename(kept)  # as if it had been killed before removing this
        with self.assertRaisesRegex(winnow.UsageError, "finished"):
            winnow.ingest(self.files(), self.out)
        self.assertFalse(kept.exists())

    def test_what_an_iterable_or_a_callback_raises_comes_out(self):
        class Own(Exception):
            pass

        def failing(at):
            for number, item in enumerate(self.files()):
                if number == at:
                    raise Own(f"at {at}")
                yield item

        def fail(done, total):
            raise Own("progress")

        for at in (0, 5, 50):
            with self.assertRaisesRegex(Own, f"at {at}"):
                winnow.ingest(failing(at), self.out)
        with self.assertRaisesRegex(Own, "progress"):
            winnow.ingest(self.files(), self.out, progress=fail)
        self.assertFalse((self.out / "manifest.json").exists())
        winnow.ingest(self.files(), self.out)
        self.assert_is_whole(self.out)

    def test_control_c(self):
        code = self.CODE.format(broken=self.BROKEN, out=str(self.out)) + """
signal.signal(signal.SIGINT, signal.default_int_handler)
def interrupt(*_):
    os.kill(os.getpid(), signal.SIGINT)
for how in (dict(source=until(30, interrupt)), dict(source=files(), progress=lambda done, total: total and interrupt())):
    try:
        winnow.ingest(**how, out=out, threads=1)
        print("done")
    except KeyboardInterrupt:
        print("stopped", os.path.exists(out + "/manifest.json"))
"""
        said = self.python(code).split()
        self.assertEqual(said[:3], ["stopped", "False", "stopped"])
        if said[3] == "False":  # otherwise it had finished by then
            winnow.ingest(self.files(), self.out)
        self.assert_is_whole(self.out)

    def test_a_data_set_of_map_style(self):
        levels = [numpy.frombuffer(self.random.randbytes(24 * 24 * 3), numpy.uint8).reshape(24, 24, 3) for _ in range(30)]
        rows = [(image, at % 2) for at, image in enumerate(levels)]
        winnow.ingest(MapStyle(rows), self.out, split="train")
        cache = winnow.Cache(self.out)
        self.assertEqual(cache.class_names, MapStyle.classes)
        self.assertEqual([cache[at].labels for at in range(30)], [[at % 2] for at in range(30)])
        self.assertTrue(all((cache[at].image() == levels[at]).all() for at in range(30)))
        self.assertEqual({cache[at].split for at in range(30)}, {"train"})

        again = self.folder / "again"
        broken = MapStyle(rows)
        broken.rows = [*rows[:20], (object(), 0), *rows[21:]]
        with self.assertRaisesRegex(winnow.UsageError, "item 20.*object"):
            winnow.ingest(broken, again, split="train")
        whole = MapStyle(rows)
        winnow.ingest(whole, again, split="train")
        self.assertEqual(whole.drawn, [0, *range(19, 30)])  # existing results are not made again
        self.assertEqual(tree_bytes(again), tree_bytes(self.out))

    def test_an_item_that_raised_is_asked_for_again(self):
        levels = [numpy.full((8, 8), at, numpy.uint8) for at in range(12)]
        failed = []

        class Flaky(MapStyle):
            """Items 0 and 5 arrive at the third call."""

            def __getitem__(self, at):
                if at in (0, 5) and failed.count(at) < 2:
                    failed.append(at)
                    raise ConnectionError(f"at {at}")
                return super().__getitem__(at)

        rows = [(image, at % 3) for at, image in enumerate(levels)]
        with self.assertRaisesRegex(ConnectionError, "at 0"):
            winnow.ingest(Flaky(rows), self.out, retries=1)
        failed.clear()
        winnow.ingest(Flaky(rows), self.out, retries=2)
        self.assertEqual(failed, [0, 0, 5, 5])
        winnow.ingest(MapStyle(rows), self.folder / "whole")
        self.assertEqual(tree_bytes(self.out), tree_bytes(self.folder / "whole"))
        failed.clear()
        calls = 0
        while True:  # without retries, the same call asks again
            calls += 1
            try:
                winnow.ingest({"train": Flaky(rows)}, self.folder / "again")
                break
            except ConnectionError:
                pass
        self.assertEqual((calls, failed), (5, [0, 0, 5, 5]))
        for source, more in ((iter(rows), {"retries": 1}), (rows, {"retries": -1}), (self.source, {"retries": 1})):
            with self.assertRaisesRegex(winnow.UsageError, "retries"):
                winnow.ingest(source, self.folder / "more", **more)

    def test_splits_and_more_sources(self):
        levels = [numpy.full((8, 8), at, numpy.uint8) for at in range(20)]
        rows = [{"image": image, "label": name, "name": f"{name}/{at}"} for at, image in enumerate(levels) for name in ("a", "b")]
        winnow.ingest({"train": rows[:30], "validation": iter(rows[30:])}, self.out)
        cache = winnow.Cache(self.out)
        self.assertEqual([cache[at].split for at in (0, 29, 30, 39)], ["train", "train", "val", "val"])
        self.assertEqual((cache.class_names, cache.names(cache.ids[:3])), (["a", "b"], ["a/0", "b/0", "a/1"]))
        more = [winnow.Item(levels[0], ["b", "c"], split="test", group=7), winnow.Item(levels[1])]
        winnow.ingest(more, self.out, into=True, name="more")
        cache = winnow.Cache(self.out)
        self.assertEqual(([record.labels for record in cache[40:]], cache.class_names), ([[1, 2], []], ["a", "b", "c"]))
        self.assertEqual([int(id) for id in cache.ids[40:]], [1 << 48, (1 << 48) + 1])
        self.assertEqual(winnow.ingest(more, self.out, into=True, name="more").sources_there, 1)
        with self.assertRaisesRegex(winnow.UsageError, "more"):
            winnow.ingest(more[:1], self.out, into=True, name="more")

    def test_of_no_class_a_target_is_all_zeros(self):
        rows = [winnow.Item(numpy.full((8, 8), at, numpy.uint8), labels, split="train")
                for at, labels in enumerate((["a", "b"], [], "b", None))]  # fmt: skip
        winnow.ingest(rows, self.out)
        for augment in ("none", "mixup"):
            batch = winnow.Loader(self.out, 4, augment=augment).next()
            with self.assertRaisesRegex(winnow.UsageError, "labels, because it is mixed"):
                batch.labels
            raw, targets = batch.raw, batch.targets(2)
            for at in range(4):
                own = slice(raw.label_offsets[at], raw.label_offsets[at + 1])
                self.assertAlmostEqual(targets[at].sum(), raw.label_weights[own].sum(), delta=1e-6)
            if augment == "none":
                of = {(int(image[0, 0, 0]), tuple(map(float, target))) for image, target in zip(batch.images, targets)}
                self.assertEqual(of, {(0, (1, 1)), (1, (0, 0)), (2, (0, 1)), (3, (0, 0))})

    def test_what_an_image_may_be(self):
        gray = numpy.arange(12, dtype=numpy.uint8).reshape(3, 4)
        colour = numpy.arange(48, dtype=numpy.uint8).reshape(4, 4, 3)
        file = b"P6\n2 2\n255\n" + bytes(range(12))
        (self.folder / "file.ppm").write_bytes(file)
        images = [gray, gray[:, :, None], colour, colour[::2, ::-1], numpy.asfortranarray(colour), file, bytearray(file), memoryview(file),
                  numpy.frombuffer(file, numpy.uint8), self.folder / "file.ppm", self.folder / "absent", {"bytes": file, "path": None},
                  {"bytes": None, "path": str(self.folder / "file.ppm")}]  # fmt: skip
        winnow.ingest([(image,) for image in images], self.out)
        cache = winnow.Cache(self.out)
        self.assertEqual([row.fate for row in cache.ledger() if row.fate != "ok"], ["missing"])
        for at, levels in enumerate((gray[:, :, None], gray[:, :, None], colour, colour[::2, ::-1], colour)):
            self.assertEqual(cache.record(at).image().tolist(), levels.tolist())
        for at in (5, 6, 7, 8, 9, 11, 12):
            self.assertEqual(cache.record(at).payload, file)

    def test_what_makes_no_sense_is_named(self):
        good = numpy.zeros((4, 4, 3), numpy.uint8)
        for row, words in (((good.astype(numpy.float32), 0), "item 1: .*uint8, not float32"), ((good[..., :2], 0), "4 x 4 x 2"),
                           ((good.transpose(2, 0, 1), 0), "3 x 4 x 4"), ((good[:0], 0), "one pixel"), ((good[None], 0), "1 x 4 x 4 x 3"),
                           ((good, 1.5), "number or a name, not 1.5"), ((good, -2), "label -2"), ((good, True), "True"), (3, "not int"),
                           ((good, 0, "", "/etc/x"), "relative path"), ((good, 0, "", "", ""), "5 elements"), ({"picture": good}, "picture"),
                           (winnow.Item(good, split="tset"), "tset")):  # fmt: skip
            with self.subTest(words=words), self.assertRaisesRegex(winnow.UsageError, words):
                winnow.ingest([(good, 0), row], self.out)
        for more, words in (({"class_names": ["a"]}, "label 1 is no class"), ({"name": "a/b"}, "one word"), ({"hashes": ["md5"]}, "md5"),
                            ({"format": "csv"}, "for paths"), ({"retry_failed": True}, "for paths")):  # fmt: skip
            with self.subTest(**more), self.assertRaisesRegex(winnow.UsageError, words):
                winnow.ingest([(good, 0), (good, 1)], self.folder / "more", **more)
        with self.assertRaisesRegex(winnow.UsageError, "for an iterable"):
            winnow.ingest(self.source, self.out, split="train")
        for nothing in ([], iter([]), {}):
            with self.assertRaises(winnow.UsageError):
                winnow.ingest(nothing, self.folder / "none")
        with self.assertRaises(winnow.RefusedError):
            winnow.ingest(iter([b"x", b"y"]), self.folder / "bad")
        self.assertEqual([path.name for path in self.folder.glob("bad*")], [])

    def test_a_finished_cache_is_refused_before_anything_is_drawn(self):
        def never():
            yield (b"x",)
            self.fail("an item was drawn")

        with self.assertRaisesRegex(winnow.UsageError, "finished"):
            winnow.ingest(never(), self.path)

    def test_another_iterable_does_not_go_on(self):
        images = [numpy.full((8, 8), at, numpy.uint8) for at in range(10)]
        with self.assertRaisesRegex(winnow.UsageError, "item 10"):
            winnow.ingest(iter([*images, 5]), self.out)
        with self.assertRaisesRegex(winnow.UsageError, "item 4 differs"):
            winnow.ingest(iter([*images[:4], images[0], *images[5:]]), self.out)
        with self.assertRaisesRegex(winnow.UsageError, "ended after 6"):
            winnow.ingest(iter(images[:6]), self.out)
        with self.assertRaisesRegex(winnow.UsageError, "ended after 6"):
            winnow.ingest(images[:6], self.out)
        self.assertEqual(winnow.ingest(iter(images), self.out).inputs, 10)

    def test_memory_is_bounded(self):
        code = self.CODE.format(broken={}, out=str(self.out)) + """
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
def large():
    before = 0
    for at in range(128):
        yield os.urandom(1 << 20)
        before = before or resident()
    print((resident() - before) >> 20)
    raise LookupError
try:
    winnow.ingest(large(), out)
except LookupError:
    print(sum(os.path.getsize(out + ".items/" + name) for name in os.listdir(out + ".items")) >> 20)
"""
        grown, gathered = map(int, self.python(code).split())
        self.assertLess(grown, 16)
        self.assertEqual(gathered, 128)

    def test_pictures_of_pil(self):
        try:
            from PIL import Image
        except ModuleNotFoundError:
            self.skipTest("this Python has no PIL")
        levels = numpy.frombuffer(self.random.randbytes(24 * 24 * 3), numpy.uint8).reshape(24, 24, 3)
        picture = Image.fromarray(levels)
        winnow.ingest(MapStyle([(picture, 0), (picture.convert("L"), 1), (picture.convert("RGBA"), 2), (picture.convert("1"), 2)]), self.out)
        cache = winnow.Cache(self.out)
        self.assertTrue((cache.record(0).image() == levels).all() and (cache.record(2).image() == levels).all())
        self.assertEqual([cache.record(at).image().shape[2] for at in range(4)], [3, 1, 3, 1])


class Program(Package):
    def test_runs_and_raises(self):
        self.assertEqual(winnow.run("verify", self.path, "--json").json(), self.ok("verify", self.path, "--json").json())
        with self.assertRaisesRegex(winnow.UsageError, "nothing"):
            winnow.run("info", self.folder / "nothing")

    def test_is_the_module(self):
        done = subprocess.run([sys.executable, "-m", "winnow", "--version"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, f"winnow {winnow.__version__}\n"))


class Torch(Package):
    def setUp(self):
        super().setUp()
        try:
            import torch
        except ModuleNotFoundError:
            self.skipTest("this Python has no torch")
        self.torch = torch

    def test_tensors_are_no_copies(self):
        loader = winnow.Loader(self.path, 8, tensors="torch")
        batch = loader.next()
        self.assertEqual(tuple(batch.images.shape), (8, 1, self.SIDE, self.SIDE))
        self.assertEqual(batch.images.dtype, self.torch.uint8)
        self.assertEqual(batch.images.data_ptr(), batch.raw.images.ctypes.data)
        self.assertTrue(batch.images.is_contiguous(memory_format=self.torch.channels_last))
        self.assertEqual(batch.labels.dtype, self.torch.int64)
        self.assertEqual(batch.ids.tolist(), batch.raw.ids.tolist())
        images = batch.images
        copy = images.clone()
        del batch
        for _ in range(6):
            loader.next()
        self.assertTrue(self.torch.equal(images, copy))

    def test_auto_is_torch_where_it_is_imported(self):
        self.assertIsInstance(winnow.Loader(self.path, 8).next().labels, self.torch.Tensor)

    def test_ranks_of_a_process_group(self):
        code = (f"import torch.distributed as d, winnow; d.init_process_group('gloo', init_method='file://{self.folder}/meet', rank=0, "
                f"world_size=1); loader = winnow.Loader({str(self.path)!r}, 36); print(loader.rank, loader.ranks)")  # fmt: skip
        self.assertEqual(self.python(code, RANK="5", WORLD_SIZE="6"), "0 1")  # the process group takes precedence

    def test_workers_of_a_data_loader(self):
        dataset = winnow.Dataset(self.path)
        batches = self.torch.utils.data.DataLoader(dataset, batch_size=32, num_workers=2)
        pictures = self.torch.cat([pictures for pictures, _ in batches])
        self.assertEqual(pictures.numpy().tobytes(), winnow.Cache(self.path).load(dataset.ids).images.tobytes())

    def test_batches_under_torchrun_are_those_of_one_process(self):
        script = self.folder / "ranks.py"
        script.write_text(f"""
import pathlib, torch.distributed, winnow
torch.distributed.init_process_group("gloo")
loader = winnow.Loader({str(self.path)!r}, 36, augment="cifar", threads=1)
assert (loader.rank, loader.ranks) == (torch.distributed.get_rank(), torch.distributed.get_world_size())
digests = [loader.next().digest() for _ in range(6)]
pathlib.Path({str(self.folder)!r}, f"digests-{{loader.rank}}").write_text(" ".join(digests))
torch.distributed.destroy_process_group()
""")
        loader = winnow.Loader(self.path, 36, augment="cifar")
        whole = [int(loader.next().digest(), 16) for _ in range(6)]
        for ranks in (2, 3):
            with self.subTest(ranks=ranks):
                done = subprocess.run([sys.executable, *torchrun(ranks), script], capture_output=True, text=True, timeout=600)
                self.assertEqual(done.returncode, 0, done.stderr)
                parts = [(self.folder / f"digests-{rank}").read_text().split() for rank in range(ranks)]
                sums = [sum(int(digest, 16) for digest in step) & MASK for step in zip(*parts, strict=True)]
                self.assertEqual(sums, whole)


class RanksOfMachines(unittest.TestCase):
    """The number of processes that share this machine's cores, according to each launcher."""

    KNOWN = re.compile(r"(LOCAL_WORLD_SIZE|RANK|WORLD_SIZE|OMPI_.*|MPI_LOCALNRANKS|SLURM_.*)$")

    def local(self, ranks=8, **said):
        kept = {name: value for name, value in os.environ.items() if not self.KNOWN.match(name)}
        with unittest.mock.patch.dict(os.environ, {**kept, **said}, clear=True):
            return winnow.ranks.find(0, ranks).local_ranks

    def test_by_each_launcher(self):
        self.assertEqual(self.local(), 1)
        self.assertEqual(self.local(LOCAL_WORLD_SIZE="4"), 4)
        self.assertEqual(self.local(OMPI_COMM_WORLD_LOCAL_SIZE="2"), 2)
        self.assertEqual(self.local(MPI_LOCALNRANKS="3"), 3)
        for node, count in enumerate((4, 4, 3)):
            self.assertEqual(self.local(11, SLURM_STEP_TASKS_PER_NODE="4(x2),3", SLURM_NODEID=str(node)), count)
        self.assertEqual(self.local(SLURM_STEP_TASKS_PER_NODE="8"), 8)
        self.assertEqual(self.local(1, SLURM_STEP_TASKS_PER_NODE="8"), 1)  # each alone
        self.assertEqual(self.local(LOCAL_WORLD_SIZE="4", SLURM_STEP_TASKS_PER_NODE="1"), 4)  # torchrun inside srun
        self.assertEqual(self.local(SLURM_TASKS_PER_NODE="8"), 1)  # a script of sbatch, outside of a step


if __name__ == "__main__":
    unittest.main()
