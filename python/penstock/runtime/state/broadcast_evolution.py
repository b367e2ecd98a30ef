"""Broadcast state whose descriptor is not the one that it was written by: as :mod:`.evolution`, for maps of no key.

Cost: O(entries) where something has changed.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.common.state_descriptor import MapStateDescriptor
from penstock.errors import InvalidProgramError
from penstock.runtime.state.evolution import MIGRATION, conversion_of, guarded, note_of
from penstock.runtime.state.operator_state import BROADCAST, OperatorState
from penstock.runtime.state.sections import StateInfo
from penstock.runtime.state.serializers import serializer_class

_KIND = "MapState"


def settle_broadcast(state: OperatorState, descriptors: Sequence[MapStateDescriptor[object, object]]) -> None:
    """Have broadcast states be what is asked for.

    Args:
        state: the operator's.
        descriptors: of all of them.

    Raises:
        InvalidProgramError: one cannot be, and why.
        StateError: a migration of the program's own has failed.
    """
    for descriptor in descriptors:
        declared = descriptor.key_type_info, descriptor.value_type_info
        texts = tuple("" if each is None else repr(each) for each in declared)
        name, serializers = descriptor.name, tuple(map(serializer_class, declared))
        form = StateInfo(name, _KIND, serializers, texts, descriptor.version)
        for former in descriptor.former_names:
            _rename(state, former, name)
        found = state.forms.pop(name, None)
        if found is not None and found != form:
            state.rewrite = True
            convert, entries = conversion_of(descriptor, found, form, declared, 0), state.broadcast(name)
            if convert is not None and entries:
                made = guarded(convert, None, found, form, dict(entries)) or {}
                entries.clear()
                entries.update(made)
                state.notes[note_of(found, form)] += len(made)
        state.infos[name] = form


def _rename(state: OperatorState, former: str, name: str) -> None:
    if former not in state.forms or not (entries := state.broadcast(former)):
        return
    if state.broadcast(name):
        raise InvalidProgramError(
            f"The broadcast state {name!r} is said to be the former {former!r}, and there are entries of both. Take "
            "renamed_from() away, or ask for the two by names of their own.",
            flink_class=MIGRATION,
        )
    state.broadcast(name).update(entries)
    state.notes[f"{name}: was called {former}"] += len(entries)
    state.remove(BROADCAST, former)
    state.forms[name] = state.forms.pop(former)._replace(name=name)
    state.infos.pop(former, None)
    state.rewrite = True
