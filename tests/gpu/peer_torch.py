"""images/s of PyTorch on the cases of bench_stage.cpp: channels-last, eager, autocast for bf16, SGD.

    python3 tests/gpu/peer_torch.py OUT.json

Prints a line a case and writes JSON. ResNet-20 is the net of train/nets/resnet.cpp; ResNet-50 is
torchvision's.
"""

import json
import statistics
import sys
import time

import torch
from torch import nn

CASES = [
    ("resnet20", 32, 10, 1024, "f32"),
    ("resnet20", 32, 10, 1024, "tf32"),
    ("resnet20", 32, 10, 1024, "bf16"),
    ("resnet50", 224, 1000, 256, "tf32"),
    ("resnet50", 224, 1000, 256, "bf16"),
]
WARM_UP, STEPS = 10, 30


class Block(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = None
        if stride != 1 or inputs != width:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, width, 1, stride, bias=False), nn.BatchNorm2d(width)
            )

    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return torch.relu(y + (x if self.downsample is None else self.downsample(x)))


def resnet20(classes):
    layers = [nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
    inputs = 16
    for stage, width in enumerate((16, 32, 64)):
        for block in range(3):
            layers.append(Block(inputs, width, 2 if stage > 0 and block == 0 else 1))
            inputs = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, classes))


def make_net(name, classes):
    if name == "resnet20":
        return resnet20(classes)
    import torchvision

    return torchvision.models.resnet50(num_classes=classes)


def bench(name, side, classes, batch, dtype):
    torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
    torch.backends.cudnn.allow_tf32 = dtype == "tf32"
    torch.backends.cudnn.benchmark = True
    net = make_net(name, classes).cuda().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(net.parameters(), 0.01, 0.9, weight_decay=5e-4, nesterov=True)
    pixels = torch.randint(0, 256, (batch, side, side, 3), dtype=torch.uint8).pin_memory()
    labels = torch.randint(0, classes, (batch,)).cuda()
    times = []
    for step in range(WARM_UP + STEPS):
        begin = time.perf_counter()
        images = pixels.cuda(non_blocking=True).permute(0, 3, 1, 2)
        images = images.float().div_(255).sub_(0.5).div_(0.25)
        with torch.autocast("cuda", torch.bfloat16, enabled=dtype == "bf16"):
            loss = nn.functional.cross_entropy(net(images), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        loss.item()  # waits, as a trainer does that looks at every loss
        if step >= WARM_UP:
            times.append(time.perf_counter() - begin)
    step_s = statistics.median(times)
    return {
        "name": f"{name} {dtype}",
        "batch": batch,
        "images_per_second": batch / step_s,
        "step_ms": 1e3 * step_s,
        "memory_mib": torch.cuda.max_memory_allocated() / 2**20,
    }


def main():
    items = []
    for case in CASES:
        torch.cuda.reset_peak_memory_stats()
        try:
            items.append(bench(*case))
        except ImportError as error:
            items.append({"name": f"{case[0]} {case[4]}", "state": "left out", "note": str(error)})
        print(items[-1], flush=True)
    facts = {
        "torch": torch.__version__,
        "card": torch.cuda.get_device_name(),
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
    }
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump({"schema": "winnow.gpu/1", "stage": "bench_torch", "facts": facts, "items": items}, file, indent=1)


if __name__ == "__main__":
    main()
