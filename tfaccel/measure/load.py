"""Other load on the machine while something is measured."""

import os
import time

import psutil


class OtherLoad:
    """How many cores were busy with something else than one process and its children."""

    def __init__(self) -> None:
        """Start to look."""
        self._begin_s, self._busy_s, self._own_s = time.monotonic(), _busy_s(), _own_s()

    def cores(self, cpu_s: float = 0.0) -> float:
        """Return the mean number of cores busy with other work since the start.

        Args:
            cpu_s: processor seconds of measured processes that have ended and were not
                children of this one.
        """
        others = _busy_s() - self._busy_s - (_own_s() - self._own_s) - cpu_s
        return max(0.0, others / (time.monotonic() - self._begin_s))


def _busy_s() -> float:
    """Return the seconds that all cores together have been busy."""
    times = psutil.cpu_times()
    return float(
        sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0)
    )


def _own_s() -> float:
    """Return the processor seconds of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
