"""`--report` of index dedup, index query, split and tune: each page reports what was found, and shows pictures."""

import csv
import io
import json
import unittest
import xml.etree.ElementTree as xml

from browser import Browser, needs_browser
from gallery_test import SPACE, Photos
from program import eventually


class Verbs(Photos):
    def setUp(self):
        super().setUp()
        self.page = self.folder / "page.html"

    def read(self):
        """The words of the page, its configuration and its groups. The page is valid and fetches nothing."""
        root = xml.fromstring(self.page.read_text())
        for element in root.iter():
            self.assertNotIn(element.tag.removeprefix(SPACE), {"link", "iframe", "object", "base", "form", "a", "img"})
            for name, value in element.attrib.items():
                self.assertFalse(name.startswith("on"), name)
                self.assertNotIn("://", value)
        data = {s.get("id"): json.loads(s.text) for s in root.iter(SPACE + "script") if s.get("id")}
        for element in list(root.iter(SPACE + "script")) + list(root.iter(SPACE + "style")):
            element.text = ""
        return " ".join("".join(root.find(f"{SPACE}body").itertext()).split()), data["config"], data["groups"]

    def pictures(self, groups):
        """Whether members have pictures, by name."""
        for group in groups:
            for member in group["members"]:
                self.assertRegex(member["picture"], r"^(data:image/jpeg;base64,/9j/[\w+/]+=*)?$")
        return {member["name"]: member["picture"] != "" for group in groups for member in group["members"]}


class Index(Verbs):
    def setUp(self):
        super().setUp()
        self.photos()
        self.index = self.folder / "all.index"
        self.ok("ingest", self.source, "--out", self.folder / "cache")
        self.ok("index", "add", self.index, self.folder / "cache")

    def test_dedup(self):
        dedup = ["index", "dedup", self.index, "--threshold", 2, "--report", self.page]
        self.assertIn(f"report: {self.page}", self.ok(*dedup).err)
        words, _, groups = self.read()
        self.assertIn("winnow index dedup all.index 5 groups of duplicates; 7 of 19 images are removed.", words)
        self.assertIn("an index keeps none. Name what was added to it, caches or data sets, with --source", words)
        self.assertEqual(set(self.pictures(groups).values()), {False})
        listing = self.folder / "groups.jsonl"
        for source in (self.folder / "cache", self.source):
            self.ok(*dedup, "--source", source, "--list-groups", listing)
            _, _, with_pictures = self.read()
            self.assertEqual(set(self.pictures(with_pictures).values()), {True})
            for group in with_pictures:
                for member in group["members"]:
                    member["picture"] = ""
            self.assertEqual(with_pictures, groups)
        named = {json.loads(line)["name"] for line in listing.read_text().splitlines()}
        self.assertEqual({m["name"] for group in groups for m in group["members"]}, named)

    def test_an_index_that_ends_in_a_slash_has_a_name(self):
        for verb in (["dedup"], ["query", self.source]):
            verb, *asked = verb
            self.ok("index", verb, f"{self.index}/", *asked, "--threshold", 2, "--report", self.page)
            self.assertIn(f"winnow index {verb} all.index ", self.read()[0])

    def test_nothing_else_goes_into_the_page(self):
        listing = self.folder / "removed.csv"
        for at in (listing, f"{self.folder}/./removed.csv"):
            for flag in ("--list", "--list-groups"):
                self.refused(2, ["a list and the report would both go into", "name another file"],
                             "index", "dedup", self.index, flag, at, "--report", listing)
        self.assertFalse(listing.exists())
        self.assertFalse((self.index / "selections").exists())

    def test_pictures_are_of_what_was_added(self):
        dedup = ["index", "dedup", self.index, "--report", self.page, "--source"]
        self.ok("ingest", self.source, "--out", self.folder / "bare", "--store", "none")
        self.refused(2, ["no pictures", "--source"], *dedup, self.folder / "bare")
        other = self.folder / "other"
        self.write_ppm(other / "a.ppm", self.image(32, seed=1), 32)
        self.refused(2, ["other holds no data set of", "winnow index info"], *dedup, other)
        self.refused(2, ["nowhere"], *dedup, self.folder / "nowhere")
        self.assertFalse(self.page.exists())
        self.page.write_text("text")
        self.refused(2, ["is not an HTML page"], "index", "dedup", self.index, "--report", self.page)
        self.refused(2, ["is not an HTML page"], "index", "query", self.index, self.source, "--report", self.page)
        self.page.unlink()
        # Only one of the two data sets has pictures here.
        self.write_ppm(other / "b.ppm", self.image(32, seed=0), 32)
        self.ok("index", "add", self.index, other)
        self.ok(*dedup, self.source)
        has = self.pictures(self.read()[2])
        self.assertFalse(has["a.ppm"] or has["b.ppm"])
        self.assertTrue(has["test/ant/leak.ppm"])

    def test_query(self):
        new = self.folder / "new"
        for name, seed, split in (("known", 0, "test"), ("also", 0, "train"), ("again", 105, "train"), ("unknown", 77, "train")):
            self.write_ppm(new / split / "wasp" / f"{name}.ppm", self.image(32, seed=seed), 32)
        more = self.folder / "more"
        self.write_ppm(more / "train" / "ant" / "third.ppm", self.image(32, seed=3), 32)
        self.write_ppm(more / "train" / "ant" / "unknown.ppm", self.image(32, seed=78), 32)
        self.ok("ingest", more, "--out", self.folder / "more-cache")
        query = ["index", "query", self.index, new, self.folder / "more-cache", "--threshold", 2]
        plain = self.ok(*query).out
        said = self.ok(*query, "--report", self.page, "--source", self.folder / "cache")
        self.assertEqual(said.out, plain)
        words, config, groups = self.read()
        self.assertIn("winnow index query all.index 4 of 6 images have a duplicate in the index, within 2 bits.", words)
        self.assertIn(f"{new}4375.00 %", words)
        self.assertIn("more-cache2150.00 %", words)
        self.assertIn("testtest1", words)  # asked: in test; known: in test, the one with the lowest id
        self.assertEqual(config["fates"], {"duplicate": "asked", "kept": "in the index"})
        rows = list(csv.DictReader(io.StringIO(plain)))
        self.assertEqual(len(rows), 4)
        shown = {(asked["name"], group["members"][0]["name"], asked["distance"])
                 for group in groups for asked in group["members"][1:]}
        self.assertEqual(shown, {(row["name"], row["match_name"], int(row["distance"])) for row in rows})
        self.assertEqual(set(self.pictures(groups).values()), {True})
        labels = {m["name"]: m["labels"] for group in groups for m in group["members"]}
        self.assertEqual((labels["test/wasp/known.ppm"], labels["train/ant/third.ppm"]), (["wasp"], ["ant"]))
        reasons = {group["members"][0]["name"]: group["reasons"] for group in groups}
        self.assertEqual(sorted(map(len, reasons.values())), [0, 1, 2])  # the third; the one given again, a conflict; the known one, also a leak
        # Only the images asked for have pictures.
        self.ok(*query, "--report", self.page)
        has = self.pictures(self.read()[2])
        self.assertEqual({name for name, picture in has.items() if picture}, {row["name"] for row in rows})

    def test_query_of_nothing_known(self):
        new = self.folder / "new"
        self.write_ppm(new / "a.ppm", self.image(32, seed=77), 32)
        self.ok("index", "query", self.index, new, "--report", self.page)
        words, _, groups = self.read()
        self.assertIn("0 of 1 image has a duplicate in the index", words)
        self.assertEqual(groups, [])


