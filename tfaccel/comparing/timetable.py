"""How many rounds there will be, how long they may take, and who is told."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence

LEAST_ROUNDS, MOST_ROUNDS = 4, 12
Watch = Callable[[str, float | None, float], None]  # what now, seconds left: least and most


class Timetable:
    """Counts rounds within a time budget, and foretells the rest from the trials so far."""

    def __init__(self, budget_s: float, watch: Watch) -> None:
        """Begin to count.

        Args:
            budget_s: seconds for everything; two rounds are made in any case.
            watch: told what is measured next, and the least and most seconds left.
        """
        self.end_s = time.monotonic() + budget_s
        self._watch = watch
        self._places: Sequence[int] = ()  # that take part in the rounds to come
        self._trial_s: dict[int, float] = {}  # the share of each place in its last round
        self._index = 0

    def warm_up(self, name: str) -> None:
        """Tell of the trial that is not kept."""
        self._watch(f"warming up: {name}", None, self._left_s())

    def rounds(self) -> Iterator[int]:
        """Count rounds for as long as another one is likely to fit."""
        for self._index in range(MOST_ROUNDS):
            round_s = sum(self._trial_s.get(place, 0.0) for place in self._places)
            if self._index >= 2 and round_s > self._left_s():
                return
            yield self._index

    def keep(self, places: Sequence[int]) -> None:
        """Foretell with these plans only; the others need no more rounds."""
        self._places = places

    @contextlib.contextmanager
    def group(self, index: int, places: Sequence[int]) -> Iterator[Callable[[str], None]]:
        """Time some trials; give the function to be told of each."""
        prefix = f"round {index + 1} of {LEAST_ROUNDS} to {MOST_ROUNDS}: "
        begin_s = time.monotonic()

        def tell(what: str) -> None:
            gone_s = time.monotonic() - begin_s
            self._watch(prefix + what, self._least_s(places, gone_s), self._left_s())

        yield tell
        for place in places:
            self._trial_s[place] = (time.monotonic() - begin_s) / len(places)

    def _left_s(self) -> float:
        return max(0.0, self.end_s - time.monotonic())

    def _least_s(self, now: Sequence[int], gone_s: float) -> float | None:
        """Return the seconds to the end of the least rounds; None in the first one."""
        if not self._places:
            return None
        rest = [place for place in self._places if place >= max(now)] + [*now]
        later = max(0, LEAST_ROUNDS - 1 - self._index) * [*self._places]
        all_s = sum(self._trial_s[place] for place in [*set(rest), *later])
        return max(0.0, all_s - gone_s)
