"""The states of triggers: a method asks its context for one with a descriptor that is an attribute of the trigger."""

from __future__ import annotations

import ast
from typing import Any

from penstock.common.functions.state_descriptor import ReducingStateDescriptor, StateDescriptor, ValueStateDescriptor
from penstock.compiler.names import Context, Scope, attributes_of, written
from penstock.compiler.process_states import KeyedStates

_KINDS: dict[type, str] = {ValueStateDescriptor: "value", ReducingStateDescriptor: "reducing"}


def trigger_states(trigger: Any) -> KeyedStates:
    """The states whose descriptors a trigger has, in the order of their names: the same for all its methods."""
    every = dict[str, StateDescriptor[Any]]()
    for base in reversed(type(trigger).__mro__):
        every.update(_descriptors(vars(base)))
    every.update(_descriptors(attributes_of(trigger)))
    changed = written(type(trigger))
    known = {name: state for name, state in every.items() if name not in changed and _is_plain(state)}
    names = [state.name for state in every.values()]
    known = {name: state for name, state in known.items() if names.count(state.name) == 1}
    in_order = sorted(known, key=lambda name: known[name].name)
    kinds = {name: _KINDS[type(known[name])] for name in in_order}
    functions = {name: known[name].reduce_function for name in in_order if kinds[name] == "reducing"}  # type: ignore[attr-defined]
    return KeyedStates(trigger, kinds, functions, asked=True)


def asked_state(node: ast.AST, scope: Scope) -> ast.Attribute | None:
    """The descriptor of ``context.get_partitioned_state(descriptor)``; None for another expression."""
    called = node.func if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords else None
    if not isinstance(called, ast.Attribute) or called.attr != "get_partitioned_state":
        return None
    of, descriptor = called.value, node.args[0]  # type: ignore[attr-defined]
    static = scope.static(of) if isinstance(of, ast.Name) else None
    if static is None or not isinstance(static.value, Context) or not isinstance(descriptor, ast.Attribute):
        return None
    return descriptor if scope.is_state(descriptor) else None


def _descriptors(attributes: Any) -> dict[str, StateDescriptor[Any]]:
    return {name: value for name, value in attributes.items() if isinstance(value, StateDescriptor)}


def _is_plain(state: StateDescriptor[Any]) -> bool:
    """Whether a state is a value without a default, or a reduction, which neither expires nor is taken over from
    another one."""
    expires = state.ttl_config is not None and state.ttl_config.is_enabled()
    evolves = bool(state.former_names or state.migrations or state.field_defaults)
    return type(state) in _KINDS and getattr(state, "default_value", None) is None and not (expires or evolves)
