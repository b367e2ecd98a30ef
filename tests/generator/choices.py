"""Where random programs and graphs take their choices from: Hypothesis, which can shrink them, or a seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Choices(Protocol):
    def number(self, low: int, high: int) -> int: ...
    def pick(self, options: Sequence[T]) -> T: ...
    def chance(self, percent: int) -> bool: ...
    def shuffled(self, items: Sequence[T]) -> list[T]: ...


class SeededChoices:
    """Choices of a ``random.Random``: the same for the same seed, on every machine."""

    def __init__(self, seed: int | random.Random) -> None:
        self._random = random.Random(seed) if isinstance(seed, int) else seed

    def number(self, low: int, high: int) -> int:
        return self._random.randint(low, high)

    def pick(self, options: Sequence[T]) -> T:
        return options[self._random.randrange(len(options))]

    def chance(self, percent: int) -> bool:
        return self._random.randrange(100) < percent

    def shuffled(self, items: Sequence[T]) -> list[T]:
        return self._random.sample(list(items), len(items))


class DrawnChoices:
    """Choices of Hypothesis; each shrinks to its first or smallest option, and to not happening."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self._draw = draw

    def number(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))

    def pick(self, options: Sequence[T]) -> T:
        return options[self._draw(st.integers(0, len(options) - 1))]

    def chance(self, percent: int) -> bool:
        return self._draw(st.integers(0, 99)) >= 100 - percent

    def shuffled(self, items: Sequence[T]) -> list[T]:
        return self._draw(st.permutations(list(items)))
