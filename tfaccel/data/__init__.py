"""Data: sources one a file, and the pipeline from examples to batches."""

import os
from pathlib import Path

from tfaccel.job import Source


def open_source(name: str, *, size: int) -> Source:
    """Open a data set of images by its name or its folder.

    Args:
        name: `fashion_mnist`, or the path of a folder of images.
        size: side of the images, in pixels.

    Raises:
        UsageError: there is no such data set, or not enough in it to train on.
    """
    from tfaccel.data import bundled, folder

    if name == "fashion_mnist":
        return bundled.fashion_mnist(size=size)
    return folder.folder(Path(os.path.expanduser(name)), size=size)
