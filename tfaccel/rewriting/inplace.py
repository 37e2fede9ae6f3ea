"""Give a layer other code, and take it away again.

Only what `call` does changes: class, configuration, weights and names stay, so that a model is
saved as plain Keras at any time, and any kind of model will do.
"""

from collections.abc import Callable, Iterator
from typing import Any

import keras
from keras import Operation


def replace_call(operation: Operation, call: Callable[..., Any]) -> None:
    """Let a layer, or another operation of a functional model, compute by this function.

    Args:
        operation: whose `call` is replaced.
        call: takes what the layer's own `call` takes.
    """
    operation.__dict__["call"] = call


def is_replaced(operation: Operation) -> bool:
    """Return whether an operation computes by other code than its class's."""
    return "call" in operation.__dict__


def restore(model: keras.Model) -> None:
    """Give every layer its own code again, and forget what was traced with the other."""
    replaced = [operation for operation in operations(model) if is_replaced(operation)]
    for operation in replaced:
        del operation.__dict__["call"]
    if replaced:
        model.train_function = model.test_function = model.predict_function = None


def operations(model: keras.Model) -> Iterator[Operation]:
    """Yield the layers of a model and of those inside it, and a graph's other operations."""
    for layer in [model, *layers(model)]:
        yield layer
        for operation in getattr(layer, "operations", ()):
            if not isinstance(operation, keras.layers.Layer):
                yield operation


def layers(model: keras.Model) -> list[keras.layers.Layer]:
    """Return every layer at any depth."""
    return list(model._flatten_layers(include_self=False))
