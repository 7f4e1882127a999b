"""What the gate runs: pure functions of the tests that CTest has, what they cost, the commit and what it changes.

A test is a Test below. The *rest* is what the gate leaves out: all that is labelled slow, package, cluster or evidence, and the
examples of pages that nothing changed, but no lint. Each gate also runs one of twelve parts of the rest, which the commit's digest chooses, so
that nothing is forgotten."""

import dataclasses
import pathlib
import re

PARTS = 12
REST = {"slow", "package", "cluster", "evidence"}
UNKNOWN_S = 60.0  # cost of a test that its labels leave to the rest but that was not measured
SLOW_S = 2  # seconds of a core from which a test is slow, whatever its labels


@dataclasses.dataclass(frozen=True)
class Test:
    name: str
    labels: frozenset = frozenset()
    cost: float = 0.0  # seconds of a core


def read_costs(text):
    """{name: (seconds of a core, seconds)} from a table with a row per test: both, its number of cores, and its name."""
    costs = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            core, took, _, name = line.split(maxsplit=3)
            costs[name] = (float(core), float(took))
    return costs


def cost_of(labels, measured):
    """The cost of a test in seconds of a core; `measured` is its measured cost, or None."""
    if measured is not None:
        return measured
    return UNKNOWN_S if set(labels) & REST else 0.0


def page_of(test):
    """The page whose examples a test runs, as a path in the repository, or None."""
    name = test.name.removeprefix("docs.")
    if "docs" not in test.labels or not name.endswith(".md"):
        return None
    return name if name == "README.md" else f"docs/{name}"


def verbs_in(text):
    """The verbs that the examples of a page call."""
    commands = re.findall(r"^ *(?:\$ |<!-- *setup:)(.*)$", text, re.MULTILINE)
    return {verb for command in commands for verb in re.findall(r"\bwinnow ([a-z][a-z-]*)", command)}


def verb_of(path, verbs):
    """The verb to whose source a file belongs: tools/cmd_VERB.cpp, tools/VERB_*, app/VERB/*; or None."""
    parts = pathlib.PurePosixPath(path).parts
    if len(parts) < 2 or parts[0] not in ("app", "tools"):
        return None
    stem = (parts[1] if len(parts) > 2 else pathlib.PurePosixPath(parts[1]).stem).removeprefix("cmd_").replace("_", "-")
    fitting = [verb for verb in verbs if stem == verb or stem.startswith(f"{verb}-")]
    return max(fitting, key=len, default=None)


def pages_to_run(pages, changed):
    """The pages of {page: text} that changed, or that call a verb whose source changed."""
    called = {page: verbs_in(text) for page, text in pages.items()}
    verbs = set().union(*called.values())
    changed_verbs = {verb_of(path, verbs) for path in changed}
    return {page for page in pages if page in changed or called[page] & changed_verbs}


def is_of_the_rest(test, pages):
    """Whether the gate leaves a test out; `pages` are those whose examples it runs."""
    if page := page_of(test):
        return page not in pages
    if "lint" in test.labels:
        return False
    return bool(test.labels & REST) or test.cost >= SLOW_S


def parts_of(rest):
    """The rest in twelve parts of nearly equal cost: the costliest test first, each to the cheapest part."""
    parts = [[] for _ in range(PARTS)]
    for test in sorted(rest, key=lambda test: (-test.cost, test.name)):
        min(parts, key=lambda part: (sum(other.cost for other in part), len(part))).append(test)
    return parts


def choose(tests, pages, digest):
    """What a gate runs of `tests`: those that every gate runs, the part of the rest that `digest`, a number in hexadecimal,
    chooses, and which part that is, from 1 on."""
    always = [test for test in tests if not is_of_the_rest(test, pages)]
    part = int(digest, 16) % PARTS
    return always, parts_of(test for test in tests if is_of_the_rest(test, pages))[part], part + 1


def headers_to_compile(headers, changed, digest):
    """The public headers that changed, and a twelfth of the others."""
    others = sorted(set(headers) - set(changed))
    return sorted(set(headers) & set(changed)) + others[int(digest, 16) % PARTS :: PARTS]
