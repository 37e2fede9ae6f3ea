"""Both ends of an image classifier: from pixels, and to logits."""

import keras

from tfaccel.errors import UsageError


def image_input(size: int) -> tuple[keras.KerasTensor, keras.KerasTensor]:
    """Return the input [batch, size, size, 3] uint8, and its pixels scaled to -1..1."""
    if keras.config.image_data_format() != "channels_last":
        raise UsageError(
            "Keras is set to channels_first (in ~/.keras/keras.json?), which these models cannot "
            "take; set it to channels_last."
        )
    inputs = keras.Input((size, size, 3), dtype="uint8", name="image")
    return inputs, keras.layers.Rescaling(1 / 127.5, offset=-1.0, name="scale")(inputs)


def with_head(
    inputs: keras.KerasTensor,
    features: keras.KerasTensor,
    *,
    classes: int,
    dropout: float,
    name: str,
) -> keras.Model:
    """Return the model that ends in logits [batch, classes].

    The logits are float32 under every dtype policy, so that the softmax of the loss is
    exact under mixed precision.

    Args:
        inputs: the model's input.
        features: maps [batch, height, width, channels].
        classes: how many logits.
        dropout: share of the pooled features dropped in training.
        name: the model's name.
    """
    pooled = keras.layers.GlobalAveragePooling2D(name="pool")(features)
    if dropout:
        pooled = keras.layers.Dropout(dropout, name="dropout")(pooled)
    logits = keras.layers.Dense(classes, dtype="float32", name="logits")(pooled)
    return keras.Model(inputs, logits, name=name)
