"""What our measuring costs: `tfaccel.train` against a bare timed loop around `fit`, in turn.

    python -m benchmarks.overhead

Both train the same model on the same batches; the bare loop reads the clock around `fit`
and nothing else. Writes benchmarks/results/overhead.json.
"""

import argparse
import dataclasses
import time

import keras

import tfaccel
from benchmarks.planted import make_job
from benchmarks.storing import RESULTS, store
from tfaccel.data import pipeline
from tfaccel.data.limited import limited
from tfaccel.host import prepare
from tfaccel.measure.ratio import ratio
from tfaccel.training import compiled


def fit_s(model: keras.Model, job: tfaccel.Job, callbacks: list[keras.callbacks.Callback]) -> float:
    """Return the seconds of one epoch of a model that has been traced."""
    batches = pipeline.training(job, seed=0)
    begin = time.perf_counter()
    model.fit(
        batches,
        epochs=1,
        steps_per_epoch=job.steps_per_epoch,
        shuffle=False,
        verbose=0,
        callbacks=callbacks,
    )
    return time.perf_counter() - begin


def main() -> None:
    """Measure both in turn, and store the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--steps", type=int, default=200)
    args = parser.parse_args()
    prepare()
    from tfaccel.measure.clock import StepClock

    job = limited(make_job(), args.steps)
    model = compiled(job)
    fit_s(model, limited(job, 8), [])
    bare, measured = [], []
    for _ in range(args.pairs):
        bare.append(fit_s(model, job, []) / args.steps)
        measured.append(fit_s(model, job, [StepClock()]) / args.steps)
    found = ratio(measured, bare)
    assert found is not None
    print(f"measured / bare: {found}; step {sorted(bare)[len(bare) // 2] * 1000:.2f} ms")
    store(
        RESULTS / "overhead.json",
        measured_over_bare=dataclasses.asdict(found),
        bare_step_s=bare,
        measured_step_s=measured,
    )


if __name__ == "__main__":
    main()
