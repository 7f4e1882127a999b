"""The training runs whose results two programs must agree on, and the data they are made on.

A run is a list of commands. Each command is a `Command`: which program (the one that is judged, or always the one
before), on how many ranks, with which arguments. Paths are relative to the folder of the run; `../../data` holds what
`prepare` made.
"""

import dataclasses
import random
import struct

DATA = "../../data"
GRAY = f"{DATA}/gray"  # 1 x 28 x 28, 4 classes, for lenet
COLOUR = f"{DATA}/colour"  # 3 x 32 x 32, 10 classes, every tenth training image a copy of the one before
THREE = f"{DATA}/three"  # colour of 3 classes
WEIGHTS = f"{DATA}/weights.safetensors"  # resnet20 of COLOUR's classes


@dataclasses.dataclass
class Command:
    arguments: list
    ranks: int = 0  # 0: without mpirun
    before: bool = False  # always use the earlier program


def train(*more, cache=COLOUR, net="resnet20", ranks=0, before=False, steps=5, batch=32, micro=8, lr=0.05, out="run",
          threads=1, lane_threads=1):  # fmt: skip
    """One training run. Cores and lanes are fixed, so that no choice of the program changes sums."""
    arguments = ["train", cache, "--out", out, "--net", net, "--batch-size", batch, "--micro-batch", micro, "--lr", lr,
                 "--threads", threads, "--lane-threads", lane_threads, "--log-interval", 1, "--log-batches",
                 "--checkpoint-hist", 20, "--json", *more]  # fmt: skip
    if steps:
        arguments += ["--max-steps", steps]
    return Command([str(a) for a in arguments], ranks, before)


def evaluate(*more, of="run", cache=COLOUR, ranks=0, predictions="predictions.csv"):
    arguments = ["eval", of, cache, "--json", "--threads", 1, "--predictions", predictions, "--logits", *more]
    return Command([str(a) for a in arguments], ranks)


def lenet(*more, **options):
    return train(*more, **{"cache": GRAY, "net": "lenet", **options})


def resnet50(*more, **options):
    return train(*more, **{"net": "resnet50", "steps": 3, "batch": 8, "micro": 4, **options})


