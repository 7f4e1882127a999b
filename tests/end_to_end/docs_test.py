"""Pages name only files, headings and options that exist. docs/trainer/ lists exactly what the program's tables have."""

import functools
import importlib.machinery
import importlib.util
import json
import re
import unittest
from xml.etree import ElementTree

from program import ROOT, Case

FOLDERS = ("app", "cmake", "common", "datasets", "dedup", "docs", "packaging", "pipeline", "python", "tests", "tools", "train")


class Docs(Case):
    def listed(self, title):
        pages = [page.read_text() for page in sorted((ROOT / "docs" / "trainer").glob("*.md"))]
        [page] = [page for page in pages if re.search(rf"^## {title}$", page, re.MULTILINE)]
        section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
        return re.findall(r"^\* `(\w+)`: \S", section[1], re.MULTILINE)

    def test_trainer(self):
        said = self.ok("train", "--help-all").out
        for title, table in (("Nets", "Nets"), ("Optimizers", "Optimizers"), ("All-reduce schedules", "Schedules"),
                             ("Backends", "Backends")):  # fmt: skip
            rows = re.search(rf"^{table}:\n((?:  \w.*\n)+)", said, re.MULTILINE)
            self.assertIsNotNone(rows, table)
            self.assertEqual(self.listed(title), re.findall(r"^  (\w+)", rows[1], re.MULTILINE), title)
        formats = (ROOT / "docs" / "formats" / "checkpoint.md").read_text()
        for name in self.listed("Optimizers") + self.listed("Learning-rate schedules"):
            self.assertRegex(formats, rf"(?m)^\|.*`{name}`.*\|", "docs/formats/checkpoint.md has no row of its options")
        train = next(verb for verb in self.ok("reference").json()["program"]["verbs"] if verb["name"] == "winnow train")
        rates = next(option for option in train["options"] if option["names"] == ["--sched"])
        self.assertEqual(self.listed("Learning-rate schedules"), rates["choices"])

    @functools.cached_property
    def files(self):
        """Every file of the repository's folders, and those next to them, by its path from the root."""
        found = [path for path in ROOT.iterdir() if path.is_file()]
        for folder in FOLDERS:
            found += [path for path in (ROOT / folder).rglob("*") if path.is_file()]
        return sorted(str(path.relative_to(ROOT)) for path in found if "__pycache__" not in path.parts)

    def pages(self):
        return {name: (ROOT / name).read_text() for name in self.files if name.endswith(".md") and not name.startswith("tests/words/verdicts/")}

    def headings(self, page):
        """Anchors as GitHub derives them."""
        lines = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
        return {re.sub(r"[^\w\- ]", "", line.lower()).strip().replace(" ", "-") for line in lines}

    def test_links(self):
        pages = self.pages()
        self.assertGreater(len(pages), 20)
        for name, text in pages.items():
            for target in re.findall(r"\]\(([^)\s]+)\)", text):
                if "://" in target:
                    continue
                path, _, anchor = target.partition("#")
                to = (ROOT / name).parent / path if path else ROOT / name
                if to.parent.resolve() == ROOT / "docs" / "reference" / "commands":  # made for the site; docs.site checks the anchors
                    self.assertIn(to.stem, [*self.verbs(), "winnow"], f"{name} links to {target}")
                    continue
                with self.subTest(page=name, link=target):
                    self.assertTrue(to.exists())
                    if anchor:
                        self.assertIn(anchor, self.headings(to.read_text()))

    def test_front_page(self):
        """README.md is short, and its figures for other tools are those of docs/comparison.md."""
        page = (ROOT / "README.md").read_text()
        self.assertLessEqual(len(page.splitlines()), 90)
        self.assertLessEqual(len(re.sub(r"<!--.*?-->", "", page, flags=re.DOTALL).split()), 600)
        measured = (ROOT / "docs" / "comparison.md").read_text()
        rows = [line.split("|")[1:-1] for line in page.splitlines() if line.startswith("|") and "**" in line]
        self.assertGreater(len(rows), 3)
        for row in rows:
            beside, figure = row[1].split(",")[0].strip(), re.search(r"\*\*[\d.]+\*\*", row[2])[0]
            with self.subTest(beside=beside):
                self.assertRegex(measured, rf"\| {beside}\b.*{re.escape(figure)}", "docs/comparison.md has no such row")

    def test_chart(self):
        """README's chart is what docs/pictures/chart draws from the stored rounds."""
        loader = importlib.machinery.SourceFileLoader("chart", str(ROOT / "docs" / "pictures" / "chart"))
        chart = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(chart)
        self.assertEqual((ROOT / "docs" / "pictures" / "copies.svg").read_text(), chart.chart())
        told = dict(chart.rows())
        self.assertEqual(set(told), set(chart.NAMES))
        self.assertTrue(all(rounds > 1 for *_, rounds in told.values()))

    def test_pictures(self):
        """Each picture of docs/pictures is on a page, with a sentence in its place for who does not see it; together they are small."""
        shown = {}
        for name, text in self.pages().items():
            for words, target in re.findall(r"!\[([^\]]*)\]\(([^)\s]+)\)", text):
                with self.subTest(page=name, shows=target):
                    self.assertTrue(words)
                shown[((ROOT / name).parent / target).resolve()] = words
        folder = ROOT / "docs" / "pictures"
        pictures = [path for path in folder.iterdir() if path.suffix in (".png", ".webp", ".svg")]
        self.assertGreater(len(pictures), 10)
        for path in pictures:
            with self.subTest(picture=path.name):
                self.assertGreater(len(shown.get(path, "").split()), 7, "no page shows it with a sentence")
        self.assertLess(sum(path.stat().st_size for path in pictures), 1.5e6)
        made = "".join(path.read_text() for path in [folder / "make", *folder.glob("make_*"), folder / "chart"])
        for path in pictures:
            self.assertIn(path.name, made, "no program here says how it is made")

    def drawing(self, name):
        return ElementTree.parse(ROOT / "docs" / "pictures" / name).getroot()

    def test_way(self):
        """The way from a folder to a run names verbs that there are."""
        verbs = [text.text for text in self.drawing("way.svg").findall(".//{*}text") if text.get("class") == "verb"]
        self.assertGreater(len(verbs), 4)
        for words in verbs:
            self.assertLessEqual(set(words.removeprefix("winnow ").split(", ")), set(self.verbs()))

    def test_recording(self):
        """The terminal shows README's commands, and prints what the tutorial's do, which docs.tutorial.md runs."""
        said = self.drawing("terminal.svg").find("{*}desc").text
        typed = re.findall(r"(?m)^\$ (.+)$", said)
        self.assertGreater(len(typed), 1)
        page = (ROOT / "README.md").read_text()
        for command in typed:
            self.assertIn(f"\n$ {command}\n", page)
        tutorial = (ROOT / "docs" / "tutorial.md").read_text()
        printed = re.search(r"(?m)^\$ winnow dedup cache --report .*\n((?:.+\n)+?)```", tutorial)[1].splitlines()
        self.assertGreater(len(printed), 8)
        without_breaks = "".join(said.split())  # the terminal breaks lines anywhere
        for line in printed:
            if not line.startswith("report: "):
                self.assertIn("".join(line.split()), without_breaks)

    def test_ten_lines_are_told_once(self):
        """Commands that one page runs in a block are not run again, line by line, on another page that introduces winnow."""
        blocks = {name: re.findall(r"(?ms)^```console\n(.*?)^```", (ROOT / name).read_text()) for name in ("README.md", "docs/index.md", "docs/tutorial.md")}
        self.assertEqual(blocks["docs/index.md"], [])
        self.assertEqual(set(blocks["README.md"]) & set(blocks["docs/tutorial.md"]), set())

    def test_counts_in_words(self):
        """A number in words before a table equals the number of its rows: `four ways to install winnow`."""
        numbers = {word: i for i, word in enumerate("zero one two three four five six seven eight".split())}
        page = (ROOT / "docs" / "install.md").read_text()
        said = re.search(r"There are (\w+) ways to install", page)
        rows = re.search(r"(?m)^\| way \|.*\n\|---.*\n((?:\|.*\n)+)", page)[1].splitlines()
        self.assertEqual(numbers[said[1]], len(rows))

    def test_hardware(self):
        """A card that kept results name has run, others have not; what no verb is said to call, none includes."""
        page = (ROOT / "docs" / "hardware.md").read_text()
        facts = [json.loads(path.read_text()).get("facts", {}) for path in (ROOT / "docs" / "results" / "raw").glob("*.json")]
        ran = {fact["card"].split()[1] for fact in facts if "card" in fact}
        cards = [(name, row) for row in page.splitlines() for name in re.findall(r"(\w+(?: \d+)?) \(sm_\d+\)", row) if row.startswith("| NVIDIA")]
        self.assertGreater(len(cards), 3)
        for name, row in cards:
            self.assertEqual("not yet run" in row, name.split()[-1] not in ran, row)
        sources = [file for file in self.files if re.match(r"(app|tools|train|pipeline|python)/.*\.(cpp|h)$", file)]
        callers = [file for file in sources if '"common/comm/nccl/' in (ROOT / file).read_text()]
        self.assertEqual("no verb calls it yet" in page, callers == ["app/doctor/facts.cpp"], callers)
        for isa in set(re.findall(r"`(avx512_core\w*)`", page)):  # as `winnow doctor` says it
            self.assertIn(f'"{isa}"', (ROOT / "train" / "backend" / "onednn" / "onednn.cpp").read_text())

    def test_named_files(self):
        """A source, page or path in backquotes exists. Names in capitals stand for any."""
        source = re.compile(r"[\w./{},-]+\.(h|cpp|cu|cmake|py|md)")
        place = re.compile(rf"({'|'.join(FOLDERS)})/[\w./{{}},-]+")
        checked = 0
        for name, text in self.pages().items():
            for word in re.findall(r"`([^`\s]+)", text):
                if not (source.fullmatch(word) or place.fullmatch(word)) or re.search(r"[A-Z]{3,}|_X\b", word):
                    continue
                braces = re.fullmatch(r"(.*)\{(.*)\}(.*)", word)
                for one in [braces[1] + x + braces[3] for x in braces[2].split(",")] if braces else [word]:
                    checked += 1
                    with self.subTest(page=name, names=one):
                        tail = "/" + one.rstrip("/")
                        self.assertTrue(any(f"/{file}".endswith(tail) or tail + "/" in f"/{file}" for file in self.files))
        self.assertGreater(checked, 200)

    @functools.lru_cache
    def help_of(self, *verb):
        return self.ok(*verb, "--help-all" if verb else "--help").out

    def verbs(self):
        return re.findall(r"^  ([a-z][a-z-]*)  ", self.help_of().partition("\nExit codes")[0], re.MULTILINE)

    def test_examples(self):
        """Every `winnow VERB ...` on a line of its own, in a page or a help text, has an existing verb and its options."""
        verbs = self.verbs()
        self.assertIn("export", verbs)
        texts = {**self.pages(), **{f"{verb} --help": self.help_of(verb) for verb in verbs}}
        checked = set()
        for name, text in texts.items():
            joined = text.replace("\\\n", " ")
            lines = re.findall(r"^(?: +| *\$ )(?:mpirun -np \d+ )?winnow \w.*", joined, re.MULTILINE)
            for command in re.findall(r"\bwinnow (\w[^&|>#\n]*)", "\n".join(lines)):
                verb, *words = command.split()
                part = words[:1] if "Subcommands:" in self.help_of(verb) else []
                own, _, passed_on = command.partition(" -- ")  # to `winnow train`
                flags = [(flag, verb, *part) for flag in re.findall(r"(?<= )--[a-z][a-z-]+", own)]
                flags += [(flag, "train") for flag in re.findall(r"(?<!\S)--[a-z][a-z-]+", passed_on)]
                for flag, *of in flags:
                    if flag == "--config":  # an option of every verb
                        continue
                    checked.add((*of, flag))
                    with self.subTest(where=name, command=command):
                        options = rf"^ *(-\w,)?(--[\w-]+,)?{flag}\b"
                        self.assertTrue(re.search(options, self.help_of(*of), re.MULTILINE), flag)
        self.assertGreater(len(checked), 60)

    def test_glossary(self):
        page = (ROOT / "docs" / "glossary.md").read_text()
        rows = [row for row in page.splitlines() if row.startswith("| ") and not row.startswith("| word")]
        self.assertGreater(len(rows), 40)
        for row in rows:  # our word, the field's, what it means here
            with self.subTest(row=row):
                cells = [cell.strip() for cell in row.split("|")[1:-1]]
                self.assertEqual(len(cells), 3)
                self.assertTrue(all(cells))
        helped = "".join(self.ok(verb, "--help-all").out for verb in ("dedup", "export", "ingest", "split", "train"))
        for flag in set(re.findall(r"--[a-z][a-z-]+", page)):
            self.assertTrue(re.search(rf"{flag}\b", helped), flag)
        for word in re.findall(r"`(?:winnow )?(ingest|dedup|split|compact|export)\b", page):
            self.ok(word, "--help")


if __name__ == "__main__":
    unittest.main(verbosity=2)
