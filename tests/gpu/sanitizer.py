"""compute-sanitizer's logs: how many reports each kernel has, own kernels first."""

import collections
import re

# What a report begins with.
HEADS = re.compile(r"(Invalid|Misaligned|Uninitialized __|Barrier error|Leaked|Host API memory access error|Program hit|"
                   r"(Error|Warning): (Race reported|Potential)|Unused memory)")  # fmt: skip
PLACE = re.compile(r"(?:\bat|access at|Device Frame:)\s*(?:0x[0-9a-f]+ in )?(.+)")


def name_of(place):
    """A kernel's name without its arguments and where it stands, and whether it is this project's."""
    place = re.sub(r"\(anonymous namespace\)::|<unnamed>::", "", place)
    own = re.search(r"\bexecute<(?:\w+::)*(\w+)", place)
    if own and "winnow" in place:
        return own.group(1), True
    place = re.sub(r"^(void|static|extern) ", "", place.strip())
    depth, end = 0, len(place)
    for at, letter in enumerate(place):
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if depth == 0 and letter in "(+ ":
            end = at
            break
    return place[:end], False


def reports_of(log):
    """The reports of a log, each a list of lines."""
    reports = []
    for line in log.splitlines():
        if not line.startswith("========="):
            continue
        line = line.lstrip("=").strip()
        if HEADS.match(line):
            reports.append([line])
        elif not line or "SUMMARY" in line:
            if reports:
                reports[-1].append("")
        elif reports and reports[-1][-1:] != [""]:
            reports[-1].append(line)
    return reports


def kernel_of(report):
    """Whose report it is: the outermost function on the card, or the call of the host."""
    frames = [line for line in report if line.startswith("Device Frame:")]
    places = frames[-1:] or [line for line in report if re.match(r"at ", line)] or [line for line in report if " access at " in line]
    if report[0].startswith("Host API"):
        by = re.search(r"on access by (.+)", "\n".join(report))
        return f"host: {by.group(1) if by else 'unknown'}", False
    found = PLACE.search(places[0]) if places else None
    return name_of(found.group(1)) if found else (report[0].split(" on CUDA API call")[0], False)


def counts(log):
    """[{"kernel": ..., "own": whether it is this project's, "reports": n}], own ones first, then by number."""
    found = collections.Counter(kernel_of(report) for report in reports_of(log))
    rows = [{"kernel": name, "own": own, "reports": number} for (name, own), number in found.items()]
    return sorted(rows, key=lambda row: (not row["own"], -row["reports"], row["kernel"]))
