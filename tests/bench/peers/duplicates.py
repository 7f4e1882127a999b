"""10,000 of CIFAR-10's JPEG files to a list of duplicate pairs; of all 60,000 imagededup's search alone takes many minutes."""

import csv
import hashlib
import shutil
import tarfile

import bench

SUBSET = 10_000
SAME_HASH = ("--hash", "imagededup_phash", "--threshold", 10)
CODES = "winnow, codes alone"
# What of winnow is put beside peers: contender, its name among ratios, and in a table.
OWN = [("winnow", "no flags", "no flags"), (CODES, "", "codes alone (256 bits)")]
MEASURES = [("seconds", ""), ("peak_mb", "memory")]


def judged_pairs(data):
    """Names of the pairs that people judged to be equal or the same shot."""
    with open(data / "cifar10_pairs.csv", newline="") as file:
        return {frozenset(row[of].replace("/", "_") for of in ("image", "other")) for row in csv.DictReader(file)
                if row["judgment"] in "01"}  # fmt: skip


def unpack(data, folder):
    files = {}
    with tarfile.open(data / "cifar10-jpeg.tar.xz") as archive:
        for member in archive:
            if member.isfile() and member.name.endswith((".jpg", ".jpeg")):
                files["_".join(member.name.split("/")[-3:])] = archive.extractfile(member).read()
    # The judged ones first, then those of test.
    names = sorted(set().union(*judged_pairs(data)))
    names += sorted(set(files) - set(names))
    (folder / "some").mkdir()
    for name in names[:SUBSET]:
        (folder / "some" / name).write_bytes(files[name])


def pairs_of(file):
    with open(file, newline="") as rows:
        return {frozenset((row["name"].split("/")[-1], row["other_name"].split("/")[-1])) for row in csv.DictReader(rows)}


def by_winnow(b, folder, *flags):
    out = folder.with_suffix(".csv")
    return bench.timed([b.winnow, "dedup", folder, "--labels", "none", "--list-pairs", out, *flags]), pairs_of(out)


def by_imagededup(b, folder, name):
    out = folder.with_suffix(".csv")
    command = [b.pythons["imagededup"], bench.HERE / "in_imagededup.py", name, folder, out]
    return bench.timed(command), pairs_of(out)


def by_fastdup(b, folder):
    """Beside its pairs, those of one group of more than a pair's similarity."""
    out, groups, work = folder.with_suffix(".csv"), folder.with_suffix(".groups.csv"), folder.with_suffix(".fastdup")
    result = bench.timed([b.pythons["fastdup"], bench.HERE / "in_fastdup.py", work, folder, out, groups])
    shutil.rmtree(work)
    members = {}
    with open(groups, newline="") as rows:
        for row in csv.DictReader(rows):
            members.setdefault(row["group"], []).append(row["name"])
    return result, pairs_of(out), list(members.values())


def told(b, result, pairs):
    """What was found: pairs, those of one class (as names say), judged ones; a digest, equal where the pairs are."""
    judged = judged_pairs(b.data)
    same = sum(len({name.split("_")[1] for name in pair}) == 1 for pair in pairs)
    digest = hashlib.sha256(repr(sorted(map(sorted, pairs))).encode()).hexdigest()[:16]
    return {**result, "digest": digest, "pairs": len(pairs), "same_class": same, "judged": len(judged & pairs),
            "of_judged": len(judged)}  # fmt: skip


def measure(b):
    contenders = {"winnow": lambda f: told(b, *by_winnow(b, f / "some")),
                  CODES: lambda f: told(b, *by_winnow(b, f / "some", "--no-verify")),
                  "winnow, same hash": lambda f: told(b, *by_winnow(b, f / "some", *SAME_HASH))}  # fmt: skip
    if "imagededup" in b.pythons:
        contenders["imagededup"] = lambda f: told(b, *by_imagededup(b, f / "some", "PHash"))
    if "fastdup" in b.pythons:
        contenders["fastdup"] = lambda f: told(b, *by_fastdup(b, f / "some")[:2])
    rounds = b.rounds_of("duplicates", lambda folder: unpack(b.data, folder), contenders)
    lines = list(bench.HEAD)
    rows = [("winnow, same hash", "imagededup", "the same hash", "the same hash and threshold")]
    rows += [(own, peer, *how) for own, *how in OWN for peer in ("imagededup", "fastdup")]
    for own, peer, short, flags in rows:
        if peer in contenders:
            beside = "imagededup PHash, defaults (64 bits, within 10)" if peer == "imagededup" else "fastdup, defaults"
            for key, of in MEASURES:
                name = (" ".join(filter(None, ("duplicates", short, of))), peer)
                lines.append(b.row(name, f"10,000 files of CIFAR-10, {of or 'time'}", flags, beside, bench.ratio(rounds, own, peer, key)))
    lines += ["", "| | pairs | of one class | judged pairs found |", "|---|---|---|---|"]
    for name, r in rounds[-1].items():
        share = f"{100 * r['same_class'] / r['pairs']:.1f} %" if r["pairs"] else ""
        lines.append(f"| {name} | {r['pairs']:,} | {share} | {r['judged']} of {r['of_judged']} |")
    return lines
