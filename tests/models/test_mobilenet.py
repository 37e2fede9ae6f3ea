"""MobileNets: shapes, dtypes, small images, momentum, and a net that validates as it trains."""

import keras
import numpy as np
import pytest

from tfaccel.errors import UsageError
from tfaccel.models.mobilenet import Family, mobilenet

FAMILIES = Family.__args__


def test_there_are_four():
    assert len(FAMILIES) == 4


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("size", "cells"), [(32, 2), (64, 2), (96, 3)])
def test_pixels_to_logits(family, size, cells):
    model = mobilenet(family, size=size, classes=7, width=0.25)
    assert model.get_layer("pool").input.shape[1:3] == (cells, cells)
    logits = model(np.zeros((2, size, size, 3), "uint8"))
    assert logits.shape == (2, 7)
    norms = [x for x in model.layers if isinstance(x, keras.layers.BatchNormalization)]
    assert len(norms) > 20
    assert {norm.momentum for norm in norms} == {0.9}


@pytest.mark.parametrize("family", FAMILIES)
def test_at_full_size_it_is_the_published_net(family):
    stock = {
        "v1": keras.applications.MobileNet,
        "v2": keras.applications.MobileNetV2,
        "v3_small": keras.applications.MobileNetV3Small,
        "v3_large": keras.applications.MobileNetV3Large,
    }[family](input_shape=(224, 224, 3), include_top=False, weights=None)
    ours = mobilenet(family, size=224, classes=10)
    shapes = [w.shape for w in ours.weights][:-2]  # without the head
    assert shapes == [w.shape for w in stock.weights]


def test_a_smaller_size_changes_strides_only():
    small, large = (mobilenet("v2", size=size, classes=5, width=0.35) for size in (32, 96))
    assert [w.shape for w in small.weights] == [w.shape for w in large.weights]
    strides = [
        [x.strides for x in m.layers if hasattr(x, "strides")].count((2, 2)) for m in (small, large)
    ]
    assert strides == [4, 5]


def test_pixels_are_scaled_in_the_model_and_once():
    for family in FAMILIES:
        model = mobilenet(family, size=32, classes=5, width=0.25)
        assert [x.name for x in model.layers if isinstance(x, keras.layers.Rescaling)] == ["scale"]
    scaled = keras.Model(model.input, model.get_layer("scale").output)
    ends = scaled(np.stack([np.zeros((32, 32, 3)), np.full((32, 32, 3), 255)]).astype("uint8"))
    np.testing.assert_allclose(ends[:, 0, 0, 0], [-1, 1], atol=1e-6)


def test_logits_stay_float32_under_mixed_precision():
    before = keras.config.dtype_policy()
    try:
        keras.config.set_dtype_policy("mixed_bfloat16")
        model = mobilenet("v1", size=32, classes=5, width=0.25)
    finally:
        keras.config.set_dtype_policy(before)
    assert model.output.dtype == "float32"
    assert model.get_layer("pool").output.dtype == "bfloat16"


def test_the_seed_decides_the_weights():
    models = []
    for seed in (1, 1, 2):
        keras.utils.set_random_seed(seed)
        models.append(mobilenet("v3_small", size=32, classes=5, width=0.5).get_weights()[0])
    np.testing.assert_array_equal(models[0], models[1])
    assert not np.array_equal(models[0], models[2])


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ({"family": "v4", "size": 32, "classes": 5}, "no MobileNet 'v4'"),
        ({"family": "v1", "size": 31, "classes": 5}, "size is 31; a MobileNet needs images of 32"),
        ({"family": "v1", "size": 32, "classes": 1}, "classes is 1"),
    ],
)
def test_what_cannot_be_built_is_refused(args, sentence):
    with pytest.raises(UsageError, match=sentence):
        mobilenet(**args)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["v2", "v3_small"])
def test_it_validates_as_it_trains_where_the_stock_net_stays_at_chance(family):
    """Stock momentum is 0.999 here: moving statistics would still be the initial ones."""
    from tfaccel.data import open_source

    train = next(iter(open_source("fashion_mnist", size=32).train.ordered(256)))
    model = mobilenet(family, size=32, classes=10, width=0.35)
    loss = keras.losses.CategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.05, momentum=0.9), loss, metrics=["accuracy"])
    model.fit(*train, batch_size=64, epochs=25, verbose=0)
    # The same images, once by the batch's statistics and once by the moving ones.
    _, accuracy = model.evaluate(*train, verbose=0)
    assert accuracy > 0.6
