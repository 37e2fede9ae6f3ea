"""A user's own dataset as a source."""

import numpy as np
import pytest
import tensorflow as tf

import tfaccel
from tfaccel.errors import UsageError


def dataset(count, batch, **args):
    x = np.arange(count, dtype="float32")
    return tf.data.Dataset.from_tensor_slices((x[:, None], x)).batch(batch, **args)


def test_full_batches_are_taken_as_they_come():
    source = tfaccel.from_dataset(dataset(20, 8))
    assert source.train.count == 16, "the last batch may be smaller: it is not counted"
    batches = [y.numpy().tolist() for _, y in source.train.shuffled(8, seed=0, epochs=2)]
    assert batches == 2 * [list(range(8)), list(range(8, 16))]


def test_another_batch_size_is_made():
    source = tfaccel.from_dataset(dataset(20, 8), examples=20)
    batches = [y.numpy().tolist() for _, y in source.train.shuffled(5, seed=0, epochs=1)]
    assert sum(batches, []) == list(range(20))
    assert [len(y) for _, y in source.train.ordered(7)] == [8, 8, 4]


def test_a_known_batch_size_counts_every_batch():
    assert tfaccel.from_dataset(dataset(24, 8, drop_remainder=True)).train.count == 24


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (dataset(8, 4).unbatch(), "not batched"),
        (dataset(8, 4).repeat(), "does not know its length"),
        (dataset(8, 4).filter(lambda x, y: True), "does not know its length"),
    ],
)
def test_what_cannot_be_counted_is_refused(bad, sentence):
    with pytest.raises(UsageError, match=sentence):
        tfaccel.from_dataset(bad)
