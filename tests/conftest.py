"""Fixtures that every test can use."""

import dataclasses
import os
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfaccel


@pytest.fixture(autouse=True)
def _global_state_is_left_alone():
    """Fail a test that leaves a setting of Keras changed for the next one."""
    policy, image_format = keras.config.dtype_policy().name, keras.config.image_data_format()
    yield
    assert keras.config.dtype_policy().name == policy, "the test leaked a dtype policy"
    assert keras.config.image_data_format() == image_format, "the test leaked an image format"
    assert not tf.config.functions_run_eagerly(), "the test leaked eager mode"
    keras.utils.clear_session(free_memory=False)


def _regression(examples: int) -> tf.data.Dataset:
    inputs = np.random.default_rng(0).normal(size=(examples, 8)).astype("float32")
    targets = inputs.sum(axis=1, keepdims=True)
    return tf.data.Dataset.from_tensor_slices((inputs, targets)).batch(8)


def _small_model() -> keras.Model:
    return keras.Sequential(
        [keras.Input((8,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(1, dtype="float32")]
    )


@pytest.fixture
def job() -> tfaccel.Job:
    """A job small enough to train in a second: sums of eight numbers."""
    return tfaccel.Job(
        build=_small_model,
        source=tfaccel.from_dataset(_regression(64), validation=_regression(16), examples=64),
        optimizer=keras.optimizers.SGD,
        optimizer_args={"momentum": 0.9},
        rate=lambda job: 0.01,
        compile_args={"loss": "mse"},
        batch_size=8,
        epochs=2,
    )


@pytest.fixture
def photos(tmp_path) -> Path:
    """A folder of 60 images in two classes, of several kinds, modes and sizes."""
    from PIL import Image

    random = np.random.default_rng(0)
    kinds = [
        ("jpg", "RGB"),
        ("jpeg", "L"),
        ("png", "RGBA"),
        ("gif", "P"),
        ("bmp", "L"),
        ("PNG", "L"),
        ("webp", "RGB"),
    ]
    for label, name in enumerate(("dark", "light")):
        (tmp_path / "photos" / name).mkdir(parents=True)
        for i in range(30):
            ending, mode = kinds[i % len(kinds)]
            height, width = random.integers(20, 90, 2)
            pixels = random.integers(0, 120, (height, width, 3)) + 130 * label
            image = Image.fromarray(pixels.astype("uint8")).convert(mode)
            image.save(tmp_path / "photos" / name / f"{i} ö.{ending}")
    return tmp_path / "photos"


def _convnet() -> keras.Model:
    """Return a small net with what image models are made of."""
    layers = keras.layers
    x = inputs = keras.Input((8, 8, 3))
    for relu in (layers.ReLU(max_value=6), layers.Activation("hard_swish")):
        x = layers.Conv2D(32, 3, padding="same", use_bias=False)(x)
        x = relu(layers.BatchNormalization(momentum=0.9)(x))
        y = layers.DepthwiseConv2D(3, padding="same", use_bias=False)(x)
        x = layers.Add()([x, layers.BatchNormalization(momentum=0.9)(y)])
    x = layers.DepthwiseConv2D(3, 2)(layers.ZeroPadding2D(((0, 1), (0, 1)))(x))
    x = layers.GlobalAveragePooling2D()(layers.ReLU()(layers.BatchNormalization()(x)))
    return keras.Model(inputs, layers.Dense(1, dtype="float32")(x))


@pytest.fixture
def pictures_job(job) -> tfaccel.Job:
    """A job with a small convolutional net."""
    inputs = np.random.default_rng(0).normal(size=(64, 8, 8, 3)).astype("float32")
    targets = inputs.mean(axis=(1, 2, 3), keepdims=False)[:, None]
    data = tf.data.Dataset.from_tensor_slices((inputs, targets)).batch(8)
    source = tfaccel.from_dataset(data, validation=data.take(2), examples=64)
    return dataclasses.replace(job, build=_convnet, source=source)
