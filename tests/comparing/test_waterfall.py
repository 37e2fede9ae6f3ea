"""The waterfall: which plans are measured, in which order, and what each row is called."""

import pytest

from tfaccel.comparing import waterfall as under_test
from tfaccel.comparing.waterfall import waterfall
from tfaccel.measure.trial import Comparison, Row, Trial
from tfaccel.techniques.mixed_precision import MixedPrecision
from tfaccel.techniques.steps_per_execution import StepsPerExecution
from tfaccel.techniques.xla import Xla

SIX, BF16, F16, XLA = (
    StepsPerExecution(steps=6),
    MixedPrecision(dtype="bfloat16"),
    MixedPrecision(dtype="float16"),
    Xla(),
)


@pytest.fixture
def speeds(monkeypatch):
    """Answer each comparison from a table of speeds; keep the plans asked for."""
    table, asked = {}, []

    def compare(make_job, plans, *, budget_s, watch):
        asked.append([str(plan) for plan in plans])
        rows = []
        for plan in plans:
            speed = 1.0
            for technique in plan.techniques:
                speed *= table.get(technique, 1.0)
            one = {
                "step_s": 1 / speed,
                "first_step_s": 1.0,
                "batch_size": 1,
                "peak_bytes": 1,
                "cpu_s": 1.0,
                "wall_s": 1.0,
                "loss": 1.0,
            }
            rows.append(Row(plan=str(plan), trials={str(i): Trial(**one) for i in range(4)}))
        return Comparison(rows=rows, steps=24, is_complete=True)

    monkeypatch.setattr(under_test, "compare", compare)
    return table, asked


def fall(*techniques):
    return waterfall(lambda: None, techniques, budget_s=1.0, watch=lambda *words: None)


def test_what_pays_is_added_in_the_order_that_pays_and_then_left_out(speeds):
    table, asked = speeds
    table.update({SIX: 1.1, BF16: 1.5, XLA: 1.3, F16: 1.2})
    found = fall(SIX, BF16, F16, XLA)
    assert asked[0] == ["none", *map(str, (SIX, BF16, F16, XLA))]
    rows = {row.plan: row.note for row in found.together.rows}
    assert rows == {
        "none": "plain Keras",
        f"{BF16}": f"+ {BF16}",
        f"{BF16} {XLA}": f"+ {XLA}",
        f"{BF16} {XLA} {SIX}": f"+ {SIX}",
        f"{XLA} {SIX}": "all but mixed_precision",
        f"{BF16} {SIX}": "all but xla",
    }
    assert list(rows) == asked[1], "one of a kind, the better one"


def test_what_is_far_slower_alone_is_left_there(speeds):
    table, _ = speeds
    table.update({XLA: 0.1, BF16: 0.3, SIX: 1.1})
    found = fall(SIX, BF16, XLA)
    assert [row.plan for row in found.alone.rows] == ["none", *map(str, (SIX, BF16, XLA))]
    assert found.together is None, "a single technique has been measured already"


def test_what_is_slower_alone_may_pay_beside_the_others(speeds):
    table, asked = speeds
    table.update({SIX: 1.3, BF16: 0.8, F16: 0.1})
    found = fall(SIX, BF16, F16)
    rows = {row.plan: row.note for row in found.together.rows}
    assert rows == {
        "none": "plain Keras",
        f"{SIX}": f"+ {SIX}",
        f"{SIX} {BF16}": f"all and {BF16}",
    }
    assert list(rows) == asked[1]


def test_what_is_slower_alone_is_not_added_to_another_of_its_kind(speeds):
    table, _ = speeds
    table.update({SIX: 1.3, BF16: 1.2, F16: 0.8})
    found = fall(SIX, BF16, F16)
    assert not [row.plan for row in found.together.rows if str(F16) in row.plan]
