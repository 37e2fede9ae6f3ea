"""Depthwise convolutions by code made for CPUs."""

import logging
from typing import TYPE_CHECKING, ClassVar, Literal

import pydantic

from tfaccel.host import Host
from tfaccel.plan import Technique

if TYPE_CHECKING:
    import keras

log = logging.getLogger(__name__)


class Depthwise(Technique):
    """Compute depthwise convolutions of 3 x 3 and 5 x 5 by operations made for CPUs.

    `native` is an operation of this package that is compiled on first use; it takes a
    ZeroPadding2D before it along. `stock` is TensorFlow's own, except for a bfloat16 gradient
    at stride 2 that is slow there. Where nothing can be compiled, and under XLA, native means
    stock.

    Numbers: rounding only.
    Source: Howard et al., MobileNets, https://arxiv.org/abs/1704.04861
    """

    numbers: ClassVar = "rounding"

    kernel: Literal["native", "stock"] = pydantic.Field(
        "native", description="native: compiled here; stock: TensorFlow's, but for slow gradients"
    )

    def unavailable(self, host: Host) -> str | None:
        """Refuse machines with a GPU, whose own kernels are right for it."""
        return "it is for CPUs" if host.gpus else None

    def caution(self, host: Host) -> str | None:
        """Say why native means stock, where it does."""
        if self.kernel == "native" and (why := _why_stock()):
            return f"the stock operation is used: {why}"
        return None

    def rewrite(self, model: "keras.Model", host: Host) -> None:
        """Replace the code of every plain DepthwiseConv2D that is covered."""
        from tfaccel.rewriting.depthwise import replace_depthwise

        if model.jit_compile:
            return
        native = self.kernel == "native"
        if native and (why := _why_stock()):
            log.info("depthwise takes the stock operation: %s", why)
            native = False
        replace_depthwise(model, native=native)


def _why_stock() -> str | None:
    from tfaccel.native.build import UnavailableError
    from tfaccel.native.depthwise import ops

    try:
        ops()
    except UnavailableError as error:
        return str(error)
    return None
