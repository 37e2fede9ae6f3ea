"""PyTorch beside Keras: the same nets, one process, in its usual fast configurations.

Install `torch` for these rows; they are left out where it is not there.
"""

import dataclasses
import importlib.util
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tfaccel.files import write_aside
from tfaccel.host import cores
from tfaccel.job import Job
from tfaccel.measure.clock import WINDOW_S
from tfaccel.measure.trial import Trial, Work
from tfaccel.techniques.allocator import Allocator


@dataclasses.dataclass(frozen=True)
class Peer:
    """One configuration of PyTorch, measured where a plan would be."""

    model: str
    size: int
    batch_size: int
    channels_last: bool = False
    bfloat16: bool = False
    tcmalloc: bool = False

    def __str__(self) -> str:
        """Return its name in a table."""
        words = ["PyTorch"]
        words += ["channels_last"] if self.channels_last else []
        words += ["bfloat16"] if self.bfloat16 else []
        return " ".join(words + (["tcmalloc"] if self.tcmalloc else []))

    def environment(self) -> dict[str, str]:
        """Return the variables that the process needs."""
        return Allocator().environment() if self.tcmalloc else {}

    def measure(self, make_job: Callable[[], Job], plan: "Peer", work: Work, warm: Path) -> Trial:
        """Train for the steps of the work, in this process, and time windows of them."""
        import torch

        from benchmarks.torch_models import MODELS

        begin_s = time.perf_counter()
        torch.manual_seed(work.seed)
        torch.set_num_threads(cores())
        model: Any = MODELS[self.model]().train()
        x = torch.randn(self.batch_size, 3, self.size, self.size)
        y = torch.randint(0, 10, (self.batch_size,))
        if self.channels_last:
            model = model.to(memory_format=torch.channels_last)
            x = x.contiguous(memory_format=torch.channels_last)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        windows: list[tuple[float, float, int]] = []
        first_s, loss, since, steps = 0.0, torch.zeros(()), time.perf_counter(), 0
        for step in range(work.steps or 0):
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cpu", torch.bfloat16, enabled=self.bfloat16):
                loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            steps += 1
            now = time.perf_counter()
            if step == 0:
                first_s, since, steps = now - since, now, 0
            elif now - since >= WINDOW_S:
                windows.append((since, now - since, steps))
                if len(windows) == 1:
                    with write_aside(warm) as aside:
                        aside.write_text(str(windows[0][1] / windows[0][2]))
                since, steps = now, 0
        import resource

        return Trial(
            batch_size=self.batch_size,
            step_s=sorted(s / n for _, s, n in windows)[len(windows) // 2],
            first_step_s=first_s,
            peak_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            cpu_s=time.process_time(),
            wall_s=time.perf_counter() - begin_s,
            loss=float(loss),
            windows=windows,
        )


def peers(model: str, size: int, batch_size: int) -> list[Peer]:
    """Return the configurations to measure; none where PyTorch or the net is missing."""
    if importlib.util.find_spec("torch") is None:
        print("  PyTorch is not installed: its rows are left out")
        return []
    from benchmarks.torch_models import MODELS

    if model not in MODELS:
        return []
    one = Peer(model, size, batch_size)
    many = [
        one,
        dataclasses.replace(one, channels_last=True),
        dataclasses.replace(one, channels_last=True, bfloat16=True),
    ]
    if Allocator().environment():
        many += [dataclasses.replace(each, tcmalloc=True) for each in many[1:]]
    return many
