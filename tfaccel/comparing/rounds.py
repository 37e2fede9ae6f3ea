"""Measure plans side by side, round after round, until the answer is clear or the time is up."""

import dataclasses
import time
from collections.abc import Callable, Sequence

from tfaccel.comparing.timetable import LEAST_ROUNDS, Timetable, Watch
from tfaccel.comparing.together import measure_together
from tfaccel.errors import UsageError
from tfaccel.host import memory_bytes
from tfaccel.job import Job
from tfaccel.measure.trial import Comparison, Row, Trial, Work
from tfaccel.plan import Plan

TRIAL_S = 5.0  # of steady steps in the base's trial, or less of a small budget:
TRIAL_SHARE, LEAST_TRIAL_S = 1 / 12, 1.0
STEP_MULTIPLE = 24  # of the steps, so that 2, 3, 4, 6, 8 steps in a call divide them
LEAST_STEPS = 8  # of models whose steps take so long that one call is enough for each
PROBE_STEPS = 8
MEMORY_SHARE = 0.5  # of the machine's memory for the processes that take turns
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
    """Measure plans side by side, each in a fresh process, in rounds and turn by turn.

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
    timetable = Timetable(budget_s, watch)
    size = 1  # trainings to a target are too long to take turns
    try:
        if target is None:
            timetable.warm_up(str(plans[0]))
            trial_s = max(LEAST_TRIAL_S, min(TRIAL_S, TRIAL_SHARE * budget_s))
            steps, size = _probe(make_job, plans[0], trial_s)
            comparison = dataclasses.replace(comparison, steps=steps)
        waiting: Sequence[int] = range(len(plans))
        for index in timetable.rounds():
            for number, places in enumerate(_groups(waiting, size)):
                with timetable.group(index, places) as tell:
                    work = _work(comparison, index)
                    some = [plans[place] for place in places]
                    answers = _calm(make_job, some, work, timetable.end_s, tell)
                key = f"{index}.{number}" if number and size > 1 else str(index)
                for place, answer in zip(places, answers, strict=True):
                    comparison = _with(comparison, place, key, answer)
            waiting = [place for place in waiting if not _is_clear(comparison, place)]
            timetable.keep(waiting)
            if waiting == [0]:
                break
    except KeyboardInterrupt:
        return comparison
    return dataclasses.replace(comparison, is_complete=True)


def _probe(make_job: Callable[[], Job], base: Plan, trial_s: float) -> tuple[int, int]:
    """Return, from a trial that is not kept, the steps of the others and how many fit at once.

    So many steps that the base takes `trial_s` seconds; so many processes that their memory fits.
    A GPU is for one process at a time.
    """
    (answer,) = measure_together(make_job, [base], Work(steps=PROBE_STEPS, seed=0))
    if isinstance(answer, str):
        raise UsageError(f"The base, {base}, failed: {answer}")
    steps = trial_s / answer.step_s
    multiple = STEP_MULTIPLE if steps > LEAST_STEPS else LEAST_STEPS
    fit = MEMORY_SHARE * memory_bytes() / answer.peak_bytes
    return int(-(-steps // multiple) * multiple), 1 if answer.has_gpu else int(fit)


def _groups(places: Sequence[int], size: int) -> list[list[int]]:
    """Return who takes turns with whom: the base, with as many others as fit.

    >>> _groups([0, 1, 2, 3], 3), _groups([0, 1, 2], 1)
    ([[0, 1, 2], [0, 3]], [[0], [1], [2]])
    """
    if size < 2:
        return [[place] for place in places]
    base, *others = places
    return [[base, *others[i : i + size - 1]] for i in range(0, len(others), size - 1)]


def _work(comparison: Comparison, index: int) -> Work:
    """Return the work of a round, equal for all its plans."""
    if comparison.target is None:
        return Work(seed=index, steps=comparison.steps)
    base = comparison.rows[0]
    limit_s = LIMIT * base.median("wall_s") if base.trials else None
    return Work(seed=index, target=comparison.target, limit_s=limit_s)


def _calm(
    make_job: Callable[[], Job],
    plans: Sequence[Plan],
    work: Work,
    end_s: float,
    tell: Callable[[str], None],
) -> list[Trial | str]:
    """Return trials, measured again while they were disturbed and there is time."""
    for repeat in range(1 + REPEATS):
        begin_s = time.monotonic()
        answers = measure_together(make_job, plans, work, tell)
        trials = [answer for answer in answers if isinstance(answer, Trial)]
        now_s = time.monotonic()
        if not any(trial.is_disturbed for trial in trials) or now_s + now_s - begin_s > end_s:
            break
        tell(f"disturbed, again ({repeat + 1} of {REPEATS})")
    return answers


def _with(comparison: Comparison, place: int, key: str, answer: Trial | str) -> Comparison:
    """Return the comparison with one more trial, or with the reason why there is none."""
    rows = [*comparison.rows]
    if isinstance(answer, str):
        if place == 0:
            raise UsageError(f"The base, {rows[0].plan}, failed: {answer}")
        rows[place] = dataclasses.replace(rows[place], failure=answer)
    else:
        is_first = place == 0 and not rows[0].trials
        if is_first and comparison.target is not None and answer.target_s is None:
            raise UsageError(
                f"The base, {rows[0].plan}, came to {answer.best:.4g} at best, not to "
                f"{comparison.target:g}; choose a target that it reaches, or more epochs."
            )
        trials = {**rows[place].trials, key: answer}
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
