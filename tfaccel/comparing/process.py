"""Start the fresh process of a trial, wait for it, and say how it ended."""

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tfaccel.errors import UsageError
from tfaccel.job import Job
from tfaccel.measure.load import OtherLoad
from tfaccel.measure.trial import Trial, Work
from tfaccel.plan import Plan


def run_trial(make_job: Callable[[], Job], plan: Plan, work: Work) -> Trial | str:
    """Measure a plan once, in a process of its own.

    A process each, since compiled kernels, device memory and settings that TensorFlow
    reads once would otherwise pass from one plan to the next.

    Returns:
        The trial, or the reason why there is none.

    Raises:
        UsageError: the function that makes the job cannot be sent to another process.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        order = {"make_job": make_job, "plan": plan, "work": work}
        (folder / "order.pickle").write_bytes(_pickled(order))
        (folder / "path.json").write_text(json.dumps(sys.path))
        load = OtherLoad()
        with (folder / "stderr").open("wb") as stderr:
            command = [sys.executable, "-m", "tfaccel.comparing.child", name]
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr) as process:
                try:
                    code = process.wait()
                except BaseException:
                    process.kill()
                    raise
        other_cores = load.cores()
        if not (folder / "answer.json").exists():
            return _reason(code, (folder / "stderr").read_text(errors="replace"))
        answer = json.loads((folder / "answer.json").read_text())
        return answer.get("failure") or Trial(**{**answer, "other_cores": other_cores})


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
