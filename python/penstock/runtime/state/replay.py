"""Applies state files to keyed state: a snapshot, and the logs after it. Whole sections go into their tables without a
look at each key, where keys are their own canonical forms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from operator import itemgetter
from typing import Any

from penstock.runtime.keys.pyflink_keys import InRow
from penstock.runtime.state.class_changes import GoneError, Reading, lost_in, mentions
from penstock.runtime.state.evolution import TABLE
from penstock.runtime.state.files import Header
from penstock.runtime.state.keyed import VOID, KeyedState, StateInfo, kind_of_key
from penstock.runtime.state.sections import DOMAINS, Content, Earlier, Section, TimersInfo
from penstock.runtime.state.store import TRIGGERS
from penstock.runtime.state.timers import Timer, TimerQueue
from penstock.runtime.state.tracked_tables import Place
from penstock.runtime.state.type_changes import Check, Refusal, is_undeclared, key_check

_SAMPLE = 100  # keys per table and section whose Python types are recorded
_FEW = 1_000  # up to so many timers or moves are replayed in memory, in order, even for state beyond memory


class Replay:
    """Restores a keyed state from a snapshot and its logs, one file after the other."""

    def __init__(self, keyed: KeyedState, groups: range, *, resumed: bool = False) -> None:
        self._keyed, self._groups = keyed, groups
        # Each series gets its own queues, because its logs name moves of its own heap; finish() merges the queues.
        self._queues = [queue if resumed else queue.another() for _, queue in keyed.queues()]
        self._resumed = resumed
        keyed.keep_keys(True)
        key_type = keyed.key_hash.key_type
        if not resumed and is_undeclared(key_type.key_type if isinstance(key_type, InRow) else key_type):
            keyed.key_kinds = keyed.key_kinds or set()

    def expect(self, key: str, states: Sequence[StateInfo], reading: Reading) -> Check | None:
        """Register the states of the next file; returns a check for its keys if their type has changed."""
        check = key_check(key, self._keyed.key_hash)
        self._keyed.rewrite |= check is not None or bool(reading.changed)
        for info in states:
            if info.serializers or info.types:  # the version counts only for values
                known = self._keyed.infos.setdefault(info.name, info._replace(version=0))
                self._keyed.infos[info.name] = known._replace(windows=known.windows or info.windows)
        return check

    def apply(
        self, described: Header | Content, sections: Iterable[Section], reading: Reading, check: Check | None
    ) -> None:
        moves_by_domain: tuple[list[Any], ...] = tuple([] for _ in DOMAINS)
        streamed = [not self._keyed.holds_dicts and info.count > _FEW for info in described.timers]
        for queue, info, many in zip(self._queues, described.timers, streamed, strict=True):
            if many and info.whole:
                queue.fill(())
        for first, last, data in sections:
            all_ours = first in self._groups and last in self._groups
            names, tables, rows = _read(data, check, reading)
            for number, namespace, *columns, gone in tables:
                self._fill(described.states[number], names[namespace], self._ours(all_ours, *columns), gone, reading)
            for domain, columns in enumerate(rows):
                if columns:
                    moves_by_domain[domain].extend(self._timers(all_ours, names, *columns))
                    if streamed[domain]:  # only the order per key matters, and a key is in one section
                        _move(self._queues[domain], moves_by_domain[domain])
                        moves_by_domain[domain].clear()
        for queue, info, moves, many in zip(self._queues, described.timers, moves_by_domain, streamed, strict=True):
            if not many:
                _replay(queue, info, moves)

    def _note(self, info: StateInfo) -> None:
        """Record what the file says of a state, until the program asks for it."""
        keyed = self._keyed
        before = keyed.forms.get(info.name)
        if before is None:
            keyed.forms[info.name] = before = info
            known = keyed.infos.get(info.name, info)
            described = info if info.serializers or info.types else known
            keyed.infos[info.name] = described._replace(version=info.version, windows=info.windows or known.windows)
        if before != info:
            raise Refusal(
                f"the state {info.name!r} is in two forms: some subtasks have used it since it was changed, "
                "and some have not. Ask for it in open(), and run the program once at the parallelism that it had"
            )

    def _ours(self, all_ours: bool, keys: list[Any], *columns: Any) -> tuple[Any, ...]:
        if all_ours:
            return keys, *columns
        keyed = self._keyed
        mine = [keyed.group(key) in self._groups for key in keys]
        return tuple(list(compress(column, mine)) for column in (keys, *columns))

    def _fill(
        self, info: StateInfo, namespace: Any, columns: tuple[Any, ...], gone: list[Any], reading: Reading
    ) -> None:
        keyed, (keys, values) = self._keyed, columns
        if reading.drops and (lost := lost_in(values)):
            if info.kind == TABLE or info.name.startswith(TRIGGERS):  # an operator's own table
                raise GoneError(lost)
            keyed.lost[info.name] = lost
        if info.name in keyed.lost:
            self._note(info)
            return
        if keys:  # fill() records no change: these values are in files already
            self._note(info)
            keyed.fill(info.name, namespace, keys, values)
            if keyed.key_kinds is not None:
                keyed.key_kinds.update(map(kind_of_key, keys[:_SAMPLE]))
        for key in gone:
            keyed.enter(key)
            keyed.drop(info.name, namespace)

    def _timers(
        self, all_ours: bool, names: list[Any], indices: list[int], times: list[int], keys: list[Any], *rest: Any
    ) -> Iterator[tuple[int, bool, Timer]]:
        keys, *columns = self._ours(all_ours, keys, indices, times, *rest)
        enter = self._keyed.enter
        for key, index, time, namespace, new in zip(keys, *columns, strict=True):
            yield index, bool(new), Timer(time, enter(key), key, names[namespace])

    def finish(self) -> None:
        keyed = self._keyed
        keyed.resume(None, None)
        for name in keyed.lost:
            keyed.convert(name, lambda _key, _value: None)
            keyed.rewrite = True
        if not self._resumed:
            for (_, queue), restored in zip(keyed.queues(), self._queues, strict=True):
                if len(queue):
                    for timer in restored:
                        queue.add(timer.time, timer.slot, timer.key, timer.namespace)
                else:
                    queue.fill(restored)
        keyed.keep_keys(False)
        keyed.written()


def _replay(queue: TimerQueue, info: TimersInfo, moves: list[tuple[int, bool, Timer]]) -> None:
    if not info.whole:
        _move(queue, moves)
        return
    moves.sort(key=itemgetter(0))
    queue.fill(timer for _, _, timer in moves)
    if len(moves) < info.count:  # some belong to other subtasks, so the rest is not a heap
        timers = list(queue)
        queue.fill(())
        for timer in timers:
            queue.add(timer.time, timer.slot, timer.key, timer.namespace)


def note_touched(
    earlier: Earlier, keyed: KeyedState, header: Header, sections: Iterable[Section], reading: Reading
) -> None:
    """Add the keys and timers that the next log mentions to ``earlier``."""
    keyed.keep_keys(True)  # until the next log is written
    moves_by_domain: tuple[list[Any], ...] = tuple([] for _ in DOMAINS)
    for _, _, data in sections:
        names, tables, rows = _read(data, None, reading)
        for number, namespace, keys, _, gone in tables:
            place = header.states[number].name, names[namespace]
            if gone or not _touched(keyed, place, keys):
                earlier.slots.setdefault(place, set()).update(map(keyed.enter, keys), map(keyed.enter, gone))
        for domain, columns in enumerate(rows):
            for index, time, key, namespace, added in zip(*columns, strict=True):
                moves_by_domain[domain].append(
                    (index, bool(added), Timer(time, keyed.enter(key), key, names[namespace]))
                )
    for domain, info in enumerate(header.timers):
        moves_by_domain[domain].sort(key=itemgetter(0))
        moves = earlier.moves[domain]
        earlier.moves[domain] = (
            None if info.whole or moves is None else [*moves, *(row[1:] for row in moves_by_domain[domain])]
        )


def _touched(keyed: KeyedState, place: Place, keys: list[Any]) -> bool:
    """Whether keys could be counted as changed in the native table, which takes a few bytes for each: the next log has
    what has changed, and what is in ``earlier``."""
    native = keyed.native
    if native is None or not native.here or place != (native.name, VOID):
        return False
    return native.table.touch(list(map(keyed.enter, keys)))


def _read(data: bytes, check: Check | None, reading: Reading) -> tuple[Any, ...]:
    namespaces, tables, rows = reading.loads(data)
    names = reading.loads(namespaces)
    all_keys = [keys for _, _, *columns, gone in tables for keys in (columns[0], gone)] + [
        row[2] for row in rows if row
    ]
    if reading.drops and (lost := lost_in((all_keys, names))):
        raise GoneError(lost)
    for keys in all_keys:
        if check is not None:
            check(keys)
        for key in keys if reading.changed else ():
            if mentions(key, reading.changed):
                raise Refusal(f"the class of the key {key!r} has changed, and its fields decide its key group")
    return names, tables, rows


def _move(queue: TimerQueue, moves: list[tuple[int, bool, Timer]]) -> None:
    for _, added, timer in sorted(moves, key=itemgetter(0)):
        if added:
            queue.add(timer.time, timer.slot, timer.key, timer.namespace)
        else:
            queue.remove(timer.time, timer.slot, timer.namespace)
