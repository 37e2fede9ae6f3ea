"""The progress of a training run: a line an epoch, and a bar on a terminal."""

import time
from typing import Any

import keras
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from tfaccel.report.screen import Screen, minutes

REFRESH_S = 0.5


class TrainingProgress(keras.callbacks.Callback):
    """Shows epoch, step, loss, accuracy, examples per second, and the time left."""

    def __init__(self, screen: Screen, *, batch_size: int) -> None:
        """Show on this screen."""
        super().__init__()
        self._screen, self._batch_size = screen, batch_size
        self._is_live = screen.console.is_terminal and not screen.console.quiet
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[text]}"),
            TimeRemainingColumn(compact=True),
            console=screen.console,
            transient=True,
            disable=not self._is_live,
        )
        self._task: TaskID | None = None
        self._epoch = self._done = self._untimed = 0
        self._shown_s = self._trained_s = self._train_begin_s = self._run_begin_s = 0.0

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Show an empty bar: the first step, which compiles, takes its time."""
        self._run_begin_s = time.perf_counter()
        self._bar.start()
        steps = self.params["epochs"] * self.params["steps"]
        self._task = self._bar.add_task("compiling the step", total=steps, text="")

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Start to count an epoch's steps."""
        self._epoch, self._done, self._untimed = epoch, 0, 0
        self._train_begin_s = time.perf_counter()

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Bring the bar up to date, if it is time."""
        now = time.perf_counter()
        if self._epoch == self._done == 0:  # the first call compiles: it is no rate
            self._untimed, self._train_begin_s = batch + 1, now
        self._done = batch + 1
        if self._is_live and now - self._shown_s >= REFRESH_S:
            self._shown_s = now
            steps, epochs = self.params["steps"], self.params["epochs"]
            assert self._task is not None
            self._bar.update(
                self._task,
                completed=self._epoch * steps + self._done,
                description=f"epoch {self._epoch + 1}/{epochs} step {self._done}/{steps}",
                text=f"{_metrics(logs)}  {self._rate(now - self._train_begin_s)}",
            )

    def on_test_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Stop the epoch's clock: validation begins."""
        self._trained_s = time.perf_counter() - self._train_begin_s

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Print the epoch's line."""
        trained_s = self._trained_s or time.perf_counter() - self._train_begin_s
        epochs = self.params["epochs"]
        left_s = (time.perf_counter() - self._run_begin_s) / (epoch + 1) * (epochs - epoch - 1)
        self._screen.print(
            f"epoch {epoch + 1:>{len(str(epochs))}}/{epochs}  {_metrics(logs)}"
            f"  {self._rate(trained_s)}"
            + (f"  {minutes(left_s)} left" if epoch + 1 < epochs else "")
        )

    def _rate(self, seconds: float) -> str:
        examples = (self._done - self._untimed) * self._batch_size
        return f"{examples / seconds:,.0f} examples/s" if examples else ""

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Take the bar away."""
        self._bar.stop()


def _metrics(logs: dict[str, Any] | None) -> str:
    """Return the loss and accuracies in one line.

    >>> _metrics({"accuracy": 0.8, "loss": 0.51234, "val_accuracy": 0.9})
    'loss 0.512  accuracy 0.800  val_accuracy 0.900'
    """
    shown = {k: float(v) for k, v in (logs or {}).items() if "loss" in k or "acc" in k}
    order = sorted(shown, key=lambda name: (name.startswith("val_"), "loss" not in name))
    words = [f"{name} {shown[name]:.3f}" for name in order]
    if skipped := int((logs or {}).get("skipped_updates", 0)):
        words.append(f"{skipped} updates skipped")
    return "  ".join(words)
