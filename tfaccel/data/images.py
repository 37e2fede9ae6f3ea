"""Encoded images, in files or in memory, decoded when they are read."""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from tfaccel.data.decode import decode
from tfaccel.data.order import example_at
from tfaccel.host import cores


@dataclasses.dataclass(frozen=True, kw_only=True)
class Images:
    """Examples whose images are decoded and resized each time they are read."""

    names: Sequence[str]  # of each image, for messages
    labels: np.ndarray  # [count] int64 in 0..classes - 1
    classes: int
    size: int  # side of the images read, in pixels
    load: Callable[[tf.Tensor], tf.Tensor]  # from number i [] int64 to bytes [] string

    @property
    def count(self) -> int:
        """How many examples there are."""
        return len(self.labels)

    def image(self, index: tf.Tensor) -> tf.Tensor:
        """Return image number `index` as [size, size, 3] uint8."""
        return decode(self.load(index), self.size)

    def subset(self, index: np.ndarray) -> "Images":
        """Return the examples of these numbers, in this order."""
        chosen, load = tf.constant(index, tf.int64), self.load
        return dataclasses.replace(
            self,
            names=[self.names[i] for i in index],
            labels=self.labels[index],
            load=lambda i: load(tf.gather(chosen, i)),
        )

    def ordered(self, batch_size: int) -> tf.data.Dataset:
        """Return every example once; the last batch may be smaller."""
        return self._read(tf.data.Dataset.range(self.count)).batch(batch_size)

    def shuffled(self, batch_size: int, *, seed: int, epochs: int) -> tf.data.Dataset:
        """Return full batches, each epoch in a new order that the seed decides."""

        def number(position: tf.Tensor) -> tf.Tensor:
            return example_at(position, count=self.count, batch_size=batch_size, seed=seed)

        positions = tf.data.Dataset.range(epochs * (self.count // batch_size) * batch_size)
        return self._read(positions.map(number)).batch(batch_size, drop_remainder=True)

    def _read(self, numbers: tf.data.Dataset) -> tf.data.Dataset:
        labels = tf.constant(self.labels)

        def example(index: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            return self.image(index), tf.one_hot(tf.gather(labels, index), self.classes)

        return numbers.map(example, cores())
