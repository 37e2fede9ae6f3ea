"""Depthwise convolution against TensorFlow's."""

import hashlib
import itertools
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from tfaccel.native import depthwise as module
from tfaccel.native.depthwise import covers, depthwise

BFLOAT16 = 2.0**-8  # twice the most that one rounding moves a number
# Narrower and wider than a tile, odd and even; channels a multiple of what is taken at a time
# or not; one column; many images of few pixels, and enough rows for several units of work.
SHAPES = [
    (2, 6, 6, 32),
    (3, 13, 7, 33),
    (2, 5, 24, 80),
    (40, 3, 3, 96),
    (2, 9, 1, 47),
    (3, 64, 49, 96),
]
PADDINGS = ["SAME", "VALID", ((1, 2), (0, 3))]
CASES = [
    (shape, k, padding)
    for shape, k, padding in itertools.product(SHAPES, (3, 5), PADDINGS)
    if padding == "SAME" or min(shape[1:3]) >= k  # the window fits in the image
]


def given(shape, k=3, stride=1, padding="SAME", dtype=tf.float32):
    random = np.random.default_rng(0)
    x = tf.cast(random.normal(size=shape), dtype)
    kernel = tf.cast(random.normal(size=(k, k, shape[-1], 1)), dtype)
    y = depthwise(x, kernel, stride=stride, padding=padding)
    return x, kernel, tf.cast(random.normal(size=y.shape), dtype)


def ours(x, kernel, dy, stride, padding):
    with tf.GradientTape() as tape:
        tape.watch([x, kernel])
        y = depthwise(x, kernel, stride=stride, padding=padding)
    return y, *tape.gradient(y, [x, kernel], dy)


def expected(x, kernel, dy, stride, padding):
    x, kernel, dy = (tf.cast(tensor, tf.float32) for tensor in (x, kernel, dy))
    explicit = (
        {} if isinstance(padding, str) else {"explicit_paddings": [0, 0, *sum(padding, ()), 0, 0]}
    )
    settings = {
        "strides": [1, stride, stride, 1],
        "padding": "EXPLICIT" if explicit else padding,
        **explicit,
    }
    raw = tf.raw_ops
    return (
        raw.DepthwiseConv2dNative(input=x, filter=kernel, **settings),
        raw.DepthwiseConv2dNativeBackpropInput(
            input_sizes=x.shape, filter=kernel, out_backprop=dy, **settings
        ),
        raw.DepthwiseConv2dNativeBackpropFilter(
            input=x, filter_sizes=kernel.shape, out_backprop=dy, **settings
        ),
    )


@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize(("shape", "k", "padding"), CASES, ids=str)
def test_equals_that_of_tensorflow(shape, k, stride, padding, dtype):
    x, kernel, dy = given(shape, k, stride, padding, dtype)
    own = ours(x, kernel, dy, stride, padding)
    # TensorFlow in float32 on the same, already rounded, numbers: only our last rounding is left.
    others = expected(x, kernel, dy, stride, padding)
    for a, b in zip(own, others, strict=True):
        assert a.dtype == dtype
        scale = np.abs(b).max()
        rtol = BFLOAT16 if dtype == tf.bfloat16 else 0
        np.testing.assert_allclose(tf.cast(a, tf.float32), b, rtol=rtol, atol=1e-5 * scale)


def test_gradient_is_the_slope():
    x, kernel, _ = given((1, 4, 5, 32), stride=2)
    theory, numeric = tf.test.compute_gradient(
        lambda x, kernel: depthwise(x, kernel, stride=2, padding="SAME"), [x, kernel], delta=0.1
    )
    for a, b in zip(theory, numeric, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-3)


@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_comes_out(bad, dtype):
    x, kernel, dy = given((2, 8, 8, 40))
    x = x.numpy()
    x[1, 4, 4, 35] = bad
    y, dx, dkernel = ours(tf.cast(x, dtype), *(tf.cast(t, dtype) for t in (kernel, dy)), 1, "SAME")
    reached = np.zeros((2, 8, 8, 40), bool)
    reached[1, 3:6, 3:6, 35] = True
    np.testing.assert_array_equal(np.isfinite(tf.cast(y, tf.float32)), ~reached)
    assert np.isfinite(tf.cast(dx, tf.float32)).all()
    assert not np.isfinite(tf.cast(dkernel, tf.float32)[:, :, 35]).any()
    assert np.isfinite(np.delete(tf.cast(dkernel, tf.float32), 35, axis=2)).all()


