"""A model before and after its layers got other code."""

import numpy as np
import tensorflow as tf


def outcome(model, *, training=True, shape=(8, 8, 6)):
    """Return the outputs, the gradients, and all weights after one call."""
    random = np.random.default_rng(1)
    x = random.normal(1, 2, (5, *shape)).astype("float32")

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cast(model(x, training=training), tf.float32)
            loss = tf.reduce_sum(y * tf.random.stateless_normal(tf.shape(y), [1, 2]))
        return y, *tape.gradient(loss, [x, *model.trainable_variables])

    return [np.asarray(one) for one in (*step(tf.constant(x)), *model.get_weights())]


def assert_equal_but_for_rounding(model, replace, *, tolerance=2e-5, replaced=1, **args):
    """Compare a model with itself, before and after the replacement of so many layers."""
    weights = model.get_weights()
    plain = outcome(model, **args)
    model.set_weights(weights)
    assert replace(model) == replaced
    fused = outcome(model, **args)
    model.set_weights(weights)
    assert len(plain) == len(fused) > 2
    for a, b in zip(plain, fused, strict=True):
        np.testing.assert_allclose(a, b, atol=tolerance * max(1, abs(a).max()))
