"""Savepoints, of Penstock and of Flink, as models of the programs that took them. Nothing is unpickled.

A savepoint has operators with state, and no edges: operators that moved are found by uid and by name, and the cause
only by their uids. One of Flink has IDs, numbers of subtasks and key groups, and whether there is state, from Flink 2
on also names and uids; state names and types, which are classes of Java, are not read. The outcome of a restore in
Flink itself is in :mod:`penstock.flink`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from penstock.analysis.dry_open import KINDS
from penstock.analysis.facts import SOURCE
from penstock.analysis.model import OperatorModel, ProgramModel, StateModel
from penstock.analysis.states import CLEANUP_TIMERS, POSITIONS, USER_TIMERS, WINDOW_TIMERS
from penstock.flink.findings import NOT_COMPARED
from penstock.flink.savepoint import read_savepoint as read_flink_savepoint
from penstock.job.folder.manifest import PUSHED
from penstock.job.restore.matches import holders
from penstock.job.savepoint.contents import OperatorContent, SourceContent, StateContent, content_of
from penstock.job.savepoint.format import StoredSavepoint
from penstock.job.savepoint.store import read_savepoint
from penstock.runtime.operators import interval_join, window_contents
from penstock.runtime.state.evolution import ACCUMULATORS
from penstock.runtime.state.serializers import TTL
from penstock.runtime.windows import merging_windows

_OWN = {
    window_contents.STATE: ("window contents", WINDOW_TIMERS),
    interval_join.LEFT: ("map", CLEANUP_TIMERS),
    interval_join.RIGHT: ("map", CLEANUP_TIMERS),
    merging_windows.STATE: ("window set", WINDOW_TIMERS),
}
"""The kind of states that operators keep themselves, and the timers that go with it."""


def model_of_savepoint(place: str) -> ProgramModel:
    """The model of a savepoint, of the newest checkpoint of a checkpoint directory, or of JOB@VERSION. A request per
    file."""
    return model_of_saved(read_savepoint(place))


def model_of_saved(savepoint: StoredSavepoint) -> ProgramModel:
    """The model of a savepoint that has been read, with the state that a restore finds in it, without empty state."""
    manifest = savepoint.manifest.filled()
    content = content_of(replace(savepoint, manifest=manifest))
    operators = [_operator(number, operator) for number, operator in enumerate(content.operators)]
    known = {operator.operator_id for operator in operators}
    sources = [source for source in content.sources if source.operator_id not in known and source.read_as]
    operators += [_source(len(operators) + number, source) for number, source in enumerate(sources)]
    known.update(source.operator_id for source in sources)
    for holder in holders(manifest):
        if holder not in known:  # rows that wait for the head of a loop
            head = (len(operators), "operator", "the head of the loop", None, holder)
            operators.append(operator_with_state(*head, states=()))
    return ProgramModel(content.about.job, "", tuple(operators), (), (), ())


def joined(locked: ProgramModel, saved: ProgramModel) -> ProgramModel:
    """The model of a lock file with the state of a savepoint of the program: so operators with state have neighbours,
    and the cause of a move can be found. O(operators)."""
    by_id = {operator.operator_id: operator for operator in saved.operators}
    known = tuple(_with_state(operator, by_id.pop(operator.operator_id, None)) for operator in locked.operators)
    node = 1 + max((operator.node for operator in known), default=0)
    others = (replace(operator, node=node + number) for number, operator in enumerate(by_id.values()))
    return replace(locked, operators=(*known, *others))


def _with_state(locked: OperatorModel, saved: OperatorModel | None) -> OperatorModel:
    if saved is None:
        return replace(locked, stateful=False, states=())
    return replace(
        locked,
        stateful=saved.stateful,
        states=locked.states if saved.states is None else saved.states,
        effective_max_parallelism=saved.effective_max_parallelism or locked.effective_max_parallelism,
        keyed=saved.keyed,
        key_type=saved.key_type,
        classes=saved.classes,
        facts={**locked.facts, **saved.facts},
    )


def _operator(node: int, content: OperatorContent) -> OperatorModel:
    ids, sizes = (content.name, content.uid, content.operator_id), (content.parallelism, content.max_parallelism)
    operator = operator_with_state(node, "operator", *ids, sizes, tuple(_states(content)))
    declared = None if content.key is None else content.key[0] or None
    return replace(operator, keyed=content.key is not None, key_type=declared, classes=content.classes)


def _source(node: int, source: SourceContent) -> OperatorModel:
    """A source; one that pushes has no positions."""
    operator = operator_with_state(node, "source", source.name, source.uid, source.operator_id, states=(POSITIONS,))
    operator = replace(operator, facts={SOURCE: source.read_as})
    return operator if source.read_as != PUSHED else replace(operator, stateful=False, states=())


def _states(content: OperatorContent) -> Iterator[StateModel]:
    timers = [] if content.event_timers + content.clock_timers == 0 else [USER_TIMERS]
    for state in content.states:
        if state.kind in KINDS:
            yield _of_function(state, *KINDS[state.kind])
            continue
        reducing = "aggregating" if state.kind == ACCUMULATORS else "reducing"
        kind, own_timers = _OWN.get(state.name, (reducing, USER_TIMERS))
        role = "accumulator" if state.kind == ACCUMULATORS else "element"
        types = dict[str, str]([(role, state.types[0])] if any(state.types) else [])
        timers = [own_timers for _ in timers] if own_timers is not USER_TIMERS else timers
        yield StateModel(state.name, kind, types, form=state.kind, windows=state.windows)
    for state in content.broadcast:
        yield _of_function(state, "broadcast", ("key", "value"))
    yield from timers


def _of_function(state: StateContent, kind: str, roles: tuple[str, ...]) -> StateModel:
    pairs = zip(roles, state.types, strict=False)
    types = {role: text for role, text in pairs if text}
    return StateModel(state.name, kind, types, "set" if TTL in state.serializers else None, version=state.version)


def operator_with_state(
    node: int,
    kind: str,
    name: str,
    uid: str | None,
    operator_id: str,
    sizes: tuple[int, int] = (0, 0),
    states: tuple[StateModel, ...] | None = None,
) -> OperatorModel:
    """An operator with only this known; ``sizes`` are the numbers of subtasks and of key groups, or 0."""
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
        keyed=False,
        stateful=True,
        states=states,
        site=None,
        description="",
    )


def model_of_flink_savepoint(place: str) -> ProgramModel:
    """The model of a savepoint or checkpoint of Flink. Reads its ``_metadata``."""
    operators: list[OperatorModel] = []
    for node, saved in enumerate(read_flink_savepoint(place).by_id.values()):
        name = saved.name or saved.uid or f"the operator {saved.operator_id}"
        sizes = saved.parallelism, saved.max_parallelism
        operator = operator_with_state(node, "operator", name, saved.uid, saved.operator_id, sizes)
        content: dict[str, Any] = {"unknown": NOT_COMPARED} if saved.has_state else {"stateful": False, "states": ()}
        operators.append(replace(operator, **content))
    return ProgramModel("", "", tuple(operators), (), (), ())
