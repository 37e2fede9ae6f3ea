"""Decode every image once before the run: the broken ones are named, not met later."""

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
import tensorflow as tf

from tfaccel.data.arrays import Arrays
from tfaccel.data.images import Images
from tfaccel.data.tuning import untuned
from tfaccel.errors import UsageError
from tfaccel.host import cores, memory_bytes
from tfaccel.job import Examples, Source

T = TypeVar("T")
Track = Callable[[Iterable[T], int], Iterable[T]]  # shows progress over so many items

BATCH = 64
MOST_BROKEN_SHARE = 0.01
MOST_EXPLAINED = 100  # broken images of a split whose fault is looked up
MEMORY_SHARE = 0.25  # of the machine's memory that decoded images may take


def audit(source: Source, track: Track[np.ndarray]) -> tuple[Source, tuple[str, ...]]:
    """Leave broken images out, and keep the decoded ones in memory where they fit.

    Args:
        source: what to look through; splits that hold no encoded images stay as they are.
        track: wraps the images as they are decoded, to show progress.

    Returns:
        The source as it should be trained on, and the broken images with their faults.

    Raises:
        UsageError: more than one image in a hundred is broken.
    """
    names = ("train", "validation", "test")
    splits = {n: s for n in names if isinstance(s := getattr(source, n), Images)}
    count = sum(images.count for images in splits.values())
    pixels = sum(images.count * images.size**2 * 3 for images in splits.values())
    keep = pixels <= MEMORY_SHARE * memory_bytes()
    broken: list[str] = []
    sound: dict[str, Any] = {}
    for name, images in splits.items():
        sound[name], faults = _sound(images, keep, track)
        broken += faults
    if len(broken) > MOST_BROKEN_SHARE * count:
        raise UsageError(
            f"{len(broken)} of {count} images of {source.name} are broken, more than 1 %; "
            "mend or remove them:\n  " + "\n  ".join(broken)
        )
    for name, examples in sound.items():
        if not examples.count:
            raise UsageError(f"{source.name} has no sound image in its {name} split.")
    return dataclasses.replace(source, **sound), tuple(broken)


def _sound(images: Images, keep: bool, track: Track[np.ndarray]) -> tuple[Examples, list[str]]:
    """Decode all; return the sound images, and what is wrong with each other one."""
    shape = (images.count, images.size, images.size, 3)
    decoded = np.empty(shape if keep else (0,), np.uint8)
    is_sound = np.zeros(images.count, bool)
    # A place for each image stays with its number, since the broken ones fall out.
    numbers = tf.data.Dataset.range(images.count).map(
        lambda i: (i, images.image(i)), cores(), deterministic=False
    )
    batches = untuned(numbers.ignore_errors(log_warning=False).batch(BATCH))
    for index, pixels in track(batches.as_numpy_iterator(), -(-images.count // BATCH)):
        is_sound[index] = True
        if keep:
            decoded[index] = pixels
    good = np.flatnonzero(is_sound)
    broken = [int(i) for i in np.flatnonzero(~is_sound)]
    faults = [f"{images.names[i]}: {_fault(images, i)}" for i in broken[:MOST_EXPLAINED]]
    faults += [f"{images.names[i]}: broken" for i in broken[MOST_EXPLAINED:]]
    if not keep:
        return images.subset(good), faults
    if len(good) < images.count:
        decoded = decoded[good]
    return Arrays(decoded, images.labels[good], classes=images.classes), faults


def _fault(images: Images, index: int) -> str:
    """Decode a broken image once more, to hear why it is."""
    try:
        if not len(images.load(tf.constant(index, tf.int64)).numpy()):
            return "the file is empty"
        images.image(tf.constant(index, tf.int64))
    except tf.errors.NotFoundError:
        return "there is no such file"
    except (tf.errors.OpError, ValueError) as error:
        text = str(error).splitlines()[0].partition(" [Op:")[0]
        return text.partition("}} ")[2] or text  # without the operation's name
    return "it could not be read the first time"
