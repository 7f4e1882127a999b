"""How many planted copies are found by pairs of files, and which pairs are false."""

import csv
import dataclasses
import statistics

PLACES = ("others", "held out", "originals", "distractors")


@dataclasses.dataclass
class Truth:
    rows: dict  # truth.csv by file
    photos: dict  # by file: all photos in it
    original: dict  # by photo: its file

    def is_false(self, a, b):
        """Whether two files are of different photos."""
        return self.photos[a].isdisjoint(self.photos[b])


def read(folder):
    with open(folder / "truth.csv", newline="") as file:
        rows = {row["file"]: row for row in csv.DictReader(file)}
    photos = {file: frozenset(row["photos"].split()) for file, row in rows.items()}
    return Truth(rows, photos, {row["original"]: file for file, row in rows.items() if row["kind"] == "original"})


def linked(pairs):
    """By file, a name shared by all files that pairs link, directly or through others."""
    above = {}

    def top(file):
        while above.setdefault(file, file) != file:
            above[file] = file = above[above[file]]
        return file

    for a, b in pairs:
        above[top(a)] = top(b)
    return {file: top(file) for file in above}


def where(truth, pair):
    """The kinds of images that a false pair joins."""
    kinds = {truth.rows[file]["kind"] for file in pair}
    if kinds == {"original"}:
        return "originals"  # possibly near-duplicate photos, for people to check
    if kinds == {"distractor"}:
        return "distractors"
    return "held out" if "held_out" in {truth.rows[file]["part"] for file in pair} else "others"


def score(truth, pairs):
    """
    kinds     by kind: family, part, copies, and of these those `found`, which a pair links to their original, and `linked`, which
              true pairs do through other copies too
    families  by family, recall as a mean over its kinds that are not held out; also "held out"
    mean, held_out, linked   means over kinds, the last over those that are not held out
    false     false pairs: of a copy that is held out, of two originals, of two distractors, and all others
    """
    pairs = {tuple(sorted(pair)) for pair in pairs if pair[0] != pair[1]}
    false = sorted(pair for pair in pairs if truth.is_false(*pair))
    group = linked(pairs.difference(false))
    kinds = {}
    for file, row in truth.rows.items():
        if row["part"]:
            of = kinds.setdefault(row["kind"], {"family": row["family"], "part": row["part"], "copies": 0, "found": 0, "linked": 0})
            original = truth.original[row["original"]]
            of["copies"] += 1
            of["found"] += tuple(sorted((file, original))) in pairs
            of["linked"] += file in group and group[file] == group.get(original)
    result = {"kinds": kinds, "pairs": len(pairs), "families": {}}
    told = [kind for kind in kinds.values() if kind["part"] != "held_out"]
    for family in sorted({kind["family"] for kind in told}):
        result["families"][family] = mean(kind for kind in told if kind["family"] == family)
    result["mean"] = mean(told)
    result["linked"] = mean(told, "linked")
    result["held_out"] = mean(kind for kind in kinds.values() if kind["part"] == "held_out")
    result["false"] = {place: [p for p in false if where(truth, p) == place] for place in PLACES}
    return result


def fates(truth, pairs, removed):
    """
    removed   pairs of what went and what stays for it: how many, and how many of them no pair links
    photos    those with an original; `lost`: neither it stays, nor a copy that shows all of it and no other photo;
    strange   images removed for one of another photo alone
    """
    pairs = {tuple(sorted(pair)) for pair in pairs}
    removed = dict(removed)
    unlinked = [gone for gone, kept in removed.items() if tuple(sorted((gone, kept))) not in pairs]
    strange = [gone for gone, kept in removed.items() if truth.is_false(gone, kept)]
    whole = set()
    for file, row in truth.rows.items():
        is_whole = row["kind"] in ("original", "distractor") or row["family"] != "crop"
        if file not in removed and is_whole and len(truth.photos[file]) == 1:
            whole |= truth.photos[file]
    lost = [photo for photo in truth.original if photo not in whole]
    return {"removed": len(removed), "unlinked": len(unlinked), "photos": len(truth.original), "lost": len(lost), "strange": len(strange)}


def mean(kinds, key="found"):
    """None if there is no kind."""
    shares = [kind[key] / kind["copies"] for kind in kinds]
    return statistics.mean(shares) if shares else None


def percent(share):
    return "-" if share is None else f"{100 * share:.1f}"


def families_table(results):
    """A Markdown table with a column per result."""
    lines = ["| copies found, % | " + " | ".join(results) + " |", "|---|" + "---|" * len(results)]
    families = sorted({family for result in results.values() for family in result["families"]})
    rows = [(family, [result["families"].get(family) for result in results.values()]) for family in families]
    rows.append(("**mean over kinds**", [result["mean"] for result in results.values()]))
    rows.append(("mean, through other copies too", [result["linked"] for result in results.values()]))
    rows.append(("held out, mean over kinds", [result["held_out"] for result in results.values()]))
    lines += [f"| {name} | " + " | ".join(map(percent, shares)) + " |" for name, shares in rows]
    counts = [{place: len(pairs) for place, pairs in result["false"].items()} for result in results.values()]
    for place, words in zip(PLACES, ("false pairs", "of a copy held out", "of two originals", "of two distractors"), strict=True):
        lines.append(f"| {words} | " + " | ".join(str(count[place]) for count in counts) + " |")
    return lines


def kinds_table(results):
    lines = ["| kind | " + " | ".join(results) + " |", "|---|" + "---|" * len(results)]
    for name in next(iter(results.values()))["kinds"]:
        of = [result["kinds"][name] for result in results.values()]
        lines.append(f"| {name} | " + " | ".join(f"{100 * kind['found'] / kind['copies']:.0f}" for kind in of) + " |")
    return lines
