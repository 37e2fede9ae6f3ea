"""`tfaccel compare`: its options, and what it prints and stores."""

import json
import re
import sys
from collections.abc import Callable, Sequence
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
from tfaccel.plan import Plan, Technique
from tfaccel.report.comparison import comparison_table, to_json
from tfaccel.report.waiting import Waiting

UNITS = {"s": 1, "m": 60, "h": 3600, "": 1}
STEPS = "time of a step"


class CompareOptions(Options):
    """Measure plans side by side on a recipe. The recipe's own options may follow.

    Exit codes: 0, or 3 with --fail-if-slower where a plan is slower or failed; 2 for a
    mistake in what was given; 130 after Ctrl-C, which keeps what was measured.
    """

    plans: tuple[str, ...] = pydantic.Field(
        (),
        description="plans, each techniques joined by +; the first is the base; by default "
        "none, what --accelerate names, and each technique that can run here",
    )
    waterfall: bool = pydantic.Field(
        False, description="techniques alone, then added one at a time, then each left out"
    )
    check_accuracy: float | None = pydantic.Field(
        None,
        description="then train with each plan until the recipe's validation metric is here, "
        "and compare the times until then",
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


def compare_and_print(
    options: CompareOptions, make_job: Callable[[], Job], name: str, accelerate: Sequence[str]
) -> int:
    """Measure, print the tables, and store them; return the exit code.

    Args:
        options: of the comparison.
        make_job: returns the job, in each process.
        name: of the work, for the screen and the file.
        accelerate: the words of the plan that the recipe would train with.
    """
    if options.json_file and not options.json_file.resolve().parent.is_dir():
        raise UsageError(f"There is no folder {options.json_file.parent} for --json; make it.")
    prepare()
    host, console = Host.here(), Console(highlight=False)
    kinds = [
        technique
        for n in techniques.names()
        for technique in techniques.find(n).variants()
        if not technique.unavailable(host)
    ]
    console.print(f"machine  {host}", markup=False)
    console.print(f"work     {name}", markup=False)
    console.print(f"time     up to {options.budget_s:.0f} s, or two rounds if those take longer\n")
    found: dict[str, Comparison] = {}
    with Waiting(console) as watch:
        if options.waterfall:
            if options.plans or options.check_accuracy is not None:
                raise UsageError(
                    "--waterfall chooses the plans itself, and compares steps; leave --plans "
                    "and --check-accuracy out."
                )
            fall = waterfall(make_job, kinds, budget_s=options.budget_s, watch=watch)
            found["each technique alone"] = fall.alone
            if fall.together:
                found["together"] = fall.together
        else:
            plans = _plans(options.plans, accelerate, kinds)
            for plan in plans:
                plan.require(host)
            share = 1.0 if options.check_accuracy is None else 0.25
            found[STEPS] = compare(make_job, plans, budget_s=share * options.budget_s, watch=watch)
            if options.check_accuracy is not None and found[STEPS].is_complete:
                sound = [p for p, row in zip(plans, found[STEPS].rows, strict=True) if row.trials]
                found[f"time to {options.check_accuracy:g}"] = compare(
                    make_job,
                    sound,
                    target=options.check_accuracy,
                    budget_s=(1 - share) * options.budget_s,
                    watch=watch,
                )
    for title, one in found.items():
        console.print(comparison_table(one, title))
        console.print()
    if options.json_file:
        stored = {
            "work": name,
            "command": " ".join(["tfaccel", *sys.argv[1:]]),
            "host": plain(host),
            "comparisons": {title: to_json(one) for title, one in found.items()},
        }
        with write_aside(options.json_file) as aside:
            aside.write_text(json.dumps(stored, indent=1) + "\n")
    if not all(one.is_complete for one in found.values()):
        console.print("Stopped by Ctrl-C; what was measured stands.")
        return 130
    return 3 if options.fail_if_slower and _has_slower(found) else 0


def _plans(
    words: Sequence[str], accelerate: Sequence[str], kinds: Sequence[Technique]
) -> list[Plan]:
    """Return the plans to compare, in the order of the rows."""
    if words:
        return [techniques.parse_plan(word.split("+")) for word in words]
    own = techniques.parse_plan(accelerate)
    return list(dict.fromkeys([Plan(), own, *(Plan((kind,)) for kind in kinds)]))


def _has_slower(found: dict[str, Comparison]) -> bool:
    return any(
        row.failure or one.verdict(row) in ("slower", "missed")
        for one in found.values()
        for row in one.rows[1:]
    )
