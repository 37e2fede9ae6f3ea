"""The bundled set: a balanced part of Fashion-MNIST, as TFRecords inside the package.

Made by scripts/build_fashion_mnist.py. Xiao, Rasul and Vollgraf, Fashion-MNIST: a Novel
Image Dataset for Benchmarking Machine Learning Algorithms,
https://arxiv.org/abs/1708.07747. MIT licence, in fashion_mnist/LICENSE.
"""

from pathlib import Path

import numpy as np
import tensorflow as tf

from tfaccel.data.images import Images
from tfaccel.data.split import split
from tfaccel.job import Source

FOLDER = Path(__file__).parent / "fashion_mnist"
CLASSES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)
VALIDATION_SHARE = 0.05


def fashion_mnist(*, size: int) -> Source:
    """Return 11,400 training, 600 validation and 2,000 test images of clothes.

    Args:
        size: side of the images, in pixels; they are 28 x 28, grey, as stored.
    """
    train, test = _read("train", size), _read("test", size)
    rest, held_out = split(train.labels, VALIDATION_SHARE)
    return Source(
        name="fashion_mnist",
        classes=CLASSES,
        train=train.subset(rest),
        validation=train.subset(held_out),
        test=test,
    )


def _read(part: str, size: int) -> Images:
    files = sorted(map(str, FOLDER.glob(f"{part}-*.tfrecord")))
    records = tf.data.TFRecordDataset(files).batch(65_536).get_single_element()
    features = {
        "image": tf.io.FixedLenFeature([], tf.string),
        "label": tf.io.FixedLenFeature([], tf.int64),
    }
    examples = tf.io.parse_example(records, features)
    with tf.device("CPU:0"):
        encoded = tf.identity(examples["image"])
    labels = np.asarray(examples["label"])
    return Images(
        names=[f"{part} {i}" for i in range(len(labels))],
        labels=labels,
        classes=len(CLASSES),
        size=size,
        load=lambda i: tf.gather(encoded, i),
    )
