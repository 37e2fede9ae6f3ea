"""What a person sees while something is measured: what, and for how long yet."""

from types import TracebackType

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from tfaccel.report.screen import minutes


class Waiting:
    """A line on a terminal that stays while it lasts; elsewhere a line for each change."""

    def __init__(self, console: Console) -> None:
        """Show on this console."""
        self._console = console
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}", markup=False),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("", total=None, left="")

    def __enter__(self) -> "Waiting":
        """Begin to show."""
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the line away."""
        self._bar.stop()

    def __call__(self, what: str, least_s: float | None, most_s: float) -> None:
        """Say what is measured now, and between which bounds the seconds left may be."""
        left = _left(least_s, most_s)
        if not self._console.is_terminal:
            self._console.print(f"{what}  {left}".rstrip(), markup=False)
        self._bar.update(self._task, description=what, left=left)


def _left(least_s: float | None, most_s: float) -> str:
    """Return the time left in words.

    >>> _left(None, 300.0), _left(20.0, 70.2), _left(90.0, 30.0)
    ('at most 5:00 left', '0:20 to 1:10 left', '1:30 left')
    """
    if least_s is None:
        return f"at most {minutes(most_s)} left" if most_s else ""
    if least_s >= most_s:
        return f"{minutes(least_s)} left"
    return f"{minutes(least_s)} to {minutes(most_s)} left"
