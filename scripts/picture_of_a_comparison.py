"""Draw a stored comparison: how many times as fast as the first plan each one is.

python scripts/picture_of_a_comparison.py STORED.json PICTURE.svg
"""

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot

COLOURS = {
    "faster": "#2a7d4f",
    "slower": "#b3403a",
    "missed": "#b3403a",
    "no difference": "#8a8a8a",
    None: "#333333",
}


def main(stored: Path, picture: Path) -> None:
    """Write one panel a comparison, as an SVG of the same bytes each time."""
    mpl.rcParams.update({"svg.hashsalt": "tfaccel", "font.size": 9})
    found = json.loads(stored.read_text())
    comparisons = found["comparisons"]
    heights = [len(one["rows"]) + 1 for one in comparisons.values()]
    figure, axes = pyplot.subplots(
        len(comparisons),
        squeeze=False,
        sharex=True,
        height_ratios=heights,
        figsize=(8, 0.42 * sum(heights) + 0.6),
        layout="constrained",
    )
    for axis, (title, one) in zip(axes[:, 0], comparisons.items(), strict=True):
        for place, row in enumerate(one["rows"]):
            if row["failure"]:
                axis.text(0, place, f"  {row['failure']}", va="center", style="italic")
                continue
            speed = row["speed"] or {"value": 1.0, "low": 1.0, "high": 1.0}
            reach = [[speed["value"] - speed["low"]], [speed["high"] - speed["value"]]]
            axis.barh(place, speed["value"], xerr=reach, color=COLOURS[row["verdict"]], capsize=3)
            words = row["verdict"] or "base"
            axis.text(speed["high"], place, f"  {speed['value']:.2f}  {words}", va="center")
        axis.set_yticks(range(len(one["rows"])), [_label(row) for row in one["rows"]])
        axis.invert_yaxis()
        axis.axvline(1, color="black", linewidth=0.8)
        axis.set_title(title, loc="left", fontweight="bold")
        axis.spines[["top", "right"]].set_visible(False)
        axis.margins(x=0.2)
    host = found["host"]
    where = f"{found['work']}; {host['cpu']}, {host['cores']} cores"
    axes[-1, 0].set_xlabel(f"times as fast as the first plan (95 % interval)\n{where}")
    figure.savefig(picture, metadata={"Date": None})


def _label(row: dict[str, Any]) -> str:
    label: str = row["note"] or row["plan"]
    return "plain Keras" if label == "none" else label


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
