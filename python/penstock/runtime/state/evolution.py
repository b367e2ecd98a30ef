"""Converts restored state to the form that the program asks for today.

When a state is first asked for, the description in its file is compared with the descriptor. If they differ, each value
is converted once and the step ends with a snapshot; or the state is refused, with the reason. Source of the refusals:
``StateSerializerProvider`` (Flink 1.20), which refuses more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.common.functions.state_descriptor import MapStateDescriptor, Migration, StateDescriptor
from penstock.errors import InvalidProgramError, StateError
from penstock.runtime.state.keyed import KeyedState, StateInfo
from penstock.runtime.state.lost_classes import MIGRATION, check_asked
from penstock.runtime.state.operator_state import BROADCAST, OperatorState
from penstock.runtime.state.serializers import TTL, serializer_class
from penstock.runtime.state.type_changes import Convert, Refusal, Type, conversion, is_undeclared
from penstock.runtime.state.type_texts import type_of

TABLE = "table"
ELEMENTS = "table of elements"
TIMED = "table of elements with timestamps"
HELD = "table of timestamped values"
REDUCTIONS = "table of reductions"
ACCUMULATORS = "table of accumulators"
_GONE = object()
_EMPTY: dict[str, Any] = {}


def settle(
    keyed: KeyedState,
    descriptor: StateDescriptor[Any] | None,
    form: StateInfo,
    declared: Sequence[Type],
    defaults: Mapping[str, Any] = _EMPTY,
) -> None:
    """Convert a restored state to the requested form, before anyone holds it."""
    former = () if descriptor is None else descriptor.former_names
    for name in (form.name, *former):
        check_asked(keyed.lost, name)
    for name in former:
        _rename(keyed, name, form.name)
    old = keyed.forms.pop(form.name, None)
    if old is None or old == form:
        return
    keyed.rewrite = True
    now = keyed.clock.now() if keyed.clock is not None else 0
    convert = conversion_of(descriptor, old, form, declared, now, defaults)
    closed = never_closed(old, form)
    if closed:
        keyed.notes[closed] += 0
    if convert is not None:
        count = keyed.convert(form.name, lambda key, value: guarded(convert, key, old, form, value))
        keyed.notes[note_of(old, form)] += count


def never_closed(old: StateInfo, form: StateInfo) -> str:
    """The warning that open windows never close as the operator has other windows now; "" if they do or may."""
    if not old.windows or not form.windows or old.windows == form.windows:
        return ""
    merged = old.windows.replace("sessions", "windows") == form.windows  # a session that never merged is a valid window
    which = f"{old.windows} that have merged" if merged else old.windows
    return f"{form.name}: open {which} are never closed by {form.windows}; what is in them is carried along unread"


def settle_table(
    keyed: KeyedState | None,
    name: str,
    kind: str,
    declared: Type,
    defaults: Mapping[str, Any] | None = None,
    windows: str = "",
) -> None:
    """Convert an operator's own table to its current form."""
    if keyed is not None:
        form = StateInfo(name, kind, (), ("" if declared is None else repr(declared),), 0, windows)
        if keyed.forms:
            settle(keyed, None, form, (declared,), defaults or _EMPTY)
        known = keyed.infos.get(name, form)
        keyed.infos[name] = form._replace(
            serializers=known.serializers, version=known.version, windows=windows or known.windows
        )


def unread(keyed: KeyedState) -> dict[str, int]:
    """Log messages for restored states that ``open()`` has not asked for."""
    forms = sorted(form for form in keyed.forms.values() if form.kind != TABLE)
    return {f"{info.name}: {shown(info)}, which open() does not ask for, is carried along unread": 0 for info in forms}


def conversion_of(
    descriptor: StateDescriptor[Any] | None,
    old: StateInfo,
    form: StateInfo,
    declared: Sequence[Type],
    now: int,
    defaults: Mapping[str, Any] = _EMPTY,
    doubts: list[str] | None = None,
) -> Convert | None:
    """The function that converts all a key has of a state; None if nothing changes. ``doubts`` are for checks."""
    doubts = [] if doubts is None else doubts
    if old.kind == TABLE:  # an old Penstock, which did not record types of operators' tables
        doubts.append("its types are not recorded in the state")
        return None
    if old.kind == form.kind == ACCUMULATORS and not old.types[0]:  # nor the types of accumulators
        doubts.append("the type of its accumulators was not declared")
        return None
    try:
        return _Change(descriptor, old, form, declared, now, defaults, doubts).convert()
    except Refusal as reason:
        raise _refused(old, form, str(reason)) from reason


