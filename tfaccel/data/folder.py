"""A folder of images with one subfolder a class."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import tensorflow as tf

from tfaccel.data.images import Images
from tfaccel.data.split import split
from tfaccel.errors import UsageError
from tfaccel.job import Source

PARTS = {"train": "train", "val": "val", "validation": "val", "valid": "val", "test": "test"}
KINDS = ("jpg", "jpeg", "png", "gif", "bmp", "webp")
ENDINGS = {f".{kind}" for kind in KINDS}
HELD_OUT_SHARE = 0.1


def folder(root: Path, *, size: int) -> Source:
    """Return the images under a folder, in their splits.

    `root` holds one folder a class, or the folders `train` and, optionally, `val` and
    `test`, each of which holds one folder a class. What is not given is taken from the
    training images, a tenth for each, the same on every run; beside a given `val`, no
    `test` is taken, and the figures of `val` are final.

    Args:
        root: the folder.
        size: side of the images, in pixels.

    Raises:
        UsageError: there is no such folder, or not enough in it to train on.
    """
    if not root.exists():
        raise UsageError(f"There is no data set and no folder {str(root)!r}; see --data.")
    if not root.is_dir():
        raise UsageError(f"{root} is a file; --data takes a folder with one subfolder a class.")
    parts = _parts(root)
    classes = _subfolders(parts["train"])
    if not classes:
        raise UsageError(f"{parts['train']} has no subfolders; --data takes one subfolder a class.")
    if len(classes) == 1:
        raise UsageError(
            f"{parts['train']} holds one class only, {classes[0]!r}; a classifier needs two."
        )
    found = {name: _read(path, classes, size) for name, path in parts.items()}
    if empty := [classes[i] for i in range(len(classes)) if i not in found["train"].labels]:
        raise UsageError(
            f"The class folder {parts['train'] / empty[0]} has no image ({', '.join(KINDS)})."
        )
    return _source(root, classes, found)


def _parts(root: Path) -> dict[str, Path]:
    """Return the folder of each given part: train, and optionally val and test."""
    found = {part: root / name for name, part in PARTS.items() if (root / name).is_dir()}
    if not found:
        return {"train": root}
    if "train" not in found:
        given = ", ".join(sorted(path.name for path in found.values()))
        raise UsageError(f"{root} has {given} but no train; put the training images into train.")
    if other := sorted(set(_subfolders(root)) - set(PARTS)):
        raise UsageError(f"{root} has {other[0]} beside train; only val and test may stand there.")
    return found


def _source(root: Path, classes: Sequence[str], found: dict[str, Images]) -> Source:
    train, validation, test = found["train"], found.get("val"), found.get("test")
    if validation is None and test is None:
        train, test = _take(train, HELD_OUT_SHARE, root)
        # A ninth of what is left is a tenth of all.
        train, validation = _take(train, HELD_OUT_SHARE / (1 - HELD_OUT_SHARE), root)
    elif validation is None:
        train, validation = _take(train, HELD_OUT_SHARE, root)
    return Source(
        name=str(root), classes=tuple(classes), train=train, validation=validation, test=test
    )


def _take(images: Images, share: float, root: Path) -> tuple[Images, Images]:
    rest, taken = split(images.labels, share)
    if not len(taken):
        raise UsageError(
            f"{root} has too few images to hold some out for validation and test; "
            "it needs four of one class at least."
        )
    return images.subset(rest), images.subset(taken)


def _read(part: Path, classes: Sequence[str], size: int) -> Images:
    if unknown := sorted(set(_subfolders(part)) - set(classes)):
        raise UsageError(f"{part} has the class {unknown[0]!r}, which the training images lack.")
    files: list[str] = []
    labels: list[int] = []
    for label, name in enumerate(classes):
        of_class = _images(part / name)
        files += of_class
        labels += [label] * len(of_class)
    if not files:
        raise UsageError(f"{part} has no image ({', '.join(KINDS)}).")
    paths = tf.constant([os.fsencode(file) for file in files])
    return Images(
        names=files,
        labels=np.asarray(labels, np.int64),
        classes=len(classes),
        size=size,
        load=lambda i: tf.io.read_file(tf.gather(paths, i)),
    )


def _subfolders(path: Path) -> list[str]:
    return sorted(p.name for p in path.iterdir() if p.is_dir() and not p.name.startswith("."))


def _may_be_read(path: str) -> bool:
    """Return whether a path is a file, or a dangling link, which is named as broken later."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return True


def _refuse(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):  # a part may lack a class
        raise error


def _images(path: Path) -> list[str]:
    found = []
    for folder, inner, files in os.walk(path, onerror=_refuse):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        found += [
            os.path.join(folder, name)
            for name in sorted(files)
            if not name.startswith(".")
            and os.path.splitext(name)[1].lower() in ENDINGS
            and _may_be_read(os.path.join(folder, name))
        ]
    return found
