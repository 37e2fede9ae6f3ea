"""From the bytes of an image file to a square of pixels."""

import io

import numpy as np
import tensorflow as tf


def decode(encoded: tf.Tensor, size: int) -> tf.Tensor:
    """Decode one image, cut its middle square, and resize that.

    Args:
        encoded: [] string, the bytes of a JPEG, PNG, GIF (its first frame) or BMP of any
            size and mode; grey is spread over three channels, transparency dropped.
        size: side of the result, in pixels.

    Returns:
        [size, size, 3] uint8, red, green and blue.

    Raises:
        tf.errors.InvalidArgumentError: the bytes are not such an image.
    """
    # TensorFlow reads BMP files in a few modes only.
    is_bmp = tf.strings.substr(encoded, 0, 2) == b"BM"
    image = tf.cond(
        is_bmp,
        lambda: tf.ensure_shape(tf.numpy_function(_pillow, [encoded], tf.uint8), (None, None, 3)),
        lambda: tf.io.decode_image(encoded, channels=3, expand_animations=False),
    )
    height, width = tf.unstack(tf.shape(image)[:2])
    side = tf.minimum(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    square = image[top : top + side, left : left + side]
    # Antialiasing: without it, a large photograph made small is mostly noise.
    resized = tf.image.resize(square, (size, size), antialias=True)
    return tf.cast(tf.clip_by_value(tf.round(resized), 0, 255), tf.uint8)


def _pillow(encoded: bytes) -> np.ndarray:
    from PIL import Image

    try:
        file = io.BytesIO(np.asarray(encoded).item())  # an array where the call is eager
        return np.asarray(Image.open(file).convert("RGB"))
    except OSError:
        # A ValueError is an error that a dataset can skip.
        raise ValueError("this BMP image cannot be read") from None
