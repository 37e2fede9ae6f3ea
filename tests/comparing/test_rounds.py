"""Rounds: in turn, repeated when disturbed, ended by Ctrl-C, and a crash is a row."""

import numpy as np
import pytest

from tfaccel.comparing import rounds, timetable
from tfaccel.errors import UsageError
from tfaccel.measure.trial import Trial
from tfaccel.techniques import parse_plan

PLAIN, OTHER, THIRD = (parse_plan(w) for w in ("none", "xla", "mixed_precision"))


def trial(step_s=0.1, **args):
    figures = {
        "step_s": step_s,
        "first_step_s": 3.0,
        "batch_size": 10,
        "peak_bytes": 10**9,
        "cpu_s": 1.0,
        "wall_s": 1.0,
        "loss": 2.0,
    }
    return Trial(**{**figures, **args})


@pytest.fixture
def asked(monkeypatch):
    """Replace the fresh process by an answer a plan; keep what was asked for."""

    def install(answer, works=None):
        calls, works = [], [] if works is None else works

        def measure_together(make_job, plans, work, tell=lambda what: None):
            found = []
            for plan in plans:
                tell(str(plan))
                calls.append((str(plan).split(":")[0], work.steps, work.seed))
                works.append(work)
                found.append(answer(plan, len(calls)))
                if isinstance(found[-1], BaseException):
                    raise found[-1]
            return found

        monkeypatch.setattr(rounds, "measure_together", measure_together)
        monkeypatch.setattr(rounds, "memory_bytes", lambda: 64 * 10**9)
        return calls

    return install


def compare(*plans, **args):
    return rounds.compare(lambda: None, plans, **args)


def test_plans_are_measured_in_turn_with_equal_work_and_equal_seeds(asked):
    calls = asked(lambda plan, n: trial(0.1))
    found = compare(PLAIN, OTHER)
    assert calls[0] == ("none", rounds.PROBE_STEPS, 0)
    assert [name for name, _, _ in calls[1:]] == ["none", "xla"] * rounds.LEAST_ROUNDS
    assert {steps for _, steps, _ in calls[1:]} == {found.steps} == {72}
    assert [seed for _, _, seed in calls[1:]] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert found.is_complete


def test_rounds_go_on_while_the_answer_is_not_clear(asked):
    asked(lambda plan, n: trial(0.1 * (1 + 0.2 * (n % 3))))
    found = compare(PLAIN, OTHER)
    assert len(found.rows[0].trials) == timetable.MOST_ROUNDS


def test_the_time_budget_ends_the_rounds_but_not_before_two(asked):
    asked(lambda plan, n: trial(0.1 * (1 + 0.2 * (n % 3))))
    assert len(compare(PLAIN, OTHER, budget_s=0.0).rows[1].trials) == 2


def test_a_crash_is_a_row_with_its_reason_and_the_others_stand(asked):
    calls = asked(lambda plan, n: "out of memory" if plan is OTHER else trial(0.1))
    found = compare(PLAIN, OTHER, THIRD)
    assert found.rows[1].failure == "out of memory"
    assert len(found.rows[2].trials) == rounds.LEAST_ROUNDS
    assert [name for name, _, _ in calls].count("xla") == 1, "it is not tried again"


def test_a_base_that_crashes_ends_it(asked):
    asked(lambda plan, n: "the loss is not a number")
    with pytest.raises(UsageError, match=r"The base, none, failed: the loss is not a number"):
        compare(PLAIN, OTHER)


def test_ctrl_c_keeps_what_was_measured(asked):
    asked(lambda plan, n: KeyboardInterrupt() if n == 5 else trial(0.1))
    found = compare(PLAIN, OTHER)
    assert not found.is_complete
    assert [len(row.trials) for row in found.rows] == [1, 1], "the round that it broke is lost"


def test_a_disturbed_trial_is_repeated_and_marked_if_it_stays_so(asked):
    calls = asked(lambda plan, n: trial(0.1, other_cores=0.5 if plan is OTHER else 0.0))
    found = compare(PLAIN, OTHER)
    names = [name for name, _, seed in calls[1:] if seed == 0]
    assert names == ["none", "xla"] * (1 + rounds.REPEATS), "the whole group, to stay in turn"
    assert all(one.is_disturbed for one in found.rows[1].trials.values())


def test_disturbed_pairs_do_not_count_where_there_are_calm_ones(asked):
    def answer(plan, n):
        is_bad = plan is OTHER and n < 9
        return trial(1.0 if is_bad else 0.1, other_cores=float(is_bad))

    asked(answer)
    found = compare(PLAIN, OTHER)
    assert found.speed(found.rows[1]).value == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("gigabytes", "order"),
    [
        (9, ["none", "xla", "mixed_precision"]),
        (5, ["none", "xla", "none", "mixed_precision"]),
        (1, ["none", "xla", "mixed_precision"]),
    ],
)
def test_as_many_take_turns_as_fit_into_memory(asked, monkeypatch, gigabytes, order):
    calls = asked(lambda plan, n: trial(0.1, peak_bytes=10**9))
    monkeypatch.setattr(rounds, "memory_bytes", lambda: gigabytes * 10**9)
    found = compare(PLAIN, OTHER, THIRD)
    assert [name for name, _, seed in calls[1:] if seed == 0] == order
    pairs = [set(row.trials) & set(found.rows[0].trials) for row in found.rows[1:]]
    assert [len(one) for one in pairs] == [rounds.LEAST_ROUNDS] * 2, "each beside the base"


