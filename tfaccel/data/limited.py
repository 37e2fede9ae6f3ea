"""A number of steps of a source, for measurements that must be equal work."""

import dataclasses

import tensorflow as tf

from tfaccel.job import Examples, Job, Source


@dataclasses.dataclass(frozen=True)
class FirstExamples:
    """As many training examples as said, taken from as many epochs as that needs."""

    inner: Examples
    count: int

    def ordered(self, batch_size: int) -> tf.data.Dataset:
        """Return every example of the inner source once."""
        return self.inner.ordered(batch_size)

    def shuffled(self, batch_size: int, *, seed: int, epochs: int) -> tf.data.Dataset:
        """Return `epochs * (count // batch_size)` batches of the inner source."""
        steps = epochs * (self.count // batch_size)
        inner_epochs = -(-steps // (self.inner.count // batch_size))
        return self.inner.shuffled(batch_size, seed=seed, epochs=inner_epochs).take(steps)


def limited(job: Job, steps: int) -> Job:
    """Return the job with one epoch of so many steps, and neither validation nor test."""
    train = FirstExamples(job.source.train, steps * job.batch_size)
    source = Source(
        name=job.source.name,
        classes=job.source.classes,
        train=train,
        validation=None,
        test=None,
    )
    return dataclasses.replace(job, source=source, epochs=1)
