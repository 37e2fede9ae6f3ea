"""Measure some plans in one go: their processes take turns of less than a second."""

import contextlib
import dataclasses
import statistics
import time
from collections.abc import Callable, Mapping, Sequence

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
    # A B C, then C B A in the next round: who starts first finds another memory.
    order = range(len(plans))[:: -1 if work.seed % 2 else 1]
    children: dict[int, Child] = {}
    slices_s: dict[int, float] = {}
    with contextlib.ExitStack() as stack:
        for place in order:
            tell(str(plans[place]))
            child = stack.enter_context(Child(make_job, plans[place], work))
            children[place] = child
            if len(plans) > 1:
                slices_s[place] = _slice_s(child.wait_until_warm())
                child.pause()
        if len(plans) > 1:
            tell("taking turns")
        turns = _take_turns(children, slices_s)
        answers = [children[place].answer() for place in range(len(plans))]
    cut = [_cut(answer, turns[place]) for place, answer in enumerate(answers)]
    cores = load.cores()
    return [
        one if isinstance(one, str) else dataclasses.replace(one, other_cores=cores) for one in cut
    ]


def _slice_s(step_s: float | None) -> float:
    return max(SLICE_S, SLICE_STEPS * (step_s or 0.0))


def _take_turns(
    children: Mapping[int, Child], slices_s: Mapping[int, float]
) -> dict[int, list[Turn]]:
    """Let the processes run in turn until all but one have ended; return when each ran."""
    turns: dict[int, list[Turn]] = {place: [] for place in children}
    running = [place for place in slices_s if not children[place].has_ended]
    while len(running) > 1:
        # A B, then B A: who comes second would gain by a machine that gets faster.
        running.reverse()
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
