#!/usr/bin/env python3
"""Holds the size of functions, classes and argument structs, and finds code that stands twice.

    cmake/check_shape.py ROOT [--folders FOLDER,...] [--information]

Of the C++ and CUDA sources under the folders, which are all of the program unless said otherwise:
    function    at most 60 lines, from its first line to its closing brace
    parameters  at most 6 of a function
    class       at most 250 lines, its members defined elsewhere in the same folder included
    struct      of options or arguments: at most 8 fields. These are structs whose names end in Options, Arguments,
                Args, Params or Settings, and those that the kernels of a backend are given (train/backend/**/kernel*.h)
    duplicate   no run of 10 equal lines in two sources; comments, includes, blank lines and lone braces do not count
    options     the options of a training as a whole are seen where a run begins: `const TrainOptions&` in at most 15 places
    stderr      what is said goes by common/to_stderr.h, which never throws and never ends the process; nothing else names
                stderr, std::cerr, std::clog or perror, or writes to STDERR_FILENO
Prints one line a finding. Exit code 1 if there is any, but for --information.
"""

import argparse
import bisect
import collections
import dataclasses
import pathlib
import re
import sys

FUNCTION_LINES = 60
PARAMETERS = 6
CLASS_LINES = 250
STRUCT_FIELDS = 8
EQUAL_LINES = 10
WHOLE_OPTIONS = re.compile(r"\bconst\s+(?:train::)?TrainOptions\s*&")
WHOLE_OPTIONS_PLACES = 15
STDERR = re.compile(r"\b(stderr|cerr|clog|perror)\b|\bd?write\(\s*STDERR_FILENO|\bdprintf\(\s*STDERR_FILENO")
SAYS = {"common/to_stderr.cpp"}
FOLDERS = "common,datasets,dedup,pipeline,train,app,tools,python"
SUFFIXES = {".h", ".hpp", ".cpp", ".cc", ".cu", ".cuh"}

TOKEN = re.compile(
    r"""//(?:\\\n|[^\n])*            # comments
      | /\*.*?\*/
      | (?P<raw>\bu?8?[LUu]?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")
      | (?P<text>"(?:\\.|[^"\\\n])*")
      | (?P<char>(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+')
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclasses.dataclass
class Block:
    """A function or a class: name, offset of its first character, of its opening and its closing brace."""

    kind: str
    name: str
    begin: int
    opens: int
    closes: int


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def without_comments(source):
    return TOKEN.sub(lambda m: blank(m[0]) if m[0].startswith(("//", "/*")) else m[0], source)


def code_only(source):
    """`source` with comments, preprocessor lines, and the inside of strings and characters as blanks."""
    plain = TOKEN.sub(lambda m: blank(m[0]) if m[0].startswith(("//", "/*")) else '"' + blank(m[0][1:-1]) + '"', source)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: blank(m[0]), plain, flags=re.MULTILINE)


def match(code, at):
    """Offset of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] in "({[") - (code[i] in ")}]")
        if depth == 0:
            return i
    raise ValueError(f"no bracket closes that of offset {at}")


def without_templates(head):
    """A declaration without its leading template<...> and attributes."""
    head = re.sub(r"\[\[.*?\]\]|\balignas\s*\([^()]*\)", " ", head.strip(), flags=re.DOTALL).strip()
    while m := re.match(r"template\s*<", head):
        depth, i = 1, m.end()
        while depth and i < len(head):
            depth += (head[i] == "<") - (head[i] == ">" and head[i - 1] not in "-=")
            i += 1
        head = head[i:].strip()
        head = re.sub(r"^requires\b.*?(?=\b(?:struct|class|union)\b)", "", head, flags=re.DOTALL)
    return head


def top_level(head):
    """A declaration with everything inside brackets left out: `f(int a) : b_{a}` is `f() : b_{}`."""
    out, depth = [], 0
    for c in head:
        if c in ")}]":
            depth -= 1
        if depth == 0:
            out.append(c)
        if c in "({[":
            depth += 1
    return "".join(out)


def kind_of(head):
    """What a brace after `head` opens: scope, class, enum, function or value."""
    head = without_templates(head)
    if re.match(r"(inline\s+)?namespace\b", head) or re.fullmatch(r'extern\s*"\s*"', head):
        return "scope"
    if re.match(r"(typedef\s+)?enum\b", head):
        return "enum"
    top = top_level(head)
    if re.match(r"(typedef\s+)?(class|struct|union)\b", head) and "(" not in top and "=" not in top:
        return "class"
    bare = re.sub(r"operator\s*(\(\)|[^\s(\w]+)", "operator", top)
    if "=" in bare:
        return "function" if re.search(r"\]\s*(\(\))?[^=]*$", top) and "[" in top else "value"
    return "function" if "(" in bare or re.search(r"\boperator\b", head) else "value"


