"""Writes steps of PyTorch's optimisers and learning-rate schedules as files that test train.optim reads.

python3 vectors.py FOLDER writes FOLDER/optimizers/NAME.json and FOLDER/schedules/NAME.json; tests/data/optim has
them. To add one: a row of OPTIMIZERS or SCHEDULES.
"""

import itertools
import json
import pathlib
import sys

import torch

STEPS = 6
BASE = 0.4  # learning rate of schedules


def sgd(groups, lr, options):
    return torch.optim.SGD(groups, lr=lr, momentum=options["momentum"], nesterov=bool(options["nesterov"]))


def adamw(groups, lr, options):
    return torch.optim.AdamW(groups, lr=lr, betas=(options["beta1"], options["beta2"]), eps=options["eps"])


def rmsprop(groups, lr, options):
    return torch.optim.RMSprop(groups, lr=lr, alpha=options["alpha"], eps=options["eps"], momentum=options["momentum"])


# winnow's name: (how PyTorch makes it for groups with their weight decay, {slot: PyTorch's name}, options of the cases)
OPTIMIZERS = {
    "sgd": (sgd, {"momentum": "momentum_buffer"}, [
        {"momentum": 0.9, "weight_decay": 1e-4, "nesterov": 1},
        {"momentum": 0.5, "weight_decay": 0.05, "nesterov": 0},
    ]),
    "adamw": (adamw, {"exp_avg": "exp_avg", "exp_avg_sq": "exp_avg_sq"}, [
        {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.01},
        {"beta1": 0.5, "beta2": 0.9, "eps": 1e-3, "weight_decay": 0.3},
    ]),
    "rmsprop": (rmsprop, {"square_avg": "square_avg", "momentum": "momentum_buffer"}, [
        {"alpha": 0.95, "eps": 1e-8, "momentum": 0.9, "weight_decay": 1e-5},
        {"alpha": 0.5, "eps": 1e-2, "momentum": 0.3, "weight_decay": 0.02},
    ]),
}


def cosine(optimizer, total_steps, steps_per_epoch, options):
    return torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, total_steps), 1


def multistep(optimizer, total_steps, steps_per_epoch, options):
    return torch.optim.lr_scheduler.MultiStepLR(optimizer, options["milestones"], options["gamma"]), steps_per_epoch


def onecycle(optimizer, total_steps, steps_per_epoch, options):
    return torch.optim.lr_scheduler.OneCycleLR(
        optimizer, BASE, total_steps, cycle_momentum=False, **options), 1


def poly(optimizer, total_steps, steps_per_epoch, options):
    return torch.optim.lr_scheduler.PolynomialLR(optimizer, total_steps, options["power"]), 1


# winnow's name: (how PyTorch makes it, the number of steps after which it is stepped, options of the cases)
SCHEDULES = {
    "cosine": (cosine, [{}]),
    "poly": (poly, [{"power": 2}, {"power": 1}, {"power": 0.9}]),
    "onecycle": (onecycle, [{"pct_start": 0.3, "div_factor": 25, "final_div_factor": 1e4},
                            {"pct_start": 0.5, "div_factor": 4, "final_div_factor": 10}]),
    "multistep": (multistep, [{"milestones": [2, 5, 6], "gamma": 0.1}, {"milestones": [1, 7], "gamma": 0.5}]),
}


def optimizer_case(make, slots, options, decay):
    """A few elements: one has gradients near the smallest that matter, one has none."""
    random = torch.Generator().manual_seed(7)
    rates = [0.1 / (1 + step) for step in range(STEPS)]
    start = torch.tensor([0.5, -1.5, 2.0, 1e-3, -3.0, 0.25, 7.0, 1.0])
    scales = torch.tensor([1.0, 0.1, 10.0, 1e-3, 1e-8, 0.0, 3.0, 100.0])
    gradients = [torch.randn(8, generator=random) * scales for _ in range(STEPS)]
    parameter = torch.nn.Parameter(start.clone())
    groups = [{"params": [parameter], "weight_decay": options["weight_decay"] if decay else 0}]
    optimizer = make(groups, rates[0], options)
    after = []
    for rate, gradient in zip(rates, gradients):
        optimizer.param_groups[0]["lr"] = rate
        parameter.grad = gradient.clone()
        optimizer.step()
        state = optimizer.state[parameter]
        after.append({"value": parameter.tolist(), **{ours: state[theirs].tolist() for ours, theirs in slots.items()}})
    return {"options": options, "decay": decay, "rates": rates, "start": start.tolist(),
            "gradients": [gradient.tolist() for gradient in gradients], "after": after}


def schedule_case(make, options, steps_per_epoch, epochs=8, base=BASE):
    total_steps = steps_per_epoch * epochs
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=base)
    schedule, every = make(optimizer, total_steps, steps_per_epoch, options)
    rates = []
    for step in range(total_steps):
        rates.append(schedule.get_last_lr()[0])
        optimizer.step()
        if (step + 1) % every == 0:
            schedule.step()
    return {"options": options, "base": base, "steps_per_epoch": steps_per_epoch, "total_steps": total_steps,
            "rates": rates}


def vectors():
    """{file: its content}"""
    files = {}
    for name, (make, slots, options) in OPTIMIZERS.items():
        files[f"optimizers/{name}.json"] = [
            optimizer_case(make, slots, o, decay) for o, decay in itertools.product(options, (True, False))]
    for name, (make, options) in SCHEDULES.items():
        files[f"schedules/{name}.json"] = [
            schedule_case(make, o, steps_per_epoch) for o, steps_per_epoch in itertools.product(options, (1, 5))]
    return files


def numbers(value):
    """All numbers anywhere in it, in order."""
    if isinstance(value, dict):
        value = list(value.values())
    return [n for item in value for n in numbers(item)] if isinstance(value, list) else [value]


if __name__ == "__main__":
    for name, cases in vectors().items():
        path = pathlib.Path(sys.argv[1]) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")
