"""Duplicates where the truth is known: in half of the classes one image in twenty is there ten times.

So deduplication has something to gain, and its control, as much at random, has not. Beside it: which copies were found.
"""

import csv
import io

import chart
import images
import sweep
from bench import mean, points

THRESHOLDS = [2, 6, 10]
STAGES, REDUCED = [[("2,6,10", 8)]], [("6", 2)]  # thresholds of the sweep, seeds


def settings(bench, thresholds, seeds):
    epochs = 2 if bench.reduced else 10
    return ["sweep", "planted", "--out", "sweep-planted", "--hash", "phash", "--threshold", thresholds,
            "--mode", "keep,weight,one_per_group", "--equal", "epochs", "--epochs", epochs, "--holdout", 0.001,
            "--seeds", seeds, "--all-seeds", "--lanes", bench.lanes, "--threads", bench.lanes,
            "--json", "--", "--net", "small.toml", "--recipe", "small-images", "--batch-size", 128, "--dtype", "bf16"]  # fmt: skip


def found_by(bench, threshold):
    """What is removed within train at a threshold, beside what was planted."""
    list_ = bench.work / f"planted-{threshold}.csv"

    def count(_):
        removed = [row["name"] for row in csv.DictReader(io.StringIO(list_.read_text()))]
        copies = sum(images.truth(name) == "copy" for name in removed)
        return {"threshold": threshold, "removed": len(removed), "copies": copies}

    return bench.once("dedup", "planted", "--name", f"found-{threshold}", "--hash", "phash", "--threshold", threshold, "--scope", "within",
                      "--list", list_.name, "--json", then=count)  # fmt: skip


def test_row(arm):
    """On test without the images that have a duplicate in training, beside all samples."""
    beside, top1 = arm["beside_all"] or {}, arm["top1_leak_free"]
    return {"arm": arm["arm"], "seeds": len(top1), "top1": points(mean(top1)), "difference": points(beside.get("mean")),
            "least": points(beside.get("least")), "most": points(beside.get("most")),
            "top1_by_seed": " ".join(points(value) for value in top1)}  # fmt: skip


def make(bench, part):
    images.cache(bench, "planted")
    train = images.sizes(bench)[0]
    there = 5 * (train // 20) * 9
    table = []
    for threshold in THRESHOLDS:
        found = found_by(bench, threshold)
        table.append({**found, "planted": there, "found_percent": points(found["copies"] / there, 1),
                      "right_percent": points(found["copies"] / max(1, found["removed"]), 1)})  # fmt: skip
    bench.table("planted", "found.csv", table)
    found = bench.once(*settings(bench, *part))[-1]
    table = list(sweep.rows(found))
    bench.table("planted", "arms.csv", table)
    if found["test"]["arms"]:  # looked at once, for what is recommended
        bench.table("planted", "test.csv", [test_row(arm) for arm in found["test"]["arms"]])
    chart.rows(bench.folder("planted") / "beside-all.svg", "Planted copies removed, or weighed less: beside all samples",
               "points of accuracy on images without copies",
               [(row["arm"], *(float(row[key]) for key in ("beside_all", "all_least", "all_most")))
                for row in table[1:] if row["all_least"]])  # fmt: skip
