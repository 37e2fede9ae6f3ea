"""Clocks: the steps of a run, and where its time went."""

import time
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tfaccel.measure.measurement import StepTimes

# Steps are timed in windows of at least this length, with the device waited for at their
# ends, so that reading the clock costs nothing beside them.
WINDOW_S = 0.1


class StepClock(keras.callbacks.Callback):
    """Times the training steps inside `fit`, and the validation between them."""

    def __init__(self) -> None:
        """Start with no step seen."""
        super().__init__()
        self.first_s: float | None = None  # the first call, of one or several steps
        self.training_s = 0.0  # all later ones
        self.evaluation_s = 0.0  # the validations
        self.begin_s: float | None = None  # of the first epoch, by time.perf_counter
        self.windows: list[tuple[float, float, int]] = []  # begin, seconds, steps
        self._is_suspended = False
        self._steps = 0
        self.steps = 0  # all of them
        self._begin = self._evaluation_begin = 0.0

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Open a window."""
        self._open()
        if self.begin_s is None:
            self.begin_s = self._begin

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Count the steps of a call; close the window if it is long enough."""
        self._steps += self.model.steps_per_execution
        self.steps += self.model.steps_per_execution
        if self.first_s is None or time.perf_counter() - self._begin >= WINDOW_S:
            self._close()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Close the last window, where no validation has; leave the rest out of the steps."""
        if self._steps:
            self._close()
        self._steps = 0

    def on_test_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Close the last window of the epoch: validation begins."""
        if self._steps:
            self._close()
        self._evaluation_begin = time.perf_counter()

    def on_test_end(self, logs: dict[str, Any] | None = None) -> None:
        """Add up the time of the validation."""
        self.evaluation_s += time.perf_counter() - self._evaluation_begin

    def suspend(self) -> None:
        """Leave the steps from here to `resume` out, and the open window."""
        self._is_suspended = True

    def resume(self) -> None:
        """Time steps again."""
        self._is_suspended = False
        self._open()

    def _open(self) -> None:
        self._steps, self._begin = 0, time.perf_counter()

    def _close(self) -> None:
        tf.test.experimental.sync_devices()
        seconds = time.perf_counter() - self._begin
        if self.first_s is None:
            self.first_s = seconds
        elif not self._is_suspended:
            self.training_s += seconds
            self.windows.append((self._begin, seconds, self._steps))
        self._open()

    def step_times(self) -> StepTimes | None:
        """Return the steady steps so far; None after fewer than one window of them."""
        if not self.windows:
            return None
        _, seconds, steps = np.array(self.windows).T
        per_step = np.repeat(seconds / steps, steps.astype(int))
        low, median, high = np.quantile(per_step, [0.25, 0.5, 0.75])
        return StepTimes(
            steps=len(per_step), median_s=float(median), low_s=float(low), high_s=float(high)
        )
