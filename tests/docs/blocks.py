#!/usr/bin/env python3
"""Runs the examples of pages and compares what they print with what the page says.

    WINNOW=build/release/winnow tests/docs/blocks.py                     # README.md and all pages of docs/
    WINNOW=build/release/winnow tests/docs/blocks.py docs/tutorial.md
    tests/docs/blocks.py --list docs/tutorial.md                         # what would be run
    WINNOW=build/release/winnow tests/docs/blocks.py --show docs/x.md    # all that commands print, to paste

Blocks of code are fenced, and of one of these kinds:
    console     commands after `$ `, below each what it prints, stdout and stderr together. A command goes on in the
                next line after a trailing backslash. Without output below it, it must exit with 0 and may print
                anything. With another exit code, the next command is `$ echo $?`.
    toml, python, csv, yaml, cmake, cpp
                with title="NAME": a file that commands after it find. Python and C++ need a title.
    text        not run
and comments, each on a line of its own, say
    <!-- setup: COMMAND -->     a command that readers need not see
    <!-- not run: REASON -->    that the console block below is not run

Output is compared line by line. A line `...` stands for any number of lines; spaces for any number of spaces.
Integers must be equal; decimal fractions and numbers with a unit of time, rate or size match any number.

WINNOW_PACKAGE names the folder that has the Python package winnow; pages that import it are skipped without.

Each page has a fresh folder, one shell and a HOME. $DOCS is the folder docs, and so is /usr/share/doc/winnow/,
where packages put it. mpirun works as root, with more ranks than cores. Exit code 77: skipped.
"""

import argparse
import difflib
import functools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))
from local_mpi import local_mpi  # noqa: E402

DOCS = ROOT / "docs"
FILES = ("toml", "python", "csv", "yaml", "cmake", "cpp")
TITLED = ("python", "cpp")
LIMIT = float(os.environ.get("DOCS_COMMAND_SECONDS", 300))
SKIPPED = 77

# --- Contents of a page


class Command:
    """One command: `text` for bash, the lines it should print (None: not stated), and whether it may fail."""

    def __init__(self, line, text, hidden=False):
        self.line, self.text, self.hidden = line, text, hidden
        self.expected = None
        self.may_fail = False


class File:
    def __init__(self, line, name, text):
        self.line, self.name, self.text = line, name, text


class Page:
    """The steps of a page in order (`steps`), blocks that are not run (`left`: line, reason), and `faults` of the page itself."""

    def __init__(self, text):
        self.steps, self.left, self.faults = [], [], []
        self.blocks = 0
        self.lines = text.splitlines()
        self.read()

    def fault(self, at, what):
        self.faults.append((at + 1, what))

    def read(self):
        reason = None  # (index, reason) of a `not run` before the next block
        prose = Prose()
        i = 0
        while i < len(self.lines):
            line = self.lines[i]
            if fence := re.fullmatch(r"( *)(`{3,}|~{3,}) *(.*)", line):
                begin, i = i, self.end_of(i, fence[2])
                indent = len(fence[1])
                body = [row[indent:] if not row[:indent].strip() else row for row in self.lines[begin + 1 : i]]
                self.block(begin, fence[3].strip(), body, reason)
                reason = None
                prose.after_block()
            elif comment := re.fullmatch(r"\s*<!-- *(setup|not run) *(:?)(.*?)-->\s*", line):
                what = comment[3].strip()
                if not comment[2] or not what:
                    self.fault(i, f"`{comment[1]}` needs {'a command' if comment[1] == 'setup' else 'a reason'}")
                if comment[1] == "setup":
                    self.steps.append(Command(i + 1, what, hidden=True))
                else:
                    reason = (i, what)
            elif re.search(r"<!--\s*(setup|not run)\b", line):
                self.fault(i, "a `setup` or `not run` has a line to itself and ends on it")
            else:
                if reason and line.strip():
                    self.fault(reason[0], "`not run` stands directly above a console block")
                    reason = None
                if prose.is_code(line):
                    self.fault(i, "indented code; use a fenced block")
            i += 1
        if reason:
            self.fault(reason[0], "`not run` stands directly above a console block")

    def end_of(self, begin, fence):
        for i in range(begin + 1, len(self.lines)):
            if re.fullmatch(rf" *{fence[0]}{{{len(fence)},}} *", self.lines[i]):
                return i
        self.fault(begin, "a block that nothing ends")
        return len(self.lines)

    def block(self, begin, info, body, reason):
        kind, title = (re.match(r"\S*", info)[0], re.search(r'title="([^"]*)"', info))
        if kind == "console":
            commands = self.commands(begin, body)
            if reason:
                self.left.append((begin + 1, reason[1]))
            else:
                self.steps += commands
                self.blocks += 1
            return
        if reason:
            self.fault(reason[0], "`not run` stands directly above a console block")
        if kind in FILES:
            if title:
                path = pathlib.PurePosixPath(title[1])
                if path.is_absolute() or ".." in path.parts or not path.name:
                    self.fault(begin, f"title {title[1]!r} is no name of a file below the page's folder")
                else:
                    self.steps.append(File(begin + 1, title[1], "\n".join(body) + "\n"))
            elif kind in TITLED:
                self.fault(begin, f'a block of {kind} needs a title="NAME" to be tested')
        elif kind != "text":
            self.fault(begin, f"a block of kind {kind or 'none'!r}; there are console, text, {', '.join(FILES)}")

    def commands(self, begin, body):
        """The commands of a console block."""
        found, i = [], 0
        while i < len(body):
            row, at = body[i], begin + 1 + i
            if row.startswith("$ "):
                text = [row[2:]]
                while text[-1].endswith("\\") and i + 1 < len(body):
                    i += 1
                    text.append(body[i])
                    if not body[i].startswith("  "):
                        self.fault(begin + 1 + i, "a command's next line begins with two spaces")
                if found and row.split() == ["$", "echo", "$?"]:
                    found[-1].may_fail = True
                found.append(Command(at + 1, "\n".join(text)))
            elif found:
                found[-1].expected = (found[-1].expected or []) + [row]
            elif row.strip():
                self.fault(at, "a console block begins with `$ ` and a command")
            i += 1
        if not found:
            self.fault(begin, "a console block without a command")
        for command in found:
            if command.expected is not None:
                command.expected = stripped(command.expected) or None
        return found


