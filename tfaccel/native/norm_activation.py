"""Batch normalisation and the activation after it, as one operation on the CPU."""

from typing import Any, Literal, get_args

import numpy as np
import tensorflow as tf

from tfaccel.errors import unknown
from tfaccel.native.build import load

Activation = Literal["linear", "relu", "relu6", "hard_swish", "silu"]


def norm_activation(
    x: tf.Tensor,
    gamma: tf.Tensor | None,
    beta: tf.Tensor | None,
    *,
    epsilon: float,
    activation: Activation,
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Normalise x by its own statistics over all axes but the last, and apply the activation.

    Differentiable once, through all three results. Computed in float32 and rounded once.
    The same input gives the same bits each time, whatever the number of threads.

    Args:
        x: float32 or bfloat16, of two axes or more, channels last.
        gamma: [channels] float32, the factor after normalisation; None for ones.
        beta: [channels] float32, added after that; None for zeros.
        epsilon: added to the variance.
        activation: `hard_swish` and `silu` as Keras defines them.

    Returns:
        The result, shaped and typed like x; the mean and the biased variance of each
        channel, [channels] float32; both zero where x has no rows.

    Raises:
        UnavailableError: the operation cannot be compiled here.
    """
    gamma, beta = _parameters(x, gamma, beta)
    result: tuple[tf.Tensor, tf.Tensor, tf.Tensor] = ops().tfaccel_norm_activation(
        x, gamma, beta, epsilon=epsilon, activation=_known(activation)
    )
    return result


def fixed_norm_activation(
    x: tf.Tensor,
    gamma: tf.Tensor | None,
    beta: tf.Tensor | None,
    mean: tf.Tensor,
    variance: tf.Tensor,
    *,
    epsilon: float,
    activation: Activation,
) -> tf.Tensor:
    """Normalise x by given statistics, as in inference, and apply the activation.

    Differentiable once in x, gamma and beta; the statistics count as constants. The
    arguments are those of `norm_activation`.

    Raises:
        UnavailableError: the operation cannot be compiled here.
    """
    gamma, beta = _parameters(x, gamma, beta)
    return ops().tfaccel_fixed_norm_activation(
        x, gamma, beta, mean, variance, epsilon=epsilon, activation=_known(activation)
    )


def ops() -> Any:
    """Return the compiled operations.

    Raises:
        UnavailableError: they cannot be compiled here.
    """
    return load("norm_activation", _check)


def _parameters(
    x: tf.Tensor, gamma: tf.Tensor | None, beta: tf.Tensor | None
) -> tuple[tf.Tensor, tf.Tensor]:
    channels = tf.shape(x)[-1:]
    return (
        tf.ones(channels) if gamma is None else gamma,
        tf.zeros(channels) if beta is None else beta,
    )


def _known(activation: str) -> str:
    if activation not in get_args(Activation):
        raise unknown("activation", activation, get_args(Activation))
    return activation


@tf.RegisterGradient("TfaccelNormActivation")
def _gradient(op: tf.Operation, dy: tf.Tensor, dmean: tf.Tensor, dvariance: tf.Tensor) -> Any:
    x, gamma, beta = op.inputs
    return ops().tfaccel_norm_activation_grad(
        dy, x, gamma, beta, *op.outputs[1:], dmean, dvariance, **_attributes(op)
    )


@tf.RegisterGradient("TfaccelFixedNormActivation")
def _fixed_gradient(op: tf.Operation, dy: tf.Tensor) -> Any:
    gradients = ops().tfaccel_fixed_norm_activation_grad(dy, *op.inputs, **_attributes(op))
    return *gradients, None, None


def _attributes(op: tf.Operation) -> dict[str, Any]:
    return {
        "epsilon": op.get_attr("epsilon"),
        "activation": op.get_attr("activation").decode(),
    }


def _check(ops: Any) -> None:
    """Compare with NumPy, in each type, for each activation.

    Raises:
        ValueError: a result is wrong.
    """
    for dtype, tolerance in ((tf.float32, 1e-4), (tf.bfloat16, 3e-2)):
        for activation in get_args(Activation):
            off = _error(ops, dtype, activation)
            if not off < tolerance:
                raise ValueError(f"{activation} in {dtype.name} is off by {off:.2g}")


def _error(ops: Any, dtype: tf.DType, activation: str) -> float:
    """Return how far the operation is off: in its result, or in its slope along a line."""
    random = np.random.default_rng(0)
    x, along, weight = tf.cast(random.normal(2, 2, (3, 37, 5)), dtype)
    parameters = tf.cast(random.normal(1, 0.3, (2, 5)), tf.float32)
    settings = {"epsilon": 1e-3, "activation": activation}
    y, *statistics = ops.tfaccel_norm_activation(x, *parameters, **settings)
    none = tf.zeros((2, 5))  # nothing depends on the statistics themselves
    dx, _, _ = ops.tfaccel_norm_activation_grad(
        weight, x, *parameters, *statistics, *none, **settings
    )

    # The same in float64, from the same numbers.
    exact_x, exact_along, exact_weight, dx, y = (
        tf.cast(tensor, tf.float64).numpy() for tensor in (x, along, weight, dx, y)
    )
    gamma, beta = parameters.numpy()

    def expected(step: float) -> np.ndarray:
        at = exact_x + step * exact_along
        z = (at - at.mean(0)) / np.sqrt(at.var(0) + 1e-3) * gamma + beta
        result: np.ndarray = _VALUES[activation](z)
        return result

    slope = np.mean((expected(1e-6) - expected(-1e-6)) * exact_weight) / 2e-6
    return float(max(abs(y - expected(0)).max(), abs(np.mean(dx * exact_along) - slope)))


_VALUES: dict[str, Any] = {
    "linear": lambda z: z,
    "relu": lambda z: np.maximum(z, 0),
    "relu6": lambda z: np.clip(z, 0, 6),
    "hard_swish": lambda z: z * np.clip(z + 3, 0, 6) / 6,
    "silu": lambda z: z / (1 + np.exp(-z)),
}
