"""`tfaccel compare`: its options, and what it prints and stores."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import pydantic
import tyro
from rich.console import Console

from tfaccel import techniques
from tfaccel.comparing.rounds import compare
from tfaccel.comparing.waterfall import waterfall
from tfaccel.config import Options
from tfaccel.errors import UsageError
from tfaccel.files import write_aside
from tfaccel.host import Host, prepare
from tfaccel.job import Job
from tfaccel.measure.measurement import plain
from tfaccel.measure.trial import Comparison
from tfaccel.report.comparison import comparison_table, to_json

UNITS = {"s": 1, "m": 60, "h": 3600, "": 1}


class CompareOptions(Options):
    """Measure plans side by side on a recipe. The recipe's own options may follow."""

    plans: tuple[str, ...] = pydantic.Field(
        (),
        description="plans, each techniques joined by +; the first is the base; "
        "by default none and each technique that can run here",
    )
    waterfall: bool = pydantic.Field(
        False, description="techniques alone, then added one at a time, then each left out"
    )
    budget: str = pydantic.Field(
        "5m", pattern=r"^\d+(\.\d+)?[smh]?$", description="time for everything, such as 90s or 5m"
    )
    json_file: Annotated[Path | None, tyro.conf.arg(name="json")] = pydantic.Field(
        None, description="write everything measured to this file"
    )
    fail_if_slower: bool = pydantic.Field(
        False, description="exit with code 3 if a plan is slower than the first, or fails"
    )

    @property
    def budget_s(self) -> float:
        """Return the time budget in seconds."""
        number, unit = re.fullmatch(r"([\d.]+)([smh]?)", self.budget).groups()  # type: ignore[union-attr]
        return float(number) * UNITS[unit]


def compare_and_print(options: CompareOptions, make_job: Callable[[], Job], name: str) -> int:
    """Measure, print the tables, and store them; return the exit code."""
    prepare()
    host, console = Host.here(), Console(highlight=False)
    kinds = [
        technique
        for n in techniques.names()
        if not (technique := techniques.find(n)()).unavailable(host)
    ]
    console.print(f"machine  {host}")
    console.print(f"work     {name}, up to {options.budget_s:.0f} s of measuring\n")
    with console.status("") as status:

        def watch(what: str, left_s: float | None) -> None:
            text = what if left_s is None else f"{what} (at most {left_s:.0f} s left)"
            if console.is_terminal:
                status.update(text)
            else:
                console.print(text)

        if options.waterfall:
            if options.plans:
                raise UsageError("--waterfall chooses the plans itself; leave --plans out.")
            fall = waterfall(make_job, kinds, budget_s=options.budget_s, watch=watch)
            found = {"each technique alone": fall.alone, "together": fall.together}
        else:
            words = options.plans or ("none", *(kind.name() for kind in kinds))
            plans = [techniques.parse_plan(word.split("+")) for word in words]
            for plan in plans:
                plan.require(host)
            found = {"": compare(make_job, plans, budget_s=options.budget_s, watch=watch)}
    comparisons = {title: one for title, one in found.items() if one is not None}
    for title, one in comparisons.items():
        console.print(comparison_table(one, title))
        console.print()
    if not all(one.is_complete for one in comparisons.values()):
        console.print("Stopped by Ctrl-C; what was measured stands.")
    if options.json_file:
        stored = {
            "work": name,
            "host": plain(host),
            "comparisons": {title: to_json(one) for title, one in comparisons.items()},
        }
        with write_aside(options.json_file) as aside:
            aside.write_text(json.dumps(stored, indent=1) + "\n")
    return _code(options, list(comparisons.values()))


def _code(options: CompareOptions, comparisons: list[Comparison]) -> int:
    if not all(one.is_complete for one in comparisons):
        return 130
    bad = [
        row
        for one in comparisons
        for row in one.rows
        if row.failure or ((speed := one.speed(row)) and speed.verdict == "slower")
    ]
    return 3 if options.fail_if_slower and bad else 0
