"""How many records or timers native code takes at a time, where what their keys have is brought from a file first."""

from __future__ import annotations

_FIRST, _LEAST, _MOST = 64, 16, 4_096
_PART = 4  # one part in so many of the memory is for the keys of one turn


class Turns:
    """The size of the next turn: few at first, then twice as many each time, as long as the keys fit into memory."""

    def __init__(self) -> None:
        self.most: int = min(_FIRST, _MOST)

    def adapt(self, mean: int, memory: int) -> None:
        """A turn is over. A key takes ``mean`` bytes, as far as that is known, and all of them may take ``memory``."""
        self.most = max(min(_LEAST, _MOST), min(2 * self.most, _MOST, memory // (_PART * max(mean, 1))))
