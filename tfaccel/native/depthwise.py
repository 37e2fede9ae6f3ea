"""Depthwise convolution on the CPU, forward and backward."""

import itertools
from typing import Any, Literal

import numpy as np
import tensorflow as tf

from tfaccel.native.build import load

# Zeros above and below, left and right; or TensorFlow's names for none, and for as few as
# give a result of size / stride.
Padding = Literal["SAME", "VALID"] | tuple[tuple[int, int], tuple[int, int]]

LEAST_CHANNELS = 32  # what the loops take at a time
KERNELS = (3, 5)
STRIDES = (1, 2)


def covers(
    channels: int,
    kernel_size: tuple[int, int],
    strides: tuple[int, int],
    *,
    depth_multiplier: int = 1,
    dilation_rate: tuple[int, int] = (1, 1),
) -> bool:
    """Say whether `depthwise` computes a convolution of this kind, given channels last.

    >>> covers(96, (3, 3), (2, 2)), covers(3, (3, 3), (2, 2)), covers(96, (7, 7), (2, 2))
    (True, False, False)
    """
    return (
        channels >= LEAST_CHANNELS
        and kernel_size in [(k, k) for k in KERNELS]
        and strides in [(s, s) for s in STRIDES]
        and depth_multiplier == 1
        and dilation_rate == (1, 1)
    )


def depthwise(x: tf.Tensor, kernel: tf.Tensor, *, stride: int, padding: Padding) -> tf.Tensor:
    """Convolve each channel with a filter of its own.

    Differentiable once. Computed in float32 and rounded once. The same input gives the same
    bits each time, whatever the number of threads.

    Args:
        x: [images, rows, columns, channels], float32 or bfloat16, of a kind that is
            covered, see `covers`.
        kernel: [k, k, channels, 1] of the same type.
        stride: 1 or 2, in both directions.
        padding: the zeros around the image.

    Raises:
        UnavailableError: the operation cannot be compiled here.
    """
    return ops().tfaccel_depthwise(x, kernel, stride=stride, zeros=_zeros(padding))


def ops() -> Any:
    """Return the compiled operations.

    Raises:
        UnavailableError: they cannot be compiled here.
    """
    return load("depthwise", _check)


def _zeros(padding: Padding) -> list[int]:
    match padding:
        case "SAME":
            return []
        case "VALID":
            return [0] * 4
        case rows, columns:
            return [*rows, *columns]
    raise ValueError(f"padding is {padding!r}; it must be SAME, VALID, or two pairs of numbers.")


@tf.RegisterGradient("TfaccelDepthwise")
def _gradient(op: tf.Operation, dy: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    settings = {"stride": op.get_attr("stride"), "zeros": op.get_attr("zeros")}
    return (
        ops().tfaccel_depthwise_input_grad(*op.inputs, dy, **settings),
        ops().tfaccel_depthwise_filter_grad(*op.inputs, dy, **settings),
    )


def _check(ops: Any) -> None:
    """Compare with NumPy, for each type, size and stride.

    Raises:
        ValueError: a result is wrong.
    """
    kinds = ((tf.float32, 1e-5), (tf.bfloat16, 1e-2))
    for (dtype, tolerance), k, stride in itertools.product(kinds, KERNELS, STRIDES):
        off = _error(ops, dtype, k, stride)
        if not off < tolerance:
            raise ValueError(f"{k} x {k}, stride {stride}, in {dtype.name} is off by {off:.2g}")


def _error(ops: Any, dtype: tf.DType, k: int, stride: int) -> float:
    """Return how far the three operations are off, relative to the size of what they give."""
    random = np.random.default_rng(0)
    zeros, out = [1, 2, 2, 1], (13 - k) // stride + 1
    x, kernel, dy = (
        tf.cast(random.normal(size=shape), dtype)
        for shape in ((2, 10, 10, 40), (k, k, 40, 1), (2, out, out, 40))
    )
    settings = {"stride": stride, "zeros": zeros}
    y = ops.tfaccel_depthwise(x, kernel, **settings)
    dx = ops.tfaccel_depthwise_input_grad(x, kernel, dy, **settings)
    dkernel = ops.tfaccel_depthwise_filter_grad(x, kernel, dy, **settings)

    # In float64, from the same numbers: each place of the filter sees a shifted image.
    x, kernel, dy, y, dx, dkernel = (
        tf.cast(tensor, tf.float64).numpy() for tensor in (x, kernel, dy, y, dx, dkernel)
    )
    around = ((0, 0), (1, 2), (2, 1), (0, 0))
    padded, own, own_padded = np.pad(x, around), np.zeros_like(y), np.zeros((2, 13, 13, 40))
    own_kernel = np.zeros_like(dkernel)
    for i, j in itertools.product(range(k), repeat=2):
        rows, columns = (slice(at, at + stride * (out - 1) + 1, stride) for at in (i, j))
        own += padded[:, rows, columns] * kernel[i, j, :, 0]
        own_padded[:, rows, columns] += dy * kernel[i, j, :, 0]
        own_kernel[i, j, :, 0] = (padded[:, rows, columns] * dy).sum((0, 1, 2))
    pairs = ((y, own), (dx, own_padded[:, 1:11, 2:12]), (dkernel, own_kernel))
    return float(max(abs(a - b).max() / abs(b).max() for a, b in pairs))
