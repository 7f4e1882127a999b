"""winnow export: its output reads as what was in the cache. An obstacle or an interruption leaves no trace."""

import csv
import io
import json
import os
import struct
import tarfile
import tempfile
import unittest

from program import TMPFS, Case, columns, run, tree_bytes


class Export(Case):
    SIDE = 24

    def photos(self, count=12):
        """photos/{train,test}/{cat,dog}: distinct images, one exact leak, one duplicate inside train."""
        root = self.folder / "photos"
        for split in ("train", "test"):
            for i in range(count):
                label = "cat" if i % 2 else "dog"
                self.write_ppm(root / split / label / f"{i:02}.ppm", self.image(self.SIDE), self.SIDE)
        copy = (root / "test" / "cat" / "01.ppm").read_bytes()
        (root / "train" / "cat" / "copy of test.ppm").write_bytes(copy)
        twin = (root / "train" / "dog" / "00.ppm").read_bytes()
        (root / "train" / "dog" / "00 again.ppm").write_bytes(twin)
        return root

    def cache_of(self, source, name="cache", *options):
        self.ok("ingest", source, "--out", self.folder / name, *options)
        return self.folder / name

    def samples(self, cache, skip=()):
        """The images of a cache, without those named in `skip`, as sorted (split, class names, hash of its pixels)."""
        table = columns(cache / "fingerprints" / "table")
        classes = json.loads((cache / "manifest.json").read_text())["classes"]
        rows = [json.loads(line) for line in (cache / "ledger.jsonl").read_text().splitlines()]
        names = {row["id"]: row["name"] for row in rows}
        at = [struct.unpack("<I", x)[0] for x in table["labels:offsets"]]
        labels = [struct.unpack("<i", x)[0] for x in table["labels:values"]]
        return sorted(
            (table["splits"][i], tuple(classes[k] for k in labels[at[i] : at[i + 1]]), table["pixel_hashes"][i])
            for i in range(len(table["ids"]))
            if names[struct.unpack("<Q", table["ids"][i])[0]] not in skip
        )

    REMOVED = ("train/cat/copy of test.ppm", "train/dog/00.ppm")  # removed by the selection `default`

    def test_and_back_again(self):
        for store in ("original", "raw"):
            cache = self.cache_of(self.photos(), f"cache-{store}", "--store", store)
            self.ok("dedup", cache, "--hash", "exact")
            removed = {row["name"] for row in csv.DictReader(io.StringIO(
                (cache / "selections" / "default.csv").read_text()))}
            self.assertEqual(len(removed), 2)
            for way in ("image-folder", "webdataset"):
                for selected in (False, True):
                    with self.subTest(store=store, way=way, selected=selected):
                        to = self.folder / f"{store}-{way}-{selected}"
                        options = ["--selection", "default"] if selected else []
                        said = self.ok("export", cache, "--to", to, "--as", way, *options, "--json").json()
                        expected = self.samples(cache, removed if selected else ())
                        self.assertEqual(said["samples"], len(expected))
                        self.assertEqual((said["samples"], said["left_out"]), (24, 2) if selected else (26, 0))
                        files = tree_bytes(to)
                        self.assertEqual((said["files"], said["bytes"]), (len(files), sum(map(len, files.values()))))
                        again = self.cache_of(to, f"again-{store}-{way}-{selected}")
                        self.assertEqual(self.samples(again), expected)
        self.assertEqual(list(self.folder.glob("*.export")), [])

    def test_encoded_images_keep_bytes_and_names(self):
        root = self.photos()
        cache = self.cache_of(root)
        self.ok("export", cache, "--to", self.folder / "out")
        self.assertEqual(tree_bytes(self.folder / "out"), tree_bytes(root))
        self.ok("export", cache, "--to", self.folder / "test", "--split", "test")
        self.assertEqual(tree_bytes(self.folder / "test"), tree_bytes(root / "test"))

    def test_nothing_is_called_by_a_dash(self):
        cache = self.cache_of(self.photos())
        for flags in (["--as", "list", "--to", "-"], ["--to", "-"], ["--as", "list", "--to", "x.csv", "--removed", "-"]):
            self.refused(2, ["an export is not printed", "./-"], "export", cache, *flags,
                         before=["sh", "-c", f'cd "{self.folder}" && exec "$@"', "sh"])
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name in ("-", "x.csv")], [])

    def test_links(self):
        root = self.photos()
        cache = self.cache_of(root)
        self.ok("dedup", cache, "--hash", "exact")
        plain = self.folder / "plain"
        self.ok("export", cache, "--to", plain, "--selection", "default")
        for kind in ("hard", "symbolic"):
            with self.subTest(kind=kind):
                out = self.folder / kind
                said = self.ok("export", cache, "--to", out, "--selection", "default", "--link", kind, "--source", root,
                               "--json").json()  # fmt: skip
                self.assertEqual((said["linked"], said["copied"], said["bytes"]), (24, 0, 0))
                self.assertEqual(tree_bytes(out), tree_bytes(plain))
                one = out / "test" / "cat" / "01.ppm"
                own = root / "test" / "cat" / "01.ppm"
                self.assertEqual(one.is_symlink(), kind == "symbolic")
                self.assertTrue(one.samefile(own))
                again = self.cache_of(out, f"again-{kind}")
                self.assertEqual(self.samples(again), self.samples(self.cache_of(plain, f"plain-{kind}")))
        # Changed or missing files are copied, and named.
        (root / "test" / "cat" / "01.ppm").write_bytes((root / "test" / "cat" / "03.ppm").read_bytes())
        (root / "test" / "dog" / "02.ppm").unlink()
        (root / "test" / "dog" / "04.ppm").unlink()
        (root / "test" / "dog" / "04.ppm").mkdir()
        said = self.ok("export", cache, "--to", self.folder / "some", "--selection", "default", "--link", "hard",
                       "--source", root, "--json")  # fmt: skip
        self.assertEqual((said.json()["linked"], said.json()["copied"]), (21, 3))
        for name in ("test/cat/01.ppm", "test/dog/02.ppm", "test/dog/04.ppm"):
            self.assertIn(f"'{name}'", said.err)
        self.assertEqual(tree_bytes(self.folder / "some"), tree_bytes(plain))

    def test_links_that_cannot_be(self):
        root = self.photos(4)
        cache = self.cache_of(root)
        out = self.folder / "out"
        link = ["export", cache, "--to", out, "--link", "symbolic"]
        self.refused(2, ["--source"], *link)
        self.refused(2, ["is not a folder"], *link, "--source", self.folder / "nowhere")
        self.refused(2, ["1 sources"], *link, "--source", root, "--source", root)
        self.refused(2, ["image-folder"], *link, "--source", root, "--as", "webdataset")
        self.refused(2, ["has pixels"], "export", self.cache_of(root, "raw", "--store", "raw"), *link[2:], "--source", root)
        self.ok("export", cache, "--to", self.folder / "tars", "--as", "webdataset")
        tars = self.cache_of(self.folder / "tars", "of-tars")
        self.refused(2, ["webdataset"], "export", tars, *link[2:], "--source", self.folder / "tars")
        self.assertFalse(out.exists())
        if os.access(TMPFS, os.W_OK) and TMPFS.stat().st_dev != root.stat().st_dev:
            with tempfile.TemporaryDirectory(dir=TMPFS) as far:
                self.refused(2, ["another file system"], "export", cache, "--to", f"{far}/out", "--link", "hard",
                             "--source", root)  # fmt: skip
                self.ok("export", cache, "--to", f"{far}/out", "--link", "symbolic", "--source", root)

    def deep_photos(self):
        """a/b/x, c/x ...: any depth, the same names in several folders, hidden files, four copies, one file that is no image."""
        root = self.folder / "deep"
        for path in ("a/b/x.ppm", "c/x.ppm", "c/d/e/x.ppm", "top.ppm", ".hidden/h.ppm", "a/b/with\\two words.ppm"):
            self.write_ppm(root / path, self.image(self.SIDE), self.SIDE)
        for of, path in (("a/b/x.ppm", "copies/x.ppm"), ("a/b/x.ppm", "copies/of/x.ppm"), ("c/x.ppm", "zz/x.ppm"),
                         ("top.ppm", "zz/top.ppm")):  # fmt: skip
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes((root / of).read_bytes())
        (root / "notes.txt").write_text("notes")
        (root / "c" / "broken.ppm").write_bytes(b"P6\n24 24\n255\n")
        return root

    DEEP_REMOVED = {"copies/x.ppm", "copies/of/x.ppm", "zz/x.ppm", "zz/top.ppm"}

    def split_tree(self, root):
        """The images of deep_photos(): those that are kept, and those that are removed."""
        files = {name: data for name, data in tree_bytes(root).items() if name not in ("notes.txt", "c/broken.ppm")}
        removed = {name: files.pop(name) for name in self.DEEP_REMOVED}
        return files, removed

    def test_a_tree_without_its_duplicates(self):
        root = self.deep_photos()
        before = tree_bytes(root)
        kept, removed = self.split_tree(root)
        for store in ("original", "raw", "none"):
            cache = self.cache_of(root, f"cache-{store}", "--store", store, "--hidden")
            self.ok("dedup", cache, "--hash", "exact")
            for link in ("", "hard", "symbolic"):
                for source in (True, False) if store == "original" and not link else (True,):
                    with self.subTest(store=store, link=link, source=source):
                        to = self.folder / f"kept-{store}-{link}-{source}"
                        gone = self.folder / f"gone-{store}-{link}-{source}"
                        said = self.ok("export", cache, "--to", to, "--as", "tree", "--selection", "default", "--removed",
                                       gone, *(["--source", root] if source else []),
                                       *(["--link", link] if link else []), "--json").json()  # fmt: skip
                        self.assertEqual(tree_bytes(to), kept)
                        self.assertEqual(tree_bytes(gone), removed)
                        self.assertEqual((said["as"], said["samples"], said["left_out"], said["files"]), ("tree", 6, 4, 10))
                        self.assertEqual((said["linked"], said["copied"]), (10, 0) if link else (0, 0))
                        one = to / "c" / "d" / "e" / "x.ppm"
                        self.assertEqual(one.is_symlink(), link == "symbolic")
                        self.assertEqual(one.samefile(root / "c" / "d" / "e" / "x.ppm"), bool(link))
        self.assertEqual(tree_bytes(root), before)
        self.assertEqual(list(self.folder.glob("*.export")), [])

    def test_a_tree_is_of_what_was_ingested(self):
        root = self.deep_photos()
        kept, _ = self.split_tree(root)
        caches = {store: self.cache_of(root, f"cache-{store}", "--store", store, "--hidden")
                  for store in ("original", "none")}
        for cache in caches.values():
            self.ok("dedup", cache, "--hash", "exact")
        changed = root / "c" / "x.ppm"
        changed.write_bytes(self.image(self.SIDE))
        (root / "top.ppm").unlink()
        args = ["--as", "tree", "--selection", "default", "--source", root]
        before = sorted(os.listdir(self.folder))
        for link in ([], ["--link", "hard"]):
            self.refused(2, ["is gone from its source", "ingest again"], "export", caches["none"], "--to",
                         self.folder / "out", *args, *link, "--removed", self.folder / "gone")
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        for i, link in enumerate(([], ["--link", "hard"])):
            said = self.ok("export", caches["original"], "--to", self.folder / f"out{i}", *args, *link)
            self.assertEqual(tree_bytes(self.folder / f"out{i}"), kept)
            self.assertEqual("'c/x.ppm'" in said.err, bool(link))
            self.assertIn("1 input is not exported", said.err)
        # The cache has no files of its own: the message says where to get them.
        self.refused(2, ["--source"], "export", caches["none"], "--to", self.folder / "x", "--as", "tree")

    def test_a_hard_link_is_to_the_file_itself(self):
        root = self.folder / "linked"
        self.write_ppm(root / "b" / "real.ppm", self.image(self.SIDE), self.SIDE)
        (root / "a.ppm").symlink_to("b/real.ppm")
        for as_ in ("tree", "image-folder"):
            with self.subTest(as_=as_):
                cache = self.cache_of(root, f"cache-{as_}")
                out = self.folder / f"out-{as_}"
                self.ok("export", cache, "--to", out, "--as", as_, "--link", "hard", "--source", root)
                self.assertFalse((out / "a.ppm").is_symlink())
                self.assertEqual((out / "a.ppm").read_bytes(), (root / "b" / "real.ppm").read_bytes())

    def test_a_data_set_in_place(self):
        root = self.deep_photos()
        kept, removed = self.split_tree(root)
        before = tree_bytes(root)
        told = self.ok("export", root, "--to", self.folder / "clean", "--hidden", "--removed", self.folder / "doubles",
                       "--json")  # fmt: skip
        self.assertIn(f"4 are left out, in {self.folder / 'doubles'}", told.err)
        said = told.json()
        self.assertEqual((said["as"], said["samples"], said["left_out"]), ("tree", 6, 4))
        self.assertEqual(tree_bytes(self.folder / "clean"), kept)
        self.assertEqual(tree_bytes(self.folder / "doubles"), removed)
        listed = self.ok("dedup", root, "--hidden").out
        self.assertEqual({row["name"] for row in csv.DictReader(io.StringIO(listed))}, set(removed))
        self.ok("export", root, "--to", self.folder / "hard", "--hidden", "--hash", "exact", "--link", "hard")
        self.assertEqual(tree_bytes(self.folder / "hard"), kept)
        self.assertTrue((self.folder / "hard" / "top.ppm").samefile(root / "top.ppm"))
        self.ok("export", root, "--to", self.folder / "all.csv", "--hidden", "--as", "list")
        rows = {row["name"]: row for row in csv.DictReader(io.StringIO((self.folder / "all.csv").read_text()))}
        self.assertEqual({name for name, row in rows.items() if row["kept"] == "no"}, set(removed))
        table = root / "table.csv"
        table.write_text("file\ntop.ppm\nzz/top.ppm\nc/x.ppm\n")
        self.ok("export", table, "--to", self.folder / "of-table")
        self.assertEqual(sorted(tree_bytes(self.folder / "of-table")), ["c/x.ppm", "top.ppm"])
        table.unlink()
        one = root / "top.ppm"
        self.ok("export", one, "--to", self.folder / "of-one")
        self.assertEqual(tree_bytes(self.folder / "of-one"), {"top.ppm": one.read_bytes()})
        self.ok("export", self.cache_of(one, "one", "--store", "none"), "--to", self.folder / "of-its-cache", "--as", "tree", "--source", one)
        self.assertEqual(tree_bytes(self.folder / "of-its-cache"), {"top.ppm": one.read_bytes()})
        self.assertEqual(tree_bytes(root), before)
        cache = self.cache_of(root)
        out = self.folder / "out"
        self.refused(2, ["--threshold", "--selection"], "export", cache, "--to", out, "--threshold", 4)
        self.refused(2, ["--selection"], "export", root, "--to", out, "--selection", "default")
        self.refused(2, ["webdataset", "ingest"], "export", root, "--to", out, "--as", "webdataset")
        self.assertFalse(out.exists())

    def test_a_data_set_in_place_ended_early(self):
        root = self.deep_photos()
        temporary = self.folder / "tmp"
        temporary.mkdir()
        before = sorted(os.listdir(self.folder))
        trace = self.folder / "tmp" / "trace"
        # While fingerprints are made; when they exist but nothing is decided; while the tree is made.
        for point, decided in (("dir.create.after:fingerprints:1", False), ("file.remove.after:unfinished:1", False),
                               ("file.create.after:unfinished:2", True)):
            stopped = run("export", root, "--to", self.folder / "out",
                          env={"WINNOW_FAILPOINTS": f"term={point},trace={trace}", "TMPDIR": str(temporary)})
            self.assertEqual(stopped.code, 75, stopped.err)
            self.assertIn("left nothing; run the same command again to make it", stopped.err)
            self.assertEqual(".selection" in trace.read_text(), decided)
            trace.unlink()
            self.assertEqual(os.listdir(temporary), [])
            self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_leaks_fail_in_place(self):
        root = self.photos()
        self.refused(3, ["share pictures"], "export", root, "--to", self.folder / "out", "--on-leak", "fail")
        self.assertFalse((self.folder / "out").exists())

    def test_trees_of_several_sources(self):
        for folder in ("one", "two"):
            self.write_ppm(self.folder / folder / "same" / "x.ppm", self.image(self.SIDE), self.SIDE)
        cache = self.folder / "cache"
        self.ok("ingest", self.folder / "one", self.folder / "two", "--out", cache)
        self.ok("export", cache, "--to", self.folder / "out", "--as", "tree")
        self.assertEqual(tree_bytes(self.folder / "out"),
                         {f"{name}/same/x.ppm": (self.folder / name / "same" / "x.ppm").read_bytes() for name in ("one", "two")})
        self.refused(2, ["2 sources"], "export", cache, "--to", self.folder / "x", "--as", "tree", "--source", self.folder / "one")

    def test_trees_stay_where_they_are_put(self):
        archive = self.folder / "hostile.tar"
        names = ["../../up.ppm", "/absolute.ppm", "./a/./b.ppm", "a//b.ppm", "a/../../c.ppm"]
        with tarfile.open(archive, "w") as tar:
            for name in names:
                data = b"P6\n%d %d\n255\n" % (self.SIDE, self.SIDE) + self.image(self.SIDE)
                member = tarfile.TarInfo(name)
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))
        cache = self.cache_of(archive)
        out = self.folder / "in" / "here" / "out"
        said = self.ok("export", cache, "--to", out, "--as", "tree", "--json").json()
        files = sorted(tree_bytes(self.folder / "in"))
        self.assertEqual(len(files), said["samples"])
        self.assertGreaterEqual(said["samples"], 3)
        for name in files:
            self.assertTrue(name.startswith("here/out/"), name)

    def test_trees_that_cannot_be(self):
        root = self.photos(4)
        cache = self.cache_of(root)
        self.ok("dedup", cache, "--hash", "exact")
        out = self.folder / "out"
        tree = ["export", cache, "--to", out, "--as", "tree"]
        chosen = [*tree, "--selection", "default"]
        self.refused(2, ["--removed", "--selection"], *tree, "--removed", self.folder / "gone")
        self.refused(2, ["--removed", "tree"], "export", cache, "--to", out, "--selection", "default", "--removed",
                     self.folder / "gone")  # fmt: skip
        for gone in (out, out / "gone", self.folder, f"{self.folder}/x/../out/gone"):
            self.refused(2, [], *chosen, "--removed", gone)
        mine = self.folder / "mine"
        mine.mkdir()
        (mine / "mine.txt").write_text("mine")
        self.refused(2, [str(mine), "already"], *chosen, "--removed", mine)
        self.assertEqual(tree_bytes(mine), {"mine.txt": b"mine"})
        self.refused(2, ["--source"], "export", cache, "--to", out, "--source", root)
        self.assertFalse(out.exists())

    def test_trees_ended_early(self):
        root = self.deep_photos()
        kept, removed = self.split_tree(root)
        cache = self.cache_of(root, "cache", "--store", "none", "--hidden")
        self.ok("dedup", cache, "--hash", "exact")
        before = sorted(os.listdir(self.folder))
        for link, act in (([], "file.write"), (["--link", "hard"], "link.create")):
            args = ["export", cache, "--to", self.folder / "out", "--as", "tree", "--selection", "default", "--source", root,
                    "--removed", self.folder / "gone", *link]  # fmt: skip
            for file in ("h.ppm", "top.ppm"):  # the one that is made last, of both
                full = run(*args, env={"WINNOW_FAILPOINTS": f"enospc={act}.before:{file}:1"})
                self.assertEqual(full.code, 1, full.err)
                self.assertEqual(sorted(os.listdir(self.folder)), before)
                stopped = run(*args, env={"WINNOW_FAILPOINTS": f"term={act}.after:{file}:1"})
                self.assertEqual(stopped.code, 75, stopped.err)
                self.assertEqual(sorted(os.listdir(self.folder)), before)
                killed = run(*args, env={"WINNOW_FAILPOINTS": f"kill={act}.after:{file}:1"})
                self.assertLess(killed.code, 0)
                self.assertFalse((self.folder / "out").exists() or (self.folder / "gone").exists())
            # Between the two renames: what was removed exists completely, and the next run says so.
            between = run(*args, env={"WINNOW_FAILPOINTS": "kill=dir.rename.before:out:1"})
            self.assertLess(between.code, 0)
            self.assertFalse((self.folder / "out").exists())
            self.assertEqual(tree_bytes(self.folder / "gone"), removed)
            self.refused(2, [str(self.folder / "gone"), "move it away"], *args)
            (self.folder / "gone").rename(self.folder / "moved")
            self.ok(*args)
            self.assertEqual((tree_bytes(self.folder / "out"), tree_bytes(self.folder / "gone")), (kept, removed))
            for name in ("out", "gone", "moved"):
                (self.folder / name).rename(self.folder / f"{name}{len(before)}")
            before = sorted(os.listdir(self.folder))

    def test_same_bytes_for_any_number_of_threads(self):
        for store in ("original", "raw"):
            cache = self.cache_of(self.photos(40), store, "--store", store)
            for way in ("image-folder", "webdataset"):
                trees = []
                for threads in (1, 2, 7):
                    out = self.folder / f"{store}-{way}-{threads}"
                    self.ok("export", cache, "--to", out, "--as", way, "--threads", threads)
                    trees.append(tree_bytes(out))
                self.assertEqual(trees[0], trees[1])
                self.assertEqual(trees[0], trees[2])

    def test_names_that_meet(self):
        root = self.folder / "list"
        for folder in ("a", "b"):
            self.write_ppm(root / "train" / "cat" / folder / "1.ppm", self.image(self.SIDE), self.SIDE)
        cache = self.cache_of(root)
        self.ok("export", cache, "--to", self.folder / "out")
        self.assertEqual(sorted(tree_bytes(self.folder / "out")), ["cat/1-1.ppm", "cat/1.ppm"])

    def test_tars(self):
        cache = self.cache_of(self.photos(), "cache", "--store", "raw")
        for name in ("one", "two"):
            self.ok("export", cache, "--to", self.folder / name, "--as", "webdataset")
        first = tree_bytes(self.folder / "one")
        self.assertEqual(first, tree_bytes(self.folder / "two"))
        self.assertEqual(sorted(first), ["classnames.txt", "test-000000.tar", "train-000000.tar"])
        self.assertEqual(first["classnames.txt"], b"cat\ndog\n")
        with tarfile.open(self.folder / "one" / "test-000000.tar") as tar:
            members = tar.getmembers()
            self.assertEqual([m.name for m in members[:3]], [f"{0:012}.cls", f"{0:012}.png", f"{0:012}.json"])
            self.assertEqual([m.name for m in members[::3]], [f"{i:012}.cls" for i in range(12)])
            for m in members:
                self.assertEqual((m.mtime, m.uid, m.gid, m.uname, m.gname), (0, 0, 0, "", ""))
            said = json.load(tar.extractfile(members[2]))
            self.assertEqual(said, {"id": 0, "name": "test/cat/01.ppm", "label": 0, "class": "cat"})

    def test_tars_are_cut(self):
        root = self.folder / "noise"
        for i in range(6):
            self.write_ppm(root / f"{i}.ppm", self.random.randbytes(3 * 320 * 320), 320)
        cache = self.cache_of(root)
        out = self.folder / "out"
        self.ok("export", cache, "--to", out, "--as", "webdataset", "--shard-size", 1)
        self.assertEqual(sorted(tree_bytes(out)), [f"none-{i:06}.tar" for i in range(2)])
        again = self.cache_of(out, "again")
        self.assertEqual(self.samples(again), self.samples(cache))

    def test_several_labels(self):
        root = self.folder / "table"
        rows = ["file,labels"]
        for i, labels in enumerate(("0|2", "1", "", "2|1")):
            self.write_ppm(root / f"{i}.ppm", self.image(self.SIDE), self.SIDE)
            rows.append(f"{i}.ppm,{labels}")
        (root / "table.csv").write_text("\n".join(rows) + "\n")
        cache = self.cache_of(root / "table.csv")
        self.assertEqual(sorted(len(labels) for _, labels, _ in self.samples(cache)), [0, 1, 2, 2])
        self.refused(2, ["2 samples", "webdataset"], "export", cache, "--to", self.folder / "out")
        self.ok("export", cache, "--to", self.folder / "out", "--as", "webdataset")
        self.assertEqual(self.samples(self.cache_of(self.folder / "out", "again")), self.samples(cache))

    def test_list(self):
        cache = self.cache_of(self.photos(), "cache", "--store", "none")
        self.ok("dedup", cache, "--hash", "exact")
        out = self.folder / "all.csv"
        said = self.ok("export", cache, "--to", out, "--as", "list", "--selection", "default", "--json").json()
        self.assertEqual((said["samples"], said["left_out"], said["bytes"]), (26, 2, out.stat().st_size))
        rows = {row["name"]: row for row in csv.DictReader(io.StringIO(out.read_text()))}
        self.assertEqual(len(rows), 26)
        self.assertEqual([rows["train/cat/copy of test.ppm"][k] for k in ("split", "class", "kept", "why", "kept_name")],
                         ["train", "cat", "no", "leak", "test/cat/01.ppm"])
        self.assertEqual({name for name, row in rows.items() if row["kept"] == "no"}, set(self.REMOVED))
        self.refused(2, ["fingerprints only"], "export", cache, "--to", self.folder / "out")
        self.refused(2, [str(out), "already"], "export", cache, "--to", out, "--as", "list")

    def test_a_list_is_a_table_to_read_again(self):
        root = self.photos()
        cache = self.cache_of(root)
        self.ok("dedup", cache, "--hash", "exact")
        listed = self.folder / "all.csv"
        self.ok("export", cache, "--to", listed, "--as", "list", "--selection", "default")
        with open(listed, newline="") as rows, open(root / "kept.csv", "w", newline="") as table:
            out = csv.writer(table)
            out.writerow(["file", "label", "split"])
            out.writerows([r["name"], r["class"], r["split"]] for r in csv.DictReader(rows) if r["kept"] == "yes")
        again = self.cache_of(root / "kept.csv", "again")
        self.assertEqual(self.samples(again), self.samples(cache, self.REMOVED))

    def test_what_is_there_stays(self):
        cache = self.cache_of(self.photos())
        full = self.folder / "full"
        full.mkdir()
        (full / "mine.txt").write_text("mine")
        for way in ("image-folder", "webdataset", "list"):
            self.refused(2, [str(full), "already"], "export", cache, "--to", full, "--as", way)
        self.assertEqual(tree_bytes(full), {"mine.txt": b"mine"})
        other = self.folder / "out.export"
        other.mkdir()
        (other / "mine.txt").write_text("mine")
        self.refused(2, [str(other)], "export", cache, "--to", self.folder / "out")
        self.assertEqual(tree_bytes(other), {"mine.txt": b"mine"})
        empty = self.folder / "empty"
        empty.mkdir()
        self.ok("export", cache, "--to", f"{empty}/")
        self.assertEqual(len(tree_bytes(empty)), 26)
        self.refused(2, ["'other'"], "export", cache, "--to", self.folder / "x", "--selection", "other")
        self.refused(2, ["val"], "export", cache, "--to", self.folder / "x", "--split", "val")
        self.refused(2, ["one process"], "export", cache, "--to", self.folder / "x", ranks=2)

    def test_ended_early(self):
        cache = self.cache_of(self.photos())
        before = sorted(os.listdir(self.folder))
        for way, file in (("image-folder", "05.ppm"), ("webdataset", "train-000000.tar"), ("list", "out")):
            args = ["export", cache, "--to", self.folder / "out", "--as", way]
            full = run(*args, env={"WINNOW_FAILPOINTS": f"enospc=file.write.before:{file}:1"})
            self.assertEqual(full.code, 1, full.err)
            self.assertIn("No space left", full.err)
            self.assertEqual(sorted(os.listdir(self.folder)), before)
            if way != "list":
                full = run(*args, env={"WINNOW_FAILPOINTS": "enospc=file.write.before:unfinished:1"})
                self.assertEqual(full.code, 1, full.err)
                self.assertEqual(sorted(os.listdir(self.folder)), before)
            point = "file.create.after" if way == "list" else "file.write.after"
            stopped = run(*args, env={"WINNOW_FAILPOINTS": f"term={point}:{file}:1"})
            self.assertEqual(stopped.code, 75, stopped.err)
            self.assertEqual(sorted(os.listdir(self.folder)), before)
            killed = run(*args, env={"WINNOW_FAILPOINTS": f"kill=file.write.after:{file}:1"})
            self.assertLess(killed.code, 0)
            self.assertFalse((self.folder / "out").exists())
            self.ok(*args)
            whole = self.folder / "out"
            self.assertEqual(sorted(os.listdir(self.folder)), sorted([*before, "out"]))
            whole.rename(self.folder / f"done-{way}")
            before = sorted(os.listdir(self.folder))

    def test_a_damaged_record_is_named(self):
        root = self.photos()
        cache = self.cache_of(root)
        shard = cache / "shards" / "00000.mdb"
        data = bytearray(shard.read_bytes())
        pixels = (root / "train" / "dog" / "04.ppm").read_bytes()
        data[data.index(pixels) + 100] ^= 1
        shard.write_bytes(data)
        self.refused(1, ["train/dog/04.ppm", "checksum"], "export", cache, "--to", self.folder / "out")
        self.assertFalse((self.folder / "out").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
