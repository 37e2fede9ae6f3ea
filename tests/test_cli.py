"""The command line as a person meets it: exit codes, one sentence, no traceback."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

from tfaccel import techniques


def run(*words, **args):
    command = [sys.executable, "-m", *words]
    return subprocess.run(command, capture_output=True, text=True, **args)


def recipe(*words, **args):
    return run("tfaccel.recipes.mobilenet", *words, **args)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--data", "nowhere"], "There is no data set and no folder 'nowhere'"),
        (["--batch-size", "0"], "batch_size is 0, but it should be greater than or equal to 1."),
        (["--width", "inf"], "width is inf, but it should be a finite number"),
        (["--width", "0.01", "--out", "OUT"], "No MobileNet v1 has width 0.01"),
        (["--size", "16"], "size is 16, but it should be greater than or equal to 32."),
        (["--accelerate", "xlaa"], "There is no technique 'xlaa'; did you mean xla?"),
        (["--config", "gone.toml"], "Cannot read the config gone.toml: No such file"),
        (["--out", "/dev/null/run"], "Cannot write the run directory /dev/null/run"),
        (["--batch-size", "20000", "--out", "OUT"], "only 11400 training examples"),
    ],
)
def test_a_mistake_ends_in_one_sentence_and_code_2(words, sentence, tmp_path):
    ran = recipe(*[word.replace("OUT", str(tmp_path / "x")) for word in words], cwd=tmp_path)
    assert ran.returncode == 2
    assert sentence in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert "Traceback" not in ran.stderr + ran.stdout


@pytest.mark.parametrize("words", [["--batchsize", "3"], ["--family", "v9"], ["--epochs", "x"]])
def test_a_mistaken_flag_names_what_was_meant(words):
    ran = recipe(*words)
    assert ran.returncode == 2
    assert re.search("--batch-size|--family|--epochs", ran.stderr)
    assert "Traceback" not in ran.stderr


def test_a_mistake_leaves_nothing_behind(tmp_path):
    assert recipe("--batch-size", "20000", cwd=tmp_path).returncode == 2
    assert recipe("--data", "nowhere", cwd=tmp_path).returncode == 2
    assert list(tmp_path.iterdir()) == []


def test_broken_images_leave_nothing_behind_and_their_names_are_printed_as_they_are(
    photos, tmp_path
):
    (photos / "dark" / "[red] :dog: [x].png").write_text("no image")
    ran = recipe("--data", str(photos), "--batch-size", "8", "--out", str(tmp_path / "run"))
    assert ran.returncode == 2
    assert ran.stderr.startswith(f"1 of 61 images of {photos} are broken, more than 1 %")
    assert "[red] :dog: [x].png: Unknown image file format" in ran.stderr
    assert not (tmp_path / "run").exists()
    for i in range(100):
        shutil.copy(photos / "light" / "2 ö.png", photos / "light" / f"copy {i}.png")
    words = ["--batch-size", "16", "--epochs", "1", "--out", str(tmp_path / "run")]
    ran = recipe("--data", str(photos), *words)
    assert ran.returncode == 0
    assert "caution  1 broken image(s) left out:" in ran.stdout
    assert "[red] :dog: [x].png: Unknown image file format" in ran.stdout
    assert "updates of the weights in the whole run are few" in ran.stdout


def test_the_command_lists_what_there_is():
    listed = run("tfaccel", "recipes")
    assert listed.returncode == 0
    assert "mobilenet" in listed.stdout
    listed = run("tfaccel", "techniques", env={**os.environ, "COLUMNS": "200"})
    assert listed.returncode == 0
    assert listed.stderr == ""
    assert all(name in listed.stdout for name in techniques.names())


def test_a_reader_that_goes_away_does_not_end_the_run(photos, tmp_path):
    words = f"--data '{photos}' --batch-size 8 --epochs 2 --out '{tmp_path / 'run'}'"
    code = f"set -o pipefail; {sys.executable} -m tfaccel.recipes.mobilenet {words} | head -1"
    ran = subprocess.run(["bash", "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0
    assert ran.stdout.startswith("machine")
    assert "test accuracy" in (tmp_path / "run" / "log.txt").read_text()


def test_a_loss_that_is_never_a_number_fails_the_run(photos, tmp_path):
    words = ["--data", str(photos), "--batch-size", "8", "--epochs", "1", "--learning-rate", "1e30"]
    ran = recipe(*words, "--out", str(tmp_path / "run"))
    assert ran.returncode == 1
    assert "caution  the loss is not a number from epoch 1 on" in ran.stdout


def test_train_is_the_recipe():
    assert run("tfaccel", "train", "mobilenet", "--help").stdout == recipe("--help").stdout
    wrong = run("tfaccel", "train", "mobilnet")
    assert (wrong.returncode, wrong.stderr.strip()) == (
        2,
        "There is no recipe 'mobilnet'; did you mean mobilenet?",
    )


def test_keras_on_another_backend_is_refused():
    ran = recipe(env={**os.environ, "KERAS_BACKEND": "numpy"})
    assert ran.returncode == 2
    assert "set the environment variable KERAS_BACKEND=tensorflow" in ran.stderr


def wait_for(out, pattern, process, limit_s=90):
    log, end = out / "log.txt", time.monotonic() + limit_s
    while time.monotonic() < end and process.poll() is None:
        if log.exists() and re.search(pattern, log.read_text()):
            return
        time.sleep(0.1)
    pytest.fail(f"{pattern!r} was not printed: {log.read_text() if log.exists() else 'no log'}")


def test_ctrl_c_keeps_what_was_done_and_says_so(photos, tmp_path):
    out = tmp_path / "run"
    words = ["--data", str(photos), "--batch-size", "4", "--epochs", "1000", "--out", str(out)]
    command = [sys.executable, "-m", "tfaccel.recipes.mobilenet", *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        wait_for(out, "epoch +2/1000", process)
        process.send_signal(signal.SIGINT)
        printed, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert re.search(
        r"Stopped by Ctrl-C after \d+ of 1000 epochs; .*model.keras holds the best", printed
    )
    assert (out / "model.keras").exists()
    assert '"is_complete": false' in (out / "measurement.json").read_text()


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
@pytest.mark.parametrize("size", ["16k", "300k", "2500k", "4000k", "9000k"])
def test_a_full_disk_ends_in_one_sentence_and_leaves_nothing_half_written(photos, tmp_path, size):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        words = [
            "--data",
            str(photos),
            "--batch-size",
            "8",
            "--epochs",
            "3",
            "--out",
            str(disk / "r"),
        ]
        ran = recipe(*words)
        assert ran.returncode == 1
        assert "The disk is full: could not write " in ran.stderr
        assert "Traceback" not in ran.stderr
        assert not list(disk.rglob(".writing-*"))
    finally:
        subprocess.run(["umount", str(disk)], check=True)
