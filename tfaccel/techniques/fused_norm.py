"""Batch normalisation in one operation instead of a dozen."""

import logging
from typing import TYPE_CHECKING, ClassVar, Literal

import pydantic

from tfaccel.host import Host
from tfaccel.plan import Technique

if TYPE_CHECKING:
    import keras

log = logging.getLogger(__name__)


class FusedNorm(Technique):
    """Compute each BatchNormalization in one operation, forward and backward.

    Keras computes it as a dozen elementwise ones that each go through memory. `native` takes
    the activation that follows along (ReLU, ReLU6, hard-swish, SiLU), in an operation of this
    package for CPUs that is compiled on first use; `stock` is TensorFlow's own operation. On a
    GPU, under XLA, and where nothing can be compiled, native means stock.

    Numbers: rounding only; the statistics are float32 whatever the type of the activations.
    Source: Ioffe and Szegedy, Batch Normalization, https://arxiv.org/abs/1502.03167
    """

    numbers: ClassVar = "rounding"

    kernel: Literal["native", "stock"] = pydantic.Field(
        "native", description="native: with its activation, compiled here; stock: TensorFlow's"
    )

    @classmethod
    def variants(cls) -> tuple[Technique, ...]:
        """Return both kernels."""
        return (cls(kernel="native"), cls(kernel="stock"))

    def caution(self, host: Host) -> str | None:
        """Say why native means stock, where it does."""
        if self.kernel == "native" and (why := self._why_stock(host)):
            return f"the stock operation is used: {why}"
        return None

    def rewrite(self, model: "keras.Model", host: Host) -> None:
        """Replace the code of every plain BatchNormalization."""
        from tfaccel.rewriting.norm import fuse_norms

        native = self.kernel == "native" and not model.jit_compile
        if native and (why := self._why_stock(host)):
            log.info("fused_norm takes the stock operation: %s", why)
            native = False
        fuse_norms(model, native=native)

    @staticmethod
    def _why_stock(host: Host) -> str | None:
        if host.gpus:
            return "the native one is for CPUs"
        from tfaccel.native.build import UnavailableError
        from tfaccel.native.norm_activation import ops

        try:
            ops()
        except UnavailableError as error:
            return str(error)
        return None
