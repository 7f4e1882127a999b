"""The texts that users and contributors read: comments of public headers, messages, help lines, paragraphs of pages.

Only sources are read; no program is needed. A text has one Item, wherever else it stands again.
"""

import ast
import hashlib
import importlib.util
import pathlib
import re
import typing

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRODUCT = ("app", "common", "datasets", "dedup", "pipeline", "python", "tools", "train")
GAP = "…"  # stands for what the program fills in
CHOICE = object()  # the ? of a condition between two texts

spec = importlib.util.spec_from_file_location("check_comments", ROOT / "cmake" / "check_comments.py")
check_comments = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_comments)


class Item(typing.NamedTuple):
    kind: str  # one of KINDS
    path: str  # of its file, from the root of the repository
    line: int  # where it begins
    about: str  # the flag of a help line, the name that a comment is behind, else empty
    text: str

    @property
    def key(self):
        """Eight hex digits of what is said. The same in another place, another one after any change of words."""
        words = " ".join(self.text.split())
        return hashlib.sha256(f"{self.kind}\n{self.about}\n{words}".encode()).hexdigest()[:8]


def words_of(text):
    return re.findall(r"[A-Za-z][\w'’-]*", text)


# --- Comments of public headers


def comments(path, source):
    """Comments of five words or more: those on lines of their own, and those behind a declaration, with the name that it declares."""
    lines = source.split("\n")
    for comment in check_comments.comments_of(source):
        text = "\n".join(line.rstrip() for line in comment.lines).strip("\n")
        behind = lines[comment.line - 1][: comment.column].split("//")[0]
        name = re.search(r"(\w+)\s*(?:\[\w*\])?\s*(?:=.*|\{.*|\(.*)?[;,]?\s*$", behind)
        if len(words_of(text)) >= 5 and (comment.is_alone or name) and not re.match(r"namespace |NOLINT|clang-format", text):
            yield Item("comment", path, comment.line, "" if comment.is_alone else name[1], text)


# --- Calls of C++ and what they say

# A comment, or a literal that may look like one.
COMMENT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|(?P<literal>R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])')""", re.DOTALL
)
TOKEN = re.compile(
    r"""(?P<raw>\bu?8?[LUu]?R"(?P<mark>[^()\\\s]{0,16})\((?P<inside>.*?)\)(?P=mark)")
      | "(?P<text>(?:\\.|[^"\\\n])*)"
      | (?P<call>[A-Za-z_]\w*)\s*(?:<[\w:,\s]*>)?\(
      | (?P<open>[(\[{]) | (?P<close>[)\]}]) | (?P<comma>,) | (?P<choice>\?) | (?P<joint>[+\s]+)
      | (?P<other>(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|\w+|.)""",
    re.VERBOSE | re.DOTALL,
)
ESCAPES = {"n": "\n", "t": "\t"}
FORMATS = ("format", "string", "string_view")
SPEAKS = re.compile(
    r"\b(?:\w*Error|fail\w*|refuse\w*|throw_\w+|say\w*|note_?|warn\w*|print\w*|aside|to_stderr|tell\w*"
    r"|truncated|corrupt|unsupported|too_large)\("
)
DECLARES = re.compile(r"\b(?:add_option|add_flag|on_option|on_flag|on_switch|add_verb|option|flag)\(")


class Call:
    """NAME(ARGUMENT, ...), or what another bracket holds, which has no name. An argument is a list of texts, calls, CHOICE and None."""

    def __init__(self, name):
        self.name, self.arguments = name, [[]]


def unescaped(text):
    return re.sub(r"\\(.)", lambda found: ESCAPES.get(found[1], found[1]), text)


def call_at(source, at):
    """The call that begins there."""
    stack, top = [Call("")], None
    for token in TOKEN.finditer(source, at):
        kind, into = token.lastgroup, stack[-1].arguments
        if token["raw"]:
            into[-1].append(token["inside"])
        elif token["text"] is not None:
            into[-1].append(unescaped(token["text"]))
        elif kind in ("call", "open"):
            call = Call(token["call"] or "")
            into[-1].append(call)
            stack.append(call)
            top = top or call
        elif kind == "close":
            stack.pop()
            if len(stack) == 1:
                break
        elif kind == "comma":
            into.append([])
        elif kind in ("other", "choice"):
            into[-1].append(CHOICE if kind == "choice" else None)
    return top


