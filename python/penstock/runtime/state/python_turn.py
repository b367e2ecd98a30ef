"""Which records Python takes while native code does not have the state of an operator.

Moving the state is work for every entry. So Python keeps it for a number of records: as many as there were entries when
native code gave the state up, and twice as many after each time that the state did not fit."""

from __future__ import annotations

_FEW_RECORDS = 2_000  # that Python takes at least when the state did not fit
_MOST_RECORDS = 1 << 20  # and at the most


class PythonTurn:
    """The number of records that Python still takes before native code tries to take the state over."""

    def __init__(self) -> None:
        self._left = 0
        self._after_misfit = _FEW_RECORDS

    def __bool__(self) -> bool:
        return self._left > 0

    def begin(self, records: int) -> None:
        """Native code has given the state up: Python takes so many records."""
        self._left = records

    def take(self, most: int) -> int:
        """How many of the next records are Python's, at the most so many."""
        taken = min(self._left, most)
        self._left -= taken
        return taken

    def note_fit(self, fits: bool) -> None:
        """Native code has tried to take the state over."""
        if fits:
            self._after_misfit = _FEW_RECORDS
        else:
            self._left = self._after_misfit
            self._after_misfit = min(2 * self._after_misfit, _MOST_RECORDS)
