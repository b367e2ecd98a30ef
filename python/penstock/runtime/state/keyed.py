"""Keyed state of one operator in one subtask: the hash-map backend. State is held in *tables*: for each state name and
namespace (a window, or none) a dict from the canonical form of a key (:mod:`~penstock.runtime.keys.javahash`) to its
value. :mod:`.handles` has the objects that functions use, :mod:`.sections` writes state to files, :mod:`.replay` reads
it. Source: ``HeapKeyedStateBackend`` (Flink 1.11)."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain, groupby
from types import ModuleType
from typing import Any, NamedTuple

from penstock.runtime.keys.key_types import KeyHash, is_of_days
from penstock.runtime.keys.keygroups import key_group_of_hash, null_key
from penstock.runtime.keys.pyflink_keys import NULL
from penstock.runtime.state.classes import Noted
from penstock.runtime.state.native_table import NativeTable
from penstock.runtime.state.operator_time import Clock
from penstock.runtime.state.timers import TimerQueue
from penstock.runtime.state.tracked_tables import Changes

VOID = None  # the namespace of state that belongs to no window
MEMORY_PER_BYTE = 8  # rough factor from the bytes of state files to memory: small objects in dicts
_FEW_KEYS = 1_000  # keys that are remembered before the first check which of them still have state
Table = dict[Any, Any]
WindowKey = tuple[Any, Any]  # a window, and the canonical form of a key
Entry = tuple[int, tuple[str, Any], Any, Any]  # key group, (state name, namespace), key and value


class StateInfo(NamedTuple):
    """The description of a state in a file; ``windows`` is the kind of windows that its namespaces are."""

    name: str
    kind: str
    serializers: tuple[str, ...]
    types: tuple[str, ...]
    version: int = 0
    windows: str = ""


def kind_of_key(key: Any) -> str:
    """The name of a key's Python type; for a tuple the types of its fields."""
    if type(key) is tuple:
        return f"({', '.join(type(field).__name__ for field in key)})"
    return type(key).__name__


