"""MobileNetV2 and ResNet50 in PyTorch, layer by layer those of keras.applications."""

from torch import Tensor, nn

CLASSES = 10


def _norm(channels: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(channels)


def _conv(before: int, after: int, size: int, stride: int = 1, groups: int = 1) -> nn.Conv2d:
    return nn.Conv2d(before, after, size, stride, size // 2, groups=groups, bias=False)


class Residual(nn.Module):
    """A branch added to its input, or to a shortcut of it."""

    def __init__(self, branch: nn.Module, shortcut: nn.Module, after: nn.Module) -> None:
        """Join the parts."""
        super().__init__()
        self.branch, self.shortcut, self.after = branch, shortcut, after

    def forward(self, x: Tensor) -> Tensor:
        """Return the sum."""
        return self.after(self.shortcut(x) + self.branch(x))


def mobilenet_v2() -> nn.Module:
    """Return MobileNetV2 of width 1 (https://arxiv.org/abs/1801.04381)."""
    layers: list[nn.Module] = [_conv(3, 32, 3, 2), _norm(32), nn.ReLU6(inplace=True)]
    channels = 32
    for expand, after, count, stride in (
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ):
        for i in range(count):
            wide, step = channels * expand, stride if i == 0 else 1
            branch: list[nn.Module] = []
            if expand > 1:
                branch += [_conv(channels, wide, 1), _norm(wide), nn.ReLU6(inplace=True)]
            branch += [_conv(wide, wide, 3, step, wide), _norm(wide), nn.ReLU6(inplace=True)]
            branch += [_conv(wide, after, 1), _norm(after)]
            block: nn.Module = nn.Sequential(*branch)
            if step == 1 and channels == after:
                block = Residual(block, nn.Identity(), nn.Identity())
            layers.append(block)
            channels = after
    layers += [_conv(channels, 1280, 1), _norm(1280), nn.ReLU6(inplace=True)]
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, CLASSES)]
    return nn.Sequential(*layers)


def resnet50() -> nn.Module:
    """Return ResNet50 (https://arxiv.org/abs/1512.03385)."""
    layers: list[nn.Module] = [_conv(3, 64, 7, 2), _norm(64), nn.ReLU(inplace=True)]
    layers.append(nn.MaxPool2d(3, 2, 1))
    channels = 64
    for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(count):
            step, after = stride if i == 0 else 1, 4 * width
            branch = nn.Sequential(
                *(_conv(channels, width, 1, step), _norm(width), nn.ReLU(inplace=True)),
                *(_conv(width, width, 3), _norm(width), nn.ReLU(inplace=True)),
                *(_conv(width, after, 1), _norm(after)),
            )
            shortcut: nn.Module = nn.Identity()
            if step > 1 or channels != after:
                shortcut = nn.Sequential(_conv(channels, after, 1, step), _norm(after))
            layers.append(Residual(branch, shortcut, nn.ReLU(inplace=True)))
            channels = after
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, CLASSES)]
    return nn.Sequential(*layers)


MODELS = {"mobilenet_v2": mobilenet_v2, "resnet50": resnet50}
