"""State whose methods are native: the classes of ``penstock._native`` in front of those in Python, which do the same
and take over where something is not as usual: no key is current, a window has the state, a key of a map has NaN. Tables
and their changes are the same objects for both."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any, ClassVar

from penstock.common import contexts
from penstock.common.functions.state_ttl import StateTtlConfig
from penstock.runtime.state import handles, ttl
from penstock.runtime.state.handles import State
from penstock.runtime.state.keyed import VOID, KeyedState, Table
from penstock.runtime.state.timers import TimerQueue
from penstock.runtime.state.tracked_tables import frozen

_NATIVE: dict[Any, str] = {
    handles.ValueState: "ValueState",
    handles.ListState: "ListState",
    handles.MapState: "MapState",
    handles.ReducingState: "ReducingState",
    handles.AggregatingState: "AggregatingState",
    ttl.TTL_CLASSES[handles.ValueState]: "LivingValueState",
}


class _Shown(State):
    """Tells the native methods what the handle shows."""

    _slow: ClassVar[type[State]]
    _show: Any

    def in_namespace(self, namespace: Any) -> None:
        super().in_namespace(namespace)
        self._show(self._keyed, self._table, self._slow, frozen)


@cache
def handle_class(cls: type[State], tracked: bool, functions: ModuleType | None) -> type[State]:
    """The class to make the handles from that ``cls`` describes."""
    if tracked:
        cls, kind = handles.tracked_class(cls), cls
    else:
        kind = cls
    name = _NATIVE.get(kind)
    if functions is None or name is None:
        return cls
    bases = (getattr(functions, name), _Shown, cls)
    return type(f"Native{cls.__name__}", bases, {"__module__": __name__, "_slow": cls})


class _Lifetime(ttl.Lifetime):
    """The methods that the native ``sweep`` calls."""

    _keyed: KeyedState
    _name: str
    _table: Table
    _begin: Any
    _rest: Any
    _resume: Any

    def __init__(self, config: StateTtlConfig, keyed: KeyedState, name: str, kind: Any) -> None:
        super().__init__(config, keyed, name, kind)
        self._begin(self.now, self.millis, self.renews, self.shows, self.size)

    def position(self) -> tuple[int, list[Any]]:
        credit, slots = super().position()
        return credit, self._rest() or slots

    def go_on(self, credit: int, slots: list[Any]) -> None:
        super().go_on(credit, [])
        self._resume(slots)
        table = self._keyed.lone_table(self._name)
        if table is not None:
            self._table = table

    def _slots(self) -> list[Any] | None:
        """The keys of all values, to be looked at; None where there are windows."""
        table = self._keyed.lone_table(self._name)
        if table is None:
            return None
        self._table = table
        return list(table)

    def _revise(self, slot: Any) -> None:
        self._keyed.revise(self._name, VOID, slot, self._looked_at)


@cache
def lifetime_class(functions: ModuleType | None) -> type[ttl.Lifetime]:
    """The class of times to live."""
    if functions is None:
        return ttl.Lifetime
    return type("NativeLifetime", (functions.Lifetime, _Lifetime), {"__module__": __name__})


class _Timers(TimerQueue):
    """The methods that the native queue leaves to Python."""

    def __init__(self) -> None: ...

    def another(self) -> TimerQueue:
        return type(self)()


@cache
def _queue_class(functions: ModuleType) -> type[TimerQueue]:
    return type("NativeTimerQueue", (functions.TimerQueue, _Timers), {"__module__": __name__})


@cache
def _service_class(functions: ModuleType) -> Any:
    bases = functions.TimerService, contexts.TimerService
    return type("TimerService", bases, {"__module__": __name__, "__slots__": ()})


def with_native_timers(keyed: KeyedState, service: contexts.TimerService) -> contexts.TimerService:
    """Let the timers of a state be native, if they can be. Returns the service for them; ``service`` is the one in
    Python. Their times must be ints of 64 bits."""
    functions = keyed.functions
    if functions is None or not keyed.holds_dicts:
        return service
    use_native_timers(keyed, functions)
    return _service_class(functions)(service, keyed, keyed.event_timers)


def use_native_timers(keyed: KeyedState, functions: ModuleType) -> None:
    """Let the timers of a state whose tables are dicts be native."""
    new = _queue_class(functions)
    for domain, queue in keyed.queues():
        if not isinstance(queue, new):
            fresh = new()
            fresh.fill(queue)
            fresh.noted, fresh.all_new = queue.noted, queue.all_new
            setattr(keyed, f"{domain}_timers", fresh)
