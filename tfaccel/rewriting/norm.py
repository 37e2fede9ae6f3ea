"""BatchNormalization as one operation, with the activation that follows it where that can be."""

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from tfaccel.native.norm_activation import fixed_norm_activation, norm_activation
from tfaccel.rewriting.activations import Name, activation_of
from tfaccel.rewriting.graph import followers
from tfaccel.rewriting.inplace import is_replaced, layers, replace_call

NATIVE_TYPES = (tf.float32, tf.bfloat16)
STOCK_TYPES = (tf.float32, tf.bfloat16, tf.float16)
LEAST_EPSILON = 1e-5  # of cuDNN


def fuse_norms(model: keras.Model, *, native: bool) -> int:
    """Let the BatchNormalization layers of a model compute by one operation each.

    Same results, gradients and moving statistics as Keras's own, but for rounding. Left alone
    are layers that normalise another axis than the last, or are synchronised, or use batch
    renormalisation, masks or float64; and layers of the user's own subclasses.

    Args:
        model: whose layers are changed; undone by `restore`.
        native: use the operation of this package, which takes the activation along.

    Returns:
        How many layers were changed.
    """
    after = followers(model) if native else {}
    norms = [layer for layer in layers(model) if _is_plain(layer) and not is_replaced(layer)]
    for layer in norms:
        name: Name | None = None
        follower = after.get(layer)
        if follower is not None and not is_replaced(follower):
            name = activation_of(follower)
        if name is not None and layer.compute_dtype in ("float32", "bfloat16"):
            replace_call(follower, lambda inputs, **_: inputs)
            replace_call(layer, _call(layer, name, native=True))
        else:
            replace_call(layer, _call(layer, "linear", native=native))
    return len(norms)


def _is_plain(layer: keras.layers.Layer) -> bool:
    if type(layer) is not keras.layers.BatchNormalization or layer.synchronized or layer.renorm:
        return False
    rank = layer.input_spec.ndim if layer.input_spec else None
    return layer.axis == -1 or (rank is not None and layer.axis == rank - 1)


def _call(layer: keras.layers.BatchNormalization, name: Name, *, native: bool) -> Callable:
    own = type(layer).call.__get__(layer)
    activate = _ACTIVATIONS[name]

    def call(inputs: tf.Tensor, training: bool | None = None, mask: Any = None) -> tf.Tensor:
        types = NATIVE_TYPES if native else STOCK_TYPES
        if mask is not None or inputs.dtype not in types or inputs.dtype != layer.compute_dtype:
            return activate(own(inputs, training=training, mask=mask))
        if not native and layer.epsilon < LEAST_EPSILON:
            return activate(own(inputs, training=training, mask=mask))
        gamma = tf.convert_to_tensor(layer.gamma) if layer.scale else None
        beta = tf.convert_to_tensor(layer.beta) if layer.center else None
        if not (training and layer.trainable):
            mean = tf.convert_to_tensor(layer.moving_mean)
            variance = tf.convert_to_tensor(layer.moving_variance)
            fixed = _native_fixed if native else _stock_fixed
            return fixed(inputs, gamma, beta, mean, variance, layer.epsilon, name)
        fused = _native if native else _stock
        outputs, mean, variance = fused(inputs, gamma, beta, layer.epsilon, name)
        momentum = layer.momentum
        for moving, batch in ((layer.moving_mean, mean), (layer.moving_variance, variance)):
            moving.assign(moving * momentum + tf.stop_gradient(batch) * (1.0 - momentum))
        return outputs

    return call


def _native(x: Any, gamma: Any, beta: Any, epsilon: float, name: Name) -> Any:
    return norm_activation(x, gamma, beta, epsilon=epsilon, activation=name)


def _native_fixed(
    x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, epsilon: float, name: Name
) -> Any:
    return fixed_norm_activation(x, gamma, beta, mean, variance, epsilon=epsilon, activation=name)


def _stock(x: Any, gamma: Any, beta: Any, epsilon: float, name: Name) -> Any:
    empty = tf.constant([], tf.float32)
    outputs, mean, variance = _stock_op(x, gamma, beta, empty, empty, epsilon, True)
    # The operation gives the unbiased variance, and Keras keeps the biased one.
    count = tf.cast(tf.size(x) // tf.shape(x)[-1], tf.float32)
    return outputs, mean, variance * (tf.maximum(count - 1.0, 1.0) / tf.maximum(count, 1.0))


def _stock_fixed(
    x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, epsilon: float, name: Name
) -> Any:
    return _stock_op(x, gamma, beta, mean, variance, epsilon, False)[0]


def _stock_op(
    x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, epsilon: float, is_training: bool
) -> Any:
    channels = tf.shape(x)[-1:]
    four = x if x.shape.rank == 4 else tf.reshape(x, tf.concat([[-1, 1, 1], channels], 0))
    outputs, mean, variance, *_ = tf.raw_ops.FusedBatchNormV3(
        x=four,
        scale=tf.ones(channels) if gamma is None else gamma,
        offset=tf.zeros(channels) if beta is None else beta,
        mean=mean,
        variance=variance,
        epsilon=epsilon,
        is_training=is_training,
    )
    return tf.ensure_shape(tf.reshape(outputs, tf.shape(x)), x.shape), mean, variance


_ACTIVATIONS: dict[Name, Callable[[Any], Any]] = {
    "linear": lambda x: x,
    "relu": keras.activations.relu,
    "relu6": keras.activations.relu6,
    "hard_swish": keras.activations.hard_silu,
    "silu": keras.activations.silu,
}
