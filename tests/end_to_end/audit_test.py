"""Images with issues: winnow info --issues, review --issues and dedup --drop-issues."""

import base64
import csv
import json
import shutil
import unittest
from xml.etree import ElementTree

from program import ROOT, Case
from served import Served

SIDE = 48
OLD = ROOT / "tests" / "data" / "golden" / "v1" / "original"


class Audit(Case):
    def picture(self, seed, change=lambda v: v):
        """A sharp and colourful picture; `value` changes it pixel by pixel."""
        smooth = self.image(SIDE, seed=seed)
        noise = (self.random.randrange(-50, 50) for _ in smooth)
        return bytes(change(min(255, max(0, v + n))) for v, n in zip(smooth, noise))

    def photos(self):
        """20 good images and one with each issue. Two dark ones are in train, one is in test."""
        root = self.folder / "photos"
        for i in range(20):
            self.write_ppm(root / "train" / "cat" / f"fine-{i:02}.ppm", self.picture(i), SIDE)
        for name, change in (("dark-1", lambda v: v // 10), ("dark-2", lambda v: v // 20), ("bright", lambda v: 250 + v // 52)):
            self.write_ppm(root / "train" / "dog" / f"{name}.ppm", self.picture(len(name), change), SIDE)
        self.write_ppm(root / "test" / "dog" / "dark-3.ppm", self.picture(7, lambda v: v // 12), SIDE)
        self.write_ppm(root / "train" / "dog" / "gray.ppm", b"".join(bytes([v] * 3) for v in self.picture(30)[::3]), SIDE)
        self.write_ppm(root / "train" / "dog" / "blurry.ppm", bytes(v // 2 for v in self.image(SIDE, seed=31)), SIDE)
        self.write_ppm(root / "train" / "dog" / "tiny.ppm", self.image(12, seed=32), 12)
        return root

    def cache(self, *options):
        cache = self.folder / "cache"
        self.ok("ingest", self.photos(), "--out", cache, *options)
        return cache

    def listed(self, text):
        return [(row["name"].rsplit("/")[-1].removesuffix(".ppm"), row["issue"]) for row in csv.DictReader(text.splitlines())]

    def test_info_counts_and_lists(self):
        cache = self.cache()
        table = self.ok("info", cache, "--issues").out
        self.assertRegex(table, r"\ndark +3 +11.11 % +0.32 ")
        self.assertRegex(table, r"\nbright +1 ")
        self.assertRegex(table, r"\nodd_shape +0 ")
        listed = self.listed(self.ok("info", cache, "--issues", "tiny,dark,gray,bright").out)
        self.assertEqual(listed, [("dark-2", "dark"), ("dark-3", "dark"), ("dark-1", "dark"), ("bright", "bright"), ("gray", "gray"), ("tiny", "tiny")])
        self.assertIn(("blurry", "blurry"), self.listed(self.ok("info", cache, "--issues", "blurry").out))
        said = self.ok("info", cache, "--issues", "dark", "--json").json()["issues"]
        self.assertEqual({row["issue"]: row["images"] for row in said["counts"]}["dark"], 3)
        self.assertEqual([row["labels"] for row in said["images"]], [[1]] * 3)
        self.assertNotIn("images", self.ok("info", cache, "--issues", "--json").json()["issues"])
        self.assertNotIn("issues", self.ok("info", cache, "--json").json())
        self.refused(2, ["'ugly'", "over_exposed"], "info", cache, "--issues", "ugly")

    def test_the_same_on_any_path(self):
        """In one ingest, in two, with other threads, compacted, and in place."""
        cache = self.cache("--threads", "1")
        issues = self.ok("info", cache, "--issues", "dark,gray,tiny").out
        self.ok("verify", cache)
        photos, half = self.folder / "photos", self.folder / "half"
        (self.folder / "more").mkdir()
        shutil.move(photos / "test", self.folder / "more" / "test")
        self.ok("ingest", photos, "--out", half, "--threads", "2")
        self.ok("ingest", self.folder / "more", "--into", half)
        names = [row[0] for row in self.listed(issues)]
        self.assertEqual(sorted(names), sorted(row[0] for row in self.listed(self.ok("info", half, "--issues", "dark,gray,tiny").out)))
        self.ok("dedup", cache, "--drop-issues", "dark", "--name", "no-dark")
        small = self.folder / "small"
        self.ok("compact", cache, "--selection", "no-dark", "--out", small)
        self.assertEqual(self.listed(self.ok("info", small, "--issues", "dark,tiny").out), [("dark-3", "dark"), ("tiny", "tiny")])
        self.assertIn("left out for an issue", (small / "ledger.jsonl").read_text())
        out = self.ok("dedup", self.folder / "photos", "--drop-issues", "dark", "--threshold", "0").out
        self.assertEqual([row["rule"] for row in csv.DictReader(out.splitlines())].count("issue"), 2)

    def test_dedup_drops_them(self):
        cache = self.cache()
        bad = self.folder / "bad.csv"
        result = self.ok("dedup", cache, "--hash", "exact", "--drop-issues", "dark,tiny,over_exposed", "--list-issues", bad, "--json")
        self.assertEqual(result.json()["issues"], {"dark": 2, "tiny": 1, "over_exposed": 1})
        self.assertEqual(result.json()["removed"], 4)
        self.assertIn("issues: 2 dark, 1 over_exposed, 1 tiny removed", result.err)
        self.assertEqual(self.listed(bad.read_text()), [("dark-2", "dark"), ("dark-1", "dark"), ("bright", "over_exposed"), ("tiny", "tiny")])
        removed = list(csv.DictReader((cache / "selections" / "default.csv").read_text().splitlines()))
        self.assertEqual([row["rule"] for row in removed], ["issue"] * 4)
        self.assertIn("drops dark, over_exposed, tiny", self.ok("info", cache, "--selection", "default").out)
        self.assertEqual(self.ok("dedup", cache, "--hash", "exact", "--drop-issues", "dark", "--thin", "test", "--json").json()["issues"], {"dark": 3})
        self.assertEqual(self.ok("dedup", cache, "--hash", "exact", "--drop-issues", "dark", "--protect", "**/dark-1*", "--json").json()["issues"], {"dark": 1})
        self.refused(2, ["near_duplicate", "single picture"], "dedup", cache, "--drop-issues", "near_duplicate")
        self.refused(2, ["'ugly'"], "dedup", cache, "--drop-issues", "ugly")
        self.refused(2, ["--drop-issues blurry,dark"], "dedup", cache, "--list-issues", bad)

    def test_what_people_judged_is_obeyed(self):
        cache = self.cache()
        with Served(cache, "--issues", "dark,gray") as served:
            by_name = {g["members"][0]["name"].rsplit("/")[-1]: g for g in served.groups()["groups"]}
            images = {name: group["members"][0]["hash"] for name, group in by_name.items()}
            for name, verdict in (("dark-1.ppm", "keep"), ("dark-3.ppm", "drop"), ("gray.ppm", "unsure")):
                self.assertEqual(served.judge({"image_verdict": verdict, "images": [images[name]]})[0], 200)
        review, page = cache / "reviews" / "default.jsonl", self.folder / "page.html"
        flags = ("--hash", "exact", "--drop-issues", "dark,gray", "--review", review)
        result = self.ok("dedup", cache, *flags, "--json", "--report", page)
        self.assertEqual(result.json()["issues"], {"dark": 1, "gray": 1})
        self.assertEqual([result.json()["review"][name] for name in ("judgements", "dropped", "spared")], [2, 1, 1])
        self.assertIn("1 image is dropped, and 1 kept in spite of issues", result.err)
        removed = {row["name"].rsplit("/")[-1]: row["rule"]
                   for row in csv.DictReader((cache / "selections" / "default.csv").read_text().splitlines())}  # fmt: skip
        self.assertEqual(removed, {"dark-2.ppm": "issue", "gray.ppm": "issue", "dark-3.ppm": "review"})
        # The page shows the removed images, the worst of each issue first.
        root = ElementTree.fromstring(page.read_text())
        scripts = {e.get("id"): e.text for e in root.iter() if e.tag.endswith("script")}
        shown = json.loads(scripts["groups"])
        self.assertEqual([(g["members"][0]["name"].rsplit("/")[-1], g["reasons"], g["members"][0]["fate"]) for g in shown],
                         [("dark-2.ppm", ["dark"], "issue"), ("dark-3.ppm", ["dark"], "review"), ("gray.ppm", ["gray"], "issue")])
        self.assertTrue(all(g["members"][0]["picture"].startswith("data:image/jpeg;base64,/9j/") for g in shown))
        self.assertEqual([issue["name"] for issue in json.loads(scripts["config"])["issues"]], ["dark", "gray"])
        # The same for a data set, and for a later cache of these files and others.
        out = self.ok("dedup", self.folder / "photos", *flags).out
        self.assertEqual(sorted(row["rule"] for row in csv.DictReader(out.splitlines())), ["issue", "issue", "review"])
        self.write_ppm(self.folder / "photos" / "train" / "dog" / "dark-4.ppm", self.picture(99, lambda v: v // 11), SIDE)
        later = self.folder / "later"
        self.ok("ingest", self.folder / "photos", "--out", later)
        self.assertEqual(self.ok("dedup", later, *flags, "--json").json()["issues"], {"dark": 2, "gray": 1})
        with Served(later, "--issues", "dark,gray", "--review", review) as served:
            self.assertEqual(sorted(served.groups()["judged"].values()), ["drop", "keep", "unsure"])
            todo = {g["members"][0]["name"].rsplit("/")[-1] for g in served.groups("?todo=1")["groups"]}
            self.assertEqual(todo, {"dark-2.ppm", "dark-4.ppm"})

    def test_review_wants_issues_of_one_picture_and_an_audit(self):
        cache = self.cache()
        self.refused(2, ["near_duplicate is not an issue of a single picture", "without --issues"], "review", cache, "--issues", "near_duplicate")
        self.refused(2, ["'ugly'", "over_exposed"], "review", cache, "--issues", "ugly")
        self.refused(2, ["excludes"], "review", cache, "--issues", "dark", "--sample", "3")
        self.refused(2, ["no selection"], "review", cache, "--issues", "dark", "--name", "other")
        old = self.folder / "old"
        shutil.copytree(OLD, old)
        self.refused(2, ["without an audit"], "review", old, "--issues")

    def test_the_report_has_pictures(self):
        page = self.folder / "page.html"
        photos = self.photos()
        self.write_ppm(photos / "train" / "dog" / "<b>&.ppm", self.picture(40, lambda v: v // 15), SIDE)
        self.ok("ingest", photos, "--out", self.folder / "cache", "--report", page)
        text = page.read_text()
        root = ElementTree.fromstring(text[text.index("<html"):])
        shots = [e for e in root.iter() if e.tag.endswith("figure") and "shot" in e.get("class", "")]
        titles = [e.get("title").rsplit("/")[-1] for e in shots if "faint" not in e.get("class")]
        for name in ("dark-1.ppm", "dark-2.ppm", "dark-3.ppm", "<b>&.ppm", "bright.ppm", "tiny.ppm", "gray.ppm"):
            self.assertIn(name, titles)
        pictures = [e.get("src") for e in root.iter() if e.tag.endswith("img")]
        self.assertEqual(len(pictures), len(shots))
        for picture in pictures:
            self.assertEqual(base64.b64decode(picture.removeprefix("data:image/jpeg;base64,"))[:2], b"\xff\xd8")
        self.assertIn("Some of each class", text)
        self.ok("ingest", photos, "--out", self.folder / "plain", "--store", "none", "--report", page)
        self.assertNotIn("<img", page.read_text())
        self.assertIn("dark-1.ppm", page.read_text())

    def test_older_caches_say_so(self):
        old = self.folder / "old"
        shutil.copytree(OLD, old)
        before = "without an audit"
        self.refused(2, [before], "info", old, "--issues")
        self.refused(2, [before], "dedup", old, "--drop-issues", "dark")
        self.ok("info", old, "--report", self.folder / "old.html")
        self.assertIn("ingested before winnow audited images", (self.folder / "old.html").read_text())
        self.ok("verify", old)


if __name__ == "__main__":
    unittest.main()