def test_numbers_that_no_window_sees_do_not_count():
    x, kernel, dy = given((1, 8, 8, 32), stride=2, padding="VALID")
    x = x.numpy()
    x[:, 7] = x[:, :, 7] = np.nan
    for tensor in ours(tf.constant(x), kernel, dy, 2, "VALID"):
        assert np.isfinite(tensor).all()


def test_no_images():
    x, kernel, dy = given((0, 8, 8, 32))
    y, dx, dkernel = ours(x, kernel, dy, 1, "SAME")
    assert y.shape == dx.shape == (0, 8, 8, 32)
    np.testing.assert_array_equal(dkernel, tf.zeros_like(kernel))


def test_what_does_not_fit_is_refused():
    kernel = tf.ones((3, 3, 32, 1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="32 channels or more"):
        depthwise(tf.ones((1, 8, 8, 31)), tf.ones((3, 3, 31, 1)), stride=1, padding="SAME")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"filter \[3,3,32,1\]"):
        depthwise(tf.ones((1, 8, 8, 33)), kernel, stride=1, padding="SAME")
    with pytest.raises(tf.errors.InvalidArgumentError, match="stride must be 1 or 2"):
        depthwise(tf.ones((1, 8, 8, 32)), kernel, stride=3, padding="SAME")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"dy has shape \[1,8,8,32\], not"):
        module.ops().tfaccel_depthwise_input_grad(
            tf.ones((1, 8, 8, 32)), kernel, tf.ones((1, 8, 8, 32)), stride=2, zeros=[]
        )
    with pytest.raises(ValueError, match="padding is 'same'"):
        depthwise(tf.ones((1, 8, 8, 32)), kernel, stride=1, padding="same")


def test_what_is_covered():
    assert covers(32, (5, 5), (1, 1))
    assert not covers(31, (5, 5), (1, 1))
    assert not covers(32, (3, 5), (1, 1))
    assert not covers(32, (3, 3), (1, 2))
    assert not covers(32, (3, 3), (1, 1), depth_multiplier=2)
    assert not covers(32, (3, 3), (1, 1), dilation_rate=(2, 2))


def test_in_a_function_of_unknown_shape():
    x, kernel, dy = given((3, 7, 7, 32), stride=2)

    @tf.function(input_signature=[tf.TensorSpec([None, None, 7, 32])])
    def step(x):
        y, *gradients = ours(x, kernel, dy, 2, "SAME")
        assert y.shape.as_list() == [None, None, 4, 32]
        return y, *gradients

    for a, b in zip(step(x), ours(x, kernel, dy, 2, "SAME"), strict=True):
        np.testing.assert_array_equal(a, b)


def digest():
    """Hash the bits of results that are summed up over many units of work."""
    x, kernel, dy = given((6, 61, 61, 70), dtype=tf.bfloat16)
    tensors = (tf.cast(t, tf.float32).numpy().tobytes() for t in ours(x, kernel, dy, 1, "SAME"))
    return hashlib.sha256(b"".join(tensors)).hexdigest()


ONE_THREAD = """
import tensorflow as tf
tf.config.threading.set_intra_op_parallelism_threads(1)
from tests.native.test_depthwise import digest
print(digest())
"""


def test_the_same_bits_each_time_on_one_thread_or_more():
    run = subprocess.run([sys.executable, "-c", ONE_THREAD], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split()[-1] == digest() == digest()


@pytest.mark.parametrize("broken", ["", "_input_grad", "_filter_grad"])
def test_wrong_results_are_found_at_the_first_use(broken):
    class Wrong:
        def __getattr__(self, name):
            function = getattr(module.ops(), name)
            if name != f"tfaccel_depthwise{broken}":
                return function
            return lambda *args, **settings: 1.001 * function(*args, **settings)

    with pytest.raises(ValueError, match=r"3 x 3, stride 1, in float32 is off by 0\.001"):
        module._check(Wrong())
    module._check(module.ops())
