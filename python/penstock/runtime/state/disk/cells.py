"""Entries of tables as rows of a file: which row is whose, and several in one row.

A row's number is the key group of its key and 48 bits of Python's hash of the place, so rows lie by key group, and
places that Python takes for equal meet in one row. Different places may meet there as well; such a row holds a list,
and its number is remembered, as writing to it takes reading it first.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from penstock.runtime import native
from penstock.runtime.buffers.codec import dumps
from penstock.runtime.keys.key_types import KeyHash, native_code
from penstock.runtime.keys.keygroups import key_group_of_hash
from penstock.runtime.state.disk.rows import CHUNK, RowFile

GONE: Any = object()
"""In place of a value: there is none."""
BITS = 48
_LOW = (1 << BITS) - 1


class Cell(NamedTuple):
    """An entry of a table as it lies in a row.

    Attributes:
        table: number of its table.
        slot: its place in there.
        value: or GONE.
        key: if it is not what the place says, in a tuple.
    """

    table: int
    slot: Any
    value: Any
    key: tuple[Any, ...]


class Cells:
    """Entries in a file.

    Args:
        file: of the operator's subtask.
        key_hash: the compiled key type.
        max_parallelism: number of key groups.
        functions: whether native functions may be used.

    Attributes:
        group: the key group of a key.
    """

    def __init__(self, file: RowFile, key_hash: KeyHash, max_parallelism: int, functions: bool) -> None:
        self.file: RowFile = file
        self.group: Callable[[Any], int] = _grouping(key_hash, max_parallelism, functions)
        self._shared: set[int] = set()  # numbers of rows in which several may be

    def number(self, table: int, slot: Any, key: Any) -> int:
        """The row of an entry."""
        return self.group(key) << BITS | (hash(slot) ^ table * 0x9E3779B97F4B) & _LOW

    def read(self, number: int, table: int, slot: Any) -> tuple[bool, Any]:
        """Whether the row is there for this entry, and its value, or GONE."""
        data = self.file.get(number)
        if data is None:
            return False, GONE
        found = pickle.loads(data)
        for cell in found if type(found) is list else (found,):
            if cell[0] == table and cell[1] == slot:
                return True, cell[2]
        self._shared.add(number)
        return False, GONE

    def write(self, cells: Iterable[tuple[int, bool, Cell]]) -> int:
        """Write entries.

        Args:
            cells: number of the row, whether it was not there for this entry, and the entry; GONE removes it. Sorted
                by number this costs least. One that was there after all is replaced.

        Returns:
            How many were there although it was said that they were not.
        """
        there = 0
        waiting: list[tuple[int, bool, Cell]] = []
        with self.file.together():
            for each in cells:
                waiting.append(each)
                if len(waiting) == CHUNK:
                    there += self._write(waiting)
                    waiting = []
            return there + self._write(waiting)

    def _write(self, cells: list[tuple[int, bool, Cell]]) -> int:
        fresh: dict[int, tuple[bytes, Cell]] = {}
        known: list[tuple[int, bytes]] = []
        gone: list[int] = []
        slow: list[tuple[int, bool, Cell]] = []
        shared = self._shared
        for number, new, cell in cells:
            if number in shared or number in fresh:
                slow.append((number, new, cell))
            elif cell.value is GONE:
                if not new:
                    gone.append(number)
            elif new:
                fresh[number] = encoded(cell), cell
            else:
                known.append((number, encoded(cell)))
        file = self.file
        file.put(known)
        file.remove(gone)
        there, others = file.add([(number, data) for number, (data, _) in fresh.items()])
        slow += ((number, True, fresh[number][1]) for number, _ in others)
        found = [self._write_shared(number, cell) and new for number, new, cell in slow]
        return there - len(others) + sum(found)

    def _write_shared(self, number: int, cell: Cell) -> bool:
        """Write to a row that others may be in; whether the entry was there."""
        self._shared.add(number)
        data = self.file.get(number)
        found = [] if data is None else pickle.loads(data)
        cells = found if type(found) is list else [found]
        left = [each for each in cells if each[0] != cell.table or each[1] != cell.slot]
        there = len(left) < len(cells)
        if cell.value is not GONE:
            left.append(tuple(cell))
        if left:
            self.file.put([(number, encoded(left))])
        else:
            self.file.remove([number])
        return there

    def all(self) -> Iterator[tuple[int, Cell]]:
        """Key group and entry of all that is written, by key group; entries may be written meanwhile."""
        for rows in self.file.chunks("select id, data from rows where id>? order by id limit ?"):
            for number, data in rows:
                yield from _decoded(number, data)


def _decoded(number: int, data: bytes) -> Iterator[tuple[int, Cell]]:
    found = pickle.loads(data)
    for cell in found if type(found) is list else (found,):
        yield number >> BITS, Cell(*cell)


def encoded(cell: Any) -> bytes:
    """An entry as bytes."""
    plain = tuple(cell) if type(cell) is Cell else cell
    try:
        return pickle.dumps(plain, 5)
    except Exception:
        return dumps(plain)  # what pickle cannot write may be of the program's own module


def _grouping(key_hash: KeyHash, max_parallelism: int, functions: bool) -> Callable[[Any], int]:
    """The key group of a key, by native functions where they know the type."""

    def group(key: Any) -> int:
        return key_group_of_hash(key_hash.hash(key), max_parallelism)

    module, code = native.functions(functions), native_code(key_hash.key_type)
    if module is None or code is None:
        return group
    split, nothing = module.KeyRouter(code, max_parallelism, max_parallelism).split, [None]
    return lambda key: split([key], nothing, group)[0][0][0]
