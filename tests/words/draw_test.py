"""What draw finds in sources, that a seed draws the same, and how it counts verdicts."""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import texts  # noqa: E402

loader = importlib.machinery.SourceFileLoader("draw", str(HERE / "draw"))
draw = importlib.util.module_from_spec(importlib.util.spec_from_loader("draw", loader))
loader.exec_module(draw)

HEADER = """#pragma once
// Reads one image file as a data set.
//
// Errors  FormatError, naming the file.
struct Options {
  int threads = 0;  // cores to use, or all that are free
  int lanes;  // too short
};
"""
SOURCE = """#include "x.h"
// fail("a comment that is no message at all")
void f(const std::string& path) {
  throw UsageError(fmt::format("{} is no folder; name one "
                               "that is there, as {{photos}}", path));
  fail(path, "the file has " + std::to_string(n) + " bytes, and 8 are the least");
  say(many ? "one of two sentences that are said" : "another of two sentences that are said");
  note('"', R"(a raw text says a "thing" or two)");
  printf("too short");
  const char* other = "a text that nobody prints is no message";
}
"""
FLAGS = """void g(Verb verb) {
  verb.add_option("--threshold", o->threshold, "Most bits between "
                  "codes of duplicates").check(whole_in(0, 256));
  verb.add_flag("--json", o->json, "Short");
}
"""
PAGE = """# A heading of a page that is long enough to be taken for a paragraph

This paragraph has ten words or more, as it goes on
in a second line.

* This item of a list has ten words or more, too, says the page.

| a table | is not drawn, though it has quite a number of words in it | as here |

<!-- not run: a comment with more than ten words in it is not drawn either -->
```console
$ a command with more than ten words in it is not drawn at all, is it
```

Too short.
"""
PYTHON = 'def h(n):\n    raise UsageError(f"there are {n} images, and two are the least that "\n                     "can be compared")\n'


class Texts(unittest.TestCase):
    def said(self, read, source, path="x"):
        return [(item.line, item.about, item.text) for item in read(path, source)]

    def test_comments_are_whole_and_those_behind_a_declaration_have_its_name(self):
        self.assertEqual(self.said(texts.comments, HEADER), [
            (2, "", "Reads one image file as a data set.\n\nErrors  FormatError, naming the file."),
            (6, "threads", "cores to use, or all that are free"),
        ])  # fmt: skip

    def test_messages_are_what_is_thrown_or_printed(self):
        self.assertEqual(self.said(texts.messages, SOURCE), [
            (4, "", "… is no folder; name one that is there, as {photos}"),
            (6, "", "the file has … bytes, and 8 are the least"),
            (8, "", 'a raw text says a "thing" or two'),
        ])  # fmt: skip

    def test_help_lines_have_their_flag(self):
        self.assertEqual(self.said(texts.helps, FLAGS), [(2, "--threshold", "Most bits between codes of duplicates")])

    def test_messages_of_python_are_those_of_exceptions(self):
        self.assertEqual(self.said(texts.raised, PYTHON), [(2, "", "there are … images, and two are the least that can be compared")])

    def test_paragraphs_are_neither_code_nor_tables(self):
        self.assertEqual(self.said(texts.paragraphs, PAGE), [
            (3, "", "This paragraph has ten words or more, as it goes on in a second line."),
            (6, "", "* This item of a list has ten words or more, too, says the page."),
        ])  # fmt: skip

    def test_a_key_is_of_the_words(self):
        here = texts.Item("comment", "a.h", 1, "", "Some words\nin two lines.")
        self.assertEqual(here.key, here._replace(path="b.h", line=9, text="Some words in\n two lines.").key)
        for other in (here._replace(text="Some words in three lines."), here._replace(kind="message"), here._replace(about="x")):
            self.assertNotEqual(here.key, other.key)

    def test_rooms_are_folders_or_files_from_the_root(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {"train/plan/a.h": HEADER, "train/plan/a_internal.h": HEADER.replace("one", "1"), "train/planner.cpp": SOURCE,
                               "tools/cmd.cpp": FLAGS, "docs/a.md": PAGE, "docs/results/b.md": PAGE.replace("ten", "more"),
                               "python/winnow/p.py": PYTHON, "tests/c.h": HEADER, "README.md": ""}.items():  # fmt: skip
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)

            def paths(room=None):
                return sorted({item.path for item in texts.items(room, root).values()})

            self.assertEqual(paths(), ["docs/a.md", "python/winnow/p.py", "tools/cmd.cpp", "train/plan/a.h", "train/planner.cpp"])
            self.assertEqual(paths("train/plan"), ["train/plan/a.h"])
            self.assertEqual(paths("train/planner.cpp"), ["train/planner.cpp"])
            self.assertEqual(paths("nowhere"), [])


