"""Parallelism that stays as it is stated."""

import tensorflow as tf


def untuned(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Return the dataset without TensorFlow's tuning of its parallelism.

    The thread that tunes sleeps longer and longer, up to a minute, and in TensorFlow 2.21
    closing the dataset may wait for it to wake: up to 60 s at the end of a run.
    """
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.with_options(options)
