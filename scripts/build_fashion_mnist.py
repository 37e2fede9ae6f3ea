"""Build the bundled data set: the first 1,200 training and 200 test images of each class.

    apt-get install dataset-fashion-mnist
    python scripts/build_fashion_mnist.py

Writes the same bytes each time, with one version of TensorFlow.
"""

import gzip
from pathlib import Path

import numpy as np
import tensorflow as tf

FROM = Path("/usr/share/datasets/fashion-mnist")
TO = Path(__file__).parents[1] / "tfaccel" / "data" / "fashion_mnist"
PARTS = {"train": ("train", 1_200, 4), "test": ("t10k", 200, 1)}  # file, of a class, shards


def read(prefix: str) -> tuple[np.ndarray, np.ndarray]:
    """Return [n, 28, 28] uint8 images and [n] labels of one part."""
    images = gzip.decompress((FROM / f"{prefix}-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((FROM / f"{prefix}-labels-idx1-ubyte.gz").read_bytes())
    pixels = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 28, 28)
    return pixels, np.frombuffer(labels, np.uint8, offset=8)


def record(image: np.ndarray, label: int) -> bytes:
    """Return one serialised tf.train.Example: the image as PNG, and its label."""
    png = tf.io.encode_png(image[..., None], compression=9).numpy()
    features = tf.train.Features(
        feature={
            "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[png])),
            "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[int(label)])),
        }
    )
    example = tf.train.Example(features=features)
    return example.SerializeToString(deterministic=True)


def main() -> None:
    """Write the shards of both parts."""
    TO.mkdir(exist_ok=True)
    for part, (prefix, each, shards) in PARTS.items():
        images, labels = read(prefix)
        first = [np.flatnonzero(labels == label)[:each] for label in range(10)]
        chosen = np.sort(np.concatenate(first))
        for shard in range(shards):
            name = TO / f"{part}-{shard:05}-of-{shards:05}.tfrecord"
            with tf.io.TFRecordWriter(str(name)) as writer:
                for i in chosen[shard::shards]:
                    writer.write(record(images[i], labels[i]))
            print(name.name, name.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
