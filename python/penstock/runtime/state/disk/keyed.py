"""Keyed state beyond memory: the tables of an operator in a file, behind the interface of :class:`KeyedState`. A state
with namespaces is one :class:`DiskTable`, because there may be as many namespaces as keys."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping
from types import ModuleType
from typing import Any, cast

from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.state.disk.cached import CachedTable
from penstock.runtime.state.disk.cells import GONE, Cells
from penstock.runtime.state.disk.memory import share
from penstock.runtime.state.disk.rows import RowFile
from penstock.runtime.state.disk.table import DiskTable, Generations
from penstock.runtime.state.disk.timers import TIMER, DiskTimerQueue
from penstock.runtime.state.keyed import VOID, Entry, KeyedState, Table, WindowKey
from penstock.runtime.state.operator_time import Clock
from penstock.runtime.state.tracked_tables import Changes, Place

_UNSET: Any = object()


class Window(MutableMapping[Any, Any]):
    """One namespace of a table, created on request. Going through it is O(state of the operator)."""

    __slots__ = ("_namespace", "_table")

    def __init__(self, table: DiskTable, namespace: Any) -> None:
        self._table, self._namespace = table, namespace

    def get(self, slot: Any, default: Any = None) -> Any:
        return self._table.get((self._namespace, slot), default)

    def __getitem__(self, slot: Any) -> Any:
        return self._table[self._namespace, slot]

    def __setitem__(self, slot: Any, value: Any) -> None:
        self._table[self._namespace, slot] = value

    def __delitem__(self, slot: Any) -> None:
        del self._table[self._namespace, slot]

    def pop(self, slot: Any, default: Any = _UNSET) -> Any:
        place = self._namespace, slot
        return self._table.pop(place) if default is _UNSET else self._table.pop(place, default)

    def setdefault(self, slot: Any, default: Any = None) -> Any:
        return self._table.setdefault((self._namespace, slot), default)

    def touch(self, slot: Any) -> None:
        self._table.touch((self._namespace, slot))

    def mark(self, slots: Iterable[Any]) -> None:
        self._table.mark((self._namespace, slot) for slot in slots)

    def __iter__(self) -> Iterator[Any]:
        return (slot for slot, _ in self.items())

    def items(self) -> Iterator[tuple[Any, Any]]:  # type: ignore[override]
        return ((slot, value) for (namespace, slot), value in self._table.items() if namespace == self._namespace)

    def values(self) -> Iterator[Any]:  # type: ignore[override]
        return (value for _, value in self.items())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        """Always True, because finding out would mean looking at all entries."""
        return True


LEAST_TIMERS = 1_000  # timers that are always kept in memory
_FEW_ENTRIES = 8  # one part in so many is for entries while native code has the others in half of it
_PAGES = 4  # one part in so many of the memory is for pages of the file, another for timers


class DiskKeyedState(KeyedState):
    """All keyed state of an operator's subtask, most of it in a file."""

    holds_dicts = False

    def __init__(
        self,
        key_hash: KeyHash,
        max_parallelism: int,
        clock: Clock | None = None,
        memory: int = 256 << 20,
        functions: bool = True,
        folder: str | None = None,
    ) -> None:
        super().__init__(key_hash, max_parallelism, clock)
        self._limit = memory
        page_bytes, slot = share(self, memory) // _PAGES, lambda: self.slot
        self._file = RowFile(page_bytes, folder)
        self._cells = Cells(self._file, key_hash, max_parallelism, functions)
        self._memory = Generations(self._cells, self._memory_of_entries, self._key, self._remember, slot, functions)
        self._memory.after = self._forget_keys
        self._plain: dict[str, DiskTable] = {}
        self._spaced: dict[str, DiskTable] = {}
        self._places: list[tuple[str, bool]] = []  # name of each table, and whether it has namespaces
        self._cached: CachedTable | None = None  # some entries of one of the tables, in native code
        self.ahead: Any = None  # what has some of the state in native code; then it is ``here``
        few = max(page_bytes // (2 * TIMER), LEAST_TIMERS)
        self.event_timers, self.processing_timers = (
            DiskTimerQueue(self._file, self._file.next_queue(), self._timer_number, self._key, few) for _ in range(2)
        )

    def _memory_of_entries(self) -> int:
        """The bytes for entries as Python objects: few while native code has the state."""
        return share(self, self._limit) // (_FEW_ENTRIES if self.ahead is not None and self.ahead.here else 2)

    def native_memory(self) -> int:
        """The bytes that native code may take for entries."""
        return share(self, self._limit) // 2

    def native_table(self, functions: ModuleType, name: str) -> CachedTable:  # type: ignore[override]
        if self._cached is None:
            self._cached = self.ahead = CachedTable(functions, self._named(name, False), self.native_memory)
        return self._cached

    def settle(self) -> None:
        super().settle()
        if self._cached is not None:
            self._cached.settle()

    def bring_back(self) -> None:
        if self._cached is not None:
            self._cached.flush()

    def values_of(self, table: Table, slots: Collection[Any]) -> list[Any]:
        if self.ahead is None or not self.ahead.here or self._keys or not isinstance(table, DiskTable):
            return super().values_of(table, slots)
        values = dict(zip(*table.look(list(slots)), strict=True))  # what native code has is in the file
        return [values[slot] for slot in slots]

    def dispose(self) -> None:
        if self._cached is not None and not self.passed_on:
            self._cached.table.clear()

    def memory(self, written: int) -> int:
        return min(super().memory(written), share(self, self._limit))

    def track(self) -> None:
        if self.changes is None:
            self.changes = _DiskChanges(self._memory.tables, self._places)
            for table in self._memory.tables:
                table.track()
            for _, queue in self.queues():
                queue.track()

    def keep_keys(self, keep: bool) -> None: ...

    def fill(self, name: str, namespace: Any, keys: Iterable[Any], values: Iterable[Any]) -> None:
        self.bring_back()
        spaced, slots = namespace is not VOID, map(self.enter, keys)
        places = ((namespace, slot) for slot in slots) if spaced else slots
        self._named(name, spaced).load(zip(places, values, strict=True))

    def entries(self) -> Iterator[Entry]:
        """All values that a snapshot has, in the order of key groups. Nothing may be written meanwhile."""
        self.settle()
        self._memory.write()
        for group, cell in self._cells.all():
            name, spaced = self._places[cell.table]
            namespace, slot = cell.slot if spaced else (VOID, cell.slot)
            kept = self.filters.get(name)
            value = cell.value if kept is None else kept(cell.value)
            if kept is None or value is not None:
                yield group, (name, namespace), cell.key[0] if cell.key else slot, value

    def resume(self, key: Any, slot: Any) -> None:
        super().resume(key, slot)
        if slot is not key:
            self._keys[slot] = key

    def table(self, name: str, namespace: Any = VOID) -> Table:
        if namespace is VOID:
            return cast(Table, self._named(name, False))
        return cast(Table, Window(self._named(name, True), namespace))

    def _named(self, name: str, spaced: bool) -> DiskTable:
        tables = self._spaced if spaced else self._plain
        table = tables.get(name)
        if table is None:  # an empty one is falsy
            table = tables[name] = DiskTable(self._memory, name, spaced)
            self._places.append((name, spaced))
            if self.changes is not None:
                table.track()
        return table

    def find(self, name: str, namespace: Any = VOID) -> Table | None:
        tables = self._plain if namespace is VOID else self._spaced
        return self.table(name, namespace) if name in tables else None

    def windows_of(self, name: str) -> Mapping[Any, Table]:
        """Copies of the tables of a state by their windows. O(values of the state)."""
        self.bring_back()
        tables: dict[Any, Table] = {}
        for (window, slot), value in self._spaced[name].items() if name in self._spaced else ():
            tables.setdefault(window, {})[slot] = value
        return tables

    def number_of(self, name: str) -> int:
        return sum(len(tables[name]) for tables in (self._plain, self._spaced) if name in tables)

    def values_if_any(self, name: str, slots: Iterable[Any]) -> dict[Any, Any]:
        return dict(zip(*self._named(name, False).look(list(slots)), strict=True))

    def replace_all(self, name: str, values: Mapping[Any, Any], before: Collection[Any]) -> None:
        kept = {slot: value or GONE for slot, value in values.items() if value or slot in before}
        self._named(name, False).take_over(list(kept), list(kept.values()), [slot in before for slot in kept])

    def replace(
        self, name: str, gone: Iterable[WindowKey], entries: Iterable[tuple[WindowKey, Any]], stored: Collection[bool]
    ) -> None:
        old, new = list(gone), list(entries)
        places, values = [place for place, _ in new], [value for _, value in new]
        table = self._named(name, True)
        table.take_over([*old, *places], [*[GONE] * len(old), *values], [*[True] * len(old), *stored])

    def drop(self, name: str, namespace: Any = VOID) -> Any:
        self.bring_back()
        table = self.find(name, namespace)
        return None if table is None else table.pop(self.slot, None)

    def size(self) -> int:
        held = sum(more() for more in self.holders) + (0 if self._cached is None else self._cached.fresh)
        return held + sum(map(len, self._memory.tables))

    def forget(self) -> None:
        for table in self._memory.tables:
            table.clear()
        self._keys.clear()
        self.current_key = self.slot = None

    def places(self, name: str) -> Iterator[tuple[Any, Any]]:  # type: ignore[override]
        self.bring_back()
        if name in self._plain:
            yield from ((VOID, slot) for slot in self._plain[name])
        yield from self._spaced.get(name, ())

    def convert(self, name: str, converted: Callable[[Any, Any], Any]) -> int:
        self.bring_back()
        count = 0
        if name in self._plain:
            count += self._plain[name].convert(lambda slot, value: converted(self._key(slot), value))
        if name in self._spaced:
            count += self._spaced[name].convert(lambda slot, value: converted(self._key(slot[1]), value))
        return count

    def rename(self, old: str, new: str) -> None:
        self.bring_back()
        for tables in (self._plain, self._spaced):
            if old not in tables:
                continue
            tables[new] = table = tables.pop(old)
            self._places[table.number] = new, tables is self._spaced

    def keys(self, name: str) -> Iterator[tuple[Any, Any]]:  # type: ignore[override]
        self.bring_back()
        return ((self._key(slot), slot) for slot in self._plain.get(name, ()))

    def _remember(self, slot: Any, key: Any) -> None:
        if len(self._keys) >= self._most_keys:
            self._forget_keys()
        self._keys[slot] = key

    def _key(self, slot: Any) -> Any:
        return self._keys.get(slot, slot)

    def _timer_number(self, key: Any, place: Any) -> int:
        return self._cells.number(0, place, key)

    def _forget_keys(self) -> None:
        """Keep only the keys of entries in memory: no other key can be asked for."""
        keys, live = self._keys, self._memory.slots() if self._keys else ()
        self._keys = {slot: keys[slot] for slot in live if slot in keys}
        if keys and self.changes is not None:  # logs contain their keys
            self._keys.update((slot, keys[slot]) for _, slots in self.changes for slot in slots if slot in keys)
        if self.slot in keys:
            self._keys[self.slot] = keys[self.slot]
        self._most_keys = 2 * len(self._keys) + 100_000


class _DiskChanges(Changes):
    def __init__(self, tables: list[DiskTable], places: list[tuple[str, bool]]) -> None:
        super().__init__()
        self._tables, self._names = tables, places

    def __len__(self) -> int:
        return sum(len(table.changed) for table in self._tables)

    def __iter__(self) -> Iterator[tuple[Place, set[Any]]]:
        for table, (name, spaced) in zip(self._tables, self._names, strict=True):
            slots: dict[Place, set[Any]] = {}
            for place in table.changed:
                namespace, slot = place if spaced else (VOID, place)
                slots.setdefault((name, namespace), set()).add(slot)
            yield from slots.items()

    def forget(self) -> None:
        for table in self._tables:
            table.track()
