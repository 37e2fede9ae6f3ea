"""XLA: compile the training step into fused kernels."""

import dataclasses
from typing import ClassVar

import pydantic

from tfaccel.host import Host
from tfaccel.job import Job
from tfaccel.plan import Technique


class Xla(Technique):
    """Compile the training step with XLA, the compiler of TensorFlow and JAX.

    Fused kernels spare memory traffic; each new shape of a batch pays for a compilation
    of seconds to minutes. Plain Keras has it on where there is a GPU and every layer
    supports it, off elsewhere; this states it either way.

    Numbers: rounding only. Source: https://www.tensorflow.org/xla
    """

    numbers: ClassVar = "rounding"

    enabled: bool = pydantic.Field(True, description="false to keep XLA off where Keras has it on")

    def caution(self, host: Host) -> str | None:
        """Say that CPU kernels for depthwise convolutions are slow."""
        if self.enabled and not host.gpus:
            return "on a CPU, XLA is up to 9 times slower for depthwise convolutions"
        return None

    def apply(self, job: Job) -> Job:
        """Set `jit_compile`."""
        args = {**job.compile_args, "jit_compile": self.enabled}
        return dataclasses.replace(job, compile_args=args)
