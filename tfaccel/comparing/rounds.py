"""Measure plans in turn, round after round, until the answer is clear or the time is up."""

import dataclasses
import time
from collections.abc import Callable, Sequence

from tfaccel.comparing.process import run_trial
from tfaccel.comparing.timetable import LEAST_ROUNDS, Timetable, Watch
from tfaccel.errors import UsageError
from tfaccel.job import Job
from tfaccel.measure.trial import Comparison, Row, Trial, Work
from tfaccel.plan import Plan

TRIAL_S = 5.0  # of steady steps in the base's trial
LEAST_STEPS, STEP_MULTIPLE = 24, 24  # so that 2, 3, 4, 6, 8 steps in a call divide them
PROBE_STEPS = 24
REPEATS = 2  # of a disturbed trial
# A plan that needs so many times as long as the base to reach the target has missed it.
LIMIT = 2.0
# So much slower that its exact figure is of no use to anyone. Far from 1, so that looking
# after every round does not make equal plans look different.
CLEARLY_SLOWER = 0.7


def compare(
    make_job: Callable[[], Job],
    plans: Sequence[Plan],
    *,
    target: float | None = None,
    budget_s: float = 300.0,
    watch: Watch = lambda what, least_s, most_s: None,
) -> Comparison:
    """Measure plans side by side: A B C, A B C, ... each in a fresh process.

    Rounds end when every answer is clear or the budget is used up, but not before two.
    Ctrl-C ends them too; what was measured stands.

    Args:
        make_job: returns the job; called in each process, so the data should be made or
            opened inside it.
        plans: the first one is the base that the others are compared with.
        target: train the whole job until the metric that chooses its best epoch is here,
            and compare the times until then; if None, compare the times of equal steps.
        budget_s: seconds for everything.
        watch: told what is measured, and between which bounds the seconds left may be.

    Raises:
        UsageError: fewer than two plans, or the base cannot be trained.
    """
    if len(plans) < 2:
        raise UsageError("A comparison needs two plans or more.")
    comparison = Comparison(
        rows=[Row(plan=str(plan)) for plan in plans], is_complete=False, target=target
    )
    timetable = Timetable([str(plan) for plan in plans], budget_s, watch)
    try:
        if target is None:
            timetable.warm_up()
            steps = _steps(make_job, plans[0])
            comparison = dataclasses.replace(comparison, steps=steps)
        waiting = list(range(len(plans)))
        for index in timetable.rounds():
            for place in waiting:
                with timetable.trial(index, place):
                    answer = _calm_trial(
                        make_job, plans[place], _work(comparison, index), timetable.end_s
                    )
                comparison = _with(comparison, place, index, answer)
            waiting = [place for place in waiting if not _is_clear(comparison, place)]
            timetable.keep(waiting)
            if waiting == [0]:
                break
    except KeyboardInterrupt:
        return comparison
    return dataclasses.replace(comparison, is_complete=True)


def _steps(make_job: Callable[[], Job], base: Plan) -> int:
    """Return how many steps take some seconds, from a first trial that is not kept."""
    answer = run_trial(make_job, base, Work(steps=PROBE_STEPS, seed=0))
    if isinstance(answer, str):
        raise UsageError(f"The base, {base}, failed: {answer}")
    steps = max(LEAST_STEPS, TRIAL_S / answer.step_s)
    return int(-(-steps // STEP_MULTIPLE) * STEP_MULTIPLE)


def _work(comparison: Comparison, index: int) -> Work:
    """Return the work of a round, equal for all its plans."""
    if comparison.target is None:
        return Work(seed=index, steps=comparison.steps)
    base = comparison.rows[0]
    limit_s = LIMIT * base.median("wall_s") if base.trials else None
    return Work(seed=index, target=comparison.target, limit_s=limit_s)


def _calm_trial(make_job: Callable[[], Job], plan: Plan, work: Work, end_s: float) -> Trial | str:
    """Return a trial, measured again while it was disturbed and there is time."""
    answer: Trial | str = ""
    for _ in range(1 + REPEATS):
        answer = run_trial(make_job, plan, work)
        if isinstance(answer, str) or not answer.is_disturbed:
            break
        if time.monotonic() + answer.wall_s > end_s:
            break
    return answer


def _with(comparison: Comparison, place: int, index: int, answer: Trial | str) -> Comparison:
    """Return the comparison with one more trial, or with the reason why there is none."""
    rows = [*comparison.rows]
    if isinstance(answer, str):
        if place == 0:
            raise UsageError(f"The base, {rows[0].plan}, failed: {answer}")
        rows[place] = dataclasses.replace(rows[place], failure=answer)
    else:
        if place == index == 0 and comparison.target is not None and answer.target_s is None:
            raise UsageError(
                f"The base, {rows[0].plan}, came to {answer.best:.4g} at best, not to "
                f"{comparison.target:g}; choose a target that it reaches, or more epochs."
            )
        trials = {**rows[place].trials, index: answer}
        rows[place] = dataclasses.replace(rows[place], trials=trials)
    return dataclasses.replace(comparison, rows=rows)


def _is_clear(comparison: Comparison, place: int) -> bool:
    """Return whether a plan needs no more trials; the base goes on with the others."""
    row = comparison.rows[place]
    if place == 0:
        return False
    if row.failure or comparison.missed(row) >= 2 + comparison.missed(comparison.rows[0]):
        return True
    speed = comparison.speed(row)
    if speed is None:
        return False
    return speed.high < CLEARLY_SLOWER or (len(row.trials) >= LEAST_ROUNDS and speed.is_tight)
