"""What only a machine with a GPU can show."""

import dataclasses

import pytest
import tensorflow as tf

import tfaccel
from tfaccel import techniques
from tfaccel.models.mobilenet import mobilenet
from tfaccel.recipes.mobilenet import MobileNet
from tfaccel.recipes.mobilenet import job as mobilenet_job

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("plan", ["none", *techniques.names()])
def test_mobilenet_learns_on_a_gpu(plan):
    config = MobileNet(epochs=2)
    _, measured = tfaccel.train(mobilenet_job(config), tfaccel.parse_plan(plan))
    assert measured.host.gpus
    assert measured.host.capability
    assert measured.peak_bytes == tf.config.experimental.get_memory_info("GPU:0")["peak"] > 0
    assert measured.metrics["test_accuracy"] > 0.6


def test_plain_keras_compiles_with_xla_on_a_gpu():
    todo = mobilenet_job(MobileNet())
    from tfaccel.training import compiled

    assert compiled(todo).jit_compile
    off = techniques.parse_plan("xla:enabled=false").apply(todo)
    assert not compiled(
        dataclasses.replace(off, build=lambda: mobilenet("v1", size=32, classes=10))
    ).jit_compile
