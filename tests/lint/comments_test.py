"""The linter of comments catches walls, openings, phrases and broken lines, and lets lists and code alone."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CMAKE = pathlib.Path(__file__).resolve().parents[2] / "cmake"
sys.path.insert(0, str(CMAKE))
import check_comments  # noqa: E402

SENTENCE = "// This sentence about a cache is as long as a line of a comment may be, and it says a single thing.\n"


class Comments(unittest.TestCase):
    def lint(self, text, name="dedup/lists/pairs.h"):
        """The kinds of findings in a file with this text."""
        return [finding.split(": ")[1] for finding in check_comments.findings_in(name, text)]

    def test_walls(self):
        self.assertEqual(self.lint(SENTENCE * 4), [])
        self.assertEqual(self.lint(SENTENCE * 5), ["wall"])
        self.assertEqual(self.lint("  " + (SENTENCE * 5).replace("\n//", "\n  //")), ["wall"])
        self.assertEqual(self.lint(SENTENCE * 3 + "//\n" + SENTENCE * 3), [])
        self.assertEqual(self.lint("".join(f"// - {SENTENCE[3:]}" for _ in range(8))), [])
        self.assertEqual(self.lint("".join(f"// Label{i}  {SENTENCE[3:]}" for i in range(8))), [])
        self.assertEqual(self.lint("// - an item.\n" + SENTENCE.replace("// ", "//   ") * 6), ["wall"])

    def test_openings(self):
        for opening in ("Of", "That", "Those", "What", "of"):
            with self.subTest(opening=opening):
                self.assertEqual(self.lint(f"// {opening} a component.\nint count;\n"), ["opening"])
                self.assertEqual(self.lint(f"int count;  // {opening} a component\n"), ["opening"])
        self.assertEqual(self.lint("// Whatever the order.\n// Often asked. Of the two, the first.\n"), [])

    def test_phrases(self):
        self.assertEqual(self.lint("// Hidden files are passed\n//\n"), [])
        self.assertEqual(self.lint("// Hidden files are passed\n// over.\n"), ["phrase", "broken"])
        self.assertEqual(self.lint("// Hidden files are skipped.\n"), [])

    def test_broken_lines(self):
        self.assertEqual(self.lint("// The first line of it\n// goes on here.\n"), ["broken"])
        self.assertEqual(self.lint("// The first line of it.\n// The second one.\n"), [])
        self.assertEqual(self.lint("// Three things:\n// - one\n// - two\n"), [])
        self.assertEqual(self.lint(SENTENCE.replace(".\n", "\n") + "// and more.\n"), [])

    def test_text_that_is_no_comment(self):
        self.assertEqual(self.lint('const char* kText = "// Of a component";\nauto raw = R"(\n// Of one\n)";\n'), [])

    def test_program(self):
        with tempfile.TemporaryDirectory(prefix="winnow-test-") as holder:
            for name in ("train/queue.h", "common/error.h"):
                path = pathlib.Path(holder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("// Of a queue.\n")
            command = [sys.executable, "-B", CMAKE / "check_comments.py", holder, "--folders", "common"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, 'common/error.h:1: opening: begins with "Of" in place of a subject\n')


if __name__ == "__main__":
    unittest.main()
