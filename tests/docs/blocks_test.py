"""The output that blocks.py treats as equal, and how it reads a page."""

import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

import blocks


class Comparing(unittest.TestCase):
    def same(self, expected, got):
        self.assertTrue(blocks.matches(expected.splitlines(), got.splitlines()), f"{expected!r} and {got!r}")

    def other(self, expected, got):
        self.assertFalse(blocks.matches(expected.splitlines(), got.splitlines()), f"{expected!r} and {got!r}")

    def test_integers(self):
        self.same("960 images, 59 groups", "960 images,   59 groups")
        self.other("960 images", "961 images")
        self.other("1,960 images", "1,961 images")
        self.other("93 %", "94 %")
        self.other("img_0007.jpg", "img_0008.jpg")

    def test_words(self):
        self.other("960 images", "960 pictures")
        self.other("kept", "kept it")
        self.same("a.b (c) [d] *", "a.b (c) [d] *")
        self.other("a.b", "axb")

    def test_decimals(self):
        self.same("loss 0.693, top1 0.91", "loss 1.2e-05, top1 1")
        self.same("lr 1e-04", "lr 0.1")
        self.other("loss 0.693", "loss nan")
        self.other("loss 0.693", "loss")
        self.other("1 group", "1.5 group")

    def test_versions(self):
        self.other("winnow 0.1.0", "winnow 0.1.1")
        self.same("http://127.0.0.1:80/", "http://127.0.0.1:80/")
        self.other("http://127.0.0.1:80/", "http://127.0.0.2:80/")

    def test_units(self):
        self.same("in 2 s", "in 310 ms")
        self.same("1,240 images/s and 3 MB/s", "97 images/s and 1.1 GB/s")
        self.same("12 MiB, 3 min", "900 kB, 12 s")
        self.same("981 in 0.4 s, 2318 a second", "981 in 2 s, 497 a second")
        self.same("3118 inputs a second", "97 inputs a second")
        self.other("12 s", "12 MB")
        self.other("12 samples", "13 samples")
        self.other("12 MBytes", "13 MBytes")

    def test_any_lines(self):
        self.same("a\n...\nb", "a\nb")
        self.same("a\n...\nb", "a\nx\nb\ny\nb")
        self.same("...", "")
        self.other("a\n...\nb", "a\nx")
        self.other("a\nb", "a\nx\nb")
        self.other("a\nb", "a")

    def test_difference(self):
        diff = "\n".join(blocks.difference(["1 s", "2 groups"], ["3 s", "4 groups"]))
        self.assertIn("-2 groups\n+4 groups", diff)
        self.assertNotIn("3 s", diff)
        diff = "\n".join(blocks.difference(["a", "...", "2 groups", "b", "..."], ["a", "x", "y", "3 groups", "b", "z"]))
        self.assertIn("-2 groups", diff)
        self.assertIn("+3 groups", diff)
        self.assertNotIn("z", diff)


class Reading(unittest.TestCase):
    def page(self, text):
        return blocks.Page(textwrap.dedent(text))

    def faults(self, text):
        return [what for _, what in self.page(text).faults]

    def test_commands(self):
        page = self.page("""\
            <!-- setup: mkdir a -->
            ```console
            $ winnow a \\
              b
            one
            two

            $ false
            $ echo $?
            1
            ```
            """)
        self.assertEqual(page.faults, [])
        self.assertEqual([step.text for step in page.steps], ["mkdir a", "winnow a \\\n  b", "false", "echo $?"])
        self.assertEqual([step.expected for step in page.steps], [None, ["one", "two"], None, ["1"]])
        self.assertEqual([step.may_fail for step in page.steps], [False, False, True, False])
        self.assertEqual(page.steps[1].line, 3)

    def test_not_run(self):
        page = self.page("<!-- not run: needs a card -->\n```console\n$ winnow x\n```\n")
        self.assertEqual((page.steps, page.left, page.faults), ([], [(2, "needs a card")], []))
        self.assertIn("needs a reason", self.faults("<!-- not run -->\n```console\n$ x\n```\n")[0])
        self.assertIn("needs a reason", self.faults("<!-- not run: -->\n```console\n$ x\n```\n")[0])
        self.assertIn("directly above", self.faults("<!-- not run: why -->\ntext\n")[0])

    def test_files(self):
        page = self.page('1. so\n\n    ```toml title="a/b.toml"\n    x = 1\n    ```\n')
        self.assertEqual([(step.name, step.text) for step in page.steps], [("a/b.toml", "x = 1\n")])
        self.assertEqual(page.faults, [])
        self.assertIn("title", self.faults("```python\nx\n```\n")[0])
        self.assertIn("no name", self.faults('```python title="../x.py"\nx\n```\n')[0])
        self.assertEqual(self.faults("```toml\nx = 1\n```\n"), [])

    def test_kinds(self):
        self.assertIn("kind", self.faults("```sh\nx\n```\n")[0])
        self.assertIn("kind", self.faults("```\nx\n```\n")[0])
        self.assertIn("nothing ends", self.faults("```text\nx\n")[0])
        self.assertIn("begins with", self.faults("```console\nwinnow\n```\n")[0])

    def test_indented(self):
        self.assertEqual(len(self.faults("so\n\n    winnow x\n    winnow y\n\nand\n\n    winnow z\n")), 2)
        self.assertEqual(self.faults("* one\n    more of it\n\n    and more\n\n     and more\n* two\n"), [])
        self.assertEqual(len(self.faults("* one\n\n        winnow x\n")), 1)
        self.assertEqual(len(self.faults("* one\n\ntext\n\n    winnow x\n")), 1)
        self.assertEqual(self.faults("!!! note\n    text\n\n    text\n\ntext\n"), [])
        self.assertEqual(self.faults("1. one\n   - two\n     of it\n   - three\n\n2. four\n"), [])
        self.assertEqual(self.faults("a long line\n    goes on\n"), [])


class Running(unittest.TestCase):
    def run_on(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "page.md"
            path.write_text(textwrap.dedent(text))
            env = {**os.environ, "WINNOW": "/bin/echo"}
            done = subprocess.run([sys.executable, "-B", blocks.__file__, path], capture_output=True, text=True, env=env)
            return done.returncode, done.stdout

    def test_good(self):
        code, out = self.run_on("""\
            ```csv title="a.csv"
            x,y
            ```
            ```console
            $ cat a.csv
            x,y
            $ cd ..; X=3
            $ echo $X; basename "$PWD" | cut -c1-11
            3
            winnow-docs
            $ winnow 1.5 s; echo more >&2
            27 ms
            more
            $ (exit 3)
            $ echo $?
            3
            ```
            """)
        self.assertEqual(code, 0, out)
        self.assertIn("6 commands in 1 blocks", out)

    def test_bad(self):
        code, out = self.run_on("```console\n$ echo 1\n2\n$ false\n$ exit 1\n```\n")
        self.assertEqual(code, 1)
        for words in ("page.md:2: $ echo 1", "-2", "+1", "page.md:4: $ false", "exit code 1", "ended the shell"):
            self.assertIn(words, out)


if __name__ == "__main__":
    unittest.main(verbosity=2)
