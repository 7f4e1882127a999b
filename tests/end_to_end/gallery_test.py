"""The page of `dedup --report`: its contents, that it is valid whatever names are, and its use in a browser."""

import http.server
import json
import re
import threading
import unittest
import urllib.parse
import xml.etree.ElementTree as xml

from browser import Browser, needs_browser
from program import Case, eventually

SIDE = 32
HOSTILE = b"</script><script>alert(1)</script>]]>&\"' \xff\x1b[2J\xe2\x80\xae.ppm"
SPACE = "{http://www.w3.org/1999/xhtml}"
GROUPS = "return [...document.querySelectorAll('article h3')].map((h) => h.textContent)"


class Photos(Case):
    """A data set with groups of every kind, and its page."""

    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        self.source = self.folder / "photos"

    def put(self, name, seed, remark=""):
        """Writes a picture. Equal seeds give equal pixels; different remarks give different files."""
        if isinstance(name, str):
            name = name.encode()
        path = bytes(self.source) + b"/" + name
        (self.source / name.decode(errors="surrogateescape")).parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb") as file:
            file.write(b"P6\n#%s\n%d %d\n255\n" % (remark.encode(), SIDE, SIDE) + self.image(SIDE, seed=seed))

    def photos(self):
        """Five groups: a leak, a conflict, a hostile name, three images of the same file, three of different files."""
        for i in range(6):
            self.put(f"train/ant/{i}.ppm", i)
            self.put(f"train/bee/{i}.ppm", 100 + i)
        self.put("test/ant/leak.ppm", 0, "another file")
        self.put("train/bee/really an ant.ppm", 1, "another file")
        self.put(b"train/ant/" + HOSTILE, 2, "another file")
        self.put("train/ant/3 again.ppm", 3)
        self.put("train/ant/3 and again.ppm", 3)
        self.put("train/bee/5 b.ppm", 105, "b")
        self.put("train/bee/5 c.ppm", 105, "c")
        return self.source

    def cache(self):
        self.ok("ingest", self.photos(), "--out", self.folder / "cache")
        return self.folder / "cache"

    def report(self, *args):
        page = self.folder / "page.html"
        result = self.ok("dedup", *args, "--threshold", 2, "--report", page)
        self.assertIn(f"report: {page}", result.err)
        return page

    def groups(self, page):
        scripts = {s.get("id"): s.text for s in xml.fromstring(page.read_text()).iter(SPACE + "script")}
        return json.loads(scripts["groups"])


class Page(Photos):
    def test_is_sound_and_says_what_was_found(self):
        page = self.report(self.cache())
        text = page.read_text()
        root = xml.fromstring(text)
        for element in root.iter():
            self.assertNotIn(element.tag.removeprefix(SPACE), {"link", "iframe", "object", "base", "form", "a", "img"})
            for name, value in element.attrib.items():
                self.assertFalse(name.startswith("on"), name)
                self.assertNotIn(name, {"href", "src", "action"})
                self.assertNotIn("://", value)
        self.assertEqual(re.findall(r".{4}://.{8}", text), ["http://www.w3.o"])
        words = " ".join("".join(root.find(f"{SPACE}body").itertext()).split())
        self.assertIn("5 groups of duplicates; 7 of 19 images are removed. Leak: 1 image of test has a duplicate in train.", words)
        self.assertIn("Decided by: phash within 2 bits", words)
        groups = self.groups(page)
        self.assertEqual([g["reasons"] for g in groups], [["leak"], ["conflict"], [], [], []])
        self.assertEqual([g["size"] for g in groups], [2, 2, 2, 3, 3])
        leak = groups[0]["members"]
        self.assertEqual([(m["name"], m["fate"], m["split"], m["labels"]) for m in leak],
                         [("test/ant/leak.ppm", "kept", "test", ["ant"]), ("train/ant/0.ppm", "leak", "train", ["ant"])])
        names = {m["name"] for m in groups[2]["members"]}
        self.assertIn("train/ant/" + HOSTILE.replace(b"\xff", b"?").decode().replace("?", "\uefff"), names)
        for group in groups:
            for member in group["members"]:
                self.assertRegex(member["picture"], r"^data:image/jpeg;base64,/9j/[\w+/]+=*$")
                self.assertRegex(member["hash"], r"^[0-9a-f]{32}$")

    def test_is_the_same_of_a_data_set_in_place_but_for_when_it_was_made(self):
        of_cache = self.groups(self.report(self.cache()))
        self.assertEqual(self.groups(self.report(self.source)), of_cache)

    def test_without_images_says_so(self):
        self.ok("ingest", self.photos(), "--out", self.folder / "cache", "--store", "none")
        page = self.report(self.folder / "cache")
        self.assertIn("There are no pictures", page.read_text())
        self.assertEqual({m["picture"] for g in self.groups(page) for m in g["members"]}, {""})

    def test_is_written_where_leaks_are_refused(self):
        page = self.folder / "page.html"
        self.refused(3, ["leak"], "dedup", self.cache(), "--threshold", 2, "--on-leak", "fail", "--report", page)
        self.assertEqual(len(self.groups(page)), 5)

    def test_replaces_pages_only(self):
        cache = self.cache()
        page = self.report(cache)
        self.report(cache)
        page.write_text("id,name\n")
        self.refused(2, ["page.html already exists and is not an HTML page"], "dedup", cache, "--report", page)
        self.refused(2, ["no folder"], "dedup", cache, "--report", self.folder / "none" / "page.html")
        self.refused(2, ["is not an HTML page"], "dedup", cache, "--report", self.folder)
        self.assertEqual(page.read_text(), "id,name\n")
        both = self.folder / "both.html"
        for flag in ("--list", "--list-groups", "--list-pairs", "--list-blank"):
            self.refused(2, ["both", "both.html"], "dedup", cache, flag, both, "--report", f"{self.folder}/./both.html")
        self.assertFalse(both.exists())


