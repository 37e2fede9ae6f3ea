"""The table at the end of a run."""

from rich.table import Table

from tfaccel.measure.measurement import Measurement

NAMES = {
    "test_accuracy": "test accuracy",
    "test_loss": "test loss",
    "val_accuracy": "validation accuracy",
    "val_loss": "validation loss",
}


def summary(measurement: Measurement, *, startup_s: float, total_s: float) -> Table:
    """Return what a run reached and where its time went.

    Args:
        measurement: of the run.
        startup_s: from the start of the process to the call of `train`.
        total_s: from the start of the process until now.
    """
    m = measurement
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(style="dim")
    for name, value in m.metrics.items():
        shown = f"{value:.2%}" if "acc" in name else f"{value:.3f}"
        note = "the set has no test images" if name == "val_accuracy" else ""
        table.add_row(NAMES.get(name, name.replace("_", " ")), shown, note)
    if m.step and m.examples_per_s:
        low, high = m.batch_size / m.step.high_s, m.batch_size / m.step.low_s
        spread = f"median; half of the time between {low:,.0f} and {high:,.0f}"
        table.add_row("examples per second", f"{m.examples_per_s:,.0f}", spread)
    spent = {
        "start-up": (startup_s + m.setup_s, "imports, data, building the model"),
        "first step": (m.first_step_s, "tracing and compiling"),
        "training": (m.training_s, "1 epoch" if len(m.epochs) == 1 else f"{len(m.epochs)} epochs"),
        "evaluation": (m.evaluation_s, "validation and test"),
    }
    rest_s = total_s - sum(seconds for seconds, _ in spent.values())
    spent |= {"the rest": (rest_s, "profile, checkpoints, records"), "total": (total_s, "")}
    for name, (seconds, note) in spent.items():
        table.add_row(name, f"{seconds:.1f} s", note)
    return table
