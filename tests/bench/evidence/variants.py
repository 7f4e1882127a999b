"""What it costs in accuracy to shuffle less, to take batch norm over other numbers of samples, to be reproducible, or to compute in bf16."""

import chart
import images

# arm: words of winnow train. The batch is 512 and the micro-batch 64 where nothing else is said.
GROUPS = {
    "shuffling": {
        "all": [],
        **{f"fraction {share}": ["--shuffle-fraction", share, "--partitions", 8] for share in (0.5, 0.1, 0)},
        "fraction 0 of 32": ["--shuffle-fraction", 0, "--partitions", 32],
    },
    "micro-batch": {"64": [], **{str(size): ["--micro-batch", size] for size in (8, 16, 32, 128, 512)}},
    "execution": {"f32, fast": [], "f32, reproducible": ["--reproducible"], "bf16, fast": ["--dtype", "bf16"]},
}
STAGES = [["micro-batch"], ["shuffling"], ["execution"]]
REDUCED = list(GROUPS)
SEEDS = range(1, 4)


def make(bench, group):
    cache = images.cache(bench, "fashion-mnist" if bench.reduced else "cifar10")
    epochs, seeds = (1, range(1, 3)) if bench.reduced else (5, SEEDS)
    base = ["--net", "small.toml", "--recipe", "small-images", "--epochs", epochs]
    arms = GROUPS[group]
    # What is trained without more words is one run in all groups.
    folders = {}
    for name, more in arms.items():
        size = ["--batch-size", 512] + ([] if "--micro-batch" in more else ["--micro-batch", 64])
        title = "plain" if not more else f"{group}-{name}"
        folders[name] = bench.arms(cache, {title.replace(",", ""): [*base, *size, *more]}, seeds)[title.replace(",", "")]
    table = bench.compare(folders)
    bench.table("variants", f"{group}.csv", table)
    chart.differences(bench.folder("variants") / f"{group}.svg", f"{group}, paired by seed on the test images", table)
