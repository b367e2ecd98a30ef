"""Keyed state as the sections of a state file, and back: all of it, or what has changed.

A section holds some neighbouring key groups: about :data:`SECTION_BYTES`, or one key group, so that a small file has
one section. What is in one is described in ``docs/state-files.md``.

Cost: O(state) for all of it, O(what has changed) for a log.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from heapq import merge
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from penstock.runtime import native
from penstock.runtime.buffers.codec import dumps
from penstock.runtime.keys.key_types import native_code
from penstock.runtime.state.classes import Noted
from penstock.runtime.state.keyed import KeyedState, Table
from penstock.runtime.state.serializers import serializer_class
from penstock.runtime.state.timers import Move, Timer, TimerQueue
from penstock.runtime.state.tracking import Place

SECTION_BYTES = 64 << 10
_SAMPLE = 200
_GONE = object()
DOMAINS = ("event", "processing")

Piece = tuple[Any, ...]
"""What a key group has of a table: (its number, keys, values); of timers: (-1 - domain, keys, moves); of several
tables: (:data:`_MIXED`, keys, numbers of their tables, values)."""

_Timers = tuple[bool, list[Any]]
"""Whether these are all timers, and these, or moves."""

_MIXED = -1 - len(DOMAINS)
_MANY = 500
"""Values of a table from which on it is sorted by itself."""


class StateInfo(NamedTuple):
    """What is known of a state by name.

    Attributes:
        name: of the state.
        kind: such as ``ValueState``; ``table`` for what operators keep themselves.
        serializers: Flink's classes.
        types: as declared, in the same order; "" for none.
        version: of the last migration of its values; 0: there was none.
    """

    name: str
    kind: str
    serializers: tuple[str, ...]
    types: tuple[str, ...]
    version: int = 0


class TimersInfo(NamedTuple):
    """What a file has of the timers of a domain.

    Attributes:
        whole: whether these are all timers, in the order of the heap; otherwise they are moves, to be done in order.
        count: how many timers or moves.
    """

    whole: bool
    count: int


class Section(NamedTuple):
    """Some key groups.

    Attributes:
        first, last: of the key groups.
        data: what there is.
    """

    first: int
    last: int
    data: bytes


class Content(NamedTuple):
    """What a file has of keyed state.

    Attributes:
        key: Flink's serializer of the keys, and their type as declared; None where there is no keyed state.
        states: those that occur, in the order of their numbers.
        timers: by domain, in the order of :data:`DOMAINS`.
        sections: in the order of key groups.
        entries: how many values, removals, timers and moves there are.
    """

    key: tuple[str, str] | None
    states: tuple[StateInfo, ...]
    timers: tuple[TimersInfo, ...]
    sections: tuple[Section, ...]
    entries: int


def snapshot_of(keyed: KeyedState) -> Content:
    """All of a keyed state. O(state)."""
    keyed.settle()
    if not keyed.holds_dicts:
        return _streamed(keyed)
    places = [(name, namespace) for name, tables in keyed.tables() for namespace in tables]
    slots = [keyed.find(*place) or {} for place in places]
    return _content(keyed, places, slots, [(True, list(queue)) for _, queue in keyed.queues()])


class Earlier:
    """What logs have touched that the next log is to stand for.

    Attributes:
        slots: keys by table.
        moves: of timers by domain, in order; None if a log had all timers.
        places: those of operator state.
    """

    def __init__(self) -> None:
        self.slots: dict[Place, set[Any]] = {}
        self.moves: list[list[Move] | None] = [[] for _ in DOMAINS]
        self.places: set[tuple[str, str]] = set()


def log_of(keyed: KeyedState, earlier: Earlier | None = None) -> Content:
    """What has changed in a keyed state since it was last written down; it notes that. O(what has changed).

    Args:
        keyed: the state.
        earlier: what the log is to have as well.
    """
    keyed.settle()
    assert keyed.changes is not None
    earlier = earlier or Earlier()
    for place, slots in keyed.changes:
        before = earlier.slots.get(place)
        earlier.slots[place] = slots if before is None else before | slots
    timers: list[_Timers] = []
    for moves, (_, queue) in zip(earlier.moves, keyed.queues(), strict=True):
        moves = None if moves is None or queue.all_new else [*moves, *(queue.noted or ())]
        timers.append((True, list(queue)) if moves is None or queue.outgrown(len(moves)) else (False, moves))
    keyed.resume(None, None)
    content = _content(keyed, list(earlier.slots), list(earlier.slots.values()), timers)
    keyed.keep_keys(False)
    return content


def _content(
    keyed: KeyedState,
    places: list[Place],
    slots: Sequence[Collection[Any]],
    timers: Sequence[_Timers],
) -> Content:
    names = {name: number for number, name in enumerate(dict.fromkeys(name for name, _ in places))}
    sorting = _Sorting(keyed, [(names[name], namespace) for name, namespace in places])
    for number, place in enumerate(places):
        sorting.add_values(number, place, slots[number])
    infos = [sorting.add_timers(domain, *rows) for domain, rows in enumerate(timers)]
    states = tuple(_info(keyed, name) for name in names)
    return Content(_key_info(keyed), states, tuple(infos), tuple(sorting.sections()), sorting.entries)


def _key_info(keyed: KeyedState) -> tuple[str, str]:
    key_type = keyed.key_hash.key_type
    return serializer_class(key_type), "" if key_type is None else repr(key_type)


def _info(keyed: KeyedState, name: str) -> StateInfo:
    kind, types = keyed.kinds.get(name, ("table", ()))
    return StateInfo(name, kind, keyed.serializers.get(name, ()), types, keyed.versions.get(name, 0))


def _streamed(keyed: KeyedState) -> Content:
    """All of a state beyond memory: never are there more than the values of a few key groups in memory, besides the
    sections."""
    queues = [queue for _, queue in keyed.queues()]
    timers = [_tagged(domain, queue) for domain, queue in enumerate(queues)]
    values = ((group, -1, place, key, value) for group, place, key, value in keyed.by_group())
    names: dict[str, int] = {}
    counts = [0] * len(queues)
    sections: list[Section] = []
    part = _Part(keyed.noted)
    entries = 0
    merged: Iterator[tuple[int, int, Any, Any, Any]] = merge(values, *timers, key=itemgetter(0))
    for group, rows in groupby(merged, key=itemgetter(0)):
        if part.size >= SECTION_BYTES:
            sections.append(part.section())
            part = _Part(keyed.noted)
        for _, domain, place, key, value in rows:
            entries += 1
            if domain < 0:
                part.add_value(group, (names.setdefault(place[0], len(names)), place[1]), key, value)
            else:
                counts[domain] += 1
                part.add_timer(group, domain, value)
    if part.last >= 0:
        sections.append(part.section())
    infos = tuple(TimersInfo(True, count) for count in counts)
    return Content(_key_info(keyed), tuple(_info(keyed, name) for name in names), infos, tuple(sections), entries)


def _tagged(domain: int, queue: TimerQueue) -> Iterator[tuple[int, int, Any, Any, Any]]:
    return ((group, domain, None, timer.key, timer) for group, timer in queue.by_group())


class _Part:
    """What becomes a section, by and by.

    Args:
        noted: takes the classes of what is in it.
    """

    def __init__(self, noted: Noted) -> None:
        self._noted = noted
        self.first = self.last = -1
        self.size = 0
        self._places: dict[tuple[int, Any], int] = {}
        self._columns: list[tuple[list[Any], list[Any]]] = []
        self._timers: tuple[list[Timer], ...] = tuple([] for _ in DOMAINS)
        self._count = 0

    def _in(self, group: int, sample: Any) -> None:
        """A key group is in the section; the size is taken from every few entries."""
        self.first, self.last = (group if self.last < 0 else self.first), group
        if self._count % _SAMPLE == 0:
            self.size += _SAMPLE * len(dumps(sample))
        self._count += 1

    def add_value(self, group: int, place: tuple[int, Any], key: Any, value: Any) -> None:
        """A value of a table."""
        number = self._places.setdefault(place, len(self._places))
        if number == len(self._columns):
            self._columns.append(([], []))
        keys, values = self._columns[number]
        keys.append(key)
        values.append(value)
        self._in(group, (key, value))

    def add_timer(self, group: int, domain: int, timer: Timer) -> None:
        """A timer."""
        self._timers[domain].append(timer)
        self._in(group, (timer.time, timer.key, timer.namespace))

    def section(self) -> Section:
        """All of it."""
        pieces: list[Piece] = [(number, *columns) for number, columns in enumerate(self._columns)]
        pieces += ((-1 - domain, [], timers) for domain, timers in enumerate(self._timers) if timers)
        return Section(self.first, self.last, _packed(pieces, list(self._places), self._noted))


class _Sorting:
    """Sorts what is to be written by the key group of its key, many values of a table at a time.

    Args:
        keyed: whose state.
        places: number of the state, and the namespace, of each table.
    """

    def __init__(self, keyed: KeyedState, places: list[tuple[int, Any]]) -> None:
        self._keyed, self._places = keyed, places
        functions, code = native.functions(), native_code(keyed.key_hash.key_type)
        self._router = None
        if functions is not None and code is not None:  # as many channels as key groups
            self._router = functions.KeyRouter(code, keyed.max_parallelism, keyed.max_parallelism)
        self._found: dict[int, list[Piece]] = {}
        self._mixed: tuple[list[int], list[Any], list[Any]] = [], [], []
        self._sample: list[Any] = []
        self.entries = 0

    def add_values(self, number: int, place: Place, slots: Collection[Any]) -> None:
        """The values of some keys of a table."""
        keyed, table = self._keyed, self._keyed.find(*place) or {}
        kept = keyed.filters.get(place[0])
        self.entries += len(slots)
        keys = list(map(keyed.key_of, slots)) if keyed.has_keys else list(slots)
        if kept is None and len(keys) >= _MANY:
            with contextlib.suppress(KeyError):  # some have no value any more
                values = list(table.values() if slots is table else map(table.__getitem__, slots))
                self._taste(keys, values)
                self._split(number, keys, values)
                return
        numbers, all_keys, values = self._mixed
        numbers += [number] * len(keys)
        all_keys += keys
        values += (table.get(slot, _GONE) for slot in slots) if kept is None else _live(table, slots, kept)

    def add_timers(self, domain: int, whole: bool, rows: list[Any]) -> TimersInfo:
        """All timers of a domain, or how they have moved."""
        timers: list[Timer] = rows if whole else [timer for _, timer in rows]
        rows = rows if whole else [(index, *move) for index, move in enumerate(rows)]
        self.entries += len(timers)
        if timers:
            keys = [timer.key for timer in timers]
            self._taste(keys, [(timer.time, timer.namespace) for timer in timers[:_SAMPLE]])
            self._split(-1 - domain, keys, rows)
        return TimersInfo(whole, len(timers))

    def _taste(self, keys: list[Any], values: list[Any]) -> None:
        """Take some for the estimate of how long they are."""
        step = max(1, min(len(keys), len(values)) // _SAMPLE)
        self._sample += zip(keys[::step], values[::step], strict=False)

    def _split(self, number: int, keys: list[Any], *columns: list[Any]) -> None:
        keyed = self._keyed
        if self._router is not None:
            parts = [dict(self._router.split(keys, column, keyed.group)[0]) for column in (keys, *columns)]
        else:
            groups = list(map(keyed.group, keys))
            parts = [_by_group(groups, column) for column in (keys, *columns)]
        for group in parts[0]:
            self._found.setdefault(group, []).append((number, *(part[group] for part in parts)))

    def sections(self) -> Iterator[Section]:
        """Everything, in the order of key groups."""
        numbers, keys, values = self._mixed
        if keys:
            self._taste(keys, values)
            self._split(_MIXED, keys, numbers, values)
        sample = dumps([(key, None if value is _GONE else value) for key, value in self._sample])
        fill = SECTION_BYTES * max(1, len(self._sample)) // len(sample)
        pieces: list[Piece] = []
        first = last = count = 0
        for group in sorted(self._found):
            here = self._found[group]
            more = sum(len(piece[1]) for piece in here)
            if pieces and count + more > fill:
                yield Section(first, last, _packed(pieces, self._places, self._keyed.noted))
                pieces, count = [], 0
            first, last = (first if pieces else group), group
            pieces += here
            count += more
        if pieces:
            yield Section(first, last, _packed(pieces, self._places, self._keyed.noted))


def _live(table: Table, slots: Iterable[Any], kept: Callable[[Any], Any]) -> Iterator[Any]:
    """Values that are written, of a state that leaves some out."""
    for slot in slots:
        value = table.get(slot, _GONE)
        live = None if value is _GONE else kept(value)
        yield _GONE if live is None else live


def _by_group(groups: list[int], column: list[Any]) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for group, value in zip(groups, column, strict=True):
        found.setdefault(group, []).append(value)
    return found


def _packed(pieces: list[Piece], places: list[tuple[int, Any]], noted: Noted) -> bytes:
    """A section: namespaces, (state, namespace, keys, values, keys that are gone) by table, and per domain of timers
    (indices, times, keys, namespaces, whether they were added)."""
    columns: dict[int, tuple[list[Any], list[Any], list[Any]]] = {}
    moves: tuple[list[Any], ...] = tuple([] for _ in DOMAINS)
    for number, keys, *rest in pieces:
        if number == _MIXED:
            for each, key, value in zip(rest[0], keys, rest[1], strict=True):
                column = columns.get(each)
                if column is None:
                    column = columns[each] = [], [], []
                if value is _GONE:
                    column[2].append(key)
                else:
                    column[0].append(key)
                    column[1].append(value)
        elif number < 0:
            moves[-1 - number].extend(rest[0])
        else:
            column = columns.setdefault(number, ([], [], []))
            column[0].extend(keys)
            column[1].extend(rest[0])
    namespaces: dict[Any, int] = {}

    def named(namespace: Any) -> int:
        return namespaces.setdefault(namespace, len(namespaces))

    tables = [(places[number][0], named(places[number][1]), *columns[number]) for number in sorted(columns)]
    timers = [_timer_columns(each, named) if each else () for each in moves]
    # with a memo, so that the name of a class of windows is written once
    return noted.dumps((noted.dumps(list(namespaces), fast=False), tables, timers))


def _timer_columns(rows: list[Any], named: Callable[[Any], int]) -> tuple[Any, ...]:
    """Of moves (index, whether added, timer), or of timers as they stand in the heap."""
    if isinstance(rows[0], Timer):
        added: list[bool] = []
        rows.sort(key=attrgetter("index"))
        indices, timers = [timer.index for timer in rows], rows
    else:
        rows.sort(key=itemgetter(0))
        indices, added, timers = map(list, zip(*rows, strict=True))
    keys, times = [timer.key for timer in timers], [timer.time for timer in timers]
    return indices, times, keys, [named(timer.namespace) for timer in timers], bytes(added) or b"\1" * len(keys)
