"""Decoded images in memory: the fastest examples there are."""

import numpy as np
import tensorflow as tf

from tfaccel.data.order import example_at
from tfaccel.host import cores


class Arrays:
    """Examples that lie in memory as [count, size, size, 3] uint8 and labels."""

    def __init__(self, images: np.ndarray, labels: np.ndarray, *, classes: int) -> None:
        """Take over the arrays.

        Args:
            images: [count, size, size, 3] uint8.
            labels: [count] integers in 0..classes - 1.
            classes: length of the one-hot targets.
        """
        self.count = len(images)
        self._classes = classes
        with tf.device("CPU:0"):
            self._images, self._labels = tf.constant(images), tf.constant(labels)

    def ordered(self, batch_size: int) -> tf.data.Dataset:
        """Return every example once; the last batch may be smaller."""

        def batch(start: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            end = tf.minimum(start + batch_size, self.count)
            return self._gather(tf.range(start, end))

        return tf.data.Dataset.range(0, self.count, batch_size).map(batch, cores())

    def shuffled(self, batch_size: int, *, seed: int, epochs: int) -> tf.data.Dataset:
        """Return full batches, each epoch in a new order that the seed decides."""

        def batch(start: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            position = start + tf.range(batch_size, dtype=tf.int64)
            index = example_at(position, count=self.count, batch_size=batch_size, seed=seed)
            return self._gather(tf.ensure_shape(index, [batch_size]))

        end = epochs * (self.count // batch_size) * batch_size
        return tf.data.Dataset.range(0, end, batch_size).map(batch, cores())

    def _gather(self, index: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        labels = tf.one_hot(tf.gather(self._labels, index), self._classes)
        return tf.gather(self._images, index), labels
