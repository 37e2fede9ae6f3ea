"""The one exception that a user's mistake raises."""

import difflib
from collections.abc import Collection


class UsageError(Exception):
    """Something the user gave cannot be used.

    The message is one sentence: what was wrong, where, and what to do. The command line
    prints it without a traceback and exits with code 2.
    """


def unknown(what: str, name: str, known: Collection[str]) -> UsageError:
    """Return the refusal of a name, with the nearest known one, or all.

    >>> unknown("technique", "xlo", ["xla", "remat"])
    UsageError("There is no technique 'xlo'; did you mean xla?")
    """
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]}?" if near else f"choose from {', '.join(known)}."
    return UsageError(f"There is no {what} {name!r}; {hint}")
