"""Sums over the last seconds: what happens now, of what happened."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping

SPAN = 10.0
"""Seconds that a rate looks back."""
_BUCKET = 0.5


class Recent:
    """Sums by key over the last ten seconds, in buckets of half a second. O(keys) memory and time per bucket, O(1) for
    what is added.

    Args:
        clock: seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._first: float | None = None
        self._buckets: deque[tuple[float, dict[Hashable, float]]] = deque()

    def add(self, amounts: Mapping[Hashable, float], over: float = 0) -> None:
        """Take what has just happened.

        Args:
            amounts: by key.
            over: seconds that it took; they count from the first time on.
        """
        now = self._clock()
        if self._first is None:
            self._first = now - over
        if not self._buckets or now - self._buckets[-1][0] >= _BUCKET:
            self._buckets.append((now, {}))
            self._forget(now)
        bucket = self._buckets[-1][1]
        for key, amount in amounts.items():
            bucket[key] = bucket.get(key, 0) + amount

    def per_second(self) -> dict[Hashable, float]:
        """What there was of each key per second: over the last ten seconds, or since the first time."""
        now = self._clock()
        self._forget(now)
        sums: dict[Hashable, float] = {}
        for _, bucket in self._buckets:
            for key, amount in bucket.items():
                sums[key] = sums.get(key, 0) + amount
        span = min(SPAN, max(now - (now if self._first is None else self._first), _BUCKET))
        return {key: amount / span for key, amount in sums.items()}

    def _forget(self, now: float) -> None:
        while self._buckets and now - self._buckets[0][0] > SPAN:
            self._buckets.popleft()
