"""The run itself: the one place where Keras is told anything."""

import contextlib
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import keras

from tfaccel.checkpoint import KeepBest
from tfaccel.data import pipeline
from tfaccel.host import Host, prepare
from tfaccel.job import Job
from tfaccel.measure.clock import StepClock
from tfaccel.measure.measurement import Measurement
from tfaccel.measure.memory import peak_bytes, reset_peak
from tfaccel.measure.profile import Profile
from tfaccel.plan import Plan
from tfaccel.rewriting.inplace import restore

PLAIN_KERAS = Plan()


def train(
    job: Job,
    plan: Plan = PLAIN_KERAS,
    *,
    seed: int = 0,
    callbacks: Sequence[keras.callbacks.Callback] = (),
    config: Mapping[str, Any] | None = None,
    checkpoint: Path | None = None,
    profile: Path | None = None,
) -> tuple[keras.Model, Measurement]:
    """Train the job's model under the plan, and measure it.

    Ctrl-C ends the training early; the measurement then says `is_complete=False`, as it
    does where a dataset of your own gave fewer batches than it promised.

    Args:
        job: what to train, on what, and how.
        plan: the techniques to train with; plain Keras if left out.
        seed: of the weights, the order of the examples, augmentation and dropout.
        callbacks: more callbacks for `fit`.
        config: options to store with the measurement.
        checkpoint: a `.keras` file to keep the best model in while training.
        profile: a TensorBoard folder to write a profile of some steps to.

    Returns:
        The model with its best weights by `job.monitor` (the last ones where there is no
        validation), and what the run took.

    Raises:
        UsageError: this machine lacks what a technique needs, or it is too late for what one
            sets, or the batch size is larger than the number of examples.
    """
    begin = time.perf_counter()
    prepare()
    host = Host.here()
    reset_peak()
    plan.require(host)
    plan.prepare()
    job = plan.apply(job)
    job.check()
    keras.utils.set_random_seed(seed)
    clock, best = StepClock(), KeepBest(job.monitor, checkpoint)
    history = keras.callbacks.History()
    # What techniques add may add metrics: before the history, which is before all that may
    # fail, so that no epoch is done but not counted.
    watching = [*(make() for make in job.callbacks), history, clock, best, *callbacks]
    if profile:
        watching.append(Profile(profile, clock))
    with plan.scope():
        model = compiled(job)
        plan.rewrite(model, host)
        try:
            epochs, is_interrupted = _fit(model, job, seed, history, watching)
            best.restore()
            metrics: dict[str, float] = {}
            test_s = 0.0
            if not is_interrupted:
                try:
                    metrics, test_s = _test(model, job)
                except KeyboardInterrupt:
                    is_interrupted = True
        finally:
            restore(model)
    step = clock.step_times()
    has_all = clock.steps >= job.epochs * job.steps_per_epoch or model.stop_training
    return model, Measurement(
        host=host,
        plan=str(plan),
        config=config or {},
        batch_size=job.batch_size,
        step=step,
        examples_per_s=job.batch_size / step.median_s if step else None,
        setup_s=(clock.begin_s or time.perf_counter()) - begin,
        first_step_s=clock.first_s or 0.0,
        training_s=clock.training_s,
        evaluation_s=clock.evaluation_s + test_s,
        total_s=time.perf_counter() - begin,
        peak_bytes=peak_bytes(),
        is_complete=has_all and not is_interrupted,
        metrics=metrics,
        epochs=epochs,
    )


def compiled(job: Job) -> keras.Model:
    """Build the model of a job that the plan has rewritten, and compile it."""
    model = job.build()
    rate = job.rate(job) if callable(job.rate) else job.rate
    optimizer = job.optimizer(learning_rate=rate, **job.optimizer_args)
    model.compile(optimizer=optimizer, **job.compile_args)
    return model


def _fit(
    model: keras.Model,
    job: Job,
    seed: int,
    history: keras.callbacks.History,
    callbacks: Sequence[keras.callbacks.Callback],
) -> tuple[tuple[dict[str, float], ...], bool]:
    """Return the metrics of each epoch, and whether Ctrl-C ended them early."""
    validation = job.source.validation
    is_interrupted = False
    try:
        model.fit(
            pipeline.training(job, seed=seed),
            epochs=job.epochs,
            steps_per_epoch=job.steps_per_epoch,
            validation_data=(
                pipeline.evaluation(validation, batch_size=job.batch_size) if validation else None
            ),
            shuffle=False,  # the pipeline shuffles
            callbacks=callbacks,
            verbose=0,
            **job.fit_args,
        )
    except BaseException as error:
        for callback in callbacks:  # which close their files and the profile
            with contextlib.suppress(Exception):
                callback.on_train_end()
        if not isinstance(error, KeyboardInterrupt):
            raise
        is_interrupted = True
    columns = history.history
    rows = [
        dict(zip(columns, map(float, row), strict=True))
        for row in zip(*columns.values(), strict=True)
    ]
    return tuple(rows), is_interrupted


def _test(model: keras.Model, job: Job) -> tuple[dict[str, float], float]:
    """Return the final metrics, named test_ or val_ after their examples, and the seconds."""
    begin = time.perf_counter()
    name, examples = (
        ("test", job.source.test) if job.source.test else ("val", job.source.validation)
    )
    if examples is None:
        return {}, 0.0
    batches = pipeline.evaluation(examples, batch_size=job.batch_size)
    metrics = model.evaluate(batches, verbose=0, return_dict=True)
    return {f"{name}_{k}": float(v) for k, v in metrics.items()}, time.perf_counter() - begin