def test_what_took_turns_is_compared_turn_by_turn(asked):
    slow = [0.1, 0.2, 0.16, 0.1]  # the machine, from turn to turn

    def answer(plan, n):
        share = 1.25 if plan is OTHER else 1.0
        whole = [s / share for s in slow]
        return trial(whole[n % 4], slices=[*whole[:2], None, *whole[3:], 9.0][: 4 + n % 2])

    asked(answer)
    found = compare(PLAIN, OTHER)
    speed = found.speed(found.rows[1])
    assert (speed.low, speed.high) == pytest.approx((1.25, 1.25))


def test_a_compile_is_repaid_after_the_steps_that_save_as_much(asked):
    asked(lambda plan, n: trial(0.05, first_step_s=8.0) if plan is OTHER else trial(0.1))
    found = compare(PLAIN, OTHER)
    assert found.repaid_after(found.rows[1]) == 100
    asked(lambda plan, n: trial(0.2) if plan is OTHER else trial(0.1))
    found = compare(PLAIN, OTHER)
    assert found.repaid_after(found.rows[1]) is None


def test_another_loss_is_seen_beyond_the_spread_of_the_seeds(asked):
    asked(lambda plan, n: trial(loss=(2.5 if plan is OTHER else 2.0) + 0.01 * (n % 3)))
    found = compare(PLAIN, OTHER)
    assert found.learns_otherwise(found.rows[1])
    asked(lambda plan, n: trial(loss=2.0 + 0.3 * (n % 3)))
    found = compare(PLAIN, OTHER)
    assert not found.learns_otherwise(found.rows[1])


def test_a_plan_far_slower_is_measured_twice_and_no_more(asked):
    noise = iter(np.random.default_rng(0).normal(1, 0.003, 99))
    asked(lambda plan, n: trial((0.5 if plan is OTHER else 0.1) * next(noise)))
    found = compare(PLAIN, OTHER, THIRD)
    assert [len(row.trials) for row in found.rows] == [4, 2, 4]
    assert found.verdict(found.rows[1]) == "slower"
    assert found.speed(found.rows[1]).value == pytest.approx(0.2, rel=0.05)


@pytest.mark.parametrize("noise", [0.005, 0.02, 0.05])
def test_the_whole_rule_calls_equal_plans_different_as_seldom_as_it_says(asked, noise):
    random = np.random.default_rng(0)
    asked(lambda plan, n: trial(0.1 * np.exp(random.normal(0, noise))))
    found = [compare(PLAIN, OTHER) for _ in range(1000)]
    called = [one.verdict(one.rows[1]) != "no difference" for one in found]
    assert np.mean(called) < 0.05 + 2 * 0.007, "0.007: the standard error of 1000 cases"


def test_time_to_a_target_is_compared(asked):
    works = []
    asked(
        lambda plan, n: trial(best=0.9, target_s=30.0 if plan is OTHER else 60.0, wall_s=90.0),
        works,
    )
    found = compare(PLAIN, OTHER, target=0.87)
    assert found.speed(found.rows[1]).value == pytest.approx(2.0)
    assert found.verdict(found.rows[1]) == "faster"
    assert {(work.target, work.steps) for work in works} == {(0.87, None)}
    assert works[0].limit_s is None
    assert {work.limit_s for work in works[1:]} == {rounds.LIMIT * 90.0}


def test_a_plan_that_misses_the_target_is_never_faster(asked):
    def answer(plan, n):
        missed = plan is OTHER and n > 2
        return trial(best=0.9, target_s=None if missed else 10.0 if plan is OTHER else 60.0)

    asked(answer)
    found = compare(PLAIN, OTHER, target=0.87)
    assert found.verdict(found.rows[1]) == "missed"
    assert found.missed(found.rows[1]) == 2
    assert len(found.rows[1].trials) == 3, "two misses are enough"


def test_a_base_that_misses_the_target_ends_it(asked):
    asked(lambda plan, n: trial(best=0.85))
    with pytest.raises(UsageError, match=r"The base, none, came to 0\.85 at best, not to 0\.87"):
        compare(PLAIN, OTHER, target=0.87)


def test_the_time_left_is_foretold(asked, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(timetable.time, "monotonic", lambda: now[0])

    def answer(plan, n):
        now[0] += 10.0
        return trial(0.1)

    asked(answer)
    told = []
    compare(PLAIN, OTHER, budget_s=200.0, watch=lambda *words: told.append(words))
    assert told[0] == ("warming up: none", None, 200.0)
    assert told[1] == ("round 1 of 4 to 12: none", None, 190.0)
    assert told[3] == ("round 2 of 4 to 12: none", 60.0, 170.0)
    assert told[-1][1:] == (10.0, 120.0)


def test_one_plan_is_no_comparison():
    with pytest.raises(UsageError, match="two plans"):
        compare(PLAIN)
