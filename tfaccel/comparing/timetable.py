"""How many rounds there will be, how long they may take, and who is told."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence

LEAST_ROUNDS, MOST_ROUNDS = 4, 12
Watch = Callable[[str, float | None, float], None]  # what now, seconds left: least and most


class Timetable:
    """Counts rounds within a time budget, and foretells the rest from the trials so far."""

    def __init__(self, names: Sequence[str], budget_s: float, watch: Watch) -> None:
        """Begin to count.

        Args:
            names: of the plans, in their places.
            budget_s: seconds for everything; two rounds are made in any case.
            watch: told what is measured next, and the least and most seconds left.
        """
        self.end_s = time.monotonic() + budget_s
        self._names, self._watch = names, watch
        self._places: Sequence[int] = range(len(names))  # that still take part
        self._trial_s: dict[int, float] = {}  # the last trial of each place
        self._index = 0

    def warm_up(self) -> None:
        """Tell of the trial that is not kept."""
        self._watch(f"warming up: {self._names[0]}", None, self._left_s())

    def rounds(self) -> Iterator[int]:
        """Count rounds for as long as another one is likely to fit."""
        for self._index in range(MOST_ROUNDS):
            round_s = sum(self._trial_s.get(place, 0.0) for place in self._places)
            if self._index >= 2 and round_s > self._left_s():
                return
            yield self._index

    def keep(self, places: Sequence[int]) -> None:
        """Leave the other plans out of the rounds to come."""
        self._places = places

    @contextlib.contextmanager
    def trial(self, index: int, place: int) -> Iterator[None]:
        """Tell of a trial, and time it."""
        what = f"round {index + 1} of {LEAST_ROUNDS} to {MOST_ROUNDS}: {self._names[place]}"
        self._watch(what, self._least_s(place), self._left_s())
        begin_s = time.monotonic()
        yield
        self._trial_s[place] = time.monotonic() - begin_s

    def _left_s(self) -> float:
        return max(0.0, self.end_s - time.monotonic())

    def _least_s(self, now: int) -> float | None:
        """Return the seconds to the end of the least rounds; None before all have a time."""
        if any(place not in self._trial_s for place in self._places):
            return None
        rest = [place for place in self._places if place >= now]
        later = max(0, LEAST_ROUNDS - 1 - self._index) * [*self._places]
        return sum(self._trial_s[place] for place in [*rest, *later])
