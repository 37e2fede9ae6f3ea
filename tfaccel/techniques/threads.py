"""How many threads TensorFlow computes with."""

from typing import ClassVar

import pydantic

from tfaccel.errors import UsageError
from tfaccel.host import cores
from tfaccel.plan import Technique


class Threads(Technique):
    """State how many threads an operation uses, and how many operations run at once.

    TensorFlow takes as many of each as the machine has cores, though a container may have
    been given fewer; too many get into each other's way. 0 takes the cores that this process
    may use.

    Numbers: rounding only, since sums are cut at other places.
    Source: https://www.tensorflow.org/api_docs/python/tf/config/threading
    """

    numbers: ClassVar = "rounding"

    intra: int = pydantic.Field(0, ge=0, description="threads within an operation; 0: all cores")
    inter: int = pydantic.Field(0, ge=0, description="operations at once; 0: as many as cores")

    def prepare(self) -> None:
        """Set both.

        Raises:
            UsageError: TensorFlow has begun to compute with other numbers.
        """
        import tensorflow as tf

        threading = tf.config.threading
        wanted = (self.intra or cores(), self.inter or cores())
        try:
            threading.set_intra_op_parallelism_threads(wanted[0])
            threading.set_inter_op_parallelism_threads(wanted[1])
        except RuntimeError:
            now = (
                threading.get_intra_op_parallelism_threads(),
                threading.get_inter_op_parallelism_threads(),
            )
            if now != wanted:
                raise UsageError(
                    "threads must be set before TensorFlow's first operation, which is past; use "
                    "it in a recipe or in a comparison, or call plan.prepare() first."
                ) from None
