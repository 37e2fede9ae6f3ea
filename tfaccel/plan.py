"""The techniques of a run: functions from `Job` to `Job`, and the settings around it."""

import contextlib
import dataclasses
import itertools
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Literal

from tfaccel.config import Options
from tfaccel.errors import UsageError
from tfaccel.host import Host
from tfaccel.job import Job

if TYPE_CHECKING:
    import keras


class Technique(Options):
    """One way to train faster, or in less memory.

    A subclass stands alone in its file; its fields are its options. What it does not
    override, it leaves as it is.
    """

    # What it does to the numbers of plain Keras: nothing; other rounding; or other
    # numbers, with accuracy as the measure.
    numbers: ClassVar[Literal["identical", "rounding", "different"]]
    conflicts: ClassVar[dict[str, str]] = {}  # name of a technique it cannot join -> why

    @classmethod
    def name(cls) -> str:
        """Return the name on the command line: that of the file."""
        return cls.__module__.rpartition(".")[2]

    @classmethod
    def variants(cls) -> "tuple[Technique, ...]":
        """Return what a comparison of all techniques should try of this one."""
        return (cls(),)

    def unavailable(self, host: Host) -> str | None:
        """Return why this cannot run on `host`, or None."""
        return None

    def caution(self, host: Host) -> str | None:
        """Return why this is seldom worth it on `host`, or None."""
        return None

    def environment(self) -> dict[str, str]:
        """Return environment variables that a process must be started with."""
        return {}

    def prepare(self) -> None:
        """Set what must be set before TensorFlow's first operation."""

    def scope(self) -> contextlib.AbstractContextManager[object]:
        """Hold a global setting for the length of the run, and put it back."""
        return contextlib.nullcontext()

    def apply(self, job: Job) -> Job:
        """Return the job as this technique wants it."""
        return job

    def rewrite(self, model: "keras.Model", host: Host) -> None:
        """Give layers of the built and compiled model other code, in place.

        It is taken away after the training. What another technique has replaced stays.
        """

    def __str__(self) -> str:
        """Return the form that the command line reads, with every option."""
        options = ",".join(f"{key}={value}" for key, value in self)
        return f"{self.name()}:{options}" if options else self.name()


@dataclasses.dataclass(frozen=True)
class Plan:
    """The techniques of one run, at most one of each kind; none of them: plain Keras."""

    techniques: tuple[Technique, ...] = ()

    def __post_init__(self) -> None:
        """Refuse techniques that cannot be joined.

        Raises:
            UsageError: one is named twice, or two exclude each other.
        """
        for a, b in itertools.combinations(self.techniques, 2):
            if a.name() == b.name():
                raise UsageError(f"The plan names {a.name()} twice; name it once.")
            if why := a.conflicts.get(b.name()) or b.conflicts.get(a.name()):
                raise UsageError(f"{a.name()} and {b.name()} cannot be joined: {why}.")

    def require(self, host: Host) -> None:
        """Refuse a host that lacks what a technique needs.

        Raises:
            UsageError: naming each technique that cannot run here, and why.
        """
        reasons = ((t.name(), t.unavailable(host)) for t in self.techniques)
        if lacking := [f"{name} cannot run here: {why}" for name, why in reasons if why]:
            raise UsageError("; ".join(lacking) + ".")

    def environment(self) -> dict[str, str]:
        """Return the environment variables that this process lacks for the plan."""
        wanted: dict[str, str] = {}
        for technique in self.techniques:
            wanted |= technique.environment()
        return {key: value for key, value in wanted.items() if os.environ.get(key) != value}

    def prepare(self) -> None:
        """Set what must be set before TensorFlow's first operation.

        Raises:
            UsageError: it is too late for that, in this process.
        """
        if lacking := self.environment():
            words = " ".join(f"{key}={value}" for key, value in lacking.items())
            raise UsageError(
                f"The plan {self} needs Python to be started with {words}; a recipe and a "
                "comparison see to that."
            )
        for technique in self.techniques:
            technique.prepare()

    @contextlib.contextmanager
    def scope(self) -> Iterator[None]:
        """Enter the scope of every technique; leave them in the reverse order."""
        with contextlib.ExitStack() as stack:
            for technique in self.techniques:
                stack.enter_context(technique.scope())
            yield

    def apply(self, job: Job) -> Job:
        """Let each technique rewrite the job."""
        for technique in self.techniques:
            job = technique.apply(job)
        return job

    def rewrite(self, model: "keras.Model", host: Host) -> None:
        """Let each technique give layers of the model other code."""
        for technique in self.techniques:
            technique.rewrite(model, host)

    def __str__(self) -> str:
        """Return the words of the command line that give this plan."""
        return " ".join(map(str, self.techniques)) or "none"