class Prose:
    """Follows the lines outside blocks, to tell indented code from text that belongs to a list or a note."""

    def __init__(self):
        self.indents = []  # of the text of open lists and notes, the innermost last
        self.blank = True
        self.code = False

    def after_block(self):
        self.blank, self.code = True, False

    def is_code(self, line):
        if not line.strip():
            self.blank = True
            return False
        indent = len(line) - len(line.lstrip())
        if self.blank:
            while self.indents and indent < min(self.indents[-1], 4 * len(self.indents)):
                self.indents.pop()
        base = self.indents[-1] if self.indents else 0
        first = (self.blank or self.code) and indent >= base + 4
        opens = re.match(r"\s*(?:[*+-]|\d+[.)])\s+(?=\S)", line)
        if not first and opens:
            while self.indents and self.indents[-1] > indent and indent < 4 * len(self.indents):
                self.indents.pop()
            self.indents.append(len(opens[0]))
        elif not first and re.match(r"\s*(?:!!!|\?\?\?\+?|===) ", line):
            self.indents.append(indent + 4)
        reported = first and not self.code
        self.code, self.blank = first, False
        return reported


def stripped(lines):
    """Without empty lines at either end."""
    lines = [line.rstrip() for line in lines]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    return lines


# --- Comparing

NUMBER = r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?"
UNITS = {
    "size": r"(?:[kKMGTP]i?)?B",
    "rate": r"(?:(?:[kKMGTP]i?)?B|[A-Za-z]+)/(?:s|min|h)|(?:ns|us|µs|ms|s)/\w+|(?:[A-Za-z]+\s)?a\ssecond",
    "time": r"ns|us|µs|ms|s|min|h",
}
WILD = re.compile(
    r"(?<![\w.])(?:"
    + "|".join(rf"(?P<{name}>{NUMBER}\s?(?:{units})(?![\w/]))" for name, units in UNITS.items())
    + r"|(?P<decimal>[-+]?\d[\d,]*(?:\.\d+(?:e[-+]?\d+)?|e[-+]\d+)(?!\d|\.\d)))"
    + r"|(?P<space>\s+)"
)


@functools.lru_cache(maxsize=None)
def pattern(line):
    """A pattern that output must match where the page has `line`."""
    out, end = "", 0
    for found in WILD.finditer(line.strip()):
        out += re.escape(line.strip()[end : found.start()])
        kind = found.lastgroup
        out += r"\s+" if kind == "space" else NUMBER if kind == "decimal" else rf"{NUMBER}\s?(?:{UNITS[kind]})"
        end = found.end()
    return re.compile(out + re.escape(line.strip()[end:]))