def some_items(count):
    made = [texts.Item(kind, f"{kind}.h", i, "", f"{kind} says the sentence with number {i}") for kind in draw.KINDS for i in range(count)]
    return {item.key: item for item in made}


class Draw(unittest.TestCase):
    def test_a_seed_draws_the_same_and_another_one_others(self):
        found = some_items(100)
        sheets = [draw.sheet(found, seed, None) for seed in ("7", "7", "8")]
        self.assertEqual(sheets[0], sheets[1])
        self.assertNotEqual(sheets[0], sheets[2])
        verdicts, mistakes = draw.verdicts_in(sheets[0])
        self.assertEqual(mistakes, [])
        self.assertEqual([verdict.number for verdict in verdicts], list(range(1, 151)))
        self.assertEqual(len({verdict.key for verdict in verdicts}), 150)
        for kind, (_, count) in draw.KINDS.items():
            self.assertEqual(sum(verdict.kind == kind for verdict in verdicts), count)

    def test_one_more_text_replaces_one_at_most(self):
        found = some_items(100)
        before = {item.key for item in draw.drawn(found, "help", 30, "7")}
        more = texts.Item("help", "new.h", 1, "", "a line of help that is new")
        after = {item.key for item in draw.drawn({**found, more.key: more}, "help", 30, "7")}
        self.assertLessEqual(len(before - after), 1)

    def test_where_there_are_fewer_all_are_drawn(self):
        self.assertEqual(len(draw.drawn(some_items(5), "comment", 60, "1")), 5)

    def test_verdicts_are_counted_and_texts_that_are_gone_are_listed(self):
        found = some_items(3)
        page = draw.sheet(found, "1", None).replace("understood:\n", "understood: yes\n", 1)
        page = page.replace("understood:\n", "understood: no, what is a sentence?\n", 1)
        comments = draw.drawn(found, "comment", 60, "1")
        lines, is_read = draw.report("a.md", page, {key: item for key, item in found.items() if item != comments[2]})
        self.assertTrue(is_read)
        self.assertEqual(lines[:2], ["a.md", "  Comments of public headers: 1 of 2 understood, 1 not judged"])
        self.assertIn("  Help lines: 0 of 0 understood, 3 not judged", lines)
        self.assertIn(f"  not understood: 2, comment.h:{comments[1].line}: what is a sentence?", lines)
        self.assertIn(f"  gone: 3, comment: {comments[2].text}", lines)
        self.assertEqual(lines[-1], "  11 of 12 texts are still there")

    def test_what_cannot_be_read_is_a_mistake(self):
        page = draw.sheet(some_items(1), "1", None)
        for wrong, sentence in ((page.replace("understood:\n", "understood: perhaps\n", 1), "is no verdict"),
                                (page.replace("understood:\n", "\n", 1), "text 1 has no line understood:"),
                                ("understood: yes\n", "is no sheet")):  # fmt: skip
            lines, is_read = draw.report("a.md", wrong, {})
            self.assertFalse(is_read)
            self.assertIn(sentence, "\n".join(lines))

    def test_the_program_draws_from_the_repository_and_checks_what_it_drew(self):
        def run(*words):
            return subprocess.run([sys.executable, "-B", HERE / "draw", *words], capture_output=True, text=True)

        drawn = run("7", "--room", "tools")
        self.assertEqual(drawn.returncode, 0, drawn.stderr)
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "tools.md"
            page.write_text(drawn.stdout)
            said = run("--check", page)
        self.assertEqual(said.returncode, 0, said.stdout)
        self.assertRegex(said.stdout, r"Help lines: 0 of 0 understood, 30 not judged\n  (\d+) of \1 texts are still there\n")
        self.assertEqual(run("7", "--room", "nowhere").returncode, 2)
        self.assertEqual(run().returncode, 2)


if __name__ == "__main__":
    unittest.main()
