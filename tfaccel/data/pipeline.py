"""From examples to the batches that a step takes."""

import tensorflow as tf

from tfaccel.data.tuning import untuned
from tfaccel.host import cores
from tfaccel.job import Examples, Job

PREFETCHED = 4  # batches that are ready before a step asks for them


def training(job: Job, *, seed: int) -> tf.data.Dataset:
    """Return every training batch of the run, shuffled and augmented.

    Order and augmentation depend on the seed and the position in the run alone.
    """
    batches = job.source.train.shuffled(job.batch_size, seed=seed, epochs=job.epochs)
    if augment := job.augment:

        def augmented(step: tf.Tensor, batch: tuple) -> tuple:
            inputs, *rest = batch
            return augment(inputs, tf.stack([tf.constant(seed, tf.int64), step])), *rest

        batches = batches.enumerate().map(augmented, cores())
    return untuned(batches.prefetch(PREFETCHED))


def evaluation(examples: Examples, *, batch_size: int) -> tf.data.Dataset:
    """Return every example once, in order; the last batch may be smaller."""
    return untuned(examples.ordered(batch_size).prefetch(PREFETCHED))
