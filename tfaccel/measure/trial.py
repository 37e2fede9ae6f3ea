"""One measurement of one plan, and the rows that they make."""

import dataclasses
import math
import statistics
from collections.abc import Sequence
from typing import Literal

from tfaccel.measure.ratio import Ratio, ratio


@dataclasses.dataclass(frozen=True, kw_only=True)
class Work:
    """What a trial trains: so many steps, or the whole job until a metric is reached."""

    seed: int
    steps: int | None = None
    target: float | None = None  # of the metric that chooses the job's best epoch
    limit_s: float | None = None  # of the whole trial, on the way to the target


@dataclasses.dataclass(frozen=True, kw_only=True)
class Trial:
    """What one process measured of one plan; of equal work in every trial of a comparison."""

    batch_size: int  # examples per step
    step_s: float  # median of the steady steps
    first_step_s: float  # tracing and compiling, mostly
    peak_bytes: int
    cpu_s: float  # of the whole process
    wall_s: float  # of the whole process
    loss: float  # mean over the trained examples, or over the last epoch before a target
    best: float | None = None  # highest or lowest value of the metric that has a target
    target_s: float | None = None  # of training, first step included; None if not reached
    has_gpu: bool = False
    other_cores: float = 0.0  # busy with something else meanwhile
    # Seconds per step in each of its turns beside other plans; None where none was whole.
    slices: Sequence[float | None] = ()
    windows: Sequence[Sequence[float]] = ()  # begin, seconds, steps; before they are cut

    @property
    def examples_per_s(self) -> float:
        """Return the examples per second at the median step."""
        return self.batch_size / self.step_s

    @property
    def is_disturbed(self) -> bool:
        """Return whether other work took more than a tenth of a core."""
        return self.other_cores > 0.1


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """One plan of a comparison: its trials by round, or why it has none."""

    plan: str
    note: str = ""  # its part in a waterfall, such as "with xla"
    trials: dict[str, Trial] = dataclasses.field(default_factory=dict)
    failure: str | None = None

    def median(self, name: str) -> float:
        """Return the median of one figure over the trials."""
        return statistics.median(getattr(trial, name) for trial in self.trials.values())


@dataclasses.dataclass(frozen=True, kw_only=True)
class Comparison:
    """Every plan against the first, which is the base."""

    rows: Sequence[Row]
    is_complete: bool
    steps: int | None = None  # of each trial
    target: float | None = None  # of the metric that was trained for instead

    def speed(self, row: Row, than: Row | None = None) -> Ratio | None:
        """Return how many times as fast as the base a plan is, an example for an example.

        Undisturbed pairs count where there are two or more.

        Where there is a target: how many times sooner it was reached, of the rounds in which
        both did.

        Args:
            row: the plan.
            than: another plan to compare it with than the base.
        """
        base = (than or self.rows[0]).trials
        both = [r for r in row.trials if r in base]
        calm = [r for r in both if not (row.trials[r].is_disturbed or base[r].is_disturbed)]
        rounds = calm if len(calm) >= 2 else both
        pairs = (self._pair(base[r], row.trials[r]) for r in rounds)
        return ratio(*zip(*(pair for pair in pairs if pair), strict=True))

    def _pair(self, a: Trial, b: Trial) -> tuple[float, float] | None:
        """Return the seconds of two trials of a round as they are compared."""
        if self.target is not None:
            return (a.target_s, b.target_s) if a.target_s and b.target_s else None
        turns = [x / y for x, y in zip(a.slices, b.slices, strict=False) if x and y]
        more = b.batch_size / a.batch_size  # examples per step
        if not turns:
            return a.step_s * more, b.step_s
        # Turn by turn, since the machine drifts; the median, since it also stumbles.
        return statistics.median(turns) * more, 1.0

    def missed(self, row: Row) -> int:
        """Return how many trials did not reach the target."""
        if self.target is None:
            return 0
        return sum(trial.target_s is None for trial in row.trials.values())

    def verdict(self, row: Row) -> Literal["faster", "slower", "no difference", "missed"] | None:
        """Return what may be said of a plan against the base; None where it is too early.

        A plan that missed the target more often than the base is not called faster, however
        soon it got there at other times.
        """
        if self.missed(row) > self.missed(self.rows[0]):
            return "missed"
        speed = self.speed(row)
        return speed.verdict if speed else None

    def repaid_after(self, row: Row) -> int | None:
        """Return the steps after which a plan has made up for its dearer first step.

        None where it never does, and where it is not certain to be faster; 0 where the
        first step is no dearer.
        """
        base = self.rows[0]
        if self.target is not None or self.verdict(row) != "faster":
            return None
        dearer_s = row.median("first_step_s") - base.median("first_step_s")
        saved_s = base.median("step_s") - row.median("step_s")
        return max(0, math.ceil(dearer_s / saved_s)) if saved_s > 0 else None

    def learns_otherwise(self, row: Row) -> bool:
        """Return whether the loss after the same examples differs by more than the seeds do."""
        base = self.rows[0].trials
        both = [r for r in row.trials if r in base]
        if len(both) < 2 or self.target is not None:
            return False
        spread = ratio([base[r].loss for r in both], [row.trials[r].loss for r in both])
        return spread is not None and spread.verdict != "no difference"

    def __str__(self) -> str:
        """Return a line a plan."""
        return "\n".join(f"{row.plan}: {self.words(row)}" for row in self.rows)

    def words(self, row: Row) -> str:
        """Return how a plan compares with the base, or why it cannot be said."""
        if row.failure or not row.trials:
            return f"failed: {row.failure}" if row.failure else "not measured"
        if row is self.rows[0]:
            return f"{1000 * row.median('step_s'):.2f} ms a step"
        speed, verdict = self.speed(row), self.verdict(row)
        if speed is None:
            return verdict or "measured once"
        return f"{speed.value:.2f} times as fast ({speed.low:.2f} to {speed.high:.2f}), {verdict}"
