"""What the honesty benchmark compares: a small job, and a technique that is slow on purpose."""

import dataclasses
import time
from typing import Any, ClassVar

import keras
import numpy as np
import pydantic
import tensorflow as tf

import tfaccel
from tfaccel.job import Job
from tfaccel.plan import Technique

STEP_S = 0.02  # of the small job on two cores, about


class Sleep(keras.callbacks.Callback):
    """Sleeps after each step."""

    def __init__(self, seconds: float) -> None:
        """Sleep so long."""
        super().__init__()
        self._seconds = seconds

    def on_train_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Sleep."""
        time.sleep(self._seconds)


class Planted(Technique):
    """Sleep in each step.

    Numbers: identical.
    """

    numbers: ClassVar = "identical"

    seconds: float = pydantic.Field(0.01, ge=0, description="sleep in each step")

    def apply(self, job: Job) -> Job:
        """Add the callback that sleeps."""
        sleep = self.seconds
        return dataclasses.replace(job, callbacks=(*job.callbacks, lambda: Sleep(sleep)))


def make_job() -> Job:
    """Return a small convolutional net on noise: about 20 ms a step on two cores."""
    random = np.random.default_rng(0)
    images = random.random((512, 32, 32, 3), np.float32)
    data = tf.data.Dataset.from_tensor_slices((images, random.integers(0, 10, 512))).batch(64)

    def build() -> keras.Model:
        return keras.Sequential(
            [
                keras.Input((32, 32, 3)),
                keras.layers.Conv2D(32, 3, activation="relu"),
                keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
                keras.layers.GlobalAveragePooling2D(),
                keras.layers.Dense(10),
            ]
        )

    return Job(
        build=build,
        source=tfaccel.from_dataset(data.cache(), examples=512),
        optimizer=keras.optimizers.SGD,
        rate=0.01,
        compile_args={"loss": keras.losses.SparseCategoricalCrossentropy(from_logits=True)},
        batch_size=64,
        epochs=1,
    )
