"""Augmentation: whole pixels moved, drawn for each image from the seed."""

import numpy as np
import tensorflow as tf

from tfaccel.data.augment import flip_and_shift

IMAGES = tf.constant(np.random.default_rng(0).integers(0, 256, (64, 16, 20, 3)), tf.uint8)


def shifted(image, right, down):
    padded = np.pad(image, ((4, 4), (4, 4), (0, 0)), mode="symmetric")
    return padded[4 + down : 20 + down, 4 + right : 24 + right]


def test_each_result_is_its_image_mirrored_or_moved():
    out = flip_and_shift(IMAGES, tf.constant([1, 2]), flip=True, share=1 / 8).numpy()
    seen = set()
    for image, result in zip(IMAGES.numpy(), out, strict=True):
        matches = [
            (mirror, right, down)
            for mirror in (False, True)
            for right in range(-3, 4)
            for down in range(-2, 3)
            if np.array_equal(result, mirrored(shifted(image, right, down), mirror))
        ]
        assert len(matches) == 1
        seen.add(matches[0])
    assert {m for m, _, _ in seen} == {True, False}
    assert {abs(r) for _, r, _ in seen} == {0, 1, 2, 3}
    assert {abs(d) for _, _, d in seen} == {0, 1, 2}


def mirrored(image, mirror):
    return image[:, ::-1] if mirror else image


def test_the_seed_decides():
    first, again, other = (
        flip_and_shift(IMAGES, tf.constant([1, step]), flip=True, share=1 / 8) for step in (5, 5, 6)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_nothing_asked_for_changes_nothing():
    out = flip_and_shift(IMAGES, tf.constant([1, 2]), flip=False, share=0.0)
    np.testing.assert_array_equal(out, IMAGES)
