"""The waterfall: techniques alone, added one at a time, and each left out."""

import dataclasses
from collections.abc import Callable, Sequence

from tfaccel.comparing.rounds import Watch, compare
from tfaccel.errors import UsageError
from tfaccel.job import Job
from tfaccel.measure.trial import Comparison
from tfaccel.plan import Plan, Technique

SHARE_ALONE = 0.5  # of the time budget


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

    Techniques that were slower alone are left there. The others are added to plain Keras
    one at a time, the one that pays most first; then each is left out of the full plan,
    which shows what it gives beside the others.
    """
    plans = [Plan(), *(Plan((technique,)) for technique in techniques)]
    alone = compare(make_job, plans, budget_s=SHARE_ALONE * budget_s, watch=watch)
    gains = {}
    for technique, row in zip(techniques, alone.rows[1:], strict=True):
        speed = alone.speed(row)
        if speed and not row.failure and speed.verdict != "slower":
            gains[technique] = speed.value
    order = sorted(gains, key=lambda technique: -gains[technique])
    full = _joined(order)
    added = [Plan(full[:count]) for count in range(1, len(full) + 1)]
    left_out = [Plan(tuple(t for t in full if t is not one)) for one in full[:-1]]
    plans = list(dict.fromkeys([Plan(), *added, *left_out]))
    if len(full) < 2 or not alone.is_complete:
        return Waterfall(alone=alone, together=None)
    rest_s = (1 - SHARE_ALONE) * budget_s
    return Waterfall(alone=alone, together=compare(make_job, plans, budget_s=rest_s, watch=watch))


def _joined(order: Sequence[Technique]) -> tuple[Technique, ...]:
    """Return the techniques in order, without those that exclude one before them."""
    full: tuple[Technique, ...] = ()
    for technique in order:
        try:
            full = Plan((*full, technique)).techniques
        except UsageError:
            continue
    return full
