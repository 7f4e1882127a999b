#!/usr/bin/env python3
"""Holds the comments of C++ and CUDA sources to the rules of docs/contributing.md.

    cmake/check_comments.py ROOT [--folders FOLDER,...]

    wall     no paragraph or list item of a comment is longer than 400 characters
    opening  no comment begins with "Of", "That", "Those" or "What" in place of a subject
    phrase   no word of PHRASES, which have a word of the field instead, but in the files that it allows
    broken   no line within a sentence ends where the next word would have fitted, as a formatter leaves it

Covers FOLDERS. Prints one line a finding. Exit code 1 if there is any.
"""

import argparse
import pathlib
import re
import sys

FOLDERS = "common,datasets,dedup,pipeline,train,app,tools,python,tests"  # add a folder when its comments hold
SUFFIXES = {".h", ".hpp", ".cpp", ".cc", ".cu", ".cuh"}
LONGEST = 400
COLUMNS = 100

OPENING = re.compile(r"(?:Of|That|Those|What|of|that|those|what) ")

# What to say instead: (pattern, the field's words, files that may say it all the same).
PHRASES = [
    (r"pass(?:ed|es|ing)? over", "skip", []),
    (r"hang(?:s|ing)? together", "are connected, form a component", []),
    (r"l(?:aid|ay|ays|ie|ies|ying) upon", "aligned, registered, composed on", []),
    (r"fore(?:tell|tells|told)", "estimate, predict", []),
    (r"strangers", "different pictures, non-duplicates", []),
    (r"(?:what|whatever) becomes? of|what became of", "what happens to, how it is treated", []),
    (r"what (?:it|they|this) comes? to", "is, the result", []),
    (r"put(?:s)? upon", "applied on top of", []),
    (r"beside as many", "compared with a random subset of the same size", []),
    (r"(?:nothing|none) where", "nullopt if, empty if", []),
    (r"for who (?:asks|wants|chooses)", "name the caller", []),
    (r"people said", "review decisions", []),
]
PHRASES = [(re.compile(r"\b" + pattern, re.IGNORECASE), instead, allowed) for pattern, instead, allowed in PHRASES]

COMMENT_OR_LITERAL = re.compile(
    r"""//(?:\\\n|[^\n])*
      | /\*.*?\*/
      | \bu?8?[LUu]?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
      | "(?:\\.|[^"\\\n])*"
      | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'
    """,
    re.VERBOSE | re.DOTALL,
)
ITEM = re.compile(r"\s*(?:[-*] |\d+\. |\S(?:.*?\S)?\s{2,}\S)")  # a bullet, a number, or a label and two blanks


class Comment:
    """Consecutive lines of // that begin in one column: the number of the first line, the column, the texts."""

    def __init__(self, line, column, text, is_alone):
        self.line, self.column, self.lines, self.is_alone = line, column, [text], is_alone

    def paragraphs(self):
        """Running text in pieces that end at blank lines, list items and indented lines."""
        pieces = []
        for text in self.lines:
            starts = bool(ITEM.match(text)) and not (text.startswith(" ") and pieces and pieces[-1] and not ITEM.fullmatch(text))
            if not text.strip() or starts or not pieces:
                pieces.append([])
            if text.strip():
                pieces[-1].append(text)
        return [piece for piece in pieces if piece]


def comments_of(source):
    found, line, at = [], 1, 0
    for match in COMMENT_OR_LITERAL.finditer(source):
        line += source.count("\n", at, match.start())
        at = match.start()
        if not match[0].startswith("//"):
            continue
        begin = source.rfind("\n", 0, at) + 1
        column, is_alone = at - begin, not source[begin:at].strip()
        text = match[0][2:].removeprefix(" ")
        last = found[-1] if found else None
        if last and is_alone and column == last.column and line == last.line + len(last.lines):
            last.lines.append(text)
        else:
            found.append(Comment(line, column, text, is_alone))
    return found


def walls(comment):
    for piece in comment.paragraphs():
        length = len(" ".join(text.strip() for text in piece))
        if length > LONGEST and not any(text.startswith("  ") for text in piece[:1]):
            yield f"wall: {length} characters without a list, {LONGEST} are allowed"


def openings(comment):
    if OPENING.match(comment.lines[0]):
        yield f'opening: begins with "{comment.lines[0].split()[0]}" in place of a subject'


def phrases(comment, path):
    text = " ".join(text.strip() for text in comment.lines)
    for pattern, instead, allowed in PHRASES:
        found = pattern.search(text)
        if found and path not in allowed:
            yield f'phrase: "{found[0]}"; say: {instead}'


def broken(comment):
    for text, after in zip(comment.lines, comment.lines[1:]):
        if not text.strip() or not after.strip() or ITEM.match(after) or re.search(r"[.:;,!?)\"`\]]$", text):
            continue
        if after.startswith(" ") and not text.startswith(" ") and not ITEM.match(text):
            continue
        if comment.column + 3 + len(text) + 1 + len(after.split()[0]) < COLUMNS:
            yield f'broken: "{text[-30:]}" ends though "{after.split()[0]}" would have fitted'


def findings_in(name, source):
    """What is wrong with the comments of a file, one line each."""
    return [
        f"{name}:{comment.line}: {finding}"
        for comment in comments_of(source)
        for finding in (*walls(comment), *openings(comment), *phrases(comment, name), *broken(comment))
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--folders", default=FOLDERS)
    arguments = parser.parse_args()
    findings, files = [], 0
    for folder in arguments.folders.split(","):
        for path in sorted((arguments.root / folder).rglob("*")):
            name = path.relative_to(arguments.root).as_posix()
            if path.suffix not in SUFFIXES:
                continue
            files += 1
            findings += findings_in(name, path.read_text(encoding="utf-8"))
    if not files:
        raise SystemExit(f"no sources under {arguments.root}")
    print("\n".join(findings) or f"{files} sources, nothing found")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
