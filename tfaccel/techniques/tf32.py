"""TensorFloat-32: float32 matrix products and convolutions on Tensor Cores."""

import contextlib
from collections.abc import Iterator
from typing import ClassVar

import pydantic

from tfaccel.host import Host
from tfaccel.plan import Technique

NEEDED = (8, 0)  # CUDA compute capability


class Tf32(Technique):
    """Round the factors of float32 products to 10 bits, for Tensor Cores.

    TensorFlow has it on where the GPU can; this states it either way, so that a comparison
    shows what it gives and a run can do without.

    Numbers: rounding only, to 10 bits of the fraction instead of 23.
    Source: https://www.tensorflow.org/api_docs/python/tf/config/experimental/enable_tensor_float_32_execution
    """

    numbers: ClassVar = "rounding"

    enabled: bool = pydantic.Field(True, description="false for all 23 bits")

    @classmethod
    def variants(cls) -> tuple[Technique, ...]:
        """Return what differs from TensorFlow's default."""
        return (cls(enabled=False),)

    def unavailable(self, host: Host) -> str | None:
        """Refuse machines whose processors have no such arithmetic."""
        if not host.gpus:
            return "it needs a GPU"
        if host.capability and host.capability < NEEDED:
            return f"it needs a GPU of compute capability {NEEDED[0]}.{NEEDED[1]}"
        return None

    @contextlib.contextmanager
    def scope(self) -> Iterator[None]:
        """Hold the setting."""
        import tensorflow as tf

        setting = tf.config.experimental
        before = setting.tensor_float_32_execution_enabled()
        setting.enable_tensor_float_32_execution(self.enabled)
        try:
            yield
        finally:
            setting.enable_tensor_float_32_execution(before)
