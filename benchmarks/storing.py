"""Results of a benchmark as a file beside the scripts, with the machine they were got on."""

import json
from pathlib import Path
from typing import Any

import tfaccel
from tfaccel.files import write_aside
from tfaccel.measure.measurement import plain

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"


def store(path: Path, **values: Any) -> None:
    """Write values as JSON, whole or not at all."""
    path.parent.mkdir(exist_ok=True)
    with write_aside(path) as aside:
        text = json.dumps(plain({"host": tfaccel.Host.here(), **values}), indent=1)
        aside.write_text(text + "\n")
    print("->", path)
