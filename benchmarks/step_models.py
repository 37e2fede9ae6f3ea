"""The models whose training step is measured, as jobs on random pictures or tokens."""

from collections.abc import Callable
from functools import partial

import keras
import numpy as np
import tensorflow as tf

import tfaccel

CLASSES, BATCHES, TOKENS, VOCABULARY = 10, 4, 128, 8192
APPLICATIONS: dict[str, str] = {
    "mobilenet_v1": "MobileNet",
    "mobilenet_v2": "MobileNetV2",
    "mobilenet_v3_small": "MobileNetV3Small",
    "mobilenet_v3_large": "MobileNetV3Large",
    "efficientnet_v2_b0": "EfficientNetV2B0",
    "inception_v3": "InceptionV3",
    "resnet50": "ResNet50",
}
ENCODER = "encoder"


def make_job(name: str, size: int, batch_size: int) -> tfaccel.Job:
    """Return the training of a model with random weights.

    Args:
        name: one of APPLICATIONS, or `encoder`, a transformer of four blocks.
        size: side of the pictures in pixels; tokens of the encoder.
        batch_size: examples per step.
    """
    random = np.random.default_rng(0)
    examples = BATCHES * batch_size
    if name == ENCODER:
        inputs = random.integers(0, VOCABULARY, (examples, size), dtype=np.int32)
        build: Callable[[], keras.Model] = partial(encoder, size)
    else:
        inputs = random.normal(size=(examples, size, size, 3)).astype(np.float32)
        build = partial(application, name, size)
    data = tf.data.Dataset.from_tensor_slices((inputs, random.integers(0, CLASSES, examples)))
    return tfaccel.Job(
        build=build,
        source=tfaccel.from_dataset(data.batch(batch_size).cache(), examples=examples),
        optimizer=keras.optimizers.SGD,
        optimizer_args={"momentum": 0.9},
        rate=0.01,
        compile_args={"loss": keras.losses.SparseCategoricalCrossentropy(from_logits=True)},
        batch_size=batch_size,
    )


def application(name: str, size: int) -> keras.Model:
    """Return a model of keras.applications with ten classes and float32 logits."""
    kind = getattr(keras.applications, APPLICATIONS[name])
    body = kind(include_top=False, weights=None, input_shape=(size, size, 3), pooling="avg")
    logits = keras.layers.Dense(CLASSES, dtype="float32")(body.output)
    return keras.Model(body.input, logits)


class Positions(keras.layers.Layer):
    """Adds a learned vector to each place."""

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Make the vectors."""
        self.vectors = self.add_weight(shape=input_shape[1:])

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        """Add them."""
        return inputs + self.vectors


def encoder(tokens: int, *, width: int = 256, heads: int = 4, blocks: int = 4) -> keras.Model:
    """Return a small transformer encoder with a classifier on the mean of its tokens."""
    layers = keras.layers
    inputs = keras.Input((tokens,), dtype="int32")
    x = Positions()(layers.Embedding(VOCABULARY, width)(inputs))
    for _ in range(blocks):
        y = layers.LayerNormalization()(x)
        x = x + layers.MultiHeadAttention(heads, width // heads)(y, y)
        y = layers.LayerNormalization()(x)
        x = x + layers.Dense(width)(layers.Dense(4 * width, activation="gelu")(y))
    x = layers.GlobalAveragePooling1D()(layers.LayerNormalization()(x))
    return keras.Model(inputs, layers.Dense(CLASSES, dtype="float32")(x))
