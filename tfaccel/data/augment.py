"""Augmentation of whole batches, each image by its own draw from a seed."""

from functools import partial

import tensorflow as tf


def flip_and_shift(images: tf.Tensor, seed: tf.Tensor, *, flip: bool, share: float) -> tf.Tensor:
    """Mirror half of the images, and move each by whole pixels; edges are reflected.

    Args:
        images: [batch, height, width, 3], any type.
        seed: [2] integers; the same seed gives the same result.
        flip: whether to mirror left and right.
        share: of the image's side, the farthest that one is moved.

    Returns:
        Images of the same shape and type.
    """
    batch, height, width = images.shape[:3]
    draws = tf.random.stateless_uniform([3, batch], seed)
    mirrored = tf.cast(draws[0] < 0.5, tf.float32) if flip else tf.zeros(batch)
    right, down = _whole(draws[1], share * width), _whole(draws[2], share * height)
    zero, one = tf.zeros(batch), tf.ones(batch)
    # Each row maps a pixel of the result to one of the image: x' = a x + b y + c.
    rows = [1 - 2 * mirrored, zero, mirrored * (width - 1) + right, zero, one, down, zero, zero]
    return tf.ensure_shape(
        tf.raw_ops.ImageProjectiveTransformV3(
            images=images,
            transforms=tf.stack(rows, axis=1),
            output_shape=[height, width],
            fill_value=0.0,
            interpolation="NEAREST",
            fill_mode="REFLECT",
        ),
        images.shape,
    )


def _whole(draw: tf.Tensor, most: float) -> tf.Tensor:
    """Spread draws from [0, 1) over the whole numbers from -most to most."""
    most = float(int(most + 0.5))
    return tf.floor(draw * (2 * most + 1)) - most


light = partial(flip_and_shift, flip=True, share=1 / 32)