def name_of(head, kind):
    head = without_templates(head)
    if kind == "class":
        words = re.sub(r"(?<!:):(?!:).*", "", head, flags=re.DOTALL)
        words = re.sub(r"\bfinal\b|<.*", "", words, flags=re.DOTALL).split()
        return words[-1] if len(words) > 1 else "(unnamed)"
    m = re.search(r"([\w:~]+|operator\s*[^\s\w]+)\s*(<[^()]*>)?\s*\(", head) or re.search(r"(\w+)\s*=", head)
    return m[1] if m else head.split()[-1] if head.split() else "(unnamed)"


def is_member_initializer(code, head, closes):
    """Whether the brace after `head` is that of a member in a constructor's list: `: a_{1}, b_{2} {`."""
    top = top_level(head)
    after = code[closes + 1 :].lstrip()[:1]
    return bool(re.search(r"\)[^?]*(?<!:):(?!:)", top)) and after in (",", "{") and bool(re.search(r"[\w>]\s*$", top))


def blocks_of(code, begin=0, end=None):
    """All functions and classes between two offsets, nested classes too."""
    end = len(code) if end is None else end
    found, start, i = [], begin, begin
    while i < end:
        c = code[i]
        if c in "([":
            i = match(code, i)
        elif c == ";" or (c == ":" and re.search(r"\b(public|private|protected)\s*$", code[start:i])):
            start = i + 1
        elif c == "}":
            start = i + 1
        elif c == "{":
            head, closes = code[start:i], match(code, i)
            kind = kind_of(head)
            if kind == "function" and is_member_initializer(code, head, closes):
                i = closes + 1
                continue
            first = start + len(head) - len(head.lstrip())
            if kind in ("scope", "class"):
                found += blocks_of(code, i + 1, closes)
            if kind in ("class", "function"):
                found.append(Block(kind, name_of(head, kind), first, i, closes))
            if kind == "value":
                found += lambdas_of(code, i, closes)
            i = closes
            if kind != "value":
                start = closes + 1
        i += 1
    return found


def lambdas_of(code, begin, end):
    """Lambdas in a table of values."""
    found = []
    for m in re.finditer(r"\]\s*(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?\s*(?:mutable|noexcept|->[^{};]*)?\s*\{", code[begin:end]):
        opens = begin + m.end() - 1
        found.append(Block("function", "(lambda)", begin + m.start(), opens, match(code, opens)))
    return found


def fields_of(body):
    """How many data members the text between a struct's braces declares; None if one is a pointer to a function."""
    # Bodies of functions and nested types vanish; values in braces stay part of their declaration.
    out, start, i = [], 0, 0
    while i < len(body):
        if body[i] == "{":
            closes = match(body, i)
            if kind_of(body[start:i]) in ("class", "enum", "function"):
                out, start = out + [""], closes + 1
            i = closes
        elif body[i] == "(":
            i = match(body, i)
        elif body[i] == ";":
            out, start = out + [body[start:i]], i + 1
        i += 1
    count = 0
    for statement in out:
        statement = re.sub(r"\b(public|private|protected)\s*:", " ", statement).strip()
        if not statement or re.match(r"(static|using|typedef|friend|template|enum|struct \w+$|class \w+$)\b", statement):
            continue
        flat = statement
        while (smaller := re.sub(r"<[^<>]*>", "", flat)) != flat:
            flat = smaller
        if re.search(r"\(\s*\*", flat):
            return None
        flat = top_level(flat)
        if "(" in flat.split("=")[0]:
            continue  # a function's declaration
        count += 1 + flat.count(",")
    return count


class Source:
    def __init__(self, root, path):
        self.path = path.relative_to(root)
        self.text = path.read_text(encoding="utf-8")
        self.code = code_only(self.text)
        self.ends = [m.start() for m in re.finditer("\n", self.code)]
        try:
            self.blocks = blocks_of(self.code)
        except ValueError as error:
            raise SystemExit(f"{self.path}: cannot be read: {error}")

    def line(self, offset):
        return bisect.bisect_left(self.ends, offset) + 1

    def lines(self, block):
        return self.line(block.closes) - self.line(block.begin) + 1

    def at(self, block):
        return f"{self.path}:{self.line(block.begin)}"


def long_functions(sources):
    for source in sources:
        for block in source.blocks:
            if block.kind == "function" and source.lines(block) > FUNCTION_LINES:
                yield f"{source.at(block)}: function {block.name} has {source.lines(block)} lines, {FUNCTION_LINES} are allowed"


