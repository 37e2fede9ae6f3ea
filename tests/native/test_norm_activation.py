"""Batch normalisation with its activation against Keras's two layers."""

import hashlib
import subprocess
import sys
from typing import get_args

import keras
import numpy as np
import pytest
import tensorflow as tf

from tfaccel.errors import UsageError
from tfaccel.native import build
from tfaccel.native import norm_activation as module
from tfaccel.native.norm_activation import Activation, fixed_norm_activation, norm_activation

EPSILON = 1e-3
ACTIVATIONS = get_args(Activation)
# One channel and few, odd and even, fewer and more than a vector or a block; one row; and
# large enough to be cut into blocks whose last is short.
SHAPES = [
    (9, 1),
    (1, 5),
    (4, 7, 7, 3),
    (2, 3, 3, 17),
    (2, 5, 6, 7, 32),
    (3, 61, 61, 24),
    (70, 1030),
]
BFLOAT16 = 2.0**-8  # twice the most that one rounding moves a number


def given(shape, dtype=tf.float32, mean=0.5, deviation=3.0):
    random = np.random.default_rng(0)
    x, dy = random.normal(mean, deviation, shape), random.normal(size=shape)
    gamma, beta = random.normal(1, 0.3, (2, shape[-1]))
    return tf.cast(x, dtype), tf.constant(gamma, tf.float32), tf.constant(beta, tf.float32), dy


def with_keras(x, gamma, beta, activation):
    norm = keras.layers.BatchNormalization(momentum=0.0, epsilon=EPSILON)
    norm.build(x.shape)
    norm.gamma, norm.beta = gamma, beta
    act = keras.activations.get({"hard_swish": "hard_silu"}.get(activation, activation))
    return act(norm(x, training=True)), norm.moving_mean.value, norm.moving_variance.value


def with_ours(x, gamma, beta, activation):
    return norm_activation(x, gamma, beta, epsilon=EPSILON, activation=activation)


def gradients(function, x, gamma, beta, dy, activation):
    with tf.GradientTape() as tape:
        tape.watch([x, gamma, beta])
        y, *statistics = function(x, gamma, beta, activation)
    return y, statistics, tape.gradient(y, [x, gamma, beta], tf.cast(dy, y.dtype))


def assert_near(own, expected, rtol=0.0):
    own, expected = (tf.cast(t, tf.float32).numpy() for t in (own, expected))
    scale = max(1e-3, np.abs(expected).max(initial=0))
    np.testing.assert_allclose(own, expected, rtol=rtol, atol=1e-5 * scale)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16], ids=lambda dtype: dtype.name)
def test_equals_the_layers_of_keras(shape, activation, dtype):
    x, gamma, beta, dy = given(shape, dtype)
    dy = tf.cast(dy, dtype)
    y, statistics, own = gradients(with_ours, x, gamma, beta, dy, activation)
    assert (y.dtype, y.shape) == (x.dtype, x.shape)
    # Keras in float32 on the same, already rounded, numbers: only our last rounding is left.
    expected_y, expected_statistics, expected = gradients(
        with_keras, tf.cast(x, tf.float32), gamma, beta, dy, activation
    )
    rtol = BFLOAT16 if dtype == tf.bfloat16 else 0.0
    assert_near(y, expected_y, rtol)
    assert_near(own[0], expected[0], rtol)
    for a, b in zip([*statistics, *own[1:]], [*expected_statistics, *expected[1:]], strict=True):
        assert a.dtype == tf.float32
        assert_near(a, b)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("output", [0, 1, 2], ids=["y", "mean", "variance"])
def test_gradient_is_the_slope_of_each_result(activation, output):
    x, gamma, beta, _ = given((7, 3))

    def function(x, gamma, beta):
        return norm_activation(x, gamma, beta, epsilon=EPSILON, activation=activation)[output]

    theory, numeric = tf.test.compute_gradient(function, [x, gamma, beta], delta=1e-2)
    for a, b in zip(theory, numeric, strict=True):
        np.testing.assert_allclose(a, b, atol=5e-3)


