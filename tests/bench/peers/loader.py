"""Batches of training images a second, as ../loader/measure has them."""

import statistics

import bench

SECONDS = 3
CASES = ("photos", "cifar")
WORKERS = {"PIL": (2, 3), "io": (2, 3), "cifar": (1, 2)}  # the best counts


def own_rates(of, winnow, folder):
    """What the program's loader does, by label, of all cases."""
    return {label: rate for case in CASES for label, rate in of.winnow_rates(winnow, folder, case, SECONDS).items()}


def measure(b):
    of = bench.script("loader/measure")
    peers = [("torch", f"torchvision:{what}:{workers}") for what, of_what in WORKERS.items() for workers in of_what]
    peers += [("dali", "dali"), ("ffcv", "ffcv")]
    contenders = {"winnow": lambda folder: own_rates(of, b.winnow, folder)}
    for name, peer in peers:
        if name in b.pythons:
            contenders[peer] = lambda folder, n=name, p=peer: of.ask_peer(b.pythons[n], p, folder, SECONDS)
    rounds = b.rounds_of("loader", lambda folder: of.make(b.winnow, b.data, folder), contenders)
    lines = list(bench.HEAD)
    for key, what, own, theirs, peer in (
        (("crops", "torchvision"), "crops of 224 pixels from JPEG photos", "photos: winnow", ("torchvision:PIL", "torchvision:io"),
         "torchvision, DataLoader"),
        (("crops", "DALI"), "the same", "photos: winnow", ("dali",), "DALI, CPU operators"),
        (("crops", "FFCV"), "the same", "photos: winnow", ("ffcv",), "FFCV, JPEGs of quality 90"),
        (("cifar", "torchvision"), "CIFAR-10, pad-crop and flip", "cifar: winnow", ("torchvision:cifar",), "torchvision, DataLoader"),
    ):  # fmt: skip
        names = [name for name in contenders if name.startswith(theirs)]
        if names:
            best = max(names, key=lambda name: statistics.median(r[name] for r in rounds))
            ratios = [r["winnow"][own] / r[best] for r in rounds]
            lines.append(b.row(key, f"{what}, images/s", "2 threads", peer, (statistics.median(ratios), ratios)))
    return lines
