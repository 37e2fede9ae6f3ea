"""Peak memory."""

import resource
import sys

import tensorflow as tf


def peak_bytes() -> int:
    """Return the peak memory of the first GPU, or of this process where there is none."""
    if tf.config.list_physical_devices("GPU"):
        return int(tf.config.experimental.get_memory_info("GPU:0")["peak"])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
