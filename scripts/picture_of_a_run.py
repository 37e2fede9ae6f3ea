"""Draw what a run printed, as the picture of the README.

python scripts/picture_of_a_run.py runs/mobilenet/DATE_TIME docs/run.svg
"""

import io
import sys
from pathlib import Path

from rich.console import Console


def main(run: Path, picture: Path) -> None:
    """Write the run's log as an SVG of a terminal."""
    console = Console(record=True, width=104, file=io.StringIO(), highlight=False)
    console.print(
        f"$ {(run / 'command.txt').read_text().partition(' --out')[0].strip()}", style="bold"
    )
    for line in (run / "log.txt").read_text().splitlines():
        console.print(line.rstrip(), markup=False)
    picture.parent.mkdir(exist_ok=True)
    console.save_svg(str(picture), title="tfaccel")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
