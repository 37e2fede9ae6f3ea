"""Split examples into parts that have the same classes in the same shares."""

import numpy as np

SEED = 0  # not the run's: runs of different seeds must be judged on the same images


def split(labels: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Choose a share of every class, the same on each call.

    Args:
        labels: [count] integers.
        share: of each class to choose; at least one of a class that has three or more.

    Returns:
        The numbers of the examples left, and of those chosen, each in rising order.
    """
    random = np.random.default_rng(SEED)
    chosen = []
    for label in np.unique(labels):
        members = random.permutation(np.flatnonzero(labels == label))
        least = 1 if len(members) >= 3 else 0
        chosen.append(members[: max(least, round(share * len(members)))])
    taken = np.sort(np.concatenate(chosen))
    return np.setdiff1d(np.arange(len(labels)), taken), taken
