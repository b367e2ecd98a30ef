"""Tables with cold entries in a file, with the interface of a dict from key to value. Recently used entries are in
memory, in two generations. A read looks in the young one, the old one, then the file, and makes the entry young. When
the young entries take half of the memory, changed old entries are written in one batch, and the young generation
becomes the old one. A mutable value is written as it is when it leaves memory."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from itertools import islice
from operator import itemgetter
from typing import Any

from penstock.errors import StateError
from penstock.runtime import native
from penstock.runtime.buffers import codec
from penstock.runtime.state.disk.cells import GONE, Cell, Cells
from penstock.runtime.state.disk.memory import entry_size

_LEAST, _MOST = 16, 4_096  # bounds of the number of entries between two size estimates
_SAMPLE = 16
_LOADED = 10_000  # entries per batch of a load
_UNSET: Any = object()


class Generations:
    """The entries that an operator's tables have in memory."""

    def __init__(
        self,
        cells: Cells,
        limit: Callable[[], int],
        key_of: Callable[[Any], Any],
        remember: Callable[[Any, Any], None],
        current: Callable[[], Any],
        functions: bool,
    ) -> None:
        self.cells, self.key_of, self.remember, self.current = cells, key_of, remember, current
        self.left: int = _LEAST
        self.tables: list[DiskTable] = []
        self.after: Callable[[], None] = lambda: None
        module = native.functions(functions)
        self.is_immutable: Callable[[Any], bool] = codec.is_immutable if module is None else module.is_immutable
        self._limit = limit
        self._step, self._bytes = _LEAST, 0

    def look(self) -> None:
        limit = self._limit() // 2
        sample = (item for table in self.tables for item in table.newest(_SAMPLE))
        mean = entry_size(sample, 4 * _SAMPLE)
        self._bytes += mean * self._step
        if self._bytes >= limit:
            self.age()
        self._step = self.left = max(_LEAST, min(_MOST, (limit - self._bytes) // (8 * mean)))

    def age(self) -> None:
        current = self.current()
        for table in self.tables:
            table.age(current)
        self._bytes = 0
        self.after()

    def write(self) -> None:
        for table in self.tables:
            table.write()

    def slots(self) -> Iterator[Any]:
        return (slot for table in self.tables for slot in table.slots())


class DiskTable(MutableMapping[Any, Any]):
    """A table of an operator."""

    def __init__(self, memory: Generations, name: str, spaced: bool = False) -> None:
        self._name = name
        self.number: int = len(memory.tables)
        memory.tables.append(self)
        self._memory, self._cells, self._spaced = memory, memory.cells, spaced
        self._young: dict[Any, Any] = {}
        self._old: dict[Any, Any] = {}
        self._numbers: dict[Any, int] = {}  # row numbers of entries in memory; ~number if the row does not exist yet
        self._dirty: set[Any] = set()
        self._count = 0
        self._changed: set[Any] | None = None

    def get(self, slot: Any, default: Any = None) -> Any:
        value = self._young.get(slot, _UNSET)
        if value is _UNSET:
            value = self._fetch(slot)
        return default if value is GONE else value

    def __getitem__(self, slot: Any) -> Any:
        value = self.get(slot, GONE)
        if value is GONE:
            raise KeyError(slot)
        return value

    def __contains__(self, slot: Any) -> bool:
        return self.get(slot, GONE) is not GONE

    def __setitem__(self, slot: Any, value: Any) -> None:
        young = self._young
        before = young.get(slot, _UNSET)
        if before is _UNSET:
            before = self._fetch(slot)
            young = self._young
        if before is GONE:
            self._count += 1
        young[slot] = value
        self._dirty.add(slot)
        if self._changed is not None:
            self._changed.add(slot)

    def __delitem__(self, slot: Any) -> None:
        self.pop(slot)

    def pop(self, slot: Any, default: Any = _UNSET) -> Any:
        value = self.get(slot, GONE)
        if value is not GONE:
            self._young[slot] = GONE
            self._dirty.add(slot)
            self._count -= 1
            if self._changed is not None:
                self._changed.add(slot)
            return value
        if default is _UNSET:
            raise KeyError(slot)
        return default

    def setdefault(self, slot: Any, default: Any = None) -> Any:
        value = self.get(slot, GONE)
        if value is GONE:
            self[slot] = value = default
        elif self._changed is not None and not self._memory.is_immutable(value):
            self._changed.add(slot)
        return value

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Any]:
        return (slot for slot, _ in self.items())

    def items(self) -> Iterator[tuple[Any, Any]]:  # type: ignore[override]
        """Places and their current values, in the order of key groups."""
        memory, number, spaced = self._memory, self.number, self._spaced
        memory.write()
        for _, cell in self._cells.all():
            if cell.table == number and (value := self._now(cell)) is not GONE:
                if cell.key:
                    memory.remember(cell.slot[1] if spaced else cell.slot, cell.key[0])
                yield cell.slot, value

    def values(self) -> Iterator[Any]:  # type: ignore[override]
        return (value for _, value in self.items())

    def load(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        rows: list[tuple[int, bool, Cell]] = []
        for slot, value in pairs:
            if slot in self._numbers:
                before, self._changed = self._changed, None
                self[slot] = value
                self._changed = before
            else:
                rows.append(self._row(slot, value, True))
                if len(rows) == _LOADED:
                    self._store(rows)
        self._store(rows)

    def convert(self, converted: Callable[[Any, Any], Any]) -> int:
        rows: list[tuple[int, bool, Cell]] = []
        count = 0
        for slot, before in self.items():
            count += 1
            value = converted(slot, before)
            if slot not in self._numbers:
                rows.append(self._row(slot, GONE if value is None else value, False))
                self._count -= value is None
                if len(rows) == _LOADED:
                    self._store(rows)
            elif value is None:
                self.pop(slot)
            else:
                self[slot] = value
        self._store(rows)
        return count

    def _row(self, slot: Any, value: Any, new: bool, number: int | None = None) -> tuple[int, bool, Cell]:
        key_slot = slot[1] if self._spaced else slot
        key = self._memory.key_of(key_slot)
        cell = Cell(self.number, slot, value, () if key is key_slot else (key,))
        return self._cells.number(self.number, slot, key) if number is None else number, new, cell

    def _store(self, rows: list[tuple[int, bool, Cell]]) -> None:
        rows.sort(key=itemgetter(0))
        with self._failures():
            self._count += sum(new for _, new, _ in rows) - self._cells.write(rows)
        rows.clear()

    def clear(self) -> None:
        for slot in self:
            self.pop(slot, None)

    def leave_memory(self) -> None:
        """Have all entries in the file alone. No function may be about to change a value in place."""
        self.write()
        for entries in (self._old, self._young, self._numbers):
            entries.clear()

    def look(self, slots: list[Any]) -> tuple[list[Any], list[Any]]:
        """Those of many slots, keys that differ, which have a value, and the values; none of them becomes young."""
        if self._numbers:
            self.leave_memory()
        numbers = self._numbers_of(slots)  # what a key raises that cannot be one comes out here
        return self._cells.read_all(self.number, slots, numbers) if self._count else ([], [])

    def _numbers_of(self, slots: list[Any]) -> list[int]:
        return self._cells.numbers(self.number, slots, [key for _, key in slots] if self._spaced else slots)

    def take_over(self, slots: list[Any], values: list[Any], stored: Iterable[bool]) -> None:
        """Write the values of many slots, keys that differ; GONE takes one away. ``stored`` says which have values."""
        if self._numbers:
            self.leave_memory()
        number = self.number
        rows = [
            (row, not old, Cell(number, slot, value, ()))
            for row, slot, value, old in zip(self._numbers_of(slots), slots, values, stored, strict=True)
        ]
        self.mark(slots)
        self._count -= sum(value is GONE for value in values)
        self._store(rows)

    def track(self) -> None:
        self._changed = set()

    @property
    def changed(self) -> set[Any]:
        return self._changed or set()

    def touch(self, slot: Any) -> None:
        if self._changed is not None and slot in self:
            self._changed.add(slot)

    def mark(self, slots: Iterable[Any]) -> None:
        if self._changed is not None:
            self._changed.update(slots)

    def _now(self, cell: Cell) -> Any:
        """The current value of an entry that was read from the file, without making it young."""
        value = self._young.get(cell.slot, _UNSET)
        if value is _UNSET:
            value = self._old.get(cell.slot, _UNSET)
        return cell.value if value is _UNSET else value

    def newest(self, number: int) -> Iterable[tuple[Any, Any]]:
        return islice(reversed(self._young.items()), number)

    def _fetch(self, slot: Any) -> Any:
        """The value of a place that is not young, and make it young."""
        memory, key_slot = self._memory, slot[1] if self._spaced else slot
        if key_slot is None:  # no key is current
            return GONE
        value = self._old.pop(slot, _UNSET)
        if value is _UNSET:
            number = self._cells.number(self.number, slot, memory.key_of(key_slot))
            exists, value = self._cells.read(number, self.number, slot)
            self._numbers[slot] = number if exists else ~number
        memory.left -= 1
        if memory.left <= 0:
            memory.look()
        self._young[slot] = value
        return value

    def age(self, current: Any) -> None:
        # Entries of the current key must stay: its function may hold a value that it is about to change in place.
        old, self._old, self._young = self._old, self._young, {}
        stay = [slot for slot in old if slot[1] == current] if self._spaced else [current] if current in old else ()
        self._young.update((slot, old.pop(slot)) for slot in stay)
        self._write(old)
        for slot in old:
            del self._numbers[slot]
        self._dirty.difference_update(old)

    def write(self) -> None:
        for entries in (self._old, self._young):
            self._write(entries)
        self._dirty.clear()

    def slots(self) -> Iterator[Any]:
        return (slot[1] for slot in self._numbers) if self._spaced else iter(self._numbers)

    def _write(self, entries: dict[Any, Any]) -> None:
        dirty, is_immutable, numbers = self._dirty, self._memory.is_immutable, self._numbers
        # A mutable value may have been changed in place without being marked, so it is always written.
        changed = [
            slot for slot, value in entries.items() if slot in dirty or not (value is GONE or is_immutable(value))
        ]
        changed.sort(key=lambda slot: max(numbers[slot], ~numbers[slot]))
        with self._failures():
            self._cells.write(self._rows(changed, entries))

    @contextlib.contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except (StateError, MemoryError):
            raise
        except Exception as error:
            raise StateError(
                f"A value of the state {self._name!r} cannot be written to disk: {error}. State beyond memory can hold "
                "only what can be pickled; keep plain data in it, or set penstock.state.backend to memory."
            ) from error

    def _rows(self, slots: list[Any], entries: dict[Any, Any]) -> Iterator[tuple[int, bool, Cell]]:
        for slot in slots:
            number, value = self._numbers[slot], entries[slot]
            new, number = number < 0, max(number, ~number)
            self._numbers[slot] = ~number if value is GONE else number
            yield self._row(slot, value, new, number)
