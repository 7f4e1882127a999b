"""winnow review: what its server shows, accepts, refuses and stores."""

import http.client
import json
import math
import os
import re
import subprocess
import tarfile
import threading
import unittest

from bad_use_test import inside_own_mounts
from browser import Browser, needs_browser
from embed_test import npy
from program import Case, eventually, run
from schemas_test import jsonschema, validator
from served import Served, said_of

HEADER = '{"schema":"winnow.review/1"}\n'


class Review(Case):
    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        self.photos = self.folder / "photos"
        self.cache = self.folder / "cache"
        self.log = self.cache / "reviews" / "near.jsonl"
        # Six pictures, each also brighter in another folder. One has an exact copy; one of the pictures is in test.
        for number in range(6):
            pixels = self.image(64, seed=number)
            brighter = bytes(min(255, value + 6) for value in pixels)
            split = "test" if number == 1 else "train"
            self.write_ppm(self.photos / "train" / "cat" / f"{number}.ppm", pixels, 64)
            self.write_ppm(self.photos / split / "dog" / f"{number}b.ppm", brighter, 64)
        self.write_ppm(self.photos / "train" / "cat" / "copy.ppm", self.image(64, seed=0), 64)

    def make(self, *ingest):
        self.ok("ingest", self.photos, "--out", self.cache, *ingest)
        self.ok("dedup", self.cache, "--threshold", "8", "--name", "near")

    def serve(self, *args, **more):
        served = Served(self.cache, "--name", "near", *args, **more)
        self.addCleanup(served.kill)
        return served

    def lines(self, path=None):
        return [json.loads(line) for line in (path or self.log).read_text().splitlines()]

    def wait_for_lines(self, count):
        """The lines of the log; waits until there are `count`."""
        eventually(lambda: len(self.lines()) >= count, f"{count} lines of {self.log}")
        lines = self.lines()
        self.assertEqual(len(lines), count)
        return lines

    def test_shows_takes_and_remembers(self):
        self.make()
        served = self.serve("--json")
        self.assertEqual(self.log.read_text(), HEADER)
        found = served.groups()
        self.assertEqual((found["schema"], found["total"], found["judged"]), ("winnow.groups/1", 6, {}))
        self.assertIn("leak", found["groups"][0]["reasons"])
        first, second, third = found["groups"][:3]
        self.assertEqual(served.judge(said_of(first, "duplicate")), (200, {"saved": 1, "left": 5}))
        both = [said_of(second, "different"), {"verdict": "keep", "images": [third["members"][1]["hash"]]}]
        self.assertEqual(served.judge(*both), (200, {"saved": 2, "left": 3}))
        self.assertEqual(self.lines()[1:], [said_of(first, "duplicate"), *both])
        todo = served.groups("?todo=1")
        self.assertEqual(todo["total"], 3)
        self.assertNotIn(first["number"], [group["number"] for group in todo["groups"]])
        # Undone, and done again.
        none = {"verdict": "none", "images": said_of(first, "none")["images"]}
        self.assertEqual(served.judge(none), (200, {"saved": 1, "left": 4}))
        self.assertEqual(served.judge(said_of(first, "unsure")), (200, {"saved": 1, "left": 3}))
        code, out, err = served.end()
        self.assertEqual(code, 75)
        self.assertIn(f"5 judgements saved in {self.log}, 3 groups left", err)
        self.assertIn(f"apply them with --review {self.log}", "".join(served.said))
        value = json.loads(out)
        self.assertEqual((value["saved"], value["left"], value["groups"]), (5, 3, 6))
        if jsonschema:
            validator("review").validate(value)
        self.assertNotIn("least_quality", value)
        again = self.serve()
        wanted = {str(first["number"]): "unsure", str(second["number"]): "different", str(third["number"]): "keep"}
        self.assertEqual(again.groups()["judged"], wanted)

    def test_groups_that_were_found_by_features(self):
        self.ok("ingest", self.photos, "--out", self.cache)
        names = [json.loads(line)["name"] for line in (self.cache / "ledger.jsonl").read_text().splitlines()]
        # The number of a picture determines its vector; copy.ppm has number 9.
        number = lambda name: int(re.search(r"(\d)b?\.ppm", name)[1]) if "copy" not in name else 9
        turns = [0.3 * number(name) + 0.02 * ("b.ppm" in name) for name in names]
        (self.folder / "v.npy").write_bytes(npy([[math.cos(a), math.sin(a)] for a in turns]))
        (self.folder / "n.txt").write_text("".join(f"{name}\n" for name in names))
        self.ok("embed", self.folder / "v.npy", self.cache, "--names", self.folder / "n.txt", "--name", "turns")
        by = ["dedup", self.cache, "--features", "turns", "--cosine", 0.998, "--name", "near", "--json"]
        decided = self.ok(*by).json()
        self.assertEqual(decided["groups"], 6)
        served = self.serve()
        found = served.groups()["groups"]
        self.assertEqual(len(found), 6)
        first = next(group for group in found if len(group["members"]) == 2)
        second = next(group for group in found if len(group["members"]) == 2 and group is not first)
        self.assertEqual(served.judge(said_of(first, "different"), said_of(second, "duplicate"))[0], 200)
        served.end()
        obeyed = self.ok(*by, "--review", self.log).json()
        self.assertEqual((obeyed["groups"], obeyed["conflicts"]), (5, decided["conflicts"] - 1))
        # Images that are near only by their features are also sampled and judged.
        sampled = self.serve("--sample", "3", "--review", self.folder / "sample.jsonl")
        self.assertIn("from a cosine of 0.998", "".join(sampled.said))
        self.assertEqual(len(sampled.groups()["groups"]), 3)
        # A review can make two images one, however far apart their vectors are.
        far = [self.lines()[1]["images"][0], self.lines()[2]["images"][0]]
        self.log.write_text(HEADER + json.dumps({"verdict": "duplicate", "images": far}) + "\n")
        self.assertEqual(self.ok(*by, "--review", self.log).json()["groups"], 5)

    def test_it_says_the_quality_that_the_selection_asked_for(self):
        self.ok("ingest", self.photos, "--out", self.cache)
        self.ok("dedup", self.cache, "--threshold", "8", "--name", "near", "--least-quality", 20)
        _, out, _ = self.serve("--json").end()
        value = json.loads(out)
        self.assertEqual(value["least_quality"], 20)
        if jsonschema:
            validator("review").validate(value)

    def test_the_page_is_called_as_the_cache(self):
        self.make()
        self.cache = f"{self.cache}/"
        _, body, _ = self.serve().ask("GET", "")
        self.assertIn("<title>cache: duplicates</title>", body.decode())

    def test_sorts_filters_and_pages(self):
        self.make()
        served = self.serve()
        every = served.groups("?sort=number")["groups"]
        self.assertEqual([group["number"] for group in every], list(range(6)))
        distances = [group["distance"] for group in served.groups("?sort=distance")["groups"]]
        self.assertEqual(distances, sorted(distances, reverse=True))
        self.assertEqual(served.groups("?sort=size")["groups"][0]["size"], 3)
        page = served.groups("?sort=number&first=2&count=3")
        self.assertEqual((page["total"], page["first"], page["groups"]), (6, 2, every[2:5]))
        self.assertEqual(served.groups("?first=99")["groups"], [])
        for query, passes in {
            "split=test": lambda group: "test" in group["splits"],
            "reason=conflict": lambda group: "conflict" in group["reasons"],
            "class=dog": lambda group: any("dog" in member["labels"] for member in group["members"]),
            "folder=test/dog": lambda group: "test/dog" in group["folders"],
            "folder=nowhere": lambda group: False,
            "most=1": lambda group: group["distance"] <= 1,
            "least=1": lambda group: group["distance"] >= 1,
            "text=DOG%2F3B.": lambda group: any("dog/3b." in member["name"] for member in group["members"]),
            "text=dog": lambda group: any("dog" in member["name"] + str(member["labels"]) for member in group["members"]),
            "text=nowhere": lambda group: False,
        }.items():
            wanted = [group for group in every if passes(group)]
            self.assertEqual(served.groups("?sort=number&" + query)["groups"], wanted, query)
        for query in ("sort=luck", "first=-1", "count=x", "reason=none", "split=odd", "least=1e9"):
            self.assertEqual(served.ask("GET", "groups?" + query)[0], 400, query)

    def test_judges_all_that_pass(self):
        self.make()
        served = self.serve()
        every = served.groups("?sort=number")["groups"]
        by_hand = said_of(every[2], "different")
        served.judge(by_hand)
        passing = [group for group in every if "leak" in group["reasons"] and group["number"] != 2]
        self.assertEqual(served.judge_all("unsure", "?reason=leak"), (200, {"saved": len(passing), "left": 5 - len(passing)}))
        self.assertEqual(served.judge_all("duplicate", "?sort=size"), (200, {"saved": 5 - len(passing), "left": 0}))
        lines = self.lines()[1:]
        self.assertEqual(lines[0], by_hand)
        rest = [group for group in every if group["number"] != 2 and group not in passing]
        wanted = [said_of(group, "unsure") for group in passing] + [said_of(group, "duplicate") for group in rest]
        self.assertEqual([(line["verdict"], line["images"]) for line in lines[1:]], [(line["verdict"], line["images"]) for line in wanted])
        for line, group in zip(lines[1:], passing + rest):
            named = {member["hash"]: member["name"] for member in reversed(group["members"])}  # the first image of each file
            self.assertEqual(line["names"], [named[image] for image in line["images"]])
        # Undone as a whole, once, except what was judged since.
        since = said_of(rest[0], "different")
        served.judge(since)
        self.assertEqual(served.judge_all("none"), (200, {"saved": len(rest) - 1, "left": len(rest) - 1}))
        self.assertEqual(served.judge_all("none"), (200, {"saved": 0, "left": len(rest) - 1}))
        wanted = {str(group["number"]): "unsure" for group in passing} | {"2": "different", str(rest[0]["number"]): "different"}
        self.assertEqual(served.groups()["judged"], wanted)
        for verdict in ("keep", "maybe", 1, None):
            self.assertEqual(served.judge_all(verdict)[0], 400, verdict)
        self.assertEqual(served.judge_all("duplicate", "?reason=luck")[0], 400)
        self.assertEqual(served.judge_all("duplicate", "?text=nowhere"), (200, {"saved": 0, "left": len(rest) - 1}))
        served.end()
        self.assertEqual(self.serve().groups()["judged"], wanted)

    def test_all_or_none_where_the_disk_is_full(self):
        self.make()
        served = self.serve(env={"WINNOW_FAILPOINTS": "enospc=file.write.before:near.jsonl:2"})
        status, answer = served.judge_all("duplicate")
        self.assertEqual(status, 500, answer)
        self.assertEqual(self.log.read_text(), HEADER)
        self.assertEqual(served.groups()["judged"], {})
        self.assertEqual(served.judge_all("none"), (200, {"saved": 0, "left": 6}))
        self.assertEqual(served.judge_all("duplicate"), (200, {"saved": 6, "left": 0}))

    def make_issues(self):
        """Adds to the sixteen good images some that get darker and darker, one of them twice, and a small one."""
        for number in range(5):
            dark = bytes(value // (4 + 2 * number) for value in self.image(64, seed=100 + number))
            self.write_ppm(self.photos / ("test" if number == 2 else "train") / "cat" / f"dark-{number}.ppm", dark, 64)
            if number == 3:
                self.write_ppm(self.photos / "train" / "dog" / "dark-again.ppm", dark, 64)
        small = bytes(value // 9 for value in self.image(12, seed=200))
        self.write_ppm(self.photos / "train" / "dog" / "small.ppm", small, 12)
        self.ok("ingest", self.photos, "--out", self.cache)
        self.log = self.cache / "reviews" / "default.jsonl"

    def serve_issues(self, *args):
        served = Served(self.cache, "--issues", *args)
        self.addCleanup(served.kill)
        return served

    def test_pictures_with_issues(self):
        self.make_issues()
        served = self.serve_issues("dark,tiny", "--json")
        every = served.groups()["groups"]
        names = [group["members"][0]["name"].rsplit("/")[-1].removesuffix(".ppm") for group in every]
        self.assertEqual(set(names), {"small", *(f"dark-{i}" for i in range(5))})
        scores = [group["scores"]["dark"] for group in every]
        self.assertEqual(scores, sorted(scores))
        again = every[names.index("dark-3")]
        self.assertEqual([member["name"] for member in again["members"]], ["train/cat/dark-3.ppm", "train/dog/dark-again.ppm"])
        self.assertEqual(every[names.index("small")]["reasons"], ["dark", "tiny"])

        def found(query):
            return {group["members"][0]["name"].rsplit("/")[-1].removesuffix(".ppm") for group in served.groups(query)["groups"]}

        for query, wanted in {"?reason=tiny": {"small"}, "?split=test": {"dark-2"}, "?class=dog": {"dark-3", "small"},
                              "?folder=train/dog": {"dark-3", "small"}, "?text=ARK-4": {"dark-4"}, "?reason=blurry": set(),
                              "?reason=leak": set(), "?reason=dark": set(names)}.items():  # fmt: skip
            self.assertEqual(found(query), wanted, query)
        self.assertEqual(served.ask("GET", again["members"][1]["picture"])[0], 200)
        self.assertEqual(served.ask("GET", "groups?reason=ugly")[0], 400)
        # One by one, then all that match, undone as a whole.
        one = {"image_verdict": "keep", "images": [again["members"][0]["hash"]], "names": ["train/cat/dark-3.ppm"]}
        self.assertEqual(served.judge(one), (200, {"saved": 1, "left": 5}))
        for bad in ({**one, "images": one["images"] * 2}, {**one, "image_verdict": "duplicate"}, {"image_verdict": "drop", "images": []}):
            self.assertEqual(served.judge(bad)[0], 400, bad)
        self.assertEqual(served.judge_all("drop", "?class=dog", "image_verdict"), (200, {"saved": 1, "left": 4}))
        self.assertEqual(served.judge_all("unsure", "", "image_verdict"), (200, {"saved": 4, "left": 0}))
        self.assertEqual(served.judge_all("none", "", "image_verdict"), (200, {"saved": 4, "left": 4}))
        self.assertEqual(served.judge_all("different", "", "image_verdict")[0], 400)
        self.assertEqual(served.judge_all("unsure")[0], 400)
        self.assertEqual(self.lines()[:2], [{"schema": "winnow.review/1"}, one])
        small = every[names.index("small")]
        said = served.groups()["said"][str(small["number"])]
        self.assertEqual(said, [{"image_verdict": "drop", "images": [small["members"][0]["hash"]]}])
        code, out, err = served.end()
        self.assertEqual(code, 75)
        self.assertIn(f"10 judgements saved in {self.log}, 4 pictures left", err)
        if jsonschema:
            validator("review").validate(json.loads(out))
        # For the same file, judgements about duplicates are separate.
        self.ok("dedup", self.cache, "--threshold", "8", "--name", "near")
        duplicates = self.serve("--review", self.log)
        keep = {"verdict": "keep", "images": one["images"]}
        self.assertEqual(duplicates.judge(keep)[0], 200)
        self.assertEqual(duplicates.judge({**keep, "verdict": "none"})[0], 200)
        duplicates.end()
        later = self.serve_issues("--name", "near", "--review", self.log)
        self.assertEqual(sorted(later.groups()["judged"].values()), ["drop", "keep"])
        goes = [member["fate"] for group in later.groups("?text=dark-again")["groups"] for member in group["members"]]
        self.assertIn("duplicate", goes)

    @needs_browser
    def test_pictures_with_issues_in_a_browser(self):
        self.make_issues()
        served = self.serve_issues()
        with Browser(self.folder) as browser:
            browser.open(served.address)
            browser.wait_for("return document.documentElement.dataset.ready === '1'")
            count = browser.run("return document.querySelectorAll('#gallery article.alone').length")
            self.assertEqual(count, served.groups()["total"])
            self.assertTrue(browser.run("return document.querySelector('.tag').textContent.startsWith('dark 0.')"))
            browser.press("j1")
            browser.wait_for(f"return document.querySelector('.said').textContent === 'Picture 0: keep. {count - 1} pictures are left.'")
            browser.press("20")
            self.assertEqual([line["image_verdict"] for line in self.wait_for_lines(4)[1:]], ["keep", "drop", "unsure"])
            browser.press("u")
            self.assertEqual(self.wait_for_lines(5)[4], {"image_verdict": "none", "images": self.lines()[3]["images"]})
            browser.open(served.address)  # again: earlier judgements are shown, and can be undone
            browser.wait_for("return document.documentElement.dataset.ready === '1'")
            verdicts = "return [...document.querySelectorAll('article .verdict')].map((v) => v.textContent)"
            self.assertEqual(browser.run(verdicts), ["keep", "drop"] + [""] * (count - 2))
            browser.press("kku")
            self.wait_for_lines(6)
            browser.press("x")
            browser.wait_for("return document.querySelector('dialog.compare').open")
            browser.wait_for("const all = [...document.querySelectorAll('dialog.compare figure')]; return !all[0].hidden && all[1].hidden")
            browser.press("\ue00c")
            browser.press("aa2")
            browser.wait_for(f"return document.querySelector('.said').textContent.startsWith('{count - 1} pictures: drop. 0 pictures are left.')")
            browser.wait_for("return document.querySelectorAll('article.judged').length === arguments[0]", count)
            browser.press("U")
            browser.wait_for("return document.querySelector('.said').textContent.includes('taken back')")
            browser.wait_for("return document.querySelectorAll('article.judged').length === 1")
            self.assertEqual([what for what in browser.complaints() if "favicon.ico" not in what], [])

    def test_pictures(self):
        self.make()
        served = self.serve()
        member = served.groups()["groups"][0]["members"][0]
        for suffix in ("", "?full=1"):
            status, body, headers = served.ask("GET", member["picture"] + suffix)
            self.assertEqual((status, headers["Content-Type"], body[:3]), (200, "image/jpeg", b"\xff\xd8\xff"))
        for path in ("picture/", "picture/x", "picture/-1", "picture/99999999", "picture/1/2", "picture/../manifest.json",
                     "picture/18446744073709551616", "manifest.json", "..", "%2e%2e/manifest.json", "page.html"):
            self.assertEqual(served.ask("GET", path)[0], 404, path)
        many = [threading.Thread(target=lambda: served.ask("GET", member["picture"])) for _ in range(30)]
        for thread in many:
            thread.start()
        for thread in many:
            thread.join()
        self.assertEqual(served.ask("GET", member["picture"])[0], 200)

    def test_a_cache_without_pictures(self):
        self.make("--store", "none")
        self.refused(2, ["no pictures of its own", "--source"], "review", self.cache, "--name", "near")
        served = self.serve("--source", self.photos)
        group = served.groups()["groups"][0]
        self.assertEqual(served.ask("GET", group["members"][0]["picture"])[0], 200)
        served.end()
        (self.photos / "train" / "cat" / "copy.ppm").unlink()
        self.refused(2, ["another data set, or has changed"], "review", self.cache, "--name", "near", "--source", self.photos)

    def test_pictures_from_an_archive(self):
        with tarfile.open(self.folder / "photos.tar", "w") as tar:
            tar.add(self.photos, "photos")
        self.photos = self.folder / "photos.tar"
        self.make("--store", "none")
        served = self.serve("--source", self.photos)
        for group in served.groups()["groups"]:
            for member in group["members"]:
                self.assertEqual(served.ask("GET", member["picture"])[0], 200)

    def test_refuses_what_is_no_judgement(self):
        self.make()
        served = self.serve()
        group = served.groups()["groups"][0]
        good = said_of(group, "duplicate")
        before = self.log.read_bytes()
        for bad in ({}, [], "x", 1, None, [good, {}], [good, [good]], {"verdict": "maybe", "images": good["images"]},
                    {"verdict": "duplicate", "images": good["images"][:1]}, {"verdict": "duplicate", "images": ["x", "y"]},
                    {"verdict": "duplicate", "images": [good["images"][0]] * 2}, {"verdict": "keep", "images": good["images"]},
                    {"sample": {}}, {"schema": "winnow.review/1"}):
            status, answer = served.judge(bad)
            self.assertEqual(status, 200 if bad == [] else 400, f"{bad}: {answer}")
        headers = {"Origin": "http://" + served.host, "Content-Type": "application/json"}
        for body in (b"", b"{", b"\xff", b"[" * 100_000, b'{"verdict":"keep","verdict":"none"}', b'"\\ud800"'):
            self.assertEqual(served.ask("POST", "judgements", body, headers)[0], 400, body[:50])
        self.assertEqual(served.ask("POST", "groups", b"[]", headers)[0], 404)
        try:
            self.assertEqual(served.ask("POST", "judgements", b" " * (9 << 20), headers)[0], 413)
        except (ConnectionError, http.client.HTTPException):
            pass  # it hung up before everything was sent
        self.assertEqual(self.log.read_bytes(), before)
        self.assertEqual(served.judge(good)[0], 200)

    def test_loses_nothing_that_was_answered(self):
        self.make()
        answered = []
        for round_ in range(8):
            served = self.serve()
            groups = served.groups("?sort=number")["groups"]
            stop = threading.Event()

            def work():
                while not stop.is_set():
                    line = said_of(groups[len(answered) % 6], ["duplicate", "different", "unsure"][len(answered) % 3])
                    try:
                        if served.judge(line)[0] == 200:
                            answered.append(line)
                    except (OSError, http.client.HTTPException):
                        return

            thread = threading.Thread(target=work)
            thread.start()
            before = len(answered)
            eventually(lambda: len(answered) > before + 3 * round_, "answers")
            served.kill()
            stop.set()
            thread.join()
            with self.log.open("ab") as file:  # what a kill during a write would leave
                file.write(b'{"verdict":"dupl')
        served = self.serve()
        self.assertIn("cut off", "".join(served.said))
        left = iter(self.lines()[1:])
        for line in answered:  # in order; a judgement whose answer was lost may lie in between
            self.assertIn(line, left)

    def test_a_full_disk(self):
        self.make()
        for fault in ("enospc=file.write.before:near.jsonl:2", "eio=file.sync.before:near.jsonl:2"):
            self.log.unlink(missing_ok=True)
            served = self.serve(env={"WINNOW_FAILPOINTS": fault})
            groups = served.groups()["groups"]
            status, answer = served.judge(said_of(groups[0], "duplicate"))
            self.assertEqual(status, 500, answer)
            self.assertIn("near.jsonl", answer)
            self.assertEqual(self.log.read_text(), HEADER)
            self.assertEqual(served.groups()["judged"], {})
            self.assertEqual(served.judge(said_of(groups[1], "unsure")), (200, {"saved": 1, "left": 5}))
            self.assertEqual(self.lines()[1:], [said_of(groups[1], "unsure")])
            served.end()

    def test_two_servers_and_places_to_write(self):
        self.make()
        served = self.serve()
        self.refused(2, ["another winnow review"], "review", self.cache, "--name", "near")
        other = self.serve("--review", self.folder / "mine.jsonl")
        self.refused(2, ["port"], "review", self.cache, "--name", "near", "--review", self.folder / "x.jsonl",
                     "--port", served.host.split(":")[1])
        other.judge(said_of(other.groups()["groups"][0], "duplicate"))
        self.assertEqual(len(self.lines(self.folder / "mine.jsonl")), 2)
        self.assertEqual(self.log.read_text(), HEADER)
        text = self.folder / "text.jsonl"
        text.write_text("name,split\na.jpg,tr")
        self.refused(1, ["text.jsonl", "not a review"], "review", self.cache, "--name", "near", "--review", text)
        self.assertEqual(text.read_text(), "name,split\na.jpg,tr")
        self.refused(2, ["nothing"], "review", self.cache, "--name", "nothing")
        self.ok("verify", self.cache)

    def read_only(self):
        """A command to run before another one, which makes the cache read-only."""
        if os.geteuid() != 0:
            for path in (self.cache, self.cache / "selections"):
                path.chmod(0o555)
                self.addCleanup(path.chmod, 0o755)
            return []
        # Permissions do not bind root, but a file system does.
        before = inside_own_mounts("bash", "-c", 'mount --bind -o ro "$0" "$0" && exec "$@"', self.cache)
        if subprocess.run([*before, "true"], capture_output=True).returncode:
            self.skipTest("root may write everywhere, and may not mount anything read-only here")
        return before

    def test_a_cache_that_cannot_be_written_to(self):
        self.make()
        before = self.read_only()
        self.refused(2, ["cannot be written to", "--review"], "review", self.cache, "--name", "near", before=before)
        self.assertFalse(self.log.exists())
        served = self.serve("--review", self.folder / "mine.jsonl", before=before)
        group = served.groups()["groups"][0]
        self.assertEqual(served.judge(said_of(group, "duplicate"))[0], 200)
        self.assertEqual(served.ask("GET", group["members"][0]["picture"])[0], 200)
        self.assertEqual(self.lines(self.folder / "mine.jsonl")[1:], [said_of(group, "duplicate")])
        self.assertFalse((self.cache / "reviews").exists())

    def test_a_sample(self):
        self.make()
        served = self.serve("--sample", "4", "--seed", "3")
        sample = self.lines()[1]["sample"]
        self.assertEqual((sample["hash"], sample["threshold"], sample["seed"]), ("phash", 8, 3))
        self.assertEqual(sample["certain"], 1)  # copy.ppm and 0.ppm
        drawn = [pair for stratum in sample["strata"] for pair in stratum["drawn"]]
        self.assertEqual(len(drawn), 4)
        found = served.groups("?sort=number")
        shown = [sorted(member["hash"] for member in group["members"]) for group in found["groups"]]
        self.assertEqual(sorted(shown), sorted(map(list, {tuple(pair) for pair in drawn})))
        self.assertEqual(served.judge(said_of(found["groups"][0], "different"))[1]["left"], found["total"] - 1)
        served.end()
        again = self.serve("--sample", "4", "--seed", "3")
        self.assertEqual([line for line in self.lines() if "sample" in line], [{"sample": sample}])
        self.assertEqual(len(again.groups()["judged"]), 1)
        again.end()
        self.serve("--sample", "2")
        self.assertEqual(len([line for line in self.lines() if "sample" in line]), 2)

    def test_the_page_runs_nothing_of_its_own(self):
        self.make()
        served = self.serve()
        status, body, headers = served.ask("GET", "")
        page = body.decode()
        self.assertEqual(status, 200)
        self.assertIn("script-src 'self'", headers["Content-Security-Policy"])
        self.assertNotIn("<style", page)
        self.assertNotIn(" style=", page)
        for tag in re.findall(r"<script[^>]*>", page):
            self.assertTrue("src=" in tag or "application/json" in tag, tag)
        for name in re.findall(r'(?:src|href)="([^"]+)"', page):
            self.assertEqual(served.ask("GET", name)[0], 200, name)

    @needs_browser
    def test_in_a_browser(self):
        self.make()
        served = self.serve()
        with Browser(self.folder) as browser:
            browser.open(served.address)
            browser.wait_for("return document.documentElement.dataset.ready === '1'")
            self.assertEqual(browser.run("return document.querySelectorAll('#gallery article').length"), 6)
            browser.wait_for(
                "return [...document.querySelectorAll('#gallery img')].some(i => i.complete && i.naturalWidth > 0)")
            browser.press("j1")
            browser.wait_for("return document.querySelector('.said').textContent.includes('left')")
            browser.press("j2j3")
            self.assertEqual([line["verdict"] for line in self.wait_for_lines(4)[1:]], ["duplicate", "different", "keep"])
            browser.press("u")
            self.assertEqual(self.wait_for_lines(5)[4]["verdict"], "none")
            browser.open(served.address)  # again: earlier judgements are shown, and can be undone
            browser.wait_for("return document.documentElement.dataset.ready === '1'")
            browser.press("kku")
            self.assertEqual(self.wait_for_lines(6)[5]["verdict"], "none")
            # Found by name, judged together, and undone.
            text = "const field = document.querySelector('[name=text]'); field.value = arguments[0]; field.dispatchEvent(new Event('input'))"
            browser.run(text, "CAT/4.")
            browser.wait_for("return document.querySelectorAll('#gallery article').length === 1")
            browser.run(text, "")
            browser.wait_for("return document.querySelectorAll('#gallery article').length === 6")
            count = len(self.lines())
            browser.press("aa1")
            browser.wait_for("return document.querySelector('.said').textContent.includes(': duplicate. 0 groups are left.')")
            said = [line["verdict"] for line in self.lines()[count:]]
            self.assertEqual(set(said), {"duplicate"})
            browser.wait_for("return document.querySelectorAll('#gallery article.judged').length === 6")
            browser.press("U")
            browser.wait_for("return document.querySelector('.said').textContent.includes('taken back')")
            self.assertEqual([line["verdict"] for line in self.lines()[count + len(said):]], ["none"] * len(said))
            browser.wait_for("return document.querySelectorAll('#gallery article.judged').length === 6 - arguments[0]", len(said))
            # It requests an icon, which does not exist.
            self.assertEqual([what for what in browser.complaints() if "favicon.ico" not in what], [])

    @needs_browser
    def test_a_hundred_judgements_take_a_key_each(self):
        for number in range(101):
            pixels = self.image(32, seed=1000 + number)
            self.write_ppm(self.photos / "train" / "many" / f"{number:03}.ppm", pixels, 32)
            self.write_ppm(self.photos / "train" / "many" / f"{number:03}b.ppm", bytes(min(255, value + 6) for value in pixels), 32)
        self.make()
        served = self.serve()
        total = served.groups()["total"]
        self.assertGreater(total, 100)
        with Browser(self.folder) as browser:
            browser.open(served.address)
            browser.wait_for("return document.documentElement.dataset.ready === '1'")
            self.assertTrue(browser.run("return document.querySelector('[name=goes_on]').checked"))
            browser.press("1" * 100)
            lines = self.wait_for_lines(101)[1:]
            self.assertEqual({line["verdict"] for line in lines}, {"duplicate"})
            self.assertEqual(len({tuple(sorted(line["images"])) for line in lines}), 100)
            browser.wait_for("return document.querySelectorAll('#gallery article.judged').length === 100")
            self.assertEqual(browser.run("return document.querySelector('.current .verdict').textContent"), "")
            # Another window continues where this one stopped.
            browser.open(served.address)
            browser.wait_for("return document.documentElement.dataset.ready === '1'")
            self.assertEqual(browser.run("return document.querySelector('.current .verdict').textContent"), "")
            self.assertTrue(browser.run("return document.querySelector('[name=todo]').checked"))
            browser.press("n2")  # now a judgement does not move to the next group
            browser.wait_for("return document.querySelector('.current .verdict').textContent === 'not a duplicate'")
            self.assertFalse(browser.run("return document.querySelector('[name=goes_on]').checked"))
            self.assertEqual(self.wait_for_lines(102)[-1]["verdict"], "different")
            self.assertEqual(served.groups("?todo=1")["total"], total - 101)


class OneModel(Case):
    """The page, the lists and the review of one selection agree on every group."""

    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        self.cache = self.folder / "cache"
        self.page, self.listed = self.folder / "page.html", self.folder / "groups.jsonl"
        photos = self.folder / "photos"
        for i in range(10):
            self.write_pgm(photos / f"train/a/{i:02}.pgm", self.detailed(i))
        self.write_pgm(photos / "test/a/cropped 03.pgm", [row[15:85] for row in self.detailed(3)[6:60]])
        self.write_pgm(photos / "test/b/mirrored 05.pgm", [row[::-1] for row in self.detailed(5)])
        self.write_pgm(photos / "train/b/again 06.pgm", self.detailed(6))
        # Three parts of one picture, each of which shows half of the one before.
        wide = self.detailed(20, width=240)
        for i in range(3):
            self.write_pgm(photos / f"train/a/part {i}.pgm", [row[60 * i:60 * i + 120] for row in wide])
        self.ok("ingest", photos, "--out", self.cache)

    def of_page(self):
        return json.loads(re.search(r'id="groups">(.*?)</script>', self.page.read_text(), re.DOTALL)[1])

    def of_review(self, *args):
        with Served(self.cache, *args, "--review", self.folder / "review.jsonl") as served:
            return served.groups("?sort=number&count=1000")["groups"], "".join(served.said)

    def facts(self, group):
        """The facts about a group, except where its pictures are."""
        return {**group, "members": [{**member, "picture": ""} for member in group["members"]]}

    def agree(self, *args):
        """Runs `dedup`, and checks that all three agree on its groups."""
        self.ok("dedup", self.cache, "--report", self.page, "--list-groups", self.listed, *args)
        page, (review, said) = self.of_page(), self.of_review()
        self.assertNotIn("derived from codes alone", said)
        self.assertEqual([self.facts(group) for group in review], [self.facts(group) for group in sorted(page, key=lambda g: g["number"])])
        rows = {}
        for line in self.listed.read_text().splitlines():
            row = json.loads(line)
            rows.setdefault(row["group"], {})[str(row["id"])] = row
        self.assertEqual(list(rows), [group["number"] for group in review])
        for group in review:
            of_list = rows[group["number"]]
            self.assertEqual({member["id"] for member in group["members"]}, set(of_list))
            self.assertEqual({(row["diameter"], row["chain"]) for row in of_list.values()}, {(group["diameter"], "chain" in group["reasons"])})
            for member in group["members"]:
                row = of_list[member["id"]]
                self.assertEqual((row["name"], row["distance"], row["rule"], row["weight"], row["probability"], row["transformation"]),
                                 (member["name"], member["distance"], member["fate"], member["weight"], member.get("probability", ""),
                                  member.get("edit", "")))  # fmt: skip
        return review

    def test_page_list_and_review_agree_on_every_group(self):
        stars = self.agree()
        names = [sorted(member["name"].rsplit("/")[-1] for member in group["members"]) for group in stars]
        self.assertIn(["03.pgm", "cropped 03.pgm"], names)
        self.assertEqual(sum(all(name.startswith("part") for name in group) for group in names), 1)
        self.assertEqual([group["number"] for group in stars if "chain" in group["reasons"]], [])
        cropped = stars[names.index(["03.pgm", "cropped 03.pgm"])]
        self.assertGreater(cropped["probability"], 0.9)
        self.assertIn("more around", next(member["edit"] for member in cropped["members"] if "edit" in member))
        same = stars[names.index(["06.pgm", "again 06.pgm"])]
        self.assertNotIn("chain", same["reasons"])
        # The same selection as connected components.
        components = self.agree("--verify", "--groups", "components")
        parts = next(group for group in components if any("part 0" in member["name"] for member in group["members"]))
        self.assertEqual((parts["size"], "chain" in parts["reasons"]), (3, True))
        self.assertEqual(len(self.agree("--no-verify", "--threshold", 12, "--groups", "stars")), 1)
        within = self.agree("--verify", "--scope", "within")
        self.assertFalse(any("leak" in group["reasons"] for group in within))
        self.agree("--verify", "--mode", "weight")
        self.agree("--verify", "--on-leak", "move")
        self.ok("split", self.cache, "--val", 0.3, "--test", 0.3, "--seed", 2)
        self.agree("--splits", "split")

    def test_blocks_of_a_split_are_those_of_its_page(self):
        for more in (["--folds", 2], ["--val", 0.2, "--stay"]):
            name = "cv-2" if "--folds" in more else "split"
            self.ok("split", self.cache, *more, "--name", name.removesuffix("-2"), "--report", self.page)
            review, said = self.of_review("--name", name)
            self.assertNotIn("derived from codes alone", said)
            told = [(g["reasons"], g["distance"], g["diameter"], g.get("probability"), {m["id"] for m in g["members"]}) for g in review]
            self.assertEqual(told, [(g["reasons"], g["distance"], g["diameter"], g.get("probability"), {m["id"] for m in g["members"]})
                                    for g in sorted(self.of_page(), key=lambda g: g["number"])])  # fmt: skip
            self.assertTrue(any("chain" in group["reasons"] for group in review))
            self.assertTrue(all(group.get("probability", 1) > 0.9 for group in review))

    def test_folds_of_a_training_have_the_groups_that_they_were_cut_by(self):
        def told(name):
            review, said = self.of_review("--name", name)
            self.assertNotIn("derived from codes alone", said)
            return [(g["reasons"], g["diameter"], g.get("probability"), {m["id"] for m in g["members"]}) for g in review]

        recipe = ["--net", "lenet", "--image-size", 16, "--batch-size", 4, "--epochs", 1, "--lr", 0.01, "--recipe", "none"]
        self.ok("train", self.cache, "--out", self.folder / "all", "--folds", 2, *recipe)
        self.ok("split", self.cache, "--folds", 2, "--name", "cv")
        self.assertEqual(told("folds2-1"), told("cv-1"))
        self.assertTrue(any(probability for _, _, probability, _ in told("folds2-2")))
        # For a selection, they are its groups.
        self.ok("dedup", self.cache, "--name", "thin")
        self.ok("train", self.cache, "--out", self.folder / "thin", "--folds", 2, "--selection", "thin", *recipe)
        self.assertEqual(told("thin-folds2-1"), told("thin"))
        # If their file is damaged, training uses the selection all the same, without its groups.
        groups = self.cache / "selections" / "thin.groups"
        groups.write_bytes(groups.read_bytes()[:-1])
        again = self.ok("train", self.cache, "--out", self.folder / "again", "--folds", 2, "--selection", "thin", *recipe)
        self.assertIn("the groups of selection 'thin' are not known", again.err)
        self.assertFalse((self.cache / "selections" / "thin-folds2-1.groups").exists())

    def test_what_is_kept_beside_a_selection_is_of_that_one(self):
        first = self.agree()
        groups = self.cache / "selections" / "default.groups"
        whole = groups.read_bytes()
        # Another takes its place, and the first is kept with its groups.
        self.assertNotEqual(self.agree("--verify", "--groups", "components"), first)
        self.assertEqual((self.cache / "selections" / "default.previous.groups").read_bytes(), whole)
        again, said = self.of_review("--name", "default.previous")
        self.assertEqual([self.facts(group) for group in again], [self.facts(group) for group in first])
        self.assertNotIn("derived from codes alone", said)
        # What ends between the two files leaves groups of no selection.
        self.agree()
        failed = run("dedup", self.cache, "--verify", "--keep", "largest", "--name", "default",
                     env={"WINNOW_FAILPOINTS": "eio=file.sync.before:default.selection:1"})
        self.assertEqual(failed.code, 1, failed.err)
        self.assertNotEqual(groups.read_bytes(), whole)
        by_codes, said = self.of_review()
        self.assertIn("the groups of selection 'default' are derived from codes alone, without the results of comparing pictures", said)
        self.assertFalse(any("probability" in group for group in by_codes))
        self.agree()
        # Without the file, and with a damaged one.
        groups.unlink()
        self.assertIn("its file of groups is missing; deduplicate again to see these results", self.of_review()[1])
        self.ok("verify", self.cache)
        groups.write_bytes(whole[:-1])
        self.assertIn("default.groups", self.of_review()[1])
        self.assertEqual(run("verify", self.cache).code, 1)
        # A selection that is made by codes needs none, and nothing is said of it.
        self.ok("dedup", self.cache, "--no-verify", "--threshold", 8)
        groups.unlink()
        self.assertNotIn("derived from codes alone", self.of_review()[1])


if __name__ == "__main__":
    unittest.main()
