"""Fine-tunes a net of timm with timm's optimiser, schedule and loss, on winnow's batches, mixed by winnow:

    pip install timm
    python3 timm_style.py cache --model resnet18 --selection near --epochs 5
"""

import argparse

import timm
import torch
from timm.loss import SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2
from timm.scheduler import create_scheduler_v2

import winnow

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("cache")
parser.add_argument("--model", default="resnet18")
parser.add_argument("--pretrained", action="store_true", help="weights from the network")
parser.add_argument("--selection", default="")
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--batch-size", type=int, default=64)
parser.add_argument("--image-size", type=int, default=160)
o = parser.parse_args()

cache = winnow.Cache(o.cache)
classes = len(cache.class_names)
net = timm.create_model(o.model, pretrained=o.pretrained, num_classes=classes)
mean, deviation = (255 * torch.tensor(net.default_cfg[name]).view(1, -1, 1, 1) for name in ("mean", "std"))
loader = winnow.Loader(cache, o.batch_size, augment="resized_crop+flip+rand_augment+mixup+cutmix", image_size=o.image_size,
                       selection=o.selection, epochs=o.epochs)  # fmt: skip
optimizer = create_optimizer_v2(net, opt="adamw", lr=1e-3, weight_decay=0.05)
schedule, _ = create_scheduler_v2(optimizer, sched="cosine", num_epochs=o.epochs, warmup_epochs=1, warmup_lr=1e-5, updates_per_epoch=len(loader),
                                  step_on_epochs=False)  # fmt: skip
loss_of = SoftTargetCrossEntropy()
for epoch in range(o.epochs):
    net.train()
    for batch in loader:
        loss = loss_of(net((batch.images - mean) / deviation), batch.targets(classes))  # soft, for samples are mixed
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step_update(batch.step + 1)
    net.eval()
    right = 0
    test = winnow.Evaluation(cache, o.batch_size, augment=f"centre_crop:resize={o.image_size * 8 // 7}", image_size=o.image_size)
    with torch.no_grad():
        for batch in test:
            right += (net((batch.images - mean) / deviation).argmax(1) == batch.labels).sum().item()
    print(f"epoch {epoch}: loss {loss.item():.3f}, {right} of {test.samples} test pictures right", flush=True)
