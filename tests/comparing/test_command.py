"""`tfaccel compare` from the command line, with real processes."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from tfaccel.comparing.command import CompareOptions
from tfaccel.errors import UsageError

WORK = ["--width", "0.1", "--batch-size", "16", "--augment", "none"]


def command(*words):
    return [sys.executable, "-m", "tfaccel", "compare", "mobilenet", *words]


def compare(*words, **args):
    env = {**os.environ, "COLUMNS": "200"}
    return subprocess.run(command(*words), capture_output=True, text=True, env=env, **args)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90.0), ("5m", 300.0), ("1.5h", 5400.0), ("7", 7.0)]
)
def test_budgets(text, seconds):
    assert CompareOptions(budget=text).budget_s == seconds


@pytest.mark.parametrize("text", ["soon", "5 m", "-1s", ""])
def test_a_wrong_budget_is_refused(text):
    with pytest.raises(UsageError, match="budget is"):
        CompareOptions(budget=text)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--plans", "none", "xlaa"], "There is no technique 'xlaa'; did you mean xla?"),
        (["--plans", "none"], "A comparison needs two plans or more."),
        (["--plans", "none", "xla", "--waterfall"], "leave --plans and --check-accuracy out"),
        (["--data", "nowhere"], "There is no data set and no folder 'nowhere'"),
    ],
)
def test_a_mistake_ends_in_one_sentence_and_code_2(words, sentence):
    ran = compare(*words)
    assert ran.returncode == 2
    assert sentence in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


@pytest.mark.slow
def test_plans_are_compared_and_stored_and_a_slower_one_fails_the_check(photos, tmp_path):
    file = tmp_path / "found.json"
    # The photographs are few: what is compared is the command, not the speed.
    words = ["--plans", "none", "mixed_precision"]
    words += ["--budget", "1s", "--json", str(file), "--fail-if-slower"]
    ran = compare(*words, "--data", str(photos), *WORK)
    assert ran.stderr == ""
    assert re.search(r"(?m)^none .* base", ran.stdout)
    found = json.loads(file.read_text())
    (rows,) = (one["rows"] for one in found["comparisons"].values())
    assert [row["plan"].split(":")[0] for row in rows] == ["none", "mixed_precision"]
    assert all(len(row["trials"]) == 2 for row in rows)
    assert all(row["trials"]["0"]["step_s"] > 0 for row in rows)
    assert found["work"].startswith(f"mobilenet --data {photos}")
    assert found["host"]["tensorflow"]
    slower = any(row["verdict"] == "slower" for row in rows)
    assert ran.returncode == (3 if slower else 0)


@pytest.mark.slow
def test_ctrl_c_keeps_the_rows_that_are_done(photos, tmp_path):
    file = tmp_path / "found.json"
    words = ["--plans", "none", "steps_per_execution", "--json", str(file)]
    words += ["--data", str(photos), *WORK]
    with subprocess.Popen(command(*words), stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if line.startswith("round 2"):
                break
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait(timeout=30) == 130
    assert "Stopped by Ctrl-C; what was measured stands." in rest
    (rows,) = (one["rows"] for one in json.loads(file.read_text())["comparisons"].values())
    assert [len(row["trials"]) for row in rows] == [1, 1]
