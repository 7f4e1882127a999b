"""Everyday mistakes get one clear sentence and the right exit code. Existing files stay, and nothing else is left behind."""

import contextlib
import gzip
import json
import math
import os
import pathlib
import re
import shlex
import shutil
import signal
import struct
import subprocess
import unittest
import zlib
from random import Random

from golden import GOLDEN, seal_checkpoint, with_digest, write_tree
from program import BY_RANK, PATIENCE_S, WINNOW, Case, errors_in, eventually, png, png_chunk, run, tensors, tree_bytes

# A grey gradient of 16 x 16, written by libjpeg at quality 75.
JPEG = bytes.fromhex(
    "ffd8ffe000104a46494600010100000100010000ffdb004300080606070605080707070909080a0c140d0c0b0b0c1912130f141d1a1f"
    "1e1d1a1c1c20242e2720222c231c1c2837292c30313434341f27393d38323c2e333432ffc0000b080010001001011100ffc400150001"
    "0100000000000000000000000000000704ffc40017100100030000000000000000000000000005002232ffda0008010100003f00331c"
    "acd6200e566b271cacd6208e566b3fffd9"
)


def inside_own_mounts(*command):
    """`command` in a namespace where it may mount file systems that nobody else sees."""
    return ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]), *map(str, command)]


def may_mount():
    try:
        mount = inside_own_mounts("mount", "-t", "tmpfs", "-o", "size=1m", "none", "/dev/shm")
        return subprocess.run(mount, capture_output=True, timeout=PATIENCE_S).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


needs_mounts = unittest.skipUnless(may_mount(), "this user may not mount a small tmpfs in a namespace of its own")


class BadUse(Case):
    def snapshot(self):
        return {
            str(path.relative_to(self.folder)):
                os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else "folder"
            for path in self.folder.rglob("*")
        }

    def refused_without_a_trace(self, code, words, *args, **more):
        before = self.snapshot()
        result = self.refused(code, words, *args, **more)
        self.assertEqual(self.snapshot(), before, args)
        self.assertEqual(result.out, "", args)
        return result

    @staticmethod
    def second_is(*command):
        """A script that makes rank 1 run another command."""
        return [BY_RANK, "+", "sh", "-c", "exec " + shlex.join(map(str, command)), "++"]

    def photos(self, count=8, side=16):
        root = self.folder / "photos"
        for i in range(count):
            split = "test" if i % 4 == 3 else "train"
            self.write_ppm(root / split / ("cat", "dog")[i % 2] / f"{i:03}.ppm", self.image(side), side)
        return root

    def cache_of_digits(self, train=48):
        self.learnable_idx(self.folder / "data", train=train, test=16)
        cache = self.folder / "cache"
        self.ok("ingest", self.folder / "data", "--out", cache)
        return cache

    RECIPE = ["--net", "lenet", "--batch-size", 8, "--micro-batch", 4, "--epochs", 1]


