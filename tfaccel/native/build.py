"""Compile the C++ files of this folder for this processor and this TensorFlow, once."""

import os
import platform
import shlex
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import tensorflow as tf

from tfaccel.native.cache import digest, keep, kept, open_folder

FOLDER = Path(__file__).parent

# What each turns off, the code does not use: errno after a square root, and traps. Sums are
# not reordered and no number is assumed finite, as -ffast-math would have it: the code adds
# in the order that it wants, and a NaN must reach the loss.
FLAGS = (
    *("-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast"),
    *("-DNDEBUG", "-shared", "-fPIC", "-w"),  # no warnings: those are of TensorFlow's headers
    # The code has loops of its own, and the Eigen that comes with TensorFlow 2.21 does not
    # compile where its packets of float16 are on (Sapphire Rapids and later).
    "-DEIGEN_DONT_VECTORIZE",
)


class UnavailableError(Exception):
    """The operations cannot be had on this machine; the message is one sentence with why."""


def load(name: str, check: Callable[[Any], None]) -> Any:
    """Return the operations of NAME.cc as functions, compiled if this is their first use.

    What was compiled is kept in the folder TFACCEL_CACHE, or else in `tfaccel/native` in
    XDG_CACHE_HOME or ~/.cache, under a name with all that it depends on.

    Args:
        name: of the file, without its ending.
        check: called with the operations, once in each process; raises where a result is
            not the known one.

    Raises:
        UnavailableError: there is no compiler, or it failed, or the check did.
    """
    outcome = _outcome(name, check)
    if isinstance(outcome, UnavailableError):
        raise UnavailableError(str(outcome))  # a new one, with a traceback of its own
    return outcome


@cache
def _outcome(name: str, check: Callable[[Any], None]) -> Any:
    # A failure is remembered too: a compiler takes as long to fail as to succeed.
    try:
        library = _library(name)
        # The first use may be in the middle of tracing a function: the check runs outside.
        with tf.init_scope(), tf.device("CPU:0"):
            ops = tf.load_op_library(str(library))
            check(ops)
    except UnavailableError as error:
        return error
    except Exception as error:
        why = str(error).strip().partition("\n")[0] or type(error).__name__
        return UnavailableError(f"The operations of {name}.cc do not work on this machine: {why}")
    return ops


def _library(name: str) -> Path:
    """Return the compiled file, from the cache or anew."""
    source = FOLDER / f"{name}.cc"
    compiler = _compiler()
    options = [*tf.sysconfig.get_compile_flags(), *FLAGS]
    files = (source, *sorted(FOLDER.glob("*.h")))
    facts = (tf.__version__, _version(compiler), _processor(), *compiler, *options)
    stem = f"{name}-{digest(*(file.read_bytes() for file in files), *map(str.encode, facts))}"
    with open_folder() as folder:
        if found := kept(folder, stem):
            return found
        aside = folder / f".building-{stem}-{os.getpid()}.so"
        try:
            # The source before the libraries: a linker takes from those what it needs by then.
            links = tf.sysconfig.get_link_flags()
            command = [*compiler, *options, str(source), *links, "-o", str(aside)]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            if run.returncode or not aside.exists():
                raise _failure(source, compiler, run, folder / f"{stem}.log")
            return keep(aside, folder, stem)
        finally:
            aside.unlink(missing_ok=True)


def _failure(
    source: Path, compiler: list[str], run: subprocess.CompletedProcess[str], log: Path
) -> UnavailableError:
    said = run.stdout + run.stderr
    log.write_text(f"{shlex.join(run.args)}\n{said}")
    lines = said.splitlines()
    first = next((line for line in lines if "error:" in line), None)
    why = first or next(iter(lines), f"it ended with code {run.returncode}")
    return UnavailableError(f"{compiler[0]} cannot compile {source.name}: {why} (all of it: {log})")


def _compiler() -> list[str]:
    if chosen := shlex.split(os.environ.get("CXX", "")):
        if shutil.which(chosen[0]):
            return chosen
        raise UnavailableError(f"CXX names the C++ compiler {chosen[0]!r}, which is not there.")
    for found in filter(shutil.which, ("g++", "clang++")):
        return [found]
    raise UnavailableError("There is no C++ compiler; install g++ or clang++, or set CXX to one.")


def _version(compiler: list[str]) -> str:
    # Its first line. A compiler that fails here fails to compile too, and is refused there.
    run = subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=False)
    return run.stdout.partition("\n")[0]


def _processor() -> str:
    # What -march=native depends on: the model and the flags of the first core.
    try:
        lines = Path("/proc/cpuinfo").read_text().partition("\n\n")[0].splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return "\n".join(line for line in lines if line.startswith(("model name", "flags")))
