"""Depthwise convolutions by code that is faster on CPUs than TensorFlow's."""

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf
from keras import Operation

from tfaccel.native.depthwise import Padding, covers, depthwise
from tfaccel.rewriting.graph import followers
from tfaccel.rewriting.inplace import is_replaced, layers, replace_call

Zeros = tuple[tuple[int, int], tuple[int, int]]
TYPES = (tf.float32, tf.bfloat16)


def replace_depthwise(model: keras.Model, *, native: bool) -> int:
    """Let the DepthwiseConv2D layers of a model compute by other code.

    Same results and gradients, but for rounding. A ZeroPadding2D that serves one of them alone
    becomes its padding. Left alone are kinds that the code does not cover, and layers of the
    user's own subclasses.

    Args:
        model: whose layers are changed; undone by `restore`.
        native: use the operation of this package; if not, TensorFlow's own, but for the
            gradient of a bfloat16 input at stride 2, which oneDNN computes in a slow loop:
            in float32 it takes a fifth of the time.

    Returns:
        How many layers were changed.
    """
    before = {after: one for one, after in followers(model).items()}
    count = 0
    for layer in layers(model):
        if type(layer) is not keras.layers.DepthwiseConv2D or is_replaced(layer):
            continue
        if not _is_covered(layer, native=native):
            continue
        padding: Padding = layer.padding.upper()
        pad = before.get(layer)
        if native and padding == "VALID" and pad is not None and (zeros := _zeros(pad)):
            replace_call(pad, lambda inputs, **_: inputs)
            padding = zeros
        replace_call(layer, _call(layer, padding, native=native))
        count += 1
    return count


def _is_covered(layer: keras.layers.DepthwiseConv2D, *, native: bool) -> bool:
    if layer.data_format != "channels_last" or not layer.built:
        return False
    if not native:
        return tuple(layer.strides) == (2, 2) and tuple(layer.dilation_rate) == (1, 1)
    return covers(
        layer.kernel.shape[-2],
        tuple(layer.kernel_size),
        tuple(layer.strides),
        depth_multiplier=layer.depth_multiplier,
        dilation_rate=tuple(layer.dilation_rate),
    )


def _zeros(operation: Operation) -> Zeros | None:
    is_padding = type(operation) is keras.layers.ZeroPadding2D
    if not is_padding or operation.data_format != "channels_last" or is_replaced(operation):
        return None
    rows, columns = operation.padding
    return tuple(rows), tuple(columns)


def _call(
    layer: keras.layers.DepthwiseConv2D, padding: Padding, *, native: bool
) -> Callable[[tf.Tensor], tf.Tensor]:
    own = type(layer).call.__get__(layer)
    stride = layer.strides[0]

    def call(inputs: tf.Tensor) -> tf.Tensor:
        if inputs.dtype not in TYPES or inputs.dtype != layer.compute_dtype:
            pads = isinstance(padding, tuple)
            return own(tf.pad(inputs, ((0, 0), *padding, (0, 0))) if pads else inputs)
        kernel = tf.convert_to_tensor(layer.kernel)
        if native:
            outputs = depthwise(inputs, kernel, stride=stride, padding=padding)
        elif inputs.dtype == tf.bfloat16:
            outputs = _wide_gradient(inputs, kernel, layer.strides, str(padding))
        else:
            return own(inputs)
        if layer.use_bias:
            outputs = outputs + tf.convert_to_tensor(layer.bias)
        return outputs if layer.activation is None else layer.activation(outputs)

    return call


def _wide_gradient(x: tf.Tensor, kernel: tf.Tensor, strides: Any, padding: str) -> tf.Tensor:
    """Convolve with TensorFlow's operation; compute the gradient of x in float32."""
    settings = {"strides": [1, *strides, 1], "padding": padding}

    @tf.custom_gradient
    def convolve(x: tf.Tensor, kernel: tf.Tensor) -> tuple[tf.Tensor, Callable]:
        def gradient(dy: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            dx = tf.raw_ops.DepthwiseConv2dNativeBackpropInput(
                input_sizes=tf.shape(x),
                filter=tf.cast(kernel, tf.float32),
                out_backprop=tf.cast(dy, tf.float32),
                **settings,
            )
            dkernel = tf.raw_ops.DepthwiseConv2dNativeBackpropFilter(
                input=x, filter_sizes=tf.shape(kernel), out_backprop=dy, **settings
            )
            return tf.cast(dx, x.dtype), dkernel

        return tf.raw_ops.DepthwiseConv2dNative(input=x, filter=kernel, **settings), gradient

    return convolve(x, kernel)