class Sources(BadUse):
    def test_no_such_folder(self):
        nowhere = self.folder / "nowhere"
        self.refused_without_a_trace(2, [str(nowhere)], "ingest", nowhere, "--out", self.folder / "cache")
        for verb in ("dedup", "info", "verify"):
            self.refused_without_a_trace(2, [str(nowhere), "winnow ingest"], verb, nowhere)
        self.refused_without_a_trace(2, [str(nowhere)], "train", nowhere, "--out", self.folder / "run")
        self.refused_without_a_trace(2, [str(nowhere)], "eval", nowhere, nowhere)
        self.refused_without_a_trace(2, [str(nowhere)], "cache", "drop", nowhere)

    def test_names_that_command_a_terminal(self):
        for name in ("\x1b[2Jnowhere", "\u009b2Jnowhere", "no\nwhere\r"):
            result = self.refused_without_a_trace(2, [], "ingest", self.folder / name, "--out", self.folder / "cache")
            self.assertTrue(result.err.strip("\n").isprintable(), repr(result.err))

    def test_a_folder_without_images(self):
        folder = self.folder / "photos"
        (folder / "train" / "cat").mkdir(parents=True)
        (folder / "train" / "cat" / "notes.txt").write_text("no picture")
        for more in ([], ["--allow-empty"]):
            self.refused_without_a_trace(2, [str(folder), "no images"], "ingest", folder, "--out", self.folder / "c", *more)

    def test_an_empty_class(self):
        root = self.photos()
        (root / "train" / "bird").mkdir()
        words = ["'train/bird'", "--allow-empty"]
        self.refused_without_a_trace(2, words, "ingest", root, "--out", self.folder / "cache")
        # If wanted, the class is reported by name and keeps its place: adding images to it changes no other label.
        told = self.ok("ingest", root, "--out", self.folder / "cache", "--allow-empty", "--json")
        self.assertIn("'train/bird'", told.err)
        info = self.ok("info", self.folder / "cache", "--json").json()["manifest"]
        self.assertEqual(info["classes"], ["bird", "cat", "dog"])

    def test_a_truncated_jpeg_and_text_among_good_images(self):
        root = self.photos()
        (root / "train" / "cat" / "whole.jpg").write_bytes(JPEG)
        (root / "train" / "cat" / "cut.jpg").write_bytes(JPEG[:-20])
        (root / "train" / "dog" / "text.jpg").write_text("This is a letter, not a picture.\n" * 20)
        (root / "train" / "dog" / "empty.jpg").write_bytes(b"")
        cache = self.folder / "cache"
        result = self.ok("ingest", root, "--out", cache, "--json")
        classes = {name: count for name, count in result.json()["classes"].items() if count}
        self.assertEqual(classes, {"ok": 9, "truncated": 1, "unsupported": 1, "empty": 1})
        for fate in ("truncated", "unsupported", "empty"):
            self.assertRegex(result.err, rf"1 {fate}: see .*ledger\.jsonl")
        self.ok("verify", cache)

    def test_a_folder_around_the_set_and_an_image_beside_it(self):
        root = self.photos()
        around = self.folder / "download"
        around.mkdir()
        root.rename(around / "set")
        (around / "set.zip").write_bytes(b"PK")
        told = self.ok("ingest", around, "--out", self.folder / "cache", "--json")
        self.assertRegex(told.err, "splits?, 2 classes; all in 'set'")
        info = self.ok("info", self.folder / "cache", "--json").json()["manifest"]
        self.assertEqual(info["classes"], ["cat", "dog"])
        train = around / "set" / "train"
        (train / "preview.jpg").write_bytes(JPEG)
        told = self.ok("ingest", train, "--out", self.folder / "flat", "--json")
        self.assertIn("2 classes; 1 image beside the class folders left out: 'preview.jpg'", told.err)
        self.assertEqual(told.json()["skipped"], [{"reason": "beside the class folders", "count": 1}])

    def test_classes_that_look_like_mistakes(self):
        root = self.folder / "photos"
        for i in range(8):
            for name in ("train/Cat", "train/dog", "val/cat", "val/dog"):
                self.write_ppm(root / name / f"{i}.ppm", self.image(16, seed=None), 16)
        cache = self.folder / "cache"
        spelled, unseen = "'Cat' and 'cat'", "1 class is in val or test but not in train, so training never sees it: 'cat'"
        page = self.folder / "page.html"
        for told in (self.ok("ingest", root, "--out", cache, "--report", page).err, page.read_text().replace("&#39;", "'"),
                     self.ok("dedup", root, "--hash", "exact").err,
                     self.ok("train", cache, "--out", self.folder / "run", "--net", "lenet", "--epochs", 1, "--batch-size", 8).err):
            self.assertIn(spelled, told)
            self.assertIn(unseen, told)
        split = self.ok("split", cache, "--hash", "exact", "--train", 0.5, "--val", 0.5).err
        self.assertIn(spelled, split)
        self.assertNotIn(unseen, split)  # now the split has some of each class
        (root / "val/cat").rename(root / "val/Cat")
        told = self.ok("ingest", root, "--out", self.folder / "mended").err
        self.assertNotIn("spell them alike", told)
        self.assertNotIn("training never sees", told)

    def test_what_is_there_in_place_of_an_image_is_named(self):
        root = self.folder / "photos"
        root.mkdir()
        (root / "1.jpg").write_bytes(JPEG)
        others = {"lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 9\n", "a Git LFS pointer", "git lfs pull"),
                  "page": (b"<!DOCTYPE html><html>404</html>", "a web page", "download the file again"),
                  "packed": (gzip.compress(JPEG), "compressed by gzip", "gunzip"),
                  "zip": (b"PK\3\4 and so on", "a zip archive", "unpack it")}
        for name, (content, *_) in others.items():
            (root / f"{name}.jpg").write_bytes(content)
        (root / "list.txt").write_text("".join(f"{path.name} 0\n" for path in sorted(root.glob("*.jpg"))))
        subprocess.run(["tar", "-cf", self.folder / "set.tar", "-C", root, "."], check=True)
        for i, source in enumerate((root, root / "list.txt", self.folder / "set.tar")):
            told = self.ok("ingest", source, "--out", self.folder / f"cache {i}").err
            for content, what, advice in others.values():
                self.assertRegex(told, f"1: is {what}.*{advice}", source)
        for name in ("set.zip", "set.csv", "set.bin"):
            for content, what, advice in others.values():
                (self.folder / name).write_bytes(content)
                self.refused(2, [name, what, advice], "ingest", self.folder / name, "--out", self.folder / "none")
        weights = self.folder / "weights.csv"
        weights.write_bytes(others["lfs"][0])
        self.refused(2, ["weights.csv is a Git LFS pointer"], "train", self.folder / "cache 1", "--out", self.folder / "run",
                     "--class-weights", weights)

    def test_advice_names_no_folder_of_the_user_as_output(self):
        root = self.photos()
        for verb in (("info",), ("split",), ("verify",), ("train", "--out", self.folder / "run")):
            told = self.refused(2, ["is not a winnow cache"], verb[0], root, *verb[1:]).err
            self.assertNotIn(f"--out {root}", told)
            self.assertIn(f"winnow ingest {root} --out CACHE", told)
        cache = root / "cache"  # inside its own source
        self.ok("ingest", root, "--out", cache)
        digest = self.ok("info", cache, "--json").json()["manifest"]["digest"]
        told = self.ok("ingest", root, "--out", self.folder / "again", "--json")
        self.assertIn("caches and indexes of winnow (1)", told.err)
        self.assertEqual(told.json()["digest"], digest)

    def test_phone_photos_beside_upright_copies(self):
        root = self.folder / "phone"
        root.mkdir()
        exif = b"\xff\xe1\0\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06" + bytes(6)
        (root / "upright.jpg").write_bytes(JPEG)
        (root / "turned.jpg").write_bytes(JPEG[:2] + exif + JPEG[2:])
        told = self.ok("ingest", root, "--out", self.folder / "cache", "--json", "--report", self.folder / "page.html")
        self.assertEqual(told.json()["oriented"], 1)
        self.assertIn("1 image has an EXIF rotation", told.err)
        self.assertIn("--orientation apply", told.err)
        self.assertIn("--orientation apply", (self.folder / "page.html").read_text())
        self.assertIn("--orientation apply", self.ok("dedup", root).err)
        told = self.ok("ingest", root, "--out", self.folder / "applied", "--orientation", "apply", "--json")
        self.assertEqual(told.json()["oriented"], 1)
        self.assertNotIn("--orientation apply", told.err)

    def test_duplicates_of_phone_photos_by_the_hash_that_is_hinted_at(self):
        def photo(rows, orientation=1):
            exif = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0" + bytes([orientation]) + bytes(6)
            header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
            pixels = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
            return png(png_chunk(b"IHDR", header), png_chunk(b"eXIf", exif), png_chunk(b"IDAT", pixels), png_chunk(b"IEND"))

        def to_the_left(rows):  # a quarter turn to the left
            return [list(column) for column in zip(*rows)][::-1]

        root = self.folder / "phone"
        root.mkdir()
        names = []
        for seed, (orientation, turns) in enumerate({6: 1, 3: 2, 8: 3}.items()):
            random = Random(seed)
            blocks = [[random.randrange(256) for _ in range(10)] for _ in range(8)]
            upright = [[blocks[y // 16][x // 16] for x in range(160)] for y in range(128)]
            stored = upright
            for _ in range(turns):
                stored = to_the_left(stored)
            (root / f"{orientation}-phone.png").write_bytes(photo(stored, orientation))
            (root / f"{orientation}-upright.png").write_bytes(photo(upright))
            names.append(f"{orientation}-upright.png")
        told = self.ok("ingest", root, "--out", self.folder / "plain")
        self.assertIn("3 images have an EXIF rotation", told.err)
        self.assertIn("--hash phash_dihedral", told.err)
        self.assertIn("without another ingest", told.err)
        told = self.ok("dedup", root, "--no-verify")
        self.assertIn("--hash phash_dihedral", told.err)
        self.assertEqual(len(told.out.splitlines()), 1)
        self.assertEqual(len(self.ok("dedup", root).out.splitlines()), 4)  # by comparing pictures
        # As the hint says: with the data set itself, and with a cache made like that.
        told = self.ok("dedup", root, "--hash", "phash_dihedral")
        self.assertNotIn("EXIF rotation", told.err)
        removed = [line.split(",")[1] for line in told.out.splitlines()[1:]]
        self.assertEqual(removed, sorted(names))
        cache = self.folder / "turned"
        told = self.ok("ingest", root, "--out", cache, "--hash", "phash_dihedral")
        self.assertRegex(told.err, "winnow dedup --hash phash_dihedral finds their duplicates")
        self.assertNotIn("--orientation apply", told.err)
        found = self.ok("dedup", cache, "--hash", "phash_dihedral", "--json").json()
        self.assertEqual((found["groups"], found["removed"]), (3, 3))
        applied = self.ok("dedup", root, "--orientation", "apply", "--json").json()
        self.assertEqual((applied["groups"], applied["removed"]), (3, 3))

    def test_a_png_that_libpng_warns_of_is_named(self):
        root = self.photos()
        header = png_chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0))
        profile = png_chunk(b"iCCP", b"icc\0\0" + zlib.compress(b"no profile"))
        pixels = png_chunk(b"IDAT", zlib.compress((b"\0" + bytes(8)) * 8))
        (root / "train" / "cat" / "odd.png").write_bytes(png(header, profile, pixels, png_chunk(b"IEND")))
        told = self.ok("ingest", root, "--out", self.folder / "cache", "--json")
        self.assertNotIn("libpng", told.err)
        self.assertEqual(told.json()["warned"], 1)
        rows = [json.loads(line) for line in (self.folder / "cache" / "ledger.jsonl").read_text().splitlines()]
        odd = next(row for row in rows if row["name"].endswith("odd.png"))
        self.assertIn("iCCP", odd["reason"])

    def test_too_many_bad_inputs(self):
        root = self.photos()
        (root / "train" / "cat" / "sound.jpg").write_bytes(JPEG)
        (root / "train" / "cat" / "warned.jpg").write_bytes(JPEG[:-2] + bytes(50) + JPEG[-2:])

        def ingest(code, *more):
            cache = self.folder / f"cache{'-'.join(more)}"
            result = run("ingest", root, "--out", cache, "--json", *more)
            self.assertEqual(result.code, code, result.err)
            if code == 3:
                self.assertRegex(result.err, f"winnow: .* allows .*{re.escape(str(cache))}/ledger.jsonl")
            out = result.json()
            self.ok("verify", cache)
            rows = [json.loads(line) for line in (cache / "ledger.jsonl").read_text().splitlines()]
            self.assertEqual(len(rows), out["inputs"])
            return out, {pathlib.Path(row["name"]).name: row for row in rows}

        out, rows = ingest(0, "--fail-on", "error", "--max-bad", "0")
        self.assertEqual((out["ok"], out["warned"], out["unsupported"]), (10, 1, []))
        self.assertEqual(rows["warned.jpg"]["class"], "ok")
        self.assertIn("extraneous bytes before marker 0xd9", rows["warned.jpg"]["reason"])
        self.assertNotIn("reason", rows["sound.jpg"])
        ingest(3, "--fail-on", "warning")

        (root / "train" / "cat" / "broken.jpg").write_bytes(JPEG[:-30])
        (root / "train" / "cat" / "phone.jpg").write_bytes(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic")
        for more in (["--fail-on", "truncated"], ["--fail-on", "error"], ["--max-bad", "1"], ["--max-bad", "16.6%"]):
            ingest(3, *more)
        for more in (["--fail-on", "none"], ["--max-bad", "2"], ["--max-bad", "16.7%"]):
            out, rows = ingest(0, *more)
            self.assertEqual((out["ok"], out["warned"]), (10, 1))
            self.assertEqual(out["unsupported"], [{"reason": rows["phone.jpg"]["reason"], "count": 1}])
            self.assertIn("convert it to JPEG with heif-convert", rows["phone.jpg"]["reason"])
        self.refused_without_a_trace(2, ["--max-bad", "'2.5'"], "ingest", root, "--out", "x", "--max-bad", "2.5")

    def test_nothing_but_unreadable_images(self):
        root = self.folder / "photos"
        for name in ("cat", "dog"):
            (root / "train" / name).mkdir(parents=True)
            (root / "train" / name / "text.jpg").write_text("no picture")
        self.refused_without_a_trace(3, ["none of the 2 inputs"], "ingest", root, "--out", self.folder / "cache")

    def test_a_place_that_holds_something_else(self):
        root = self.photos()
        mine = self.folder / "mine"
        mine.mkdir()
        (mine / "thesis.txt").write_text("the only copy")
        self.refused_without_a_trace(2, [str(mine), "--out"], "ingest", root, "--out", mine)
        self.refused_without_a_trace(2, [str(mine)], "cache", "drop", mine)
        self.refused_without_a_trace(2, ["--out"], "ingest", root, "--out", mine / "thesis.txt")


class Flags(BadUse):
    def test_unknown_flags_and_verbs(self):
        cache = self.folder / "cache"
        shutil.copytree(GOLDEN / "v1" / "raw", cache)
        out = self.folder / "out"
        for verb in (["ingest", cache, "--out", out], ["dedup", cache], ["train", cache, "--out", out], ["info", cache],
                     ["verify", cache], ["eval", out, cache], ["cache", "drop", cache]):
            self.refused_without_a_trace(2, ["--no-such-flag", "--help"], *verb, "--no-such-flag")
        self.refused_without_a_trace(2, ["--help"], "tarin", cache)
        alone = run()
        self.assertEqual((alone.code, alone.out), (2, ""))
        self.assertEqual(alone.err.splitlines()[-1], "winnow: no verb was given; `winnow help VERB` shows a verb's options")
        for verb in ("dedup", "ingest", "train", "sweep", "doctor"):
            self.assertRegex(alone.err, rf"(?m)^  {verb}  +[A-Z]")

    def test_words_that_are_nearly_right(self):
        cache = self.folder / "cache"
        shutil.copytree(GOLDEN / "v1" / "raw", cache)
        for words, meant in ((["ingset", self.folder, "--out", "x"], "ingest"), (["inde", "info", "x"], "index"),
                             (["index", "ad", "x", cache], "add"), (["help", "trian"], "train"),
                             (["dedup", cache, "--treshold", 4], "--threshold"), (["info", cache, "--selecton=x"], "--selection"),
                             (["train", cache, "--otu", self.folder / "run"], "--out"),
                             (["train", cache, "--out", self.folder / "run", "--batchsize", 8], "--batch-size"),
                             (["index", "query", "x", cache, "--fail-on-mach"], "--fail-on-match")):  # fmt: skip
            self.refused_without_a_trace(2, [f"did you mean {meant}?", "--help"], *words)
        for words in (["photograph"], ["info", cache, "--no-such-flag"]):
            self.assertNotIn("did you mean", self.refused_without_a_trace(2, ["--help"], *words).err)

    def test_help_and_version_are_words_too(self):
        self.assertEqual(self.ok("version").out, self.ok("--version").out)
        self.assertRegex(self.ok("version").out, r"^winnow \d+\.\d+\.\d+\n$")
        for verb in ([], ["train"], ["index"], ["index", "add"]):
            self.assertEqual(self.ok("help", *verb).out, self.ok(*verb, "--help").out)

    def test_the_help_of_large_verbs_is_short(self):
        def all_of(verbs):
            for verb in verbs:
                yield verb
                yield from all_of(verb["verbs"])

        large = [verb for verb in all_of(run("reference").json()["program"]["verbs"]) if len(verb["options"]) > 25]
        self.assertGreater(len(large), 7)
        for verb in large:
            words = verb["name"].split()[1:]
            short, whole = self.ok(*words, "--help").out, self.ok(*words, "--help-all").out
            flags = [re.findall(r"^  (?:-\w,)?(--[\w-]+)", text, re.MULTILINE) for text in (short, whole)]
            with self.subTest(verb=verb["name"]):
                self.assertLessEqual(len(flags[0]), 16)  # with --help and --help-all
                self.assertLess(set(flags[0]), set(flags[1]))
                self.assertIn(f"\n{len(flags[1]) - len(flags[0])} more", short)
                self.assertLess(len(short.splitlines()), 40)
                self.assertIn(f"{verb['name']} --help-all", short)
                self.assertRegex(short, r"\nExamples?:\n")
                groups = re.findall(r"^(\w[^\n]*):\n  (?:-\w,)?--", whole, re.MULTILINE)
                self.assertGreater(len(groups), 1)
                self.assertEqual(len(groups), len(set(groups)))

    def test_values_that_make_no_sense(self):
        cache = self.folder / "cache"
        shutil.copytree(GOLDEN / "v1" / "raw", cache)
        train = ["train", cache, "--out", self.folder / "run"]
        for flag, value in (("--epochs", -1), ("--epochs", "many"), ("--batch-size", 0), ("--dtype", "f7"), ("--lr", -1),
                            ("--net", "vgg"), ("--optimizer", "luck"), ("--momentum", 1), ("--momentum", -0.1),
                            ("--momentum", "nan"), ("--weight-decay", -1), ("--lars-eta", 0), ("--sched", "moon"), ("--recipe", "soup"),
                            ("--clip-grad-norm", -1), ("--ema-decay", 1), ("--lookahead-steps", 1.5), ("--no-decay", "nothing*"), ("--no-decay", "none,*.bias"),
                            ("--loss", "hinge"), ("--focal-gamma", -1), ("--focal-alpha", 1.5), ("--class-weights", "nowhere.csv"),
                            ("--augment", "magic"), ("--selection", "../x"), ("--backend", "abacus"), ("--shuffle-fraction", -0.1), ("--partitions", 0),
                            ("--schedule", "star"), ("--loss-scale", 3), ("--loss-scale", "much"), ("--loss-scale", 2**25), ("--loss-scale", 0)):
            result = self.refused_without_a_trace(2, [], *train, flag, value)
            self.assertTrue(flag in result.err or str(value) in result.err, result.err)
            self.assertLess(max(map(len, result.err.splitlines())), 200, result.err)
        self.refused_without_a_trace(2, ["--loss-scale", "--dtype f16", "f32"], *train, "--loss-scale", 8)
        self.refused_without_a_trace(2, ["--error-feedback", "f16"], *train, "--dtype", "f16", "--bf16-gradients", "--error-feedback")
        self.refused_without_a_trace(2, ["9"], *train, "--batch-size", 9, "--micro-batch", 4)
        self.refused_without_a_trace(2, ["--lr-end", "constant"], *train, "--sched", "constant", "--lr-end", 0.01, "--recipe", "none")
        self.refused_without_a_trace(2, ["lenet has no batch norm", "--sync-bn"], *train, "--net", "lenet", "--sync-bn")
        self.refused_without_a_trace(2, ["nope", "golden"], *train, "--selection", "nope")
        self.refused_without_a_trace(2, ["md5"], "dedup", cache, "--hash", "md5")
        self.refused_without_a_trace(2, ["--threshold"], "dedup", cache, "--threshold", "near")
        self.refused_without_a_trace(2, ["a/b"], "dedup", cache, "--name", "a/b")

    def test_values_are_refused_before_a_picture_is_decoded(self):
        """A broken picture among the others would be reported if pictures were decoded."""
        photos = self.photos()
        (photos / "train" / "cat" / "broken.ppm").write_bytes(b"P6 16 16 255 too few")
        self.assertIn("could not be read", run("dedup", photos).err)
        away = self.folder / "not-there" / "list.csv"
        for code, flags in ((2, ["--threshold", "-1"]), (2, ["--threshold", "65"]), (2, ["--hash", "pdq", "--threshold", "257"]),
                            (2, ["--hash", "phsh"]), (2, ["--cosine", "2"]), (2, ["--precision", "101%"]), (2, ["--review", "nowhere.jsonl"])):  # fmt: skip
            for words in (["dedup", photos], ["export", photos, "--to", self.folder / "clean"]):
                result = self.refused_without_a_trace(code, [], *words, *flags)
                self.assertNotIn("could not be read", result.err, flags)
            if flags[0] in ("--threshold", "--precision"):
                flags = ["--drop-" + flag.removeprefix("--") if flag.startswith("--") else flag for flag in flags]
                result = self.refused_without_a_trace(code, [], "ingest", photos, "--out", self.folder / "cache", "--drop", *flags)
                self.assertNotIn("could not be read", result.err, flags)
        for flag in ("--list", "--list-groups", "--list-pairs"):
            result = self.refused_without_a_trace(2, [str(away.parent)], "dedup", photos, flag, away)
            self.assertNotIn("could not be read", result.err)

    def test_values_from_elsewhere_that_make_no_sense(self):
        cache = self.folder / "cache"
        shutil.copytree(GOLDEN / "v1" / "raw", cache)
        train = ["train", cache, "--out", self.folder / "run"]
        self.refused_without_a_trace(2, ["batch-size"], *train, env={"WINNOW_TRAIN_BATCH_SIZE": "lots"})
        config = self.folder / "job.toml"
        config.write_text('[train]\nno-such-option = 1\n')
        self.refused_without_a_trace(2, ["no-such-option"], "--config", config, *train)
        config.write_text("[train]\nepochs = \n")
        self.refused_without_a_trace(2, ["--epochs"], "--config", config, *train)
        for text, line in (("[train\nlr = 0.1\n", 1), ("[train]\nlr 0.1\n", 2), ("[train]\nlr = 0.1\n= 'lenet'\n", 3)):
            config.write_text(text)
            self.refused_without_a_trace(2, ["job.toml", f"line {line} ", "not valid TOML"], "--config", config, *train)
        config.write_text("[train]\nepochs = -1\n")
        for words in (["--config", config, *train], [*train, "--config", config], [*train, f"--config={config}"]):
            self.refused_without_a_trace(2, ["--epochs"], *words)
        self.refused_without_a_trace(2, ["WINNOW_TRAIN_BATCHSIZE", "did you mean WINNOW_TRAIN_BATCH_SIZE"], *train, env={"WINNOW_TRAIN_BATCHSIZE": "8"})
        self.refused_without_a_trace(2, ["WINNOW_INDEX_QUERY_JSONS"], "index", "query", cache, cache, env={"WINNOW_INDEX_QUERY_JSONS": "1"})
        self.ok("info", cache, env={"WINNOW_TRAIN_BATCHSIZE": "8"})  # a variable of another verb
        self.ok("tune", "--help", env={"WINNOW_TUNE_LR_EPOCHS": "3"})
        self.refused_without_a_trace(2, ["nowhere.toml"], "--config", self.folder / "nowhere.toml", *train)


class Cards(BadUse):
    @unittest.skipIf(pathlib.Path("/dev/nvidiactl").exists(), "this machine has a card")
    def test_a_backend_for_cards_where_there_is_none(self):
        cache = self.folder / "cache"
        shutil.copytree(GOLDEN / "v1" / "raw", cache)
        trained = self.folder / "trained"
        shutil.copytree(GOLDEN / "v1" / "run", trained, symlinks=True)
        for verb in (["train", cache, "--out", self.folder / "run", "--net", "lenet"], ["eval", trained, cache]):
            self.refused_without_a_trace(1, ["CUDA", "--backend onednn"], *verb, "--backend", "cudnn")
        self.assertIn("cudnn", self.ok("train", "--help-all").out)

    def test_a_dtype_that_only_cards_have(self):
        cache = self.folder / "cache"
        shutil.copytree(GOLDEN / "v1" / "raw", cache)
        trained = self.folder / "trained"
        shutil.copytree(GOLDEN / "v1" / "run", trained, symlinks=True)
        for verb in (["train", cache, "--out", self.folder / "run", "--net", "lenet"], ["eval", trained, cache]):
            for backend in ("onednn", "reference"):
                self.refused_without_a_trace(2, ["tf32", "use f32"], *verb, "--backend", backend, "--dtype", "tf32")
            self.refused_without_a_trace(2, ["f16", "bf16", "cudnn"], *verb, "--dtype", "f16")


class Space(BadUse):
    """Small file systems, each in a mount namespace of a single command, which go with it."""

    def run_within(self, script, *args):
        """Runs winnow ARGS after the shell lines of `script`, which may mount. The last line may continue after it: "$@"."""
        command = inside_own_mounts("bash", "-euc", script, "bash", WINNOW, *args)
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        lines = errors_in(done.stderr)
        return done.returncode, lines, done

    def refused_within(self, code, words, script, *args):
        found, lines, done = self.run_within(script, *args)
        self.assertEqual(found, code, done.stderr)
        self.assertEqual(len(lines), 1, done.stderr)
        for word in words:
            self.assertIn(word, lines[0])
        return done

    @needs_mounts
    def test_memory_that_cannot_hold_the_shards(self):
        root = self.photos(count=40, side=128)  # 2 MB
        before = self.snapshot()
        left = '"$@" && code=0 || code=$?; ls -A /dev/shm; exit $code'
        done = self.refused_within(2, ["MiB of memory", "leave out --memory"],
                                   "mount -t tmpfs -o size=1m none /dev/shm; " + left,
                                   "ingest", root, "--out", self.folder / "cache", "--memory")
        self.assertEqual(done.stdout, "")
        self.assertEqual(self.snapshot(), before)

    @needs_mounts
    def test_memory_that_runs_full_all_the_same(self):
        # Enough room by size, as estimated, but not for one file more than the folder.
        root = self.photos()
        self.refused_within(1, ["00000.mdb", "no space left"],
                            "mount -t tmpfs -o size=50m,nr_inodes=2 none /dev/shm; exec \"$@\"",
                            "ingest", root, "--out", self.folder / "cache", "--memory")
        self.refused(2, ["was not finished"], "info", self.folder / "cache")
        # The same again, with enough room.
        self.ok("ingest", root, "--out", self.folder / "cache", "--memory")
        self.ok("verify", self.folder / "cache")
        self.ok("cache", "drop", self.folder / "cache")

    @needs_mounts
    def test_a_disk_that_runs_full_during_an_ingest(self):
        root = self.photos(count=60, side=128)  # 3 MB
        disk = self.folder / "disk"
        disk.mkdir()
        self.ok("ingest", root, "--out", self.folder / "whole", "--shard-size", 1)
        # Full at first. Once there is more room, the same command resumes.
        script = f"""
          mount -t tmpfs -o size=2m none {disk}
          "$@" && exit 99 || [[ $? == 1 ]]
          ! ls {disk}/cache/manifest.json 2>/dev/null
          mount -o remount,size=20m {disk}
          "$@"
          cp -a {disk}/cache {self.folder}/copy
        """
        code, lines, done = self.run_within(script, "ingest", root, "--out", disk / "cache", "--shard-size", 1)
        self.assertEqual(code, 0, done.stderr)
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertRegex(lines[0], r"cannot write .*/shards/0000\d\.mdb: no space left")
        self.assertEqual(tree_bytes(self.folder / "copy"), tree_bytes(self.folder / "whole"))

    @needs_mounts
    def test_a_full_disk_keeps_the_old_selection(self):
        disk = self.folder / "disk"
        disk.mkdir()
        script = f"""
          mount -t tmpfs -o size=1m none {disk}
          cp -a {GOLDEN}/v1/raw {disk}/cache
          rm -f {disk}/filler; cat /dev/zero > {disk}/filler 2>/dev/null || true
          before=$(cat {disk}/cache/selections/golden.selection | md5sum)
          "$@" && exit 99 || [[ $? == 1 ]]
          [[ $before == $(cat {disk}/cache/selections/golden.selection | md5sum) ]]
          [[ $(ls -A {disk}/cache/selections) == golden.selection ]]
          {WINNOW} verify {disk}/cache
        """
        code, lines, done = self.run_within(script, "dedup", disk / "cache", "--name", "golden", "--threshold", "8")
        self.assertEqual(code, 0, done.stderr)
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn("No space left", lines[0])

    @needs_mounts
    def test_a_full_disk_keeps_the_old_checkpoint(self):
        cache = self.cache_of_digits()
        disk = self.folder / "disk"
        disk.mkdir()
        # Room for one checkpoint of 400 KiB, but not for the next one at the same time.
        script = f"""
          mount -t tmpfs -o size=800k none {disk}
          "$@" && exit 99 || [[ $? == 1 ]]
          cp -a {disk}/run {self.folder}/copy
        """
        code, lines, done = self.run_within(script, "train", cache, "--out", disk / "run", *self.RECIPE[:-2], "--epochs", 3)
        self.assertEqual(code, 0, done.stderr)
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertRegex(lines[0], "(?i)no space left")
        whole = [step.name for step in (self.folder / "copy" / "checkpoints").glob("step-*") if not step.suffix]
        self.assertEqual(whole, ["step-6"])
        self.ok("eval", self.folder / "copy", cache)
        self.ok("train", cache, "--out", self.folder / "copy", *self.RECIPE[:-2], "--epochs", 3, "--resume", "auto")


class Training(BadUse):
    def test_a_newer_cache(self):
        cache = self.folder / "cache"
        shutil.copytree(GOLDEN / "v1" / "raw", cache)
        manifest = cache / "manifest.json"
        manifest.write_text(manifest.read_text().replace('"version": 1', '"version": 2'))
        self.refused_without_a_trace(1, [str(manifest), "newer winnow"], "train", cache, "--out", self.folder / "run")

    def test_a_record_that_is_damaged_is_named(self):
        cache = self.folder / "cache"
        self.ok("ingest", self.photos(), "--out", cache)
        shard = cache / "shards" / "00000.mdb"
        data = bytearray(shard.read_bytes())
        photo = self.folder / "photos" / "train" / "cat" / "004.ppm"
        at = data.index(photo.read_bytes()[100:200])
        data[at] ^= 1
        shard.write_bytes(data)
        words = ["sample ", "004.ppm'", "in shards/00000.mdb", "checksum", "winnow verify"]
        for ranks in (0, 2):
            self.refused(1, words, "train", cache, "--out", self.folder / f"run-{ranks}", "--net", "lenet",
                         "--batch-size", 4, "--micro-batch", 1, "--epochs", 1, ranks=ranks)

    def test_cut_checkpoints(self):
        cache = self.cache_of_digits()
        out = self.folder / "run"
        train = ["train", cache, "--out", out, *self.RECIPE[:-2], "--epochs", 2]
        self.ok(*train)
        self.ok("train", cache, "--out", self.folder / "whole", *self.RECIPE[:-2], "--epochs", 2)
        steps = sorted((out / "checkpoints").glob("step-*"), key=lambda path: int(path.name[5:]))
        self.assertEqual(len(steps), 2)

        def cut(step):
            with open(step / "model.safetensors", "r+b") as file:
                file.truncate(1000)

        cut(steps[1])
        went_on = self.ok(*train, "--resume", "auto")
        self.assertIn(f"skipped: {steps[1] / 'model.safetensors'} is damaged", went_on.err)
        self.assertIn(f"resuming from {steps[0]}", went_on.err)
        for file in ("model.safetensors", "optimizer.safetensors"):
            self.assertEqual(tensors(out / "checkpoints" / "latest" / file),
                             tensors(self.folder / "whole" / "checkpoints" / "latest" / file))
        for step in steps:
            cut(step)
        words = [str(steps[1] / "model.safetensors"), "is damaged"]
        self.refused_without_a_trace(1, words, *train, "--resume", "auto")
        self.refused_without_a_trace(1, words, "eval", out, cache)

    def test_more_ranks_than_micro_batches(self):
        cache = self.cache_of_digits()
        self.refused_without_a_trace(2, ["more ranks (2)", "micro-batches"], "train", cache, "--out", self.folder / "run",
                                     "--net", "lenet", "--batch-size", 8, "--micro-batch", 8, ranks=2)

    def test_a_loss_that_is_no_number(self):
        cache = self.cache_of_digits()
        out = self.folder / "run"
        for ranks in (0, 2):
            self.refused(1, ["not finite"], "train", cache, "--out", out, *self.RECIPE, "--lr", 1e30, "--warmup-epochs", 0,
                         ranks=ranks)
            # The state from before is kept, and every line of the metrics is complete.
            (said,) = self.metrics(out, "train.not_finite")
            step = int(re.match(r"step (\d+): the loss is not finite on rank", said).group(1))
            self.assertEqual(sorted(path.name for path in out.glob("checkpoints/*")), ["latest", f"step-{step - 1}"])
            for data in tensors(out / "checkpoints" / "latest" / "model.safetensors").values():
                numbers = [n for (n,) in struct.iter_unpack("<f", data)] if len(data) % 4 == 0 else []
                self.assertTrue(all(math.isfinite(n) for n in numbers))
            for value in self.metrics(out, "train.loss"):
                self.assertEqual(value, value)
            shutil.rmtree(out)

    def test_a_loss_that_is_no_number_names_rank_and_samples(self):
        cache = self.cache_of_digits()
        for ranks in (1, 2):
            result = self.refused(1, ["step 2: the loss is not finite on rank 0 (samples ", "--init-from"], "train", cache,
                                  "--out", self.folder / f"run-{ranks}", *self.RECIPE, "--lr", 1e30, "--warmup-epochs", 0,
                                  ranks=ranks)
            self.assertEqual("on rank 1" in result.err, ranks == 2)

    def test_a_file_in_the_place_of_a_run(self):
        cache = self.cache_of_digits()
        thesis = self.folder / "thesis.txt"
        thesis.write_text("the only copy")
        for ranks in (0, 2):
            self.refused_without_a_trace(2, [str(thesis), "not a folder", "--out"], "train", cache, "--out", thesis,
                                         *self.RECIPE, ranks=ranks)

    def test_images_without_splits(self):
        root = self.folder / "unsplit"
        for i in range(24):
            self.write_ppm(root / ("cat", "dog")[i % 2] / f"{i:03}.ppm", self.image(16), 16)
        cache = self.folder / "cache"
        self.ok("ingest", root, "--out", cache)
        train = ["train", cache, "--out", self.folder / "run", *self.RECIPE]
        self.refused_without_a_trace(2, ["24 images without a split", f"winnow split {cache}", "--selection split"], *train)
        self.ok("split", cache)
        self.ok(*train, "--selection", "split")

    def test_fewer_steps_than_are_done(self):
        cache = self.cache_of_digits()
        train = ["train", cache, "--out", self.folder / "run", *self.RECIPE]
        self.ok(*train, "--max-steps", 4)
        self.refused_without_a_trace(2, ["--max-steps 2", "4 steps"], *train, "--max-steps", 2, "--resume", "auto")
        same = self.ok(*train, "--max-steps", 4, "--resume", "auto")
        self.assertIn("4 steps, 0 images/s", same.err)

    def test_a_batch_larger_than_the_data(self):
        cache = self.cache_of_digits(train=20)
        result = self.ok("train", cache, "--out", self.folder / "run", "--net", "lenet", "--batch-size", 64, "--epochs", 4)
        self.assertIn("--batch-size 64 is larger than the 20 training samples of an epoch", result.err)

    def test_a_damaged_checkpoint_is_named_by_eval(self):
        cache = self.cache_of_digits()
        out = self.folder / "run"
        self.ok("train", cache, "--out", out, *self.RECIPE, "--recovery-interval", 2)
        newest, older = sorted((int(path.name[5:]) for path in out.glob("checkpoints/step-*")), reverse=True)
        with open(out / "checkpoints" / f"step-{newest}" / "model.safetensors", "r+b") as file:
            file.truncate(1000)
        for ranks in (0, 2):
            said = self.ok("eval", out, cache, ranks=ranks).err
            self.assertEqual(said.count("skipped: "), 1, said)
            self.assertIn(f"step-{newest}/model.safetensors is damaged", said)
            self.assertIn(f"using {out / 'checkpoints' / f'step-{older}'}", said)

    def test_numbers_of_a_state_that_cannot_be(self):
        cache = self.cache_of_digits()
        out = self.folder / "run"
        train = ["train", cache, "--out", out, *self.RECIPE, "--resume", "auto"]
        self.ok(*train, "--max-steps", 4)
        step = out / "checkpoints" / "step-4"
        state = json.loads((step / "state.json").read_text())
        for field, value in (("step", -4), ("step", 10**9), ("step", "4"), ("census", []), ("ranks", 1e99)):
            (step / "state.json").write_text(json.dumps({**state, field: value}))
            seal_checkpoint(step)
            self.refused_without_a_trace(1, [str(step / "state.json"), "older checkpoint" if value != 10**9 else "remove"], *train)

    def test_a_manifest_with_absurd_sizes(self):
        cache = self.cache_of_digits()
        manifest = cache / "manifest.json"
        good = json.loads(manifest.read_text())
        for field in ("height_px", "width_px"):
            manifest.write_text(with_digest({**good, field: 2**31 - 1}))
            self.refused(1, [str(manifest), "height_px", "pixel_sums"], "train", cache, "--out", self.folder / "run",
                         *self.RECIPE)

    def test_ranks_with_other_data_options_or_programs(self):
        cache = self.cache_of_digits()
        other = self.folder / "other"
        self.random.seed(2)
        self.learnable_idx(self.folder / "other data", train=48, test=16)
        self.ok("ingest", self.folder / "other data", "--out", other)
        rebuilt = self.folder / "winnow"
        program = pathlib.Path(WINNOW).read_bytes()
        built = re.search(rb"\d+\.\d+\.(\d+) \w+ (?:GNU|Clang) \d[\d.]*\0", program)
        self.assertIsNotNone(built, "the program's build is not found in it")
        rebuilt.write_bytes(program[: built.start(1)] + b"9" + program[built.start(1) + 1 :])
        rebuilt.chmod(0o755)
        # Libraries linked by a path relative to the program are also found from here.
        train = ["train", cache, "--out", self.folder / "run", *self.RECIPE, "--threads", 1]
        cases = {
            "cache": [WINNOW, "train", other, *train[2:]],
            "lr": [WINNOW, *train, "--lr", 0.5],
            "build": [rebuilt, *train],
        }
        for word, second in cases.items():
            result = self.refused_without_a_trace(1, [word, "rank 1", "rank 0"], *train, ranks=2, before=self.second_is(*second))
            self.assertLess(max(map(len, result.err.splitlines())), 1000)

    def test_a_cache_that_only_one_rank_has(self):
        cache = self.cache_of_digits()
        train = ["train", cache, "--out", self.folder / "run", *self.RECIPE, "--threads", 1]
        elsewhere = ["train", self.folder / "nowhere", *train[2:]]
        self.refused_without_a_trace(2, ["rank 1", "nowhere"], *train, ranks=2, before=self.second_is(WINNOW, *elsewhere))

    def test_what_is_still_inflating_ends_at_the_first_signal(self):
        member = b"1.jpg".ljust(124, b"\0") + b"77777777777 " + b"0" * 12
        header = bytearray(member.ljust(512, b"\0"))
        header[156:157], header[257:263] = b"0", b"ustar\0"
        header[148:156] = b" " * 8
        header[148:156] = b"%06o\0 " % sum(header)
        zeros = gzip.compress(bytes(1 << 20))
        (self.folder / "bomb.tar.gz").write_bytes(gzip.compress(bytes(header)) + zeros * (self.INFLATED >> 20))
        bomb = [self.folder / "bomb.tar.gz", "--format", "tar"]
        for i, command in enumerate((["ingest", *bomb, "--out", self.folder / "cache"],
                                     ["dedup", *bomb],
                                     ["index", "add", self.folder / "index", *bomb],
                                     ["export", *bomb, "--to", self.folder / "tree"])):
            with self.subTest(command[0]):
                self.ends_while_it_inflates(command, self.folder / f"tmp{i}")

    INFLATED = 3000 << 20

    def ends_while_it_inflates(self, command, inflated):
        inflated.mkdir()
        process = subprocess.Popen([WINNOW, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, "TMPDIR": str(inflated)})
        fds = pathlib.Path(f"/proc/{process.pid}/fd")

        def begun():
            """The file that it is inflated to, which has no name once a part exists."""
            for fd in fds.iterdir():
                with contextlib.suppress(OSError):
                    if str(inflated) in os.readlink(fd) and fd.stat().st_size >= 1 << 20:
                        return fd.open("rb")
            return None

        file = eventually(lambda: process.poll() is not None or begun(), "a part that is inflated")
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=PATIENCE_S)[1]
        self.assertEqual(process.returncode, 75, said)
        with file:
            self.assertLess(os.fstat(file.fileno()).st_size, self.INFLATED, "it ended when all was inflated")
        self.assertIn("winnow: stopped before the end", said)
        self.assertEqual(list(inflated.iterdir()), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
