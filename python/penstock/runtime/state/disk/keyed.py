"""Keyed state beyond memory: the backend whose tables and timers lie in a local file as far as memory does not hold
them.

It is chosen by ``penstock.state.backend``, for programs in STREAMING mode, and gives what the other gives; what has no
order in Flink may have another one: keys of ``apply_to_keyed_state``, timers of equal time when they are more than
memory holds. A snapshot is streamed, in pieces by key group.

Cost: an access to what is in memory is that to a dict and about 0.2 µs, another one is a read of the file, about 10 µs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, cast

from penstock.runtime.buffers.codec import decode_value
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.state.disk.cells import Cell, Cells
from penstock.runtime.state.disk.memory import share
from penstock.runtime.state.disk.rows import RowFile
from penstock.runtime.state.disk.table import DiskTable, Generations
from penstock.runtime.state.disk.timers import TIMER, DiskTimerQueue
from penstock.runtime.state.disk.window import Window
from penstock.runtime.state.keyed import FORMAT, VOID, KeyedState, Pairs, Table
from penstock.runtime.state.timers import Clock
from penstock.runtime.state.tracking import Changes, Place

PIECE = 10_000
"""Entries in a piece of a snapshot, at the most."""
LEAST_TIMERS = 1_000
"""Timers that are in memory, however little of it there is."""
_PAGES = 4
"""Which part of the memory is for pages of the file: one in so many; the same for timers."""


class DiskKeyedState(KeyedState):
    """All keyed state of an operator's subtask, and the current key.

    Args:
        key_hash: the compiled key type.
        max_parallelism: number of key groups.
        clock: what values with a time to live end by; None: they live for ever.
        memory: bytes for all state of this process.
        functions: whether native functions may be used.
        folder: where the file is; None: where temporary files are.

    Raises:
        StateError: no file can be made there.
    """

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
        own, slot = share(self, memory) // _PAGES, lambda: self.slot
        self._file = RowFile(own, folder)
        self._cells = Cells(self._file, key_hash, max_parallelism, functions)
        self._memory = Generations(
            self._cells, lambda: share(self, memory) // 2, self._key, self._remember, slot, functions
        )
        self._memory.after = self._forget_keys
        self._plain: dict[str, DiskTable] = {}
        self._spaced: dict[str, DiskTable] = {}
        self._places: list[tuple[str, bool]] = []  # name of each table, and whether it has namespaces
        few = max(own // (2 * TIMER), LEAST_TIMERS)
        self.event_timers, self.processing_timers = (
            DiskTimerQueue(self._file, self._file.next_queue(), self._timer_number, self._key, few) for _ in range(2)
        )

    @property
    def holds_dicts(self) -> bool:
        return False

    def memory(self, written: int) -> int:
        return min(super().memory(written), share(self, self._limit))

    def track(self) -> None:
        if self.changes is None:
            self.changes = _DiskChanges(self._memory.tables, self._places)
            for table in self._memory.tables:
                table.track()
            for _, queue in self.queues():
                queue.track()

    def keep_keys(self, keep: bool) -> None:
        """Keys of what is in memory are kept in any case."""

    def fill(self, name: str, namespace: Any, keys: Iterable[Any], values: Iterable[Any]) -> None:
        self.load(name, namespace, zip(keys, values, strict=True))

    def by_group(self) -> Iterator[tuple[int, tuple[str, Any], Any, Any]]:
        self._memory.write()
        for group, cell in self._cells.all():
            found: dict[tuple[str, Any], Pairs] = {}
            self._add_pair(found, cell)
            for place, pairs in found.items():
                yield group, place, *pairs[0]

    def resume(self, key: Any, slot: Any) -> None:
        super().resume(key, slot)
        if slot is not key:
            self._keys[slot] = key

    def table(self, name: str, namespace: Any = VOID) -> Table:
        if namespace is VOID:
            return cast(Table, self._plain.get(name) or self._made(name, self._plain, False))
        return cast(Table, Window(self._spaced.get(name) or self._made(name, self._spaced, True), namespace))

    def _made(self, name: str, tables: dict[str, DiskTable], spaced: bool) -> DiskTable:
        table = tables.get(name)  # which may be there, and empty
        if table is None:
            table = tables[name] = DiskTable(self._memory, name, spaced)
            self._places.append((name, spaced))
            if self.changes is not None:
                table.track()
        return table

    def find(self, name: str, namespace: Any = VOID) -> Table | None:
        tables = self._plain if namespace is VOID else self._spaced
        return self.table(name, namespace) if name in tables else None

    def drop(self, name: str, namespace: Any = VOID) -> Any:
        table = self.find(name, namespace)
        return None if table is None else table.pop(self.slot, None)

    def size(self) -> int:
        return sum(map(len, self._memory.tables))

    def forget(self) -> None:
        for table in self._memory.tables:
            table.clear()
        self._keys.clear()
        self.current_key = self.slot = None

    def places(self, name: str) -> Iterator[tuple[Any, Any]]:  # type: ignore[override]
        """(namespace, canonical form of the key) of every value of a state, as they come."""
        if name in self._plain:
            yield from ((VOID, slot) for slot in self._plain[name])
        yield from self._spaced.get(name, ())

    def convert(self, name: str, converted: Callable[[Any, Any], Any]) -> int:
        count = 0
        if name in self._plain:
            count += self._plain[name].convert(lambda slot, value: converted(self._key(slot), value))
        if name in self._spaced:
            count += self._spaced[name].convert(lambda slot, value: converted(self._key(slot[1]), value))
        return count

    def rename(self, old: str, new: str) -> None:
        for tables in (self._plain, self._spaced):
            if old not in tables:
                continue
            tables[new] = table = tables.pop(old)
            self._places[table.number] = new, tables is self._spaced

    def keys(self, name: str) -> Iterator[tuple[Any, Any]]:  # type: ignore[override]
        """(key, canonical form) of every key that has a value of a state without namespace, as they come."""
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
        """Only keys of which something is in memory can be asked for."""
        keys, live = self._keys, self._memory.slots() if self._keys else ()
        self._keys = {slot: keys[slot] for slot in live if slot in keys}
        if keys and self.changes is not None:  # logs name their keys
            self._keys.update((slot, keys[slot]) for _, slots in self.changes for slot in slots if slot in keys)
        if self.slot in keys:
            self._keys[self.slot] = keys[self.slot]
        self._most_keys = 2 * len(self._keys) + 100_000

    # --- snapshots ---------------------------------------------------------------------------------------------------

    def pieces(self) -> Iterator[tuple[int, bytes]]:
        """A snapshot as key groups and bytes, each of which :meth:`restore` takes; a key group may come several times.
        Never are there more than some thousand entries in memory. Nothing may be written meanwhile."""
        self._memory.write()
        for group, cells in groupby(self._cells.all(), key=lambda each: each[0]):
            tables: dict[tuple[str, Any], Pairs] = {}
            for number, (_, cell) in enumerate(cells, 1):
                self._add_pair(tables, cell)
                if number % PIECE == 0:
                    yield group, self._section(tables, [])
                    tables = {}
            if tables:
                yield group, self._section(tables, [])
        yield from self._timer_pieces()

    def _add_pair(self, tables: dict[tuple[str, Any], Pairs], cell: Cell) -> None:
        name, spaced = self._places[cell.table]
        namespace, slot = cell.slot if spaced else (VOID, cell.slot)
        kept = self.filters.get(name)
        value = cell.value if kept is None else kept(cell.value)
        if kept is None or value is not None:
            tables.setdefault((name, namespace), []).append((cell.key[0] if cell.key else slot, value))

    def _timer_pieces(self) -> Iterator[tuple[int, bytes]]:
        for domain, queue in self.queues():
            for group, timers in groupby(queue, key=lambda timer: self._cells.group(timer.key)):
                found: list[Any] = []
                for timer in timers:
                    found.append((domain, timer.time, timer.key, timer.namespace))
                    if len(found) == PIECE:
                        yield group, self._section({}, found)
                        found = []
                if found:
                    yield group, self._section({}, found)

    def sections(self) -> dict[int, dict[tuple[str, Any], Pairs]]:
        """All tables by key group, in memory: for small ones only; :meth:`pieces` streams them."""
        self._memory.write()
        result: dict[int, dict[tuple[str, Any], Pairs]] = {}
        for group, cell in self._cells.all():
            self._add_pair(result.setdefault(group, {}), cell)
        return {group: tables for group, tables in result.items() if tables}

    def restore(self, sections: Mapping[int, bytes]) -> None:
        for _, data in sorted(sections.items()):
            self.restore_piece(data)

    def load(self, name: str, namespace: Any, pairs: Iterable[tuple[Any, Any]]) -> None:
        """Set values by key, many at a time. The current key is another one then."""
        if namespace is VOID:
            table = self._plain.get(name)
            made = self._made(name, self._plain, False) if table is None else table
            made.load((self.enter(key), value) for key, value in pairs)
        else:
            table = self._spaced.get(name)
            made = self._made(name, self._spaced, True) if table is None else table
            made.load(((namespace, self.enter(key)), value) for key, value in pairs)

    def restore_piece(self, data: bytes) -> None:
        """Take over what a key group of a snapshot holds, or a piece of it. Values are added to what is there.

        Raises:
            ValueError: the bytes have another format.
        """
        version, serializers, tables, timers = decode_value(data)
        if version != FORMAT:
            raise ValueError(f"A section of keyed state has the format {version}; this version reads {FORMAT}.")
        self.serializers = {**serializers, **self.serializers}
        for (name, namespace), pairs in tables.items():
            self.load(name, namespace, pairs)
        queues = dict(self.queues())
        for domain, time, key, namespace in timers:
            queues[domain].add(time, self.enter(key), key, namespace)
        super().resume(None, None)


class _DiskChanges(Changes):
    """What has changed in tables beyond memory, as the tables know.

    Args:
        tables: by number.
        places: name of each, and whether its places have namespaces.
    """

    def __init__(self, tables: list[DiskTable], places: list[tuple[str, bool]]) -> None:
        super().__init__()
        self._tables, self._names = tables, places

    def __len__(self) -> int:
        return sum(len(table.changed) for table in self._tables)

    def __iter__(self) -> Iterator[tuple[Place, set[Any]]]:
        for table, (name, spaced) in zip(self._tables, self._names, strict=True):
            if not spaced:
                if table.changed:
                    yield (name, VOID), table.changed
                continue
            found: dict[Any, set[Any]] = {}
            for namespace, slot in table.changed:
                found.setdefault(namespace, set()).add(slot)
            yield from (((name, namespace), slots) for namespace, slots in found.items())

    def forget(self) -> None:
        for table in self._tables:
            table.track()
