"""Updates that loss scaling skips are counted, and a run without any is stopped."""

import dataclasses

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfaccel
from tfaccel.errors import UsageError
from tfaccel.techniques import parse_plan

FLOAT16 = parse_plan("mixed_precision:dtype=float16")


def job_with(job, bad_batches):
    """Return the job with inputs that overflow in some batches of an epoch."""
    x = np.ones((64, 8), np.float32)
    for batch in bad_batches:
        x[8 * batch : 8 * batch + 8] = np.inf
    data = tf.data.Dataset.from_tensor_slices((x, np.ones((64, 1), np.float32))).batch(8)
    return dataclasses.replace(job, source=tfaccel.from_dataset(data, examples=64))


def test_skipped_updates_are_counted_in_each_epoch(job):
    model, measured = tfaccel.train(job_with(job, (1, 4, 5)), FLOAT16)
    assert [epoch["skipped_updates"] for epoch in measured.epochs] == [3, 3]
    assert int(model.optimizer.iterations) == 10
    _, measured = tfaccel.train(job_with(job, ()), FLOAT16)
    assert [epoch["skipped_updates"] for epoch in measured.epochs] == [0, 0]


def test_a_run_that_skips_every_update_is_stopped_with_the_reason(job):
    every = dataclasses.replace(job_with(job, range(8)), epochs=9)
    with pytest.raises(UsageError, match=r"8 updates of epoch 2 were skipped .*bfloat16"):
        tfaccel.train(every, FLOAT16)


def test_other_types_are_not_counted(job):
    _, measured = tfaccel.train(job, parse_plan("mixed_precision:dtype=bfloat16"))
    assert all("skipped_updates" not in epoch for epoch in measured.epochs)
    assert isinstance(keras.config.dtype_policy().name, str)
