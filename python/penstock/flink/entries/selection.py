"""What is read of a savepoint, and what becomes of that which cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Collection

from penstock.errors import FlinkSavepointError


class Selection:
    """The operators and states to read."""

    def __init__(
        self,
        operators: Collection[str] | None,
        states: Collection[str] | None,
        refused: Callable[[FlinkSavepointError], None] | None,
    ) -> None:
        self.operators = None if operators is None else set(operators)
        self.states = None if states is None else set(states)
        self._refused = refused
        self._messages = set[str]()

    def has(self, state: str) -> bool:
        """Whether a state is wanted."""
        return self.states is None or state in self.states

    def has_operator(self, *names: str | None) -> bool:
        """Whether an operator with one of these names, IDs or uids is wanted."""
        return self.operators is None or not self.operators.isdisjoint(names)

    def refuse(self, error: FlinkSavepointError) -> None:
        """Report something that cannot be read, once; it is raised if nobody listens."""
        if self._refused is None:
            raise error
        if str(error) not in self._messages:
            self._messages.add(str(error))
            self._refused(error)
