"""A comparison of plans as a table, and as JSON."""

from typing import Any

from rich.table import Table

from tfaccel.measure.measurement import plain
from tfaccel.measure.ratio import Ratio
from tfaccel.measure.trial import Comparison, Row

STYLES = {"faster": "green", "slower": "red", "no difference": "dim"}


def comparison_table(comparison: Comparison, title: str) -> Table:
    """Return a line a plan: its step, how it compares with the first, and what it costs."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    table.add_column("plan", overflow="fold")
    for name in ("step", "examples/s", "speed", "first step", "repaid after", "memory", "loss"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for row in comparison.rows:
        table.add_row(*_cells(comparison, row))
    return table


def _cells(comparison: Comparison, row: Row) -> list[str]:
    if not row.trials:
        return [row.plan, *[""] * 7, f"[red]failed: {row.failure or 'not measured'}"]
    base, speed = comparison.rows[0], comparison.speed(row)
    is_base = row is base
    return [
        row.plan,
        f"{1000 * row.median('step_s'):.1f} ms",
        f"{row.median('examples_per_s'):,.0f}",
        "1" if is_base else _interval(speed),
        f"{row.median('first_step_s'):.1f} s",
        "" if is_base else _repaid(comparison, row),
        f"{row.median('peak_bytes') / 2**20:,.0f} MiB",
        f"{row.median('loss'):.3f}",
        "base" if is_base else _verdict(comparison, row, speed),
    ]


def _interval(speed: Ratio | None) -> str:
    return f"{speed.value:.2f} ({speed.low:.2f} to {speed.high:.2f})" if speed else ""


def _verdict(comparison: Comparison, row: Row, speed: Ratio | None) -> str:
    words = [f"[{STYLES[speed.verdict]}]{speed.verdict}[/]" if speed else "measured once"]
    if row.failure:
        words.append(f"[red]then failed: {row.failure}[/]")
    if comparison.learns_otherwise(row):
        words.append("[yellow]learns otherwise[/]")
    if disturbed := sum(trial.is_disturbed for trial in row.trials.values()):
        words.append(f"[yellow]{disturbed} of {len(row.trials)} disturbed[/]")
    return ", ".join(words)


def _repaid(comparison: Comparison, row: Row) -> str:
    steps = comparison.repaid_after(row)
    return "never" if steps is None else f"{steps:,} steps"


def to_json(comparison: Comparison) -> dict[str, Any]:
    """Return everything measured, and what follows from it."""
    rows = []
    for row in comparison.rows:
        speed = comparison.speed(row) if row is not comparison.rows[0] else None
        rows.append(
            {
                "plan": row.plan,
                "failure": row.failure,
                "speed": plain(speed) if speed else None,
                "verdict": speed.verdict if speed else None,
                "learns_otherwise": comparison.learns_otherwise(row),
                "repaid_after_steps": comparison.repaid_after(row),
                "trials": plain(row.trials),
            }
        )
    return {
        "steps_per_trial": comparison.steps,
        "is_complete": comparison.is_complete,
        "rows": rows,
    }
