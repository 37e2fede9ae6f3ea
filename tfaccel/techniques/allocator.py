"""Another memory allocator than the C library's."""

import ctypes.util
import os
from functools import cache
from typing import ClassVar

from tfaccel.host import Host
from tfaccel.plan import Technique

LIBRARIES = ("tcmalloc_minimal", "tcmalloc")
VARIABLE = "LD_PRELOAD"


class Allocator(Technique):
    """Take memory from tcmalloc, which keeps it ready for the next step.

    The C library gives large blocks back to the system and clears them anew each time. The
    library must be there when a process starts: a recipe starts itself again with it.

    Numbers: identical. Source: https://google.github.io/tcmalloc/design.html
    """

    numbers: ClassVar = "identical"

    def unavailable(self, host: Host) -> str | None:
        """Refuse machines without the library."""
        if _library():
            return None
        return "tcmalloc is not installed (on Debian and Ubuntu: libtcmalloc-minimal4)"

    def environment(self) -> dict[str, str]:
        """Return the variable that loads the library into a process."""
        library = _library()
        loaded = os.environ.get(VARIABLE, "").split()
        if library is None or library in loaded:
            return {}
        return {VARIABLE: " ".join([library, *loaded])}


@cache
def _library() -> str | None:
    return next(filter(None, map(ctypes.util.find_library, LIBRARIES)), None)
