"""The folder of compiled files: safe for processes that start at once, and for broken files."""

import atexit
import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def open_folder() -> Iterator[Path]:
    """Give the folder, to one process at a time.

    The second of two that start at once waits here, and then finds what the first has
    compiled. Where the folder cannot be written, a temporary one takes its place, which
    goes with this process.
    """
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(os.environ.get("TFACCEL_CACHE") or home / "tfaccel" / "native")
    with contextlib.ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = stack.enter_context((folder / ".lock").open("w"))
        except OSError:
            folder = Path(tempfile.mkdtemp(prefix="tfaccel-"))
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):  # a file system without locks: both compile
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def keep(aside: Path, folder: Path, stem: str) -> Path:
    """Move a finished file to its place, under a name that holds a digest of what is in it."""
    place = folder / f"{stem}-{digest(aside.read_bytes())}.so"
    os.replace(aside, place)
    return place


def kept(folder: Path, stem: str) -> Path | None:
    """Return the file of that stem, or None; a broken one is removed.

    It has to be found broken here: opening a library whose end is missing ends the process.
    """
    for file in sorted(folder.glob(f"{stem}-*.so")):
        if file.stem == f"{stem}-{digest(file.read_bytes())}":
            return file
        file.unlink()
    return None


def digest(*parts: bytes) -> str:
    """Return a name for bytes: equal for equal ones, and for no others.

    >>> digest(b"a", b"b") == digest(b"a", b"b"), digest(b"ab") == digest(b"a", b"b")
    (True, False)
    """
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
