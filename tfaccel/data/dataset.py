"""A user's own tf.data.Dataset as a source."""

import tensorflow as tf

from tfaccel.errors import UsageError
from tfaccel.job import Source


class Batches:
    """Examples of a dataset that its maker batched, and shuffled if at all."""

    def __init__(self, dataset: tf.data.Dataset, count: int | None = None) -> None:
        """Take over a dataset of batches.

        Args:
            dataset: of (inputs, targets) or (inputs, targets, sample weights), batched.
            count: how many examples it has; of no interest but in training. If None, as
                many as its batches hold, less the last one where that may be smaller.

        Raises:
            UsageError: the dataset is not batched, or does not know its length.
        """
        self._dataset = dataset
        self._batch_size, is_static = _batch_size(dataset)
        if count is None:
            count = self._batch_size * max(1, _batches(dataset) - (not is_static))
        self.count = count

    def ordered(self, batch_size: int) -> tf.data.Dataset:
        """Return the batches once, in their own size: it does not change the metrics."""
        return self._dataset

    def shuffled(self, batch_size: int, *, seed: int, epochs: int) -> tf.data.Dataset:
        """Return full batches, as the dataset gives them on each pass."""
        same = batch_size == self._batch_size
        full = self._dataset if same else self._dataset.rebatch(batch_size, drop_remainder=True)
        return full.take(self.count // batch_size).repeat(epochs)


def _batch_size(dataset: tf.data.Dataset) -> tuple[int, bool]:
    """Return how many examples the first batch has, and whether each one has as many."""
    shapes = [spec.shape for spec in tf.nest.flatten(dataset.element_spec)]
    if all(shape.rank and shape[0] is not None for shape in shapes):
        sizes, is_static = {shape[0] for shape in shapes}, True
    else:
        first = tf.nest.flatten(next(iter(dataset), ()))
        sizes, is_static = {tuple(tf.shape(part).numpy())[:1] for part in first}, False
        sizes = {size[0] if size else 0 for size in sizes}
    if len(sizes) != 1 or 0 in sizes:
        raise UsageError("The dataset is not batched; give it as dataset.batch(batch_size).")
    return int(sizes.pop()), is_static


def _batches(dataset: tf.data.Dataset) -> int:
    """Return how many batches the dataset has."""
    batches = int(dataset.cardinality())
    if batches < 0:
        raise UsageError("The dataset does not know its length; say it: examples=NUMBER.")
    return batches


def from_dataset(
    train: tf.data.Dataset,
    validation: tf.data.Dataset | None = None,
    test: tf.data.Dataset | None = None,
    *,
    examples: int | None = None,
) -> Source:
    """Return a source of your own datasets, as you would give them to `fit`.

    Args:
        train: of (inputs, targets), batched; shuffled, if it should be, by you.
        validation: the same, to choose the best weights.
        test: the same, for the final figures.
        examples: how many examples `train` has, where it cannot say itself.

    Raises:
        UsageError: a dataset is not batched, or its length is unknown.
    """
    return Source(
        name="dataset",
        classes=(),
        train=Batches(train, examples),
        validation=None if validation is None else Batches(validation, 0),
        test=None if test is None else Batches(test, 0),
    )