class Split(Verbs):
    def test_shows_blocks(self):
        cache = self.cache()
        said = self.ok("split", cache, "--val", 0.2, "--test", 0.3, "--of", "train,test", "--threshold", 2, "--json", "--report", self.page)
        self.assertIn("selection 'split' written", said.err)
        summary = said.json()
        words, _, groups = self.read()
        self.assertIn("winnow split photos No picture is in two splits:", words)
        self.assertIn(f"{summary['blocks']} blocks stay together, the largest with 3 images.", words)
        for split in summary["splits"][1:]:
            self.assertIn(f"{split['samples']}{split['split']}", words)
        self.assertEqual([g["reasons"] for g in groups], [["leak"], ["conflict"], [], [], []])
        self.assertEqual(set(self.pictures(groups).values()), {True})
        self.ok("export", cache, "--as", "list", "--selection", "split", "--to", self.folder / "all.csv")
        with open(self.folder / "all.csv", errors="surrogateescape", newline="") as file:
            listed = {row["id"]: row for row in csv.DictReader(file)}
        for group in groups:
            used = {member.get("used_in", member["split"]) for member in group["members"]}
            self.assertEqual(len(used), 1)
            for member in group["members"]:
                self.assertEqual(member.get("used_in", member["split"]), listed[member["id"]]["split"])

    def test_writes_nothing_where_there_is_no_page(self):
        cache = self.cache()
        self.page.write_text("text")
        self.refused(2, ["is not an HTML page"], "split", cache, "--report", self.page)
        self.assertEqual(list((cache / "selections").glob("*")), [])


