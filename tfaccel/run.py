"""What every recipe does once its job is known: train, measure, and keep everything."""

import dataclasses
import errno
import io
import os
import sys
import time
from collections.abc import Callable
from typing import TypeVar

from tfaccel.config import Config
from tfaccel.errors import UsageError
from tfaccel.host import Host, make_deterministic, prepare, restart_with
from tfaccel.job import Job
from tfaccel.measure.measurement import Measurement
from tfaccel.plan import Plan
from tfaccel.report.screen import Screen
from tfaccel.rundir import RunDir
from tfaccel.techniques import parse_plan

C = TypeVar("C", bound=Config)
FEW_UPDATES = 100
FULL = os.strerror(errno.ENOSPC)


def main(kind: type[C], job: Callable[[C], Job]) -> None:
    """Run a recipe from the command line; end the process with its exit code.

    0: trained to the end. 1: the machine failed (the disk is full), or no epoch had a loss.
    2: something given cannot be used. 130: stopped by Ctrl-C.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # names may hold what a terminal cannot show
    try:
        config = kind.parse(prog=f"python -m {_module(kind)}")
        restart_with(parse_plan(config.accelerate).environment())
        measurement = run(config, job)
        code = 0 if measurement.is_complete else 130
        if measurement.first_bad_epoch == 0:
            code = 1
    except UsageError as error:
        print(error, file=sys.stderr)
        code = 2
    except KeyboardInterrupt:
        print("Stopped by Ctrl-C.", file=sys.stderr)
        code = 130
    except PermissionError as error:
        print(f"Cannot use {error.filename}: permission denied.", file=sys.stderr)
        code = 2
    except Exception as error:  # TensorFlow has an exception of its own for a full disk
        if FULL not in str(error):
            raise
        where = getattr(error, "filename", None) or "the run directory"
        print(f"The disk is full: could not write {where}; older files are whole.", file=sys.stderr)
        code = 1
    sys.exit(code)


def run(config: C, job: Callable[[C], Job]) -> Measurement:
    """Train the job under the plan that the config names; keep all in a run directory.

    Raises:
        UsageError: something in the config cannot be used on this machine.
    """
    screen = Screen(quiet=config.quiet)
    plan = parse_plan(config.accelerate)
    prepare()
    if config.deterministic:
        make_deterministic()
    import keras

    from tfaccel.data.audit import audit
    from tfaccel.files import write_aside
    from tfaccel.report.progress import TrainingProgress
    from tfaccel.report.summary import summary
    from tfaccel.training import train

    host = Host.here()
    plan.require(host)
    plan.prepare()
    todo = job(config)
    plan.apply(todo).check()
    place = RunDir.create(config, recipe_name(type(config)))
    try:
        place.describe(config, _module(type(config)), host, todo.source.classes)
        screen.log_to(place.log)
        _announce(screen, host, plan, todo)
        source, broken = audit(todo.source, screen.track)
        if broken:
            screen.print(
                "\n  ".join([f"caution  {len(broken)} broken image(s) left out:", *broken])
            )
        startup_s = _process_s()
        model, measurement = train(
            dataclasses.replace(todo, source=source),
            plan,
            seed=config.seed,
            config=config.model_dump(mode="json"),
            callbacks=[
                TrainingProgress(screen, batch_size=todo.batch_size),
                keras.callbacks.CSVLogger(place.metrics),
                keras.callbacks.TensorBoard(place.tensorboard, write_graph=False, profile_batch=0),
            ],
            checkpoint=place.best,
            profile=place.tensorboard,
        )
    except (UsageError, KeyboardInterrupt):
        place.discard()  # nothing was trained: leave nothing behind
        raise
    with write_aside(place.model) as aside:
        model.save(aside)
    measurement.save(place.measurement)
    if (bad := measurement.first_bad_epoch) is not None:
        screen.print(
            f"caution  the loss is not a number from epoch {bad + 1} on; the weights are those of "
            f"{'the best epoch before' if bad else 'the last, and useless'}: "
            "try a smaller learning rate"
        )
    if measurement.is_complete:
        screen.print(summary(measurement, startup_s=startup_s, total_s=_process_s()))
    else:
        trained = len(measurement.epochs)
        screen.print(
            f"Stopped by Ctrl-C after {trained} of {todo.epochs} epochs; "
            f"{place.model} holds the {'best' if trained else 'last'} weights so far."
        )
    screen.print(
        f"everything is in {place.root}; look at it with\n"
        f"  tensorboard --logdir {place.tensorboard}"
    )
    screen.close()
    return measurement


def recipe_name(kind: type[Config]) -> str:
    """Return a recipe's name on the command line, which is that of its file."""
    return kind.__name__.lower()


def _module(kind: type[Config]) -> str:
    return f"tfaccel.recipes.{recipe_name(kind)}"


def _announce(screen: Screen, host: Host, plan: Plan, job: Job) -> None:
    """Say what will be trained, how, and on what."""
    source = job.source
    parts = {"training": source.train, "validation": source.validation, "test": source.test}
    counts = ", ".join(f"{part.count:,} {name}" for name, part in parts.items() if part)
    screen.print(f"machine  {host}")
    screen.print(f"data     {source.name}: {counts} examples, {len(source.classes)} classes")
    screen.print(f"plan     {plan if plan.techniques else 'none (plain Keras)'}")
    if (updates := plan.apply(job).updates) < FEW_UPDATES:
        screen.print(
            f"caution  {updates} updates of the weights in the whole run are few to learn from; "
            "try a smaller --batch-size or more --epochs"
        )
    for technique in plan.techniques:
        if why := technique.caution(host):
            screen.print(f"caution  {technique.name()}: {why}")


def _process_s() -> float:
    """Return the seconds since this process started."""
    import psutil

    return time.time() - psutil.Process().create_time()
