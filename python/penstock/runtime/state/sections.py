"""Keyed state as the sections of a state file, and back: all of it, or what has changed.

A section holds some neighbouring key groups: about :data:`SECTION_BYTES`, or one key group, so that a small file has
one section. What is in one is described in ``docs/state-files.md``.

Cost: O(state) for all of it, O(what has changed) for a log.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from typing import Any, NamedTuple

from penstock.runtime import native
from penstock.runtime.buffers.codec import decode_value, dumps
from penstock.runtime.keys.key_types import KeyHash, native_code
from penstock.runtime.keys.keygroups import key_group_of_hash
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.timers import Timer, TimerQueue
from penstock.runtime.state.tracking import Place

SECTION_BYTES = 64 << 10
_SAMPLE = 200
_GONE = object()
DOMAINS = ("event", "processing")

Entry = tuple[int, Any, Any]
"""Number of a place, key, and a value, :data:`_GONE`, or of a timer (index, time, namespace, whether it was added)."""


class StateInfo(NamedTuple):
    """What is known of a state by name.

    Attributes:
        name: of the state.
        kind: such as ``ValueState``; ``table`` for what operators keep themselves.
        serializers: Flink's classes.
        types: as declared, in the same order; "" for none.
    """

    name: str
    kind: str
    serializers: tuple[str, ...]
    types: tuple[str, ...]


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
        states: those that occur, in the order of their numbers.
        timers: by domain, in the order of :data:`DOMAINS`.
        sections: in the order of key groups.
        entries: how many values, removals, timers and moves there are.
    """

    states: tuple[StateInfo, ...]
    timers: tuple[TimersInfo, ...]
    sections: tuple[Section, ...]
    entries: int


# --- writing ----------------------------------------------------------------------------------------------------------


def snapshot_of(keyed: KeyedState) -> Content:
    """All of a keyed state."""
    keyed.settle()
    places = [(name, namespace) for name, tables in keyed.tables() for namespace in tables]
    return _content(keyed, places, [keyed.find(*place) or () for place in places], whole=True)


def log_of(keyed: KeyedState) -> Content:
    """What has changed in a keyed state since it was last written down; it notes that."""
    keyed.settle()
    assert keyed.changes is not None
    changed = list(keyed.changes)
    return _content(keyed, [place for place, _ in changed], [slots for _, slots in changed], whole=False)


def _content(keyed: KeyedState, places: list[Place], slots: Sequence[Iterable[Any]], *, whole: bool) -> Content:
    entries = [each for number, place in enumerate(places) for each in _values(keyed, number, place, slots[number])]
    infos: list[TimersInfo] = []
    for number, (_, queue) in enumerate(keyed.queues(), len(places)):
        moves = [(True, timer) for timer in queue] if whole or queue.all_new else queue.noted or ()
        infos.append(TimersInfo(whole or queue.all_new, len(moves)))
        entries += ((number, t.key, (i, t.time, t.namespace, added)) for i, (added, t) in enumerate(moves))
    names = {name: number for number, name in enumerate(dict.fromkeys(name for name, _ in places))}
    numbered = [(names[name], namespace) for name, namespace in places]
    sections = (
        Section(first, last, _packed(part, numbered))
        for first, last, part in _shares(groups_of(keyed.key_hash, keyed.max_parallelism, entries), entries)
    )
    states = tuple(_info(keyed, name) for name in names)
    return Content(states, tuple(infos), tuple(sections), len(entries))


def _info(keyed: KeyedState, name: str) -> StateInfo:
    kind, types = keyed.kinds.get(name, ("table", ()))
    return StateInfo(name, kind, keyed.serializers.get(name, ()), types)


def _values(keyed: KeyedState, number: int, place: Place, slots: Iterable[Any]) -> Iterator[Entry]:
    """The values of some keys in a table."""
    table, kept, key_of = keyed.find(*place) or {}, keyed.filters.get(place[0]), keyed.key_of
    for slot in slots:
        value = table.get(slot, _GONE)
        if kept is not None and value is not _GONE and (value := kept(value)) is None:
            value = _GONE
        yield number, key_of(slot), value


def groups_of(key_hash: KeyHash, max_parallelism: int, entries: list[Entry]) -> dict[int, list[Entry]]:
    """Entries by the key group of their key. O(entries), by native functions where these know the type of the keys."""

    def group(key: Any) -> int:
        return key_group_of_hash(key_hash.hash(key), max_parallelism)

    functions, code = native.functions(), native_code(key_hash.key_type)
    if functions is not None and code is not None:
        router = functions.KeyRouter(code, max_parallelism, max_parallelism)  # as many channels as groups
        return dict(router.split([key for _, key, _ in entries], entries, group)[0])
    found: dict[int, list[Entry]] = {}
    for entry in entries:
        found.setdefault(group(entry[1]), []).append(entry)
    return found


