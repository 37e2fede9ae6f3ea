"""The fresh process of a trial: started, paused, waited for, and how it ended."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from tfaccel.errors import UsageError
from tfaccel.job import Job
from tfaccel.measure.trial import Trial, Work
from tfaccel.plan import Plan

POLL_S = 0.005


class Child:
    """Measures a plan once, in a process of its own.

    A process each, since compiled kernels, device memory and settings that TensorFlow
    reads once would otherwise pass from one plan to the next.
    """

    def __init__(self, make_job: Callable[[], Job], plan: Plan, work: Work) -> None:
        """Start it.

        Raises:
            UsageError: the function that makes the job cannot be sent to another process.
        """
        order = _pickled({"make_job": make_job, "plan": plan, "work": work})
        self._place = tempfile.TemporaryDirectory()
        self._folder = Path(self._place.name)
        (self._folder / "order.pickle").write_bytes(order)
        (self._folder / "path.json").write_text(json.dumps(sys.path))
        with (self._folder / "stderr").open("wb") as stderr:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tfaccel.comparing.child", self._place.name],
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                env={**os.environ, **plan.environment()},
                # A group of its own, paused as one. Should this process die, the system
                # ends a group that is paused.
                process_group=0,
            )

    def __enter__(self) -> "Child":
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Kill it, if it still runs."""
        self._signal(signal.SIGKILL)
        self._process.wait()
        self._place.cleanup()

    @property
    def has_ended(self) -> bool:
        """Return whether it has."""
        return self._process.poll() is not None

    def wait_until_warm(self) -> float | None:
        """Wait until it takes steady steps; return the seconds of one, None if it ended."""
        warm = self._folder / "warm"
        while not warm.exists():
            if self.has_ended:
                return None
            time.sleep(POLL_S)
        return float(warm.read_text())

    def pause(self) -> None:
        """Stop all its threads, input pipeline included."""
        self._signal(signal.SIGSTOP)

    def run(self, seconds: float) -> None:
        """Let it run for so long, or to its end if that comes first."""
        self._signal(signal.SIGCONT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        self.pause()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            if not self.has_ended:
                os.killpg(self._process.pid, number)

    def answer(self) -> Trial | str:
        """Wait for the end; return the trial, or the reason why there is none."""
        self._signal(signal.SIGCONT)
        code = self._process.wait()
        file = self._folder / "answer.json"
        if not file.exists():
            return _reason(code, (self._folder / "stderr").read_text(errors="replace"))
        answer = json.loads(file.read_text())
        return answer.get("failure") or Trial(**answer)


def _pickled(order: dict[str, object]) -> bytes:
    import cloudpickle

    try:
        return bytes(cloudpickle.dumps(order))
    except Exception as error:
        raise UsageError(
            f"The job cannot be sent to a fresh process ({error}); make models and datasets "
            "inside the function that returns the job."
        ) from None


def _reason(code: int, stderr: str) -> str:
    if code == -signal.SIGKILL:
        return "killed, as the system does when memory runs out"
    if code < 0:
        return f"ended by {signal.Signals(-code).name}"
    lines = [line for line in stderr.splitlines() if line.strip()]
    return lines[-1] if lines else f"ended with code {code}"
