"""Trains ResNet-20 by PyTorch, on a selection and with the batches of winnow, on any number of ranks:

    winnow ingest cifar10-jpeg.tar.xz --out cifar && winnow dedup cifar --name near
    torchrun --nproc_per_node 2 resnet20.py cifar --selection near --epochs 5

The same by winnow alone, with the same recipe, order and pixels:

    mpirun -np 2 winnow train cifar --out run --net resnet20 --selection near --epochs 5 --batch-size 128 --micro-batch 64 \\
      --recipe none --augment cifar --lr 0.1 --momentum 0.9 --weight-decay 0.0005 --warmup-epochs 1 --sched poly --power 1

`winnow eval resnet20.safetensors cifar --net resnet20` has the weights that this writes.
"""

import argparse

import torch
import torch.distributed as dist
from torch import nn
from torchvision.models.resnet import BasicBlock

import winnow

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("cache")
parser.add_argument("--selection", default="")
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--batch-size", type=int, default=128, help="of all ranks together")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--init", help="weights to begin with, as of --init-from")
parser.add_argument("--out", default="resnet20.safetensors")
o = parser.parse_args()


class ResNet20(nn.Module):  # names and shapes of winnow's
    def __init__(self, channels, classes):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(channels, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16)
        for stage, (inputs, outputs) in enumerate(((16, 16), (16, 32), (32, 64)), 1):
            narrower = nn.Sequential(nn.Conv2d(inputs, outputs, 1, 2, bias=False), nn.BatchNorm2d(outputs)) if stage > 1 else None
            first = BasicBlock(inputs, outputs, 2 if stage > 1 else 1, narrower)
            setattr(self, f"layer{stage}", nn.Sequential(first, BasicBlock(outputs, outputs), BasicBlock(outputs, outputs)))
        self.fc = nn.Linear(64, classes)
        for conv in (module for module in self.modules() if isinstance(module, nn.Conv2d)):
            nn.init.kaiming_normal_(conv.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, images):
        features = self.layer3(self.layer2(self.layer1(torch.relu(self.bn1(self.conv1(images))))))
        return self.fc(features.mean((2, 3)))


dist.init_process_group("gloo")
torch.manual_seed(o.seed)
cache = winnow.Cache(o.cache)
mean, deviation = (255 * torch.tensor(values).view(1, -1, 1, 1) for values in (cache.mean, cache.deviation))
loader = winnow.Loader(cache, o.batch_size, augment="cifar", image_size=32, selection=o.selection, seed=o.seed)
own = ResNet20(cache.image_shape[2], len(cache.class_names)).to(memory_format=torch.channels_last)
if o.init:
    own.load_state_dict(winnow.load_weights(o.init))
net = nn.parallel.DistributedDataParallel(own)
filters, rest = ([p for p in own.parameters() if (p.ndim > 1) == many] for many in (True, False))  # batch norm and biases do not decay
optimizer = torch.optim.SGD([{"params": filters, "weight_decay": 5e-4}, {"params": rest}], lr=0.1, momentum=0.9, nesterov=True)
warmup, steps = round(loader.samples / o.batch_size), loader.samples * o.epochs // o.batch_size
rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda t: (t + 1) / warmup if t < warmup else 1 - (t - warmup) / max(1, steps - warmup))
while loader.step < steps:
    batch = loader.next()
    losses = nn.functional.cross_entropy(net((batch.images - mean) / deviation), batch.labels, reduction="none")
    loss = (batch.weights * losses).sum() * loader.ranks / loader.weight_of_batch(batch.step)  # DDP takes the mean over ranks
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    rate.step()
    if loader.rank == 0 and loader.step in (steps, loader.first_step(loader.epoch)):
        print(f"step {loader.step} of {steps}: loss {loss.item():.3f}", flush=True)

own.eval()
right = torch.zeros(())
test = winnow.Evaluation(cache, 256, image_size=32)
with torch.no_grad():
    for batch in test:
        right += (own((batch.images - mean) / deviation).argmax(1) == batch.labels).sum()
dist.all_reduce(right)
if loader.rank == 0:
    print(f"test accuracy {100 * right.item() / test.samples:.2f} % on {test.samples} images")
    winnow.save_weights(o.out, own.state_dict())
dist.destroy_process_group()
