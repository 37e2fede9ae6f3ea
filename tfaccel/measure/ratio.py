"""Is B faster than A? The ratio of paired measurements, with an interval that holds."""

import dataclasses
from collections.abc import Sequence
from typing import Literal

import numpy as np

# A comparison looks after every round and ends when the interval is narrow, which favours
# intervals that are narrow by chance: ended so, intervals of 95 % exclude the truth in up to
# 8 % of cases, and those of 97 % in 5 % at most (see tests/comparing/test_rounds.py).
CONFIDENCE = 0.97


@dataclasses.dataclass(frozen=True)
class Ratio:
    """How many times as fast, and between which bounds with 95 % confidence in the end."""

    value: float
    low: float
    high: float

    @property
    def verdict(self) -> Literal["faster", "slower", "no difference"]:
        """Return what may be said: a difference only where the interval excludes 1."""
        if self.low > 1:
            return "faster"
        return "slower" if self.high < 1 else "no difference"

    @property
    def is_tight(self) -> bool:
        """Return whether more measurements would hardly say more: within 2 %."""
        return self.high / self.low < 1.04


def ratio(base_s: Sequence[float] = (), other_s: Sequence[float] = ()) -> Ratio | None:
    """Return how many times as fast the other is, from pairs measured next to each other.

    The interval is Student's t of the logarithms of the pairs' ratios. The bootstrap of so
    few pairs is too narrow: with five pairs of the same thing, its 95 % interval excludes 1
    in about one case of seven (see tests/measure/test_ratio.py).

    Args:
        base_s: seconds of the base, a value a round.
        other_s: seconds of the other in the same rounds.

    Returns:
        The ratio; None for fewer than two pairs, which have no interval.
    """
    from scipy import stats

    logs = np.log(np.asarray(base_s) / np.asarray(other_s))
    if len(logs) < 2:
        return None
    mean, error = logs.mean(), logs.std(ddof=1) / np.sqrt(len(logs))
    reach = stats.t.ppf(0.5 + CONFIDENCE / 2, len(logs) - 1) * error
    low, value, high = np.exp([mean - reach, mean, mean + reach])
    return Ratio(float(value), float(low), float(high))