def _shares(groups: Mapping[int, list[Entry]], entries: list[Entry]) -> Iterator[tuple[int, int, list[Entry]]]:
    """Key groups together that make a section, by the size of some entries."""
    sample = [each[1:] for each in entries[:: max(1, len(entries) // _SAMPLE)]]
    fill = SECTION_BYTES * max(1, len(sample)) // max(1, len(_plain(sample)))
    part: list[Entry] = []
    first = last = -1
    for group in sorted(groups):
        if part and len(part) + len(groups[group]) > fill:
            yield first, last, part
            part = []
        first, last = (first if part else group), group
        part.extend(groups[group])
    if part:
        yield first, last, part


def _plain(sample: list[Any]) -> bytes:
    return dumps([(key, None if value is _GONE else value) for key, value in sample])


def _packed(entries: list[Entry], places: list[tuple[int, Any]]) -> bytes:
    """A section: namespaces, (state, namespace, keys, values, keys that are gone) by place, and per domain of timers
    (indices, times, keys, namespaces, whether they were added)."""
    columns: dict[int, tuple[list[Any], list[Any], list[Any]]] = {}
    timers: tuple[list[Any], ...] = tuple([] for _ in DOMAINS)
    for number, key, value in entries:
        if number >= len(places):
            timers[number - len(places)].append((key, value))
            continue
        column = columns.get(number)
        if column is None:
            column = columns[number] = [], [], []
        if value is _GONE:
            column[2].append(key)
        else:
            column[0].append(key)
            column[1].append(value)
    namespaces: dict[Any, int] = {}

    def named(namespace: Any) -> int:
        return namespaces.setdefault(namespace, len(namespaces))

    tables = [(places[number][0], named(places[number][1]), *columns[number]) for number in sorted(columns)]
    rows = [_timer_columns(sorted(each, key=_index_of), named) if each else () for each in timers]
    return dumps((_shared(list(namespaces)), tables, rows))


def _index_of(timer: tuple[Any, Any]) -> int:
    return timer[1][0]


def _timer_columns(timers: list[Any], named: Any) -> tuple[Any, ...]:
    keys = [key for key, _ in timers]
    indices, times, namespaces, added = zip(*(value for _, value in timers), strict=True)
    return list(indices), list(times), keys, list(map(named, namespaces)), bytes(added)


def _shared(values: list[Any]) -> bytes:
    """Pickled with a memo, so that the name of a class of windows is written once."""
    try:
        return pickle.dumps(values, 5)
    except Exception:  # of the program's own __main__, say
        return dumps(values)


# --- reading ----------------------------------------------------------------------------------------------------------


class Replay:
    """Brings a keyed state to what a snapshot and the logs after it say.

    Args:
        keyed: takes it; empty, or what it was before these logs.
        groups: the key groups to take.
        resumed: whether ``keyed`` has the state before these logs.
    """

    def __init__(self, keyed: KeyedState, groups: range, *, resumed: bool = False) -> None:
        self._keyed, self._groups = keyed, groups
        self._queues = [queue if resumed else TimerQueue() for _, queue in keyed.queues()]
        self._resumed = resumed
        keyed.keep_keys(True)

    def apply(self, states: Sequence[StateInfo], timers: Sequence[TimersInfo], sections: Iterable[Section]) -> None:
        """The next file.

        Args:
            states, timers: what its header says.
            sections: those that have key groups of ours.
        """
        found: tuple[list[Any], ...] = tuple([] for _ in DOMAINS)
        for first, last, data in sections:
            own = first in self._groups and last in self._groups
            namespaces, tables, rows = decode_value(data)
            names = decode_value(namespaces)
            for number, namespace, keys, values, gone in tables:
                self._fill(states[number].name, names[namespace], *self._own(own, keys, values), gone)
            for domain, columns in enumerate(rows):
                if columns:
                    found[domain].extend(self._timers(own, names, *columns))
        for queue, info, moves in zip(self._queues, timers, found, strict=True):
            _replay(queue, info, moves)

    def _own(self, own: bool, keys: list[Any], *columns: Any) -> tuple[Any, ...]:
        """The rows of our key groups."""
        if own:
            return keys, *columns
        keyed = self._keyed
        mine = [keyed.group(key) in self._groups for key in keys]
        return tuple(list(compress(column, mine)) for column in (keys, *columns))

    def _fill(self, name: str, namespace: Any, keys: list[Any], values: list[Any], gone: list[Any]) -> None:
        keyed = self._keyed
        if keys:  # not by the table's own ways: nothing of this is to be written
            table, plain = keyed.table(name, namespace), keyed.key_hash.identity and not keyed.key_hash.nullable
            slots = keys if plain else map(keyed.enter, keys)
            dict.update(table, zip(slots, values, strict=True))
        for key in gone:
            keyed.enter(key)
            keyed.drop(name, namespace)

    def _timers(
        self, own: bool, names: list[Any], indices: list[int], times: list[int], keys: list[Any], *rest: Any
    ) -> Iterator[tuple[int, bool, Timer]]:
        keys, *columns = self._own(own, keys, indices, times, *rest)
        enter = self._keyed.enter
        for key, index, time, namespace, new in zip(keys, *columns, strict=True):
            yield index, bool(new), Timer(time, enter(key), key, names[namespace])

    def finish(self) -> None:
        """All files of this chain have been applied: hand over the timers. Nothing counts as changed."""
        keyed = self._keyed
        keyed.resume(None, None)
        if not self._resumed:
            for (_, queue), own in zip(keyed.queues(), self._queues, strict=True):
                if len(queue):
                    for timer in own:
                        queue.add(timer.time, timer.slot, timer.key, timer.namespace)
                else:
                    queue.fill(own)
        keyed.keep_keys(False)
        keyed.written()


def _replay(queue: TimerQueue, info: TimersInfo, moves: list[tuple[int, bool, Timer]]) -> None:
    moves.sort(key=_first)
    if not info.whole:
        for _, added, timer in moves:
            if added:
                queue.add(timer.time, timer.slot, timer.key, timer.namespace)
            else:
                queue.remove(timer.time, timer.slot, timer.namespace)
        return
    queue.fill(timer for _, _, timer in moves)
    if len(moves) < info.count:  # some belong to others: what is left of their order is no heap
        timers = list(queue)
        queue.fill(())
        for timer in timers:
            queue.add(timer.time, timer.slot, timer.key, timer.namespace)


def _first(move: tuple[int, bool, Timer]) -> int:
    return move[0]
