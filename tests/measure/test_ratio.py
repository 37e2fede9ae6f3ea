"""The ratio of paired measurements calls a difference as seldom as it says."""

import numpy as np
import pytest

from tfaccel.measure.ratio import CONFIDENCE, ratio


def share_of_false_calls(rounds, interval):
    random = np.random.default_rng(0)
    pairs = np.exp(random.normal(0, 0.02, (2000, 2, rounds)))
    return np.mean([interval(*pair) for pair in pairs])


def by_ratio(base, other):
    return ratio(base, other).verdict != "no difference"


def by_bootstrap(base, other):
    logs = np.log(base / other)
    means = np.random.default_rng(1).choice(logs, (300, len(logs))).mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return low > 0 or high < 0


@pytest.mark.parametrize("rounds", [2, 4, 8])
def test_equal_things_are_called_different_as_seldom_as_the_confidence_says(rounds):
    assert share_of_false_calls(rounds, by_ratio) == pytest.approx(1 - CONFIDENCE, abs=0.012)


def test_the_plain_bootstrap_of_few_pairs_would_call_three_times_as_many():
    assert share_of_false_calls(5, by_bootstrap) > 0.12


def test_a_real_difference_is_found_with_its_size():
    random = np.random.default_rng(0)
    base, other = np.exp(random.normal(0, 0.01, (2, 6)))
    found = ratio(1.2 * base, other)
    assert found.verdict == "faster"
    assert found.low < 1.2 < found.high
    assert ratio(base, 1.2 * other).verdict == "slower"


def test_a_drift_that_hits_both_cancels():
    drift = np.array([1.0, 1.5, 2.0, 1.2])
    found = ratio(drift, drift / 1.1)
    assert (found.low, found.high) == pytest.approx((1.1, 1.1))
    assert found.is_tight


def test_one_pair_has_no_interval():
    assert ratio([1.0], [2.0]) is None
