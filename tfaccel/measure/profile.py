"""A profile of steady steps that TensorBoard's profile page reads."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from tfaccel.measure.clock import StepClock

CALLS = 10


class Profile(keras.callbacks.Callback):
    """Profiles ten calls of the training step, once the first ones are over.

    It waits for the second epoch where there is one. Each call is marked as a step: the
    marks that Keras's own TensorBoard callback leaves are not found by XProf.
    """

    def __init__(self, log_dir: Path, clock: StepClock) -> None:
        """Plan a profile.

        Args:
            log_dir: TensorBoard's folder, under which the profile is written.
            clock: suspended meanwhile, since profiled steps take longer.
        """
        super().__init__()
        self._log_dir, self._clock = log_dir, clock
        self._plain: Any = None  # the model's own train function, while it is wrapped
        self._epoch = self._calls = 0
        self._is_done = False

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Count the calls of each epoch anew."""
        self._epoch, self._calls = epoch, 0

    def on_train_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Start when the steps are steady."""
        self._calls += 1
        is_steady = self._epoch >= 1 if self.params["epochs"] > 1 else True
        if self._calls == 3 and is_steady and not self._is_done and self._plain is None:
            self._start()

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Stop after enough calls."""
        if self._plain is not None and self._calls >= CALLS + 2:
            self._stop()

    def on_test_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Stop at the end of a short epoch: validation is no training step."""
        self._stop()

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Stop, also where the training is cut short."""
        self._stop()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Stop at the end of a short epoch."""
        self._stop()

    def _start(self) -> None:
        try:
            tf.profiler.experimental.start(str(self._log_dir))
        except tf.errors.OpError as error:  # such as: another profiler is at work
            warnings.warn(f"No profile is written: {error.message}", stacklevel=2)
            self._is_done = True
            return
        self._clock.suspend()
        self._plain = plain = self.model.train_function

        def marked(iterator: Iterator[Any]) -> Any:
            number = int(self.model.optimizer.iterations)
            with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
                return plain(iterator)

        self.model.train_function = marked

    def _stop(self) -> None:
        if self._plain is None:
            return
        self.model.train_function, self._plain = self._plain, None
        tf.test.experimental.sync_devices()
        self._is_done = True
        try:
            tf.profiler.experimental.stop()
        except tf.errors.OpError as error:  # such as: the disk is full
            warnings.warn(f"No profile is written: {error.message}", stacklevel=2)
        self._clock.resume()
