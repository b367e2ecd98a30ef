"""Entries of tables as rows of a file. A row's number is the key group and 48 bits of Python's hash of the place, so
rows are ordered by key group. Places may collide; such a row holds a list, and its number is remembered, because
writing to it requires reading it first."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from penstock.runtime import native
from penstock.runtime.buffers.codec import dumps
from penstock.runtime.keys.key_types import KeyHash, native_code
from penstock.runtime.keys.keygroups import key_group_of_hash
from penstock.runtime.state.disk.rows import CHUNK, RowFile

GONE: Any = object()  # stands for a missing value
BITS = 48
_LOW = (1 << BITS) - 1


class Cell(NamedTuple):
    """An entry of a table, as a row stores it."""

    table: int
    slot: Any
    value: Any
    key: tuple[Any, ...]


class Cells:
    """The entries in a file."""

    def __init__(self, file: RowFile, key_hash: KeyHash, max_parallelism: int, functions: bool) -> None:
        self.file: RowFile = file
        self.group: Callable[[Any], int]
        self.split: Callable[[list[Any]], Iterable[tuple[int, Iterable[int]]]]
        self.group, self.split = _grouping(key_hash, max_parallelism, functions)
        self._shared: set[int] = set()  # numbers of rows that may have several entries

    def number(self, table: int, slot: Any, key: Any) -> int:
        return self.group(key) << BITS | (hash(slot) ^ table * 0x9E3779B97F4B) & _LOW

    def numbers(self, table: int, slots: list[Any], keys: list[Any]) -> list[int]:
        """The numbers of many places, and the canonical forms of their keys, which are the keys themselves."""
        mixed = table * 0x9E3779B97F4B
        numbers = [0] * len(slots)
        for group, places in self.split(keys):
            base = group << BITS
            for place in places:
                numbers[place] = base | (hash(slots[place]) ^ mixed) & _LOW
        return numbers

    def read_all(self, table: int, slots: list[Any], numbers: list[int]) -> tuple[list[Any], list[Any]]:
        """Those of many slots, keys that differ, which have an entry in the rows of these numbers; and the values."""
        wanted: dict[int, Any] = {}
        keys, values = list[Any](), list[Any]()
        for number, slot in zip(numbers, slots, strict=True):
            if wanted.setdefault(number, slot) is not slot:  # two have one row
                exists, value = self.read(number, table, slot)
                if exists:
                    keys.append(slot)
                    values.append(value)
        for number, data in self.file.get_all(sorted(wanted)):
            content, slot = pickle.loads(data), wanted[number]
            if type(content) is not list and content[0] == table and content[1] == slot:
                keys.append(slot)
                values.append(content[2])
                continue
            exists, value = self.read(number, table, slot)
            if exists:
                keys.append(slot)
                values.append(value)
        return keys, values

    def read(self, number: int, table: int, slot: Any) -> tuple[bool, Any]:
        """Whether the row has this entry, and its value or GONE."""
        data = self.file.get(number)
        if data is None:
            return False, GONE
        content = pickle.loads(data)
        for cell in content if type(content) is list else (content,):
            if cell[0] == table and cell[1] == slot:
                return True, cell[2]
        self._shared.add(number)
        return False, GONE

    def write(self, cells: Iterable[tuple[int, bool, Cell]]) -> int:
        """Write entries; returns how many new ones existed already."""
        existing = 0
        waiting: list[tuple[int, bool, Cell]] = []
        with self.file.together():
            for cell in cells:
                waiting.append(cell)
                if len(waiting) == CHUNK:
                    existing += self._write(waiting)
                    waiting = []
            return existing + self._write(waiting)

    def _write(self, cells: list[tuple[int, bool, Cell]]) -> int:
        fresh: dict[int, tuple[bytes, Cell]] = {}
        known: list[tuple[int, bytes]] = []
        gone: list[int] = []
        slow: list[tuple[int, bool, Cell]] = []
        shared = self._shared
        # Rows of one entry are written in three batches, by what is known: new rows, existing rows, removed rows.
        # Rows that collide are read first, one by one.
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
        existing, others = file.add([(number, data) for number, (data, _) in fresh.items()])
        slow += ((number, True, fresh[number][1]) for number, _ in others)
        existed = [self._write_shared(number, cell) and new for number, new, cell in slow]
        return existing - len(others) + sum(existed)

    def _write_shared(self, number: int, cell: Cell) -> bool:
        """Write to a row that may have other entries; returns whether the entry existed."""
        self._shared.add(number)
        data = self.file.get(number)
        content = [] if data is None else pickle.loads(data)
        cells = content if type(content) is list else [content]
        left = [other for other in cells if other[0] != cell.table or other[1] != cell.slot]
        existed = len(left) < len(cells)
        if cell.value is not GONE:
            left.append(tuple(cell))
        if left:
            self.file.put([(number, encoded(left))])
        else:
            self.file.remove([number])
        return existed

    def all(self) -> Iterator[tuple[int, Cell]]:
        """Key group and entry of everything in the file, by key group. Entries may be written meanwhile."""
        for rows in self.file.chunks("select id, data from rows where id>? order by id limit ?"):
            for number, data in rows:
                content = pickle.loads(data)
                for cell in content if type(content) is list else (content,):
                    yield number >> BITS, Cell(*cell)


def encoded(cell: Any) -> bytes:
    """An entry as bytes."""
    plain = tuple(cell) if type(cell) is Cell else cell
    try:
        return pickle.dumps(plain, 5)
    except Exception:
        return dumps(plain)  # a class of the program's own module, perhaps


def _grouping(
    key_hash: KeyHash, max_parallelism: int, functions: bool
) -> tuple[Callable[[Any], int], Callable[[list[Any]], Iterable[tuple[int, Iterable[int]]]]]:
    """The functions from key to key group, and from keys to key groups with the places of their keys; native where the
    key type allows."""

    def group(key: Any) -> int:
        return key_group_of_hash(key_hash.hash(key), max_parallelism)

    module, code = native.functions(functions), native_code(key_hash.key_type)
    if module is None or code is None:
        return group, lambda keys: ((group(key), (place,)) for place, key in enumerate(keys))
    split, nothing = module.KeyRouter(code, max_parallelism, max_parallelism).split, [None]

    def split_all(keys: list[Any]) -> Iterable[tuple[int, Iterable[int]]]:
        return ((group, places) for group, places, _ in split(keys, list(range(len(keys))), group_of)[0])

    group_of = group
    return lambda key: split([key], nothing, group)[0][0][0], split_all