def guarded(convert: Convert, key: Any, old: StateInfo, form: StateInfo, value: Any) -> Any:
    """Convert a value; failures name the state, the key and the migration."""
    try:
        return convert(value)
    except _Failed as failure:
        cause = failure.error
        raise StateError(
            f"The migration of the state {form.name!r} to version {failure.version} has failed for the key {key!r}: "
            f"{type(cause).__name__}: {cause}. Its argument is the value of version {failure.version - 1} or "
            "before. Correct it and start again; nothing has changed.",
            flink_class=MIGRATION,
        ) from cause
    except Exception as error:
        raise _refused(old, form, f"for the key {key!r}, {error}") from error


def note_of(old: StateInfo, form: StateInfo) -> str:
    """The log message for a state that was converted."""
    return f"{form.name}: {shown(old)} is {shown(form)}"


def shown(form: StateInfo) -> str:
    """A form as messages show it."""
    types = [text or "undeclared" for text in form.types]
    alive = ", with a time to live" if TTL in form.serializers else ""
    version = f", version {form.version}" if form.version else ""
    return f"a {form.kind} ({', '.join(types) or 'of anything'}{alive}{version})"


def _refused(old: StateInfo, form: StateInfo, reason: str) -> InvalidProgramError:
    cure = (
        "Declare it as it was, give the new one another name, or convert the old values: "
        f"descriptor.migrated_by(function, version={old.version + 1})."
    )
    if form.kind.startswith(TABLE):
        cure = (
            "Leave the types of records and the operator as they were; or give new fields a value for old records, "
            "with_field_defaults({name: value}) after the operator; or give it another uid, to start without state."
        )
    return InvalidProgramError(
        f"The state {form.name!r} was written as {shown(old)}, and is asked for as {shown(form)}: {reason}. {cure}",
        flink_class=MIGRATION,
    )


def _rename(keyed: KeyedState, old: str, new: str) -> None:
    if old not in keyed.forms or next(iter(keyed.places(old)), None) is None:
        return
    if next(iter(keyed.places(new)), None) is not None:
        raise InvalidProgramError(
            f"The state {new!r} is declared as the former {old!r}, and both have values. Remove renamed_from(), "
            "away, or ask for the two by names of their own.",
            flink_class=MIGRATION,
        )
    keyed.rename(old, new)
    keyed.notes[f"{new}: was called {old}"] += 0
    keyed.forms[new] = keyed.forms.pop(old)._replace(name=new)
    keyed.infos.pop(old, None)
    keyed.rewrite = True


class _Failed(Exception):
    def __init__(self, version: int, error: Exception) -> None:
        super().__init__(version, error)
        self.version, self.error = version, error


class _Change:
    def __init__(
        self,
        descriptor: StateDescriptor[Any] | None,
        old: StateInfo,
        form: StateInfo,
        declared: Sequence[Type],
        now: int,
        defaults: Mapping[str, Any],
        doubts: list[str],
    ) -> None:
        self._doubts = doubts
        self._found, self._form, self._declared = old, form, list(declared)
        self._defaults = defaults if descriptor is None else descriptor.field_defaults
        migrations = () if descriptor is None else descriptor.migrations
        self._pending = [migration for migration in migrations if migration.version > old.version]
        self._was_alive, self._alive = TTL in old.serializers, TTL in form.serializers
        self._now = now

    def convert(self) -> Convert | None:
        old, form = self._found, self._form
        if old.version > form.version:
            raise Refusal(f"its values are of version {old.version}, and the program has no migration to that")
        if old.kind != form.kind:
            if not self._pending:
                raise Refusal(f"a {old.kind} is not a {form.kind}")
            self._doubts.append("each value goes through a migration of the program's own")
            return self._whole
        *keys, value = self._conversions()
        if value is None and not any(keys) and self._was_alive is self._alive:
            return None
        part = self._part(value)
        if form.kind in ("ListState", ELEMENTS):
            return lambda stored: [held for held in map(part, stored) if held is not _GONE] or None
        if form.kind == TIMED:
            return lambda stored: [(part(element), at) for element, at in stored]
        if form.kind == HELD:
            return lambda stored: [type(held)(part(held.value), held.timestamp) for held in stored]
        if form.kind == "MapState":
            return self._entries(keys[0], part)
        return lambda stored: None if (converted := part(stored)) is _GONE else converted

    def _conversions(self) -> list[Convert | None]:
        try:
            old = list(map(type_of, self._found.types))
        except ValueError as error:
            if not self._pending:
                raise Refusal(str(error)) from error
            old = [None] * len(self._found.types)
        new = self._declared
        if len(old) != len(new):
            old = [None] * len(new)
        *keys, value = range(len(new))
        conversions = [conversion(old[key], new[key], self._defaults, "key", self._doubts) for key in keys]
        if any(conversions):
            self._doubts.append("keys of a map may become equal")
        if self._pending:
            self._doubts.append("each value goes through a migration of the program's own")
            return [*conversions, self._migrated]
        return [*conversions, conversion(old[value], new[value], self._defaults, "", self._doubts)]

    def _migrated(self, value: Any) -> Any:
        for migration in self._pending:
            value = _called(migration, value)
            if value is None:
                return None
        check = None if is_undeclared(self._declared[-1]) else conversion(None, self._declared[-1])
        return value if check is None else check(value)

    def _part(self, convert: Convert | None) -> Convert:
        """Convert a value, an element or an entry, with its time of last access if it has one."""
        was_alive, alive, now, migrates = self._was_alive, self._alive, self._now, bool(self._pending)

        def part(stored: Any) -> Any:
            value, at = stored if was_alive else (stored, now)
            if convert is not None:
                value = convert(value)
                if value is None and migrates:
                    return _GONE
            return (value, at) if alive else value

        return part

    @staticmethod
    def _entries(keys: Convert | None, part: Convert) -> Convert:
        def convert(stored: Any) -> Any:
            entries = {(name if keys is None else keys(name)): part(value) for name, value in stored.items()}
            if len(entries) < len(stored):
                raise ValueError(
                    f"of {len(stored)} keys of the map only {len(entries)} are left, as some are equal now"
                )
            return {name: value for name, value in entries.items() if value is not _GONE} or None

        return convert

    def _whole(self, stored: Any) -> Any:
        """Convert all that a key has, of a state that was of another kind."""
        value = _plain(self._found.kind, stored) if self._was_alive else stored
        for migration in self._pending:
            value = _called(migration, value)
            if value is None:
                return None
        wanted = {"ListState": list, "MapState": dict}.get(self._form.kind, object)
        if not isinstance(value, wanted):
            raise ValueError(f"the migration has returned {value!r}, and a {self._form.kind} is a {wanted.__name__}")
        return (_stamped(self._form.kind, value, self._now) if self._alive else value) or (
            None if wanted is not object else value
        )


