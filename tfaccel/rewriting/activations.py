"""Which activation function an operation is, whatever the class that Keras has for it."""

from typing import Literal

import keras
from keras import Operation

Name = Literal["linear", "relu", "relu6", "hard_swish", "silu"]
FUNCTIONS: dict[str, Name] = {
    "linear": "linear",
    "relu": "relu",
    "relu6": "relu6",
    "hard_silu": "hard_swish",
    "hard_swish": "hard_swish",
    "silu": "silu",
    "swish": "silu",
}
# Operations of a functional graph that `keras.ops` makes.
OPERATIONS: dict[str, Name] = {
    "Relu": "relu",
    "Relu6": "relu6",
    "HardSilu": "hard_swish",
    "Silu": "silu",
}


def activation_of(operation: Operation) -> Name | None:
    """Return the name of the activation that an operation is, or None.

    >>> activation_of(keras.layers.ReLU(max_value=6)), activation_of(keras.layers.Dense(1))
    ('relu6', None)
    """
    kind = type(operation)
    if kind is keras.layers.ReLU:
        return _relu(operation)
    if kind is keras.layers.Activation:
        return FUNCTIONS.get(getattr(operation.activation, "__name__", ""))
    is_ours = kind.__module__.startswith("keras.")
    return OPERATIONS.get(kind.__name__) if is_ours else None


def _relu(layer: keras.layers.ReLU) -> Name | None:
    if layer.negative_slope or layer.threshold:
        return None
    return {None: "relu", 6: "relu6"}.get(layer.max_value)  # type: ignore[return-value]