@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_given_statistics(activation, dtype):
    x, gamma, beta, dy = given((4, 9, 9, 17), dtype)
    mean, variance = tf.linspace(-1.0, 2.0, 17), tf.linspace(0.5, 4.0, 17)

    def expected(x, gamma, beta, activation):
        act = keras.activations.get({"hard_swish": "hard_silu"}.get(activation, activation))
        return (act(tf.nn.batch_normalization(x, mean, variance, beta, gamma, EPSILON)),)

    def ours(x, gamma, beta, activation):
        settings = {"epsilon": EPSILON, "activation": activation}
        return (fixed_norm_activation(x, gamma, beta, mean, variance, **settings),)

    y, _, own = gradients(ours, x, gamma, beta, tf.cast(dy, dtype), activation)
    x = tf.cast(x, tf.float32)
    expected_y, _, others = gradients(expected, x, gamma, beta, tf.cast(dy, dtype), activation)
    rtol = BFLOAT16 if dtype == tf.bfloat16 else 0.0
    for a, b in zip([y, *own], [expected_y, *others], strict=True):
        assert_near(a, b, rtol)


@pytest.mark.parametrize("first", [1000.0, 0.0], ids=["like the rest", "far from the rest"])
def test_variance_beside_a_large_mean(first):
    x, gamma, beta, _ = given((64, 24, 24, 5), mean=1000, deviation=1)
    x = tf.concat([tf.fill((1, 24, 24, 5), first), x], axis=0)
    y, mean, variance = with_ours(x, gamma, beta, "linear")
    exact = x.numpy().astype("float64").reshape(-1, 5)
    np.testing.assert_allclose(mean, exact.mean(0), rtol=1e-6)
    np.testing.assert_allclose(variance, exact.var(0), rtol=1e-5)
    z = (exact - exact.mean(0)) / np.sqrt(exact.var(0) + EPSILON) * gamma + beta
    # The mean is kept in float32, and is off by up to 3e-5 for that.
    np.testing.assert_allclose(y.numpy().reshape(-1, 5), z, atol=1e-4)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 333])
def test_what_is_not_finite_comes_out_where_keras_has_it(bad, row, activation, dtype):
    x, gamma, beta, dy = given((400, 6))
    x = x.numpy()
    x[row, 4] = bad
    x = tf.cast(x, dtype)
    results = [gradients(f, x, gamma, beta, dy, activation) for f in (with_ours, with_keras)]
    (y, own_statistics, own), (expected_y, statistics, _) = results
    for a, b in zip([y, *own_statistics], [expected_y, *statistics], strict=True):
        a, b = tf.cast(a, tf.float32), tf.cast(b, tf.float32)
        np.testing.assert_array_equal(np.isnan(a), np.isnan(b))
        np.testing.assert_array_equal(np.isinf(a), np.isinf(b))
    assert np.isnan(tf.cast(y, tf.float32)[:, 4]).all()
    assert np.isnan(tf.cast(own[0], tf.float32)[:, 4]).all()
    assert np.isfinite(np.delete(tf.cast(own[0], tf.float32), 4, axis=1)).all()


def test_a_nan_of_all_ones_is_not_rounded_to_zero():
    ones = tf.bitcast(tf.constant(np.full(40, 0x7FFFFFFF, np.int32)), tf.float32)
    x = tf.zeros((3, 40), tf.bfloat16)
    y, *_ = with_ours(x, tf.ones(40), ones, "linear")
    assert np.isnan(tf.cast(y, tf.float32)).all()


def test_rounds_to_the_nearest_even():
    exact = np.float32([1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20, -1 - 2**-8, 3e38, 2e-38])
    fixed = (tf.zeros(6), tf.constant(exact), tf.zeros(6), tf.ones(6))
    y = fixed_norm_activation(
        tf.zeros((1, 6), tf.bfloat16), *fixed, epsilon=EPSILON, activation="linear"
    )
    np.testing.assert_array_equal(y[0], tf.cast(exact, tf.bfloat16))


def test_gamma_and_beta_can_be_absent():
    x, *_ = given((5, 4, 3))
    own = with_ours(x, None, None, "relu")
    for a, b in zip(own, with_ours(x, tf.ones(3), tf.zeros(3), "relu"), strict=True):
        np.testing.assert_array_equal(a, b)


def test_no_rows():
    x, gamma, beta, _ = given((0, 4, 4, 3))
    y, (mean, variance), own = gradients(with_ours, x, gamma, beta, np.zeros(x.shape), "relu6")
    assert y.shape == own[0].shape == (0, 4, 4, 3)
    for zeros in (mean, variance, *own[1:]):
        np.testing.assert_array_equal(zeros, np.zeros(3))