@needs_browser
class InABrowser(Photos):
    def open(self):
        page = self.report(self.cache())
        browser = Browser(self.folder)
        self.addCleanup(browser.__exit__)
        self.address = page.as_uri()
        browser.open(self.address)
        browser.wait_for("return document.documentElement.dataset.ready")
        return browser

    def choose(self, browser, name, value):
        browser.run("""const field = document.querySelector(`[name=${arguments[0]}]`);
            if (field.type === "checkbox") field.checked = arguments[1]; else field.value = arguments[1];
            field.dispatchEvent(new Event("input", {bubbles: true})); field.dispatchEvent(new Event("change", {bubbles: true}));""",
                    name, value)  # fmt: skip
        browser.wait_for_timers()
        return browser.run(GROUPS)

    def test_sorts_and_filters(self):
        browser = self.open()
        self.assertEqual(browser.run(GROUPS), ["Group 0", "Group 1", "Group 2", "Group 3", "Group 4"])
        self.assertEqual(browser.run("return document.querySelectorAll('article img').length"), 12)
        browser.wait_for("return [...document.querySelectorAll('article img')].slice(0, 2).every((i) => i.naturalWidth === 32)")
        self.assertEqual(self.choose(browser, "sort", "size"), ["Group 3", "Group 4", "Group 0", "Group 1", "Group 2"])
        self.assertEqual(self.choose(browser, "sort", "folders"), ["Group 0", "Group 3", "Group 2", "Group 1", "Group 4"])
        self.assertEqual(self.choose(browser, "sort", "number"), ["Group 0", "Group 1", "Group 2", "Group 3", "Group 4"])
        self.assertEqual(self.choose(browser, "reason", "conflict"), ["Group 1"])
        self.assertEqual(self.choose(browser, "reason", ""), ["Group 0", "Group 1", "Group 2", "Group 3", "Group 4"])
        self.assertEqual(self.choose(browser, "split", "test"), ["Group 0"])
        self.choose(browser, "split", "")
        self.assertEqual(self.choose(browser, "class", "1"), ["Group 1", "Group 4"])
        self.choose(browser, "class", "")
        self.assertEqual(self.choose(browser, "folder", "0"), ["Group 0"])  # test/ant
        self.choose(browser, "folder", "")
        self.assertEqual(self.choose(browser, "text", "AGAIN"), ["Group 3"])
        self.assertEqual(self.choose(browser, "text", "\\xFF"), ["Group 2"])  # as displayed
        self.assertEqual(self.choose(browser, "text", "no such name"), [])
        self.assertEqual(browser.complaints(), [])

    def test_shows_names_as_text(self):
        browser = self.open()
        names = browser.run("return [...document.querySelectorAll('article .name')].map((name) => name.title)")
        self.assertIn("train/ant/</script><script>alert(1)</script>]]>&\"' \\xFF\\x1B[2J\\u202E.ppm", names)
        shown = browser.run("return document.getElementById('group-2').closest('article').textContent")
        self.assertIn("script>]]>&\"' \\xFF\\x1B[2J\\u202E.ppm", shown)
        self.assertEqual(browser.run("return document.querySelectorAll('#gallery script').length"), 0)

    def test_judges_by_keys_and_saves(self):
        browser = self.open()
        verdicts = "return [...document.querySelectorAll('article .verdict')].map((v) => v.textContent)"
        browser.press("nj1")
        browser.press("j2")
        browser.press("j3u0")
        browser.press("j1")  # equal files need no judgement
        self.assertIn("byte for byte", browser.run("return document.querySelector('.said').textContent"))
        browser.press("jlll2l2u")  # marks the second of three pictures for removal, then the first, which is taken back
        browser.press("kkkk3")
        self.assertEqual(browser.run(verdicts), ["duplicate, keep 0.ppm", "not a duplicate", "unsure", "", "5 c.ppm is no duplicate"])
        browser.press("uj")
        self.assertEqual(browser.run(verdicts)[0], "duplicate")
        # It is kept when the page is opened again.
        browser.open(self.address)
        browser.wait_for("return document.documentElement.dataset.ready")
        self.assertEqual(browser.run(verdicts), ["duplicate", "not a duplicate", "unsure", "", "5 c.ppm is no duplicate"])
        self.assertEqual(self.choose(browser, "todo", True), ["Group 3"])
        self.choose(browser, "todo", False)
        browser.click("button.save")
        file = self.folder / "review.jsonl"
        eventually(file.exists, file)
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        self.assertEqual(lines[0], {"schema": "winnow.review/1"})
        self.assertEqual([line["verdict"] for line in lines[1:]], ["duplicate", "different", "unsure", "different", "different"])
        self.assertTrue(file.read_text().endswith("\n"))
        groups = self.groups(self.folder / "page.html")
        for line, group in zip(lines[1:4], groups):
            self.assertEqual(line["images"], [m["hash"] for m in group["members"]])
            self.assertEqual(line["names"], [m["name"] for m in group["members"]])
        self.assertEqual([line["names"] for line in lines[4:]],
                         [[f"train/bee/5{c}.ppm" for c in (" c", other)] for other in (" b", "")])
        self.assertEqual(browser.complaints(), [])

    def test_goes_on_to_the_next_group_that_nothing_is_said_of(self):
        browser = self.open()
        now = "return document.querySelector('.current h3').textContent"
        verdicts = "return [...document.querySelectorAll('article .verdict')].map((v) => v.textContent)"
        browser.press("jj2")
        self.assertEqual(browser.run(now), "Group 2")
        browser.press("1")  # group 3 is a single file, which needs no judgement
        self.assertEqual(browser.run(now), "Group 4")
        browser.press("0")
        self.assertEqual(browser.run(now), "Group 0")
        browser.press("u")  # undoes the last judgement
        self.assertEqual(browser.run(now), "Group 4")
        self.assertEqual(browser.run(verdicts), ["", "not a duplicate", "duplicate", "", ""])
        browser.press("1n")
        self.assertIn("stays at its group", browser.run("return document.querySelector('.said').textContent"))
        browser.press("2")
        self.assertEqual(browser.run(now), "Group 0")
        self.assertEqual(browser.run(verdicts), ["not a duplicate", "not a duplicate", "duplicate", "", "duplicate"])
        # The browser remembers the setting, once its processes have told each other. A click also switches it.

        def remembers():
            browser.open(self.address)
            browser.wait_for("return document.documentElement.dataset.ready")
            return not browser.run("return document.querySelector('[name=goes_on]').checked")

        eventually(remembers, "the browser's memory")
        browser.click("[name=goes_on]")
        self.assertIn("goes on to the next group", browser.run("return document.querySelector('.said').textContent"))
        self.assertEqual(browser.complaints(), [])

    def test_uses_the_width_of_the_window(self):
        for group in range(6, 30):
            self.put(f"train/ant/{group}.ppm", group)
            self.put(f"train/ant/{group} b.ppm", group, "b")
        page = self.report(self.cache())
        for width, columns in ((600, 1), (1400, 2), (2400, 4)):
            with Browser(self.folder, width=width) as browser:
                browser.open(page.as_uri())
                browser.wait_for("return document.documentElement.dataset.ready")
                self.assertEqual(browser.run("return innerWidth"), width)
                left, right, lefts, wide = browser.run("""
                    const boxes = [...document.querySelectorAll('article')].map((a) => a.getBoundingClientRect());
                    return [Math.min(...boxes.map((b) => b.left)), Math.max(...boxes.map((b) => b.right)),
                            new Set(boxes.map((b) => Math.round(b.left))).size, document.documentElement.scrollWidth];""")
                self.assertEqual(lefts, columns)
                self.assertGreater(right - left, 0.92 * width)
                self.assertLessEqual(wide, width)  # there is no horizontal scrolling

    def test_judges_pictures_beside_groups(self):
        self.put("train/ant/0 dark.ppm", 300)
        dark = self.source / "train" / "ant" / "0 dark.ppm"
        self.write_ppm(dark, bytes(value // 20 for value in self.image(SIDE, seed=300)), SIDE)
        page = self.report(self.cache(), "--drop-issues", "dark,tiny")
        with Browser(self.folder) as browser:
            browser.open(page.as_uri())
            browser.wait_for("return document.documentElement.dataset.ready")
            self.assertEqual(browser.run(GROUPS), [f"Group {i}" for i in range(5)] + ["Picture 5"])
            count = "return document.querySelector('.count').textContent"
            self.assertEqual(browser.run(count), "5 groups and 1 picture")
            self.assertEqual(self.choose(browser, "reason", "dark"), ["Picture 5"])
            self.assertEqual(browser.run(count), "0 of 5 groups and 1 picture")
            browser.press("j2")  # a picture: drop
            self.choose(browser, "reason", "")
            browser.press("j2a")
            dialog = "return document.querySelector('dialog[open]').textContent"
            self.assertIn("pictures: Keep", browser.run(dialog))
            self.assertIn("all 5 groups and 1 picture that pass", browser.run(dialog))
            browser.press("a1")  # groups
            verdicts = "return [...document.querySelectorAll('article .verdict')].map((v) => v.textContent)"
            browser.wait_for("return document.querySelector('.said').textContent.includes(': duplicate')")
            self.assertEqual(browser.run(verdicts), ["not a duplicate"] + ["duplicate"] * 2 + ["", "duplicate", "drop"])
            self.assertEqual(browser.run("return document.querySelector('button.back').textContent"), "U Take back 3 groups")
            browser.click("button.save")
            self.assertIn("What was said of 4 groups and 1 picture is saved", browser.run("return document.querySelector('.said').textContent"))
            file = self.folder / "review.jsonl"
            eventually(file.exists, file)
            lines = [json.loads(line) for line in file.read_text().splitlines()]
            self.assertEqual([line for line in lines if "image_verdict" in line],
                             [{"image_verdict": "drop", "images": lines[1]["images"], "names": ["train/ant/0 dark.ppm"]}])
            self.assertEqual(browser.complaints(), [])
        self.assertEqual(self.ok("dedup", self.folder / "cache", "--review", file, "--json").json()["review"]["dropped"], 1)

    def test_judges_many_at_once(self):
        browser = self.open()
        verdicts = "return [...document.querySelectorAll('article .verdict')].map((v) => v.textContent)"
        said = "return document.querySelector('.said').textContent"
        browser.press("j2")
        # Everything that the filters show, except what was judged before, and equal files.
        browser.press("aa1")
        browser.wait_for(said + ".startsWith('3 groups: duplicate')")
        judged = ["not a duplicate", "duplicate", "duplicate", "", "duplicate"]
        self.assertEqual(browser.run(verdicts), judged)
        self.assertEqual(browser.run("return document.querySelector('button.back').textContent"), "U Take back 3 groups")
        # Stored one by one, and undone together, except what was judged since.
        browser.open(self.address)
        browser.wait_for("return document.documentElement.dataset.ready")
        self.assertEqual(browser.run(verdicts), judged)
        seen = "const at = document.querySelector('.said').getBoundingClientRect(); return at.top >= 0 && at.bottom <= innerHeight"
        browser.press("jjuU")
        self.assertGreater(browser.run("return scrollY"), 0)
        self.assertTrue(browser.run(seen))  # wherever the page is scrolled to
        self.assertIn("Nothing was judged of many", browser.run(said))
        self.assertEqual(browser.run(verdicts), ["not a duplicate", "", "duplicate", "", "duplicate"])
        self.choose(browser, "reason", "conflict")
        browser.press("a")
        self.assertIn("the one group that passes: reason conflict", browser.run("return document.querySelector('dialog[open]').textContent"))
        browser.press("a0")
        browser.wait_for(said + ".startsWith('1 group: unsure')")
        self.choose(browser, "reason", "")
        self.assertEqual(browser.run(verdicts), ["not a duplicate", "unsure", "duplicate", "", "duplicate"])
        browser.press("jj1U")
        browser.wait_for(said + ".startsWith('1 group: taken back')")
        self.assertEqual(browser.run(verdicts), ["not a duplicate", "duplicate", "duplicate", "", "duplicate"])
        self.assertTrue(browser.run("return document.querySelector('button.back').hidden"))
        self.assertEqual(browser.complaints(), [])

    def test_judges_those_on_the_screen(self):
        browser = self.open()
        verdicts = "return [...document.querySelectorAll('article .verdict')].map((v) => v.textContent)"
        browser.press("j")  # the first at the top
        browser.press("a")
        words = browser.run("return document.querySelector('dialog[open] label').textContent")
        count = int(words.split(" ")[0])
        self.assertIn(count, range(1, 4), words)
        self.assertIn("on the screen: 0", words)
        browser.press("2")
        browser.wait_for("return document.querySelector('.said').textContent.includes('not a duplicate')")
        self.assertEqual(browser.run(verdicts), ["not a duplicate"] * count + [""] * (5 - count))
        self.assertEqual(browser.run("return document.querySelector('.current h3').textContent"), f"Group {count}")
        browser.press("U")
        browser.wait_for("return document.querySelector('.said').textContent.includes('taken back')")
        self.assertEqual(browser.run(verdicts), [""] * 5)
        self.assertEqual(browser.complaints(), [])

    def test_compares_two_pictures(self):
        browser = self.open()
        showing = "return [...document.querySelectorAll('dialog.compare figure')].map((f) => !f.hidden)"
        browser.press("jjx")
        first = browser.wait_for("const shown = [...document.querySelectorAll('dialog.compare figure')].map((f) => !f.hidden); "
                                 "return shown[0] !== shown[1] && shown")  # fmt: skip
        other = [not one for one in first]
        browser.wait_for("const shown = [...document.querySelectorAll('dialog.compare figure')].map((f) => !f.hidden); "
                         "return shown[0] === arguments[0][0]", other)  # fmt: skip
        browser.press("d")
        browser.wait_for("return document.querySelector('[data-mode=difference]').ariaPressed === 'true'")
        self.assertEqual(browser.run(showing), [True, False])
        brightest = """const c = document.querySelector('dialog.compare canvas');
            const values = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
            return values.reduce((most, value, i) => (i % 4 === 3 ? most : Math.max(most, value)), 0);"""
        self.assertEqual(browser.run(brightest), 0)  # the same pixels
        browser.press("s")
        browser.wait_for("return document.querySelector('[data-mode=side]').ariaPressed === 'true'")
        self.assertEqual(browser.run(showing), [True, True])
        self.assertGreater(browser.run(brightest), 0)
        browser.press("\ue00c")  # escape
        self.assertFalse(browser.run("return document.querySelector('dialog.compare').open"))
        browser.press("?")
        self.assertTrue(browser.run("return document.querySelector('dialog.help').open"))
        self.assertEqual(browser.complaints(), [])

    def test_draws_from_a_server(self):
        """The same page with groups that it requests. The server here knows no orders or filters except `todo`."""
        page = self.report(self.cache())
        html = page.read_text().replace('"source":"static"', '"source":"server"')
        groups = self.groups(page)
        asked, said, judged, broken = [], [], {}, []

        class Answers(http.server.BaseHTTPRequestHandler):
            def answer(self, kind, text, status=200):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.end_headers()
                self.wfile.write(text.encode())

            def do_GET(self):
                path, _, query = self.path.removeprefix("/token/").partition("?")
                asked.append((path, dict(urllib.parse.parse_qsl(query))))
                if path == "":
                    return self.answer("text/html", html)
                if path != "groups":
                    return self.answer("text/plain", "")
                found = [g for g in groups if "todo" not in asked[-1][1] or str(g["number"]) not in judged]
                first, count = (int(asked[-1][1][name]) for name in ("first", "count"))
                return self.answer("application/json", json.dumps(
                    {"schema": "winnow.groups/1", "total": len(found), "first": first, "groups": found[first:first + min(count, 2)],
                     "judged": {number: lines[-1]["verdict"] for number, lines in judged.items()}, "said": judged}))  # fmt: skip

            def do_POST(self):
                said.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                if broken:
                    return self.answer("text/plain", broken[0], 500)
                for line in said[-1]:
                    number = next(g["number"] for g in groups if line["images"][0] in [m["hash"] for m in g["members"]])
                    others = [old for old in judged.pop(str(number), []) if old["images"] != line["images"]]
                    if lines := others + [line] * (line["verdict"] != "none"):
                        judged[str(number)] = [{"verdict": told["verdict"], "images": told["images"]} for told in lines]
                return self.answer("application/json", json.dumps({"saved": len(said[-1]), "left": 3}))

            def log_message(self, *ignored):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server, Browser(self.folder) as browser:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.addCleanup(server.shutdown)
            browser.open(f"http://127.0.0.1:{server.server_port}/token/")
            browser.wait_for("return document.querySelectorAll('article').length >= 4")  # two at a time
            self.assertEqual([query["first"] for path, query in asked if path == "groups"][:2], ["0", "2"])
            self.assertEqual(asked[1][1], {"first": "0", "count": "30", "sort": "reason", "least": "0", "most": "0"})
            browser.press("j1")
            browser.wait_for("return document.querySelector('.said').textContent.includes('3 groups are left')")
            images = [[m["hash"] for m in group["members"]] for group in groups]
            self.assertEqual([(line["verdict"], line["images"]) for line in said[-1]], [("duplicate", images[0])])
            browser.press("u")
            browser.wait_for("return document.querySelector('.said').textContent.includes('taken back')")
            self.assertEqual([(line["verdict"], line["images"]) for line in said[-1]], [("none", images[0])])
            # When opened again it knows the judgements, and undoes none that it did not make.
            browser.press("2")
            browser.wait_for("return document.querySelector('.verdict').textContent === 'not a duplicate'")
            browser.open(f"http://127.0.0.1:{server.server_port}/token/")
            browser.wait_for("return document.documentElement.dataset.ready")
            self.assertEqual(browser.run("return document.querySelector('.verdict').textContent"), "not a duplicate")
            browser.press("k3")  # earlier judgements are not sent again
            browser.wait_for("return document.querySelector('.verdict').textContent === 'not a duplicate, keep 0.ppm'")
            self.assertEqual([(line["verdict"], line["images"]) for line in said[-1]], [("keep", images[0][1:])])
            browser.press("uu")
            browser.wait_for("return document.querySelector('.verdict').textContent === ''")
            self.assertEqual([(line["verdict"], line["images"]) for line in said[-2]], [("none", images[0][1:])])
            self.assertEqual([(line["verdict"], line["images"]) for line in said[-1]], [("none", images[0])])
            # Judged groups leave the list of those not judged yet; no other group is skipped because of that.
            groups[:] = [{**groups[0], "number": i, "members": [{**m, "hash": f"{i:031x}{k}"} for k, m in enumerate(groups[0]["members"])]}
                         for i in range(40)]  # fmt: skip
            self.choose(browser, "todo", True)
            self.assertEqual(asked[-1][1]["todo"], "1")
            self.assertLess(browser.run("return document.querySelectorAll('article').length"), 30)
            browser.press("j1j1j1")
            browser.wait_for("return document.querySelectorAll('article.judged').length === 3")
            for _ in range(600):  # at the end of what is drawn, more is on its way
                browser.press("j")
                if browser.run("return document.querySelectorAll('article').length >= 40"):
                    break
            self.assertEqual(browser.run(GROUPS), [f"Group {i}" for i in range(40)])
            # A judgement that the server refuses is reported.
            broken.append("the disk is full")
            browser.press("1")
            browser.wait_for("return document.querySelector('.said').textContent.includes('not saved: the disk is full')")
            self.assertEqual(browser.run("return document.querySelector('.current .verdict').textContent"), "")


if __name__ == "__main__":
    unittest.main()
