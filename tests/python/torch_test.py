"""The package winnow with PyTorch: its order in a DataLoader, its augmentation, weights, and its displays in a notebook."""

import base64
import gzip
import html.parser
import importlib.util
import json
import os
import pathlib
import pickle
import struct
import subprocess
import sys
import unittest
import unittest.mock
import zlib

from needs_package import ROOT, numpy, torchrun, winnow

import winnow.torch
from program import Case

try:
    import torch
except ModuleNotFoundError:
    torch = None
needs_torch = unittest.skipIf(torch is None, "this Python has no torch")
MASK = (1 << 64) - 1


class OneCache(Case):
    """A cache of 96 training and 24 test pictures of 20 x 20, grey, in 4 classes, some of them copies."""

    SIDE = 20

    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        source = self.folder / "data"
        for prefix, count in (("train", 96), ("t10k", 24)):
            images = [self.image(self.SIDE, 1) for _ in range(count)]
            images[5] = images[7] = images[3]
            self.write_idx(source, prefix, images, [i % 4 for i in range(count)], self.SIDE)
        self.path = self.folder / "cache"
        self.ok("ingest", source, "--out", self.path)

    def loader(self, **more):
        return winnow.Loader(self.path, 36, **{"tensors": "numpy", **more})

    def steps(self, count, **more):
        """Ids of the first global batches, as from winnow.Loader."""
        loader = self.loader(**more)
        return [loader.next().ids.tolist() for _ in range(count)]


