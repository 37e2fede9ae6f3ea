"""Run a recipe once for each seed, in fresh processes, and store what was reached.

    python -m benchmarks.recipe mobilenet --seeds 0 1 2 --name default -- --epochs 9

Time is wall clock from the command to its end, start-up included. What follows `--` goes
to the recipe. Writes recipes/RECIPE/results/NAME.json.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.storing import ROOT, store


def measure(recipe: str, seed: int, options: list[str]) -> dict[str, Any]:
    """Run the recipe once; return its wall clock, the load before it, and its measurement."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        words = [*options, "--seed", str(seed), "--out", str(out), "--quiet"]
        load = os.getloadavg()[0]
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-m", f"tfaccel.recipes.{recipe}", *words], check=True)
        wall_s = time.perf_counter() - begin
        measurement = json.loads((out / "measurement.json").read_text())
    return {"seed": seed, "wall_s": round(wall_s, 1), "load_before": load, **measurement}


def main() -> None:
    """Measure, print a line a run, and store all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipe")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--name", default="default", help="of the results file")
    words = sys.argv[1:]
    split = words.index("--") if "--" in words else len(words)
    args, options = parser.parse_args(words[:split]), words[split + 1 :]
    runs = []
    for seed in args.seeds:
        runs.append(run := measure(args.recipe, seed, options))
        print(f"seed {seed}: {run['wall_s']} s, {run['metrics']}", flush=True)
    accuracies = [run["metrics"]["test_accuracy"] for run in runs]
    summary = {
        "command": " ".join(["python -m", f"tfaccel.recipes.{args.recipe}", *options]),
        "median_test_accuracy": statistics.median(accuracies),
        "lowest_test_accuracy": min(accuracies),
        "median_wall_s": statistics.median(run["wall_s"] for run in runs),
        "longest_wall_s": max(run["wall_s"] for run in runs),
        "median_examples_per_s": statistics.median(run["examples_per_s"] for run in runs),
        "runs": runs,
    }
    print({key: value for key, value in summary.items() if key != "runs"})
    store(ROOT / "recipes" / args.recipe / "results" / f"{args.name}.json", **summary)


if __name__ == "__main__":
    main()
