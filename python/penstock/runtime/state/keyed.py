"""Keyed state of one operator in one subtask: the hash-map backend.

State is held in *tables*: per state name and namespace (a window, or none) a dict from key to value. The key is the
canonical form of :mod:`~penstock.runtime.keys.javahash`, so keys are told apart as Java tells them apart. Timers are
keyed state too. The key group is the unit in which state moves between subtasks: :meth:`KeyedState.snapshot` gives
bytes per key group, and :meth:`KeyedState.restore` takes those of any groups. Access is O(1), a snapshot O(state).

What functions hold in their hands is in :mod:`.handles`.

Source of the semantics: ``HeapKeyedStateBackend`` (Flink 1.11).
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from penstock.runtime.buffers.codec import decode_value, dumps
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.keys.keygroups import key_group_of_hash, null_key
from penstock.runtime.keys.pyflink_keys import NULL
from penstock.runtime.state.classes import Noted
from penstock.runtime.state.timers import Clock, TimerQueue
from penstock.runtime.state.tracking import Changes

VOID = None
"""The namespace of state that belongs to no window."""

FORMAT = 1
"""Version of the bytes of a snapshot."""

MEMORY_PER_BYTE = 8
"""About how much memory state takes per byte of its files: small objects in dicts."""

_FEW_KEYS = 1_000
"""Keys that may be remembered without a look at which of them still have state."""

Table = dict[Any, Any]
Pairs = list[tuple[Any, Any]]


class KeyedState:
    """All keyed state of an operator's subtask, and the current key.

    Args:
        key_hash: the compiled key type.
        max_parallelism: number of key groups.
        clock: what values with a time to live end by; None: they live for ever.

    Attributes:
        key_hash, max_parallelism: as given.
        current_key: the key as the key selector returned it.
        slot: its canonical form, by which tables are addressed.
        event_timers, processing_timers: the operator's timers.
        serializers: names of type serializers by state name, recorded in snapshots.
        caches: what brings tables up to date that are held elsewhere too; called before all tables are read.
        handles: those made so far, by state name: handles of one name are one object, as in Flink.
        filters: by state name, what a value is in a snapshot; None: nothing.
        kinds: what sort of state each is, by name, and the types it was declared with.
        versions: which migrations its values have behind them, by name; where there are none, it is 0.
        forms: of states in files that have been read and nobody has asked for yet, what the files say of them.
        rewrite: whether all of it is to be written next time, as something is not what it was in files.
        noted: the classes of what was written.
        notes: what has become of values that were not what is asked for, and of how many.
        changes: what has changed since it was last written down; None: nobody asks (:meth:`track`).
    """

    def __init__(self, key_hash: KeyHash, max_parallelism: int, clock: Clock | None = None) -> None:
        self.key_hash: KeyHash = key_hash
        self.max_parallelism: int = max_parallelism
        self.clock: Clock | None = clock
        self._tables: dict[str, dict[Any, Table]] = {}
        self._keys: Table = {}  # canonical form → key, where they are not one object
        self._most_keys = _FEW_KEYS
        self.current_key: Any = None
        self.slot: Any = None
        self.event_timers: TimerQueue = TimerQueue()
        self.processing_timers: TimerQueue = TimerQueue()
        self.serializers: dict[str, tuple[str, ...]] = {}
        self.caches: list[Callable[[], None]] = []
        self.handles: dict[str, Any] = {}
        self.filters: dict[str, Callable[[Any], Any]] = {}
        self.kinds: dict[str, tuple[str, tuple[str, ...]]] = {}
        self.versions: dict[str, int] = {}
        self.forms: dict[str, Any] = {}
        self.rewrite: bool = False
        self.noted: Noted = Noted()
        self.notes: Counter[str] = Counter()
        self.changes: Changes | None = None

    def track(self) -> None:
        """Note from now on what changes. To be called before anybody holds a table; what is there already does not
        count as changed."""
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
        """Whether anything has, since it was last written down."""
        self.settle()
        return self.changed_entries() > 0 or any(queue.all_new for _, queue in self.queues())

    def changed_entries(self) -> int:
        """How many values, and moves of timers, a log has to name now."""
        assert self.changes is not None
        return len(self.changes) + sum(queue.moves for _, queue in self.queues())

    def written(self) -> None:
        """All that has changed has been written down."""
        if self.changes is not None:
            self.changes.forget()
        for _, queue in self.queues():
            queue.written()

    def settle(self) -> None:
        """Bring all tables up to date. O(what has changed)."""
        for settle in self.caches:
            settle()

    def release(self) -> None:
        """Let go of the operator that has used it, so that another one of the same name can."""
        self.settle()
        self.handles, self.filters = {}, {}
        self.caches = []
        self.clock = None
        self.resume(None, None)

    @property
    def has_own_forms(self) -> bool:
        """Whether texts, ints, and tuples of them are their own canonical forms."""
        return self.key_hash.identity or self.key_hash.key_type is None

    @property
    def has_keys(self) -> bool:
        """Whether some keys are not their own canonical forms."""
        return bool(self._keys)

    def fill(self, name: str, namespace: Any, keys: Iterable[Any], values: Iterable[Any]) -> None:
        """Set the values of many keys, which does not count as a change."""
        plain = self.key_hash.identity and not self.key_hash.nullable
        slots = keys if plain else map(self.enter, keys)
        dict.update(self.table(name, namespace), zip(slots, values, strict=True))

    def by_group(self) -> Iterator[tuple[int, tuple[str, Any], Any, Any]]:
        """Key group, name and namespace, key, value of all that there is, by key group: of state beyond memory, which
        is not to be in memory all at once."""
        raise NotImplementedError

    @property
    def holds_dicts(self) -> bool:
        """Whether tables are dicts, as native functions want them."""
        return True

    def memory(self, written: int) -> int:
        """About how many bytes of memory the state takes.

        Args:
            written: bytes of its files.
        """
        return MEMORY_PER_BYTE * written

    def enter(self, key: Any) -> Any:
        """Make a key the current one; returns its canonical form.

        Raises:
            TypeInfoError: the key is None.
        """
        if key is None:
            return self._enter_null()
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

    def _enter_null(self) -> Any:
        if not self.key_hash.nullable:
            raise null_key()
        self.current_key, self.slot = None, NULL
        self._keys[NULL] = None
        return NULL

    def _forget_keys(self) -> None:
        """Forget the keys that have no state and no timer. O(state), so the next time comes after as many new keys as a
        fourth of the state."""
        tables = [table for namespaces in self._tables.values() for table in namespaces.values()]
        timers = [timer.slot for _, queue in self.queues() for timer in queue]
        changed = [] if self.changes is None else [slots for _, slots in self.changes]  # logs name their keys
        live = set(timers).union(*tables, *changed)
        self._keys = {slot: key for slot, key in self._keys.items() if slot in live}
        size = len(timers) + sum(map(len, tables))
        self._most_keys = len(self._keys) + max(_FEW_KEYS, size // 4)

    def keep_keys(self, keep: bool) -> None:
        """While state comes that is not in its place yet: forget no key."""
        self._most_keys = sys.maxsize if keep else len(self._keys) + _FEW_KEYS

    def resume(self, key: Any, slot: Any) -> None:
        """Make a key the current one whose canonical form is known, such as a timer's."""
        self.current_key, self.slot = key, slot

    def table(self, name: str, namespace: Any = VOID) -> Table:
        """The table of a state name in a namespace, made if need be; the same dict until :meth:`drop` empties it."""
        return self._tables.setdefault(name, {}).setdefault(namespace, {})

    def _tracked_table(self, name: str, namespace: Any = VOID) -> Table:
        """The same, of one that notes what changes."""
        assert self.changes is not None
        namespaces = self._tables.setdefault(name, {})
        table = namespaces.get(namespace)
        if table is None:
            table = namespaces[namespace] = self.changes.table((name, namespace))
        return table

    def find(self, name: str, namespace: Any = VOID) -> Table | None:
        """The table of a state name in a namespace, if there is one."""
        namespaces = self._tables.get(name)
        return None if namespaces is None else namespaces.get(namespace)

    def drop(self, name: str, namespace: Any = VOID) -> Any:
        """Forget the current key's value in a namespace and return it, or None. A window's table goes with its last
        value, so windows that are over take no memory."""
        namespaces = self._tables.get(name)
        table = None if namespaces is None else namespaces.get(namespace)
        if namespaces is None or table is None:
            return None
        value = table.pop(self.slot, None)
        if not table and namespace is not VOID:
            del namespaces[namespace]
        return value

    def forget(self) -> None:
        """Forget all keys and their values (BATCH mode: the only key has ended). Tables are emptied, as others hold
        them; those of namespaces go."""
        for namespaces in self._tables.values():
            for namespace, table in list(namespaces.items()):
                table.clear()
                if namespace is not VOID:
                    del namespaces[namespace]
        self._keys.clear()
        self.current_key = self.slot = None

    def places(self, name: str) -> list[tuple[Any, Any]]:
        """(namespace, canonical form of the key) of every value of a state."""
        return [(namespace, slot) for namespace, table in self._tables.get(name, {}).items() for slot in table]

    def revise(self, name: str, namespace: Any, slot: Any, revised: Callable[[Any], Any]) -> None:
        """Replace the value at a place, if there still is one, by what ``revised`` makes of it; None: forget it."""
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

    def convert(self, name: str, converted: Callable[[Any, Any], Any]) -> int:
        """Replace all values of a state, which does not count as a change; how many there were.

        Args:
            name: of the state.
            converted: key, value → the new value; None: forget it.
        """
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
        """Call a state otherwise, which does not count as a change. There is none of the new name."""
        for namespace, table in self._tables.pop(old, {}).items():
            dict.update(self.table(new, namespace), table)

    def forget_state(self, name: str) -> bool:
        """Forget all values of a state, which does not count as a change, and what it was; whether it was there."""
        there = name in self._tables or name in self.kinds
        for known in (self._tables, self.kinds, self.serializers, self.versions, self.forms):
            known.pop(name, None)
        return there

    def size(self) -> int:
        """How many values there are. O(tables)."""
        return sum(len(table) for namespaces in self._tables.values() for table in namespaces.values())

    def is_empty(self) -> bool:
        """Whether there is neither a value nor a timer. O(tables)."""
        self.settle()
        return not self.size() and not any(len(queue) for _, queue in self.queues())

    def keys(self, name: str) -> list[tuple[Any, Any]]:
        """(key, canonical form) of every key that has a value of a state without namespace."""
        return [(self.key_of(slot), slot) for slot in self.find(name) or ()]

    def key_of(self, slot: Any) -> Any:
        """The key behind its canonical form."""
        return self._keys.get(slot, slot)

    def tables(self) -> Iterable[tuple[str, Mapping[Any, Table]]]:
        """All tables as they are held here, by name and namespace."""
        return self._tables.items()

    def sections(self) -> dict[int, dict[tuple[str, Any], Pairs]]:
        """All tables by key group: group → (name, namespace) → (key, value) pairs. Pairs and not a dict, because to
        Java 1, 1.0 and True are three keys."""
        self.settle()
        result: dict[int, dict[tuple[str, Any], Pairs]] = {}
        for name, namespaces in self._tables.items():
            kept = self.filters.get(name)
            for namespace, table in namespaces.items():
                for slot, stored in table.items():
                    value = stored if kept is None else kept(stored)
                    if kept is not None and value is None:
                        continue
                    key = self._keys.get(slot, slot)
                    section = result.setdefault(self.group(key), {})
                    section.setdefault((name, namespace), []).append((key, value))
        return result

    def snapshot(self) -> dict[int, bytes]:
        """Everything, timers too, as bytes per key group; groups without state are not there."""
        tables, timers = self.sections(), defaultdict[int, list[Any]](list)
        for domain, queue in self.queues():
            for timer in queue:
                timers[self.group(timer.key)].append((domain, timer.time, timer.key, timer.namespace))
        return {group: self._section(tables.get(group, {}), timers[group]) for group in sorted({*tables, *timers})}

    def _section(self, tables: dict[tuple[str, Any], Pairs], timers: list[Any]) -> bytes:
        """What a snapshot holds of one key group."""
        names = {name: self.serializers[name] for name, _ in tables if name in self.serializers}
        return dumps((FORMAT, names, tables, timers))

    def restore(self, sections: Mapping[int, bytes]) -> None:
        """Take over key groups of snapshots, whichever subtasks wrote them. Values are added to what is there.

        Args:
            sections: bytes by key group.

        Raises:
            ValueError: the bytes have another format.
        """
        for _, data in sorted(sections.items()):
            version, serializers, tables, timers = decode_value(data)
            if version != FORMAT:
                raise ValueError(f"A section of keyed state has the format {version}; this version reads {FORMAT}.")
            self.serializers = {**serializers, **self.serializers}
            for (name, namespace), pairs in tables.items():
                table = self.table(name, namespace)
                for key, value in pairs:
                    table[self.enter(key)] = value
            queues = dict(self.queues())
            for domain, time, key, namespace in timers:
                queues[domain].add(time, self.enter(key), key, namespace)
        self.resume(None, None)

    def queues(self) -> Iterator[tuple[str, TimerQueue]]:
        """Its timers by domain: event, processing."""
        yield "event", self.event_timers
        yield "processing", self.processing_timers

    def group(self, key: Any) -> int:
        """Key group of a key."""
        return key_group_of_hash(self.key_hash.hash(key), self.max_parallelism)
