"""The states of a program's functions without a job: their descriptors, and what the functions show of given values."""

from __future__ import annotations

from typing import Any


class Held:
    """A state of any kind that has one value."""

    def __init__(self, descriptor: Any) -> None:
        self.descriptor = descriptor
        self.held: Any = None

    def value(self) -> Any:
        return self.held

    def get(self) -> Any:
        aggregate = getattr(self.descriptor, "agg_function", None)
        if aggregate is not None and self.held is not None:
            return aggregate.get_result(self.held)
        return [] if self.held is None and hasattr(self.descriptor, "elem_type_info") else self.held

    def items(self) -> Any:
        return () if self.held is None else self.held.items()


class Context:
    """The context in which a function opens its states."""

    def __init__(self, function: Any) -> None:
        self.states: dict[str, Held] = {}
        function.open(self)

    def _state(self, descriptor: Any) -> Held:
        state = self.states[descriptor.name] = Held(descriptor)
        return state

    get_state = get_list_state = get_map_state = get_reducing_state = get_aggregating_state = _state

    @property
    def descriptors(self) -> list[Any]:
        return [state.descriptor for state in self.states.values()]


def shown_of(function: Any, values: dict[str, Any]) -> dict[str, str]:
    """What a function shows if its states have these values."""
    context = Context(function)
    for name, value in values.items():
        context.states[name].held = value
    return {name: repr(value) for name, value in function.shown().items()}
