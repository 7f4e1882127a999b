"""in_ddp.py MEET NET DTYPE LAYOUT BATCH STEPS RANK: milliseconds of a training step with DistributedDataParallel and gloo.

NET is resnet20 (He et al. 2016, projections as 1 x 1 convolutions) or one of torchvision's. BATCH is a rank's. LAYOUT is
contiguous, channels_last or compiled (channels_last and torch.compile). MEET is a file that both
ranks name. Images are random bytes in memory, normalised in the step.
"""

import statistics
import sys
import time

import torch
import torch.distributed as dist
import torchvision
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.main = nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(True),
                                  nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs))  # fmt: skip
        self.side = nn.Sequential()
        if stride != 1:
            self.side = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return torch.relu(self.main(x) + self.side(x))


def resnet20(classes):
    blocks = [Block(i, o, s) for i, o, first in ((16, 16, 1), (16, 32, 2), (32, 64, 2)) for i, o, s in
              ((i, o, first), (o, o, 1), (o, o, 1))]  # fmt: skip
    return nn.Sequential(nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(True), *blocks,
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, classes))  # fmt: skip


def main():
    meet, name, dtype, layout, batch, steps, rank = sys.argv[1:]
    batch, steps, skipped = int(batch), int(steps), 5
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{meet}", rank=int(rank), world_size=2)
    torch.manual_seed(1)
    net = resnet20(10) if name == "resnet20" else torchvision.models.get_model(name, weights=None, num_classes=10)
    form = torch.contiguous_format if layout == "contiguous" else torch.channels_last
    net = DistributedDataParallel(net.to(memory_format=form), gradient_as_bucket_view=True)
    called = torch.compile(net) if layout == "compiled" else net
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4, foreach=True)
    loss_of = nn.CrossEntropyLoss()
    images = torch.randint(0, 256, (4000, 3, 32, 32), dtype=torch.uint8).to(memory_format=form)
    labels = torch.randint(0, 10, (4000,))
    times = []
    for _ in range(steps + skipped):
        begin = time.monotonic()
        rows = torch.randint(0, len(images), (batch,))
        pixels = (images[rows].float() - 128) / 64
        with torch.autocast("cpu", torch.bfloat16, enabled=dtype == "bf16"):
            loss = loss_of(called(pixels.to(memory_format=form)), labels[rows])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        loss.item()
        times.append(time.monotonic() - begin)
    if dist.get_rank() == 0:
        print("ms", 1000 * statistics.median(times[skipped:]))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