RUNS = {
    "lenet": [lenet(), evaluate(cache=GRAY)],
    "lenet_bf16": [lenet("--dtype", "bf16"), evaluate("--dtype", "bf16", cache=GRAY)],
    "lenet_reference": [lenet("--backend", "reference", "--holdout", 0.03, steps=2, batch=8, micro=4)],
    "resnet20": [train(), evaluate()],
    "resnet20_bf16": [train("--dtype", "bf16"), evaluate("--dtype", "bf16")],
    "resnet20_gray": [train(cache=GRAY), evaluate(cache=GRAY)],
    "resnet20_64px": [train("--image-size", 64, "--augment", "imagenet", "--eval-resize", 72, steps=3)],
    "resnet50": [resnet50(), evaluate()],
    "resnet50_bf16": [resnet50("--dtype", "bf16"), evaluate("--dtype", "bf16")],
    "resnet50_96px_ranks2": [resnet50("--image-size", 96, "--holdout", 0.05, ranks=2, steps=2)],
    # Ranks, lanes and threads.
    "ranks1": [train(ranks=1)],
    "ranks2": [train(ranks=2), evaluate(ranks=2)],
    "ranks2_bf16": [train("--dtype", "bf16", ranks=2)],
    "ranks3": [train(ranks=3), evaluate(ranks=3)],
    "ranks3_lenet": [lenet(ranks=3)],
    "ranks3_uneven": [train(ranks=3, batch=40)],
    "lanes2": [train(threads=2)],
    "lanes2_uneven": [train(threads=2, batch=40)],
    "lanes2_bf16": [train("--dtype", "bf16", threads=2)],
    "lanes2_ranks2": [train(threads=2, ranks=2, batch=48)],
    "lanes2_lenet": [lenet(threads=2)],
    "lane_threads2": [train(threads=2, lane_threads=2)],
    "one_micro_batch": [train(micro=32)],
    "largest_micro_batch": [train(micro=0, batch=64)],
    # The same weights on any ranks, cores and schedules.
    "reproducible": [train("--reproducible"), evaluate()],
    "reproducible_bf16": [train("--reproducible", "--dtype", "bf16")],
    "reproducible_lenet": [lenet("--reproducible")],
    "reproducible_resnet50": [resnet50("--reproducible")],
    "reproducible_ranks2": [train("--reproducible", ranks=2)],
    "reproducible_ranks3": [train("--reproducible", "--schedule", "ring", "--bucket-size", 128, ranks=3)],
    "reproducible_lanes2": [train("--reproducible", threads=2)],
    "reproducible_lars": [train("--reproducible", "--optimizer", "lars", lr=1, ranks=2)],
    "reproducible_frozen": [train("--reproducible", "--init-from", WEIGHTS, "--freeze", "layer1.*", ranks=2)],
    # Stopping and resuming.
    "epochs2": [train("--epochs", 2, steps=0)],
    "epochs2_ranks2": [lenet("--epochs", 2, steps=0, ranks=2)],
    "recovery_interval": [train("--recovery-interval", 2, steps=7)],
    "resume": [train(steps=3), train("--resume", "auto", steps=7)],
    "resume_next_epoch": [lenet("--epochs", 2, steps=10), lenet("--epochs", 2, "--resume", "auto", steps=0)],
    "resume_before": [train(steps=3, before=True), train("--resume", "auto", steps=7), evaluate()],
    "resume_before_lars": [train("--optimizer", "lars", steps=3, before=True),
                           train("--optimizer", "lars", "--resume", "auto", steps=7)],
    "resume_before_bf16": [train("--dtype", "bf16", steps=3, ranks=2, before=True),
                           train("--dtype", "bf16", "--resume", "auto", steps=7, ranks=2)],
    "resume_before_reproducible": [train("--reproducible", steps=3, before=True),
                                   train("--reproducible", "--resume", "auto", steps=7, ranks=2)],
    "resume_ranks": [train("--reproducible", steps=3, ranks=3),
                     train("--reproducible", "--resume", "auto", steps=7, ranks=2)],
    # Sources of weights, and which are trained.
    "init_from": [train("--init-from", WEIGHTS)],
    "init_from_other_classes": [train("--init-from", WEIGHTS, cache=THREE)],
    "freeze": [train("--init-from", WEIGHTS, "--freeze", "conv1.*", "bn1.*", "layer1.*")],
    "freeze_middle": [train("--freeze", "layer2.*", ranks=2)],
    "freeze_all_but_fc": [train("--init-from", WEIGHTS, "--freeze", "conv1.*", "bn1.*", "layer*")],
    "lr_scale": [train("--init-from", WEIGHTS, "--lr-scale", "layer*=0.1", "fc.*=3")],
    "lr_scale_lars": [train("--optimizer", "lars", "--lr-scale", "layer3.*=0.1", ranks=2)],
    # Recipes.
    "lars": [train("--optimizer", "lars", lr=1)],
    "lars_eta": [train("--optimizer", "lars", "--lars-eta", 0.01, "--weight-decay", 0.001, lr=1, ranks=2)],
    "no_nesterov": [train("--no-nesterov")],
    "momentum": [train("--momentum", 0.5, "--weight-decay", 0)],
    "momentum0": [lenet("--momentum", 0, "--no-nesterov")],
    "poly": [train("--sched", "poly", "--epochs", 1, "--warmup-epochs", 0)],
    "cosine": [train("--sched", "cosine", "--epochs", 1, "--warmup-epochs", 0)],
    "constant": [train("--sched", "constant", "--epochs", 1, "--warmup-epochs", 0)],
    "warmup": [lenet("--sched", "poly", "--epochs", 1, "--warmup-epochs", 0.3, steps=0)],
    "label_smoothing": [train("--label-smoothing", 0.1)],
    "seed": [train("--seed", 7)],
    # Data.
    "holdout": [train("--holdout", 0.2), evaluate("--split", "train")],
    "selection": [train("--selection", "kept"), evaluate()],
    "selection_weights": [train("--selection", "weighted", "--label-smoothing", 0.1, ranks=2)],
    "sampling_weighted": [train("--selection", "weighted", "--sampling", "weighted")],
    "sampling_balanced": [train("--sampling", "balanced", ranks=2)],
    "augment_none": [train("--augment", "none")],
    "augment_mix": [train("--augment", "crop+flip+erase:p=0.5+mixup+cutmix", ranks=2)],
    "shuffle_fraction": [train("--shuffle-fraction", 0.1, "--partitions", 4, ranks=2)],
    "memory": [train("--memory-dir", ".", "--ranks-per-machine", 1, ranks=2)],
    # All-reduce.
    "ring2": [train("--schedule", "ring", ranks=2)],
    "ring3": [train("--schedule", "ring", ranks=3)],
    "ring3_small_buckets": [lenet("--schedule", "ring", "--bucket-size", 16, ranks=3)],
    "colors1": [train("--colors", 1, ranks=3)],
    "colors7": [train("--colors", 7, "--bucket-size", 256, ranks=3)],
    "bucket_16": [train("--bucket-size", 16, ranks=2, threads=2)],
    "bucket_64_one_rank": [train("--bucket-size", 64)],
    # A file of weights, evaluated on another split and by another number of ranks.
    "eval_file": [evaluate("--net", "resnet20", of=WEIGHTS), evaluate("--net", "resnet20", "--split", "train", of=WEIGHTS,
                  ranks=3, predictions="train.csv")],
}  # fmt: skip


