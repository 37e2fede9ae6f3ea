"""Techniques, one a file: the folder is the list, and a file's name is the technique's."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterable

from tfaccel.errors import UsageError, unknown
from tfaccel.plan import Plan, Technique


def names() -> list[str]:
    """Return the name of every technique."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def find(name: str) -> type[Technique]:
    """Return the technique of that name.

    Raises:
        UsageError: there is none; the message has the nearest name, or all of them.
    """
    if name not in names():
        raise unknown("technique", name, names())
    module = importlib.import_module(f"{__name__}.{name}")
    (kind,) = (
        member
        for _, member in inspect.getmembers(module, inspect.isclass)
        if issubclass(member, Technique) and member.__module__ == module.__name__
    )
    return kind


def parse_plan(words: str | Iterable[str]) -> Plan:
    """Read a plan from words, each NAME or NAME:OPTION=VALUE,OPTION=VALUE.

    `none`, alone, is plain Keras.

    >>> str(parse_plan("steps_per_execution:steps=4 mixed_precision"))
    'steps_per_execution:steps=4 mixed_precision:dtype=bfloat16'

    Raises:
        UsageError: a technique or an option is unknown, or two cannot be joined.
    """
    words = words.split() if isinstance(words, str) else list(words)
    if "none" in words and len(words) > 1:
        raise UsageError("none is plain Keras and cannot be joined with other techniques.")
    return Plan(tuple(_parse_one(word) for word in words if word != "none"))


def _parse_one(word: str) -> Technique:
    name, _, rest = word.partition(":")
    kind = find(name)
    pairs = [item.partition("=") for item in rest.split(",") if item]
    for option, equals, _ in pairs:
        if not equals:
            raise UsageError(f"In {word!r}, {option!r} should read OPTION=VALUE.")
    return kind(**{option: value for option, _, value in pairs})
