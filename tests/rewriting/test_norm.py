"""Fused batch normalisation against Keras's own: results, gradients, statistics, files."""

from functools import partial

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.rewriting import same
from tests.rewriting.same import outcome
from tfaccel.rewriting.inplace import is_replaced, operations, restore
from tfaccel.rewriting.norm import fuse_norms

KERNELS = pytest.mark.parametrize("native", [True, False], ids=["native", "stock"])
TAKEN = {
    "relu": keras.layers.ReLU,
    "relu6": lambda: keras.layers.ReLU(max_value=6),
    "hard_swish": lambda: keras.layers.Activation("hard_swish"),
    "silu": lambda: keras.layers.Activation("silu"),
}
LEFT = {
    "tanh": lambda: keras.layers.Activation("tanh"),
    "leaky": lambda: keras.layers.ReLU(negative_slope=0.1),
    "capped": lambda: keras.layers.ReLU(max_value=3),
}
NORM = keras.layers.BatchNormalization


def model_of(*layers, shape=(8, 8, 6)):
    """Return a model of these layers with random statistics and parameters."""
    model = keras.Sequential([keras.Input(shape), *layers])
    for layer in model.layers:
        if isinstance(layer, NORM):
            random = np.random.default_rng(0)
            layer.set_weights([random.uniform(0.5, 1.5, w.shape) for w in layer.get_weights()])
    return model


def assert_equal_but_for_rounding(model, *, native, **args):
    same.assert_equal_but_for_rounding(model, partial(fuse_norms, native=native), **args)


@KERNELS
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("after", [*TAKEN.values(), *LEFT.values()], ids=[*TAKEN, *LEFT])
def test_results_gradients_and_statistics_are_those_of_keras(after, training, native):
    model = model_of(NORM(momentum=0.7), after())
    assert_equal_but_for_rounding(model, native=native, training=training)


@KERNELS
@pytest.mark.parametrize("args", [{"scale": False}, {"center": False}, {"epsilon": 0.1}])
def test_options_of_the_layer_count(args, native):
    assert_equal_but_for_rounding(model_of(NORM(**args)), native=native)


@KERNELS
@pytest.mark.parametrize("shape", [(6,), (4, 6), (2, 4, 3, 6)])
def test_any_number_of_axes(shape, native):
    model = model_of(NORM(), keras.layers.ReLU(), shape=shape)
    assert_equal_but_for_rounding(model, native=native, shape=shape)


@KERNELS
def test_frozen_layers_keep_their_statistics(native):
    model = model_of(NORM())
    model.layers[0].trainable = False
    before = model.get_weights()
    assert_equal_but_for_rounding(model, native=native, training=True)
    for a, b in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("dtype", "native"), [("mixed_bfloat16", True), ("mixed_bfloat16", False)], ids=str
)
def test_narrow_activations_have_statistics_in_32_bits(dtype, native):
    policy = keras.config.dtype_policy()
    keras.config.set_dtype_policy(dtype)
    try:
        model = model_of(NORM(), keras.layers.ReLU())
    finally:
        keras.config.set_dtype_policy(policy)
    # A bfloat16 has 8 bits: half of the last one is 0.2 % of a value.
    assert_equal_but_for_rounding(model, native=native, tolerance=8e-3)
    weights = model.get_weights()
    outcome(model)
    fused = model.get_weights()
    restore(model)
    model.set_weights(weights)
    outcome(model)
    for a, b in zip(model.get_weights(), fused, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


@pytest.mark.parametrize("after", TAKEN.values(), ids=TAKEN)
def test_the_activation_is_taken_along(after):
    model = model_of(NORM(), after())
    fuse_norms(model, native=True)
    assert [is_replaced(layer) for layer in model.layers] == [True, True]
    values = tf.constant([-3.0, 9.0])
    np.testing.assert_array_equal(model.layers[1](values), values)


@pytest.mark.parametrize("after", LEFT.values(), ids=LEFT)
def test_what_is_not_known_is_left_alone(after):
    model = model_of(NORM(), after())
    fuse_norms(model, native=True)
    assert [is_replaced(layer) for layer in model.layers] == [True, False]


def test_an_activation_is_left_where_something_else_sees_what_comes_before_it():
    inputs = keras.Input((8, 8, 6))
    normal = NORM()(inputs)
    both = keras.layers.Add()([keras.layers.ReLU()(normal), normal])
    seen = keras.Model(inputs, both)
    assert_equal_but_for_rounding(seen, native=True)
    result = keras.Model(inputs, [keras.layers.ReLU()(NORM()(inputs)), normal])
    fuse_norms(result, native=True)
    assert sum(map(is_replaced, result.layers)) == 3, "the second norm alone takes its ReLU along"


def test_a_layer_used_twice_keeps_its_activations():
    norm, inputs = NORM(), keras.Input((8, 8, 6))
    twice = norm(keras.layers.ReLU()(norm(inputs)))
    model = keras.Model(inputs, twice)
    assert_equal_but_for_rounding(model, native=True, tolerance=1e-4)


def test_models_in_models_and_other_operations_of_a_graph():
    inner_in = keras.Input((8, 8, 6))
    inner = keras.Model(inner_in, keras.ops.relu6(NORM()(inner_in)))
    outer_in = keras.Input((8, 8, 6))
    model = keras.Model(outer_in, inner(keras.layers.ReLU()(NORM()(outer_in))))
    assert_equal_but_for_rounding(model, native=True, replaced=2, tolerance=1e-4)
    assert sum(map(is_replaced, operations(model))) == 4


class Subclassed(keras.Model):
    def __init__(self):
        super().__init__()
        self.norm, self.relu = NORM(), keras.layers.ReLU()

    def call(self, x, training=None):
        return self.relu(self.norm(x, training=training))


def test_subclassed_models_have_their_norms_replaced_and_nothing_else():
    model = Subclassed()
    model(tf.zeros((1, 8, 8, 6)))
    assert_equal_but_for_rounding(model, native=True)
    assert not is_replaced(model.relu)


@pytest.mark.parametrize(
    "layer", [lambda: NORM(axis=1), lambda: NORM(renorm=True), lambda: NORM(synchronized=True)]
)
def test_other_kinds_of_normalisation_are_left_alone(layer):
    model = model_of(layer())
    assert fuse_norms(model, native=True) == 0
    assert not is_replaced(model.layers[0])


@KERNELS
def test_what_was_replaced_is_plain_again_and_its_file_too(native, tmp_path):
    model = model_of(keras.layers.Conv2D(4, 3), NORM(), keras.layers.ReLU(max_value=6))
    model.compile("sgd", "mse")
    config, names = model.get_config(), [weight.path for weight in model.weights]
    fuse_norms(model, native=native)
    model.fit(np.ones((4, 8, 8, 6)), np.ones((4, 6, 6, 4)), verbose=0)
    assert model.get_config() == config
    assert [weight.path for weight in model.weights] == names
    model.save(tmp_path / "during.keras")
    restore(model)
    assert not any(map(is_replaced, operations(model)))
    assert model.train_function is None
    again = keras.models.load_model(tmp_path / "during.keras")
    x = np.random.default_rng(0).normal(size=(3, 8, 8, 6)).astype("float32")
    np.testing.assert_allclose(again(x), model(x), rtol=1e-5)
