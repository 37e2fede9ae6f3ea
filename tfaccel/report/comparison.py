"""A comparison of plans as a table, and as JSON."""

from typing import Any

from rich.markup import escape
from rich.table import Table

from tfaccel.measure.measurement import plain
from tfaccel.measure.ratio import Ratio
from tfaccel.measure.trial import Comparison, Row

STYLES = {"faster": "green", "slower": "red", "missed": "red", "no difference": "dim"}
STEP_COLUMNS = (
    "step",
    "examples/s",
    "speed",
    "first step",
    "repaid after",
    "memory",
    "CPU",
    "loss",
)
TARGET_COLUMNS = ("time", "speed", "best", "first step", "memory", "CPU")


def comparison_table(comparison: Comparison, title: str) -> Table:
    """Return a line a plan: its step, how it compares with the first, and what it costs."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    table.add_column("plan", overflow="fold")
    columns = STEP_COLUMNS if comparison.target is None else TARGET_COLUMNS
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", overflow="fold", min_width=13)
    for row in comparison.rows:
        name = escape(row.note or row.plan)
        if row.trials:
            cells = _cells(comparison, row)
            table.add_row(name, *(cells[column] for column in columns), _verdict(comparison, row))
        else:
            failure = f"[red]failed: {escape(row.failure)}[/]" if row.failure else "not measured"
            table.add_row(name, *[""] * len(columns), failure)
    return table


def _cells(comparison: Comparison, row: Row) -> dict[str, str]:
    is_base = row is comparison.rows[0]
    reached = [t.target_s for t in row.trials.values() if t.target_s is not None]
    best = [t.best for t in row.trials.values() if t.best is not None]
    return {
        "step": f"{1000 * row.median('step_s'):.1f} ms",
        "time": f"{row.median('target_s'):.1f} s" if len(reached) == len(row.trials) else "",
        "best": f"{row.median('best'):.4g}" if best else "",
        "examples/s": f"{row.median('examples_per_s'):,.0f}",
        "speed": "1" if is_base else _interval(comparison.speed(row)),
        "first step": f"{row.median('first_step_s'):.1f} s",
        "repaid after": _repaid(comparison, row),
        "memory": f"{row.median('peak_bytes') / 2**20:,.0f} MiB",
        "CPU": f"{row.median('cpu_s'):,.0f} s",
        "loss": f"{row.median('loss'):.3f}",
    }


def _interval(speed: Ratio | None) -> str:
    return f"{speed.value:.2f} ({speed.low:.2f} to {speed.high:.2f})" if speed else ""


def _verdict(comparison: Comparison, row: Row) -> str:
    verdict, trials = comparison.verdict(row), row.trials.values()
    if row is comparison.rows[0]:
        words = ["base"]
    elif verdict == "missed":
        words = [f"[red]missed the target in {comparison.missed(row)} of {len(trials)}[/]"]
    else:
        words = [f"[{STYLES[verdict]}]{verdict}[/]" if verdict else "measured once"]
    if row.failure:
        words.append(f"[red]then failed: {escape(row.failure)}[/]")
    if comparison.learns_otherwise(row):
        words.append("[yellow]learns otherwise[/]")
    if disturbed := sum(trial.is_disturbed for trial in trials):
        words.append(f"[yellow]{disturbed} of {len(trials)} disturbed[/]")
    return ", ".join(words)


def _repaid(comparison: Comparison, row: Row) -> str:
    if comparison.verdict(row) != "faster":
        return ""
    steps = comparison.repaid_after(row)
    return "never" if steps is None else f"{steps:,} steps"


def to_json(comparison: Comparison) -> dict[str, Any]:
    """Return everything measured, and what follows from it."""
    rows = []
    for row in comparison.rows:
        is_base = row is comparison.rows[0]
        rows.append(
            {
                "plan": row.plan,
                "note": row.note,
                "failure": row.failure,
                "speed": None if is_base else plain(comparison.speed(row)),
                "verdict": None if is_base else comparison.verdict(row),
                "learns_otherwise": comparison.learns_otherwise(row),
                "repaid_after_steps": comparison.repaid_after(row),
                "trials": plain(row.trials),
            }
        )
    return {
        "steps_per_trial": comparison.steps,
        "target": comparison.target,
        "is_complete": comparison.is_complete,
        "rows": rows,
    }
