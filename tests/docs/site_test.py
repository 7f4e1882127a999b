"""tools/site: the pages of docs/ and of every command make a site without dead links. Faults in pages are found."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WINNOW = os.environ["WINNOW"]
TOOL = ROOT / "tools" / "site"
CHECK = ROOT / "tools" / "site_parts" / "check.py"


def output_of(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=240)


def has_material():
    return shutil.which("mkdocs") and re.search(r"\bmaterial\b", output_of("mkdocs", "build", "--help").stdout)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="winnow-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)


@unittest.skipUnless(has_material(), "there is no MkDocs with the theme Material to build the site (Debian: mkdocs, mkdocs-material)")
class Site(Case):
    def test_build(self):
        site = self.folder / "site"
        done = output_of(TOOL, "--no-install", "--program", WINNOW, "--to", site)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"{site}/index.html", done.stdout)
        for page in (ROOT / "docs").rglob("*.md"):
            made = page.relative_to(ROOT / "docs").with_suffix(".html")
            made = made.with_name("index.html") if made.stem == "README" else made
            self.assertTrue((site / made).exists(), page)
        ingest = (site / "reference" / "commands" / "ingest.html").read_text()
        self.assertIn('id="--image-size"', ingest)
        self.assertIn("WINNOW_INGEST_IMAGE_SIZE", ingest)
        self.assertIn('<dt id="add--hash">', (site / "reference" / "commands" / "index.html").read_text())
        self.assertTrue((site / "schemas" / "dedup.schema.json").exists())
        self.assertIn("winnow ingest", (site / "search" / "from_file.js").read_text())
        for page in site.rglob("*.html"):  # no page contains the paths of this machine
            self.assertNotIn(str(ROOT), page.read_text(), page)

    def test_without_a_program(self):
        done = output_of(TOOL, "--no-install", "--program", self.folder / "none", "--to", self.folder / "site")
        self.assertEqual(done.returncode, 1)
        self.assertIn("build it with tools/quickstart", done.stderr)


class Check(Case):
    def findings(self, **pages):
        for name, text in pages.items():
            (self.folder / f"{name}.html").write_text(text)
        done = output_of(sys.executable, "-B", CHECK, self.folder)
        self.assertEqual(done.returncode, 1 if done.stdout else 0, done.stderr)
        return done.stdout.splitlines()

    def test_nothing_wrong(self):
        (self.folder / "a.css").write_text("p { background: url(data:image/png;base64,AA) }")
        self.assertEqual(self.findings(
            index='<p id="top">1 * 2<code>* x</code></p><a href="b.html#there">b</a><a href="https://x.org">x</a><a href=".">x</a>',
            b='<h2 id="there">x</h2><a href="index.html#top">x</a><a href="#there">x</a><link href="a.css">'), [])  # fmt: skip

    def test_each_fault(self):
        self.assertEqual(self.findings(a='<a href="gone.html">x</a>'), ["a.html: dead link gone.html"])
        self.assertEqual(self.findings(a='<img src="gone.svg">'), ["a.html: dead link gone.svg"])
        self.assertEqual(self.findings(a='<a href="../outside.html">x</a>'), ["a.html: dead link ../outside.html"])
        self.assertEqual(self.findings(a='<a href="#gone">x</a>'), ["a.html: dead anchor #gone"])
        self.assertEqual(self.findings(a='<a href="b.html#x">x</a>', b=""), ["a.html: dead anchor b.html#x"])
        for tag in ('script src="{}"', 'link href="{}"', 'img src="{}"'):
            for address in ("https://x.org/y", "//x.org/y"):
                self.assertEqual(self.findings(a=f"<{tag.format(address)}>"), [f"a.html: fetches {address}"])
        for left in ("text:\n* one\n* two", "text\n1. one", "| a | b |\n|---|---|", "[x](y.md)"):
            self.assertRegex(self.findings(a=f"<p>{left}</p>")[0], "^a.html: looks like Markdown")
        (self.folder / "a.css").write_text('@import "https://x.org/y.css";')
        self.assertEqual(self.findings(a=""), ["a.css: fetches https://x.org/y.css"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
