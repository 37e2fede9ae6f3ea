"""The fresh process that measures one plan once: python -m tfaccel.comparing.child FILE."""

import dataclasses
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tfaccel.errors import UsageError
from tfaccel.host import prepare
from tfaccel.job import Job
from tfaccel.measure.trial import Trial, Work
from tfaccel.plan import Plan


def measure(make_job: Callable[[], Job], plan: Plan, work: Work, warm: Path) -> Trial:
    """Train under the plan, in this process, as much as the work says.

    Args:
        make_job: returns the job.
        plan: to train under.
        work: how much.
        warm: file to write when the steps are steady.

    Raises:
        ArithmeticError: the loss is not a number.
    """
    from tfaccel.comparing.target import StopAtTarget
    from tfaccel.comparing.warm import TellWhenWarm
    from tfaccel.data.audit import audit
    from tfaccel.data.limited import limited
    from tfaccel.measure.clock import StepClock
    from tfaccel.training import train

    plan.prepare()
    job = make_job()
    source, _ = audit(job.source, lambda items, total: items)
    job = dataclasses.replace(job, source=source)
    if work.steps is not None:
        job = limited(job, work.steps)
    clock = StepClock()
    callbacks = [clock, TellWhenWarm(clock, warm)]
    stop = None
    if work.target is not None:
        callbacks.append(stop := StopAtTarget(job.monitor, work.target, work.limit_s))
    _, measured = train(job, plan, seed=work.seed, callbacks=callbacks)
    if measured.step is None:
        raise UsageError("its steps are too few, or too short, to be timed")
    if measured.first_bad_epoch is not None:
        raise ArithmeticError("the loss is not a number")
    return Trial(
        batch_size=measured.batch_size,
        step_s=measured.step.median_s,
        first_step_s=measured.first_step_s,
        peak_bytes=measured.peak_bytes,
        cpu_s=time.process_time(),
        wall_s=measured.total_s,
        loss=measured.epochs[-1]["loss"],
        best=stop.best if stop else None,
        target_s=(
            measured.first_step_s + measured.training_s if stop and stop.is_reached else None
        ),
        has_gpu=bool(measured.host.gpus),
        windows=clock.windows,
    )


def main(folder: Path) -> None:
    """Read the order from the folder, measure, and write the trial or the failure there."""
    prepare()
    import cloudpickle

    # The parent may have found the job's own modules in other places.
    sys.path[:] = json.loads((folder / "path.json").read_text())
    try:
        order = cloudpickle.loads((folder / "order.pickle").read_bytes())
        # What is no plan of ours, such as another framework, measures itself.
        own = getattr(order["plan"], "measure", measure)
        answer = dataclasses.asdict(own(**order, warm=folder / "warm"))
    except Exception as error:  # whatever it is, it is the row's failure
        first = (str(error).strip().splitlines() or [""])[0]
        is_ours = isinstance(error, UsageError)
        answer = {"failure": first if is_ours else f"{type(error).__name__}: {first}"}
    (folder / "answer.json").write_text(json.dumps(answer))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
