"""What every technique must hold; the folder says which there are."""

import dataclasses
import itertools
import os
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfaccel
from tfaccel import techniques
from tfaccel.errors import UsageError
from tfaccel.host import Host
from tfaccel.plan import Plan, Technique

KINDS = [techniques.find(name) for name in techniques.names()]
ALL = [one for kind in KINDS for one in kind.variants() if not one.unavailable(Host.here())]
# What must be set before TensorFlow starts is tested in processes of its own.
EARLY = [one for one in ALL if type(one).prepare is not Technique.prepare or one.environment()]
LATE = [one for one in ALL if one not in EARLY]
PAIRS = [pair for pair in itertools.combinations(LATE, 2) if pair[0].name() != pair[1].name()]
JOBS = pytest.mark.parametrize("kind_of_job", ["job", "pictures_job"])


def joined(a, b):
    return not (b.name() in a.conflicts or a.name() in b.conflicts)


def weights(job, *plan):
    model, _ = tfaccel.train(job, Plan(plan), seed=3)
    return model.get_weights()


def compare_weights(plain, own, numbers):
    assert any(w.any() for w in plain)
    for a, b in zip(plain, own, strict=True):
        if numbers == "identical":
            np.testing.assert_array_equal(a, b)
        else:
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_there_are_techniques():
    assert len(KINDS) >= 3


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name())
def test_is_documented(kind):
    first, *rest = kind.__doc__.splitlines()
    assert first.endswith(".")
    assert any(line.strip().startswith("Numbers:") and kind.numbers in line for line in rest)
    assert any(line.strip().startswith("Source:") or "://" in line for line in rest)
    for name, field in kind.model_fields.items():
        assert field.description, f"{name} has no description"


@pytest.mark.parametrize("technique", ALL, ids=str)
def test_reads_back_from_its_words(technique):
    assert techniques.parse_plan(str(technique)) == Plan((technique,))


@JOBS
@pytest.mark.parametrize("technique", LATE, ids=str)
def test_keeps_what_it_says_of_the_numbers(technique, kind_of_job, request):
    job = request.getfixturevalue(kind_of_job)
    if technique.numbers == "different":
        plain, own = (tfaccel.train(job, Plan(p), seed=3)[1].epochs for p in ((), (technique,)))
        assert own[-1]["loss"] < own[0]["loss"]
        # float16 skips the first updates of a run, until the scale of the loss is right.
        assert own[-1]["loss"] < (plain[0]["loss"] + plain[-1]["loss"]) / 2
    else:
        compare_weights(weights(job), weights(job, technique), technique.numbers)


@pytest.mark.slow
@pytest.mark.parametrize("technique", EARLY, ids=str)
def test_what_must_be_set_early_keeps_what_it_says_of_the_numbers(technique, tmp_path):
    found = {}
    for plan in (Plan(), Plan((technique,))):
        file = tmp_path / f"{plan}.npz"
        command = [sys.executable, str(Path(__file__).parent / "early.py"), str(plan), str(file)]
        subprocess.run(command, env={**os.environ, **plan.environment()}, check=True)
        with np.load(file) as stored:
            found[str(plan)] = [*stored.values()]
    compare_weights(*found.values(), technique.numbers)


@pytest.mark.parametrize("technique", EARLY, ids=str)
def test_what_must_be_set_early_is_refused_late(technique, job):
    tf.zeros(1)  # TensorFlow has started, with its own settings
    changed = technique.model_copy(update={"intra": 99} if technique.name() == "threads" else {})
    with pytest.raises(UsageError, match="recipe"):
        tfaccel.train(job, Plan((changed,)))


@pytest.mark.parametrize("technique", ALL, ids=str)
def test_puts_its_setting_back_even_after_an_error(technique):
    before = keras.config.dtype_policy().name
    with pytest.raises(RuntimeError, match="planted"), technique.scope():
        raise RuntimeError("planted")
    assert keras.config.dtype_policy().name == before


@pytest.mark.parametrize("technique", ALL, ids=str)
def test_leaves_the_job_it_was_given(technique, job):
    before = dataclasses.asdict(dataclasses.replace(job, source=None))
    technique.apply(job)
    assert dataclasses.asdict(dataclasses.replace(job, source=None)) == before


@pytest.mark.parametrize(("a", "b"), PAIRS, ids=str)
def test_every_pair_trains_or_is_refused_with_a_reason(a, b, pictures_job):
    job = pictures_job
    if joined(a, b):
        _, measurement = tfaccel.train(job, Plan((a, b)))
        assert measurement.is_complete
        assert np.isfinite(measurement.metrics["val_loss"])
    else:
        with pytest.raises(UsageError, match=r"cannot be joined: .+"):
            Plan((a, b))


@pytest.mark.parametrize(("a", "b"), [p for p in PAIRS if joined(*p)], ids=str)
def test_order_does_not_matter(a, b, job):
    assert Plan((a, b)).apply(job) == Plan((b, a)).apply(job)


def test_the_host_that_lacks_something_is_refused_before_training(job):
    old = dataclasses.replace(Host.here(), gpus=("Tesla K80",), capability=(3, 7))
    with pytest.raises(
        UsageError, match=r"mixed_precision cannot run here: bfloat16 needs .* 3\.7"
    ):
        techniques.parse_plan("mixed_precision").require(old)
