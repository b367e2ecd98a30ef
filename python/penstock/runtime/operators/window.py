"""WindowOperator: elements per key and window, a trigger that fires, an evictor, a function.

Without an evictor and with a reducing function only the reduction is kept; with an evictor all elements are, as in
Flink.

Sources of the semantics: ``WindowOperator`` and ``EvictingWindowOperator`` (Flink 1.11): for each window of an element
add it, ask the trigger, fire, purge. Firing an empty window calls nothing. Results carry the window's last timestamp.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from penstock.runtime.binding import bind
from penstock.runtime.context import OperatorContext
from penstock.runtime.operators.base import LiveOperator, StreamOperator
from penstock.runtime.operators.reduce import key_of
from penstock.runtime.outputs import Collector, Output
from penstock.runtime.state import Table
from penstock.runtime.windows import CountEvictor, GlobalWindows, Trigger, TriggerContext, WindowFunction

STATE = "window-contents"
"""Flink's name of the state that holds what is in the windows."""

_MISSING = object()


@dataclass(frozen=True, eq=False)
class WindowOperator(StreamOperator):
    """Windows on a keyed stream.

    Attributes:
        assigner: which windows an element belongs to.
        trigger: when a window fires.
        evictor: which elements stay, or None to keep all.
        function: what a window emits.
    """

    keeps_output: ClassVar[bool] = True

    assigner: GlobalWindows
    trigger: Trigger
    evictor: CountEvictor | None
    function: WindowFunction

    def build(self, context: OperatorContext, output: Output) -> LiveOperator:
        return _Window(context, output, self)


class _Window(LiveOperator):
    def __init__(self, context: OperatorContext, output: Output, spec: WindowOperator) -> None:
        super().__init__(context, output, spec.function.reducer, key_of(spec))
        self._spec = spec
        self._emitted = 0

    def main_records(self, records_in: int) -> int:
        return self._emitted

    def input(self, number: int) -> Collector:
        assert self.keyed is not None
        spec, state, fail = self._spec, self.context.keyed_state(self.keyed), self.context.fail
        enter, select = state.enter, self.keyed.selector()
        trigger_context = TriggerContext(state)
        assign, on_element = spec.assigner.assign_windows, spec.trigger.on_element
        constant = getattr(spec.assigner, "constant", None)
        table: Table = {}
        contents = self._reducing() if spec.evictor is None and spec.function.reducer is not None else self._listing()
        add, fire = contents.add, contents.fire

        def process(value: Any, timestamp: int | None) -> None:
            nonlocal table
            try:
                key = select(value)
                if type(key) is str:  # what enter() does for the usual key, without the call
                    slot = state.current_key = state.slot = key
                else:
                    slot = enter(key)
                for window in constant or assign(value, timestamp):
                    if window is not trigger_context.window:
                        trigger_context.enter(window)
                        table = state.table(STATE, window)
                    add(table, slot, value)
                    result = on_element(value, timestamp, window, trigger_context)
                    if result.fire:
                        self._emit(fire(table, slot), window.max_timestamp())
                    if result.purge:
                        table.pop(slot, None)
            except Exception as error:
                raise fail(error) from error

        return process

    def _emit(self, results: list[Any], timestamp: int) -> None:
        collect = self.output.collect
        for result in results:
            self._emitted += 1
            collect(result, timestamp)

    def _reducing(self) -> _ReducingContents:
        return _ReducingContents(bind(self._spec.function.reducer, "reduce"))

    def _listing(self) -> _ListContents:
        return _ListContents(self._spec.function, self._spec.evictor)


class _ReducingContents:
    """A window's contents as one reduction."""

    def __init__(self, reduce: Any) -> None:
        self._reduce = reduce

    def add(self, table: Table, slot: Any, value: Any) -> None:
        current = table.get(slot, _MISSING)
        table[slot] = value if current is _MISSING else self._reduce(current, value)

    def fire(self, table: Table, slot: Any) -> list[Any]:
        current = table.get(slot, _MISSING)
        return [] if current is _MISSING else [current]


class _ListContents:
    """A window's contents as the list of its elements."""

    def __init__(self, function: WindowFunction, evictor: CountEvictor | None) -> None:
        self._apply = function.bind()
        self._evictor = evictor

    def add(self, table: Table, slot: Any, value: Any) -> None:
        elements = table.get(slot)
        if elements is None:
            table[slot] = [value]
        else:
            elements.append(value)

    def fire(self, table: Table, slot: Any) -> list[Any]:
        elements, evictor = table.get(slot), self._evictor
        if not elements:
            return []
        if evictor is not None and not evictor.after:
            elements = evictor.evict(elements)
        results = self._apply(elements)  # may put another first element there
        if evictor is not None and evictor.after:
            elements = evictor.evict(elements)
        if elements:
            table[slot] = elements
        else:
            del table[slot]
        return results
