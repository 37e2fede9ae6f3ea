"""MobileNet V1, V2 and V3, from raw pixels to logits."""

from typing import Any, Literal, get_args

import keras

from tfaccel.errors import UsageError, unknown
from tfaccel.models.adapt import adapt, missing_halvings
from tfaccel.models.head import image_input, with_head

Family = Literal["v1", "v2", "v3_small", "v3_large"]
LEAST_SIZE = 32
HALVINGS = 5


def mobilenet(
    family: Family,
    *,
    size: int,
    classes: int,
    width: float = 1.0,
    dropout: float = 0.0,
    unstride: int | None = None,
) -> keras.Model:
    """Return a MobileNet with random weights and a classifier head.

    Args:
        family: V1 (https://arxiv.org/abs/1704.04861), V2
            (https://arxiv.org/abs/1801.04381) or V3 (https://arxiv.org/abs/1905.02244).
        size: side of the square input images, in pixels; 32 or more. Below 64, the first
            halvings of the map are left out, so that the last map has 2 x 2 cells.
        classes: width of the head.
        width: multiplier of the channels of every layer ("alpha" in the papers).
        dropout: share of the features dropped before the head in training.
        unstride: how many of the first halvings to leave out; by the size if None.

    Returns:
        A model from [batch, size, size, 3] uint8 pixels to [batch, classes] float32
        logits. Scaling of the pixels is part of the model.

    Raises:
        UsageError: the family is unknown, or a number is out of range.
    """
    if family not in get_args(Family):
        raise unknown("MobileNet", family, get_args(Family))
    if size < LEAST_SIZE:
        raise UsageError(
            f"size is {size}; a MobileNet needs images of {LEAST_SIZE} pixels or more."
        )
    if classes < 2:
        raise UsageError(f"classes is {classes}; a classifier needs 2 or more.")
    inputs, pixels = image_input(size)
    try:
        body = _body(family)(input_tensor=pixels, include_top=False, weights=None, alpha=width)
    except ValueError as error:  # such as a layer left without a channel
        raise UsageError(f"No MobileNet {family} has width {width}: {error}") from None
    model = with_head(
        inputs, body.output, classes=classes, dropout=dropout, name=f"mobilenet_{family}"
    )
    return adapt(model, unstride=missing_halvings(size, HALVINGS) if unstride is None else unstride)


def _body(family: Family) -> Any:
    applications = keras.applications
    match family:
        case "v1":
            return applications.MobileNet
        case "v2":
            return applications.MobileNetV2
        case "v3_small":
            return _without_preprocessing(applications.MobileNetV3Small)
        case "v3_large":
            return _without_preprocessing(applications.MobileNetV3Large)


def _without_preprocessing(factory: Any) -> Any:
    # V3 would scale the pixels once more.
    return lambda **args: factory(include_preprocessing=False, **args)
