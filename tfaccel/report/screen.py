"""What a person sees while a run goes on, and the same in the run's log."""

import os
import sys
from collections.abc import Iterable, Iterator
from functools import partial
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


class _Console(Console):
    """A console whose reader may go away, as `head` does, without ending the run."""

    def on_broken_pipe(self) -> None:
        """Print no more."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# What is printed holds the user's own names: a bracket in them is no markup.
plain_console = partial(_Console, highlight=False, markup=False, emoji=False)


class Screen:
    """The terminal, and the run's log file once there is one."""

    def __init__(self, *, quiet: bool = False) -> None:
        """Write to the terminal, unless quiet."""
        self.console = plain_console(quiet=quiet)
        self._log: TextIO | None = None

    def log_to(self, path: Path) -> None:
        """Write everything to a file too, whether quiet or not."""
        self._log = path.open("a", encoding="utf-8")

    def print(self, *what: RenderableType) -> None:
        """Print lines and tables."""
        is_text = all(isinstance(one, str) for one in what)
        self.console.print(*what, soft_wrap=is_text)
        if self._log:
            plain_console(file=self._log, width=120).print(*what, soft_wrap=is_text)
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


def minutes(seconds: float) -> str:
    """Return minutes and seconds.

    >>> minutes(75.4)
    '1:15'
    """
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"
