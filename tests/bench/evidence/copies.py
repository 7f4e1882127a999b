"""Planted copies in half of the classes, or in all: what removing them does, and what else it may be.

For as many epochs as all samples, and for as many steps: one of each group kept, a group weighed as one, one of it an epoch, and as many
of each class at random. Beside these all samples with class weights, and one of each group with them: copies in half of the classes
make those classes larger. README's row is `half`.
"""

import chart
import images
import student
import sweep
from bench import points

CACHES = {"half": "planted", "all": "planted-all"}
STAGES, REDUCED = [["half"], ["all"]], ["half"]
BALANCED = "class weights, "


def words(bench, part, modes, equal, *train):
    seeds, epochs = (2, 1) if bench.reduced else (8, 10)
    return ["sweep", CACHES[part], "--out", f"sweep-copies-{part}", "--hash", "phash", "--threshold", 6, "--mode", modes, "--equal", equal,
            "--epochs", epochs, "--holdout", 0.001, "--seeds", seeds, "--all-seeds", "--lanes", bench.lanes, "--threads", bench.lanes,
            "--json", "--", "--net", "small.toml", "--recipe", "small-images", "--batch-size", 128, "--dtype", "bf16", *train]  # fmt: skip


def percent(values):
    """mean, least and most of differences, in points."""
    mean_, least, most, _ = student.paired(values)
    return [points(value) for value in (mean_, least, most)]


def right_of(bench, part, arms):
    """arm: for each seed the bits of the images that its run has right, by the queue's results."""
    runs = bench.queue_of(words(bench, part, "keep", "steps"))
    return {name: [bits(runs[key]["right"]) for key in keys] for name, keys in arms.items()}


def bits(digits):
    return [int(bit) for digit in digits for bit in f"{int(digit, 16):04b}"]


def table_of(bench, part, plain, balanced):
    """Rows as of sweep.rows, and beside all samples the range over seeds and images together."""
    whole = plain["arms"][0]
    held_out = plain["held_out"]
    found = [*zip(plain["arms"], sweep.rows(plain))]
    found += [(arm, {**row, "arm": BALANCED + row["arm"]}) for arm, row in zip(balanced["arms"], sweep.rows(balanced))]
    right = right_of(bench, part, {row["arm"] + row["equal"]: arm["results"] for arm, row in found})
    first = right["allepochs"]
    for arm, row in found:
        apart = [a - b for a, b in zip(arm["top1"], whole["top1"], strict=True)]
        if any(apart):
            row["beside_all"], row["all_least"], row["all_most"] = percent(apart)
            least, most = student.bootstrapped(first, right[row["arm"] + row["equal"]], held_out)
            row["both_least"], row["both_most"] = points(least), points(most)
        else:
            row["both_least"] = row["both_most"] = ""
        yield row


def make(bench, part):
    images.cache(bench, CACHES[part])
    plain = bench.once(*words(bench, part, "keep,weight,one_per_group", "epochs,steps"))[-1]
    balanced = bench.once(*words(bench, part, "keep", "steps", "--class-weights", "balanced"))[-1]
    table = list(table_of(bench, part, plain, balanced))
    bench.table("copies", f"{part}.csv", table)
    chart.rows(bench.folder("copies") / f"{part}.svg", f"Copies in {part} of the classes: beside all samples",
               "points of accuracy on images without copies",
               [(f"{row['arm']}, {row['equal']}", *(float(row[key]) for key in ("beside_all", "all_least", "all_most")))
                for row in table if row["all_least"]])  # fmt: skip
    said = [f"{name}: {of['test']['said']}\n" for name, of in (("plain", plain), ("class weights", balanced))]
    (bench.folder("copies") / f"{part}-test.txt").write_text("".join(said))
