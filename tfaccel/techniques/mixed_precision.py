"""Mixed precision: compute in 16 bits, keep the weights in 32."""

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import ClassVar, Literal

import pydantic

from tfaccel.host import Host
from tfaccel.job import Job
from tfaccel.plan import Technique

# The first CUDA compute capability whose Tensor Cores take the type.
NEEDED = {"float16": (7, 0), "bfloat16": (8, 0)}


class MixedPrecision(Technique):
    """Compute activations and gradients in 16 bits and keep the weights in 32.

    Half the memory traffic, and Tensor Cores on a GPU. With float16, Keras scales the
    loss so that small gradients do not vanish, and skips updates that overflow: they are
    counted (`skipped_updates`), and a run in which none is left is stopped. bfloat16 has
    the range of float32 and needs no scaling.

    Numbers: different; expect the same accuracy, not the same loss.
    Source: Micikevicius et al., Mixed Precision Training, https://arxiv.org/abs/1710.03740
    """

    numbers: ClassVar = "different"

    dtype: Literal["bfloat16", "float16"] = pydantic.Field(
        "bfloat16", description="type of the activations and gradients"
    )

    @classmethod
    def variants(cls) -> "tuple[Technique, ...]":
        """Return both types."""
        return (cls(dtype="bfloat16"), cls(dtype="float16"))

    def unavailable(self, host: Host) -> str | None:
        """Refuse GPUs without the arithmetic."""
        needed = NEEDED[self.dtype]
        if host.capability and host.capability < needed:
            return (
                f"{self.dtype} needs a GPU of compute capability {needed[0]}.{needed[1]}, "
                f"this one has {host.capability[0]}.{host.capability[1]}"
            )
        return None

    def caution(self, host: Host) -> str | None:
        """Say that CPUs compute float16 slowly."""
        if host.gpus:
            return None
        if self.dtype == "float16":
            return "on a CPU, float16 is 2 to 7 times slower than float32; try bfloat16"
        return "on a CPU, bfloat16 helps dense layers and slows depthwise convolutions"

    def apply(self, job: Job) -> Job:
        """Count the updates that the scaling of the loss skips."""
        if self.dtype != "float16":
            return job
        from tfaccel.measure.skipped import SkippedUpdates

        return dataclasses.replace(job, callbacks=(*job.callbacks, SkippedUpdates))

    @contextlib.contextmanager
    def scope(self) -> Iterator[None]:
        """Hold the dtype policy that layers take when they are made."""
        import keras

        before = keras.config.dtype_policy()
        keras.config.set_dtype_policy(f"mixed_{self.dtype}")
        try:
            yield
        finally:
            keras.config.set_dtype_policy(before)
