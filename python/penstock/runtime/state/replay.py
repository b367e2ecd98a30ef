"""What is in state files back into keyed state: snapshots, and the logs after them.

Cost: O(what is read); whole sections go into their tables without a look at their keys, if these are their own forms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import Any

from penstock.runtime.state.class_changes import Reading, mentions
from penstock.runtime.state.key_changes import Check, key_check
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.sections import DOMAINS, Earlier, Section, StateInfo, TimersInfo
from penstock.runtime.state.timers import Timer, TimerQueue
from penstock.runtime.state.type_changes import Refusal

_FEW = 1_000
"""Timers, or moves of them, that are in memory all at once also where state is beyond memory: their order is kept."""


class Replay:
    """Brings a keyed state to what a snapshot and the logs after it say.

    Args:
        keyed: takes it; empty, or what it was before these logs.
        groups: the key groups to take.
        resumed: whether ``keyed`` has the state before these logs.
    """

    def __init__(self, keyed: KeyedState, groups: range, *, resumed: bool = False) -> None:
        self._keyed, self._groups = keyed, groups
        self._queues = [queue if resumed else queue.another() for _, queue in keyed.queues()]
        self._resumed = resumed
        keyed.keep_keys(True)

    def expect(self, key: str, states: Sequence[StateInfo], reading: Reading) -> Check | None:
        """What the next file has.

        Args:
            key: the type of keys, as its header says.
            states: as its header says.
            reading: how its pickles are read.

        Returns:
            What looks at its keys, if it has to.

        Raises:
            Refusal: it is not for the program as it is now, and why.
        """
        check = key_check(key, self._keyed.key_hash)
        self._keyed.rewrite |= check is not None or bool(reading.changed)
        for info in states:
            if info.serializers or info.types:
                self._keyed.serializers.setdefault(info.name, info.serializers)
                self._keyed.kinds.setdefault(info.name, (info.kind, info.types))
        return check

    def apply(
        self,
        states: Sequence[StateInfo],
        timers: Sequence[TimersInfo],
        sections: Iterable[Section],
        reading: Reading,
        check: Check | None,
    ) -> None:
        """The next file.

        Args:
            states, timers: what its header says.
            sections: those that have key groups of ours.
            reading, check: as of :meth:`expect`.

        Raises:
            Refusal: a key is another one now.
        """
        found: tuple[list[Any], ...] = tuple([] for _ in DOMAINS)
        streamed = [not self._keyed.holds_dicts and info.count > _FEW for info in timers]
        for queue, info, many in zip(self._queues, timers, streamed, strict=True):
            if many and info.whole:
                queue.fill(())
        for first, last, data in sections:
            own = first in self._groups and last in self._groups
            names, tables, rows = _read(data, check, reading)
            for number, namespace, *columns, gone in tables:
                self._fill(states[number], names[namespace], self._own(own, *columns), gone)
            for domain, columns in enumerate(rows):
                if columns:
                    found[domain].extend(self._timers(own, names, *columns))
                    if streamed[domain]:  # in any order, but for those of a key, which are in one section
                        _move(self._queues[domain], found[domain])
                        found[domain].clear()
        for queue, info, moves, many in zip(self._queues, timers, found, streamed, strict=True):
            if not many:
                _replay(queue, info, moves)

    def _note(self, info: StateInfo) -> None:
        """What there is to know of a state until somebody asks for it."""
        keyed = self._keyed
        before = keyed.forms.get(info.name)
        if before is None:
            keyed.forms[info.name] = before = info
            keyed.versions[info.name] = info.version
            if info.serializers or info.types:
                keyed.serializers[info.name], keyed.kinds[info.name] = info.serializers, (info.kind, info.types)
        if before != info:
            raise Refusal(
                f"the state {info.name!r} is in two forms: some subtasks have been asked for it since it was changed, "
                "and some have not. Ask for it in open(), and run the program once at the parallelism that it had"
            )

    def _own(self, own: bool, keys: list[Any], *columns: Any) -> tuple[Any, ...]:
        """The rows of our key groups."""
        if own:
            return keys, *columns
        keyed = self._keyed
        mine = [keyed.group(key) in self._groups for key in keys]
        return tuple(list(compress(column, mine)) for column in (keys, *columns))

    def _fill(self, info: StateInfo, namespace: Any, columns: tuple[Any, ...], gone: list[Any]) -> None:
        keyed, (keys, values) = self._keyed, columns
        if keys:  # not by the table's own ways: nothing of this is to be written
            self._note(info)
            keyed.fill(info.name, namespace, keys, values)
        for key in gone:
            keyed.enter(key)
            keyed.drop(info.name, namespace)

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
    if not info.whole:
        _move(queue, moves)
        return
    moves.sort(key=_first)
    queue.fill(timer for _, _, timer in moves)
    if len(moves) < info.count:  # some belong to others: what is left of their order is no heap
        timers = list(queue)
        queue.fill(())
        for timer in timers:
            queue.add(timer.time, timer.slot, timer.key, timer.namespace)


def note_touched(
    earlier: Earlier,
    keyed: KeyedState,
    states: Sequence[StateInfo],
    timers: Sequence[TimersInfo],
    sections: Iterable[Section],
    reading: Reading,
) -> None:
    """Add to what earlier logs have touched.

    Args:
        earlier: takes it.
        keyed: the state that they belong to.
        states, timers, sections, reading: of the next log.
    """
    keyed.keep_keys(True)  # until the next log is written
    found: tuple[list[Any], ...] = tuple([] for _ in DOMAINS)
    for _, _, data in sections:
        names, tables, rows = _read(data, None, reading)
        for number, namespace, keys, _, gone in tables:
            place = states[number].name, names[namespace]
            earlier.slots.setdefault(place, set()).update(map(keyed.enter, keys), map(keyed.enter, gone))
        for domain, columns in enumerate(rows):
            for index, time, key, namespace, added in zip(*columns, strict=True):
                found[domain].append((index, bool(added), Timer(time, keyed.enter(key), key, names[namespace])))
    for domain, info in enumerate(timers):
        found[domain].sort(key=_first)
        moves = earlier.moves[domain]
        earlier.moves[domain] = None if info.whole or moves is None else [*moves, *(row[1:] for row in found[domain])]


def _read(data: bytes, check: Check | None, reading: Reading) -> tuple[Any, ...]:
    """Namespaces, tables and timers of a section."""
    namespaces, tables, rows = reading.loads(data)
    _look_at(tables, rows, check, reading)
    return reading.loads(namespaces), tables, rows


def _look_at(tables: Iterable[Any], rows: Sequence[Any], check: Check | None, reading: Reading) -> None:
    """Look at the keys of a section, if something about keys could have changed.

    Raises:
        Refusal: one would be another key.
    """
    if check is None and not reading.changed:
        return
    found = [keys for _, _, keys, _, gone in tables for keys in (keys, gone)] + [each[2] for each in rows if each]
    for keys in found:
        if check is not None:
            check(keys)
        for key in keys if reading.changed else ():
            if mentions(key, reading.changed):
                raise Refusal(
                    f"the class of the key {key!r} has changed, and its fields say in which key group its state is"
                )


def _move(queue: TimerQueue, moves: list[tuple[int, bool, Timer]]) -> None:
    for _, added, timer in sorted(moves, key=_first):
        if added:
            queue.add(timer.time, timer.slot, timer.key, timer.namespace)
        else:
            queue.remove(timer.time, timer.slot, timer.namespace)


def _first(move: tuple[int, bool, Timer]) -> int:
    return move[0]
