"""Learning rates as functions of the job that the techniques left."""

import dataclasses

import keras

from tfaccel.job import Job


@dataclasses.dataclass(frozen=True)
class Cosine:
    """A linear rise, then half a cosine down to zero, counted in updates.

    Loshchilov and Hutter, SGDR, https://arxiv.org/abs/1608.03983. The peak grows with
    the examples per update, as Goyal et al., Accurate, Large Minibatch SGD,
    https://arxiv.org/abs/1706.02677, found right for SGD.
    """

    peak: float  # at 256 examples per update
    warmup: float = 0.05  # share of the updates

    def __call__(self, job: Job) -> keras.optimizers.schedules.LearningRateSchedule:
        """Return the schedule over all updates of the job."""
        rise = max(round(self.warmup * job.updates), 1 if self.warmup else 0)
        peak = self.peak * job.examples_per_update / 256
        return keras.optimizers.schedules.CosineDecay(
            0.0 if rise else peak,
            decay_steps=max(1, job.updates - rise),
            warmup_target=peak if rise else None,
            warmup_steps=rise,
        )
