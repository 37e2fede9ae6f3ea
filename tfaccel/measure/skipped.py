"""Updates that loss scaling skipped, counted, and the run stopped where nothing is left."""

from typing import Any

import keras

from tfaccel.errors import UsageError

NAME = "skipped_updates"


class SkippedUpdates(keras.callbacks.Callback):
    """Counts the updates of an epoch that were skipped since a gradient was not finite.

    Keras halves the scale of the loss at each of them, without a floor and without a word. Below
    a scale of 1 it is not the scaling that overflows, and no update may ever come again.
    """

    def __init__(self) -> None:
        """Start with no update."""
        super().__init__()
        self._batches = self._updates = 0

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Look how many updates there were."""
        self._batches, self._updates = 0, int(self.model.optimizer.iterations)

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Count the batches of a call."""
        self._batches += self.model.steps_per_execution

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Add the number to the metrics of the epoch.

        Raises:
            UsageError: gradients overflow however small the scale.
        """
        optimizer = self.model.optimizer
        inner = getattr(optimizer, "inner_optimizer", optimizer)
        expected = self._batches // (inner.gradient_accumulation_steps or 1)
        skipped = max(0, expected - (int(optimizer.iterations) - self._updates))
        if logs is not None:
            logs[NAME] = skipped
        scale = getattr(optimizer, "dynamic_scale", None)
        if skipped and scale is not None and float(scale) < 1:
            raise UsageError(
                f"Under float16, {skipped} updates of epoch {epoch + 1} were skipped since the "
                f"gradients overflowed, whatever the scale of the loss (now {float(scale):.2g}); "
                "use mixed_precision:dtype=bfloat16, a smaller learning rate, or no mixed "
                "precision."
            )
