"""Nets of winnow that torchvision lacks, as plain PyTorch modules with the same names."""

import torch
from torch import nn
from torch.nn import functional as F

from nets import BasicBlock


def conv(inputs, filters, kernel=1, stride=1):
    return nn.Conv2d(inputs, filters, kernel, stride, padding=kernel // 2, bias=False)


def stages(block, inputs, widths, blocks, expansion=1):
    """Sequences of blocks. Each sequence but the first begins with a strided block."""
    made = []
    for stage, width in enumerate(widths):
        layers = []
        for i in range(blocks[stage]):
            layers.append(block(inputs, width, 2 if stage > 0 and i == 0 else 1))
            inputs = expansion * width
        made.append(nn.Sequential(*layers))
    return made


class SmallResNet(nn.Module):
    def __init__(self, blocks, classes=10):
        super().__init__()
        self.conv1, self.bn1 = conv(3, 16, 3), nn.BatchNorm2d(16)
        self.layer1, self.layer2, self.layer3 = stages(BasicBlock, 16, (16, 32, 64), [blocks] * 3)
        self.fc = nn.Linear(64, classes)

    def forward(self, x):
        x = self.layer3(self.layer2(self.layer1(F.relu(self.bn1(self.conv1(x))))))
        return self.fc(x.mean((2, 3)))


class PreactivatedBlock(nn.Module):
    """He et al. 2016b. `kernels` are those of its convolutions; the last has `expansion` times the width."""

    def __init__(self, inputs, width, stride, kernels=(3, 3), expansion=1):
        super().__init__()
        self.count = len(kernels)
        filters = [width] * (self.count - 1) + [expansion * width]
        strided = kernels.index(3)
        channels = inputs
        for i, kernel in enumerate(kernels):
            setattr(self, f"bn{i + 1}", nn.BatchNorm2d(channels))
            setattr(self, f"conv{i + 1}", conv(channels, filters[i], kernel, stride if i == strided else 1))
            channels = filters[i]
        self.downsample = None
        if stride != 1 or inputs != channels:
            self.downsample = nn.Sequential(conv(inputs, channels, 1, stride))

    def forward(self, x):
        y, shortcut = x, x
        for i in range(1, self.count + 1):
            y = F.relu(getattr(self, f"bn{i}")(y))
            if i == 1 and self.downsample is not None:
                shortcut = self.downsample(y)
            y = getattr(self, f"conv{i}")(y)
        return y + shortcut


class WideResNet(nn.Module):
    def __init__(self, layers, widen, classes=10):
        super().__init__()
        self.conv1 = conv(3, 16, 3)
        widths = [widen * width for width in (16, 32, 64)]
        self.layer1, self.layer2, self.layer3 = stages(PreactivatedBlock, 16, widths, [(layers - 4) // 6] * 3)
        self.bn1 = nn.BatchNorm2d(widths[-1])
        self.fc = nn.Linear(widths[-1], classes)

    def forward(self, x):
        x = self.layer3(self.layer2(self.layer1(self.conv1(x))))
        return self.fc(F.relu(self.bn1(x)).mean((2, 3)))


class ResNet50v2(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.conv1 = conv(3, 64, 7, 2)
        self.maxpool = nn.MaxPool2d(3, 2, padding=1)
        self.layer1, self.layer2, self.layer3, self.layer4 = stages(
            lambda inputs, width, stride: PreactivatedBlock(inputs, width, stride, (1, 3, 1), 4),
            64, (64, 128, 256, 512), (3, 4, 6, 3), 4)
        self.norm = nn.BatchNorm2d(2048)
        self.fc = nn.Linear(2048, classes)

    def forward(self, x):
        x = self.layer4(self.layer3(self.layer2(self.layer1(self.maxpool(self.conv1(x))))))
        return self.fc(F.relu(self.norm(x)).mean((2, 3)))


class ResNet9(nn.Module):
    class Layer(nn.Module):
        def __init__(self, inputs, filters, residual=False):
            super().__init__()
            self.conv, self.bn = conv(inputs, filters, 3), nn.BatchNorm2d(filters)
            if residual:
                self.res1, self.res2 = ResNet9.Layer(filters, filters), ResNet9.Layer(filters, filters)
            self.residual = residual

        def forward(self, x, pool=False):
            x = F.relu(self.bn(self.conv(x)))
            x = F.max_pool2d(x, 2) if pool else x
            return x + self.res2(self.res1(x)) if self.residual else x

    def __init__(self, classes=10):
        super().__init__()
        self.prep = self.Layer(3, 64)
        self.layer1, self.layer2, self.layer3 = self.Layer(64, 128, True), self.Layer(128, 256), self.Layer(256, 512, True)
        self.linear = nn.Linear(512, classes, bias=False)

    def forward(self, x):
        x = self.layer3(self.layer2(self.layer1(self.prep(x), True), True), True)
        return self.linear(x.amax((2, 3)))


class Airbench(nn.Sequential):
    class Conv(nn.Conv2d):
        def __init__(self, inputs, filters):
            super().__init__(inputs, filters, 3, padding=1, bias=False)

    class Group(nn.Module):
        def __init__(self, inputs, filters):
            super().__init__()
            self.conv1, self.conv2 = Airbench.Conv(inputs, filters), Airbench.Conv(filters, filters)
            self.norm1, self.norm2 = (nn.BatchNorm2d(filters, eps=1e-12, momentum=0.4) for _ in range(2))

        def forward(self, x):
            x = F.gelu(self.norm1(F.max_pool2d(self.conv1(x), 2)))
            return F.gelu(self.norm2(self.conv2(x)))

    def __init__(self, classes=10):
        super().__init__(nn.Conv2d(3, 24, 2), nn.GELU(), self.Group(24, 64), self.Group(64, 256), self.Group(256, 256),
                         nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(256, classes, bias=False))
        for name, parameter in self.named_parameters():
            parameter.requires_grad = not (name == "0.weight" or name.endswith(("norm1.weight", "norm2.weight")))

    def forward(self, x):
        return super().forward(x) / 9


class AlexNetLrn(nn.Module):
    def __init__(self, classes=10, map_side=1):
        super().__init__()
        layers, inputs = [], 3
        for filters, kernel, stride, pad, after in ((96, 11, 4, 2, "np"), (256, 5, 1, 2, "np"), (384, 3, 1, 1, ""),
                                                    (384, 3, 1, 1, ""), (256, 3, 1, 1, "p")):  # fmt: skip
            layers += [nn.Conv2d(inputs, filters, kernel, stride, pad), nn.ReLU()]
            layers += [nn.LocalResponseNorm(5, 5e-4, 0.75, 2)] if "n" in after else []
            layers += [nn.MaxPool2d(3, 2)] if "p" in after else []
            inputs = filters
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(
            nn.Dropout(0.5), nn.Linear(256 * map_side**2, 4096), nn.ReLU(), nn.Dropout(0.5), nn.Linear(4096, 4096),
            nn.ReLU(), nn.Linear(4096, classes))

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


class AlexNetBn(nn.Module):
    def __init__(self, classes=10, map_side=1):
        super().__init__()
        layers, inputs = [], 3
        for filters, kernel, stride, pad, pool in ((96, 11, 4, 2, True), (256, 5, 1, 2, True), (384, 3, 1, 1, False),
                                                   (384, 3, 1, 1, False), (256, 3, 1, 1, True)):  # fmt: skip
            layers += [nn.Conv2d(inputs, filters, kernel, stride, pad, bias=False), nn.BatchNorm2d(filters), nn.ReLU()]
            layers += [nn.MaxPool2d(3, 2)] if pool else []
            inputs = filters
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(
            nn.Dropout(0.5), nn.Linear(256 * map_side**2, 4096), nn.ReLU(), nn.Dropout(0.5), nn.Linear(4096, 4096),
            nn.ReLU(), nn.Linear(4096, classes))

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))
