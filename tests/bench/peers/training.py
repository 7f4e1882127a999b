"""Images a second of training on two ranks of one thread: winnow under mpirun beside DDP with gloo."""

import os
import statistics
import subprocess
import tempfile

import bench

BATCH = 128  # of both ranks
STEPS = 40
NETS = {"resnet20": ["channels_last"], "resnet18": ["contiguous", "channels_last"]}  # PyTorch's layouts, the best counts


def ddp_ms(python, net, dtype, layout):
    """Ranks are started here and not by torchrun, which gives each a session of its own, and so another priority."""
    with tempfile.TemporaryDirectory(prefix="ddp-") as folder:
        command = [python, bench.HERE / "in_ddp.py", f"{folder}/meet", net, dtype, layout, str(BATCH // 2), str(STEPS)]
        ranks = [subprocess.Popen([*command, str(rank)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, "OMP_NUM_THREADS": "1"}) for rank in (0, 1)]  # fmt: skip
        said = [rank.communicate() for rank in ranks]
    for rank, (_, errors) in zip(ranks, said):
        if rank.returncode:
            raise SystemExit(errors[-3000:])
    return float(said[0][0].split()[-1])


def measure(b):
    step = bench.script("step/measure")
    if "torch" not in b.pythons:
        return ["PyTorch is not here."]
    contenders = {}
    for net, layouts in NETS.items():
        for dtype in ("f32", "bf16"):
            name = f"{net} {dtype}"
            step.CASES[name] = (STEPS, ["--net", net, "--image-size", "32", "--batch-size", str(BATCH), "--micro-batch",
                                        str(BATCH // 2), "--dtype", dtype, "--threads", "1"], 2)  # fmt: skip
            contenders[f"{name}: winnow"] = lambda folder, name=name: step.step_ms(b.winnow, folder / "cache", name)
            for layout in layouts:
                contenders[f"{name}: DDP {layout}"] = lambda _, n=net, d=dtype, x=layout: ddp_ms(b.pythons["torch"], n, d, x)
    rounds = b.rounds_of("training", lambda folder: step.make_cache(b.winnow, folder), contenders)
    lines = list(bench.HEAD)
    for net, layouts in NETS.items():
        for dtype in ("f32", "bf16"):
            name = f"{net} {dtype}"
            best = min((f"{name}: DDP {x}" for x in layouts), key=lambda x: statistics.median(r[x] for r in rounds))
            of = [r[best] / r[f"{name}: winnow"] for r in rounds]
            lines.append(b.row((name, "DDP"), f"training, {net} {dtype}, images/s", "2 ranks under mpirun", best.split(": ")[1] + ", gloo",
                                   (statistics.median(of), of)))  # fmt: skip
    return lines
