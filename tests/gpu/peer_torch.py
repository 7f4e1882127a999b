"""Images/s of PyTorch, for turns with the suite's program: channels-last, autocast for bf16, SGD.

    python3 tests/gpu/peer_torch.py eager|compiled [DEVICE]

Reads cases as turns.py writes them ("resnet20 32 10 1024 bf16 10 30") and answers each with a line of JSON, after one with versions.
`compiled` is torch.compile(mode="reduce-overhead") of the net with its loss; it compiles in the steps to warm up, which are not timed.
A net stays ready until another case is asked for. ResNet-20 is the net of train/nets/resnet.cpp; ResNet-50 is torchvision's.
"""

import json
import statistics
import sys
import time

import torch
from torch import nn


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


class Prepared:
    """A net in training."""

    def __init__(self, mode, device, name, side, classes, batch, dtype):
        torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
        torch.backends.cudnn.allow_tf32 = dtype == "tf32"
        torch.backends.cudnn.benchmark = True
        self.device = device
        self.net = make_net(name, classes).to(device, memory_format=torch.channels_last)
        self.optimizer = torch.optim.SGD(self.net.parameters(), 0.01, 0.9, weight_decay=5e-4, nesterov=True)
        self.pixels = torch.randint(0, 256, (batch, side, side, 3), dtype=torch.uint8)
        if device == "cuda":
            self.pixels = self.pixels.pin_memory()
        self.labels = torch.randint(0, classes, (batch,)).to(device)
        self.half = dtype == "bf16"
        self.compiled = mode == "compiled"
        self.loss_of = torch.compile(self.forward, mode="reduce-overhead") if self.compiled else self.forward

    def forward(self, images, labels):
        with torch.autocast(self.device, torch.bfloat16, enabled=self.half):
            return nn.functional.cross_entropy(self.net(images), labels)

    def step(self):
        begin = time.perf_counter()
        if self.compiled:
            torch.compiler.cudagraph_mark_step_begin()
        images = self.pixels.to(self.device, non_blocking=True).permute(0, 3, 1, 2)
        images = images.float().div_(255).sub_(0.5).div_(0.25)
        loss = self.loss_of(images, self.labels)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        loss.item()  # waits, as a trainer does that looks at every loss
        return time.perf_counter() - begin


def main():
    mode, device = sys.argv[1], (sys.argv[2:] or ["cuda"])[0]
    on_card = device == "cuda"
    facts = {"torch": torch.__version__, "mode": mode, "card": torch.cuda.get_device_name() if on_card else device,
             "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version()}  # fmt: skip
    print(json.dumps({"facts": facts}), flush=True)
    prepared, made_for = None, None
    for line in sys.stdin:
        try:
            name, side, classes, batch, dtype, warm_up, steps = line.split()
            if made_for != (name, side, classes, batch, dtype):
                prepared, made_for = None, None
                if on_card:
                    torch.cuda.empty_cache()
                    torch.cuda.reset_peak_memory_stats()
                prepared = Prepared(mode, device, name, int(side), int(classes), int(batch), dtype)
                made_for = (name, side, classes, batch, dtype)
            for _ in range(int(warm_up)):
                prepared.step()
            times = [prepared.step() for _ in range(int(steps))]
            answer = {"images_per_second": int(batch) / statistics.median(times), "step_ms": 1e3 * statistics.median(times),
                      "slowest_step_ms": 1e3 * max(times),
                      "memory_mib": torch.cuda.max_memory_allocated() / 2**20 if on_card else 0}  # fmt: skip
        except Exception as error:  # whatever it is, the next case may do
            prepared, made_for = None, None
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
