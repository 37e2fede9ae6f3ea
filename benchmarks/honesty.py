"""Does `compare` lie? The same plan twice, many times; and planted slowness of known size.

    python -m benchmarks.honesty

Writes benchmarks/results/honesty.json.
"""

import argparse
import dataclasses
from typing import Any

import tfaccel
from benchmarks.planted import Planted, make_job
from benchmarks.storing import RESULTS, store
from tfaccel.host import prepare
from tfaccel.plan import Plan


def said(found: tfaccel.Comparison) -> dict[str, Any]:
    """Return what a comparison of two plans says, and how calm the machine was."""
    trials = [trial for row in found.rows for trial in row.trials.values()]
    speed = found.speed(found.rows[1])
    assert speed is not None
    return {
        **dataclasses.asdict(speed),
        "verdict": found.verdict(found.rows[1]),
        "rounds": len(found.rows[1].trials),
        "disturbed": sum(trial.is_disturbed for trial in trials),
        "base_step_s": found.rows[0].median("step_s"),
    }


def main() -> None:
    """Measure, print a line a comparison, and store all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=20, help="of the same plan twice")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds for each comparison")
    args = parser.parse_args()
    prepare()
    same: list[dict[str, Any]] = []
    planted: list[dict[str, Any]] = []

    def keep() -> None:
        """Store after each comparison: half an hour's work should not hang on its last minute."""
        store(
            RESULTS / "honesty.json",
            same_plan_called_different=sum(one["verdict"] != "no difference" for one in same),
            same_plan_runs=len(same),
            same_plan=same,
            planted=planted,
        )

    base_s = None
    for run in range(args.runs):
        found = tfaccel.compare(make_job, [Plan(), Plan()], budget_s=args.budget)
        base_s = found.rows[0].median("step_s")
        same.append(said(found))
        print(f"the same plan twice, run {run + 1}: {same[-1]}", flush=True)
        keep()
    for share in (0.05, 0.2, 1.0):
        assert base_s is not None
        slow = Plan((Planted(seconds=share * base_s),))
        found = tfaccel.compare(make_job, [Plan(), slow], budget_s=2 * args.budget)
        # Of the base as it was in this comparison, not in the one before.
        true_s = found.rows[0].median("step_s")
        row = {"planted_speed": true_s / (true_s + share * base_s), **said(found)}
        planted.append({"share": share, **row})
        print(f"planted {share:.0%} of a step: {planted[-1]}", flush=True)
        keep()
    called = sum(one["verdict"] != "no difference" for one in same)
    print(f"{called} of {len(same)} called a difference; 95 % confidence allows 1 in 20")


if __name__ == "__main__":
    main()
