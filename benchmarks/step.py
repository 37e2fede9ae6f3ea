"""The training step of known models: plain Keras, the usual tips, ours, and PyTorch, in turn.

    python -m benchmarks.step
    python -m benchmarks.step --models mobilenet_v2:96:64 resnet50:224:32 --peers
    python -m benchmarks.step --quick

A model is NAME:SIZE:BATCH_SIZE. Everything of one model is measured in the same rounds, each
plan in fresh processes that take turns. Writes benchmarks/results/step.json, a model at a time,
so that a run can be stopped.
"""

import argparse
import json
from functools import partial

from benchmarks.peers import peers
from benchmarks.step_models import make_job
from benchmarks.storing import RESULTS, store
from tfaccel.comparing.rounds import compare
from tfaccel.errors import UsageError
from tfaccel.host import prepare
from tfaccel.measure.trial import Comparison
from tfaccel.report.comparison import to_json
from tfaccel.techniques import parse_plan

MODELS = (
    "mobilenet_v2:96:64",
    "mobilenet_v2:224:32",
    "mobilenet_v1:96:64",
    "mobilenet_v3_small:96:64",
    "mobilenet_v3_large:96:64",
    "efficientnet_v2_b0:96:64",
    "inception_v3:96:32",
    "encoder:128:32",
    "resnet50:224:16",
)
QUICK = ("mobilenet_v2:96:32",)
OURS = {
    "plain Keras": "none",
    "same numbers": "fused_norm depthwise",
    "best": "mixed_precision:dtype=bfloat16 fused_norm depthwise",
    "the usual tips": "mixed_precision:dtype=float16 xla",
}


def measure(model: str, *, with_peers: bool, tips: bool, budget_s: float) -> Comparison:
    """Compare the plans on one model; print a line each."""
    name, size, batch_size = model.split(":")
    words = {title: plan for title, plan in OURS.items() if tips or title != "the usual tips"}
    plans: list = [parse_plan(plan) for plan in words.values()]
    if with_peers:
        plans += peers(name, int(size), int(batch_size))
    print(f"{model}", flush=True)
    job = partial(make_job, name, int(size), int(batch_size))
    found = compare(job, plans, budget_s=budget_s)
    for row in found.rows:
        rate = f"{row.median('examples_per_s'):8.1f}/s" if row.trials else ""
        print(f"  {row.plan:55} {rate} {found.words(row)}", flush=True)
    return found


def main() -> None:
    """Measure each model, and store after each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--models", nargs="+", default=MODELS, help="NAME:SIZE:BATCH_SIZE")
    parser.add_argument("--peers", action="store_true", help="PyTorch too, where it is installed")
    parser.add_argument("--no-tips", action="store_true", help="leave XLA with float16 out")
    parser.add_argument("--quick", action="store_true", help="one model, two rounds")
    parser.add_argument("--budget", type=float, default=240.0, help="seconds for each model")
    parser.add_argument("--name", default="step", help="of the results file")
    args = parser.parse_args()
    prepare()
    path = RESULTS / f"{args.name}.json"
    models = json.loads(path.read_text())["models"] if path.exists() else {}
    for model in QUICK if args.quick else args.models:
        try:
            found = measure(
                model,
                with_peers=args.peers,
                tips=not args.no_tips,
                budget_s=1.0 if args.quick else args.budget,
            )
        except UsageError as error:
            print(f"  {error}")
            continue
        models[model] = to_json(found)
        if not args.quick:
            store(path, models=models)
        if not found.is_complete:
            break


if __name__ == "__main__":
    main()