def line_matches(expected, got):
    return bool(pattern(expected).fullmatch(got.strip()))


def matches(expected, got):
    """Whether the lines `got` match the page, where `...` stands for any number of lines."""
    reached = {0}  # possible numbers of lines of `got` that the lines so far have taken
    for line in expected:
        if line.strip() == "...":
            reached = set(range(min(reached), len(got) + 1)) if reached else set()
        else:
            reached = {n + 1 for n in reached if n < len(got) and line_matches(line, got[n])}
    return len(got) in reached


def aligned(expected, got):
    """`got` with matching lines as on the page, and `...` for those that it stands for."""
    shown, at = [], 0
    for i, line in enumerate(expected):
        if line.strip() == "...":
            after = next((row for row in expected[i + 1 :] if row.strip() != "..."), None)
            until = len(got) if after is None else next((k for k in range(at, len(got)) if line_matches(after, got[k])), at)
            shown.append(line)
            at = until
        elif (found := next((k for k in range(at, len(got)) if line_matches(line, got[k])), None)) is not None:
            shown += [*got[at:found], line]
            at = found + 1
    return shown + got[at:]


def difference(expected, got):
    """A diff from the page to what was printed."""
    diff = list(difflib.unified_diff(expected, aligned(expected, got), lineterm="", n=3))[2:]
    return diff[:80] + ([f"(and {len(diff) - 80} more lines)"] if len(diff) > 80 else [])


# --- Running


