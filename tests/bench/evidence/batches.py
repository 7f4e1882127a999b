"""Large batches: SGD with Nesterov's momentum, LARS, LAMB and AdamW, tuned alike; scaling and warm-up; the ratios of LARS's layers."""

import csv
import io
import json
import math
import shutil
import struct

import chart
import images
from bench import points


SIZES = [512, 2048, 8192]
OPTIMIZERS = "sgd,lars,lamb,adamw"
STAGES = [["ratios"], ["scaling"], ["tuned"]]
REDUCED = ["ratios", "scaling", "tuned"]
SEEDS = range(1, 4)


def setting(bench):
    """cache, epochs, batch sizes."""
    return ("fashion-mnist", 2, [64, 256]) if bench.reduced else ("cifar10", 6, SIZES)


def tuned(bench):
    """winnow tune-lr: seven rates each at each batch size, then three seeds of the best."""
    cache, epochs, sizes = setting(bench)
    optimizers = "sgd,lars" if bench.reduced else OPTIMIZERS
    few = ["--lr", "sgd=0.1,0.4", "--lr", "lars=2,8"] if bench.reduced else []

    def keep(printed):
        files = {file: (bench.work / "tuned" / file).read_text() for file in ("table.csv", "trials.csv")}
        return {"found": printed[-1], "files": files}

    kept = bench.once("tune-lr", cache, "--out", "tuned", "--optimizers", optimizers, "--batch-sizes", ",".join(map(str, sizes)), *few,
                      "--epochs", epochs, "--seeds", 2 if bench.reduced else 3, "--lanes", bench.lanes, "--threads", bench.lanes, "--json",
                      "--", "--net", "small.toml", "--dtype", "bf16", then=keep)  # fmt: skip
    for file, content in kept["files"].items():
        (bench.folder("batches") / f"tuned-{file}").write_text(content)
    bench.table("batches", "tuned-beside.csv", [tuned_row(arm) for arm in kept["found"]["arms"]])
    table = list(csv.DictReader(io.StringIO(kept["files"]["table.csv"])))
    chart.curves(bench.folder("batches") / "tuned.svg", "Tuned alike: seven rates each, then other seeds of the best", "batch", "% right on the hold-out",
                 [{"name": name, "points": [(int(row["batch_size"]), *(100 * float(row[field]) if row[field] else None for field in ("mean", "least", "most")))
                                            for row in table if row["optimizer"] == name and row["mean"]]} for name in optimizers.split(",")],
                 log=True, x_ticks=sizes)  # fmt: skip


def tuned_row(arm):
    """The best setting of an optimiser at a batch size, beside the first optimiser: differences paired by seed, p corrected for all."""
    beside = arm["beside_first"] or {}
    rate = next(axis for axis in arm["axes"] if axis["flag"] == "lr")
    return {"optimizer": arm["optimizer"], "batch_size": arm["batch_size"], "lr": f"{arm['setting']['lr']:g}",
            "end": "highest" if rate["is_highest"] else "lowest" if rate["is_lowest"] else "", "trials": len(arm["trials"]),
            "diverged": arm["trials_diverged"], "seeds": len(arm["top1"]), "top1": points(arm["mean"]), "deviation": points(arm["deviation"]),
            "difference": points(beside.get("mean")), "least": points(beside.get("least")), "most": points(beside.get("most")),
            "p": "" if arm["p"] is None else f"{arm['p']:.3g}", "top1_by_seed": " ".join(points(value) for value in arm["top1"])}  # fmt: skip


