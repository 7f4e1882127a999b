"""How many different pictures were removed, which pairs are false, and how many true copies were found."""

import collections
import csv

PHOTOS = "photos"
SMALL_FAMILY = 12  # maximum number of pictures


def read(folder):
    """The row of the truth by file; `size` is a number, 0 for photos."""
    with open(folder / "truth.csv", newline="") as file:
        return {row["name"]: {**row, "size": int(row["size"] or 0)} for row in csv.DictReader(file)}


def lost(truth, removed):
    """Pictures that no remaining file shows."""
    removed = set(removed)
    stay = {row["picture"] for name, row in truth.items() if name not in removed}
    return {row["picture"] for row in truth.values()} - stay


def false_pairs(truth, pairs):
    """Listed pairs of two different pictures, each once."""
    pairs = {tuple(sorted(pair)) for pair in pairs}
    return sorted(pair for pair in pairs if truth[pair[0]]["picture"] != truth[pair[1]]["picture"])


def found(truth, pairs):
    """Copies that a listed pair links to their original."""
    ends = {name: row for name, row in truth.items() if not row["edit"]}
    for a, b in pairs:
        for copy, other in ((a, b), (b, a)):
            if truth[copy]["edit"] and other in ends and truth[copy]["picture"] == truth[other]["picture"]:
                yield copy


def nothing(group, part):
    """The score of a kind before counting."""
    counters = {"pictures": collections.Counter(), "removed": collections.Counter()}
    return {"group": group, "part": part, **counters, "copies": 0, "found": 0, "false_pairs": 0}


def score(truth, removed, pairs):
    """
    kinds        by kind: group, part, `pictures` and `removed` by family size, `copies` and `found`, `false_pairs`
    edits        by edit: `copies` and `found`
    false_pairs  pairs of different pictures; those of two photos are apart in `photo_pairs`: look at them
    Removed are different pictures: one of which a copy stays is not lost.
    """
    pairs = list(pairs)
    gone, false, copies = lost(truth, removed), false_pairs(truth, pairs), set(found(truth, pairs))
    kinds, edits = {}, {}
    for name, row in truth.items():
        kind = kinds.setdefault(row["kind"], nothing(row["group"], row["part"]))
        if row["edit"]:
            for counts in (kind, edits.setdefault(row["edit"], {"copies": 0, "found": 0})):
                counts["copies"] += 1
                counts["found"] += name in copies
        else:
            kind["pictures"][row["size"]] += 1
            kind["removed"][row["size"]] += row["picture"] in gone
    for a, b in false:
        for kind in {truth[a]["kind"], truth[b]["kind"]}:
            kinds[kind]["false_pairs"] += 1
    of_photos = [pair for pair in false if {truth[name]["kind"] for name in pair} == {PHOTOS}]
    return {"kinds": kinds, "edits": edits, "false_pairs": len(false) - len(of_photos), "photo_pairs": of_photos}


def added(results):
    """The sum of scores of sets without common files."""
    total = {"kinds": {}, "edits": {}, "false_pairs": 0, "photo_pairs": []}
    for result in results:
        total["false_pairs"] += result["false_pairs"]
        total["photo_pairs"] += result["photo_pairs"]
        for name, kind in result["kinds"].items():
            of = total["kinds"].setdefault(name, nothing(kind["group"], kind["part"]))
            for key in ("pictures", "removed"):
                of[key].update(kind[key])
            for key in ("copies", "found", "false_pairs"):
                of[key] += kind[key]
        for name, edit in result["edits"].items():
            of = total["edits"].setdefault(name, {"copies": 0, "found": 0})
            for key in of:
                of[key] += edit[key]
    return total


def totals(result):
    """
    per_mille          different pictures removed of 1,000: all but photos, and those of rich kinds in small families
    small_families     pictures removed from families of up to 12 of small kinds
    worst              the kind that lost the largest share in larger families, and that share
    found              the share of true copies that was found, None without any
    """
    kinds = {name: kind for name, kind in result["kinds"].items() if name != PHOTOS}
    counted = [(kind, size) for kind in kinds.values() for size in kind["pictures"] if kind["group"] == "small" or size > SMALL_FAMILY]
    pictures = sum(kind["pictures"][size] for kind, size in counted)
    removed = sum(kind["removed"][size] for kind, size in counted)
    shares = {name: in_large(kind, "removed") / max(1, in_large(kind, "pictures")) for name, kind in kinds.items()}
    copies = sum(kind["copies"] for kind in kinds.values())
    worst = max(shares, key=shares.get, default="")
    return {
        "pictures": pictures,
        "removed": removed,
        "per_mille": 1000 * removed / max(1, pictures),
        "small_families": sum(kind["removed"][size] for kind, size in counted if size <= SMALL_FAMILY),
        "worst": (worst, shares.get(worst, 0)),
        "found": sum(kind["found"] for kind in kinds.values()) / copies if copies else None,
    }


def in_large(kind, key):
    return sum(count for size, count in kind[key].items() if size > SMALL_FAMILY)


def table(result):
    """A Markdown table with a row per kind: how many were removed of how many, in families of each size."""
    sizes = sorted({size for name, kind in result["kinds"].items() for size in kind["pictures"] if name != PHOTOS})
    lines = [
        "| kind | group | part | " + " | ".join(f"of {size}" for size in sizes) + " | copies found | false pairs |",
        "|---" * (5 + len(sizes)) + "|",
    ]
    for name, kind in result["kinds"].items():
        if name != PHOTOS:
            cells = [f"{kind['removed'][size]}/{kind['pictures'][size]}" if kind["pictures"][size] else "" for size in sizes]
            lines.append(
                f"| {name} | {kind['group']} | {kind['part']} | "
                + " | ".join(cells)
                + f" | {kind['found']}/{kind['copies']} | {kind['false_pairs']} |"
            )
    lines += [
        f"| copies, {edit} |" + " |" * (2 + len(sizes)) + f" {of['found']}/{of['copies']} | |"
        for edit, of in sorted(result["edits"].items())
    ]
    return lines
