"""Converts restored state to the form that the program asks for today. When a state is first asked for, the description
in its file is compared with the descriptor. If they differ, each value is converted once and the step ends with a
snapshot; or the state is refused, with the reason. Source of the refusals: ``StateSerializerProvider`` (Flink 1.20),
which refuses more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from penstock.common.functions.state_descriptor import MapStateDescriptor, Migration, StateDescriptor
from penstock.errors import InvalidProgramError, StateError
from penstock.runtime.state.class_changes import MIGRATION, check_asked
from penstock.runtime.state.keyed import KeyedState, StateInfo
from penstock.runtime.state.operator_state import OperatorState
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
    _rename_former(keyed, form.name, () if descriptor is None else descriptor.former_names)
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
        migrations = () if descriptor is None else descriptor.migrations
        pending = [migration for migration in migrations if migration.version > old.version]
        defaults = defaults if descriptor is None else descriptor.field_defaults
        return _Change(old, form, list(declared), now, defaults, pending, doubts).convert()
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


def _rename_former(state: KeyedState | OperatorState, name: str, former: Sequence[str]) -> None:
    for asked in (name, *former):
        check_asked(state.lost, asked)
    for old in former:
        if old not in state.forms or next(iter(state.places(old)), None) is None:
            continue
        if next(iter(state.places(name)), None) is not None:
            raise InvalidProgramError(
                f"The state {name!r} is declared as the former {old!r}, and both have values. Remove renamed_from(), "
                "away, or ask for the two by names of their own.",
                flink_class=MIGRATION,
            )
        count = len(state.places(old)) if isinstance(state, OperatorState) else 0
        state.rename(old, name)
        state.notes[f"{name}: was called {old}"] += count
        state.forms[name] = state.forms.pop(old)._replace(name=name)
        state.infos.pop(old, None)
        state.rewrite = True


class _Failed(Exception):
    def __init__(self, version: int, error: Exception) -> None:
        super().__init__(version, error)
        self.version, self.error = version, error


@dataclass
class _Change:
    old: StateInfo
    form: StateInfo
    declared: list[Type]
    now: int
    defaults: Mapping[str, Any]
    pending: list[Migration]
    doubts: list[str]

    def convert(self) -> Convert | None:
        old, form = self.old, self.form
        if old.version > form.version:
            raise Refusal(f"its values are of version {old.version}, and the program has no migration to that")
        if old.kind != form.kind:
            if not self.pending:
                raise Refusal(f"a {old.kind} is not a {form.kind}")
            self.doubts.append("each value goes through a migration of the program's own")
            return self._whole
        *keys, value = self._conversions()
        if value is None and not any(keys) and (TTL in old.serializers) is (TTL in form.serializers):
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
        new = self.declared
        old: list[Type] = [None] * len(new)
        try:
            if len(self.old.types) == len(new):
                old = list(map(type_of, self.old.types))
        except ValueError as error:
            if not self.pending:
                raise Refusal(str(error)) from error
        *keys, value = range(len(new))
        conversions = [conversion(old[key], new[key], self.defaults, "key", self.doubts) for key in keys]
        if any(conversions):
            self.doubts.append("keys of a map may become equal")
        if self.pending:
            self.doubts.append("each value goes through a migration of the program's own")
            return [*conversions, self._migrated]
        return [*conversions, conversion(old[value], new[value], self.defaults, "", self.doubts)]

    def _migrated(self, value: Any) -> Any:
        value = self._called(value)
        check = None if value is None or is_undeclared(self.declared[-1]) else conversion(None, self.declared[-1])
        return value if check is None else check(value)

    def _called(self, value: Any) -> Any:
        for migration in self.pending:
            try:
                value = migration.function(value)
            except Exception as error:
                raise _Failed(migration.version, error) from error
            if value is None:
                return None
        return value

    def _part(self, convert: Convert | None) -> Convert:
        was_alive, alive, now = TTL in self.old.serializers, TTL in self.form.serializers, self.now
        migrates = bool(self.pending)

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
        kind, value = self.form.kind, stored
        if TTL in self.old.serializers:
            value = _mapped(self.old.kind, stored, itemgetter(0))
        value = self._called(value)
        if value is None:
            return None
        wanted = {"ListState": list, "MapState": dict}.get(kind, object)
        if not isinstance(value, wanted):
            raise ValueError(f"the migration has returned {value!r}, and a {kind} is a {wanted.__name__}")
        if wanted is not object and not value:
            return None
        return _mapped(kind, value, lambda part: (part, self.now)) if TTL in self.form.serializers else value


def _mapped(kind: str, value: Any, change: Convert) -> Any:
    if kind == "ListState":
        return list(map(change, value))
    return {key: change(item) for key, item in value.items()} if kind == "MapState" else change(value)


def broadcast_form(descriptor: MapStateDescriptor[Any, Any]) -> StateInfo:
    """The description of a broadcast state in a state file."""
    declared = descriptor.key_type_info, descriptor.value_type_info
    texts = tuple("" if type_info is None else repr(type_info) for type_info in declared)
    return StateInfo(descriptor.name, "MapState", tuple(map(serializer_class, declared)), texts, descriptor.version)


def settle_broadcast(state: OperatorState, descriptors: Sequence[MapStateDescriptor[object, object]]) -> None:
    """Convert restored broadcast states to the requested forms."""
    for descriptor in descriptors:
        name, form = descriptor.name, broadcast_form(descriptor)
        _rename_former(state, name, descriptor.former_names)
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