def scaling(bench):
    """SGD at a rate that was chosen for the smallest batch: in proportion to the batch or not, warmed up or not."""
    cache, epochs, sizes = setting(bench)
    base = ["--net", "small.toml", "--recipe", "none", "--nesterov", "--weight-decay", 5e-4, "--sched", "poly", "--power", 1, "--epochs", epochs]
    for size in sizes:
        arms = {}
        for scaled in (True, False) if size != sizes[0] else (True,):
            for warmup in (1, 0):
                name = ("scaled" if scaled else "not scaled") + (", warmed up" if warmup else ", not warmed up")
                rate = 0.4 * size / sizes[0] if scaled else 0.4
                arms[name] = [*base, "--batch-size", size, "--lr", rate, "--warmup-epochs", warmup]
        seeds = range(1, 3) if bench.reduced else SEEDS
        titles = {name: f"{size}-{name}".replace(",", "") for name in arms}
        folders = bench.arms(cache, {titles[name]: words for name, words in arms.items()}, seeds)
        table = bench.compare({name: folders[titles[name]] for name in arms})
        bench.table("batches", f"scaling-{size}.csv", table)
        chart.differences(bench.folder("batches") / f"scaling-{size}.svg", f"SGD, a batch of {size}", table)


def tensors(file):
    """name: numbers, of a safetensors file of f32."""
    data = file.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = (8 + length + at for at in entry["data_offsets"])
            yield name, struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])


def norm(values):
    return math.sqrt(math.fsum(value * value for value in values))


def ratios(bench):
    """|w| / |g| of each layer at the end of each epoch of a run by LARS: the gradient is what one step of plain SGD at a rate of 1,
    without momentum and decay, takes from the weights."""
    cache, epochs, sizes = setting(bench)
    size = sizes[-1]
    run = f"runs/ratios-{size}"
    bench.train([(run, cache, ["--net", "small.toml", "--recipe", "none", "--optimizer", "lars", "--lr", 8, "--weight-decay", 5e-4,
                               "--sched", "poly", "--batch-size", size, "--epochs", epochs, "--checkpoint-hist", 100], 1)])  # fmt: skip
    table = []
    checkpoints = bench.work / run / "checkpoints"
    # Of raw results from elsewhere there are no checkpoints, but what was measured of each.
    names = {path.name for path in checkpoints.glob("step-*")} | {out.removeprefix(f"{run}-") for out in bench.kept_outs(f"{run}-step-")}
    for name in sorted(names, key=lambda name: int(name[5:])):
        step = f"{run}-{name}"
        weights = checkpoints / name / "model.safetensors"

        def measure(_, step=step, weights=weights):
            after = next((bench.work / step / "checkpoints").glob("step-1")) / "model.safetensors"
            moved = dict(tensors(after))
            found = {name: norm(w) / norm(a - b for a, b in zip(w, moved[name]))
                     for name, w in tensors(weights) if name.endswith(".weight") and len(w) > 100}  # fmt: skip
            shutil.rmtree(bench.work / step)
            return found

        found = bench.once("train", cache, "--out", step, "--net", "small.toml", "--recipe", "none", "--init-from",
                           weights.relative_to(bench.work), "--lr", 1, "--momentum", 0, "--weight-decay", 0, "--warmup-epochs", 0,
                           "--sched", "constant", "--batch-size", size, "--augment", "none", "--max-steps", 1, "--threads", bench.lanes,
                           "--resume", "auto", "--json", then=measure)  # fmt: skip
        table += [{"step": int(name[5:]), "layer": layer, "weight_norm_by_gradient_norm": f"{ratio:.4g}"} for layer, ratio in found.items()]
    bench.table("batches", "ratios.csv", table)
    names = list(dict.fromkeys(row["layer"] for row in table))
    chart.curves(bench.folder("batches") / "ratios.svg", f"LARS, a batch of {size}: log10 of |w| / |g| of each layer", "step",
                 "log10 |w| / |g|",
                 [{"name": name, "points": [(row["step"], math.log10(float(row["weight_norm_by_gradient_norm"])), None, None)
                                            for row in table if row["layer"] == name]} for name in names])  # fmt: skip


def make(bench, part):
    images.cache(bench, setting(bench)[0])
    {"scaling": scaling, "ratios": ratios, "tuned": tuned}[part](bench)