def _called(migration: Migration, value: Any) -> Any:
    try:
        return migration.function(value)
    except Exception as error:
        raise _Failed(migration.version, error) from error


def _plain(kind: str, stored: Any) -> Any:
    if kind == "ListState":
        return [value for value, _ in stored]
    return {key: value for key, (value, _) in stored.items()} if kind == "MapState" else stored[0]


def _stamped(kind: str, value: Any, now: int) -> Any:
    if kind == "ListState":
        return [(item, now) for item in value]
    return {key: (item, now) for key, item in value.items()} if kind == "MapState" else (value, now)


def broadcast_form(descriptor: MapStateDescriptor[Any, Any]) -> StateInfo:
    """The description of a broadcast state in a state file."""
    declared = descriptor.key_type_info, descriptor.value_type_info
    texts = tuple("" if type_info is None else repr(type_info) for type_info in declared)
    return StateInfo(descriptor.name, "MapState", tuple(map(serializer_class, declared)), texts, descriptor.version)


def settle_broadcast(state: OperatorState, descriptors: Sequence[MapStateDescriptor[object, object]]) -> None:
    """Convert restored broadcast states to the requested forms."""
    for descriptor in descriptors:
        name, form = descriptor.name, broadcast_form(descriptor)
        for requested in (name, *descriptor.former_names):
            check_asked(state.lost, requested)
        for former in descriptor.former_names:
            _rename_broadcast(state, former, name)
        old = state.forms.pop(name, None)
        if old is not None and old != form:
            state.rewrite = True
            declared = descriptor.key_type_info, descriptor.value_type_info
            convert, entries = conversion_of(descriptor, old, form, declared, 0), state.broadcast(name)
            if convert is not None and entries:
                converted = guarded(convert, None, old, form, dict(entries)) or {}
                entries.clear()
                entries.update(converted)
                state.notes[note_of(old, form)] += len(converted)
        state.infos[name] = form


def _rename_broadcast(state: OperatorState, former: str, name: str) -> None:
    if former not in state.forms or not (entries := state.broadcast(former)):
        return
    if state.broadcast(name):
        raise InvalidProgramError(
            f"The broadcast state {name!r} is declared as the former {former!r}, and both have entries. Remove "
            "renamed_from() away, or ask for the two by names of their own.",
            flink_class=MIGRATION,
        )
    state.broadcast(name).update(entries)
    state.notes[f"{name}: was called {former}"] += len(entries)
    state.remove(BROADCAST, former)
    state.forms[name] = state.forms.pop(former)._replace(name=name)
    state.infos.pop(former, None)
    state.rewrite = True
