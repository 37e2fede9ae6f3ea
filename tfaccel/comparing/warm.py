"""Tell the process that waits outside that the steps are steady."""

from pathlib import Path
from typing import Any

import keras

from tfaccel.files import write_aside
from tfaccel.measure.clock import StepClock


class TellWhenWarm(keras.callbacks.Callback):
    """Writes the seconds of a step to a file, once there is a step after the first call."""

    def __init__(self, clock: StepClock, file: Path) -> None:
        """Ask this clock, which must come before in the callbacks."""
        super().__init__()
        self._clock, self._file, self._is_told = clock, file, False

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Tell, the first time there is something to tell."""
        if self._is_told or not self._clock.windows:
            return
        self._is_told = True
        _, seconds, steps = self._clock.windows[-1]
        with write_aside(self._file) as aside:
            aside.write_text(str(seconds / steps))
