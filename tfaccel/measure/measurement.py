"""What one run took, with all that is needed to repeat it."""

import dataclasses
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tfaccel.files import write_aside
from tfaccel.host import Host


@dataclasses.dataclass(frozen=True, kw_only=True)
class StepTimes:
    """Seconds per step after the first call, which traces and compiles.

    Steps are timed one by one where they take 0.1 s or more; shorter ones are the means of
    windows of 0.1 s.
    """

    steps: int  # how many were timed
    median_s: float
    low_s: float  # a quarter of them took less
    high_s: float  # a quarter took more


@dataclasses.dataclass(frozen=True, kw_only=True)
class Measurement:
    """What one run took. Times are in seconds of wall clock."""

    host: Host
    plan: str
    config: Mapping[str, Any]
    batch_size: int
    step: StepTimes | None  # steady steps; None in runs too short to say
    examples_per_s: float | None  # at the median step
    setup_s: float  # from the call of `train` to the first step: building the model
    first_step_s: float  # tracing and compiling, mostly
    training_s: float  # all other steps, but for profiled ones
    evaluation_s: float  # validation inside the run, and the test
    total_s: float  # of all these and what is between them
    peak_bytes: int  # of the first GPU in this run, or of the process so far
    is_complete: bool  # False where Ctrl-C or the end of the data stopped it early
    metrics: Mapping[str, float]  # of the best weights, on the test examples
    epochs: tuple[Mapping[str, float], ...]  # the metrics at the end of each

    @property
    def first_bad_epoch(self) -> int | None:
        """Return the first epoch, from 0, whose loss is not a finite number, or None."""
        losses = [epoch.get("loss", 0.0) for epoch in self.epochs]
        return next((i for i, loss in enumerate(losses) if not math.isfinite(loss)), None)

    def __str__(self) -> str:
        """Return one line."""
        if self.step is None or self.examples_per_s is None:
            return f"too short to time, plan: {self.plan}"
        return (
            f"{self.examples_per_s:,.0f} examples/s, {1000 * self.step.median_s:.1f} ms a step "
            f"({1000 * self.step.low_s:.1f} to {1000 * self.step.high_s:.1f}), "
            f"first step {self.first_step_s:.1f} s, plan: {self.plan}"
        )

    def save(self, path: Path) -> None:
        """Write as JSON."""
        with write_aside(path) as aside:
            aside.write_text(json.dumps(plain(self), indent=1) + "\n")


def plain(value: Any) -> Any:
    """Return what JSON can say: null stands for a number that is not finite."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    match value:
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case float():
            return value if math.isfinite(value) else None
        case None | bool() | int() | str():
            return value
    return str(value)
