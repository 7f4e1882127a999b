"""The page of an ingest: its contents, and that it is valid whatever the names are; statistics in `info`."""

import base64
import json
import os
import re
import unittest
import xml.etree.ElementTree as xml

from golden import mixed_set, write_tree
from program import Case, tree_bytes

HOSTILE = b"<script>alert(1)</script>&\"' \xff\x1b[2J\xe2\x80\xae.ppm"


class Report(Case):
    def page(self, path):
        """The text of a page, which must be well-formed XML and fetch nothing."""
        text = path.read_text()
        root = xml.fromstring(text)
        space = "{http://www.w3.org/1999/xhtml}"
        for element in root.iter():
            tag = element.tag.removeprefix(space)
            self.assertNotIn(tag, {"script", "link", "iframe", "object", "base", "form", "a"})
            for name, value in element.attrib.items():
                if tag == "img" and name == "src":
                    self.assertRegex(value, r"^data:image/(png|jpeg);base64,[\w+/]+=*$")
                    continue
                self.assertFalse(name.startswith("on"), name)
                self.assertNotIn(name, {"href", "src", "action"})
                self.assertNotIn("://", value)
        self.assertNotIn("url(", text)
        return " ".join("".join(root.find(f"{space}body").itertext()).split())

    def test_it_says_what_became_of_every_input(self):
        files = mixed_set()
        files[b"train/bee/" + HOSTILE] = files[b"train/bee/02.ppm"]
        files[b"train/bee/broken " + HOSTILE] = files[b"train/bee/02.ppm"][:50]
        write_tree(self.folder / "mixed", files)
        cache = self.folder / "my cache"
        result = self.ok("ingest", self.folder / "mixed", "--out", cache, "--json", "--report", self.folder / "page.html",
                         env={"WINNOW_INGEST_HASH": "phash"})  # fmt: skip
        ingested = result.json()
        self.assertIn(f"report: {self.folder}/page.html", result.err)
        page = self.page(self.folder / "page.html")
        bad = ingested["inputs"] - ingested["ok"]
        self.assertIn(f"{bad} inputs of {ingested['inputs']} could not be read", page)
        self.assertIn(ingested["digest"], page)
        for name in ("train/ant/cut.ppm", "train/ant/empty.pgm", "train/bee/text.jpg", "caf\\xE9",
                     "broken <script>alert(1)</script>&\"' \\xFF\\x1B[2J"):  # fmt: skip
            self.assertIn(name, page)
        for line in (cache / "ledger.jsonl").read_text().splitlines():
            row = json.loads(line)
            if row["class"] != "ok":
                self.assertIn(row["reason"], page)
        # The command as one would type it, including options from the environment.
        self.assertIn(f"winnow ingest {self.folder}/mixed --out '{cache}' --hash phash --report", page)
        self.assertIn(f"In {os.getcwd()}", page)
        # The page is no part of the cache, which is the same without it.
        self.ok("ingest", self.folder / "mixed", "--out", self.folder / "other", "--hash", "phash")
        self.assertEqual(tree_bytes(cache), tree_bytes(self.folder / "other"))

        self.ok("info", cache, "--report", self.folder / "later.html")
        later = self.page(self.folder / "later.html")
        self.assertIn(ingested["digest"], later)
        self.assertNotIn("inputs a second", later)

        self.ok("info", cache, "--report", self.folder / "seen.html", "--sheet", self.folder / "look.png")
        self.assertIn("Some of the images", self.page(self.folder / "seen.html"))
        coded = re.search(r"png;base64,([^\"]+)", (self.folder / "seen.html").read_text())[1]
        self.assertEqual(base64.b64decode(coded), (self.folder / "look.png").read_bytes())

    def test_a_report_in_the_cache_goes_with_it(self):
        write_tree(self.folder / "mixed", mixed_set())
        cache = self.folder / "cache"
        self.ok("ingest", self.folder / "mixed", "--out", cache, "--report", cache / "report.html")
        self.page(cache / "report.html")
        self.ok("verify", cache)
        self.ok("cache", "drop", cache, "--delete")
        self.assertFalse(cache.exists())

    def test_a_report_that_cannot_be_is_refused_before_the_work(self):
        write_tree(self.folder / "mixed", mixed_set())
        self.refused(2, ["there is no folder", str(self.folder / "none")],
                     "ingest", self.folder / "mixed", "--out", self.folder / "cache",
                     "--report", self.folder / "none" / "page.html")  # fmt: skip
        self.assertFalse((self.folder / "cache").exists())

    def test_an_estimate_says_what_an_ingest_would_and_leaves_nothing(self):
        write_tree(self.folder / "mixed", mixed_set())
        cache = self.folder / "cache"
        self.ok("ingest", self.folder / "mixed", "--out", cache)
        before = tree_bytes(self.folder)
        result = self.ok("ingest", self.folder / "mixed", "--out", cache, "--estimate", "--json")
        self.assertIn("would take about", result.err)
        self.assertIn("the cache would take about", result.err)
        self.assertEqual(tree_bytes(self.folder), before)
        files = sum(f.stat().st_size for f in [*(cache / "shards").iterdir(), cache / "ledger.jsonl",
                                               cache / "fingerprints" / "table"])  # fmt: skip
        self.assertEqual(result.json()["cache_bytes"], files)
        # The output folder need not exist. What an ingest refuses is refused.
        self.ok("ingest", self.folder / "mixed", "--out", self.folder / "not" / "there", "--estimate")
        self.assertFalse((self.folder / "not").exists())
        self.assertEqual(tree_bytes(self.folder), before)
        (self.folder / "broken").mkdir()
        (self.folder / "broken" / "a.jpg").write_bytes(b"no picture")
        self.refused(3, ["the only input could not be read"], "ingest", self.folder / "broken", "--out", cache, "--estimate")

    def test_info_counts(self):
        for i in range(12):
            split, label = "train" if i < 8 else "val", "cat" if i % 4 else "dog"
            self.write_ppm(self.folder / "set" / split / label / f"{i}.ppm", self.image(8 + 8 * (i % 2)), 8 + 8 * (i % 2))
        cache = self.folder / "cache"
        self.ok("ingest", self.folder / "set", "--out", cache)
        text = self.ok("info", cache).out
        self.assertRegex(text, r"(?m)^  cat +6 train +3 val$")
        self.assertRegex(text, r"(?m)^  dog +2 train +1 val$")
        self.assertRegex(text, r"(?m)^sides +8-11 px 50 %, 16-22 px 50 %$")
        self.assertRegex(text, r"(?m)^mean +0\.\d{4} 0\.\d{4} 0\.\d{4} \(of train images")
        statistics = json.loads(self.ok("info", cache, "--json").out)["manifest"]["statistics"]
        self.assertEqual(statistics["splits"]["train"], {"unlabelled": 0, "classes": [6, 2]})
        self.assertEqual(statistics["short_side"], {"first": 6, "counts": [6, 0, 6]})
        self.assertEqual(statistics["total_pixels"], 6 * 64 + 6 * 256)
        self.assertEqual(statistics["smallest"]["width_px"], 8)


if __name__ == "__main__":
    unittest.main(verbosity=2)
