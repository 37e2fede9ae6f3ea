"""What is trained, on what, and how, as plain values: `Source` and `Job`."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from tfaccel.errors import UsageError

if TYPE_CHECKING:  # so that `--help` need not wait for TensorFlow
    import keras
    import tensorflow as tf


class Examples(Protocol):
    """One split of a data set: how many examples there are, and batches of them."""

    @property
    def count(self) -> int:
        """How many examples there are."""

    def ordered(self, batch_size: int) -> "tf.data.Dataset":
        """Return every example once, in a fixed order; the last batch may be smaller."""

    def shuffled(self, batch_size: int, *, seed: int, epochs: int) -> "tf.data.Dataset":
        """Return `epochs * (count // batch_size)` full batches, each epoch in a new order.

        The same seed gives the same order.
        """


@dataclasses.dataclass(frozen=True, kw_only=True)
class Source:
    """A data set in its splits."""

    name: str
    classes: tuple[str, ...]  # names by label; empty where the targets are not classes
    train: Examples
    validation: Examples | None  # chooses the best weights
    test: Examples | None  # gives the final figures; validation stands in where None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Job:
    """All that Keras will be told, before it is told any of it.

    Techniques rewrite a job with `dataclasses.replace`; what follows from other values
    is a property, so that it is right after every change.
    """

    build: "Callable[[], keras.Model]"
    source: Source
    optimizer: "Callable[..., keras.optimizers.Optimizer]"  # usually the class
    # A learning rate, or a function that gives one once the techniques are applied.
    rate: "float | Callable[[Job], float | keras.optimizers.schedules.LearningRateSchedule]"
    optimizer_args: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    compile_args: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    fit_args: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    # From a batch of inputs and a seed [2] int64 to the augmented batch, in the graph.
    augment: "Callable[[tf.Tensor, tf.Tensor], tf.Tensor] | None" = None
    callbacks: "tuple[Callable[[], keras.callbacks.Callback], ...]" = ()
    monitor: str = "val_loss"  # chooses the best epoch; highest for an accuracy or the like
    batch_size: int = 32  # examples per step, over all devices
    epochs: int = 1
    steps_multiple: int = 1  # an epoch is cut to a multiple of so many steps

    def check(self) -> None:
        """Refuse a job that has not one step to train.

        Raises:
            UsageError: a number is below one, the batch size is larger than the number of
                training examples, or an epoch has fewer steps than go into one call.
        """
        if self.batch_size < 1 or self.epochs < 1:
            raise UsageError(
                f"batch_size is {self.batch_size} and epochs is {self.epochs}; "
                "both must be 1 or more."
            )
        if self.batch_size > self.source.train.count:
            raise UsageError(
                f"batch_size is {self.batch_size}, but {self.source.name} has only "
                f"{self.source.train.count} training examples; choose a smaller one."
            )
        if not self.steps_per_epoch:
            raise UsageError(
                f"A call takes {self.steps_multiple} steps, but an epoch has only "
                f"{self.source.train.count // self.batch_size}; choose fewer steps."
            )

    @property
    def steps_per_epoch(self) -> int:
        """How many full batches an epoch has, up to the multiple asked for."""
        batches = self.source.train.count // self.batch_size
        return batches - batches % self.steps_multiple

    @property
    def batches_per_update(self) -> int:
        """How many batches' gradients go into one update of the weights."""
        return self.optimizer_args.get("gradient_accumulation_steps") or 1

    @property
    def updates(self) -> int:
        """How many times the run updates the weights."""
        return self.epochs * self.steps_per_epoch // self.batches_per_update

    @property
    def examples_per_update(self) -> int:
        """How many examples go into one update of the weights."""
        return self.batch_size * self.batches_per_update