def parameters_of(head):
    """How many parameters a function's head declares; 0 where it has no list of them."""
    head = without_templates(head)
    found = re.search(r"(=|^)\s*(\[[^\]]*)?\]\s*\(", head) or re.search(r"([\w:~]*operator\s*(\(\s*\)|[^\s\w(]+)|[\w:~]+)\s*(<[^()]*>)?\s*\(", head)
    if not found:
        return 0
    inside = head[found.end() : match(head, found.end() - 1)]
    while (smaller := re.sub(r"<[^<>()]*>", "", inside)) != inside:
        inside = smaller
    return top_level(inside).count(",") + 1 if inside.strip() else 0


def many_parameters(sources):
    for source in sources:
        for block in source.blocks:
            count = parameters_of(source.code[block.begin : block.opens]) if block.kind == "function" else 0
            if count > PARAMETERS:
                yield f"{source.at(block)}: function {block.name} has {count} parameters, {PARAMETERS} are allowed"


def long_classes(sources):
    outside = collections.Counter()  # (folder, class): lines of members that are defined outside of it
    for source in sources:
        for block in source.blocks:
            if block.kind == "function" and "::" in block.name:
                outside[source.path.parent, block.name.rsplit("::", 2)[-2]] += source.lines(block)
    for source in sources:
        for block in source.blocks:
            lines = source.lines(block) + outside[source.path.parent, block.name]
            if block.kind == "class" and lines > CLASS_LINES:
                yield f"{source.at(block)}: class {block.name} has {lines} lines, {CLASS_LINES} are allowed"


def wide_structs(sources):
    for source in sources:
        for_kernels = source.path.parts[:2] == ("train", "backend") and source.path.name.startswith("kernel") and source.path.suffix == ".h"
        for block in source.blocks:
            if block.kind != "class" or not (for_kernels or block.name.endswith(("Options", "Arguments", "Args", "Params", "Settings"))):
                continue
            count = fields_of(source.code[block.opens + 1 : block.closes])
            if count is not None and count > STRUCT_FIELDS:
                yield f"{source.at(block)}: struct {block.name} has {count} fields, {STRUCT_FIELDS} are allowed"


def significant_lines(source):
    """[(number, text)] of the lines that count when sources are compared."""
    kept = []
    for number, line in enumerate(without_comments(source.text).splitlines(), 1):
        text = " ".join(line.split())
        if text and not re.fullmatch(r"[{}()\[\];,]+|#\s*(include|pragma|endif)\b.*", text):
            kept.append((number, text))
    return kept


def equal_runs(sources):
    """Longest runs of equal lines between each two sources."""
    lines = [significant_lines(source) for source in sources]
    windows = collections.defaultdict(list)
    for s, rows in enumerate(lines):
        for i in range(len(rows) - EQUAL_LINES + 1):
            windows[tuple(text for _, text in rows[i : i + EQUAL_LINES])].append((s, i))
    starts = {(a, b) for places in windows.values() for a in places for b in places if a[0] < b[0]}
    for (s, i), (t, k) in sorted(starts):
        if ((s, i - 1), (t, k - 1)) in starts:
            continue
        length = EQUAL_LINES
        while ((s, i + length - EQUAL_LINES + 1), (t, k + length - EQUAL_LINES + 1)) in starts:
            length += 1
        yield f"{sources[s].path}:{lines[s][i][0]}: duplicate, {length} lines equal those from {sources[t].path}:{lines[t][k][0]}"


def whole_options(sources):
    places = [f"{source.path}:{source.line(found.start())}" for source in sources for found in WHOLE_OPTIONS.finditer(source.code)]
    if len(places) > WHOLE_OPTIONS_PLACES:
        yield f"{places[-1]}: const TrainOptions& in {len(places)} places, {WHOLE_OPTIONS_PLACES} are allowed: {', '.join(places)}"


def words_to_stderr(sources):
    for source in sources:
        for found in STDERR.finditer(source.code) if str(source.path) not in SAYS else ():
            yield f"{source.path}:{source.line(found.start())}: {found[0]}: what is said goes by say_line() of common/to_stderr.h"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--folders", default=FOLDERS)
    parser.add_argument("--information", action="store_true", help="exit code 0 whatever is found")
    arguments = parser.parse_args()
    paths = sorted(path for folder in arguments.folders.split(",") for path in (arguments.root / folder).rglob("*")
                   if path.suffix in SUFFIXES)  # fmt: skip
    if not paths:
        raise SystemExit(f"no sources under {arguments.root}")
    sources = [Source(arguments.root, path) for path in paths]
    findings = [finding for check in (long_functions, many_parameters, long_classes, wide_structs, equal_runs, whole_options, words_to_stderr) for finding in check(sources)]
    print("\n".join(findings) or f"{len(sources)} sources, nothing found")
    return 1 if findings and not arguments.information else 0


if __name__ == "__main__":
    sys.exit(main())
