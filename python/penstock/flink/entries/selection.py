"""The states to read, and what becomes of those that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Collection

from penstock.errors import FlinkSavepointError


class Selection:
    """The states to read, by name; None for all."""

    def __init__(self, states: Collection[str] | None, refused: Callable[[FlinkSavepointError], None] | None) -> None:
        self.states = None if states is None else set(states)
        self._refused = refused
        self._messages = set[str]()

    def has(self, state: str) -> bool:
        """Whether a state is wanted."""
        return self.states is None or state in self.states

    def refuse(self, error: FlinkSavepointError) -> None:
        """Report something that cannot be read, once; raise it if there is nothing to report it to."""
        if self._refused is None:
            raise error
        if str(error) not in self._messages:
            self._messages.add(str(error))
            self._refused(error)
