"""Plans that crash for real: each is a row with its reason, and the others stand."""

import dataclasses
import json
import resource
import subprocess
import sys
from typing import ClassVar, Literal

import cloudpickle
import psutil
import pytest

import tfaccel
from tests.comparing import test_process
from tfaccel.comparing import child
from tfaccel.measure.trial import Work
from tfaccel.plan import Plan, Technique


class Failing(Technique):
    """A technique that fails."""

    numbers: ClassVar = "different"

    how: Literal["memory", "nan", "crash"]

    def apply(self, job):
        import keras

        match self.how:
            case "memory":
                limit = psutil.Process().memory_info().vms + 2**28
                resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
                build = lambda: keras.Sequential(  # noqa: E731
                    [keras.layers.Dense(2**15), keras.layers.Dense(2**14), keras.layers.Dense(1)]
                )
                return dataclasses.replace(job, build=build)
            case "nan":
                return dataclasses.replace(job, rate=1e30)
        raise RuntimeError("the technique is broken [really]")


@pytest.mark.slow
def test_out_of_memory_and_nan_are_rows_with_their_reasons():
    plans = [Plan(), *(Plan((Failing(how=how),)) for how in ("memory", "nan", "crash"))]
    found = tfaccel.compare(test_process.small_job, [*plans, Plan()], budget_s=1.0)
    memory, nan, crash = (row.failure for row in found.rows[1:4])
    assert any(word in memory for word in ("ResourceExhausted", "OOM", "bad_alloc", "Memory"))
    assert nan == "ArithmeticError: the loss is not a number"
    assert crash == "RuntimeError: the technique is broken [really]"
    assert [len(row.trials) for row in found.rows] == [2, 0, 0, 0, 2]


@pytest.mark.slow
def test_trials_on_a_busy_machine_are_marked():
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        try:
            found = tfaccel.compare(test_process.small_job, [Plan(), Plan()], budget_s=1.0)
        finally:
            busy.kill()
    trials = [trial for row in found.rows for trial in row.trials.values()]
    assert len(trials) == 4
    assert all(trial.is_disturbed for trial in trials)


def test_too_few_calls_to_be_timed_are_a_reason_in_plain_words(tmp_path):
    plan = tfaccel.parse_plan("steps_per_execution:steps=8")
    order = {"make_job": test_process.small_job, "plan": plan, "work": Work(seed=0, steps=8)}
    (tmp_path / "path.json").write_text(json.dumps(sys.path))
    (tmp_path / "order.pickle").write_bytes(cloudpickle.dumps(order))
    child.main(tmp_path)
    answer = json.loads((tmp_path / "answer.json").read_text())
    assert answer == {"failure": "its steps are too few, or too short, to be timed"}
