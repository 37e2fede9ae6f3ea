"""The waterfall: techniques alone, added one at a time, and each left out."""

import dataclasses
from collections.abc import Callable, Sequence

from tfaccel.comparing.rounds import compare
from tfaccel.comparing.timetable import Watch
from tfaccel.errors import UsageError
from tfaccel.job import Job
from tfaccel.measure.trial import Comparison
from tfaccel.plan import Plan, Technique

SHARE_ALONE = 0.4  # of the time budget
# A technique slower alone may pay beside the others: bfloat16 does once the normalisations,
# slow in it, are other operations. One that made the step this slow is not tried again.
HOPELESS = 0.5


@dataclasses.dataclass(frozen=True, kw_only=True)
class Waterfall:
    """Two comparisons with plain Keras."""

    alone: Comparison  # each technique by itself
    together: Comparison | None  # added in the order that pays, then each left out


def waterfall(
    make_job: Callable[[], Job],
    techniques: Sequence[Technique],
    *,
    budget_s: float,
    watch: Watch,
) -> Waterfall:
    """Measure every technique alone, then those that pay together.

    Techniques that were not slower alone are added to plain Keras one at a time, the one that
    pays most first; then each is left out of the full plan, which shows what it gives beside
    the others. Those that were slower alone, unless by far, are added to the full plan.

    Args:
        make_job: returns the job, in each process.
        techniques: to choose from; several of one kind with other options, too, of which
            the one that pays most is taken.
        budget_s: seconds for everything.
        watch: told what is measured, and the seconds left.
    """
    plans = [Plan(), *(Plan((technique,)) for technique in techniques)]
    alone = compare(make_job, plans, budget_s=SHARE_ALONE * budget_s, watch=watch)
    gains: dict[Technique, float] = {}
    losses: dict[Technique, float] = {}
    for technique, row in zip(techniques, alone.rows[1:], strict=True):
        speed = alone.speed(row)
        if speed and not row.failure:
            side = losses if speed.verdict == "slower" else gains
            side[technique] = speed.value
    full = _joined(sorted(gains, key=lambda technique: -gains[technique]))
    late = [one for one in losses if losses[one] >= HOPELESS and _joined([*full, one]) != full]
    if len(full) + len(late) < 2 or not full or not alone.is_complete:
        return Waterfall(alone=alone, together=None)
    notes = {"none": "plain Keras"}
    plans = [Plan()]
    for count, technique in enumerate(full, 1):
        plans.append(Plan(full[:count]))
        notes[str(plans[-1])] = f"+ {technique}"
    for technique in full[:-1]:  # without the last one is a step of the way up
        plans.append(Plan(tuple(t for t in full if t is not technique)))
        notes.setdefault(str(plans[-1]), f"all but {technique.name()}")
    for technique in late:
        plans.append(Plan((*full, technique)))
        notes[str(plans[-1])] = f"all and {technique}"
    plans = list(dict.fromkeys(plans))
    rest_s = (1 - SHARE_ALONE) * budget_s
    together = compare(make_job, plans, budget_s=rest_s, watch=watch)
    rows = [dataclasses.replace(row, note=notes[row.plan]) for row in together.rows]
    return Waterfall(alone=alone, together=dataclasses.replace(together, rows=rows))


def _joined(order: Sequence[Technique]) -> tuple[Technique, ...]:
    """Return the techniques in order, without those that exclude one before them."""
    full: tuple[Technique, ...] = ()
    for technique in order:
        try:
            full = Plan((*full, technique)).techniques
        except UsageError:
            continue
    return full
