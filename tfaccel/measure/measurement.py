"""What one run took, with all that is needed to repeat it."""

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tfaccel.files import write_aside
from tfaccel.host import Host


@dataclasses.dataclass(frozen=True, kw_only=True)
class StepTimes:
    """Seconds per step after the first call, which traces and compiles."""

    steps: int  # how many were timed
    median_s: float
    low_s: float  # a quarter of the steps took less
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
    peak_bytes: int  # of the first GPU, or of the process
    is_complete: bool  # False where the run was stopped before its end
    metrics: Mapping[str, float]  # of the best weights, on the test examples
    epochs: tuple[Mapping[str, float], ...]  # the metrics at the end of each

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
            aside.write_text(json.dumps(dataclasses.asdict(self), indent=1, default=str) + "\n")