class KeyedState:
    """All keyed state of an operator's subtask, and the current key; ``slot`` is its canonical form."""

    __slots__ = ("__dict__", "__weakref__", "current_key", "slot")  # so that native functions find the key at once

    holds_dicts: bool = True  # whether tables are dicts, which native functions require
    functions: ModuleType | None = None  # the native ones, if they may be used

    def __init__(self, key_hash: KeyHash, max_parallelism: int, clock: Clock | None = None) -> None:
        self.key_hash: KeyHash = key_hash
        self.max_parallelism: int = max_parallelism
        self.clock: Clock | None = clock
        self._tables: dict[str, dict[Any, Table]] = {}
        self._keys: Table = {}  # canonical form → key, where they are different objects
        self._most_keys = _FEW_KEYS
        self.current_key: Any = None
        self.slot: Any = None
        self.event_timers: TimerQueue = TimerQueue()
        self.processing_timers: TimerQueue = TimerQueue()
        self.infos: dict[str, StateInfo] = {}  # by state name: what the next file will say
        self.forms: dict[str, StateInfo] = {}  # restored states that the program has not asked for yet
        self.lost: dict[str, str] = {}  # of those, states with objects of a class that is gone, and that class
        self.caches: list[Callable[[], None]] = []  # callbacks that write cached values back into tables
        self.holders: list[Callable[[], int]] = []  # callbacks: how many values caches have beyond those in tables
        self.native: NativeTable | None = None  # one of the tables, in native code
        self.handles: dict[str, Any] = {}  # one handle per state name, as in Flink
        self.filters: dict[str, Callable[[Any], Any]] = {}  # by state name: the value that is written, None for none
        self.key_kinds: set[str] | None = None  # Python types of restored keys, if undeclared; see other_keys()
        self.rewrite: bool = False  # something differs from the files: write a snapshot next
        self.noted: Noted = Noted()  # the classes of what was written
        self.notes: Counter[str] = Counter()  # log messages about converted values, with their number
        self.loses: set[str] | None = None  # None: writes without a key are refused; else names that were warned about
        self.changes: Changes | None = None  # since the last file; None until track()
        self.passed_on = False  # another object has had it, see release()

    def enter(self, key: Any) -> Any:
        if key is None:
            if not self.key_hash.nullable:
                raise null_key()
            self.current_key, self.slot = None, NULL
            self._keys[NULL] = None
            return NULL
        self.current_key = key
        if type(key) is str or self.key_hash.identity:
            self.slot = key
            return key
        slot = self.slot = self.key_hash.canonical(key)
        if slot is not key and slot not in self._keys:
            if len(self._keys) >= self._most_keys:
                self._forget_keys()
            self._keys[slot] = key
        return slot

    def resume(self, key: Any, slot: Any) -> None:
        """Make a key current whose canonical form is known, such as a timer's."""
        self.current_key, self.slot = key, slot

    def key_of(self, slot: Any) -> Any:
        return self._keys.get(slot, slot)

    def keys_of(self, slots: Collection[Any]) -> list[Any]:
        return list(map(self.key_of, slots)) if self._keys else list(slots)

    def keys(self, name: str) -> list[tuple[Any, Any]]:
        """(key, canonical form) of every key with a value of a state without namespace."""
        self.bring_back()
        return [(self.key_of(slot), slot) for slot in self.find(name) or ()]

    @property
    def has_own_forms(self) -> bool:
        """Whether strings, ints and tuples of them are their own canonical forms."""
        return self.key_hash.identity or self.key_hash.key_type is None

    @property
    def has_native_keys(self) -> bool:
        """Whether native tables can have the keys: they take strings, ints, dates, times and exact tuples of these as
        they are."""
        return self.has_own_forms or self.key_hash.canonical is tuple or is_of_days(self.key_hash.key_type)

    def group(self, key: Any) -> int:
        return key_group_of_hash(self.key_hash.hash(key), self.max_parallelism)

    def keep_keys(self, keep: bool) -> None:
        """Keep all keys while a restore is under way, or allow forgetting again."""
        self._most_keys = sys.maxsize if keep else len(self._keys) + _FEW_KEYS

    def _forget_keys(self) -> None:
        """Forget keys without state and timers: O(state), so it runs again after a quarter of it in new keys."""
        tables = [table for namespaces in self._tables.values() for table in namespaces.values()]
        timers = [timer.slot for _, queue in self.queues() for timer in queue]
        changed = [] if self.changes is None else [slots for _, slots in self.changes]  # logs contain their keys
        live = set(timers).union(*tables, *changed)
        self._keys = {slot: key for slot, key in self._keys.items() if slot in live}
        size = len(timers) + sum(map(len, tables))
        self._most_keys = len(self._keys) + max(_FEW_KEYS, size // 4)

    def table(self, name: str, namespace: Any = VOID) -> Table:
        """The table of a state in a namespace, created if missing. It stays one dict until :meth:`drop` empties it."""
        return self._tables.setdefault(name, {}).setdefault(namespace, {})

    def native_table(self, functions: ModuleType, name: str) -> NativeTable:
        """The same table in native code; an operator has one at the most."""
        if self.native is None:
            self.native = NativeTable(functions, name, self.table(name))
        return self.native

    def bring_back(self) -> None:
        """Put the native table's values back into the dict. O(its keys)."""
        if self.native is not None:
            self.native.flush()

    def values_of(self, table: Table, slots: Collection[Any]) -> list[Any]:
        """The values of many keys in a table; KeyError where one has none."""
        return list(map(table.__getitem__, slots))

    def replace(
        self, name: str, gone: Iterable[WindowKey], entries: Iterable[tuple[WindowKey, Any]], stored: Collection[bool]
    ) -> None:
        """Set many values of a state with windows, by window and key; those of ``gone`` are taken away. ``stored`` says
        whether there is a value already for each of the others."""
        slot = self.slot
        for window, self.slot in gone:
            self.drop(name, window)
        self.slot = slot
        for window, some in groupby(entries, lambda entry: entry[0][0]):
            table = self.table(name, window)
            for (_, key), value in some:
                table[key] = value

    def values_if_any(self, name: str, slots: Iterable[Any]) -> dict[Any, Any]:
        """Those of some keys which have a value of a state without windows, and the values."""
        table = self.table(name)
        return {slot: table[slot] for slot in slots if slot in table}

    def replace_all(self, name: str, values: Mapping[Any, Any], before: Collection[Any]) -> None:
        """Set the values of many keys of a state without windows; an empty one is taken away. ``before`` has those that
        have a value."""
        table = self.table(name)
        for slot, value in values.items():
            if value:
                table[slot] = value
            else:
                table.pop(slot, None)

    def lone_table(self, name: str) -> Table | None:
        """The table of a state that has no other namespace than VOID."""
        namespaces = self._tables.get(name, {})
        return namespaces[VOID] if list(namespaces) == [VOID] else None

    def _tracked_table(self, name: str, namespace: Any = VOID) -> Table:
        assert self.changes is not None
        namespaces = self._tables.setdefault(name, {})
        table = namespaces.get(namespace)
        if table is None:
            table = namespaces[namespace] = self.changes.table((name, namespace))
        return table

    def find(self, name: str, namespace: Any = VOID) -> Table | None:
        namespaces = self._tables.get(name)
        return None if namespaces is None else namespaces.get(namespace)

    def drop(self, name: str, namespace: Any = VOID) -> Any:
        """Remove and return the current key's value, or None; a window's table goes with its last value."""
        namespaces = self._tables.get(name)
        table = None if namespaces is None else namespaces.get(namespace)
        if namespaces is None or table is None:
            return None
        value = table.pop(self.slot, None)
        if not table and namespace is not VOID:
            del namespaces[namespace]
        return value

    def forget(self) -> None:
        """Forget all when a key has ended in BATCH mode, in place, because handles hold the tables."""
        for namespaces in self._tables.values():
            for namespace, table in list(namespaces.items()):
                table.clear()
                if namespace is not VOID:
                    del namespaces[namespace]
        self._keys.clear()
        self.current_key = self.slot = None

    def places(self, name: str) -> list[tuple[Any, Any]]:
        self.bring_back()
        return [(namespace, slot) for namespace, table in self._tables.get(name, {}).items() for slot in table]

    def revise(self, name: str, namespace: Any, slot: Any, revised: Callable[[Any], Any]) -> None:
        """Replace the value at a place, if it still exists, by ``revised(value)``; None removes it."""
        self.bring_back()
        table = self.find(name, namespace)
        if not table or slot not in table:
            return
        before = table[slot]
        value = revised(before)
        if value is not None:
            if value is not before:
                table[slot] = value
            return
        current, self.slot = self.slot, slot
        self.drop(name, namespace)
        self.slot = current

    def tables(self) -> Iterable[tuple[str, Mapping[Any, Table]]]:
        self.bring_back()
        return self._tables.items()

    def windows_of(self, name: str) -> Mapping[Any, Table]:
        """The tables of a state by their windows."""
        self.bring_back()
        return self._tables.get(name, {})

    def number_of(self, name: str) -> int:
        """How many values a state has. O(windows)."""
        return sum(map(len, self._tables.get(name, {}).values()))

    def others(self, name: str) -> Iterator[tuple[str, Mapping[Any, Table]]]:
        """The tables of all other states."""
        return (item for item in self._tables.items() if item[0] != name)

    def queues(self) -> Iterator[tuple[str, TimerQueue]]:
        yield "event", self.event_timers
        yield "processing", self.processing_timers

    def entries(self) -> Iterator[Entry]:
        """All values that a snapshot has. Keys are compared as in Java, so 1, 1.0 and True are three entries."""
        self.bring_back()
        self.settle()
        for name, namespaces in self._tables.items():
            kept = self.filters.get(name)
            for namespace, table in namespaces.items():
                for slot, stored in table.items():
                    value = stored if kept is None else kept(stored)
                    if kept is None or value is not None:
                        key = self.key_of(slot)
                        yield self.group(key), (name, namespace), key, value

    def size(self) -> int:
        held = sum(more() for more in self.holders) + (0 if self.native is None else len(self.native))
        return held + sum(len(table) for namespaces in self._tables.values() for table in namespaces.values())

    def is_empty(self) -> bool:
        if (self.holders or self.native) and self.size():
            return False
        self.settle()
        return not self.size() and not any(len(queue) for _, queue in self.queues())

    def memory(self, written: int) -> int:
        """An estimate of the bytes of memory that state with files of ``written`` bytes takes."""
        if self.native is not None and self.native.here:
            return self.native.table.memory + written  # the files have long texts, and all else
        return MEMORY_PER_BYTE * written

    def fill(self, name: str, namespace: Any, keys: Iterable[Any], values: Iterable[Any]) -> None:
        """Set the values of many keys, without counting them as changed."""
        plain = self.key_hash.identity and not self.key_hash.nullable
        slots = keys if plain else map(self.enter, keys)
        native = self.native
        if native is not None and (name, namespace) == (native.name, VOID):
            slots, values = list(slots), list(values)
            if native.fill(slots, values):
                return
        dict.update(self.table(name, namespace), zip(slots, values, strict=True))

    def convert(self, name: str, converted: Callable[[Any, Any], Any]) -> int:
        """Replace every value by ``converted(key, value)``, where None removes it, without counting it as changed."""
        self.bring_back()
        count = 0
        for namespace, table in list(self._tables.get(name, {}).items()):
            count += len(table)
            values = {slot: converted(self.key_of(slot), value) for slot, value in table.items()}
            dict.clear(table)
            dict.update(table, ((slot, value) for slot, value in values.items() if value is not None))
            if not table and namespace is not VOID:
                del self._tables[name][namespace]
        return count

    def rename(self, old: str, new: str) -> None:
        self.bring_back()
        for namespace, table in self._tables.pop(old, {}).items():
            dict.update(self.table(new, namespace), table)

    def forget_state(self, name: str) -> bool:
        """Forget a state, without counting it as changed. Returns whether it existed."""
        self.bring_back()
        existed = name in self._tables or name in self.infos
        for states in (self._tables, self.infos, self.forms):
            states.pop(name, None)
        return existed

    def other_keys(self) -> str:
        """A warning if the first keys with new state have other Python types than the restored ones, else ""."""
        known = self.key_kinds
        if not known or self.changes is None:
            return ""
        self.settle()
        changed = [] if self.native is None else self.native.changed_keys()
        slots = chain(changed, *(slots for _, slots in self.changes))
        current = {kind_of_key(self.key_of(slot)) for slot in slots}
        if not current:
            return ""
        self.key_kinds = None
        if not current.isdisjoint(known):
            return ""
        was, is_now = (", ".join(sorted(kinds)) for kinds in (known, current))
        return (
            f"keys are of type {is_now} and were of type {was}: they begin empty; what is there is carried along unread"
        )

    def track(self) -> None:
        """Record changes from now on. Call it before anyone holds a table."""
        if self.changes is None:
            self.changes = Changes()
            self.table = self._tracked_table  # type: ignore[method-assign]
            for name, namespaces in self._tables.items():
                for namespace, table in namespaces.items():
                    namespaces[namespace] = tracked = self.changes.table((name, namespace))
                    dict.update(tracked, table)
            for _, queue in self.queues():
                queue.track()

    def has_changed(self) -> bool:
        self.settle()
        return self.changed_entries() > 0 or any(queue.all_new for _, queue in self.queues())

    def changed_entries(self) -> int:
        assert self.changes is not None
        native = 0 if self.native is None else self.native.changes
        return native + len(self.changes) + sum(queue.moves for _, queue in self.queues())

    def settle(self) -> None:
        """Write cached values back into the tables."""
        for settle in self.caches:
            settle()

    def written(self) -> None:
        if self.changes is not None:
            self.changes.forget()
        if self.native is not None:
            self.native.table.written()
        for _, queue in self.queues():
            queue.written()

    def dispose(self) -> None:
        """Give back the memory of a native table at once, unless another object has the state: objects that refer to
        each other are found later."""
        if self.native is not None and not self.passed_on:
            self.native.table.clear()

    def release(self) -> None:
        """Let another object have the state."""
        self.settle()
        self.passed_on = True
        self.handles, self.filters = {}, {}
        self.caches, self.holders = [], []
        self.clock = None
        self.resume(None, None)
