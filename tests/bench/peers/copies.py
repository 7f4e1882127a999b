"""Copies by 42 edits among 500 photos: how many each tool links to their originals, and pairs of two photos that it links."""

import itertools
import pathlib
import statistics
import subprocess

import bench
import duplicates

COPIES = 30  # of each edit
PLANT = """import importlib.machinery, pathlib, sys
of = importlib.machinery.SourceFileLoader("defaults", sys.argv[1]).load_module()
of.plant(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), int(sys.argv[4]))"""
OTHERS = ["DHash", "AHash", "WHash"]  # once: what is found does not change


def linked(pairs):
    """Sets of names that are linked by pairs, directly or through others."""
    of = {}
    for a, b in map(tuple, pairs):
        union = of.setdefault(a, {a}) | of.setdefault(b, {b})
        of.update(dict.fromkeys(union, union))
    return of


def score(folder, result, pairs):
    """Shares of copies linked to their originals, means over the edits: by a pair, and also through other copies; false pairs."""
    photo = {path.name: path.stem.split("__")[0] for path in folder.iterdir()}
    true = {pair for pair in pairs if len({photo[name] for name in pair}) == 1}
    groups, direct, through = linked(true), {}, {}
    for name, original in photo.items():
        if "__" in name:
            edit = pathlib.PurePath(name).stem.split("__")[1]
            direct.setdefault(edit, []).append(frozenset((name, original + ".jpg")) in true)
            through.setdefault(edit, []).append(original + ".jpg" in groups.get(name, ()))
    found, also = (statistics.mean(sum(of) / len(of) for of in by.values()) for by in (direct, through))
    return {**result, "found": found, "linked": also, "pairs": len(pairs), "false": len(pairs) - len(true)}


def fastdup_scores(b, folder):
    result, pairs, groups = duplicates.by_fastdup(b, folder)
    together = {frozenset(pair) for group in groups for pair in itertools.combinations(group, 2)}
    return {**score(folder, result, pairs), "groups": score(folder, {}, together)}


def measure(b):
    if "imagededup" not in b.pythons:
        return ["imagededup is not here, whose environment has the Pillow and numpy that plant copies."]

    def by_imagededup(name):
        return lambda f: score(f / "photos", *duplicates.by_imagededup(b, f / "photos", name))

    def plant(folder):
        subprocess.run([b.pythons["imagededup"], "-c", PLANT, bench.TESTS / "dedup" / "defaults", b.data, folder / "photos",
                        str(COPIES)], check=True)  # fmt: skip

    contenders = {"winnow": lambda f: score(f / "photos", *duplicates.by_winnow(b, f / "photos")),
                  duplicates.CODES: lambda f: score(f / "photos", *duplicates.by_winnow(b, f / "photos", "--no-verify")),
                  "imagededup PHash": by_imagededup("PHash")}  # fmt: skip
    if "fastdup" in b.pythons:
        contenders["fastdup"] = lambda f: fastdup_scores(b, f / "photos")
    rounds = b.rounds_of("copies", plant, contenders)
    (others,) = b.rounds_of("copies-others", plant, {f"imagededup {name}": by_imagededup(name) for name in OTHERS}, rounds=1)
    lines = ["| | copies found | also through other copies | false pairs | of pairs |", "|---|---|---|---|---|"]
    for name, r in {**rounds[-1], **others}.items():
        lines.append(f"| {name} | {100 * r['found']:.1f} % | {100 * r['linked']:.1f} % | {r['false']:,} | {r['pairs']:,} |")
        if "groups" in r:
            g = r["groups"]
            lines.append(f"| {name}, its groups | {100 * g['found']:.1f} % | | {g['false']:,} | {g['pairs']:,} |")
    lines += ["", *bench.HEAD]
    for name in list(contenders)[2:]:
        for own, short, flags in duplicates.OWN:
            for key, of in duplicates.MEASURES:
                ratios = (" ".join(filter(None, ("photos", short, of))), name.split()[0])
                lines.append(b.row(ratios, f"these photos, {of or 'time'}", flags, name, bench.ratio(rounds, own, name, key)))
    return lines
