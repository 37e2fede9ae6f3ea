"""Train under a plan in a process of its own; store the weights: early.py PLAN FILE."""

import sys

import keras
import numpy as np

import tfaccel
from tfaccel.host import make_deterministic


def main(words: str, file: str) -> None:
    plan = tfaccel.parse_plan(words)
    plan.prepare()
    if "threads" not in words:
        make_deterministic()
    import tensorflow as tf

    x = np.random.default_rng(0).normal(size=(64, 64)).astype("float32")
    data = tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True))).batch(8)
    job = tfaccel.Job(
        build=lambda: keras.Sequential([keras.layers.Dense(256, "relu"), keras.layers.Dense(1)]),
        source=tfaccel.from_dataset(data),
        optimizer=keras.optimizers.SGD,
        rate=1e-3,
        compile_args={"loss": "mse"},
        batch_size=8,
    )
    model, _ = tfaccel.train(job, plan)
    np.savez(file, *model.get_weights())


if __name__ == "__main__":
    main(*sys.argv[1:])
