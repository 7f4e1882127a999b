"""Figures in the prose of pages: each is computed from the row of a table that a comment names.

    <!-- is: FILE; ROW; WHAT -->+1.35 (+0.72 to +1.97)<!-- . -->

FILE is relative to docs/results. ROW is the first column, or the first two or three with spaces between; `ROW less ROW` are two rows,
seed by seed. WHAT is one of these, with a format behind a colon where two digits are not what is wanted (`beside_all: .1f`):

    beside_all, beside_control, difference   the difference and its range of 95 %
    could_show COLUMN                        how large that difference, or that of values by seed, would have to be to be shown four times in five
    seeds COLUMN                             mean of values by seed and its range; of two rows, of their differences
    mean COLUMN                              the same without signs
    p COLUMN                                 p of these, not corrected
    ratio COLUMN                             **median** of ratios by round, and the range of their geometric mean
    share HITS of TRIALS                     per cent, and the range of such a share (Wilson)
    anything else                            sums and quotients of columns, as `(wrong + conflict) / 2000: .0%`

What is set, or measured by others, stands between `<!-- given -->` and `<!-- . -->`, and is asked for no table; what is so on a whole
page stands once in a line `<!-- given: 25 %, 0.05 -->` of it.
"""

import ast
import csv
import functools
import math
import operator
import re
import statistics

import student

# What stands before a mark's end, which may be broken over lines as any text.
MARKED = r"((?:(?!<!--).)*)<!--\s+\.\s+-->"
MARK = re.compile(r"<!-- is: ([^;]+); ([^;]+); (.+?) -->" + MARKED, re.S)
RANGES = {"difference": ("difference", "least", "most"), "beside_all": ("beside_all", "all_least", "all_most"),
          "beside_control": ("beside_control", "control_least", "control_most")}  # fmt: skip
P_OF = {"difference": "p", "beside_control": "p_control"}
GIVEN = re.compile("<!-- given -->" + MARKED, re.S)
GIVEN_HERE = re.compile(r"^<!-- given: (.*) -->$", re.M)
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
# What is set and not measured, or says what is done elsewhere, has no table.
SET = {"What was done", "How to read them", "How to repeat it"}
# A decimal fraction, or what is counted in per cent, points or times; the confidence of ranges is none.
FIGURE = re.compile(r"(?<![\w.,-])(?!95 %)[-+]?\d[\d,]*(?:\.\d+(?![\w.]*\d)(?: %)?| (?:%|points?\b|times\b))")


@functools.cache
def rows_of(file):
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines))


def row_of(file, key):
    found = [row for row in rows_of(file) if key in (" ".join(list(row.values())[:columns]) for columns in (1, 2, 3))]
    if len(found) != 1:
        raise SystemExit(f"{file.name} has {len(found)} rows {key!r}")
    return found[0]


def ranged(mean, least, most, form, sign="+"):
    return f"{mean:{sign}{form}} ({least:{sign}{form}} to {most:{sign}{form}})"


def could_show(rows, row, of):
    """The difference that would be shown four times in five, corrected for all that the table corrects for."""
    _, least, most = (float(row[column]) for column in RANGES[of])
    comparisons = sum(bool(other[P_OF[of]]) for other in rows)
    return (most - least) / 2 * student.could_show(int(row["seeds"]), comparisons)


def evaluated(node, row):
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](evaluated(node.left, row), evaluated(node.right, row))
    return float(row[node.id]) if isinstance(node, ast.Name) else node.value


def by_seed(file, key, column):
    values = [[float(value) for value in row_of(file, one)[column].split()] for one in key.split(" less ")]
    return values[0] if len(values) == 1 else [a - b for a, b in zip(*values, strict=True)]


def figure(file, key, what):
    """The text of a figure."""
    what, _, form = (part.strip() for part in what.partition(":"))
    form = form or ".2f"
    verb, _, column = what.partition(" ")
    if what in RANGES:
        return ranged(*(float(row_of(file, key)[column]) for column in RANGES[what]), form)
    if verb == "could_show" and column in RANGES:
        return format(could_show(rows_of(file), row_of(file, key), column), form)
    if verb == "could_show":
        values = by_seed(file, key, column)
        _, least, most, _ = student.paired(values)
        return format((most - least) / 2 * student.could_show(len(values), 1), form)
    if verb == "ratio":
        _, least, most, _ = student.paired([math.log(value) for value in by_seed(file, key, column)])
        return f"**{statistics.median(by_seed(file, key, column)):{form}}** ({math.exp(least):{form}} to {math.exp(most):{form}})"
    if column and verb in ("seeds", "mean", "p"):
        *mean_and_range, p = student.paired(by_seed(file, key, column))
        return format(p, form) if verb == "p" else ranged(*mean_and_range, form, "+" if verb == "seeds" else "")
    if verb == "share":
        hits, trials = (evaluated(ast.parse(part, mode="eval").body, row_of(file, key)) for part in column.split(" of "))
        least, most = student.wilson(hits, trials)
        return f"{100 * hits / trials:.0f} % ({100 * least:.0f} to {100 * most:.0f})"
    return format(evaluated(ast.parse(what, mode="eval").body, row_of(file, key)), form).replace("%", " %")


def filled(text, folder):
    """The text with each figure as its table has it."""
    return MARK.sub(lambda m: m[0][: m.start(4) - m.start()] + figure(folder / m[1], m[2], m[3]) + "<!-- . -->", text)


def first_marks(text):
    """Lines that begin with a mark."""
    return [at for at, line in enumerate(text.splitlines(), 1) if re.match(r"\s*<!-- (is:|given -->)", line)]


def unmarked(text):
    """(line, figure) of what no mark names a row for; tables below a mark, code, settings and what is given aside."""
    given = {figure.strip() for mark in GIVEN_HERE.findall(text) for figure in mark.split(",")}
    for mark in (MARK, GIVEN, GIVEN_HERE):
        text = mark.sub(lambda m: "\n" * m[0].count("\n"), text)
    section, code, made = "", False, False
    for at, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            code = not code
        elif line.startswith("#"):
            section = line.lstrip("# ")
        elif re.match(r"<!-- \w+: \S+\.csv -->", line):
            made = True
        elif line.strip() and not line.startswith("|"):
            made = False
        if not (code or section in SET or (made and line.startswith("|"))):
            found = FIGURE.findall(re.sub(r"\]\([^)]*\)|`[^`]*`", "]", line))
            yield from ((at, figure) for figure in found if figure not in given)
