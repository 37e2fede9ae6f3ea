"""The order of examples as arithmetic: which example comes at position p of a run."""

import tensorflow as tf


def example_at(position: tf.Tensor, *, count: int, batch_size: int, seed: int) -> tf.Tensor:
    """Return the number of the example at a position of the run.

    Each epoch is a permutation of its own, computed without storing it; what does not
    fill a last batch is left out, other examples in each epoch.

    Args:
        position: [] or [n] int64, counted over the whole run; all of one epoch.
        count: how many examples there are.
        batch_size: examples per step.
        seed: of the permutations.

    Returns:
        Numbers in 0..count - 1, of the shape of `position`.
    """
    per_epoch = count // batch_size * batch_size
    epoch = tf.reshape(position, [-1])[0] // per_epoch
    return tf.random.experimental.index_shuffle(
        position % per_epoch,
        seed=tf.stack([tf.constant(seed, tf.int64), epoch]),
        max_index=tf.constant(count - 1, tf.int64),
    )
