"""PS108 and PS109: values that functions keep outside of state."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from penstock.lint.bodies import (
    CONTAINERS,
    MUTATORS,
    Change,
    assigned,
    attribute_of_self,
    changes,
    function_called,
    is_container,
    method_called,
    names_in,
    own_nodes,
)
from penstock.lint.inspection import ONCE, attributes_of, class_of, is_of
from penstock.lint.rule import bodies, keyed_bodies, rule
from penstock.lint.sources import Source
from penstock.lint.subject import Body, Subject


def _first_value(body: Body, name: str) -> Any:
    """The value of an attribute before the first record: the object, or the expression in ``open``."""
    attributes = attributes_of(body.function)
    for once in body.sources("open", "__init__"):
        for change in changes(once.tree):
            if change.name == name and not change.part:
                return attributes[name] if once.name == "__init__" and name in attributes else change.value
    return attributes.get(name, _in_class(body, name))


def _in_class(body: Body, name: str) -> Any:
    return next((vars(cls)[name] for cls in class_of(body.function).__mro__ if name in vars(cls)), None)


def _is_mutable(value: Any) -> bool:
    if isinstance(value, ast.AST):
        return is_container(value)
    return is_of(value, dict, list, set) or class_of(value).__name__ == "deque"


@rule("PS108", keyed_bodies)
def state_in_attribute(subject: Subject, body: Body) -> str:
    """A function of a keyed stream keeps data in an attribute, which is not state.

    An attribute mixes all keys of the subtask, is in no checkpoint, and is lost after a failure, a restart or a change
    of the parallelism. Use state, which is kept by key: call `get_state`, `get_map_state` and so on in `open()`.

    Caches whose values can be looked up again, and attributes that are reset for each record, are not reported.

          class Count(KeyedProcessFunction):
        -     def __init__(self):
        -         self.counts = {}
        +     def open(self, runtime_context):
        +         self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

              def process_element(self, value, ctx):
        -         self.counts[value[0]] = self.counts.get(value[0], 0) + 1
        -         yield value[0], self.counts[value[0]]
        +         count = (self.count.value() or 0) + 1
        +         self.count.update(count)
        +         yield value[0], count

          orders.key_by(lambda order: order[0]).process(Count()).print()
    """
    if not body.is_object or body.node.kind == "sink":
        return ""
    kept = sorted(name for name in _kept(body) if not _is_shared(body, name))
    names = ", ".join(f"self.{name}" for name in kept)
    return names and (
        f"{body.title} keeps what it has seen in {names}: that is not state, belongs to no key, and is gone after a "
        "restart. Ask for state in open(), such as get_state(…) or get_map_state(…)."
    )


def _kept(body: Body) -> set[str]:
    """The attributes that outlive a record and are made of records."""
    by_name: dict[str, list[tuple[Source, Change]]] = {}
    for source in body.sources(*body.at_run_time):
        for change in changes(source.tree):
            by_name.setdefault(change.name, []).append((source, change))
    return {name for name, changed in by_name.items() if not _is_reset(body, name) and _keeps(body, name, changed)}


def _keeps(body: Body, name: str, changed: list[tuple[Source, Change]]) -> bool:
    before = _first_value(body, name)
    if _is_mutable(before):
        return any(change.part and _adds(change) and not _is_cached(source, change) for source, change in changed)
    number = before.value if isinstance(before, ast.Constant) else before
    if is_of(number, int, float) and not is_of(number, bool) and any(change.adds for _, change in changed):
        return _is_read(body, name)
    return any(_is_of_record(body, source, name, change) for source, change in changed if not change.part)


def _adds(change: Change) -> bool:
    """Whether a change puts something in; removals do not count."""
    called = method_called(change.node)
    removes = called is not None and called[1] in ("clear", "discard", "pop", "popitem", "popleft", "remove", "sort")
    return not removes and not isinstance(change.node, ast.Delete)


def _is_reset(body: Body, name: str) -> bool:
    """Whether every method that is called with records begins by setting an attribute."""
    used = False
    for tree in (source.tree for source in body.sources(*body.hooks)):
        first = next((node for node in own_nodes(tree) if attribute_of_self(node) == name), None)
        if first is None:
            continue
        used = True
        inside = [change for change in changes(tree) if change.name == name]
        anew = inside and not inside[0].part and not inside[0].adds and isinstance(first, ast.Attribute)
        if not anew or not isinstance(first.ctx, ast.Store) or name in _attributes_read(inside[0].value):  # type: ignore[union-attr]
            return False
    return used


def _attributes_read(node: ast.AST | None) -> set[str | None]:
    return set() if node is None else {attribute_of_self(part) for part in ast.walk(node)}


def _is_cached(source: Source, change: Change) -> bool:
    """Whether a value is the result of a call that is made only if it is missing: a cache."""
    value = change.value
    if isinstance(value, ast.Name):
        value = next((call for call in assigned(source.tree, value.id) if isinstance(call, ast.Call)), value)
    if not isinstance(value, ast.Call) or change.adds or function_called(value) in CONTAINERS:
        return False
    around = [
        node
        for node in own_nodes(source.tree)
        if isinstance(node, ast.If | ast.ExceptHandler) and any(part is change.node for part in ast.walk(node))
    ]
    tests = [part for node in around if isinstance(node, ast.If) for part in ast.walk(node.test)]
    missing = any(isinstance(part, ast.NotIn | ast.Is | ast.Not | ast.Eq) for part in tests)
    return missing or any(isinstance(node, ast.ExceptHandler) for node in around)


def _is_read(body: Body, name: str) -> bool:
    """Whether a number is read, other than to count further or to do something every so many records."""
    trees = [source.tree for source in body.sources(*body.at_run_time)]
    operations = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.BinOp)]
    modulo = {id(node.left) for node in operations if isinstance(node.op, ast.Mod)}
    attributes = [node for tree in trees for node in own_nodes(tree) if isinstance(node, ast.Attribute)]
    read = [node for node in attributes if isinstance(node.ctx, ast.Load) and attribute_of_self(node) == name]
    return any(id(node) not in modulo for node in read)


def _is_of_record(body: Body, source: Source, name: str, change: Change) -> bool:
    """Whether an attribute is set to something of the record, and read before it is set again."""
    if source.name not in body.hooks or change.value is None or is_container(change.value):
        return False
    if isinstance(change.value, ast.Call) and _is_cached(source, change):
        return False
    records = set(source.parameters) - {"ctx", "context", "window"}
    for node in own_nodes(source.tree):  # one pass is enough for assignments in order
        if isinstance(node, ast.Assign) and (names_in(node.value) & records or name in _attributes_read(node.value)):
            records |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    if not (names_in(change.value) & records or name in _attributes_read(change.value)):
        return False
    return any(_is_read_first(hook, name) for hook in body.sources(*body.hooks))


def _is_read_first(source: Source, name: str) -> bool:
    """Whether a method reads an attribute before it sets it."""
    places = {
        isinstance(node.ctx, ast.Load): (node.lineno, node.col_offset)
        for node in reversed([*own_nodes(source.tree)])
        if isinstance(node, ast.Attribute) and attribute_of_self(node) == name and node.attr == name
    }
    if True not in places:
        return False
    inside = [change for change in changes(source.tree) if change.name == name and not change.part]
    in_own_value = bool(inside) and name in _attributes_read(inside[0].value)
    return False not in places or places[True][0] < places[False][0] or in_own_value


@rule("PS109", bodies)
def state_in_class(subject: Subject, body: Body) -> Iterator[str]:
    """A function changes a dict, list or set of its class, which all its objects share.

    All operators and subtasks in one process share it, other processes have their own, and it never shrinks. Make a
    cache in `open()`, and limit its size; keep data of records in state.

          class Rates(MapFunction):
        -     cache = {}
        +     def open(self, runtime_context):
        +         self.rates = {"EUR": 100, "USD": 93}

              def map(self, value):
        -         self.cache[value[0]] = value[1]
        -         return len(self.cache)
        +         return value[1] * self.rates["EUR"]

          orders.map(Rates()).print()
    """
    for name in sorted(_class_changes(body)) if body.is_object else ():
        yield (
            f"{body.title} changes {name}, which belongs to the class: all objects in a process share it, and it is "
            "not state. Make it in open(), or use state."
        )


def _is_shared(body: Body, name: str) -> bool:
    """Whether an attribute is the class's, and a container."""
    once = [change for source in body.sources(*ONCE) for change in changes(source.tree)]
    anew = any(change.name == name and not change.part for change in once)
    return name not in attributes_of(body.function) and not anew and _is_mutable(_in_class(body, name))


def _class_changes(body: Body) -> set[str]:
    variables: set[str] = set()
    names = {cls.__name__ for cls in class_of(body.function).__mro__}
    for tree in (source.tree for source in body.sources(*body.at_run_time)):
        changed = (change for change in changes(tree) if change.part and _adds(change))
        variables |= {f"self.{change.name}" for change in changed if _is_shared(body, change.name)}
        for node in own_nodes(tree):
            called = method_called(node)
            target = called[0] if called is not None and called[1] in MUTATORS else None
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
                target = node.value
            if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
                continue
            if target.value.id in names and _is_shared(body, target.attr):
                variables.add(f"{target.value.id}.{target.attr}")
    return variables
