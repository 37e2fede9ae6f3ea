"""Files that are there whole or not at all."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def write_aside(path: Path) -> Iterator[Path]:
    """Give a path to write to, which takes the place of `path` once all is written.

    Where the writing fails, what `path` held before stays, and nothing is left aside.
    """
    aside = path.with_name(f".writing-{path.name}")  # the ending tells Keras the format
    try:
        yield aside
        os.replace(aside, path)
    except OSError as error:
        error.filename = str(path)  # the name that the user knows
        raise
    finally:
        aside.unlink(missing_ok=True)