class Samplers(OneCache):
    def parts(self, ranks, **more):
        dataset = winnow.torch.Dataset(self.path, selection=more.pop("selection", ""))
        return [winnow.torch.Sampler(dataset, 36, rank=rank, ranks=ranks, **more) for rank in range(ranks)], dataset

    def loop(self, samplers, dataset):
        """The global batches of one loop over all ranks."""
        given = [dataset.ids[list(sampler)].reshape(-1, sampler.part) for sampler in samplers]
        return numpy.concatenate(given, axis=1).tolist()

    def test_has_the_order_of_the_loader_on_any_number_of_ranks(self):
        winnow.run("dedup", self.path, "--name", "near", "--mode", "one_per_group")
        for more in ({}, {"seed": 7}, {"selection": "near"}, {"sampling": "balanced"}, {"sampling": "repeat-factor", "repeat_threshold": 0.5},
                     {"shuffle_fraction": 0.25, "partitions": 4}):  # fmt: skip
            whole = self.steps(16, **more)
            for ranks in (1, 2, 3):
                with self.subTest(**more, ranks=ranks):
                    samplers, dataset = self.parts(ranks, **more)
                    seen, epochs = [], []
                    while len(seen) < 12:
                        expected = [len(sampler) for sampler in samplers]
                        epochs.append(samplers[0].epoch)
                        loop = self.loop(samplers, dataset)
                        self.assertEqual(expected, [len(loop) * 36 // ranks] * ranks)
                        seen += loop
                    self.assertEqual(seen, whole[: len(seen)])
                    self.assertEqual(epochs, list(range(len(epochs))))

    def test_goes_on_in_the_middle_of_an_epoch_on_other_ranks(self):
        whole = self.steps(12)
        for ranks, others, done in ((1, 3, 1), (3, 2, 2), (2, 1, 5)):
            with self.subTest(ranks=ranks, others=others, done=done):
                state = json.loads(json.dumps(self.parts(ranks)[0][0].state_dict(done)))
                samplers, dataset = self.parts(others)
                for sampler in samplers:
                    sampler.load_state_dict(state)
                    sampler.set_epoch(sampler.epoch)  # as training scripts do before each loop
                seen = self.loop(samplers, dataset)
                self.assertEqual(len(seen), {1: 2, 2: 1, 5: 1}[done])  # epochs begin at batches 0, 3, 6
                seen += self.loop(samplers, dataset)
                self.assertEqual(seen, whole[done : done + len(seen)])

    def test_fifty_interruptions_repeat_and_lose_nothing(self):
        ids, state, step = [], None, 0
        for _ in range(50):
            ranks = self.random.choice((1, 2, 3, 4))
            samplers, dataset = self.parts(ranks)
            if state:
                for sampler in samplers:
                    sampler.load_state_dict(state)
            loop = self.loop(samplers, dataset)  # the whole loop, as a DataLoader requests indices ahead
            done = self.random.randint(0, len(loop))
            ids += [id for batch in loop[:done] for id in batch]
            step += done
            state = samplers[self.random.randrange(ranks)].state_dict(step)
        self.assertEqual(ids, [id for batch in self.steps(step) for id in batch])
        train = sorted(dataset.ids.tolist())
        for epoch in range(len(ids) // 96):
            self.assertEqual(sorted(ids[96 * epoch : 96 * (epoch + 1)]), train)
        self.assertGreater(len(ids) // 96, 5)

    def test_a_loop_that_is_left_is_begun_again(self):
        (sampler,), dataset = self.parts(1)
        first = [index for index, _ in zip(sampler, range(40), strict=False)]
        self.assertEqual(list(sampler)[:40], first)
        self.assertEqual(sampler.epoch, 1)
        sampler.set_epoch(0)
        self.assertEqual(list(sampler)[:40], first)
        sampler.seek(7)
        self.assertEqual(self.loop([sampler], dataset)[0], self.steps(8)[7])

    def test_refuses_what_makes_no_sense(self):
        dataset = winnow.torch.Dataset(self.path)
        with self.assertRaisesRegex(winnow.UsageError, "split equally"):
            winnow.torch.Sampler(dataset, 35, rank=0, ranks=2)
        with self.assertRaisesRegex(winnow.UsageError, "split equally"):
            winnow.torch.Sampler(dataset, 0)
        sampler = winnow.torch.Sampler(dataset, 36)
        for call in (sampler.seek, sampler.set_epoch, sampler.state_dict):
            with self.assertRaises(winnow.UsageError):
                call(-1)
        state = sampler.state_dict(2)
        for other in (winnow.torch.Sampler(dataset, 12), winnow.torch.Sampler(dataset, 36, seed=2),
                      winnow.torch.Sampler(winnow.torch.Dataset(self.path, split="test"), 36)):  # fmt: skip
            with self.assertRaisesRegex(winnow.UsageError, "the state belongs to a winnow.torch.Sampler with (batch_size|seed|split)"):
                other.load_state_dict(state)
        with self.assertRaisesRegex(winnow.UsageError, "not a state"):
            sampler.load_state_dict({})

    @needs_torch
    def test_a_data_loader_with_workers_gives_the_loaders_pictures(self):
        dataset = winnow.torch.Dataset(self.path)
        loader = self.loader()
        sampler = winnow.torch.Sampler(dataset, 36)
        batches = torch.utils.data.DataLoader(dataset, batch_size=sampler.part, sampler=sampler, num_workers=2)
        for _ in range(2):
            self.assertEqual(len(batches), 3)
            for pictures, labels in batches:
                batch = loader.next()
                self.assertEqual(pictures.numpy().tobytes(), batch.images.tobytes())
                self.assertEqual(labels.tolist(), batch.labels.tolist())


class Transforms(OneCache):
    RECIPE = "crop+flip+rand_augment+erase:p=0.9,value=random"

    def test_has_the_pixels_of_the_loader(self):
        cache = winnow.Cache(self.path)
        for recipe, size in ((self.RECIPE, None), ("imagenet", 16), ("cifar", (24, 12))):
            with self.subTest(recipe=recipe):
                transform = winnow.torchvision_transform(recipe, size, cache)
                loader = self.loader(augment=recipe, image_size=size)
                for epoch in range(2):
                    loader.seek(loader.first_step(epoch + 1) - 2)
                    batch = loader.next()  # from a single epoch
                    for id, image in zip(batch.ids.tolist()[:9], batch.images[:9], strict=True):
                        made = transform.at(cache.image(id), seed=1, epoch=epoch, id=id)
                        self.assertEqual(made.tolist(), image.tolist())

    def test_gives_what_it_gets(self):
        transform = winnow.torchvision_transform("cifar", 12)
        gray = numpy.zeros((20, 30), numpy.uint8)
        self.assertEqual(transform(gray).shape, (12, 12))
        self.assertEqual(transform(gray[:, :, None]).shape, (12, 12, 1))
        wide = numpy.zeros((40, 60, 3), numpy.uint8)[::2, ::-2]  # not contiguous
        self.assertEqual(transform(wide).shape, (12, 12, 3))
        self.assertEqual(winnow.torchvision_transform("none")(wide).shape, (20, 30, 3))
        for wrong in (gray.astype(numpy.float32), numpy.zeros((2, 20, 20, 3), numpy.uint8), numpy.zeros((20, 20, 2), numpy.uint8)):
            with self.assertRaisesRegex(winnow.UsageError, "picture"):
                transform(wrong)

    def test_pictures_of_pillow(self):
        try:
            from PIL import Image
        except ModuleNotFoundError:
            self.skipTest("this Python has no Pillow")
        made = winnow.torchvision_transform("imagenet", 8)(Image.new("RGB", (20, 30), (1, 2, 3)))
        self.assertEqual((made.size, made.mode, made.getpixel((0, 0))), ((8, 8), "RGB", (1, 2, 3)))

    @needs_torch
    def test_draws_by_the_seed_of_torch(self):
        transform = winnow.torchvision_transform(self.RECIPE)
        picture = torch.arange(3 * 20 * 20).reshape(3, 20, 20).to(torch.uint8)
        torch.manual_seed(5)
        one, two = transform(picture), transform(picture)
        torch.manual_seed(5)
        self.assertTrue(torch.equal(transform(picture), one))
        self.assertFalse(torch.equal(one, two))
        self.assertEqual((one.shape, one.dtype), (picture.shape, torch.uint8))
        torch.manual_seed(5)
        self.assertTrue(torch.equal(pickle.loads(pickle.dumps(transform))(picture), one))

    def test_refuses_recipes_that_mix_batches_and_those_that_are_none(self):
        with self.assertRaisesRegex(winnow.UsageError, "mix"):
            winnow.torchvision_transform("crop+mixup")
        with self.assertRaisesRegex(winnow.UsageError, "cifarr"):
            winnow.torchvision_transform("cifarr")


class Extras(OneCache):
    def test_mean_and_deviation_have_a_number_for_each_channel(self):
        cache = winnow.Cache(self.path)
        pixels = cache.load(cache.samples("train")[0]).raw.images / 255
        self.assertEqual((len(cache.mean), len(cache.deviation)), (1, 1))
        self.assertAlmostEqual(cache.mean[0], pixels.mean(), 4)
        self.assertAlmostEqual(cache.deviation[0], pixels.std(), 4)

    def trained(self, *flags):
        out = self.folder / "run"
        self.ok("train", self.path, "--out", out, "--net", "lenet", "--batch-size", 36, "--micro-batch", 6, "--lr", 0.01, "--epochs", 2,
                "--threads", 1, "--log-batches", "--augment", "none", *flags)  # fmt: skip
        rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
        return [row["data.digest"] for row in rows if "data.digest" in row], json.loads((out / "census.json").read_text())

    def test_census_is_that_of_winnow_train(self):
        _, census = self.trained("--sampling", "balanced")
        loaders = [self.loader(sampling="balanced", rank=rank, ranks=3) for rank in range(3)]
        for loader in loaders:
            for _ in range(5):  # like the run, which ends with the last whole batch
                loader.next()
        for row in census["epochs"]:
            counts = [loader.census()[row["epoch"] - 1] for loader in loaders]
            total = sum(count for count, _ in counts), sum(hash for _, hash in counts) & MASK
            self.assertEqual(total, (row["samples"], int(row["hash"], 16)))
            self.assertEqual(loaders[0].due(row["epoch"] - 1), (row["due"]["samples"], int(row["due"]["hash"], 16)))
        self.assertEqual(len(census["epochs"]), 2)
        loader = self.loader()
        loader.next()
        self.assertNotEqual(loader.census()[0], loader.due(0))

    def test_class_weights_are_those_of_winnow_train(self):
        listed = self.folder / "weights.csv"
        listed.write_text("class,weight\n1,0\n2,2.5\n")
        for flag, given in (("balanced", "balanced"), (listed, listed), (listed, {"1": 0, "2": 2.5})):
            with self.subTest(given=given):
                subprocess.run(["rm", "-rf", self.folder / "run"], check=True)
                digests, _ = self.trained("--class-weights", flag)
                loader = self.loader(class_weights=given)
                self.assertEqual([loader.next().digest() for _ in digests], digests)
        self.assertEqual(loader.samples, 72)
        batch = loader.next()
        self.assertEqual(dict(zip(batch.labels.tolist(), batch.weights.tolist(), strict=True)), {0: 1, 2: 2.5, 3: 1})
        for wrong, word in (({"9": 1}, "9"), ({"1": -1}, "weight"), ({"1": float("nan")}, "weight"), ("balanzed", "balanzed")):
            with self.subTest(wrong=wrong), self.assertRaisesRegex(winnow.UsageError, word):
                self.loader(class_weights=wrong)
        with self.assertRaisesRegex(winnow.UsageError, "class_weights"):
            self.loader().load_state_dict(loader.state_dict())


class Weights(OneCache):
    def trained(self, *flags):
        out = self.folder / "run"
        self.ok("train", self.path, "--out", out, "--net", "lenet", "--batch-size", 36, "--lr", 0.01, "--epochs", 1, "--threads", 1, *flags)
        return out

    def raw(self, header, data=b""):
        """A file with this header, which may be invalid."""
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        path = self.folder / "made.safetensors"
        path.write_bytes(struct.pack("<Q", len(text)) + text + data)
        return path

    def test_round_trip_by_way_of_winnow_train(self):
        out = self.trained()
        first = winnow.load_weights(out, tensors="numpy")
        self.assertEqual([str(first[name].dtype) for name in first], ["float32"] * len(first))
        file = out / "checkpoints" / "latest" / "model.safetensors"
        for path in (file, file.parent):
            again = winnow.load_weights(path, tensors="numpy")
            self.assertEqual(list(again), list(first))
        edited = {name: value * numpy.float32(0.5) for name, value in first.items()}
        winnow.save_weights(self.folder / "half.safetensors", edited)
        for precision in (numpy.float32, numpy.float64):
            winnow.save_weights(self.folder / "half.safetensors", {name: value.astype(precision) for name, value in edited.items()})
            subprocess.run(["rm", "-rf", out], check=True)
            *frozen, trained = edited
            begun = self.trained("--init-from", self.folder / "half.safetensors", "--recipe", "none", "--freeze", *frozen)
            back = winnow.load_weights(begun, tensors="numpy")
            self.assertEqual({name: back[name].tolist() for name in frozen}, {name: edited[name].tolist() for name in frozen})
            self.assertNotEqual(back[trained].tolist(), edited[trained].tolist())

    def test_what_is_saved_is_loaded(self):
        kinds = ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?")
        state = {f"t.{kind}": numpy.arange(6).reshape(2, 3).astype(kind) for kind in kinds}
        state |= {"t.scalar": numpy.int64(7), "t.none": numpy.zeros((0, 3), numpy.float32), "t.back": numpy.arange(6.0)[::-2],
                  "t.big": numpy.arange(3, dtype=">f4")}  # fmt: skip
        path = self.folder / "weights.safetensors"
        path.write_text("what was there before")
        winnow.save_weights(path, state)
        back = winnow.load_weights(path, tensors="numpy")
        self.assertEqual(list(back), list(state))
        for name, value in state.items():
            with self.subTest(name):
                self.assertEqual(back[name].dtype, numpy.asarray(value).dtype.newbyteorder("<"))
                self.assertEqual((back[name].shape, back[name].tolist()), (numpy.shape(value), numpy.asarray(value).tolist()))
        self.assertEqual(os.listdir(path.parent).count(path.name), 1)
        self.assertEqual([name for name in os.listdir(path.parent) if name.endswith(".part")], [])
        back["t.f4"][0, 0] = 5  # it is writable

    @needs_torch
    def test_state_dicts(self):
        net = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3).to(memory_format=torch.channels_last), torch.nn.BatchNorm2d(2))
        path = self.folder / "net.safetensors"
        wrapped = {f"module._orig_mod.{name}": value for name, value in net.state_dict().items()}
        for state in (net.state_dict(), wrapped):
            winnow.save_weights(path, state)
            back = winnow.load_weights(path)
            self.assertEqual(list(back), list(net.state_dict()))
            self.assertTrue(all(torch.equal(back[name], value) for name, value in net.state_dict().items()))
            net.load_state_dict(back)
        half = {"a": torch.tensor([[1.5, -2.0]], dtype=torch.bfloat16).T, "b": torch.tensor(3.0, dtype=torch.float16)}
        winnow.save_weights(path, half)
        back = winnow.load_weights(path)
        self.assertTrue(all(torch.equal(back[name], value) and back[name].dtype == value.dtype for name, value in half.items()))
        self.assertEqual(winnow.load_weights(path, tensors="numpy")["a"].tolist(), [[1.5], [-2.0]])
        try:
            from safetensors.torch import load_file, save_file
        except ModuleNotFoundError:
            return
        self.assertTrue(all(torch.equal(load_file(path)[name], value) for name, value in half.items()))
        save_file(net.state_dict() | {"odd": torch.zeros(3, dtype=torch.uint8)}, path)  # they use another order
        self.assertTrue(all(torch.equal(winnow.load_weights(path)[name], value) for name, value in net.state_dict().items()))

    def test_refuses_files_that_are_not_whole(self):
        path = self.folder / "whole.safetensors"
        winnow.save_weights(path, {"a": numpy.arange(100, dtype=numpy.float32), "b": numpy.ones(3)})
        whole = path.read_bytes()
        for cut in (0, 7, 20, 100, len(whole) - 1, len(whole) - 30):
            path.write_bytes(whole[:cut])
            with self.subTest(cut=cut), self.assertRaisesRegex(winnow.DataError, "cut short|not a safetensors"):
                winnow.load_weights(path)
        path.write_bytes(whole + b"x")
        with self.assertRaisesRegex(winnow.DataError, "left over"):
            winnow.load_weights(path)
        with self.assertRaisesRegex(winnow.UsageError, "no weights"):
            winnow.load_weights(self.folder / "nothing")
        with self.assertRaisesRegex(winnow.UsageError, "no weights"):
            winnow.load_weights(self.folder)

    def test_refuses_headers_that_are_impossible(self):
        def row(**more):
            return {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **more}}

        self.assertEqual(winnow.load_weights(self.raw(row(), bytes(8)), tensors="numpy")["a"].tolist(), [0, 0])
        for more, word in (({"shape": [float("nan")]}, "impossible"), ({"shape": [2.0]}, "impossible"), ({"shape": [-2]}, "impossible"),
                           ({"shape": [True, 2]}, "impossible"), ({"shape": 2}, "impossible"), ({"shape": [3]}, "another size"),
                           ({"shape": [1 << 62, 1 << 62]}, "another size"), ({"dtype": "F8_E4M3"}, "F8_E4M3"), ({"dtype": ["F32"]}, "type"),
                           ({"data_offsets": [8, 16]}, "holes"), ({"data_offsets": [0, 4]}, "another size"), ({"data_offsets": [0]}, "impossible"),
                           ({"data_offsets": [8, 0]}, "another size")):  # fmt: skip
            with self.subTest(**more), self.assertRaisesRegex(winnow.DataError, word):
                winnow.load_weights(self.raw(row(**more), bytes(8)))
        two = json.dumps(row())[:-1] + ", " + json.dumps(row())[1:]
        for header, word in ((b"[]", "not a safetensors"), (b"{", "JSON"), (b"{\xff}", "JSON"), (two.encode(), "twice"), ({"a": 1}, "lacks"),
                             (b'{"a":' * 100000, "JSON")):  # fmt: skip
            with self.subTest(header=header[:20] if isinstance(header, bytes) else header), self.assertRaisesRegex(winnow.DataError, word):
                winnow.load_weights(self.raw(header, bytes(8)))
        (self.folder / "made.safetensors").write_bytes(struct.pack("<Q", 1 << 60) + b"{}")
        with self.assertRaisesRegex(winnow.DataError, "not a safetensors"):
            winnow.load_weights(self.folder / "made.safetensors")

    def test_refuses_values_that_are_not_finite_and_what_is_no_tensor(self):
        path = self.folder / "weights.safetensors"
        for state, word in (({"a": numpy.array([1, numpy.inf])}, "a contains"), ({"a": [1, 2]}, "list"), ({}, "empty"),
                            ({"a": numpy.zeros(2, numpy.complex64)}, "complex64"), ({"__metadata__": numpy.zeros(2)}, "__metadata__")):  # fmt: skip
            with self.subTest(word), self.assertRaisesRegex(winnow.UsageError, word):
                winnow.save_weights(path, state)
        self.assertFalse(path.exists())
        with self.assertRaisesRegex(winnow.DataError, "NaN or infinity"):
            winnow.load_weights(self.raw({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, struct.pack("<f", float("nan"))))
        with self.assertRaisesRegex(winnow.DataError, "NaN or infinity"):
            winnow.load_weights(self.raw({"a": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}, b"\xc0\x7f"))
        with self.assertRaisesRegex(winnow.SystemFault, "written"):
            winnow.save_weights(self.folder / "no" / "folder", {"a": numpy.zeros(2)})


class Shows(OneCache):
    class Page(html.parser.HTMLParser):
        """The text of a page, and whether its tags are closed."""

        def __init__(self, text):
            super().__init__()
            self.open, self.images, self.words = [], [], []
            self.feed(text)

        def handle_starttag(self, tag, attributes):
            if tag == "img":
                self.images.append(dict(attributes))
            elif tag != "br":
                self.open.append(tag)

        def handle_endtag(self, tag):
            assert self.open.pop() == tag

        def handle_data(self, data):
            self.words.append(data)

    def test_pictures_names_distances_and_fates(self):
        winnow.dedup(self.path, "near", hash="phash")
        cache = winnow.Cache(self.path)
        rows = cache.groups("near", frame=False)
        shown = cache.show("near", picture_px=20)
        page = self.Page(shown._repr_html_())
        self.assertEqual(page.open, [])
        self.assertEqual((len(shown), len(page.images)), (len({row["group"] for row in rows}), len(rows)))
        text = " ".join(page.words)
        self.assertIn(f"{len(shown)} groups of duplicates", text)
        for row in rows:
            self.assertIn(row["name"], text)
            self.assertIn(f"id {row['id']}", text)
        self.assertEqual(text.count("removed ("), sum(row["weight"] == 0 for row in rows))
        self.assertIn("bits away", text)
        for image, row in zip(page.images, rows, strict=True):
            self.assertEqual(self.pixels(image["src"]).tolist(), cache.image(row["id"]).tolist())
        self.assertTrue(all(image["src"].startswith("data:image/") for image in page.images))
        self.assertNotRegex(shown._repr_html_(), "https?:|<link|<script|url\\(")

    def pixels(self, source):
        """Pixels of a PNG with differences from the row above, as an array."""
        head, _, data = source.partition(",")
        self.assertEqual(head, "data:image/png;base64")
        raw = base64.b64decode(data)
        self.assertEqual(raw[:8], b"\x89PNG\r\n\x1a\n")
        width, height, depth, colours = struct.unpack(">IIBB", raw[16:26])
        self.assertEqual((depth, colours), (8, 0))
        size = struct.unpack(">I", raw[33:37])[0]
        lines = numpy.frombuffer(zlib.decompress(raw[41 : 41 + size]), numpy.uint8).reshape(height, width + 1)
        self.assertEqual(lines[:, 0].tolist(), [2] * height)
        self.assertEqual(zlib.crc32(raw[37 : 41 + size]), struct.unpack(">I", raw[41 + size : 45 + size])[0])
        return numpy.cumsum(lines[:, 1:], axis=0, dtype=numpy.uint8)[:, :, None]

    def rows(self, cache, groups, members=2):
        ids = cache.ids[: groups * members].reshape(groups, members)
        return [{"group": group, "id": int(id), "name": "a", "split": "train", "weight": float(at == 0), "distance": 1, "rule": "duplicate"}
                for group in range(groups) for at, id in enumerate(ids[group])]  # fmt: skip

    def test_is_bounded_and_says_so(self):
        import winnow.show

        cache = winnow.Cache(self.path)
        page = self.Page(cache.show(self.rows(cache, 60), limit=7)._repr_html_())
        self.assertEqual(len(page.images), 14)
        self.assertIn("7 of 60 groups of duplicates", page.words)
        self.assertEqual(page.words.count("removed (duplicate), 1 bit away"), 7)
        page = self.Page(cache.show(self.rows(cache, 3, members=40))._repr_html_())
        self.assertEqual(len(page.images), 36)
        self.assertEqual(page.words.count("and 28 more"), 3)
        with unittest.mock.patch.object(winnow.show, "_MOST_BYTES", 10_000):
            text = cache.show(self.rows(cache, 60))._repr_html_()
        page = self.Page(text)
        self.assertTrue(0 < len(page.images) < 60)
        self.assertIn(f"{len(page.images) // 2} of 60 groups of duplicates", page.words)
        self.assertLess(len(text), 16_000)
        self.assertEqual(self.Page(cache.show([])._repr_html_()).images, [])

    def test_names_are_text(self):
        cache = winnow.Cache(self.path)
        rows = self.rows(cache, 1)
        rows[0]["name"] = "<script>&\udcff"
        rows[0]["rule"] = "<b>"
        rows[0]["weight"] = 0
        text = cache.show(rows)._repr_html_()
        self.assertNotIn("<script>", text)
        self.assertNotIn("<b>", text)
        self.assertIn("&lt;script&gt;&amp;\ufffd", text)
        cache.show(rows).save(self.folder / "page.html")
        self.assertIn(text, (self.folder / "page.html").read_text("utf-8"))

    def test_frames_and_what_it_refuses(self):
        cache = winnow.Cache(self.path)
        rows = self.rows(cache, 2)
        try:
            import pandas
        except ModuleNotFoundError:
            pass
        else:
            self.assertEqual(cache.show(pandas.DataFrame(rows))._repr_html_(), cache.show(rows)._repr_html_())
        with self.assertRaisesRegex(winnow.UsageError, "lack name, weight"):
            cache.show([{key: value for key, value in rows[0].items() if key not in ("name", "weight")}])
        for more in ({"limit": 0}, {"picture_px": 0}):
            with self.assertRaises(winnow.UsageError):
                cache.show(rows, **more)
        with self.assertRaisesRegex(winnow.UsageError, "far"):
            cache.show("far")

    def test_a_cache_without_pictures(self):
        path = self.folder / "bare"
        winnow.ingest(self.folder / "data", path, store="none")
        cache = winnow.Cache(path)
        page = self.Page(cache.show(self.rows(cache, 2))._repr_html_())
        self.assertEqual((page.images, page.words.count("no picture in this cache")), ([], 4))


def has(*names):
    return all(importlib.util.find_spec(name) is not None for name in names)


FASHION_MNIST = pathlib.Path("/usr/share/datasets/fashion-mnist")  # Debian's


@unittest.skipUnless(has("torch", "torchvision"), "this Python has no torch with torchvision")
class TorchvisionDataSets(Case):
    """Ingested as they are, compared with the program on the same files."""

    def caches(self, dataset, source, **more):
        winnow.ingest(dataset, self.folder / "items", **more)
        self.ok("ingest", source, "--out", self.folder / "files")
        return winnow.Cache(self.folder / "items"), winnow.Cache(self.folder / "files")

    @unittest.skipUnless(FASHION_MNIST.exists(), "Debian's dataset-fashion-mnist is not installed")
    def test_fashion_mnist(self):
        import torchvision

        raw = self.folder / "FashionMNIST" / "raw"
        raw.mkdir(parents=True)
        for packed in FASHION_MNIST.glob("*.gz"):
            (raw / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
        parts = {name: torchvision.datasets.FashionMNIST(self.folder, train=name == "train", download=False) for name in ("train", "test")}
        items, files = self.caches(parts, FASHION_MNIST)
        self.assertEqual((len(items), items.class_names[:2]), (70000, ["T-shirt/top", "Trouser"]))
        self.assertEqual(items.splits.tolist(), files.splits.tolist())
        of_items, of_files = items.fingerprints(), files.fingerprints()
        self.assertTrue(numpy.array_equal(of_items.pixel_hashes, of_files.pixel_hashes))
        for hash in of_items.hashes:
            self.assertTrue(numpy.array_equal(of_items.codes(hash), of_files.codes(hash)), hash)
        self.assertEqual([record.labels for record in items[:2000]], [record.labels for record in files[:2000]])

    def test_a_folder_of_images(self):
        import torchvision

        source = self.folder / "photos"
        for at in range(24):
            place = source / ("cats", "dogs", "eels")[at % 3] / f"{at:02}.ppm"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(b"P6\n16 12\n255\n" + self.random.randbytes(16 * 12 * 3))
        items, files = self.caches(torchvision.datasets.ImageFolder(source), source)
        self.assertEqual(items.class_names, ["cats", "dogs", "eels"])
        self.assertEqual([record.labels for record in items], [record.labels for record in files])
        self.assertTrue(all((one.image() == other.image()).all() for one, other in zip(items, files, strict=True)))


@unittest.skipUnless(has("torch", "pytorch_lightning"), "this Python has no pytorch_lightning")
class Lightning(OneCache):
    """A Trainer stores the state of its Loader and resumes from it."""

    CODE = """
import json, logging, sys, warnings
import pytorch_lightning as lightning
import torch, winnow
warnings.simplefilter("ignore")
logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
path, steps, begin, end = sys.argv[1:]
seen = []

class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def training_step(self, batch, _):
        seen.append(batch.ids.tolist())
        return self.layer(torch.ones(1, 1)).sum()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

trainer = lightning.Trainer(max_steps=int(steps), max_epochs=-1, accelerator="cpu", logger=False, enable_checkpointing=False,
                            enable_progress_bar=False, enable_model_summary=False)
trainer.fit(Net(), winnow.Loader(path, 20, augment="cifar", threads=1), ckpt_path=begin or None)
trainer.save_checkpoint(end)
print(json.dumps(seen))
"""

    def seen(self, steps, begin="", end="end.ckpt"):
        done = subprocess.run([sys.executable, "-c", self.CODE, self.path, str(steps), begin and self.folder / begin, self.folder / end],
                              capture_output=True, text=True, timeout=600, env={**os.environ, "OMP_NUM_THREADS": "1"})  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.splitlines()[-1])

    def test_goes_on_in_the_middle_of_an_epoch(self):
        whole = [batch.ids.tolist() for batch, _ in zip(iter(winnow.Loader(self.path, 20).next, None), range(15))]
        self.assertEqual(self.seen(15), whole)
        for at in (3, 5, 7):  # an epoch has 4.8 batches
            with self.subTest(at=at):
                self.assertEqual(self.seen(at, end="middle.ckpt") + self.seen(15, begin="middle.ckpt"), whole)


class Examples(OneCache):
    FOLDER = ROOT / "examples" / "pytorch"

    def example(self, name, *words, launcher=()):
        command = [sys.executable, *launcher, self.FOLDER / name, self.path, *words]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=900,
                              env={**os.environ, "OMP_NUM_THREADS": "1"})  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    @unittest.skipUnless(has("torch", "torchvision"), "this Python has no torch with torchvision")
    def test_resnet20_on_two_ranks_learns_as_winnow_train_does(self):
        """From the same weights, one step of the same recipe gives the same weights, except for the rounding of sums.

        Later steps cannot be compared: rounding errors grow tenfold with each.
        """
        shape = ("--net", "resnet20", "--image-size", 32, "--batch-size", 96, "--micro-batch", 48, "--epochs", 1, "--threads", 1)
        recipe = ("--recipe", "none", "--augment", "cifar", "--lr", 0.1, "--momentum", 0.9, "--weight-decay", 0.0005, "--warmup-epochs", 1,
                  "--sched", "poly", "--power", 1)  # fmt: skip
        self.ok("train", self.path, "--out", self.folder / "first", *shape, "--seed", 9)
        first = self.folder / "first.safetensors"
        winnow.save_weights(first, winnow.load_weights(self.folder / "first", tensors="numpy"))
        self.ok("train", self.path, "--out", self.folder / "run", *shape, *recipe, "--init-from", first)
        own = winnow.load_weights(self.folder / "run", tensors="numpy")
        out = self.folder / "torch.safetensors"
        said = self.example("resnet20.py", "--epochs", "1", "--batch-size", "96", "--init", first, "--out", out,
                            launcher=torchrun(2))  # fmt: skip
        theirs = winnow.load_weights(out, tensors="numpy")
        self.assertEqual(set(theirs), set(own))
        begun = winnow.load_weights(first, tensors="numpy")
        learnt = [name for name in own if "running" not in name and "tracked" not in name]
        moved, apart = (numpy.sqrt(sum(numpy.square(own[name] - other[name]).sum() for name in learnt)) for other in (begun, theirs))
        self.assertLess(apart, 0.02 * moved)
        self.assertRegex(said, r"test accuracy [\d.]+ % on 24 images")
        self.ok("eval", out, self.path, "--net", "resnet20", "--image-size", 32)

    @unittest.skipUnless(has("torch", "timm"), "this Python has no timm")
    def test_timm(self):
        said = self.example("timm_style.py", "--model", "test_resnet", "--epochs", "1", "--image-size", "32", "--batch-size", "32")
        self.assertRegex(said, r"epoch 0: loss [\d.]+, \d+ of 24 test pictures right")

    @unittest.skipUnless(has("torch", "torchvision", "pytorch_lightning"), "this Python has no pytorch_lightning")
    def test_lightning(self):
        kept = ("--checkpoint", self.folder / "kept.ckpt")
        for epochs, more in ((1, kept), (2, kept), (1, ("--data-loader",))):
            said = self.example("lightning_style.py", "--epochs", epochs, "--image-size", "32", "--batch-size", "32", *more)
            self.assertRegex(said, r"loss [\d.]+, right [\d.]+")


if __name__ == "__main__":
    unittest.main()
