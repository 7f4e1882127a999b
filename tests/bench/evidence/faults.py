"""What it changes to drop wrong labels, conflicts, damaged images and leaks, where the truth is known; paired by seed.

A data set has four faults at once (images.faults). Each arm drops one of them, as winnow finds it; the last all of them. `random`
drops as many samples of each class as `all faults` does.
"""

import csv
import pathlib
import random
import tarfile

import chart
import images
from bench import mean, points

STAGES, REDUCED = [[3], [8]], [2]  # seeds
KINDS = ["wrong", "dark", "blurred", "conflict", "leak"]
REVIEW = "faults-review.jsonl"


def epochs(bench):
    return 2 if bench.reduced else 10


def words(bench):
    return ["--net", "small.toml", "--recipe", "small-images", "--batch-size", 128, "--epochs", epochs(bench)]


def suspects(bench):
    """Wrong labels, by what nets say that were trained on the others: a review that drops them."""
    review = bench.work / REVIEW
    bench.once("train", "faults", "--out", "runs/faults-folds", *words(bench), "--folds", 4, "--threads", bench.lanes,
               "--resume", "auto", "--json")  # fmt: skip
    kept = bench.once("suspects", "faults", "--run", "runs/faults-folds", "--list", "faults-suspects.csv", "--drop-into", REVIEW,
                      "--json", then=lambda _: review.read_text())  # fmt: skip
    review.write_text(kept)


def selection(bench, name, *options):
    """Made once; returns the names that it removes."""
    file = bench.work / f"faults-{name}.csv"

    def removed(_):
        return [row["name"] for row in csv.DictReader(file.read_text().splitlines())]

    return bench.once("dedup", "faults", "--name", name, *options, "--list", file.name, "--json", then=removed)


SELECTIONS = {
    "leaks dropped": ["--hash", "phash", "--threshold", 6, "--scope", "across"],
    "conflicts dropped": ["--hash", "phash", "--threshold", 6, "--scope", "within", "--on-conflict", "drop"],
    "conflicts weighed": ["--hash", "phash", "--threshold", 6, "--scope", "within", "--on-conflict", "weight"],
    "damage dropped": ["--hash", "exact", "--drop-issues", "dark,blurry,low_information"],
    "wrong labels dropped": ["--hash", "exact", "--review", REVIEW],
    "all faults dropped": ["--hash", "phash", "--threshold", 6, "--on-conflict", "drop", "--drop-issues", "dark,blurry,low_information",
                           "--review", REVIEW],
}  # fmt: skip


def one_by_one(bench):
    """Selection: the names it removes. What is weighed is not removed."""
    return {name: selection(bench, name.replace(" ", "-"), *options) for name, options in SELECTIONS.items()}


def random_cache(bench, removed):
    """The same data with as many fewer of each class, drawn from all: a cache of its own."""
    name = "faults-random"
    if not (bench.work / name / "manifest.json").exists():
        counts = {}
        for image in removed:
            counts[label_of(image)] = counts.get(label_of(image), 0) + 1
        source, less = bench.work / "faults-images.tar", bench.work / f"{name}.tar"
        with tarfile.open(source) as whole:
            members = [m for m in whole if m.isfile()]
            train = [m.name for m in members if "/train/" in m.name]
            gone = set()
            for label, count in sorted(counts.items()):
                of = sorted(n for n in train if label_of(n) == label)
                gone.update(random.Random(label).sample(of, count))
            with tarfile.open(less, "w") as out:
                for member in members:
                    if member.name not in gone:
                        out.addfile(member, whole.extractfile(member))
        bench.call("ingest", less, "--out", name, "--hash", images.HASHES, "--threads", bench.lanes)
    return name


def label_of(name):
    return pathlib.PurePath(name).parent.name


def leaks_of(bench, run):
    """Of one model: right on all of test, without what winnow says has leaked, without what has, and on what has."""
    file = bench.work / f"{run}-predictions.csv"

    def count(printed):
        leaked, others = [], []
        for row in csv.DictReader(file.read_text().splitlines()):
            at = int(pathlib.PurePath(row["name"]).stem)
            (leaked if at < images.sizes(bench)[2] // 10 else others).append(row["label"] == row["prediction"])
        found = printed[-1]
        return {"top1": found["top1"], "leaked_found": found["leaked"], "without_found": found["top1_leak_free"],
                "without_planted": mean(others), "on_planted": mean(leaked)}  # fmt: skip

    return bench.once("eval", run, "faults", "--split", "test", "--selection", "leaks-dropped", "--predictions", f"{run}-predictions.csv",
                      "--threads", bench.lanes, "--json", then=count)  # fmt: skip


def leak_rows(bench, folders):
    for arm, runs in folders.items():
        found = [leaks_of(bench, run) for run in runs]
        yield {"arm": arm, "seeds": len(runs), "leaked_found": found[0]["leaked_found"],
               **{key: points(mean([of[key] for of in found])) for key in ("top1", "without_found", "without_planted", "on_planted")},
               "top1_less_without_planted": " ".join(points(of["top1"] - of["without_planted"]) for of in found)}  # fmt: skip


def make(bench, seeds):
    images.cache(bench, "faults")
    suspects(bench)
    removed = one_by_one(bench)
    table = []
    for name, of in removed.items():
        counts = {kind: sum(images.truth(image) == kind for image in of) for kind in KINDS}
        table.append({"selection": name, "removed": len(of), **counts, "none_of_these": len(of) - sum(counts.values())})
    bench.table("faults", "found.csv", table)
    arms = {"as it is": [], **{name: ["--selection", name.replace(" ", "-")] for name in SELECTIONS}}
    seeds = range(1, seeds + 1)
    folders = bench.arms("faults", {name: [*words(bench), *more] for name, more in arms.items()}, seeds)
    folders |= bench.arms(random_cache(bench, removed["all faults dropped"]), {"as many at random": words(bench)}, seeds)
    table = bench.compare(folders, more=["--cache", "faults"])
    bench.table("faults", "arms.csv", table)
    chart.differences(bench.folder("faults") / "arms.svg", "Faults dropped, paired by seed on the same test images", table)
    bench.table("faults", "leaks.csv", list(leak_rows(bench, {name: folders[name] for name in ("as it is", "leaks dropped")})))
