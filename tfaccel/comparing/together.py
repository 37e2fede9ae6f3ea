"""Measure some plans in one go: their processes take turns of less than a second."""

import contextlib
import dataclasses
import statistics
import time
from collections.abc import Callable, Sequence

from tfaccel.comparing.process import Child
from tfaccel.job import Job
from tfaccel.measure.load import OtherLoad
from tfaccel.measure.trial import Trial, Work
from tfaccel.plan import Plan

SLICE_S, SLICE_STEPS = 0.7, 6  # of one process before the next has its turn: the longer
Turn = tuple[float, float]  # begin and end, by time.perf_counter


def measure_together(
    make_job: Callable[[], Job],
    plans: Sequence[Plan],
    work: Work,
    tell: Callable[[str], None] = lambda what: None,
) -> list[Trial | str]:
    """Measure plans once, each in a fresh process, taking turns.

    The speed of a machine drifts, with its neighbours in a cloud and with its temperature, by
    far more than what plans differ by. So the processes are started and warmed up one by one,
    and then run in short turns while the others are paused as a whole, input pipelines
    included: steps that are compared are a second apart.

    Args:
        make_job: returns the job; called in each process.
        plans: what to measure. One alone runs without a pause.
        work: the same for all.
        tell: told what is done now.

    Returns:
        For each plan the trial, or the reason why there is none.

    Raises:
        UsageError: the function that makes the job cannot be sent to another process.
    """
    load = OtherLoad()
    with contextlib.ExitStack() as stack:
        children: list[Child] = []
        slices_s: list[float] = []
        for plan in plans:
            tell(str(plan))
            children.append(stack.enter_context(Child(make_job, plan, work)))
            if len(plans) > 1:
                slices_s.append(_slice_s(children[-1].wait_until_warm()))
                children[-1].pause()
        if len(plans) > 1:
            tell("taking turns")
        turns = _take_turns(children, slices_s)
        answers = [child.answer() for child in children]
    cut = [_cut(answer, own) for answer, own in zip(answers, turns, strict=True)]
    cores = load.cores()
    return [
        one if isinstance(one, str) else dataclasses.replace(one, other_cores=cores) for one in cut
    ]


def _slice_s(step_s: float | None) -> float:
    return max(SLICE_S, SLICE_STEPS * (step_s or 0.0))


def _take_turns(children: Sequence[Child], slices_s: Sequence[float]) -> list[list[Turn]]:
    """Let the processes run in turn until one has ended; return when each ran."""
    turns: list[list[Turn]] = [[] for _ in children]
    running = [place for place in range(len(slices_s)) if not children[place].has_ended]
    while len(running) > 1:
        for place in running:
            begin = time.perf_counter()
            children[place].run(slices_s[place])
            turns[place].append((begin, time.perf_counter()))
        running = [place for place in running if not children[place].has_ended]
    return turns


def _cut(trial: Trial | str, turns: Sequence[Turn]) -> Trial | str:
    """Return a trial whose steps are those of whole windows within a turn, or why not."""
    if isinstance(trial, str):
        return trial
    slices = []
    for begin, end in turns:
        inside = [(s, n) for t, s, n in trial.windows if begin <= t and t + s <= end]
        steps = sum(n for _, n in inside)
        slices.append(sum(s for s, _ in inside) / steps if steps else None)
    whole = [one for one in slices if one]
    if turns and not whole:
        return "its steps are too long, or too few, to be timed in turns"
    step_s = statistics.median(whole) if turns else trial.step_s
    return dataclasses.replace(trial, step_s=step_s, slices=slices, windows=())
