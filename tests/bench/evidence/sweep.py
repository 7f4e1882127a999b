"""How much can be removed from CIFAR-10 and from Fashion-MNIST, by which hash, beside as much at random.

CE-Dedup's question (Li, Chang and Liu 2021): there 23 % went without loss, and 75 % for five points.
"""

import chart
import images
from bench import mean, points

ALL = "0.05,0.1,0.25,0.375,0.5,0.625,0.75"
THREE = "0.25,0.5,0.75"
CIFAR10 = ["phash,phash16,ahash", 5]
# name of the result: cache, hashes, epochs, shares removed, budgets, seeds. Sweeps of one cache share a folder, and so their runs.
FULL = {
    "cifar10": ("cifar10", *CIFAR10, ALL, "epochs", 3),
    "cifar10-steps": ("cifar10", *CIFAR10, THREE, "epochs,steps", 3),
    "cifar10-8-seeds": ("cifar10", *CIFAR10, THREE, "epochs", 8),
    "fashion-mnist": ("fashion-mnist", "phash16", 5, ALL, "epochs", 3),
    "fashion-mnist-steps": ("fashion-mnist", "phash16", 5, THREE, "epochs,steps", 3),
}
SMALL = ("fashion-mnist", "phash", 2, "0.25,0.5", "epochs", 2)
STAGES = [["cifar10"], ["fashion-mnist"], ["cifar10-steps"], ["cifar10-8-seeds"], ["fashion-mnist-steps"]]
REDUCED = ["fashion-mnist"]


def setting(bench, name):
    return SMALL if bench.reduced else FULL[name]


def words(bench, name):
    cache, hashes, epochs, removed, equal, seeds = setting(bench, name)
    return ["sweep", cache, "--out", f"sweep-{cache}", "--hash", hashes, "--removed", removed, "--equal", equal,
            "--epochs", epochs, "--seeds", seeds, "--all-seeds", "--lanes", bench.lanes, "--threads", bench.lanes,
            "--json", "--", "--net", "small.toml", "--recipe", "small-images", "--dtype", "bf16"]  # fmt: skip


def rows(found):
    for arm in found["arms"]:
        all_, control = arm["beside_all"] or {}, arm["beside_control"] or {}
        known = [value for value in arm["top1"] if value is not None]
        yield {
            "arm": arm["arm"], "equal": arm["equal"], "removed": points(arm["removed"] / found["arms"][0]["kept"], 1),
            "bits": arm["bits"] if arm["bits"] is not None else "", "precision": points(arm["precision"], 1),
            "leaks": f"{arm['leaks']:g}", "seeds": len(known), "top1": points(mean(known)) if known else "",
            "beside_all": points(all_.get("mean")), "all_least": points(all_.get("least")), "all_most": points(all_.get("most")),
            "loss": arm["loss"],
            "beside_control": points(control.get("mean")), "control_least": points(control.get("least")),
            "control_most": points(control.get("most")), "p_control": "" if arm["p_control"] is None else f"{arm['p_control']:.3g}",
            "images": arm["images"], "top1_by_seed": " ".join(points(value) or "-" for value in arm["top1"]),
        }  # fmt: skip


def series(table, equal):
    """A curve for each hash, and for each its control, dashed."""
    whole = next(row for row in table if row["arm"] == "all")
    found = {}
    for row in table:
        if row["equal"] != equal or row["arm"] == "all" or not row["top1"]:
            continue
        control = row["arm"].startswith("control-")
        found.setdefault((row["arm"].removeprefix("control-").split("-")[0], control), []).append(row)
    hashes = list(dict.fromkeys(key[0] for key in found))
    for (hash_, control), of in sorted(found.items()):
        start = (0, float(whole["top1"]), None, None)
        marks = [(float(r["removed"]), float(r["top1"]), *(ends(r, whole) if not control else (None, None))) for r in of]
        yield {"name": hash_ + (", as many at random" if control else ""), "dashed": control, "colour": hashes.index(hash_),
               "points": [start, *sorted(marks)]}  # fmt: skip


def ends(row, whole):
    """Of the difference beside all samples, laid upon their accuracy."""
    if not row["all_least"]:
        return (None, None)
    return tuple(float(whole["top1"]) + float(row[key]) for key in ("all_least", "all_most"))


def make(bench, name):
    cache = images.cache(bench, setting(bench, name)[0])

    def keep(printed):
        files = {file: (bench.work / f"sweep-{cache}" / file).read_text() for file in ("table.csv", "classes.csv")}
        return {"found": printed[-1], "files": files}

    kept = bench.once(*words(bench, name), then=keep)
    found = kept["found"]
    for file, content in kept["files"].items():
        (bench.folder("sweep") / f"{name}-{file}").write_text(content)
    table = list(rows(found))
    bench.table("sweep", f"{name}.csv", table)
    for equal in {row["equal"] for row in table}:
        chart.curves(bench.folder("sweep") / f"{name}-{equal}.svg", f"{name}, equal {equal}", "% of the training samples removed",
                     "% right on the hold-out", list(series(table, equal)))  # fmt: skip
    (bench.folder("sweep") / f"{name}.txt").write_text(found["recommendation"] + "\n" + found["test"]["said"] + "\n")
