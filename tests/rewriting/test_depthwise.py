"""Depthwise convolutions by other code against Keras's own."""

from functools import partial

import keras
import pytest

from tests.rewriting.same import assert_equal_but_for_rounding
from tfaccel.rewriting.depthwise import replace_depthwise
from tfaccel.rewriting.inplace import is_replaced

LAYER, SHAPE = keras.layers.DepthwiseConv2D, (11, 12, 40)
NATIVE, STOCK = (partial(replace_depthwise, native=native) for native in (True, False))


def model_of(*layers, dtype="float32", shape=SHAPE):
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(dtype)
    try:
        made = [
            layer() if callable(layer) and not hasattr(layer, "name") else layer for layer in layers
        ]
        return keras.Sequential([keras.Input(shape), *made])
    finally:
        keras.config.set_dtype_policy(before)


@pytest.mark.parametrize("size", [3, 5])
@pytest.mark.parametrize("strides", [1, 2])
@pytest.mark.parametrize("padding", ["same", "valid"])
def test_results_and_gradients_are_those_of_keras(size, strides, padding):
    model = model_of(LAYER(size, strides, padding))
    assert_equal_but_for_rounding(model, NATIVE, shape=SHAPE)


@pytest.mark.parametrize("args", [{"use_bias": False}, {"activation": "relu"}])
def test_options_of_the_layer_count(args):
    model = model_of(LAYER(3, bias_initializer="normal", **args))
    assert_equal_but_for_rounding(model, NATIVE, shape=SHAPE)


@pytest.mark.parametrize("zeros", [1, ((0, 1), (1, 2))])
def test_a_padding_before_it_is_taken_along(zeros):
    model = model_of(keras.layers.ZeroPadding2D(zeros), LAYER(3, 2))
    assert_equal_but_for_rounding(model, NATIVE, shape=SHAPE)
    assert all(map(is_replaced, model.layers))


def test_a_padding_that_something_else_sees_is_left():
    inputs = keras.Input(SHAPE)
    padded = keras.layers.ZeroPadding2D(1)(inputs)
    both = [LAYER(3, 2)(padded), keras.layers.AveragePooling2D(3, 2)(padded)]
    model = keras.Model(inputs, keras.layers.Add()(both))
    assert_equal_but_for_rounding(model, NATIVE, shape=SHAPE)


@pytest.mark.parametrize("replace", [NATIVE, STOCK], ids=["native", "stock"])
@pytest.mark.parametrize("padding", ["same", "valid"])
def test_bfloat16(replace, padding):
    model = model_of(partial(LAYER, 3, 2, padding, use_bias=False), dtype="mixed_bfloat16")
    assert model.layers[0].compute_dtype == "bfloat16"
    # A bfloat16 has 8 bits; the sums of the filter's gradient are of some hundred terms.
    assert_equal_but_for_rounding(model, replace, tolerance=1e-2, shape=SHAPE)


@pytest.mark.parametrize(
    "layer",
    [
        LAYER(7),
        LAYER(3, depth_multiplier=2),
        LAYER(3, dilation_rate=2),
        LAYER((3, 5)),
        LAYER(3, data_format="channels_first"),
    ],
    ids=str,
)
def test_what_is_not_covered_is_left_alone(layer):
    model = model_of(layer)
    assert NATIVE(model) == 0
    assert not is_replaced(model.layers[0])


def test_few_channels_are_left_alone():
    assert NATIVE(model_of(LAYER(3), shape=(9, 9, 3))) == 0


def test_float64_is_computed_by_keras():
    model = model_of(keras.layers.ZeroPadding2D(1, dtype="float64"), LAYER(3, 2, dtype="float64"))
    assert_equal_but_for_rounding(model, NATIVE, shape=SHAPE)
