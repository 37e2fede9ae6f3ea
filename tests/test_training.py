"""Training: plain Keras to the letter, reproducible, measured, and stopped with grace."""

import dataclasses
import json

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfaccel
from tfaccel.data import pipeline
from tfaccel.errors import UsageError


def test_no_technique_is_plain_keras_to_the_letter(job):
    model, measurement = tfaccel.train(job, seed=5)

    keras.utils.set_random_seed(5)
    plain = job.build()
    plain.compile(keras.optimizers.SGD(0.01, momentum=0.9), loss="mse")
    validation = pipeline.evaluation(job.source.validation, batch_size=8)
    batches = pipeline.training(job, seed=5)
    history = plain.fit(
        batches, epochs=2, steps_per_epoch=8, validation_data=validation, verbose=0, shuffle=False
    )
    best = [e["val_loss"] for e in measurement.epochs]
    assert best == history.history["val_loss"]
    assert best[1] < best[0], "the last weights must be the best ones to be compared here"
    for a, b in zip(model.get_weights(), plain.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_best_weights_are_kept_and_not_those_of_a_later_worse_epoch(job, tmp_path):
    rates = keras.optimizers.schedules.PiecewiseConstantDecay([8], [0.01, 5.0])
    job = dataclasses.replace(job, rate=lambda job: rates, epochs=3)
    file = tmp_path / "best.keras"
    model, measurement = tfaccel.train(job, checkpoint=file)
    losses = [epoch["val_loss"] for epoch in measurement.epochs]
    assert not losses[-1] <= losses[0], "the planted rate must spoil the later epochs"
    assert measurement.metrics["val_loss"] == pytest.approx(losses[0])
    fresh = keras.models.load_model(file)
    for a, b in zip(model.get_weights(), fresh.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_measurement_adds_up(job):
    _, m = tfaccel.train(dataclasses.replace(job, epochs=40))
    assert m.plan == "none"
    assert len(m.epochs) == 40
    assert 0 < m.step.low_s <= m.step.median_s <= m.step.high_s
    assert m.examples_per_s == pytest.approx(8 / m.step.median_s)
    parts = m.setup_s + m.first_step_s + m.training_s + m.evaluation_s
    assert min(m.setup_s, m.first_step_s, m.training_s, m.evaluation_s) > 0
    assert 0.5 * m.total_s < parts <= m.total_s
    assert m.first_step_s > 10 * m.step.median_s, "the first step traces"
    assert "examples/s" in str(m)


def test_a_slow_step_is_timed_as_slow(job):
    def slowly(x, seed):
        wait = tf.numpy_function(lambda v: (__import__("time").sleep(0.15), v)[1], [x], x.dtype)
        return tf.ensure_shape(wait, x.shape)

    _, m = tfaccel.train(dataclasses.replace(job, augment=slowly, epochs=3))
    assert 0.05 < m.step.median_s < 0.3


def test_ctrl_c_ends_the_training_early_and_keeps_what_was_done(job):
    class Stop(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 1:
                raise KeyboardInterrupt

    model, measurement = tfaccel.train(job, callbacks=[Stop()])
    assert not measurement.is_complete
    assert len(measurement.epochs) == 1
    assert measurement.metrics == {}
    assert model.optimizer.iterations == 8


def test_a_loss_that_is_not_a_number_is_said_and_stored_as_null(job, tmp_path):
    _, measurement = tfaccel.train(dataclasses.replace(job, rate=1e30))
    assert measurement.first_bad_epoch == 0
    measurement.save(tmp_path / "m.json")
    stored = json.loads((tmp_path / "m.json").read_text(), parse_constant=pytest.fail)
    assert stored["epochs"][1]["loss"] is None


def test_without_validation_the_steps_are_timed_too(job):
    source = dataclasses.replace(job.source, validation=None)
    _, measurement = tfaccel.train(dataclasses.replace(job, source=source, epochs=3))
    assert measurement.step.steps > 10
    assert measurement.training_s > 0
    assert measurement.is_complete


def test_data_that_ends_early_is_no_complete_run(job):
    short = tfaccel.from_dataset(job.source.train.ordered(8), examples=640)
    with pytest.warns(UserWarning, match="ran out of data"):
        _, measurement = tfaccel.train(dataclasses.replace(job, source=short))
    assert not measurement.is_complete


def test_a_monitor_that_no_epoch_has_is_refused(job):
    with pytest.raises(UsageError, match="no metric 'val_lost'; did you mean val_loss"):
        tfaccel.train(dataclasses.replace(job, monitor="val_lost"))


def test_a_batch_larger_than_the_data_is_refused(job):
    with pytest.raises(UsageError, match="batch_size is 65, but dataset has only 64 training"):
        tfaccel.train(dataclasses.replace(job, batch_size=65))


def test_derived_values_follow_a_change(job):
    job = dataclasses.replace(
        job, batch_size=16, optimizer_args={"gradient_accumulation_steps": 2}, epochs=3
    )
    assert (job.steps_per_epoch, job.updates, job.examples_per_update) == (4, 6, 32)


def test_the_cosine_spans_all_updates_and_scales_with_the_batch(job):
    job = dataclasses.replace(job, epochs=5)  # 40 updates of 8 examples
    rate = tfaccel.Cosine(0.32, warmup=0.1)(job)
    steps = [float(rate(step)) for step in (0, 2, 4, 22, 40)]
    np.testing.assert_allclose(steps, [0, 0.005, 0.01, 0.005, 0], atol=1e-7)
    assert float(tfaccel.Cosine(0.32, warmup=0)(job)(0)) == pytest.approx(0.01)
