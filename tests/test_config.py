"""Options: defaults, then a file, then flags; clear refusals."""

import subprocess
import sys

import pytest

from tfaccel.config import Config
from tfaccel.errors import UsageError
from tfaccel.recipes.mobilenet import MobileNet


def test_a_flag_wins_over_the_file_and_the_file_over_the_default(tmp_path):
    file = tmp_path / "a.toml"
    file.write_text("batch_size = 8\nepochs = 3\n")
    config = Config.parse(["--config", str(file), "--epochs", "2"])
    assert (config.batch_size, config.epochs, config.seed) == (8, 2, 0)
    assert Config.parse([f"--config={file}"]).epochs == 3


def test_what_is_written_reads_back_equal(tmp_path):
    config = MobileNet(family="v2", accelerate=("xla:enabled=false",), width=0.35, quiet=True)
    (tmp_path / "config.toml").write_text(config.to_toml())
    assert MobileNet.load(tmp_path / "config.toml") == config


def test_the_flags_give_the_options_back():
    config = MobileNet(
        data="my photos", family="v2", accelerate=("xla", "mixed_precision"), quiet=True
    )
    assert MobileNet.parse(config.to_flags()) == config
    assert MobileNet().to_flags() == []


def test_a_technique_may_be_a_table(tmp_path):
    (tmp_path / "a.toml").write_text(
        '[techniques.mixed_precision]\ndtype = "float16"\n[techniques.xla]\n'
    )
    assert Config.load(tmp_path / "a.toml").accelerate == ("mixed_precision:dtype=float16", "xla")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"batchsize": 8}, "There is no option of Config 'batchsize'; did you mean batch_size?"),
        (
            {"batch_size": 0},
            "Config: batch_size is 0, but it should be greater than or equal to 1.",
        ),
        ({"epochs": "many"}, "Config: epochs is 'many', but it should be a valid integer"),
    ],
)
def test_a_wrong_value_is_refused_in_one_sentence(values, sentence):
    with pytest.raises(UsageError) as caught:
        Config(**values)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "Cannot read the config"),
        ("epochs = ", "is not valid TOML"),
        ("epoch = 1", "epochs?"),
        ("techniques = 3", "should be tables"),
        ("[techniques]\nxla = 1", r"should be tables \[techniques.xla\]"),
        ("[techniques.xla]\nenabled = [1, 2]", r"should be tables \[techniques.xla\]"),
        ('accelerate = ["xla"]\n[techniques.xla]', "give one of them"),
    ],
)
def test_a_wrong_file_is_refused_by_name(tmp_path, content, sentence):
    file = tmp_path / "a.toml"
    if content is not None:
        file.write_text(content)
    with pytest.raises(UsageError, match=sentence):
        Config.load(file)


def test_config_needs_a_file_after_it():
    with pytest.raises(UsageError, match="--config needs the path"):
        Config.parse(["--config"])


def test_options_never_change():
    with pytest.raises(ValueError, match="frozen"):
        Config().epochs = 3


@pytest.mark.parametrize(
    "module", ["tfaccel", "tfaccel.recipes.mobilenet"], ids=lambda name: name.rpartition(".")[2]
)
def test_help_does_not_wait_for_tensorflow(module):
    code = (
        "import sys, runpy\n"
        "sys.argv = ['x', '--help']\n"
        f"try: runpy.run_module({module!r}, run_name='__main__')\n"
        "except SystemExit: pass\n"
        "print(sorted({'tensorflow', 'keras'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "usage:" in ran.stdout
    assert ran.stdout.splitlines()[-1] == "[]"
