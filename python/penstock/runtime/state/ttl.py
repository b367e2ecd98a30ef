"""State with a time to live: handles whose values expire by the clock. A value is stored as ``(value, milliseconds of
its last access)``: the whole of a value, reduction or aggregation, each element of a list, each entry of a map. Each
access also looks at a few other values, so that those of keys that never return are removed too. Source:
``org.apache.flink.runtime.state.ttl`` (Flink 1.20)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import Any, ClassVar

from penstock.common.functions.state_ttl import StateTtlConfig
from penstock.runtime.state import handles
from penstock.runtime.state.handles import MISSING, State, key_in
from penstock.runtime.state.keyed import VOID, KeyedState

Stamped = tuple[Any, int]


class Lifetime:
    """The time to live of one state."""

    def __init__(self, config: StateTtlConfig, keyed: KeyedState, name: str, kind: type[_Mortal]) -> None:
        assert keyed.clock is not None
        self.now: Callable[[], int] = keyed.clock.now
        self.millis: int = config.get_ttl().to_milliseconds()
        self.renews: bool = config.get_update_type() is StateTtlConfig.UpdateType.OnReadAndWrite
        self.shows: bool = config.get_state_visibility() is StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp
        cleanup = config.get_cleanup_strategies()
        incremental = cleanup.get_incremental_cleanup_strategy()
        self.size: int = 0 if incremental is None else incremental.get_cleanup_size()
        self._credit = 0  # how many values may be looked at now; below 0 after a long list or map
        self._keyed, self._name, self._live, self._length = keyed, name, kind.live, kind.length
        self._places: Iterator[tuple[Any, Any]] = iter(())
        if cleanup.in_full_snapshot():
            keyed.filters[name] = self.live

    def live(self, stored: Any) -> Any:
        return self._live(stored, self.now() - self.millis)

    def usable(self, stored: Any) -> Any:
        """The value to combine with a new one, without its time; MISSING if it is missing or expired."""
        if stored is MISSING or (not self.shows and stored[1] + self.millis <= self.now()):
            return MISSING
        return stored[0]

    def position(self) -> tuple[int, list[Any]]:
        """How far the look at values has come, where there are no windows: how many may be looked at now, and the keys
        that this round still looks at."""
        left = list(self._places)
        self._places = iter(left)
        return self._credit, [slot for _, slot in left]

    def go_on(self, credit: int, slots: list[Any]) -> None:
        """Go on with the look at values from a :meth:`position`."""
        self._credit, self._places = credit, iter([(VOID, slot) for slot in slots])

    def sweep(self) -> None:
        """Look at the next few values, of any key. A list counts by its length: after a long one there is a pause."""
        self._credit = min(self._credit, 0) + self.size
        if self._credit > 0:
            self._sweep_places()

    def _sweep_places(self) -> None:
        place = next(self._places, None)
        if place is None:
            self._places = iter(self._keyed.places(self._name))
            place = next(self._places, None)
        while place is not None:
            self._credit -= 1
            self._keyed.revise(self._name, *place, self._looked_at)
            place = next(self._places, None) if self._credit > 0 else None

    def _looked_at(self, stored: Any) -> Any:
        self._credit -= self._length(stored) - 1
        return self.live(stored)

    def read(self, state: State, default: Any = None) -> Any:
        """The value to show, without its time. An expired value is removed."""
        self.sweep()
        stored = state._read()
        if stored is MISSING:
            return default
        value, stamp = stored
        now = self.now()
        if stamp + self.millis <= now:
            state.clear()
            return value if self.shows else default
        if self.renews:
            state._write((value, now))
        return value

    def merged(self, first_stored: Stamped, second_stored: Stamped, merge: Callable[[Any, Any], Any]) -> Stamped:
        first, second = self.usable(first_stored), self.usable(second_stored)
        if first is MISSING:
            return first_stored if second is MISSING else (second, self.now())
        return (first if second is MISSING else merge(first, second)), self.now()


def _live_value(stored: Stamped, over: int) -> Stamped | None:
    return stored if stored[1] > over else None


def _live_elements(stored: list[Stamped], over: int) -> list[Stamped] | None:
    live = [element for element in stored if element[1] > over]
    return stored if live and len(live) == len(stored) else live or None


def _live_entries(stored: dict[Any, Stamped], over: int) -> dict[Any, Stamped] | None:
    live = {key: entry for key, entry in stored.items() if entry[1] > over}
    return stored if live and len(live) == len(stored) else live or None


class _Mortal:
    kind: ClassVar[str]
    name: str
    _life: Lifetime
    live: Any = staticmethod(_live_value)
    length: Any = staticmethod(lambda stored: 1)

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name!r}, {self._life.millis} ms to live>"


class _TtlValueState(_Mortal, handles.ValueState):
    def value(self) -> Any:
        return self._life.read(self)

    def update(self, value: Any) -> None:
        self._life.sweep()
        super().update(None if value is None else (value, self._life.now()))


class _TtlListState(_Mortal, handles.ListState):
    live, length = staticmethod(_live_elements), staticmethod(len)

    def get(self) -> Iterator[Any]:
        life = self._life
        life.sweep()
        stored = self._read()
        if stored is MISSING:
            return iter(())
        live = life.live(stored)
        if live is None:
            self.clear()
        elif life.renews:
            now = life.now()
            self._write([(value, now) for value, _ in live])
        elif not life.shows and live is not stored:
            self._write(live)
        shown = stored if life.shows else live or ()
        return iter([value for value, _ in shown])

    def add_all(self, values: list[Any]) -> None:
        self._life.sweep()
        super().add_all(self._stamped(values))

    def update(self, values: list[Any]) -> None:
        self._life.sweep()
        super().update(self._stamped(values))

    def _stamped(self, values: list[Any]) -> list[Any]:
        now = self._life.now()
        return values and [(value, now) for value in values]


class _MortalSum(_Mortal):
    _read: Callable[[], Any]
    _write: Callable[[Any], None]
    _added: Callable[[Any, Any], Any]

    def add(self, value: Any) -> None:
        life = self._life
        life.sweep()
        self._write((self._added(life.usable(self._read()), value), life.now()))


class _TtlReducingState(_MortalSum, handles.ReducingState):
    def get(self) -> Any:
        return self._life.read(self)

    def merge(self, first: Any, second: Any) -> Any:
        return self._life.merged(first, second, self._reduce)


class _TtlAggregatingState(_MortalSum, handles.AggregatingState):
    def get(self) -> Any:
        accumulator = self._life.read(self, MISSING)
        return None if accumulator is MISSING else self._function.get_result(accumulator)

    def merge(self, first: Any, second: Any) -> Any:
        return self._life.merged(first, second, self._function.merge)


class _TtlMapState(_Mortal, handles.MapState):
    live, length = staticmethod(_live_entries), staticmethod(len)

    def _entry(self, key: Any) -> Any:
        """The value of one key, or MISSING. An expired entry is removed."""
        life = self._life
        life.sweep()
        entries = self._held()
        key = key_in(entries, key)
        entry = entries.get(key, MISSING)
        if entry is MISSING:
            return MISSING
        value, stamp = entry
        now = life.now()
        if stamp + life.millis <= now:
            super().remove(key)
            return value if life.shows else MISSING
        if life.renews:
            entries[key] = value, now
            if self._keyed.changes is not None:
                self._write(entries)
        return value

    @property
    def _entries(self) -> dict[Any, Any]:
        """The visible entries of the map. Expired entries are removed."""
        life = self._life
        life.sweep()
        stored = self._held()
        live = life.live(stored)
        if live is None:
            self.clear()
        elif life.renews:
            now = life.now()
            self._write({key: (value, now) for key, (value, _) in live.items()})
        elif live is not stored:
            self._write(live)
        seen = stored if life.shows else live or {}
        return {key: value for key, (value, _) in seen.items()}

    def get(self, key: Any) -> Any:
        value = self._entry(key)
        return None if value is MISSING else value

    __getitem__ = get

    def contains(self, key: Any) -> bool:
        return self._entry(key) is not MISSING

    __contains__ = contains

    def put_all(self, dict_value: dict[Any, Any]) -> None:
        self._life.sweep()
        now = self._life.now()
        super().put_all({key: (value, now) for key, value in dict(dict_value).items()})

    def remove(self, key: Any) -> None:
        self._life.sweep()
        super().remove(key)

    def is_empty(self) -> bool:
        life = self._life
        life.sweep()
        stored = self._held()
        if not life.shows:
            over = life.now() - life.millis
            for key in list(takewhile(lambda key: stored[key][1] <= over, stored)):
                super().remove(key)
        return not stored


TTL_CLASSES: dict[type[State], Any] = {
    handles.ValueState: _TtlValueState,
    handles.ListState: _TtlListState,
    handles.ReducingState: _TtlReducingState,
    handles.AggregatingState: _TtlAggregatingState,
    handles.MapState: _TtlMapState,
}  # the handles whose values expire


def lifetime_of(handle: State) -> Lifetime | None:
    """The time to live of a state; None if its values do not expire."""
    return handle._life if isinstance(handle, _Mortal) else None
