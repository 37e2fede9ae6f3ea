"""What a person sees while a run goes on, and the same in the run's log."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO, TypeVar

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

T = TypeVar("T")


class Screen:
    """The terminal, and the run's log file once there is one."""

    def __init__(self, *, quiet: bool = False) -> None:
        """Write to the terminal, unless quiet."""
        self.console = Console(quiet=quiet, highlight=False)
        self._log: TextIO | None = None

    def log_to(self, path: Path) -> None:
        """Write everything to a file too, whether quiet or not."""
        self._log = path.open("a", encoding="utf-8")

    def print(self, *what: RenderableType) -> None:
        """Print lines and tables."""
        self.console.print(*what, soft_wrap=all(isinstance(w, str) for w in what))
        if self._log:
            Console(file=self._log, width=120, highlight=False).print(*what)
            self._log.flush()

    def track(self, items: Iterable[T], total: int, what: str = "reading images") -> Iterator[T]:
        """Yield the items, with a bar on a terminal that stays while it lasts only."""
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        hidden = self.console.quiet or not self.console.is_terminal
        with Progress(*columns, console=self.console, transient=True, disable=hidden) as bar:
            yield from bar.track(items, total=total, description=what)

    def close(self) -> None:
        """Close the log."""
        if self._log:
            self._log.close()
            self._log = None
