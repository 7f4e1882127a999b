"""Trains by Lightning's Trainer, with winnow.Loader where a DataLoader goes, or with winnow.torch.Sampler in a DataLoader:

    pip install pytorch-lightning
    python3 lightning_style.py cache --selection near --epochs 5 [--data-loader] [--checkpoint FILE]

With --checkpoint it keeps its state there, and goes on with what is there: also in the middle of an epoch, for Lightning keeps the state of a Loader.
"""

import argparse
import pathlib

import pytorch_lightning as lightning
import torch
import torchvision

import winnow
import winnow.torch

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("cache")
parser.add_argument("--selection", default="")
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--batch-size", type=int, default=64)
parser.add_argument("--image-size", type=int, default=64)
parser.add_argument("--data-loader", action="store_true", help="torch's, with winnow's order and augmentation")
parser.add_argument("--checkpoint", help="to go on from, and to write in the end")
o = parser.parse_args()


class Data(lightning.LightningDataModule):
    def train_dataloader(self):
        if not o.data_loader:
            return TrainingPairs(winnow.Loader(o.cache, o.batch_size, augment="imagenet", image_size=o.image_size, selection=o.selection))
        dataset = winnow.torch.Dataset(o.cache, selection=o.selection, transform=Augment())
        sampler = winnow.torch.Sampler(dataset, o.batch_size)
        return torch.utils.data.DataLoader(dataset, batch_size=sampler.part, sampler=sampler)

    def val_dataloader(self):
        return Pairs(winnow.Evaluation(o.cache, o.batch_size, image_size=o.image_size))


class Pairs:
    """Batches as (images, labels), which Lightning moves to its device."""

    def __init__(self, batches):
        self.batches = batches

    def __iter__(self):
        return ((batch.images, batch.labels) for batch in self.batches)


class TrainingPairs(Pairs):
    """With its state: Lightning asks for a length, too, as it would otherwise draw one batch ahead of what it has used."""

    def __len__(self):
        return len(self.batches)

    def state_dict(self):
        return self.batches.state_dict()

    def load_state_dict(self, state):
        self.batches.load_state_dict(state)


class Augment:
    """Tensors (channels, height, width) of pictures (height, width, channels)."""

    def __init__(self):
        self.recipe = winnow.torchvision_transform("imagenet", o.image_size)

    def __call__(self, picture):
        return torch.from_numpy(self.recipe(picture)).permute(2, 0, 1)


class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        cache = winnow.Cache(o.cache)
        for name, values in (("mean", cache.mean), ("deviation", cache.deviation)):
            self.register_buffer(name, 255 * torch.tensor(values).view(1, -1, 1, 1), persistent=False)
        self.net = torchvision.models.resnet18(num_classes=len(cache.class_names))

    def forward(self, images):
        return self.net(((images - self.mean) / self.deviation).expand(-1, 3, -1, -1))  # gray ones too

    def training_step(self, batch, _):
        images, labels = batch
        loss = torch.nn.functional.cross_entropy(self(images), labels)
        self.log("loss", loss, batch_size=len(labels))
        return loss

    def validation_step(self, batch, _):
        images, labels = batch
        self.log("right", (self(images).argmax(1) == labels).float().mean(), batch_size=len(labels))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


trainer = lightning.Trainer(max_epochs=o.epochs, accelerator="auto", devices=1, use_distributed_sampler=False, logger=False,
                            enable_checkpointing=False, enable_progress_bar=False, num_sanity_val_steps=0)  # fmt: skip
trainer.fit(Net(), datamodule=Data(), ckpt_path=o.checkpoint if o.checkpoint and pathlib.Path(o.checkpoint).exists() else None)
if o.checkpoint:
    trainer.save_checkpoint(o.checkpoint)
print(", ".join(f"{name} {value:.3f}" for name, value in trainer.callback_metrics.items()))
