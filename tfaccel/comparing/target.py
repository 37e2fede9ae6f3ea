"""End a training when a metric is reached, or when there is no more time for it."""

import time
from typing import Any

import keras

from tfaccel.checkpoint import better
from tfaccel.errors import unknown


class StopAtTarget(keras.callbacks.Callback):
    """Ends `fit` after the epoch in which a metric reaches its target."""

    def __init__(self, monitor: str, target: float, limit_s: float | None = None) -> None:
        """Watch a metric.

        Args:
            monitor: a metric of the epoch.
            target: to reach from below, or from above for losses.
            limit_s: end `fit` after the epoch that goes on beyond so many seconds, too.
        """
        super().__init__()
        self.best: float | None = None  # value so far
        self.is_reached = False
        self._monitor, self._target, self._limit_s = monitor, target, limit_s
        self._sign = better(monitor)
        self._begin_s = time.monotonic()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Look at the metric.

        Raises:
            UsageError: there is no such metric.
        """
        metrics = logs or {}
        if self._monitor not in metrics:
            raise unknown("metric", self._monitor, [*metrics])
        value = float(metrics[self._monitor])
        if self.best is None or self._sign * value > self._sign * self.best:
            self.best = value
        self.is_reached = self._sign * self.best >= self._sign * self._target
        seconds = time.monotonic() - self._begin_s
        if self.is_reached or (self._limit_s is not None and seconds > self._limit_s):
            self.model.stop_training = True
