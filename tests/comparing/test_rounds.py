"""Rounds: in turn, repeated when disturbed, ended by Ctrl-C, and a crash is a row."""

import pytest

from tfaccel.comparing import rounds
from tfaccel.errors import UsageError
from tfaccel.measure.trial import Trial
from tfaccel.techniques import parse_plan

PLAIN, OTHER, THIRD = (parse_plan(w) for w in ("none", "xla", "mixed_precision"))


def trial(step_s=0.1, **args):
    figures = {
        "step_s": step_s,
        "first_step_s": 3.0,
        "examples_per_s": 10 / step_s,
        "peak_bytes": 10**9,
        "cpu_s": 1.0,
        "wall_s": 1.0,
        "loss": 2.0,
    }
    return Trial(**{**figures, **args})


@pytest.fixture
def asked(monkeypatch):
    """Replace the fresh process by an answer a plan; keep what was asked for."""

    def install(answer):
        calls = []

        def run_trial(make_job, plan, *, steps, seed):
            calls.append((str(plan).split(":")[0], steps, seed))
            found = answer(plan, len(calls))
            if isinstance(found, BaseException):
                raise found
            return found

        monkeypatch.setattr(rounds, "run_trial", run_trial)
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
    assert len(found.rows[0].trials) == rounds.MOST_ROUNDS


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
    assert [len(row.trials) for row in found.rows] == [2, 1]


def test_a_disturbed_trial_is_repeated_and_marked_if_it_stays_so(asked):
    calls = asked(lambda plan, n: trial(0.1, other_cores=0.5 if plan is OTHER else 0.0))
    found = compare(PLAIN, OTHER)
    names = [name for name, _, _ in calls[1:5]]
    assert names == ["none", "xla", "xla", "xla"]
    assert all(one.is_disturbed for one in found.rows[1].trials.values())


def test_disturbed_pairs_do_not_count_where_there_are_calm_ones(asked):
    def answer(plan, n):
        is_bad = plan is OTHER and n < 9
        return trial(1.0 if is_bad else 0.1, other_cores=float(is_bad))

    asked(answer)
    found = compare(PLAIN, OTHER)
    assert found.speed(found.rows[1]).value == pytest.approx(1.0)


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


def test_one_plan_is_no_comparison():
    with pytest.raises(UsageError, match="two plans"):
        compare(PLAIN)
