"""Does it pay to leave out the first halving of a MobileNet at 32 pixels?

    python -m benchmarks.strides

At 32 pixels the published net ends in a single cell. Leaving a halving out makes a step
dearer, so that fewer epochs fit into the same time: three first epochs of each, in turn, give its
step time, and both are then given the epochs that fit into the same number of seconds, with the
schedule that spans them. Writes recipes/mobilenet/results/strides.json.
"""

import argparse
import dataclasses
import statistics
from functools import partial
from typing import Any

import tfaccel
from benchmarks.storing import ROOT, store
from tfaccel.host import prepare
from tfaccel.models.mobilenet import mobilenet
from tfaccel.recipes.mobilenet import MobileNet, job


def planned(config: MobileNet, unstride: int) -> tfaccel.Job:
    """Return the recipe's job with another number of halvings left out."""
    build = partial(
        mobilenet,
        config.family,
        size=config.size,
        classes=10,
        width=config.width,
        unstride=unstride,
    )
    return dataclasses.replace(job(config), build=build)


def main() -> None:
    """Measure both, and store what each reached."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--seconds", type=float, default=85.0, help="of training, for each run")
    args = parser.parse_args()
    prepare()
    rows: list[dict[str, Any]] = []
    trials: dict[int, list[float]] = {0: [], 1: []}
    for _ in range(3):
        for unstride, found in trials.items():
            _, trial = tfaccel.train(planned(MobileNet(epochs=1), unstride))
            assert trial.step is not None
            found.append(1000 * trial.step.median_s)
    steps = planned(MobileNet(), 0).steps_per_epoch
    step_ms = {unstride: statistics.median(found) for unstride, found in trials.items()}
    epochs = {u: max(1, round(1000 * args.seconds / (steps * ms))) for u, ms in step_ms.items()}
    print("milliseconds a step:", step_ms, "epochs:", epochs, flush=True)
    for seed in args.seeds:
        for unstride, count in epochs.items():
            config = MobileNet(epochs=count, seed=seed)
            _, measured = tfaccel.train(planned(config, unstride), seed=seed)
            row = {
                "halvings_left_out": unstride,
                "seed": seed,
                "epochs": count,
                "test_accuracy": measured.metrics["test_accuracy"],
            }
            rows.append(row)
            print(row, flush=True)
    medians = {
        str(unstride): statistics.median(
            r["test_accuracy"] for r in rows if r["halvings_left_out"] == unstride
        )
        for unstride in epochs
    }
    print("median test accuracy by halvings left out:", medians)
    path = ROOT / "recipes" / "mobilenet" / "results" / "strides.json"
    store(path, medians=medians, seconds=args.seconds, step_ms=step_ms, runs=rows)


if __name__ == "__main__":
    main()
