"""What is in a savepoint of Penstock, as the model of the program that has taken it. Nothing is unpickled.

A savepoint knows operators with state, and no edges: operators that moved are found by uid and by name, and why they
moved by their uids only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from penstock.analysis.model import OperatorModel, ProgramModel, StateModel
from penstock.job.savepoint.contents import Content, OperatorContent, StateContent, content_of
from penstock.job.savepoint.taking import read_savepoint

_KINDS = {
    "ValueState": ("value", ("value",)),
    "ListState": ("list", ("element",)),
    "MapState": ("map", ("key", "value")),
    "ReducingState": ("reducing", ("value",)),
    "AggregatingState": ("aggregating", ("accumulator",)),
}
"""Kinds of states of functions, and the roles of their types; what operators keep themselves has other names there."""


def model_of_savepoint(place: str) -> ProgramModel:
    """The model of a savepoint, of the newest version in a job folder, or of JOB@VERSION. A request per file.

    Args:
        place: a path or URL.

    Raises:
        SavepointError: there is none, or it is damaged.
        ConfigurationError: its storage cannot be reached.
    """
    return model_of_content(content_of(read_savepoint(place)))


def model_of_content(content: Content) -> ProgramModel:
    """The model of what a savepoint says.

    Args:
        content: of it.
    """
    known = {each.operator_id: each for each in content.operators}
    operators = [_operator(number, each) for number, each in enumerate(content.operators)]
    operators += [
        operator_with_state(len(operators) + number, "source", each.name, each.uid, each.operator_id)
        for number, each in enumerate(content.sources)
        if each.operator_id not in known
    ]
    return ProgramModel(content.about.job, "", tuple(operators), (), (), ())


def joined(locked: ProgramModel, saved: ProgramModel) -> ProgramModel:
    """What is locked of a program, with the state that a savepoint of it has: so operators with state have neighbours,
    and why they moved can be said. O(operators).

    Args:
        locked: the program as its lock file says it.
        saved: the model of the savepoint.
    """
    there = {each.operator_id: each for each in saved.operators}
    known = tuple(_with_state(each, there.pop(each.operator_id, None)) for each in locked.operators)
    node = 1 + max((each.node for each in known), default=0)
    others = (replace(each, node=node + number) for number, each in enumerate(there.values()))
    return replace(locked, operators=(*known, *others))


def _with_state(locked: OperatorModel, saved: OperatorModel | None) -> OperatorModel:
    if saved is None:
        return replace(locked, stateful=False, states=())
    groups = saved.effective_max_parallelism or locked.effective_max_parallelism
    states = locked.states if saved.states is None else saved.states
    return replace(locked, stateful=True, states=states, effective_max_parallelism=groups)


def _operator(node: int, found: OperatorContent) -> OperatorModel:
    declared = "" if found.key is None else found.key[0]
    return operator_with_state(
        node,
        "operator",
        found.name,
        found.uid,
        found.operator_id,
        (found.parallelism, found.max_parallelism),
        tuple(_states(found.states)),
        declared or None,
    )


def _states(found: Iterable[StateContent]) -> Iterator[StateModel]:
    for state in found:
        if state.kind in _KINDS:
            kind, roles = _KINDS[state.kind]
            pairs = zip(roles, state.types, strict=False)
            yield StateModel(state.name, kind, {role: text for role, text in pairs if text})


def operator_with_state(
    node: int,
    kind: str,
    name: str,
    uid: str | None,
    operator_id: str,
    sizes: tuple[int, int] = (0, 0),
    states: tuple[StateModel, ...] | None = None,
    key_type: str | None = None,
) -> OperatorModel:
    """An operator of which only this is known; ``sizes`` are numbers of subtasks and of key groups, or 0."""
    return OperatorModel(
        node=node,
        name=name,
        kind=kind,
        type="",
        uid=uid,
        user_hash=None,
        operator_id=operator_id,
        origin="position" if uid is None else "uid",
        pinned=None,
        parallelism=sizes[0],
        max_parallelism=None,
        effective_max_parallelism=sizes[1],
        vertex=None,
        chain_index=None,
        slot_sharing_group="",
        chaining="",
        keyed=key_type is not None,
        stateful=True,
        states=states,
        site=None,
        description="",
        key_type=key_type,
    )
