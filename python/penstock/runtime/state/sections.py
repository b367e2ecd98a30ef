"""Writes keyed state as the sections of a state file: all of it, or what has changed. A section holds neighbouring key
groups, at least one, as a pickle of its namespaces, tables and timers."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from heapq import merge
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from penstock.runtime import native
from penstock.runtime.buffers.codec import dumps
from penstock.runtime.buffers.spill import Store
from penstock.runtime.keys.key_types import native_code
from penstock.runtime.state.classes import Noted
from penstock.runtime.state.keyed import VOID, KeyedState, StateInfo, Table
from penstock.runtime.state.serializers import serializer_class
from penstock.runtime.state.timers import Move, Timer, TimerQueue
from penstock.runtime.state.tracked_tables import Place

SECTION_BYTES = 64 << 10
SECTIONS_MEMORY = 16 << 20
_SAMPLE = 200
_GONE = object()
DOMAINS = ("event", "processing")
Piece = tuple[Any, ...]
"""A key group's part of a table: (its number, keys, values); of timers: (-1 - domain, keys, moves); of several small
tables: (:data:`_MIXED`, keys, numbers of their tables, values)."""

_Timers = tuple[bool, list[Any]]  # whether the list has all timers or their moves, and the list
_MIXED = -1 - len(DOMAINS)
_MANY = 500  # tables with fewer values are sorted together, because each call of the router costs


class TimersInfo(NamedTuple):
    """Whether a file has all timers of a domain or only their moves, and how many."""

    whole: bool
    count: int


class Section(NamedTuple):
    """The bytes of a range of key groups."""

    first: int
    last: int
    data: bytes


class Sections(Sequence[Section]):
    """The sections of a file to be written: 16 MiB in memory, the rest in a temporary file, because a file begins with
    the places of all its sections."""

    def __init__(self, sections: Iterable[Section]) -> None:
        self._store = Store(SECTIONS_MEMORY)
        self._slips = [(first, last, self._store.put(data)) for first, last, data in sections]

    def __len__(self) -> int:
        return len(self._slips)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        first, last, slip = self._slips[index]
        return Section(first, last, self._store.look(slip))


class Content(NamedTuple):
    """The keyed state in a file."""

    key: tuple[str, str] | None
    states: tuple[StateInfo, ...]
    timers: tuple[TimersInfo, ...]
    sections: Sequence[Section]
    entries: int


def snapshot_of(keyed: KeyedState) -> Content:
    """A snapshot of a keyed state."""
    keyed.settle()
    if not keyed.holds_dicts:
        return _disk_snapshot(keyed)
    content = _native_content(keyed, [(True, list(queue)) for _, queue in keyed.queues()])
    if content is not None:
        return content
    places = [(name, namespace) for name, tables in keyed.tables() for namespace in tables]
    slots = [keyed.find(*place) or {} for place in places]
    return _content(keyed, places, slots, [(True, list(queue)) for _, queue in keyed.queues()])


class Earlier:
    """The entries that earlier logs mention, for a log that replaces them."""

    def __init__(self) -> None:
        self.slots: dict[Place, set[Any]] = {}
        self.moves: list[list[Move] | None] = [[] for _ in DOMAINS]
        self.places: set[tuple[str, str]] = set()


def log_of(keyed: KeyedState, earlier: Earlier) -> Content:
    """The changes of a keyed state since the last file."""
    keyed.settle()
    timers: list[_Timers] = []
    for moves, (_, queue) in zip(earlier.moves, keyed.queues(), strict=True):
        # Moves are only worth writing while they are fewer than the timers themselves.
        moves = None if moves is None or queue.all_new else [*moves, *(queue.noted or ())]
        timers.append((True, list(queue)) if moves is None or queue.outgrown(len(moves)) else (False, moves))
    keyed.resume(None, None)  # reading earlier logs has entered keys
    content = _native_content(keyed, timers, earlier)
    if content is None:
        if keyed.holds_dicts:  # what is in a file is up to date
            keyed.bring_back()
        assert keyed.changes is not None
        for place, slots in keyed.changes:
            before = earlier.slots.get(place)
            earlier.slots[place] = slots if before is None else before | slots
        content = _content(keyed, list(earlier.slots), list(earlier.slots.values()), timers)
    keyed.keep_keys(False)
    return content


def _native_content(keyed: KeyedState, timers: Sequence[_Timers], earlier: Earlier | None = None) -> Content | None:
    """The same for state that is in a native table: all of it, or what has changed, and what earlier logs mention. None
    where something else is to be written too. Besides the sections, only the values of one are objects."""
    native = keyed.native
    if native is None or not native.here or any(rows for _, rows in timers):
        return None
    place = native.name, VOID
    if keyed.changes or native.name in keyed.filters or not set(() if earlier is None else earlier.slots) <= {place}:
        return None
    if earlier is None and any(table for name, tables in keyed.others(native.name) for table in tables.values()):
        return None
    code, besides = (
        native_code(keyed.key_hash.key_type),
        None if earlier is None else list(earlier.slots.get(place, ())),
    )
    order = None if code is None else native.table.order(code, keyed.max_parallelism, besides)
    if order is None:
        return None
    sections = Sections(_native_sections(keyed, native.table, order))
    infos = tuple(TimersInfo(whole, 0) for whole, _ in timers)
    entries = order.groups[-1][1] if order.groups else 0
    states = (_info(keyed, native.name),) if entries else ()
    return Content(_key_info(keyed), states, infos, sections, entries)


def _native_sections(keyed: KeyedState, table: Any, order: Any) -> Iterator[Section]:
    start, first, last, end = 0, -1, -1, 0
    fill = 0
    for group, stop in order.groups:
        if not fill:
            sample = list(zip(*table.part(order, 0, min(_SAMPLE, order.groups[-1][1])), strict=True))
            fill = SECTION_BYTES * len(sample) // len(dumps(sample))
        if end > start and stop - start > fill:
            yield _native_section(keyed, table, order, range(start, end), (first, last))
            start = end
        first, last, end = (first if end > start else group), group, stop
    if end > start:
        yield _native_section(keyed, table, order, range(start, end), (first, last))


def _native_section(keyed: KeyedState, table: Any, order: Any, entries: range, groups: tuple[int, int]) -> Section:
    data = table.section(order, entries.start, entries.stop, keyed.noted.dumps([VOID], fast=False))
    if data is None:  # values are objects
        keys, values = table.part(order, entries.start, entries.stop)
        data = _pack([(0, keys, values)], [(0, VOID)], keyed.noted)
    return Section(*groups, data)


def _content(
    keyed: KeyedState, places: list[Place], slots: Sequence[Collection[Any]], timers: Sequence[_Timers]
) -> Content:
    names = {name: number for number, name in enumerate(dict.fromkeys(name for name, _ in places))}
    sorting = _Sorting(keyed, [(names[name], namespace) for name, namespace in places])
    for number, place in enumerate(places):
        sorting.add_values(number, place, slots[number])
    infos = [sorting.add_timers(domain, *rows) for domain, rows in enumerate(timers)]
    states = tuple(_info(keyed, name) for name in names)
    return Content(_key_info(keyed), states, tuple(infos), Sections(sorting.sections()), sorting.entries)


def _key_info(keyed: KeyedState) -> tuple[str, str]:
    key_type = keyed.key_hash.key_type
    return serializer_class(key_type), "" if key_type is None else repr(key_type)


def _info(keyed: KeyedState, name: str) -> StateInfo:
    return keyed.infos.get(name) or StateInfo(name, "table", (), ())


def _disk_snapshot(keyed: KeyedState) -> Content:
    """A snapshot of state beyond memory. Besides the sections, only the values of a few key groups are in memory."""
    queues = [queue for _, queue in keyed.queues()]

    def tagged(domain: int, queue: TimerQueue) -> Iterator[tuple[int, int, Any, Any, Any]]:
        return ((group, domain, None, timer.key, timer) for group, timer in queue.by_group())

    timers = [tagged(domain, queue) for domain, queue in enumerate(queues)]
    values = ((group, -1, place, key, value) for group, place, key, value in keyed.entries())
    names: dict[str, int] = {}
    counts = [0] * (len(queues) + 1)  # the last one is that of values
    # Values and timers come sorted by key group, so one merge brings together what a section needs.
    merged: Iterator[tuple[int, int, Any, Any, Any]] = merge(values, *timers, key=itemgetter(0))

    def filled() -> Iterator[Section]:
        part = _Part()
        for group, rows in groupby(merged, key=itemgetter(0)):
            if part.size >= SECTION_BYTES:
                yield part.section(keyed.noted)
                part = _Part()
            for _, domain, place, key, value in rows:
                counts[domain] += 1
                if domain < 0:
                    place = names.setdefault(place[0], len(names)), place[1]
                part.add(group, domain, place, key, value)
        if part.last >= 0:
            yield part.section(keyed.noted)

    sections = Sections(filled())
    infos = tuple(TimersInfo(True, count) for count in counts[:-1])
    return Content(_key_info(keyed), tuple(_info(keyed, name) for name in names), infos, sections, sum(counts))


class _Part:
    """A section that is filled entry by entry."""

    def __init__(self) -> None:
        self.first = self.last = -1
        self.size = self._count = 0
        self._columns: dict[tuple[int, Any], tuple[list[Any], list[Any]]] = {}
        self._timers: tuple[list[Timer], ...] = tuple([] for _ in DOMAINS)

    def add(self, group: int, domain: int, place: Any, key: Any, value: Any) -> None:
        self.first, self.last = (group if self.last < 0 else self.first), group
        if self._count % _SAMPLE == 0:
            sample = (key, value) if domain < 0 else (value.time, key, value.namespace)
            self.size += _SAMPLE * len(dumps(sample))
        self._count += 1
        if domain < 0:
            keys, values = self._columns.setdefault(place, ([], []))
            keys.append(key)
            values.append(value)
        else:
            self._timers[domain].append(value)

    def section(self, noted: Noted) -> Section:
        pieces: list[Piece] = [(number, *columns) for number, columns in enumerate(self._columns.values())]
        pieces += ((-1 - domain, [], timers) for domain, timers in enumerate(self._timers) if timers)
        return Section(self.first, self.last, _pack(pieces, list(self._columns), noted))


class _Sorting:
    def __init__(self, keyed: KeyedState, places: list[tuple[int, Any]]) -> None:
        self._keyed, self._places = keyed, places
        functions, code = native.functions(), native_code(keyed.key_hash.key_type)
        self._router = None
        if functions is not None and code is not None:  # as many channels as key groups
            self._router = functions.KeyRouter(code, keyed.max_parallelism, keyed.max_parallelism)
        self._pieces: dict[int, list[Piece]] = {}
        self._mixed: tuple[list[int], list[Any], list[Any]] = [], [], []
        self._sample: list[Any] = []
        self.entries = 0

    def add_values(self, number: int, place: Place, slots: Collection[Any]) -> None:
        keyed, table = self._keyed, self._keyed.find(*place) or {}
        kept = keyed.filters.get(place[0])
        self.entries += len(slots)
        keys = keyed.keys_of(slots)
        # A large table is split by the router in one native call. Small tables, of which windows make many, are
        # gathered and split together at the end. So are tables with removed or filtered values, which have no column.
        if kept is None and len(keys) >= _MANY:
            with contextlib.suppress(KeyError):  # some values are removed: list them as gone, below
                values = list(table.values()) if slots is table else keyed.values_of(table, slots)
                self._add_sample(keys, values)
                self._split(number, keys, values)
                return
        numbers, all_keys, values = self._mixed
        numbers += [number] * len(keys)
        all_keys += keys
        values += (table.get(slot, _GONE) for slot in slots) if kept is None else _live(table, slots, kept)

    def add_timers(self, domain: int, whole: bool, rows: list[Any]) -> TimersInfo:
        timers: list[Timer] = rows if whole else [timer for _, timer in rows]
        # Sections lose the order of moves of different keys, so each move gets its index; timers have one in the heap.
        rows = rows if whole else [(index, *move) for index, move in enumerate(rows)]
        self.entries += len(timers)
        if timers:
            keys = [timer.key for timer in timers]
            self._add_sample(keys, [(timer.time, timer.namespace) for timer in timers[:_SAMPLE]])
            self._split(-1 - domain, keys, rows)
        return TimersInfo(whole, len(timers))

    def _add_sample(self, keys: list[Any], values: list[Any]) -> None:
        step = max(1, min(len(keys), len(values)) // _SAMPLE)
        self._sample += zip(keys[::step], values[::step], strict=False)

    def _split(self, number: int, keys: list[Any], *columns: list[Any]) -> None:
        keyed = self._keyed
        if self._router is not None:
            split = self._router.split
            all_parts = (split(keys, column, keyed.group)[0] for column in (keys, *columns))
            parts = [{group: part for group, part, _ in parts} for parts in all_parts]
        else:
            groups = list(map(keyed.group, keys))
            parts = [defaultdict[int, list[Any]](list) for _ in (keys, *columns)]
            for part, column in zip(parts, (keys, *columns), strict=True):
                for group, value in zip(groups, column, strict=True):
                    part[group].append(value)
        for group in parts[0]:
            self._pieces.setdefault(group, []).append((number, *(part[group] for part in parts)))

    def sections(self) -> Iterator[Section]:
        numbers, keys, values = self._mixed
        if keys:
            self._add_sample(keys, values)
            self._split(_MIXED, keys, numbers, values)
        # The sample tells how many entries fill a section. A key group is never cut, because a restore at another
        # parallelism reads whole sections.
        sample = dumps([(key, None if value is _GONE else value) for key, value in self._sample])
        fill = SECTION_BYTES * max(1, len(self._sample)) // len(sample)
        pieces: list[Piece] = []
        first = last = count = 0
        for group in sorted(self._pieces):
            here = self._pieces[group]
            more = sum(len(piece[1]) for piece in here)
            if pieces and count + more > fill:
                yield Section(first, last, _pack(pieces, self._places, self._keyed.noted))
                pieces, count = [], 0
            first, last = (first if pieces else group), group
            pieces += here
            count += more
        if pieces:
            yield Section(first, last, _pack(pieces, self._places, self._keyed.noted))


def _live(table: Table, slots: Iterable[Any], kept: Callable[[Any], Any]) -> Iterator[Any]:
    for slot in slots:
        value = table.get(slot, _GONE)
        live = None if value is _GONE else kept(value)
        yield _GONE if live is None else live


def _pack(pieces: list[Piece], places: list[tuple[int, Any]], noted: Noted) -> bytes:
    """The bytes of a section: namespaces, (state, namespace, keys, values, removed keys) per table, and timers."""
    columns = defaultdict[int, tuple[list[Any], list[Any], list[Any]]](lambda: ([], [], []))
    moves: tuple[list[Any], ...] = tuple([] for _ in DOMAINS)
    for number, keys, *rest in pieces:
        if number == _MIXED:
            for table, key, value in zip(rest[0], keys, rest[1], strict=True):
                all_keys, values, gone = columns[table]
                if value is _GONE:
                    gone.append(key)
                else:
                    all_keys.append(key)
                    values.append(value)
        elif number < 0:
            moves[-1 - number].extend(rest[0])
        else:
            columns[number][0].extend(keys)
            columns[number][1].extend(rest[0])
    namespaces: dict[Any, int] = {}

    def named(namespace: Any) -> int:
        return namespaces.setdefault(namespace, len(namespaces))

    tables = [(places[number][0], named(places[number][1]), *columns[number]) for number in sorted(columns)]
    timers = [_timer_columns(move, named) if move else () for move in moves]
    # with a memo, so that the class of windows is named once
    return noted.dumps((noted.dumps(list(namespaces), fast=False), tables, timers))


def _timer_columns(rows: list[Any], named: Callable[[Any], int]) -> tuple[Any, ...]:
    if not isinstance(rows[0], tuple):  # timers
        added: list[bool] = []
        rows.sort(key=attrgetter("index"))
        indices, timers = [timer.index for timer in rows], rows
    else:
        rows.sort(key=itemgetter(0))
        indices, added, timers = map(list, zip(*rows, strict=True))
    keys, times = [timer.key for timer in timers], [timer.time for timer in timers]
    return indices, times, keys, [named(timer.namespace) for timer in timers], bytes(added) or b"\1" * len(keys)
