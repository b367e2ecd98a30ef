"""State of Python functions of PyFlink, which is bytes there, as state of ours: by the types that the program declares.

Functions are opened to see which states they ask for, as for ``explain``. A state that none asks for in ``open()`` has
no type, and does not come over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from penstock.analysis.model import StateModel
from penstock.analysis.states import key_of
from penstock.common.functions.state_descriptor import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
    ValueStateDescriptor,
)
from penstock.common.typeinfo import PickledBytesTypeInfo, TypeInformation, Types
from penstock.common.typesystem.conversions import same
from penstock.flink.columns.types import has_lifetime
from penstock.flink.entries.entry import Entry
from penstock.flink.entries.refusals import title
from penstock.flink.headers import StateInfo as FlinkState
from penstock.flink.metadata import OperatorState, Subtask
from penstock.flink.pyflink.coders import Loads
from penstock.flink.pyflink.entries import TIMERS, PythonEntry, read_python_state
from penstock.flink.pyflink.states import MERGED_WINDOWS, PREFIX, REDUCED, name_in_program
from penstock.flink.savepoint import FlinkSavepoint
from penstock.job.restore.from_flink.forms import KINDS, Form, merged, trigger_states
from penstock.job.restore.from_flink.keyed import ALL, RAW, KeyedPlan
from penstock.job.restore.from_flink.lists import OperatorStates
from penstock.job.restore.from_flink.losses import Loss
from penstock.runtime.buffers.codec import dumps
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.keys.pyflink_keys import InRow
from penstock.runtime.operators import reduce, window_contents
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.state.evolution import ACCUMULATORS, REDUCTIONS, TABLE, broadcast_form
from penstock.runtime.state.keyed import StateInfo
from penstock.runtime.state.redistribution import BROADCAST
from penstock.runtime.state.serializers import TTL, serializer_class
from penstock.runtime.state.store import TRIGGERS
from penstock.runtime.state.type_texts import type_of

_NOT_ASKED = "no function of the program asks for it in open(), so its types are not known"
_SEVERAL = "there are several of them, of earlier starts of the job, and PyFlink does not say which is the last"


class PythonState:
    """The state of an operator of PyFlink that the program describes."""

    def __init__(
        self,
        savepoint: FlinkSavepoint,
        operator: OperatorState,
        node: Any,
        models: Sequence[StateModel],
        loads: Loads,
    ) -> None:
        self._savepoint, self._operator, self._node, self._loads = savepoint, operator, node, loads
        keyed = key_of(node)
        self._key_type = None if keyed is None else keyed.key_type
        self._headers: Mapping[str, FlinkState] = savepoint.states(operator)
        self._descriptors: dict[str, StateDescriptor[Any]] = {}
        self._infos: dict[str, StateInfo] = {}
        for model in models:
            self._describe(model)
        if isinstance(node, WindowOperator):
            for name in trigger_states(node.trigger):
                descriptor = ReducingStateDescriptor(name, max, Types.LONG())
                self._add(descriptor, StateInfo(f"{TRIGGERS}{name}", TABLE, (), ()))

    def keyed_plan(self) -> KeyedPlan:
        """The keyed states that come over."""
        plan, operator = KeyedPlan(), self._operator
        plan.key_hash, plan.key_of, plan.read = KeyHash(self._key_type), same, self._entries
        if any(subtask.raw_keyed for subtask in operator.subtasks):
            plan.lose(operator, ALL, RAW)
            return plan
        for name, state in self._headers.items():
            in_program = name_in_program(name)
            if name.startswith(TIMERS):
                plan.timers.add(name)
            elif state.type != "KEY_VALUE":
                continue
            elif in_program in plan.forms:
                plan.lose(operator, in_program, _SEVERAL)
            elif in_program == MERGED_WINDOWS and isinstance(self._node, WindowOperator):
                plan.forms[in_program] = Form(
                    StateInfo(MERGED_WINDOWS, TABLE, (), ()), lambda it: merged(it[0].items())
                )
            elif in_program in self._infos:
                plan.forms[in_program] = self._form(in_program, state)
            else:
                plan.lose(operator, in_program, _NOT_ASKED)
        return plan

    def broadcast(self, losses: OperatorStates) -> None:
        """Add the broadcast states to the operator state that comes over."""
        for name, state in self._headers.items():
            if state.type != "BROADCAST":
                continue
            descriptor = self._descriptors.get(name_in_program(name))
            if not isinstance(descriptor, MapStateDescriptor):
                losses.losses.append(Loss(title(self._operator), f"state {name!r}", _NOT_ASKED))
                continue
            for subtask in self._operator.subtasks:
                read = self._read([descriptor], subtask)
                entries = {entry.key: entry.value for entry in read if entry.key_group is None}
                if entries:
                    place = BROADCAST, descriptor.name
                    losses.places.setdefault(subtask.index, {})[place] = dumps(entries)
                    losses.infos[descriptor.name] = broadcast_form(descriptor)
                    losses.counts[descriptor.name] = len(entries)

    @property
    def broadcast_names(self) -> list[str]:
        """The names of broadcast states in the savepoint."""
        return [name for name, state in self._headers.items() if state.type == "BROADCAST"]

    def _describe(self, model: StateModel) -> None:
        make = _DESCRIPTORS.get(model.form or model.kind)
        if model.name == window_contents.STATE:
            make = _DESCRIPTORS.get(model.form, _DESCRIPTORS["list"])
        if make is None:
            return
        types = [_declared(text) for text in _texts(model)]
        name = REDUCED if model.name == reduce.STATE else model.name
        descriptor = make(name, *types)
        texts = tuple("" if _undeclared(kind) else repr(kind) for kind in types)
        if model.form:
            self._add(descriptor, StateInfo(model.name, model.form, (), texts, 0, model.windows))
            return
        declared = [None if _undeclared(kind) else kind for kind in types]
        serializers = tuple(map(serializer_class, declared))
        self._add(descriptor, StateInfo(model.name, KINDS.get(model.kind, ""), serializers, texts, model.version))

    def _add(self, descriptor: StateDescriptor[Any], info: StateInfo) -> None:
        self._descriptors[descriptor.name] = descriptor
        self._infos[descriptor.name] = info

    def _form(self, name: str, state: FlinkState) -> Form:
        info = self._infos[name]
        if not has_lifetime(state.serializers["VALUE_SERIALIZER"]):
            return Form(info, lambda stored: stored[0])
        alive = info._replace(serializers=(*info.serializers[:-1], TTL))
        return Form(alive, _LASTING.get(info.kind, tuple))

    def _entries(self, subtask: Subtask) -> Iterator[Entry]:
        about = self._operator.operator_id
        for entry in self._read(list(self._descriptors.values()), subtask):
            index, group, key, state, kind, namespace, value, times = entry
            if kind == "timers":
                yield Entry(about, f"{TIMERS}{state}_", kind, index, group, key, namespace, value)
            elif group is not None:
                yield Entry(about, state, kind, index, group, key, namespace, (value, times))

    def _read(self, descriptors: Sequence[StateDescriptor[Any]], subtask: Subtask) -> Iterator[PythonEntry]:
        key_type = self._key_type.key_type if isinstance(self._key_type, InRow) else self._key_type
        about = self._savepoint, self._operator, key_type, descriptors
        return read_python_state(*about, loads=self._loads, subtasks=[subtask.index])


def is_python(savepoint: FlinkSavepoint, operator: OperatorState) -> bool:
    """Whether an operator has state of Python functions in process mode."""
    return any(name.startswith(PREFIX) for name in savepoint.states(operator))


def _texts(model: StateModel) -> list[str]:
    """The declared types of a state, "" for undeclared: of a map of keys and values."""
    roles = ("key", "value") if model.kind in ("map", "broadcast") else ("value", "element", "accumulator")
    if len(roles) == 2:
        return [model.types.get(role, "") for role in roles]
    return [next((model.types[role] for role in roles if role in model.types), "")]


def _declared(text: str) -> TypeInformation[Any]:
    return type_of(text) or Types.PICKLED_BYTE_ARRAY()


def _undeclared(kind: TypeInformation[Any]) -> bool:
    return isinstance(kind, PickledBytesTypeInfo)


class _Any:
    """In the place of an aggregator: only the type of accumulators counts here."""

    def create_accumulator(self) -> None:
        """Nothing."""

    def add(self, value: Any, accumulator: Any) -> None:
        """Nothing."""

    def get_result(self, accumulator: Any) -> None:
        """Nothing."""


def _aggregating(name: str, kind: TypeInformation[Any]) -> StateDescriptor[Any]:
    return AggregatingStateDescriptor(name, _Any(), kind)


def _reducing(name: str, kind: TypeInformation[Any]) -> StateDescriptor[Any]:
    return ReducingStateDescriptor(name, max, kind)


_DESCRIPTORS: dict[str, Callable[..., StateDescriptor[Any]]] = {
    "value": ValueStateDescriptor,
    "list": ListStateDescriptor,
    "map": MapStateDescriptor,
    "broadcast": MapStateDescriptor,
    "reducing": _reducing,
    "aggregating": _aggregating,
    REDUCTIONS: _reducing,
    ACCUMULATORS: _aggregating,
}

_LASTING: Mapping[str, Callable[[Any], Any]] = {
    "ListState": lambda stored: list(zip(*stored, strict=True)),
    "MapState": lambda stored: {key: (value, stored[1][key]) for key, value in stored[0].items()},
}
"""What is stored of (values, times of their last access)."""