class Tune(Verbs):
    def setUp(self):
        super().setUp()
        for i in range(60):
            pixels = self.image(24, seed=i)
            self.write_ppm(self.source / f"{i % 10}" / f"{i}.ppm", pixels, 24)
            if i % 3 == 0:
                self.write_ppm(self.source / f"{i % 10}" / f"{i} again.ppm", bytes(p * 8 // 10 for p in pixels), 24)
        self.tuned = self.folder / "tuned"
        self.ok("ingest", self.source, "--out", self.tuned)

    def test_draws_curves_and_pairs(self):
        tune = ["tune", self.tuned, "--precision", 0.9, "--images", 10]
        plain = self.ok(*tune).out
        self.assertEqual(self.ok(*tune, "--report", self.page).out, plain)
        words, config, groups = self.read()
        self.assertNotIn("x0A", words)
        best = self.ok(*tune, "--json").json()
        self.assertRegex(words, r"Recommended: winnow dedup \S+/tuned --hash \w+ --threshold \d+ \(")
        root = xml.fromstring(self.page.read_text())
        marks = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text") if "mark" in text.get("class").split()]
        chosen = {hash["hash"]: hash["chosen"] for hash in best["hashes"] if "chosen" in hash}
        self.assertEqual(marks, [f"{name}: {bits} bits" for name, bits in chosen.items()])
        marked = [row for row in root.iter(SPACE + "tr") if row.get("class") == "mark"]
        self.assertEqual([int(row[0].text) for row in marked], list(chosen.values()))
        sample = config["first_line"]["sample"]
        self.assertEqual(sample["hash"], best["recommended"]["hash"])
        self.assertGreater(sample["threshold"], best["recommended"]["threshold"])
        drawn = sorted(pair for stratum in sample["strata"] for pair in stratum["drawn"])
        self.assertEqual(sorted(sorted(m["hash"] for m in group["members"]) for group in groups), drawn)
        distances = {tuple(pair): stratum["distance"] for stratum in sample["strata"] for pair in stratum["drawn"]}
        for group in groups:
            self.assertEqual(group["distance"], distances[tuple(sorted(m["hash"] for m in group["members"]))])
        self.assertEqual(set(self.pictures(groups).values()), {True})
        self.assertEqual(config["fates"], {"kept": ""})
        # Text has the same lines as when it is printed.
        (edits,) = [pre.text for pre in root.iter(SPACE + "pre")]
        self.assertGreater(len(edits.splitlines()), 10)
        self.assertIn(edits.strip("\n"), plain)

    def test_the_plot_and_the_page_are_two_files(self):
        both = self.folder / "both"
        for plot in (both, f"{self.folder}/./both"):
            self.refused(2, ["the plot and the report would both go into", "name another file"],
                         "tune", self.tuned, "--plot", plot, "--report", both)
        self.assertFalse(both.exists())

    def test_what_is_judged_says_how_precise_it_is(self):
        self.ok("tune", self.tuned, "--hash", "phash", "--images", 0, "--report", self.page)
        _, config, groups = self.read()
        review = self.folder / "review.jsonl"  # as saved by the page
        lines = [{"schema": "winnow.review/1"}, config["first_line"]]
        lines += [{"verdict": "duplicate" if "again" in str([m["name"] for m in g["members"]]) else "different",
                   "images": [m["hash"] for m in g["members"]]} for g in groups]
        review.write_text("".join(json.dumps(line) + "\n" for line in lines))
        judged = self.ok("tune", self.tuned, "--hash", "phash", "--images", 0, "--review", review, "--json").json()["hashes"][0]["judged"]
        self.assertTrue(judged["sampled"])
        printed = self.ok("tune", self.tuned, "--hash", "phash", "--images", 0, "--review", review, "--report", self.page).out
        words = self.read()[0]
        self.assertIn("phash by review decisions, on a drawn sample", words)
        self.assertNotIn("x0A", words)
        (table,) = [pre.text.strip("\n") for pre in xml.fromstring(self.page.read_text()).iter(SPACE + "pre")]
        self.assertGreater(len(table.splitlines()), 3)
        self.assertIn(table, printed)

    def test_without_pictures_says_so(self):
        self.ok("ingest", self.source, "--out", self.folder / "bare", "--store", "none")
        self.ok("tune", self.folder / "bare", "--report", self.page)
        words, _, groups = self.read()
        self.assertIn("There are no pictures: the cache holds fingerprints only.", words)
        self.assertEqual(set(self.pictures(groups).values()), {False})

    @needs_browser
    def test_saves_the_sample_with_what_is_judged(self):
        self.ok("tune", self.tuned, "--images", 0, "--report", self.page)
        _, config, groups = self.read()
        with Browser(self.folder) as browser:
            browser.open(self.page.as_uri())
            browser.wait_for("return document.documentElement.dataset.ready")
            self.assertEqual(browser.run("return document.querySelectorAll('article .fate:not([hidden])').length"), 0)
            browser.press("j1")
            browser.click("button.save")
            file = self.folder / "review.jsonl"
            browser.wait_for("return document.querySelector('.said').textContent.includes('saved as')")
            eventually(file.exists, file)
            lines = [json.loads(line) for line in file.read_text().splitlines()]
            self.assertEqual(lines[:2], [{"schema": "winnow.review/1"}, config["first_line"]])
            self.assertEqual([line["verdict"] for line in lines[2:]], ["duplicate"])
            self.assertEqual(browser.complaints(), [])


if __name__ == "__main__":
    unittest.main()
