"""A stream beside a broadcast one: every subtask sees all broadcast records and keeps the same broadcast state. The
elements' side may only read that state. On a keyed stream there are state and timers per key as well, and the
broadcast side may visit the state of all keys. Sources of the semantics: ``CoBroadcastWithNonKeyedOperator``,
``CoBroadcastWithKeyedOperator`` (Flink 1.11)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.common import contexts
from penstock.common.functions import state as api
from penstock.common.functions.state_descriptor import MapStateDescriptor
from penstock.errors import InvalidProgramError
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.outputs import Collector, CountingOutput
from penstock.runtime.operators.process import ProcessContext
from penstock.runtime.operators.two_inputs import LiveTwoInputs, TwoInputOperator
from penstock.runtime.state.evolution import settle_broadcast
from penstock.runtime.state.handles import MapView, key_in
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.store import handle_of
from penstock.runtime.usercode.functions import bind


class ReadOnlyBroadcastState(MapView, api.ReadOnlyBroadcastState[Any, Any]):
    """A broadcast state as the elements' side sees it (PyFlink: ``ReadOnlyBroadcastState``)."""

    __slots__ = ("_entries",)

    def __init__(self, entries: dict[Any, Any]) -> None:
        self._entries = entries

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._entries!r}>"


class BroadcastState(ReadOnlyBroadcastState, api.BroadcastState[Any, Any]):
    """A broadcast state as the broadcast side sees it (PyFlink: ``BroadcastState``)."""

    __slots__ = ()

    def put(self, key: Any, value: Any) -> None:
        self._entries[key_in(self._entries, key)] = value

    def put_all(self, dict_value: dict[Any, Any]) -> None:
        for key, value in dict(dict_value).items():
            self.put(key, value)

    def remove(self, key: Any) -> None:
        self._entries.pop(key_in(self._entries, key), None)

    def clear(self) -> None:
        self._entries.clear()


class _Context(ProcessContext, contexts.OnTimerBroadcastContext[Any], contexts.KeyedBroadcastContext[Any]):
    """The context of one side; ``visit`` is for the broadcast side of a keyed stream."""

    __slots__ = ("_states", "_visit")

    def __init__(
        self,
        context: OperatorContext,
        states: Mapping[str, ReadOnlyBroadcastState],
        visit: Callable[[Any, Callable[[Any, Any], None]], None] | None = None,
    ) -> None:
        super().__init__(context)
        self._states, self._visit = states, visit

    def get_broadcast_state(self, state_descriptor: Any) -> Any:
        name = getattr(state_descriptor, "name", state_descriptor)
        if name not in self._states:
            raise InvalidProgramError(
                f"There is no broadcast state {name!r}; there are {sorted(self._states)}. Give its descriptor to "
                "broadcast().",
                flink_class="java.lang.IllegalArgumentException",
            )
        return self._states[name]

    def apply_to_keyed_state(self, state_descriptor: Any, function: Callable[[Any, Any], None]) -> None:
        if self._visit is None:
            raise InvalidProgramError(
                "apply_to_keyed_state() exists in process_broadcast_element() of a KeyedBroadcastProcessFunction only.",
                flink_class="java.lang.UnsupportedOperationException",
            )
        self._visit(state_descriptor, function)


class _BroadcastProcess(LiveTwoInputs):
    def __init__(self, context: OperatorContext, output: CountingOutput, spec: BroadcastProcess) -> None:
        super().__init__(context, output, spec)
        self._descriptors = spec.descriptors
        maps = {name: context.operator_state.broadcast(name) for name in spec.states}
        self._element = _Context(context, {name: ReadOnlyBroadcastState(entries) for name, entries in maps.items()})
        states = {name: BroadcastState(entries) for name, entries in maps.items()}
        self._broadcast = _Context(context, states, None if context.state is None else self._visit)
        self.use_timers(self._element)

    def open(self) -> None:
        self.context.call(settle_broadcast, self.context.operator_state, self._descriptors)
        super().open()

    def input(self, number: int) -> Collector:
        if number == 1:
            return self.with_key_of(1, self.processing(bind(self.function, "process_element"), self._element))
        return self._without_key(self.processing(bind(self.function, "process_broadcast_element"), self._broadcast))

    def _without_key(self, process: Collector) -> Collector:
        """``process`` with no key current, which is not the last element's."""
        keyed: KeyedState | None = self.context.state
        if keyed is None:
            return process

        def process_without_key(value: Any, timestamp: int | None) -> None:
            keyed.resume(None, None)
            process(value, timestamp)

        return process_without_key

    def _visit(self, descriptor: Any, function: Callable[[Any, Any], None]) -> None:
        state: KeyedState | None = self.context.state
        assert state is not None
        handle = handle_of(state, descriptor)
        for key, slot in state.keys(handle.name):
            state.resume(key, slot)
            function(key, handle)
        state.resume(None, None)


@dataclass(frozen=True, eq=False)
class BroadcastProcess(TwoInputOperator):
    """A process function with broadcast state; input 2 is the broadcast one. ``f`` is an object with
    ``process_element`` and ``process_broadcast_element``, and perhaps ``on_timer``; ``states`` are the names of the
    broadcast states."""

    keeps_output = True
    live = _BroadcastProcess

    states: tuple[str, ...]
    descriptors: tuple[MapStateDescriptor[Any, Any], ...] = ()

    @property
    def keeps_state(self) -> bool:
        return True
