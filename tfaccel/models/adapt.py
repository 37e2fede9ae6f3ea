"""Fit a net drawn for 224 pixels and weeks of training to small images and short runs."""

import keras

# keras.applications take 0.99 and 0.999: after a run of a few hundred updates, the moving
# statistics of the latter still hold the initial ones, and the net validates at chance.
MOMENTUM = 0.9


def missing_halvings(size: int, halvings: int) -> int:
    """Return how many of a net's halvings to leave out, for a last map of 2 x 2 cells.

    >>> missing_halvings(32, 5), missing_halvings(63, 5), missing_halvings(64, 5)
    (1, 1, 0)
    """
    kept = halvings
    while kept and size >> kept < 2:
        kept -= 1
    return halvings - kept


def adapt(model: keras.Model, *, unstride: int, momentum: float = MOMENTUM) -> keras.Model:
    """Return the model with new random weights and some of its layers' settings changed.

    Args:
        model: a functional model.
        unstride: how many of the first layers of stride 2 get stride 1.
        momentum: of the moving statistics of every BatchNormalization.
    """
    strided = [layer for layer in model.layers if getattr(layer, "strides", None) == (2, 2)]
    changed = {layer.name for layer in strided[:unstride]}
    # A padding made for a strided layer goes with its stride.
    padded = {before.name for layer in strided[:unstride] if (before := _padding(layer))}

    def clone(layer: keras.layers.Layer) -> keras.layers.Layer:
        config = layer.get_config()
        if isinstance(layer, keras.layers.BatchNormalization):
            config["momentum"] = momentum
        if layer.name in changed:
            config |= {"strides": (1, 1), "padding": "same"}
        if layer.name in padded:
            config["padding"] = ((0, 0), (0, 0))
        return type(layer).from_config(config)

    return keras.models.clone_model(model, clone_function=clone)


def _padding(layer: keras.layers.Layer) -> keras.layers.ZeroPadding2D | None:
    (node,) = layer._inbound_nodes  # each layer of these nets is called once
    (before,) = (tensor._keras_history.operation for tensor in node.input_tensors)
    return before if isinstance(before, keras.layers.ZeroPadding2D) else None
