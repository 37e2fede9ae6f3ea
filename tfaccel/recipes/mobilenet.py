"""MobileNet, trained from scratch on images.

python -m tfaccel.recipes.mobilenet
python -m tfaccel.recipes.mobilenet --data path/to/folder --family v2 --size 96
python -m tfaccel.recipes.mobilenet --accelerate mixed_precision steps_per_execution
"""

from typing import Literal

import pydantic

from tfaccel.config import Config
from tfaccel.job import Job
from tfaccel.run import main


class MobileNet(Config):
    """Train a MobileNet on images, and measure it."""

    batch_size: int = pydantic.Field(128, ge=1, description="images per update, over all devices")
    epochs: int = pydantic.Field(9, ge=1, description="passes over the training images")
    family: Literal["v1", "v2", "v3_small", "v3_large"] = pydantic.Field(
        "v1", description="which MobileNet"
    )
    size: int = pydantic.Field(32, ge=32, description="side of the images, in pixels")
    width: float = pydantic.Field(0.5, gt=0, description="multiplier of the channels of each layer")
    dropout: float = pydantic.Field(0.0, ge=0, lt=1, description="share of features dropped")
    learning_rate: float = pydantic.Field(
        0.4, gt=0, description="peak learning rate at batch 256; grows with the batch"
    )
    label_smoothing: float = pydantic.Field(
        0.1, ge=0, lt=1, description="share of the target spread over all classes"
    )
    augment: Literal["light", "none"] = pydantic.Field(
        "light", description="light: mirror, and shift by up to 1/32 of the side"
    )


def job(config: MobileNet) -> Job:
    """Say what is trained, on what, and how: all but how to make it fast."""
    from functools import partial

    import keras

    from tfaccel.data import augment, open_source
    from tfaccel.models.mobilenet import mobilenet
    from tfaccel.schedules import Cosine

    source = open_source(config.data, size=config.size)
    loss = keras.losses.CategoricalCrossentropy(
        from_logits=True, label_smoothing=config.label_smoothing
    )
    return Job(
        build=partial(
            mobilenet,
            config.family,
            size=config.size,
            classes=len(source.classes),
            width=config.width,
            dropout=config.dropout,
        ),
        source=source,
        augment=augment.light if config.augment == "light" else None,
        optimizer=keras.optimizers.SGD,
        optimizer_args={"momentum": 0.9, "nesterov": True},
        rate=Cosine(config.learning_rate),
        compile_args={"loss": loss, "metrics": ["accuracy"]},
        batch_size=config.batch_size,
        epochs=config.epochs,
    )


if __name__ == "__main__":
    main(MobileNet, job)
