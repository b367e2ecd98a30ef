"""Import of a savepoint of Flink: a savepoint of ours for the program that resumes from it.

State goes by operator ID, as in any restore. No Java runs. Only state of PyFlink has pickles.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from penstock.analysis.states import Declared, declared, key_of
from penstock.errors import FlinkSavepointError, SavepointError
from penstock.flink.entries.refusals import title
from penstock.flink.entries.selection import Selection
from penstock.flink.entries.walk import entries_of
from penstock.flink.metadata import OperatorState as FlinkOperator
from penstock.flink.places import is_flinks, newest
from penstock.flink.pyflink.coders import Loads
from penstock.flink.savepoint import FlinkSavepoint, read_savepoint
from penstock.job.folder.manifest import OperatorState, SourceState, StepManifest
from penstock.job.restore.from_flink.keyed import Counts, KeyedPlan, keyed_plan, keyed_states
from penstock.job.restore.from_flink.lists import OperatorStates, operator_states
from penstock.job.restore.from_flink.losses import Loss, refuse
from penstock.job.restore.from_flink.pickles import trusting_loads
from penstock.job.restore.from_flink.positions import POSITIONS, has_positions, positions_for
from penstock.job.restore.from_flink.python_state import PythonState, is_python
from penstock.job.restore.matches import matched
from penstock.job.restore.sizes import Planned
from penstock.job.restore.taking_over import planned
from penstock.job.savepoint.format import NAME, SAVEPOINT, AboutSavepoint, StoredSavepoint
from penstock.job.savepoint.store import exists, finish
from penstock.runtime.checkpoint.state_series import NOTHING, write_file
from penstock.runtime.config.tasks import StateFile
from penstock.runtime.operators.source import StreamSource
from penstock.runtime.state.files import AboutOperator
from penstock.runtime.state.sections import snapshot_of
from penstock.storage.storage import is_local, join, real_place
from penstock.storage.stores import storage_of

if TYPE_CHECKING:
    from penstock.plan import Pipeline


@dataclass(frozen=True)
class OperatorReport:
    """The state of an operator that has come over."""

    operator_id: str
    name: str  # in the program, or in the savepoint where no operator takes it
    uid: str | None
    states: Mapping[str, int] = field(default_factory=dict[str, int])  # how many values by state, timers among them
    positions: Mapping[str, Any] = field(default_factory=dict[str, Any])  # of a source, by split


@dataclass(frozen=True)
class ImportedSavepoint:
    """A savepoint of Flink as one of ours, and what has become of its state."""

    savepoint: StoredSavepoint
    operators: tuple[OperatorReport, ...]
    losses: tuple[Loss, ...]


def about_savepoint(place: str) -> AboutSavepoint:
    """The description of a savepoint of Flink as one of ours; the same each time. Reads the metadata."""
    return _about(read_savepoint(newest(place)))


def _about(savepoint: FlinkSavepoint) -> AboutSavepoint:
    data, path = savepoint.place.read(), savepoint.place.metadata
    created = os.stat(path).st_mtime if is_local(path) else time.time()
    parallelism = max((operator.parallelism for operator in savepoint.operators), default=1)
    number = savepoint.metadata.checkpoint_id
    own_id = hashlib.blake2b(data, digest_size=16).hexdigest()
    return AboutSavepoint(own_id, "", own_id, int(created * 1000), max(number, 1), SAVEPOINT, parallelism)


def import_state(
    place: str, pipeline: Pipeline, folder: str, *, allow: bool = False, loads: Loads = trusting_loads
) -> ImportedSavepoint:
    """Write the state of a savepoint of Flink as state of ours.

    Args:
        place: a folder with ``_metadata``, that file, or a job's folder of checkpoints.
        pipeline: the program that resumes from it.
        folder: where the state files are written, into its folder ``state``.
        allow: whether state may be left behind.
        loads: makes the objects of pickles, which only PyFlink's state has.

    Raises SavepointError: something does not come over and ``allow`` is false, before any state is written unless only
    a value shows it; or the savepoint is damaged. Cost: linear in the state, with that of one subtask in memory, or of
    an operator if its keys go to other key groups.
    """
    return _Import(read_savepoint(newest(place)), pipeline, folder, allow, loads).run()


def import_savepoint(
    place: str, pipeline: Pipeline, new: str, *, allow: bool = False, loads: Loads = trusting_loads
) -> ImportedSavepoint:
    """Make a savepoint of ours of one of Flink: :func:`import_state` with a place, a path or URL, that stays.

    Raises SavepointError: as :func:`import_state`; or ``place`` has one of ours; or there is a savepoint already, or it
    cannot be written there.
    """
    target = real_place(new)
    storage, path = storage_of(target), join(target, NAME)
    if storage.size(path) is not None:
        raise exists(path)
    if not is_flinks(place) and storage_of(begin := real_place(place)).size(join(begin, NAME)) is not None:
        raise SavepointError(
            f"{place!r} is a savepoint of Penstock already. Begin from it as it is: `penstock run --from-savepoint`, "
            "or execution.savepoint.path."
        )
    try:
        imported = import_state(place, pipeline, target, allow=allow, loads=loads)
        if is_local(target):
            os.makedirs(target, exist_ok=True)  # without state no file has created it
        storage.settle([join(imported.savepoint.state, name) for name in imported.savepoint.manifest.files()])
        finish(imported.savepoint, storage, path)
    except OSError as error:
        raise SavepointError(f"{target!r} cannot be written: {error}.") from error
    return imported


class _Import:
    def __init__(self, savepoint: FlinkSavepoint, pipeline: Pipeline, folder: str, allow: bool, loads: Loads) -> None:
        self._savepoint, self._folder, self._allow = savepoint, folder, allow
        self._place = savepoint.place.folder.removeprefix("file:")
        self._takers = _takers(savepoint, pipeline)
        self._nodes: Mapping[int, Any] = pipeline.operators
        self._loads = loads
        # of PyFlink's state only the program knows the types
        self._declared = declared(pipeline) if pipeline.settings.pyflink else None

    def run(self) -> ImportedSavepoint:
        savepoint = self._savepoint
        parts = [_Part(operator, self._takers.get(operator.operator_id)) for operator in _that_count(savepoint)]
        losses = [loss for part in parts for loss in self._plan(part)]
        if losses and not self._allow:
            raise refuse(self._place, losses)
        operators = {part.operator.operator_id: self._written(part) for part in parts if part.taker is not None}
        sources = {
            part.operator.operator_id: SourceState(
                part.positions, name=part.name, uid=part.uid, asked=part.operator.parallelism
            )
            for part in parts
            if part.positions
        }
        about = _about(savepoint)
        manifest = StepManifest(
            version=about.version,
            job=about.job,
            job_id=about.id,
            time=about.created,
            parallelism=about.parallelism,
            operators={key: state for key, state in operators.items() if any(state.subtasks)},
            sources=sources,
        )
        losses = [loss for part in parts for loss in part.losses]
        reports = tuple(part.report() for part in parts if part.taker is not None)
        return ImportedSavepoint(StoredSavepoint(self._folder, about, manifest), reports, tuple(losses))

    def _plan(self, part: _Part) -> Sequence[Loss]:
        operator, taker = part.operator, part.taker
        if any(subtask.input_channels or subtask.result_subpartitions for subtask in operator.subtasks):
            part.own_losses.append(Loss(title(operator), "its records on their way", _UNALIGNED))
        if taker is None:
            if not _is_something(self._savepoint, operator):
                return part.losses
            uid = "" if operator.uid is None else f" or the uid {operator.uid!r}"
            part.own_losses.append(Loss(title(operator), "", f"the program has no operator with this ID{uid}"))
            return part.losses
        node = self._nodes.get(taker.node)
        if _has_ended(operator) and isinstance(node, StreamSource):
            part.own_losses.append(Loss(title(operator), "its end", _ENDED))
        if self._declared is not None and self._plan_python(part, node, self._declared[taker.node]):
            return part.losses
        part.keyed = keyed_plan(self._savepoint, operator, node)
        why = "how far a source of Flink has read is known to that source only; Kafka's offsets come over"
        try:
            positions = positions_for(self._savepoint, operator, node)
        except ValueError as reason:
            positions, why = None, str(reason)
        part.positions = positions or {}
        if positions is None and has_positions(operator):
            part.own_losses.append(Loss(title(operator), "its positions", why))
        part.lists = operator_states(self._savepoint, operator, node, POSITIONS)
        return part.losses

    def _plan_python(self, part: _Part, node: Any, models: Declared) -> bool:
        """Plan the state of an operator of PyFlink; False if it has none of Python functions."""
        operator = part.operator
        if key_of(node) is None and not is_python(self._savepoint, operator):
            return False
        if models.states is None:
            part.own_losses.append(Loss(title(operator), "", models.unknown))
            return True
        state = PythonState(self._savepoint, operator, node, models.states, self._loads)
        part.keyed = state.keyed_plan()
        part.lists = operator_states(self._savepoint, operator, node, (*POSITIONS, *state.broadcast_names))
        state.broadcast(part.lists)
        return True

    def _written(self, part: _Part) -> OperatorState:
        """Write the state of an operator; once more if a value or a key shows that its plan was not right."""
        operator, plan = part.operator, part.keyed
        while True:
            before, part.counts = (len(plan.losses), plan.regroups), Counts()
            series = tuple(self._series(part))
            if (len(plan.losses), plan.regroups) == before:
                break
            storage, folder = storage_of(self._folder), join(self._folder, "state")
            storage.delete([join(folder, file.name) for files in series for file in files])
        part.counts.by_state.update(part.lists.counts)
        return OperatorState(part.name, part.uid, operator.parallelism, operator.max_parallelism, series)

    def _series(self, part: _Part) -> Iterator[tuple[StateFile, ...]]:
        operator, infos = part.operator, tuple(part.lists.infos.values())
        sizes = operator.parallelism, operator.max_parallelism
        states = keyed_states(self._savepoint, operator, part.keyed, part.counts, allow=self._allow)
        for index, keyed in enumerate(states):
            places = part.lists.places.get(index, {})
            content = NOTHING if keyed.is_empty() else snapshot_of(keyed)
            if not (content.entries or places):
                yield ()
                continue
            who = AboutOperator(operator.operator_id, part.name, part.uid, index, *sizes)
            folder = join(self._folder, "state")
            yield (write_file(folder, content, places, who, 1, (), infos, keyed.noted.forms),)


@dataclass
class _Part:
    """An operator of the savepoint, with what becomes of it."""

    operator: FlinkOperator
    taker: Planned | None
    keyed: KeyedPlan = field(default_factory=KeyedPlan)
    lists: OperatorStates = field(default_factory=OperatorStates)
    positions: Mapping[str, Any] = field(default_factory=dict[str, Any])
    counts: Counts = field(default_factory=Counts)
    own_losses: list[Loss] = field(default_factory=list[Loss])

    @property
    def name(self) -> str:
        taker = self.taker
        return self.operator.name or self.operator.operator_id if taker is None else taker.name

    @property
    def uid(self) -> str | None:
        return self.operator.uid if self.taker is None else self.taker.uid

    @property
    def losses(self) -> list[Loss]:
        return [*self.own_losses, *self.keyed.losses, *self.lists.losses]

    def report(self) -> OperatorReport:
        split = {name: at[1] for name, at in self.positions.items()}
        return OperatorReport(self.operator.operator_id, self.name, self.uid, dict(self.counts.by_state), split)


_UNALIGNED = "it is an unaligned checkpoint, whose channels have records; take a savepoint"
_ENDED = "it has ended in Flink, and would be read again from its beginning"


def _that_count(savepoint: FlinkSavepoint) -> list[FlinkOperator]:
    """The operators that have state, or have ended."""
    return [operator for operator in savepoint.by_id.values() if operator.has_state or _has_ended(operator)]


def _has_ended(operator: FlinkOperator) -> bool:
    """Whether an operator, or a part of it, has ended."""
    return operator.fully_finished or any(subtask.finished for subtask in operator.subtasks)


def _is_something(savepoint: FlinkSavepoint, operator: FlinkOperator) -> bool:
    """Whether there is anything in the state of an operator. Reads up to the first entry."""
    refusals: list[FlinkSavepointError] = []
    first = next(entries_of(savepoint, [operator], Selection(None, refusals.append)), None)
    return operator.coordinator is not None or first is not None or bool(refusals)


def _takers(savepoint: FlinkSavepoint, pipeline: Pipeline) -> dict[str, Planned]:
    """The operators of a program by the IDs under which Flink has their state."""
    held = dict.fromkeys(operator.operator_id for operator in _that_count(savepoint))
    operators = planned(pipeline, pipeline.job_graph())
    by_id = {operator.operator_id: operator for operator in operators}
    matching = matched(held, held, operators)
    for first, second in matching.twice.values():
        raise SavepointError(f"The operators {first.name!r} and {second.name!r} would both take the same state.")
    return {taken.state_id: by_id[taker] for taker, taken in matching.taken.items()}
