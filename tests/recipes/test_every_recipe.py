"""What every recipe must hold: few options, presets that load, a run that leaves everything."""

import csv
import importlib
import json
import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import keras
import numpy as np
import pytest

from tfaccel import recipes
from tfaccel.config import Config
from tfaccel.errors import UsageError
from tfaccel.run import recipe_name, run

ROOT = Path(__file__).parents[2] / "recipes"
NAMES = [module.name for module in pkgutil.iter_modules(recipes.__path__)]
PRESETS = sorted(ROOT.glob("*/*.toml"))


def recipe(name):
    module = importlib.import_module(f"tfaccel.recipes.{name}")
    (kind,) = (
        member
        for member in vars(module).values()
        if isinstance(member, type) and issubclass(member, Config) and member is not Config
    )
    return kind, module.job


def test_every_recipe_has_a_folder_and_every_folder_a_recipe():
    assert NAMES
    assert sorted(NAMES) == sorted(path.name for path in ROOT.iterdir() if path.is_dir())
    for name in NAMES:
        assert (ROOT / name / "README.md").read_text().strip()
        assert (ROOT / name / "smoke.toml").exists()


@pytest.mark.parametrize("preset", PRESETS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_preset_loads(preset):
    recipe(preset.parent.name)[0].load(preset)


@pytest.mark.parametrize("name", NAMES)
def test_is_named_after_its_file_and_has_few_options(name):
    kind, _ = recipe(name)
    assert recipe_name(kind) == name
    assert len(kind.model_fields.keys() - Config.model_fields.keys()) <= 15
    for option, field in kind.model_fields.items():
        assert field.description, f"{option} has no description"


@pytest.mark.parametrize("name", NAMES)
def test_the_run_directory_has_everything(name, photos, tmp_path):
    kind, job = recipe(name)
    out = tmp_path / "run"
    config = kind(data=str(photos), batch_size=8, epochs=2, out=out, quiet=True)
    measurement = run(config, job)

    assert sorted(path.name for path in out.iterdir()) == [
        "checkpoints",
        "classes.txt",
        "command.txt",
        "config.toml",
        "host.json",
        "log.txt",
        "measurement.json",
        "metrics.csv",
        "model.keras",
        "tensorboard",
    ]
    assert [path.name for path in (out / "checkpoints").iterdir()] == ["best.keras"]
    assert kind.load(out / "config.toml") == config.model_copy(update={"out": None})
    assert tomllib.loads((out / "config.toml").read_text())["epochs"] == 2
    stored = json.loads((out / "measurement.json").read_text())
    assert stored["metrics"] == measurement.metrics
    assert stored["host"]["tensorflow"] == json.loads((out / "host.json").read_text())["tensorflow"]
    assert (out / "classes.txt").read_text().split() == ["dark", "light"]
    rows = list(csv.DictReader((out / "metrics.csv").open()))
    assert [float(row["val_loss"]) for row in rows] == [e["val_loss"] for e in measurement.epochs]
    assert "test accuracy" in (out / "log.txt").read_text()
    events = list((out / "tensorboard").glob("*/events.out.tfevents.*"))
    assert {path.parent.name for path in events} == {"train", "validation"}


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_loss_curve(name, photos, tmp_path):
    kind, job = recipe(name)
    args = {"data": str(photos), "batch_size": 8, "epochs": 2, "quiet": True}
    first, again, other = (
        run(kind(**args, seed=seed, out=tmp_path / out), job).epochs
        for seed, out in ((1, "a"), (1, "b"), (2, "c"))
    )
    assert first == again
    assert first != other


@pytest.mark.parametrize("name", NAMES)
def test_the_model_reloads_in_a_fresh_process_and_scores_the_same(name, photos, tmp_path):
    kind, job = recipe(name)
    config = kind(data=str(photos), batch_size=8, epochs=1, out=tmp_path / "run", quiet=True)
    measurement = run(config, job)
    todo = job(config)
    (images, targets) = next(iter(todo.source.test.ordered(100)))
    np.savez(tmp_path / "test.npz", images=images, targets=targets)
    code = (
        "import keras, numpy, sys; data = numpy.load(sys.argv[2]);"
        "logits = keras.models.load_model(sys.argv[1]).predict(data['images'], verbose=0);"
        "print((logits.argmax(1) == data['targets'].argmax(1)).mean())"
    )
    command = [
        sys.executable,
        "-c",
        code,
        str(tmp_path / "run" / "model.keras"),
        str(tmp_path / "test.npz"),
    ]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert float(ran.stdout.split()[-1]) == pytest.approx(measurement.metrics["test_accuracy"])


@pytest.mark.parametrize("name", NAMES)
def test_a_run_directory_is_never_overwritten(name, photos, tmp_path):
    kind, job = recipe(name)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="is not empty; choose another folder with --out"):
        run(kind(data=str(photos), batch_size=8, out=tmp_path / "run", quiet=True), job)
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["mine.txt"]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_deterministic_runs_are_equal_to_the_bit_at_the_real_size(name, tmp_path):
    curves = []
    for out in ("a", "b"):
        command = [sys.executable, "-m", f"tfaccel.recipes.{name}", "--epochs", "1", "--width"]
        command += ["0.25", "--deterministic", "--quiet", "--out", str(tmp_path / out)]
        subprocess.run(command, check=True)
        curves.append((tmp_path / out / "metrics.csv").read_text())
    assert curves[0] == curves[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_smoke_preset_runs_from_the_command_line(name, tmp_path):
    command = [sys.executable, "-m", f"tfaccel.recipes.{name}"]
    options = ["--config", str(ROOT / name / "smoke.toml"), "--out", str(tmp_path / "run")]
    ran = subprocess.run([*command, *options], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "test accuracy" in ran.stdout
    assert ran.stderr == ""
    assert keras.models.load_model(tmp_path / "run" / "model.keras").count_params() > 0
