"""Measure plans in turn, round after round, until the answer is clear or the time is up."""

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence

from tfaccel.comparing.process import run_trial
from tfaccel.errors import UsageError
from tfaccel.job import Job
from tfaccel.measure.trial import Comparison, Row, Trial
from tfaccel.plan import Plan

LEAST_ROUNDS, MOST_ROUNDS = 4, 12
TRIAL_S = 5.0  # of steady steps in the base's trial
LEAST_STEPS, STEP_MULTIPLE = 24, 24  # so that 2, 3, 4, 6, 8 steps in a call divide them
PROBE_STEPS = 24
REPEATS = 2  # of a disturbed trial
Watch = Callable[[str, float | None], None]  # what is measured now, seconds left


def compare(
    make_job: Callable[[], Job],
    plans: Sequence[Plan],
    *,
    budget_s: float = 300.0,
    watch: Watch = lambda what, left_s: None,
) -> Comparison:
    """Measure plans side by side: A B C, A B C, ... each in a fresh process.

    Rounds end when every interval is tight or the budget is used up, but not before two.
    Ctrl-C ends them too; what was measured stands.

    Args:
        make_job: returns the job; called in each process, so the data should be made or
            opened inside it.
        plans: the first one is the base that the others are compared with.
        budget_s: seconds for everything.
        watch: told what is measured, and how many seconds may be left.

    Raises:
        UsageError: fewer than two plans, or the base cannot be trained.
    """
    if len(plans) < 2:
        raise UsageError("A comparison needs two plans or more.")
    end_s = time.monotonic() + budget_s
    rows = [Row(plan=str(plan)) for plan in plans]
    steps, is_complete = 0, False
    try:
        watch(f"warming up: {rows[0].plan}", None)
        steps = _steps(make_job, plans[0])
        for index in _rounds(rows, steps, end_s):
            for place, plan in enumerate(plans):
                if rows[place].failure:
                    continue
                left_s = max(0.0, end_s - time.monotonic())
                watch(f"round {index + 1}: {rows[place].plan}", left_s)
                answer = _calm_trial(make_job, plan, steps, index, end_s)
                rows[place] = _with(rows[place], index, answer)
            if rows[0].failure:
                raise UsageError(f"The base, {rows[0].plan}, failed: {rows[0].failure}")
        is_complete = True
    except KeyboardInterrupt:
        pass
    return Comparison(rows=rows, steps=steps, is_complete=is_complete)


def _steps(make_job: Callable[[], Job], base: Plan) -> int:
    """Return how many steps take some seconds, from a first trial that is not kept."""
    answer = run_trial(make_job, base, steps=PROBE_STEPS, seed=0)
    if isinstance(answer, str):
        raise UsageError(f"The base, {base}, failed: {answer}")
    steps = max(LEAST_STEPS, TRIAL_S / answer.step_s)
    return int(-(-steps // STEP_MULTIPLE) * STEP_MULTIPLE)


def _rounds(rows: Sequence[Row], steps: int, end_s: float) -> Iterator[int]:
    """Count rounds for as long as another one is needed and likely to fit."""
    begin_s = time.monotonic()
    for index in range(MOST_ROUNDS):
        if index >= LEAST_ROUNDS:
            so_far = Comparison(rows=rows, steps=steps, is_complete=False)
            speeds = [so_far.speed(row) for row in rows[1:] if not row.failure]
            if all(speed and speed.is_tight for speed in speeds):
                return
        now_s = time.monotonic()
        if index >= 2 and now_s + (now_s - begin_s) / index > end_s:
            return
        yield index


def _calm_trial(
    make_job: Callable[[], Job], plan: Plan, steps: int, seed: int, end_s: float
) -> Trial | str:
    """Return a trial, measured again while it was disturbed and there is time."""
    answer: Trial | str = ""
    for _ in range(1 + REPEATS):
        answer = run_trial(make_job, plan, steps=steps, seed=seed)
        if isinstance(answer, str) or not answer.is_disturbed:
            break
        if time.monotonic() + answer.wall_s > end_s:
            break
    return answer


def _with(row: Row, index: int, answer: Trial | str) -> Row:
    if isinstance(answer, str):
        return dataclasses.replace(row, failure=answer)
    return dataclasses.replace(row, trials={**row.trials, index: answer})