def calls_of(source, names):
    """(line, call) of each call of these names."""
    source = COMMENT.sub(lambda found: found["literal"] or "\n" * found[0].count("\n"), source)
    line, counted = 1, 0
    for found in names.finditer(source):
        line, counted = line + source.count("\n", counted, found.start()), found.start()
        yield line, call_at(source, found.start())


def said_in(argument):
    """The text that an argument is, with GAP for what is only known later. Empty: a choice of several."""
    text = ""
    if CHOICE in argument:
        return text
    for part in argument:
        if isinstance(part, str):
            text += part
            continue
        inner = said_in(part.arguments[0]) if isinstance(part, Call) and part.name in FORMATS else None
        if inner:
            text += inner
        elif not text.endswith(GAP):
            text += GAP
    return text


def with_gaps(text):
    """A format's places to fill in, as GAP."""
    text = re.sub(r"(?<!\{)\{[^{}]*\}", GAP, text).replace("{{", "{").replace("}}", "}")
    return re.sub(f"{GAP}{{2,}}", GAP, text)


def messages(path, source):
    """Messages of five words or more that are thrown or printed."""
    for line, call in calls_of(source, SPEAKS):
        texts = [with_gaps(said_in(argument)) for argument in call.arguments]
        texts = [text.strip() for text in texts if len(words_of(text)) >= 5]
        if texts:
            yield Item("message", path, line, "", texts[0])


def helps(path, source):
    """What the help says of a verb, a flag, a positional argument, in three words or more."""
    for line, call in calls_of(source, DECLARES):
        name = said_in(call.arguments[0]).strip()
        texts = [said_in(argument).strip() for argument in call.arguments[1:]]
        texts = [text for text in texts if len(words_of(text)) >= 3]
        if texts and re.fullmatch(r"[\w,!-]+", name):
            yield Item("help", path, line, name, texts[0])


# --- Python and pages


def raised(path, source):
    """Messages of five words or more of exceptions that Python raises."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call) or not node.exc.args:
            continue
        said = node.exc.args[0]
        parts = said.values if isinstance(said, ast.JoinedStr) else [said]
        text = "".join(part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else GAP for part in parts)
        if len(words_of(text)) >= 5:
            yield Item("message", path, node.lineno, "", text)


def paragraphs(path, page):
    """Paragraphs and list items of ten words or more, outside of code, tables, headings and comments."""
    blanked = lambda found: re.sub(r"[^\n]", "", found[0])  # noqa: E731
    page = re.sub(r"^ *(`{3,}).*?^ *\1 *$", blanked, page, flags=re.DOTALL | re.MULTILINE)
    page = re.sub(r"<!--.*?-->", blanked, page, flags=re.DOTALL)
    lines, begin = [], 0
    for number, line in enumerate([*page.split("\n"), ""], 1):
        is_item = re.match(r"\s*(?:[*-]|\d+\.)\s", line)
        if lines and (not line.strip() or is_item or line.startswith(("#", "|"))):
            text = " ".join(lines)
            if len(words_of(text)) >= 10 and not text.startswith("!["):
                yield Item("paragraph", path, begin, "", text)
            lines = []
        if line.strip() and not line.startswith(("#", "|")):
            begin = begin if lines else number
            lines.append(line.strip())


# --- All of them


def readers_of(path):
    """The functions that find the texts of a file, by its path from the root."""
    folder = path.split("/")[0]
    if path.endswith(".md"):
        return [paragraphs] if folder in ("docs", "README.md") and not path.startswith(("docs/results/", "docs/reference/commands/")) else []
    if folder not in PRODUCT:
        return []
    if path.endswith(".py"):
        return [raised]
    found = []
    if path.endswith(".h") and not path.endswith("_internal.h") and folder not in ("python", "tools"):
        found.append(comments)
    if path.endswith((".h", ".cpp", ".cu")):
        found.append(messages)
        if folder == "tools":
            found.append(helps)
    return found


def items(room=None, root=ROOT):
    """Every text of a room (a folder or a file, from the root), by its key; of all rooms without one."""
    found = {}
    for path in sorted([root / "README.md", *(file for folder in (*PRODUCT, "docs") for file in (root / folder).rglob("*"))]):
        name = path.relative_to(root).as_posix()
        if not path.is_file() or room and name != room and not name.startswith(room.rstrip("/") + "/"):
            continue
        for read in readers_of(name):
            for item in read(name, path.read_text(encoding="utf-8")):
                found.setdefault(item.key, item)
    return found