class Shell:
    """One bash in a fresh folder, which runs commands one after another."""

    def __init__(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="winnow-docs-"))
        self.folder, self.own = self.top / "page", self.top / "own"
        for path in (self.folder, self.own / "bin", self.own / "home"):
            path.mkdir(parents=True)
        self.link("winnow", os.path.abspath(os.environ["WINNOW"]))
        self.link("winnow-doctor", ROOT / "tools" / "winnow-doctor")
        self.link("python3", python())
        self.bash = subprocess.Popen(
            ["bash", "--norc", "--noprofile"], cwd=self.folder, env=self.environment(), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        os.set_blocking(self.bash.stdout.fileno(), False)

    def link(self, name, to):
        (self.own / "bin" / name).symlink_to(to)

    def environment(self):
        env = {name: value for name, value in os.environ.items() if not re.match(r"WINNOW|OMP_|OMPI_|PRTE_|PYTHON", name)}
        return env | {
            "PATH": f"{self.own / 'bin'}:{env['PATH']}", "HOME": str(self.own / "home"), "DOCS": str(DOCS), "LC_ALL": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
        } | local_mpi() | ({"PYTHONPATH": os.environ["WINNOW_PACKAGE"]} if "WINNOW_PACKAGE" in os.environ else {})  # fmt: skip

    def run(self, text):
        """Exit code and printed lines. The code is None if it took too long or the shell ended."""
        script, output = self.own / "command", self.own / "output"
        script.write_text(text.replace("/usr/share/doc/winnow/", f"{DOCS}/") + "\n")
        output.write_bytes(b"")
        self.bash.stdin.write(f"(exit ${{code:-0}}); . '{script}' > '{output}' 2>&1 < /dev/null; code=$?; echo $code\n".encode())
        self.bash.stdin.flush()
        end, said = time.monotonic() + LIMIT, b""
        while not said.endswith(b"\n"):
            time.sleep(0.01)
            said += self.bash.stdout.read() or b""
            if self.bash.poll() is not None or time.monotonic() > end:
                return None, self.printed(output)
        return int(said.split()[-1]), self.printed(output)

    def printed(self, output):
        return stripped(output.read_text(errors="backslashreplace").splitlines())

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        try:
            os.killpg(self.bash.pid, signal.SIGKILL)  # including background processes
        except ProcessLookupError:
            pass
        self.bash.wait()
        self.bash.stdin.close()
        self.bash.stdout.close()
        shutil.rmtree(self.top, ignore_errors=True)


PHOTOS_NEED = "import numpy, PIL"


@functools.lru_cache(maxsize=None)
def python():
    """The Python for pages: one that can make the example pictures, if there is any."""
    for candidate in ("/usr/bin/python3", sys.executable):  # Debian's first: pictures depend on Pillow
        if os.path.exists(candidate) and not subprocess.run([candidate, "-c", PHOTOS_NEED], capture_output=True).returncode:
            return candidate
    return sys.executable


def missing_for(page):
    """A sentence on what this machine lacks to run a page; empty if nothing."""
    texts = [step.text for step in page.steps if isinstance(step, Command)]
    if any("example_photos.py" in text for text in texts):
        if subprocess.run([python(), "-c", PHOTOS_NEED], capture_output=True).returncode:
            return "the example pictures need Debian's python3-pil and python3-numpy"
        if not pathlib.Path("/usr/share/datasets/fashion-mnist").exists():
            return "the example pictures need Debian's dataset-fashion-mnist"
    if any(re.search(r"\bmpirun\b", text) for text in texts) and not shutil.which("mpirun"):
        return "there is no mpirun (Debian: openmpi-bin)"
    if any(re.search(r"^import winnow$", step.text, re.MULTILINE) for step in page.steps if isinstance(step, File)):
        path = {"PYTHONPATH": os.environ.get("WINNOW_PACKAGE", "")}
        if subprocess.run([python(), "-c", "import winnow; winnow.Cache"], env=os.environ | path, capture_output=True).returncode:
            return "there is no Python package winnow for this Python; build it by -DWINNOW_PYTHON=ON and name its folder in WINNOW_PACKAGE"
    return ""


def indented(lines):
    return "".join(f"    {line}\n" for line in lines)


def check(shell, command, show):
    """Runs a command. Returns the fault as text, and whether the page can continue."""
    begin = time.monotonic()
    code, got = shell.run(command.text)
    if show:
        print(f"\n# line {command.line}, {time.monotonic() - begin:.1f} s, exit code {code}\n$ {command.text}", *got, sep="\n", flush=True)
    if code is None:
        return f"  ended the shell, or took more than {LIMIT:.0f} s. It printed:\n{indented(got[-40:])}", False
    if code and not command.may_fail:
        return f"  exit code {code}; a page says so by `$ echo $?` after it. It printed:\n{indented(got[-40:])}", True
    if command.expected is not None and not matches(command.expected, got):
        return f"  prints something else (-: the page, +: the program):\n{indented(difference(command.expected, got))}", True
    return "", True


def run_page(name, page, show):
    """Runs a page. Returns the number of faults."""
    wrong, begin = 0, time.monotonic()
    with Shell() as shell:
        for step in page.steps:
            if isinstance(step, File):
                path = shell.folder / step.name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(step.text)
                continue
            what, go_on = check(shell, step, show)
            if what:
                wrong += 1
                print(f"{name}:{step.line}: $ {step.text}\n{what}", flush=True)
            if not go_on:
                print(f"{name}: what comes after line {step.line} was not run")
                break
    commands = sum(isinstance(step, Command) and not step.hidden for step in page.steps)
    print(f"{name}: {commands} commands in {page.blocks} blocks run, {time.monotonic() - begin:.1f} s", end="")
    print(f"; {wrong} not as the page says" if wrong else "", flush=True)
    return wrong


def listing(name, page):
    for step in page.steps:
        if isinstance(step, File):
            print(f"{name}:{step.line}: writes {step.name}")
        else:
            print(f"{name}:{step.line}: {'(hidden) ' if step.hidden else ''}$ {step.text}")


def all_pages():
    return [ROOT / "README.md", *sorted(path for path in DOCS.rglob("*.md") if path.relative_to(DOCS).parts[:2] != ("reference", "commands"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    parser.add_argument("--list", action="store_true", help="say what would be run")
    parser.add_argument("--show", action="store_true", help="show all that commands print")
    arguments = parser.parse_args()
    if not arguments.list and not os.environ.get("WINNOW"):
        parser.error("WINNOW names the program: WINNOW=build/release/winnow")
    wrong, skipped = 0, 0
    for path in [path.resolve() for path in arguments.pages] or all_pages():
        name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        page = Page(path.read_text())
        for line, what in page.faults:
            print(f"{name}:{line}: {what}")
        wrong += len(page.faults)
        for line, reason in page.left:
            print(f"{name}:{line}: not run: {reason}")
        if arguments.list:
            listing(name, page)
        elif lacks := missing_for(page):
            print(f"{name}: skipped: {lacks}")
            skipped += 1
        elif any(isinstance(step, Command) for step in page.steps):
            wrong += run_page(name, page, arguments.show)
        else:
            print(f"{name}: nothing to run")
    return 1 if wrong else SKIPPED if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
