"""Order as arithmetic: every example once an epoch, another order each, the same by seed."""

import numpy as np
import pytest

from tfaccel.data import open_source
from tfaccel.data.arrays import Arrays


@pytest.fixture
def arrays():
    numbers = np.arange(23, dtype=np.uint8)
    return Arrays(
        np.broadcast_to(numbers[:, None, None, None], (23, 4, 4, 3)), numbers % 3, classes=3
    )


def order(arrays, **args):
    return [images[:, 0, 0, 0].numpy().tolist() for images, _ in arrays.shuffled(5, **args)]


def test_each_epoch_has_full_batches_of_different_examples(arrays):
    batches = order(arrays, seed=1, epochs=3)
    assert [len(batch) for batch in batches] == [5] * 12
    for epoch in range(3):
        seen = sum(batches[4 * epoch : 4 * epoch + 4], [])
        assert len(set(seen)) == 20
    assert batches[:4] != batches[4:8]


def test_the_seed_decides(arrays):
    assert order(arrays, seed=1, epochs=2) == order(arrays, seed=1, epochs=2)
    assert order(arrays, seed=1, epochs=2) != order(arrays, seed=2, epochs=2)


def test_over_many_epochs_every_example_is_left_out_as_often(arrays):
    batches = order(arrays, seed=0, epochs=400)
    counts = np.bincount(np.concatenate(batches), minlength=23)
    expected = 400 * 20 / 23
    assert abs(counts / expected - 1).max() < 0.1


def test_targets_stay_with_their_images(arrays):
    for images, targets in arrays.shuffled(5, seed=4, epochs=1):
        labels = images[:, 0, 0, 0].numpy() % 3
        np.testing.assert_array_equal(targets, np.eye(3)[labels])


def test_in_order_every_example_comes_once(arrays):
    batches = [images[:, 0, 0, 0].numpy().tolist() for images, _ in arrays.ordered(10)]
    assert sum(batches, []) == list(range(23))


def test_the_bundled_set_is_balanced_and_its_parts_do_not_overlap():
    source = open_source("fashion_mnist", size=32)
    parts = (source.train, source.validation, source.test)
    assert [part.count for part in parts] == [11_400, 600, 2_000]
    for part, each in zip(parts, (1_140, 60, 200), strict=True):
        assert np.bincount(part.labels).tolist() == [each] * 10
    assert not set(source.train.names) & set(source.validation.names)
    images, targets = next(iter(source.test.ordered(64)))
    assert images.shape == (64, 32, 32, 3)
    assert targets.shape == (64, 10)
    np.testing.assert_array_equal(images[..., 0], images[..., 2])
