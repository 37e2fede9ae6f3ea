"""Peak memory."""

import resource
import sys

import tensorflow as tf


def reset_peak() -> None:
    """Begin to look for the peak of a GPU anew; that of a process cannot be reset."""
    if tf.config.list_physical_devices("GPU"):
        tf.config.experimental.reset_memory_stats("GPU:0")


def peak_bytes() -> int:
    """Return the peak of the first GPU since the reset, or of this process without one."""
    if tf.config.list_physical_devices("GPU"):
        return int(tf.config.experimental.get_memory_info("GPU:0")["peak"])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
