"""The fresh process of a trial: measured, or ended with a reason; load of others is seen."""

import dataclasses
import os
import signal
import subprocess
import sys
import time

import pytest

from tfaccel.comparing.together import measure_together
from tfaccel.errors import UsageError
from tfaccel.measure.load import OtherLoad
from tfaccel.measure.trial import Work
from tfaccel.plan import Plan


def small_job():
    import keras
    import numpy as np
    import tensorflow as tf

    import tfaccel

    x = np.random.default_rng(0).normal(size=(64, 256)).astype("float32")
    return tfaccel.Job(
        build=lambda: keras.Sequential([keras.layers.Dense(512, "relu"), keras.layers.Dense(1)]),
        source=tfaccel.from_dataset(tf.data.Dataset.from_tensor_slices((x, x[:, 0])).batch(8)),
        optimizer=keras.optimizers.SGD,
        rate=0.01,
        compile_args={"loss": "mse"},
        batch_size=8,
    )


def alone(make_job, work):
    (answer,) = measure_together(make_job, [Plan()], work)
    return answer


def dying(how):
    def make_job():
        how()
        return small_job()

    return make_job


def test_a_trial_is_equal_work_whatever_the_size_of_the_data():
    first, again = (alone(small_job, Work(steps=400, seed=1)) for _ in range(2))
    assert first.step_s > 0
    assert first.loss == again.loss
    assert first.cpu_s > 0
    assert first.peak_bytes > 50e6


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "killed, as the system does when memory"),
        (lambda: os.kill(os.getpid(), signal.SIGTERM), "ended by SIGTERM"),
        (lambda: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda: os._exit(7), "ended with code 7"),
    ],
)
def test_a_process_that_dies_says_why(how, reason):
    assert alone(dying(how), Work(steps=24, seed=0)).startswith(reason)


def test_a_loss_that_is_not_a_number_is_a_failure():
    def make_job():
        return dataclasses.replace(small_job(), rate=1e30)

    assert "the loss is not a number" in alone(make_job, Work(steps=400, seed=0))


def test_a_job_that_cannot_be_sent_is_refused():
    lock = __import__("threading").Lock()
    with pytest.raises(UsageError, match="cannot be sent to a fresh process"):
        alone(lambda: lock, Work(steps=24, seed=0))


@pytest.mark.slow
def test_load_of_others_is_seen_and_own_is_not():
    calm = OtherLoad()
    subprocess.run([sys.executable, "-c", "x = 0\nfor i in range(10**7): x += i"], check=True)
    own = calm.cores()
    load = OtherLoad()
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        time.sleep(2)
        seen = load.cores()
        busy.kill()
    assert seen > own + 0.5
