"""State whose descriptor is not the one that it was written by: what is in it becomes what the program of today wants.

It is looked at when a state is first asked for, by what files say of it and by its descriptor. Where both are equal
nothing is done. Otherwise each of its values is converted, once, and all of the operator's state is written anew at
the end of the step; or the state is refused, with the reason.

Source of the refusals: ``StateSerializerProvider``, ``RegisteredKeyValueStateBackendMetaInfo`` (Flink 1.20), which
refuse more. Cost: O(values of the state) where something has changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.common.state_descriptor import Migration, StateDescriptor
from penstock.errors import InvalidProgramError, StateError
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.sections import StateInfo
from penstock.runtime.state.serializers import TTL
from penstock.runtime.state.type_changes import Convert, Refusal, Type, conversion, is_undeclared
from penstock.runtime.state.type_texts import type_of

MIGRATION = "org.apache.flink.util.StateMigrationException"
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
    """Have a state be what is asked for, before anybody holds it.

    Args:
        keyed: the operator's.
        descriptor: by which it is asked for; None if only by its name.
        form: what is asked for.
        declared: its types.
        defaults: of fields that it has gained, by path, where no descriptor says them.

    Raises:
        InvalidProgramError: it cannot be, and why.
        StateError: a migration of the program's own has failed.
    """
    for name in () if descriptor is None else descriptor.former_names:
        _rename(keyed, name, form.name)
    found = keyed.forms.pop(form.name, None)
    if found is None or found == form:
        return
    keyed.rewrite = True
    if found.kind == TABLE:  # of a Penstock that did not say what its operators keep
        return
    if found.kind == form.kind == ACCUMULATORS and not found.types[0]:  # nor of what type their accumulators were
        return
    now = keyed.clock.now() if keyed.clock is not None else 0
    convert = conversion_of(descriptor, found, form, declared, now, defaults)
    if convert is not None:
        count = keyed.convert(form.name, lambda key, value: guarded(convert, key, found, form, value))
        keyed.notes[note_of(found, form)] += count


def settle_table(
    keyed: KeyedState | None, name: str, kind: str, declared: Type, defaults: Mapping[str, Any] | None = None
) -> None:
    """Have a table of an operator be what it keeps today.

    Args:
        keyed: the operator's; None if it has none.
        name: of the table.
        kind: what it keeps; one of those here.
        declared: type of the records, reductions or accumulators in it.
        defaults: of fields that these have gained, by path.

    Raises:
        InvalidProgramError: it cannot be, and why.
    """
    if keyed is not None:
        form = StateInfo(name, kind, (), ("" if declared is None else repr(declared),))
        if keyed.forms:
            settle(keyed, None, form, (declared,), defaults or _EMPTY)
        keyed.kinds[name] = kind, form.types


def conversion_of(
    descriptor: StateDescriptor[Any] | None,
    found: StateInfo,
    form: StateInfo,
    declared: Sequence[Type],
    now: int,
    defaults: Mapping[str, Any] = _EMPTY,
) -> Convert | None:
    """What makes all that a key has of a state; None: it stays as it is.

    Args:
        descriptor, form, declared, defaults: as of :func:`settle`.
        found: what it was.
        now: milliseconds of the clock, from which values live that had no time to live.

    Raises:
        InvalidProgramError: there is no such way.
    """
    try:
        return _Change(descriptor, found, form, declared, now, defaults).convert()
    except Refusal as reason:
        raise _refused(found, form, str(reason)) from reason


def guarded(convert: Convert, key: Any, found: StateInfo, form: StateInfo, value: Any) -> Any:
    """A converted value.

    Args:
        convert: of :func:`conversion_of`.
        key: for errors.
        found, form: what the state was, and is to be.
        value: stored by then.

    Raises:
        InvalidProgramError: there is no way for this value.
        StateError: a migration has failed.
    """
    try:
        return convert(value)
    except _Failed as failure:
        cause = failure.error
        raise StateError(
            f"The migration of the state {form.name!r} to version {failure.version} has failed for the key {key!r}: "
            f"{type(cause).__name__}: {cause}. It is given what stood in the state of version {failure.version - 1} or "
            "before; correct it, and start again: nothing has changed.",
            flink_class=MIGRATION,
        ) from cause
    except Exception as error:
        raise _refused(found, form, f"for the key {key!r}, {error}") from error


def note_of(found: StateInfo, form: StateInfo) -> str:
    """What to tell of a state that was converted.

    Args:
        found, form: what it was, and what it is.
    """
    return f"{form.name}: {shown(found)} is {shown(form)}"


def shown(form: StateInfo) -> str:
    """A form in an error."""
    types = [text or "undeclared" for text in form.types]
    alive = ", with a time to live" if TTL in form.serializers else ""
    version = f", version {form.version}" if form.version else ""
    return f"a {form.kind} ({', '.join(types) or 'of anything'}{alive}{version})"


def _refused(found: StateInfo, form: StateInfo, reason: str) -> InvalidProgramError:
    cure = (
        "Declare it as it was, give the new one another name, or say what becomes of the old values: "
        f"descriptor.migrated_by(function, version={found.version + 1})."
    )
    if form.kind.startswith(TABLE):
        cure = (
            "Leave the types of records and the operator as they were; or say behind the operator what new fields are "
            "in old records, with_field_defaults({name: value}); or give it another uid, to begin without state."
        )
    return InvalidProgramError(
        f"The state {form.name!r} was written as {shown(found)}, and is asked for as {shown(form)}: {reason}. {cure}",
        flink_class=MIGRATION,
    )


def _rename(keyed: KeyedState, old: str, new: str) -> None:
    """What was called otherwise is called so from now on."""
    if old not in keyed.forms or next(iter(keyed.places(old)), None) is None:
        return
    if next(iter(keyed.places(new)), None) is not None:
        raise InvalidProgramError(
            f"The state {new!r} is said to be the former {old!r}, and there are values of both. Take renamed_from() "
            "away, or ask for the two by names of their own.",
            flink_class=MIGRATION,
        )
    keyed.rename(old, new)
    keyed.notes[f"{new}: was called {old}"] += 0
    keyed.forms[new] = keyed.forms.pop(old)._replace(name=new)
    for names in (keyed.kinds, keyed.serializers, keyed.versions):
        names.pop(old, None)
    keyed.rewrite = True


class _Failed(Exception):
    """A migration has raised something."""

    def __init__(self, version: int, error: Exception) -> None:
        super().__init__(version, error)
        self.version, self.error = version, error


class _Change:
    """From one form of a state to another.

    Args:
        descriptor, found, form, declared, now, defaults: as of :func:`conversion_of`.
    """

    def __init__(
        self,
        descriptor: StateDescriptor[Any] | None,
        found: StateInfo,
        form: StateInfo,
        declared: Sequence[Type],
        now: int,
        defaults: Mapping[str, Any],
    ) -> None:
        self._found, self._form, self._declared = found, form, list(declared)
        self._defaults = defaults if descriptor is None else descriptor.field_defaults
        migrations = () if descriptor is None else descriptor.migrations
        self._pending = [each for each in migrations if each.version > found.version]
        self._was_alive, self._alive = TTL in found.serializers, TTL in form.serializers
        self._now = now

    def convert(self) -> Convert | None:
        """What makes a stored value of the new form of one of the old; None: it is one."""
        found, form = self._found, self._form
        if found.version > form.version:
            raise Refusal(f"its values are of version {found.version}, and the program has no migration to that")
        if found.kind != form.kind:
            if not self._pending:
                raise Refusal(f"a {found.kind} is no {form.kind}")
            return self._whole
        *keys, value = self._conversions()
        if value is None and not any(keys) and self._was_alive is self._alive:
            return None
        part = self._part(value)
        if form.kind in ("ListState", ELEMENTS):
            return lambda stored: [each for each in map(part, stored) if each is not _GONE] or None
        if form.kind == TIMED:
            return lambda stored: [(part(element), at) for element, at in stored]
        if form.kind == HELD:
            return lambda stored: [type(each)(part(each.value), each.timestamp) for each in stored]
        if form.kind == "MapState":
            return self._entries(keys[0], part)
        return lambda stored: None if (made := part(stored)) is _GONE else made

    def _conversions(self) -> list[Convert | None]:
        """Of the keys of a map, and of values."""
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
        made = [conversion(old[each], new[each], self._defaults, "key") for each in keys]
        return [*made, self._migrated if self._pending else conversion(old[value], new[value], self._defaults)]

    def _migrated(self, value: Any) -> Any:
        for each in self._pending:
            value = _called(each, value)
            if value is None:
                return None
        check = None if is_undeclared(self._declared[-1]) else conversion(None, self._declared[-1])
        return value if check is None else check(value)

    def _part(self, convert: Convert | None) -> Convert:
        """What converts a value, an element, an entry; with the time of its last access, if it has one."""
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
            made = {(name if keys is None else keys(name)): part(value) for name, value in stored.items()}
            if len(made) < len(stored):
                raise ValueError(f"of {len(stored)} keys of the map only {len(made)} are left, as some are equal now")
            return {name: value for name, value in made.items() if value is not _GONE} or None

        return convert

    def _whole(self, stored: Any) -> Any:
        """Of a state that was of another kind: all that a key has."""
        value = _plain(self._found.kind, stored) if self._was_alive else stored
        for each in self._pending:
            value = _called(each, value)
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
        return [(each, now) for each in value]
    return {key: (each, now) for key, each in value.items()} if kind == "MapState" else (value, now)
