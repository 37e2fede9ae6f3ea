"""The profile of a run: XProf finds the steps in it."""

import dataclasses
import json

import keras
from xprof.convert import raw_to_tool_data

import tfaccel


def step_times_ms(folder):
    (file,) = folder.glob("plugins/profile/*/*.xplane.pb")
    page, _ = raw_to_tool_data.xspace_to_tool_data([str(file)], "overview_page", {})
    tables = json.loads(page)
    (steps,) = (t for t in tables if "steptime_ms_average" in t.get("p", {}))
    return float(steps["p"]["steptime_ms_average"]), len(steps["rows"])


def test_xprof_finds_the_steps(job, tmp_path):
    job = dataclasses.replace(job, batch_size=1, epochs=2)  # 64 steps an epoch
    tfaccel.train(job, profile=tmp_path)
    average, count = step_times_ms(tmp_path)
    assert count == 8, "of ten, XProf leaves the first and the last out"
    assert 0.05 < average < 100


def test_ctrl_c_in_the_profile_ends_it(job, tmp_path):
    class Stop(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 5:
                raise KeyboardInterrupt

    _, measurement = tfaccel.train(
        dataclasses.replace(job, epochs=1), profile=tmp_path, callbacks=[Stop()]
    )
    assert not measurement.is_complete
    tfaccel.train(job, profile=tmp_path / "again")
    assert step_times_ms(tmp_path / "again")[1] == 4


def test_a_run_too_short_for_a_profile_goes_without(job, tmp_path):
    job = dataclasses.replace(job, batch_size=32, epochs=1)  # 2 steps
    _, measurement = tfaccel.train(job, profile=tmp_path)
    assert measurement.is_complete
    assert not list(tmp_path.rglob("*.xplane.pb"))


def test_a_short_epoch_ends_the_profile_before_validation(job, tmp_path):
    job = dataclasses.replace(job, batch_size=8, epochs=3)  # 8 steps an epoch
    tfaccel.train(job, profile=tmp_path)
    assert step_times_ms(tmp_path)[1] == 4
