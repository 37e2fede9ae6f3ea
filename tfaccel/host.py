"""What this machine is, and what must be set before TensorFlow starts on it."""

import contextlib
import dataclasses
import os
import platform
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from tfaccel.errors import UsageError

CGROUP = Path("/sys/fs/cgroup")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Host:
    """Facts of this machine, stored with every measurement."""

    cpu: str
    cores: int  # that this process may use: affinity and container limit, rounded up
    memory_bytes: int  # of the machine, or of the container where that is less
    gpus: tuple[str, ...]
    capability: tuple[int, int] | None  # CUDA compute capability, the least of all GPUs
    cuda: str | None  # that TensorFlow was built for; None in a build for CPUs
    tensorflow: str
    keras: str
    python: str
    system: str

    @classmethod
    def here(cls) -> "Host":
        """Read the facts of this machine. Imports TensorFlow."""
        import keras
        import tensorflow as tf

        gpus = tf.config.list_physical_devices("GPU")
        facts = [tf.config.experimental.get_device_details(gpu) for gpu in gpus]
        capabilities = [f["compute_capability"] for f in facts if "compute_capability" in f]
        return cls(
            cpu=_cpu_name(),
            cores=cores(),
            memory_bytes=memory_bytes(),
            gpus=tuple(f.get("device_name", "GPU") for f in facts),
            capability=min(capabilities, default=None),
            cuda=tf.sysconfig.get_build_info().get("cuda_version"),
            tensorflow=tf.__version__,
            keras=keras.__version__,
            python=platform.python_version(),
            system=platform.platform(terse=True),
        )

    def __str__(self) -> str:
        """Return the line that a run prints of its machine."""
        gpus = " + ".join(self.gpus) or "no GPU"
        cores = "1 core" if self.cores == 1 else f"{self.cores} cores"
        return (
            f"{self.cpu}, {cores}, {self.memory_bytes / 2**30:.0f} GiB, {gpus}; "
            f"TensorFlow {self.tensorflow}, Keras {self.keras}"
        )


def prepare() -> None:
    """Set what must be set before TensorFlow's first operation.

    Quiet start-up messages, TensorFlow as the backend of Keras, and GPU memory that
    grows with use, so that other processes can share the device.

    Raises:
        UsageError: Keras is set to another backend.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    if (backend := os.environ.setdefault("KERAS_BACKEND", "tensorflow")) != "tensorflow":
        raise UsageError(
            f"KERAS_BACKEND is {backend}, but tfaccel trains on TensorFlow; "
            "set the environment variable KERAS_BACKEND=tensorflow."
        )
    with _stderr_kept():
        import tensorflow as tf

        gpus = tf.config.list_physical_devices("GPU")
    for gpu in gpus:
        try:
            tf.config.experimental.set_memory_growth(gpu, True)
        except RuntimeError:  # the devices have started: too late to change, no harm
            return


@contextlib.contextmanager
def _stderr_kept() -> Iterator[None]:
    """Keep back what is written to standard error, and show it only if the body fails.

    TensorFlow greets each start with lines that no log level turns off.
    """
    sys.stderr.flush()
    screen = os.dup(2)
    with tempfile.TemporaryFile() as kept:
        os.dup2(kept.fileno(), 2)
        try:
            yield
        except BaseException:
            kept.seek(0)
            os.write(screen, kept.read())
            raise
        finally:
            os.dup2(screen, 2)
            os.close(screen)


def make_deterministic() -> None:
    """Have TensorFlow give the same bits for the same seed; before its first operation.

    On a GPU, with its deterministic kernels. On a CPU those are not enough: with several
    operations at a time, the sums inside oneDNN's convolutions come in another order each
    time, so one operation runs at a time, still on all cores.
    """
    import tensorflow as tf

    if tf.config.list_physical_devices("GPU"):
        tf.config.experimental.enable_op_determinism()
    else:
        tf.config.threading.set_inter_op_parallelism_threads(1)


def restart_with(variables: Mapping[str, str]) -> None:
    """Start this process again with environment variables that are read at its start."""
    if variables:
        sys.stdout.flush()
        command = [sys.executable, *sys.orig_argv[1:]]
        os.execve(sys.executable, command, {**os.environ, **variables})


def cores() -> int:
    """Count the cores this process may use, a container's limit included."""
    try:
        allowed = len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        allowed = os.cpu_count() or 1
    quota, _, period = _read(CGROUP / "cpu.max").partition(" ")
    if quota.isdigit() and period.isdigit():
        return max(1, min(allowed, -(-int(quota) // int(period))))
    return allowed


def memory_bytes() -> int:
    """Return the memory this process may use, a container's limit included."""
    import psutil

    limit = _read(CGROUP / "memory.max")
    total = int(psutil.virtual_memory().total)
    return min(total, int(limit)) if limit.isdigit() else total


def _cpu_name() -> str:
    names = (
        line.partition(":")[2].strip()
        for line in _read(Path("/proc/cpuinfo")).splitlines()
        if line.startswith("model name")
    )
    return next(names, platform.processor() or platform.machine())


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
