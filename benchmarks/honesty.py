"""Does `compare` lie? The same plan twice, many times; and planted slowness of known size.

    python -m benchmarks.honesty

Writes benchmarks/results/honesty.json.
"""

import argparse
import dataclasses
import json
from pathlib import Path
from typing import Any

import tfaccel
from benchmarks.planted import Planted, make_job
from tfaccel.host import prepare
from tfaccel.measure.measurement import plain
from tfaccel.plan import Plan

RESULTS = Path(__file__).parent / "results" / "honesty.json"


def main() -> None:
    """Measure, print a line a comparison, and store all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=20, help="of the same plan twice")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds for each comparison")
    args = parser.parse_args()
    prepare()
    same: list[dict[str, Any]] = []
    for run in range(args.runs):
        found = tfaccel.compare(make_job, [Plan(), Plan()], budget_s=args.budget)
        speed = found.speed(found.rows[1])
        assert speed is not None
        same.append({**dataclasses.asdict(speed), "verdict": speed.verdict})
        print(f"the same plan twice, run {run + 1}: {same[-1]}", flush=True)
    called = sum(one["verdict"] != "no difference" for one in same)
    print(f"{called} of {len(same)} called a difference; 95 % confidence allows 1 in 20")
    planted = []
    base_s = 0.0
    for share in (0.05, 0.2, 1.0):
        if not base_s:
            probe = tfaccel.compare(make_job, [Plan(), Plan()], budget_s=0.0)
            base_s = probe.rows[0].median("step_s")
        slow = Plan((Planted(seconds=share * base_s),))
        found = tfaccel.compare(make_job, [Plan(), slow], budget_s=2 * args.budget)
        speed = found.speed(found.rows[1])
        assert speed is not None
        row = {"planted": 1 / (1 + share), **dataclasses.asdict(speed), "verdict": speed.verdict}
        planted.append({"share": share, **row})
        print(f"planted {share:.0%} of a step: {planted[-1]}", flush=True)
    RESULTS.parent.mkdir(exist_ok=True)
    stored = {
        "host": plain(tfaccel.Host.here()),
        "same_plan_called_different": called,
        "same_plan": same,
        "planted": planted,
    }
    RESULTS.write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
