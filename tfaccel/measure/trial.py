"""One measurement of one plan, and the rows that they make."""

import dataclasses
import math
import statistics
from collections.abc import Sequence

from tfaccel.measure.ratio import Ratio, ratio


@dataclasses.dataclass(frozen=True, kw_only=True)
class Trial:
    """What one process measured of one plan; of equal work in every trial of a comparison."""

    step_s: float  # median of the steady steps
    first_step_s: float  # tracing and compiling, mostly
    examples_per_s: float
    peak_bytes: int
    cpu_s: float  # of the whole process
    wall_s: float  # of the whole process
    loss: float  # mean over the trained examples
    other_cores: float = 0.0  # busy with something else meanwhile

    @property
    def is_disturbed(self) -> bool:
        """Return whether other work took more than a tenth of a core."""
        return self.other_cores > 0.1


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """One plan of a comparison: its trials by round, or why it has none."""

    plan: str
    trials: dict[int, Trial] = dataclasses.field(default_factory=dict)
    failure: str | None = None

    def median(self, name: str) -> float:
        """Return the median of one figure over the trials."""
        return statistics.median(getattr(trial, name) for trial in self.trials.values())


@dataclasses.dataclass(frozen=True, kw_only=True)
class Comparison:
    """Every plan against the first, which is the base."""

    rows: Sequence[Row]
    steps: int  # of each trial
    is_complete: bool

    def repaid_after(self, row: Row) -> int | None:
        """Return the steps after which a plan has made up for its dearer first step.

        None where it never does; 0 where the first step is no dearer.
        """
        base = self.rows[0]
        if not (base.trials and row.trials):
            return None
        dearer_s = row.median("first_step_s") - base.median("first_step_s")
        saved_s = base.median("step_s") - row.median("step_s")
        if saved_s <= 0:
            return None
        return max(0, math.ceil(dearer_s / saved_s))

    def learns_otherwise(self, row: Row) -> bool:
        """Return whether the loss after the same examples differs by more than the seeds do."""
        base = self.rows[0].trials
        both = [r for r in row.trials if r in base]
        if len(both) < 2:
            return False
        spread = ratio([base[r].loss for r in both], [row.trials[r].loss for r in both])
        return spread is not None and spread.verdict != "no difference"

    def speed(self, row: Row) -> Ratio | None:
        """Return how many times as fast as the base a plan is, undisturbed pairs first."""
        base = self.rows[0].trials
        both = [r for r in row.trials if r in base]
        calm = [r for r in both if not (row.trials[r].is_disturbed or base[r].is_disturbed)]
        rounds = calm if len(calm) >= 2 else both
        return ratio([base[r].step_s for r in rounds], [row.trials[r].step_s for r in rounds])
