"""Gives functions their states by descriptor (PyFlink: ``KeyedStateStore``); each is created once per operator."""

from __future__ import annotations

from typing import Any

from penstock.common import contexts
from penstock.common.functions import state_descriptor as descriptors
from penstock.common.functions.state_ttl import StateTtlConfig
from penstock.errors import InvalidProgramError
from penstock.runtime.state.evolution import settle
from penstock.runtime.state.handles import AggregatingState, ListState, MapState, ReducingState, State, ValueState
from penstock.runtime.state.keyed import VOID, KeyedState, StateInfo
from penstock.runtime.state.native_handles import handle_class, lifetime_class
from penstock.runtime.state.serializers import TTL, serializer_class
from penstock.runtime.state.ttl import TTL_CLASSES
from penstock.runtime.usercode.functions import bind

RESERVED = {  # names of operators' own tables, and their content
    "_op_state": "reductions and aggregations",
    "window-contents": "the elements of windows",
    "merging-window-set": "windows that merge",
    "left-buffer": "one side of an interval join",
    "right-buffer": "the other side of an interval join",
}
TRIGGERS = "trigger:"  # prefix of the names of triggers' tables


def handle_of(keyed: KeyedState, descriptor: descriptors.StateDescriptor[Any], namespace: Any = VOID) -> Any:
    """The handle for a descriptor of any kind."""
    store = KeyedStateStore(keyed, namespace)
    if isinstance(descriptor, descriptors.ReducingStateDescriptor):
        return store.get_reducing_state(descriptor)
    if isinstance(descriptor, descriptors.AggregatingStateDescriptor):
        return store.get_aggregating_state(descriptor)
    if isinstance(descriptor, descriptors.MapStateDescriptor):
        return store.get_map_state(descriptor)
    if isinstance(descriptor, descriptors.ListStateDescriptor):
        return store.get_list_state(descriptor)
    return store.get_state(descriptor)


class KeyedStateStore(contexts.KeyedStateStore):
    """Creates handles by descriptor."""

    _namespace: Any = VOID

    def __init__(self, keyed: KeyedState, namespace: Any = VOID) -> None:
        self._keyed = keyed
        self._namespace = namespace

    def __repr__(self) -> str:
        return f"<KeyedStateStore of {'all windows' if self._namespace is VOID else self._namespace}>"

    def _keyed_state(self) -> KeyedState:
        return self._keyed

    def _handle(self, kind: type[State], descriptor: Any, types: tuple[str, ...], *argument: Any) -> Any:
        keyed, name = self._keyed_state(), getattr(descriptor, "name", descriptor)
        handle = keyed.handles.get(name)
        if handle is None:
            _check_name(name)
            config = getattr(descriptor, "ttl_config", None)
            ttl = config if config is not None and config.is_enabled() and keyed.clock is not None else None
            self._settle(keyed, kind.kind, descriptor, types, ttl)
            cls: Any = kind if ttl is None else TTL_CLASSES[kind]
            functions = keyed.functions if keyed.holds_dicts else None
            handle: Any = handle_class(cls, keyed.changes is not None, functions)(keyed, name, *argument)
            if ttl is not None:
                handle._life = lifetime_class(functions)(ttl, keyed, name, cls)
            keyed.handles[name] = handle
        elif not isinstance(handle, kind):
            raise InvalidProgramError(
                f"The state {name!r} is a {handle.kind} and was asked for as {kind.kind}. Names of "
                "states are unique per operator; choose another.",
                flink_class="java.lang.ClassCastException",
            )
        handle.in_namespace(self._namespace)
        return handle

    @staticmethod
    def _settle(
        keyed: KeyedState, kind: str, descriptor: Any, types: tuple[str, ...], ttl: StateTtlConfig | None
    ) -> None:
        declared = [getattr(descriptor, attribute, None) for attribute in types]
        names = [serializer_class(type_info) for type_info in declared]
        serializers = (*names[:-1], names[-1] if ttl is None else TTL)
        texts = tuple("" if type_info is None else repr(type_info) for type_info in declared)
        name: str = getattr(descriptor, "name", descriptor)
        described: Any = descriptor if isinstance(descriptor, descriptors.StateDescriptor) else None
        version = 0 if described is None else described.version
        info = StateInfo(name, kind, serializers, texts, version)
        if keyed.forms:
            settle(keyed, described, info, declared)
        known = keyed.infos.get(name, info)
        keyed.infos[name] = info._replace(version=version or known.version, windows=known.windows)

    def get_state(self, state_descriptor: Any) -> ValueState:
        default = getattr(state_descriptor, "default_value", None)
        return self._handle(ValueState, state_descriptor, ("value_type_info",), default)

    def get_list_state(self, state_descriptor: Any) -> ListState:
        return self._handle(ListState, state_descriptor, ("elem_type_info",))

    def get_map_state(self, state_descriptor: Any) -> MapState:
        return self._handle(MapState, state_descriptor, ("key_type_info", "value_type_info"))

    def get_reducing_state(self, state_descriptor: Any) -> ReducingState:
        reduce = bind(state_descriptor.reduce_function, "reduce")
        return self._handle(ReducingState, state_descriptor, ("type_info",), reduce)

    def get_aggregating_state(self, state_descriptor: Any) -> AggregatingState:
        return self._handle(AggregatingState, state_descriptor, ("state_type_info",), state_descriptor.agg_function)


def _check_name(name: Any) -> None:
    what = "triggers" if isinstance(name, str) and name.startswith(TRIGGERS) else RESERVED.get(name)
    if what is not None:
        raise InvalidProgramError(
            f"A state cannot be called {name!r}: operators use this name for {what}. Choose another name; "
            "renamed_from() takes over the state that an earlier program had under this one."
        )
