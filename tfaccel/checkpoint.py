"""The best weights of a run, kept."""

from pathlib import Path
from typing import Any

import keras
import numpy as np

from tfaccel.errors import unknown
from tfaccel.files import write_aside

HIGHEST = ("acc", "auc", "precision", "recall", "f1", "iou", "r2", "dice", "similarity")


def better(monitor: str) -> int:
    """Return 1 where more of a metric is better (see HIGHEST), -1 where less is."""
    return 1 if any(word in monitor for word in HIGHEST) else -1


class KeepBest(keras.callbacks.Callback):
    """Keeps the weights of the epoch that was best by one metric."""

    def __init__(self, monitor: str, path: Path | None = None) -> None:
        """Start with no weights.

        Args:
            monitor: a metric of the epoch; highest is best for accuracies and the like
                (see HIGHEST), lowest for all others.
            path: a `.keras` file to keep the model of that epoch in as well.
        """
        super().__init__()
        self.epoch: int | None = None  # the best one, from 0; None before the first
        self._monitor, self._path = monitor, path
        self._sign = better(monitor)
        self._score = -np.inf
        self._weights: list[np.ndarray] = []

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Keep the weights if they are the best so far; a NaN never is.

        Raises:
            UsageError: there was a validation, but it has no such metric.
        """
        metrics = logs or {}
        if any(name.startswith("val_") for name in metrics) and self._monitor not in metrics:
            raise unknown("metric", self._monitor, [*metrics])
        value = metrics.get(self._monitor)
        if value is None or not self._sign * value > self._score:
            return
        self.epoch, self._score = epoch, self._sign * value
        self._weights = self.model.get_weights()
        if self._path:
            with write_aside(self._path) as aside:
                # Not save_weights: HDF5 crashes the process when the disk is full.
                self.model.save(aside)

    def restore(self) -> None:
        """Give the model its best weights; without any, leave the last."""
        if self._weights:
            self.model.set_weights(self._weights)
