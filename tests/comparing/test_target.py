"""Training until a metric is reached."""

import keras
import pytest

import tfaccel
from tfaccel.comparing.child import measure
from tfaccel.comparing.target import StopAtTarget
from tfaccel.errors import UsageError
from tfaccel.measure.trial import Work
from tfaccel.plan import Plan


def epochs(callback, values, name="val_accuracy"):
    """Return how many epochs were run before the callback ended it."""
    model = keras.Sequential()
    callback.set_model(model)
    model.stop_training = False
    for epoch, value in enumerate(values):
        callback.on_epoch_end(epoch, {name: value})
        if model.stop_training:
            return epoch + 1
    return len(values)


def test_an_accuracy_is_reached_from_below():
    stop = StopAtTarget("val_accuracy", 0.8)
    assert epochs(stop, [0.5, 0.7, 0.8, 0.9]) == 3
    assert stop.is_reached
    assert stop.best == 0.8


def test_a_loss_is_reached_from_above():
    stop = StopAtTarget("val_loss", 0.8)
    assert epochs(stop, [1.5, 0.9, 0.95, 0.7], "val_loss") == 4
    assert stop.is_reached


def test_a_target_out_of_reach_is_not_and_the_best_is_kept():
    stop = StopAtTarget("val_accuracy", 0.99)
    assert epochs(stop, [0.5, 0.9, 0.7]) == 3
    assert not stop.is_reached
    assert stop.best == 0.9


def test_the_time_limit_ends_it():
    stop = StopAtTarget("val_accuracy", 0.99, limit_s=0.0)
    assert epochs(stop, [0.5, 0.9, 0.7]) == 1
    assert not stop.is_reached


def test_a_metric_that_is_not_there_is_named():
    with pytest.raises(UsageError, match="no metric 'val_acuracy'; did you mean val_accuracy"):
        epochs(StopAtTarget("val_acuracy", 0.9), [0.5])


def test_a_trial_ends_with_the_epoch_that_reaches_the_target(job, tmp_path):
    job = tfaccel.Job(**{**vars(job), "epochs": 30})
    found = measure(lambda: job, Plan(), Work(seed=0, target=2.0), tmp_path / "warm")
    assert found.best <= 2.0
    assert found.target_s > 0
    never = measure(lambda: job, Plan(), Work(seed=0, target=0.0), tmp_path / "warm")
    assert never.target_s is None
    assert 0 < never.best < 2.0, "it was trained to the end"