def test_what_does_not_fit_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="two axes"):
        with_ours(tf.ones(3), tf.ones(3), tf.ones(3), "relu")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[4\], but x has 3 channels"):
        with_ours(tf.ones((5, 3)), tf.ones(4), tf.ones(3), "relu")
    with pytest.raises(UsageError, match="did you mean relu6"):
        with_ours(tf.ones((5, 3)), tf.ones(3), tf.ones(3), "relu66")


@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16], ids=lambda dtype: dtype.name)
def test_in_a_function_of_unknown_shape(dtype):
    x, gamma, beta, dy = given((3, 6, 6, 8), dtype)

    @tf.function(input_signature=[tf.TensorSpec([None, None, None, 8], dtype)])
    def step(x):
        y, _, own = gradients(with_ours, x, gamma, beta, dy, "relu6")
        assert y.shape.as_list() == [None, None, None, 8]
        return y, *own

    y, _, own = gradients(with_ours, x, gamma, beta, dy, "relu6")
    for a, b in zip(step(x), [y, *own], strict=True):
        np.testing.assert_array_equal(a, b)


def test_recomputed_in_the_gradient():
    x, gamma, beta, dy = given((3, 6, 6, 8))
    again = tf.recompute_grad(lambda *args: with_ours(*args, "silu")[0])
    own = gradients(lambda *args: (again(*args[:3]),), x, gamma, beta, dy, "silu")[2]
    expected = gradients(with_ours, x, gamma, beta, dy, "silu")[2]
    for a, b in zip(own, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def digest():
    """Hash the bits of results that are summed up over many blocks."""
    x, gamma, beta, dy = given((20, 33, 33, 19), tf.bfloat16)
    y, statistics, own = gradients(with_ours, x, gamma, beta, dy, "silu")
    tensors = (tf.cast(t, tf.float32).numpy().tobytes() for t in (y, *statistics, *own))
    return hashlib.sha256(b"".join(tensors)).hexdigest()


REPLICAS = """
import tensorflow as tf
tf.config.threading.set_intra_op_parallelism_threads(1)
cpu, = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
from tests.native.test_norm_activation import digest, given, gradients, with_ours

strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
x, _, _, dy = given((8, 5, 5, 3))
with strategy.scope():
    gamma, beta = tf.Variable([1., 2., 3.]), tf.Variable([0., 1., 2.])

@tf.function
def step(x):
    def replica(x):
        y, _, (_, dgamma, dbeta) = gradients(with_ours, x, gamma, beta, dy, "relu6")
        tf.distribute.get_replica_context().merge_call(lambda s, g: None, (dgamma,))
        return y.device, dgamma + dbeta
    return strategy.run(replica, (x,))[1]

shards = strategy.experimental_distribute_values_from_function(
    lambda context: x + float(context.replica_id_in_sync_group))
for own, shard in zip(step(shards).values, shards.values):
    _, _, (_, dgamma, dbeta) = gradients(
        with_ours, shard, tf.constant([1., 2., 3.]), tf.constant([0., 1., 2.]), dy, "relu6")
    tf.debugging.assert_equal(own, dgamma + dbeta)
print(digest())
"""


def test_replicas_and_the_same_bits_each_time_on_one_thread_or_more():
    run = subprocess.run([sys.executable, "-c", REPLICAS], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split()[-1] == digest() == digest()


@pytest.mark.parametrize(
    "broken", ["tfaccel_norm_activation", "tfaccel_norm_activation_grad"], ids=["result", "slope"]
)
def test_wrong_results_are_found_at_the_first_use(broken):
    class Wrong:
        def __getattr__(self, name):
            function = getattr(module.ops(), name)
            if name != broken:
                return function
            return lambda *args, **settings: [1.01 * t for t in function(*args, **settings)]

    with pytest.raises(ValueError, match="linear in float32 is off by"):
        module._check(Wrong())
    module._check(module.ops())


def test_a_failed_check_makes_the_operations_unavailable():
    def check(ops):
        raise ValueError("planted")

    for _ in range(2):
        with pytest.raises(build.UnavailableError, match=r"norm_activation.cc .*: planted"):
            build.load("norm_activation", check)