def images(rng, count, size, classes):
    """`count` images of `size` bytes with labels: noise that is lighter in another place for each class."""
    labels = bytes(rng.randrange(classes) for _ in range(count))
    dark = bytes(i * 5 // 8 for i in range(256))
    light = bytes(96 + i * 5 // 8 for i in range(256))
    found = []
    for label in labels:
        noise = rng.randbytes(size)
        begin, end = size * label // classes, size * (label + 1) // classes
        found.append(noise[:begin].translate(dark) + noise[begin:end].translate(light) + noise[end:].translate(dark))
    return found, labels


def write_idx(folder, rng):
    folder.mkdir()
    for prefix, count in (("train", 480), ("t10k", 96)):
        pictures, labels = images(rng, count, 28 * 28, 4)
        (folder / f"{prefix}-images-idx3-ubyte").write_bytes(struct.pack(">IIII", 0x803, count, 28, 28) + b"".join(pictures))
        (folder / f"{prefix}-labels-idx1-ubyte").write_bytes(struct.pack(">II", 0x801, count) + labels)


def write_cifar(folder, rng, classes):
    folder.mkdir()
    for name, count in (("data_batch_1.bin", 400), ("test_batch.bin", 80)):
        pictures, labels = images(rng, count, 3 * 32 * 32, classes)
        rows = [bytes([label]) + picture for label, picture in zip(labels, pictures)]
        if name.startswith("data"):
            rows[9::10] = rows[8::10]
        (folder / name).write_bytes(b"".join(rows))


def write_folder(folder, rng, classes):
    for split, count in (("train", 200), ("test", 40)):
        pictures, labels = images(rng, count, 3 * 32 * 32, classes)
        for number, (label, picture) in enumerate(zip(labels, pictures)):
            path = folder / split / f"class{label}" / f"{number:04}.ppm"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"P6\n32 32\n255\n" + picture)


def prepare(folder, call):
    """Makes the caches, selections and weights in `folder`; `call(arguments)` runs the earlier program."""
    rng = random.Random("same bits")
    write_idx(folder / "idx", rng)
    write_cifar(folder / "cifar", rng, 10)
    write_folder(folder / "classes", rng, 3)
    for source, cache in (("idx", "gray"), ("cifar", "colour"), ("classes", "three")):
        call(["ingest", folder / source, "--out", folder / cache])
    for name, mode in (("kept", "keep"), ("weighted", "weight")):
        call(["dedup", folder / "colour", "--hash", "exact", "--name", name, "--mode", mode])
    call(["train", folder / "colour", "--out", folder / "start", "--net", "resnet20", "--batch-size", "32",
          "--max-steps", "8", "--threads", "1", "--seed", "3"])  # fmt: skip
    (folder / "start" / "checkpoints" / "latest" / "model.safetensors").rename(folder / "weights.safetensors")
