"""PS110 to PS117: how functions ask for state, and how they use it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from penstock.lint.bodies import (
    MUTATORS,
    assigned,
    assigned_once,
    attribute_of_self,
    calls,
    changes,
    function_called,
    meaning,
    method_called,
    own_nodes,
    results,
)
from penstock.lint.inspection import ONCE, is_of
from penstock.lint.rule import Message, bodies, keyed_bodies, rule
from penstock.lint.sources import Source
from penstock.lint.subject import Body, Subject

ASKS = {
    "get_state": "value",
    "get_list_state": "list",
    "get_map_state": "map",
    "get_reducing_state": "reducing",
    "get_aggregating_state": "aggregating",
}
"""The methods that return keyed state, and its kinds."""
_ACCESS = {"value": ("value", "update"), "map": ("get", "put", "put_all")}
"""The methods that read and write a state, by its kind."""
_READS_AND_WRITES = frozenset(
    {"add", "add_all", "clear", "contains", "get", "is_empty", "items", "keys", "put", "put_all", "remove", "update"}
    | {"value", "values"}
)
_WRITES = frozenset({"clear", "put", "put_all", "remove"})


def _asked(node: ast.AST | None) -> str:
    """The kind of the state that an expression asks for."""
    called = None if node is None else method_called(node)
    return "" if called is None else ASKS.get(called[1], "")


def handles_of(body: Body) -> dict[str, str]:
    """The attributes that are handles of states, with the kinds of these."""
    once = body.sources("open", "__init__")
    assigned = [change for source in once for change in changes(source.tree) if not change.part]
    return {change.name: _asked(change.value) for change in assigned if _asked(change.value)}


@rule("PS110", bodies)
def state_asked_for_per_record(subject: Subject, body: Body) -> str:
    """A function asks for its state while it processes records, not in `open()`.

    Every record pays for the lookup, and the state is unknown before the first record: neither `check` nor a lock file
    nor a restore can tell what a changed program does with it. Ask in `open()` and keep the handle.

          class Last(KeyedProcessFunction):
              def open(self, runtime_context):
        -         self.context = runtime_context
        +         self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.LONG()))

              def process_element(self, value, ctx):
        -         self.context.get_state(ValueStateDescriptor("last", Types.LONG())).update(value[1])
        +         self.last.update(value[1])

          orders.key_by(lambda order: order[0]).process(Last()).print()
    """
    for method in body.at_run_time:
        owners = [owner for _, owner, _ in calls(body.methods[method].tree, *ASKS)]
        if any(attribute_of_self(owner) or function_called(owner) == "get_runtime_context" for owner in owners):
            return (
                f"{body.title} asks for state in {method}(), for each record again, and the plan does not show it. Ask "
                "for it in open() and keep the handle."
            )
    return ""


@rule("PS111", bodies)
def code_in_state(subject: Subject, body: Body) -> str:
    """A function puts code into state: a lambda, or a `defaultdict` with a lambda.

    A lambda, or a function of the program's own file, is pickled as bytecode of this Python version, so after an
    upgrade the state cannot be restored. Use `defaultdict(int)`, a plain dict with `setdefault`, or a declared type.

          class Seen(KeyedProcessFunction):
              def open(self, runtime_context):
                  self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.PICKLED_BYTE_ARRAY()))

              def process_element(self, value, ctx):
        -         seen = self.seen.value() or defaultdict(lambda: [0, 0])
        -         seen[value[1]][0] += 1
        +         seen = self.seen.value() or {}
        +         seen.setdefault(value[1], [0, 0])[0] += 1
                  self.seen.update(seen)

          orders.key_by(lambda order: order[0]).process(Seen()).print()
    """
    why = (
        "a lambda is kept as the bytecode of this Python, and another version cannot restore it. Keep plain data, such "
        "as defaultdict(int) or a dict."
    )
    states = sorted({name for method in body.at_run_time for name in _states_with_code(body, method)})
    if states or any(map(_default_is_code, body.sources("open"))):
        named = ", ".join(f"self.{name}" for name in states) or "the default value of a state"
        return f"{body.title} puts code into {named}: {why}"
    if subject.keyed(body.node) and "create_accumulator" in body.hooks:
        source = body.methods["create_accumulator"]
        if any(_is_code(value, source) for value in results(source.tree) if value is not None):
            return f"The accumulators of {body.title} have code in them: {why}"
    return ""


def _default_is_code(source: Source) -> bool:
    """Whether the default of a value state that ``open`` asks for is code."""
    for descriptor in (call.args[0] for call, _, _ in calls(source.tree, "get_state") if call.args):
        if isinstance(descriptor, ast.Name) and assigned(source.tree, descriptor.id):
            descriptor = assigned(source.tree, descriptor.id)[0] or descriptor
        if isinstance(descriptor, ast.Call):
            default = [*descriptor.args[2:], *(keyword.value for keyword in descriptor.keywords)]
            if any(_is_code(argument, source) for argument in default):
                return True
        value = getattr(meaning(descriptor, source), "default_value", None)
        if _is_by_value(value) or _is_by_value(getattr(value, "default_factory", None)):
            return True
    return False


def _is_by_value(value: Any) -> bool:
    return is_of(value, FunctionType) and (value.__module__ == "__main__" or "<lambda>" in value.__qualname__)


def _states_with_code(body: Body, method: str) -> Iterator[str]:
    source, handles = body.methods[method], handles_of(body)
    variables = _variables(source.tree, lambda value: _is_code(value, source))
    for call, owner, _ in calls(source.tree, "update", "add", "put", "put_all", "add_all"):
        state = attribute_of_self(owner)
        code = (_is_code(arg, source) or (isinstance(arg, ast.Name) and arg.id in variables) for arg in call.args)
        if state in handles and any(code):
            yield state


def _variables(tree: ast.AST, fits: Callable[[ast.expr], bool]) -> set[str]:
    return {
        target.id
        for node in own_nodes(tree)
        if isinstance(node, ast.Assign) and fits(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _is_code(node: ast.AST, source: Source) -> bool:
    """Whether an expression is, or contains, a function that is pickled by value."""
    if isinstance(node, ast.BoolOp):
        return any(_is_code(value, source) for value in node.values)
    if isinstance(node, ast.IfExp):
        return _is_code(node.body, source) or _is_code(node.orelse, source)
    if isinstance(node, ast.Dict | ast.List | ast.Tuple | ast.Set):
        parts = node.values if isinstance(node, ast.Dict) else node.elts
        return any(_is_code(part, source) for part in parts)
    if function_called(node) == "defaultdict" and isinstance(node, ast.Call) and node.args:
        return _is_code(node.args[0], source)
    return isinstance(node, ast.Lambda) or _is_by_value(meaning(node, source))


@rule("PS112", bodies)
def state_changed_in_place(subject: Subject, body: Body) -> Iterator[str]:
    """A function changes an object that it got from a state, and never writes it back.

    A changed object changes the state only where it happens to be in memory: the next checkpoint, and another task,
    have the old value. Call `update()`, or `put()` of a map, with the changed object.

          class Seen(KeyedProcessFunction):
              def open(self, runtime_context):
                  self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.LIST(Types.LONG())))

              def process_element(self, value, ctx):
                  seen = self.seen.value() or []
                  seen.append(value[1])
        +         self.seen.update(seen)

          orders.key_by(lambda order: order[0]).process(Seen()).print()
    """
    trees = [body.methods[method].tree for method in body.at_run_time]
    for name, kind in handles_of(body).items():
        get, *put = _ACCESS.get(kind, ("", ""))
        writes = any(attribute_of_self(owner) == name for tree in trees for _, owner, _ in calls(tree, *put))
        written = writes or any(_is_passed_on(tree, name) for tree in trees)
        if get and not written and any(_is_changed(tree, name, get) for tree in trees):
            yield (
                f"{body.title} changes what self.{name}.{get}() gives, and never calls {put[0]}(): the change is in no "
                f"checkpoint. Call self.{name}.{put[0]}(…)."
            )


def _gets(node: ast.AST | None, name: str, get: str) -> bool:
    """Whether an expression reads a state, perhaps with an alternative for a missing value."""
    if isinstance(node, ast.BoolOp):
        node = node.values[0]
    called = None if node is None else method_called(node)
    if called is None or called[1] != get:
        return False
    return isinstance(called[0], ast.Attribute) and attribute_of_self(called[0]) == name


def _is_passed_on(tree: ast.AST, name: str) -> bool:
    """Whether a handle is given to other code, which may write."""
    attributes = [node for node in own_nodes(tree) if isinstance(node, ast.Attribute)]
    inner = {id(node.value) for node in attributes}
    handles = [node for node in attributes if node.attr == name and attribute_of_self(node) == name]
    return any(id(node) not in inner for node in handles)


def _is_changed(tree: ast.AST, name: str, get: str) -> bool:
    values = _variables(tree, lambda value: _gets(value, name, get))
    changed = any(change.name in values and (change.part or change.adds) for change in changes(tree, of_self=False))
    return changed or any(method in MUTATORS and _gets(owner, name, get) for _, owner, method in calls(tree))


@rule("PS113", bodies)
def missing_value_used(subject: Subject, body: Body) -> Iterator[str]:
    """A function calculates with the value of a state that may be missing.

    `value()` returns None until the first `update()` of the key, so the first record of each key fails. Write
    `self.count.value() or 0`, or check for None.

          class Count(KeyedProcessFunction):
              def open(self, runtime_context):
                  self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

              def process_element(self, value, ctx):
        -         self.count.update(self.count.value() + 1)
        +         self.count.update((self.count.value() or 0) + 1)

          orders.key_by(lambda order: order[0]).process(Count()).print()
    """
    once = [node for source in body.sources(*ONCE) for node in own_nodes(source.tree)]
    described = [node for node in once if function_called(node) == "ValueStateDescriptor"]
    has_defaults = any(isinstance(call, ast.Call) and (call.args[2:] or call.keywords) for call in described)
    for name, kind in handles_of(body).items() if not has_defaults else ():
        hooks = (body.methods[hook] for hook in body.hooks if hook != "on_timer")
        if kind == "value" and any(_calculates(source, name) for source in hooks):
            yield (
                f"{body.title} calculates with self.{name}.value(), which is None for the first record of each key. "
                f"Write (self.{name}.value() or 0), say."
            )


def _calculates(source: Source, name: str) -> bool:
    nodes = [*own_nodes(source.tree)]
    tests = ast.If | ast.IfExp | ast.BoolOp | ast.Compare | ast.Try | ast.While | ast.Assert | ast.Match
    checked = {id(inner) for node in nodes if isinstance(node, tests) for inner in ast.walk(node)}
    if any(_gets(node, name, "value") and id(node) in checked for node in nodes):
        return False
    plain = _variables(source.tree, lambda value: not isinstance(value, ast.BoolOp) and _gets(value, name, "value"))
    tested = {node.id for node in nodes if isinstance(node, ast.Name) and id(node) in checked}
    variables = {variable for variable in plain - tested if len(assigned(source.tree, variable)) == 1}

    def missing(node: ast.AST) -> bool:
        if isinstance(node, ast.Name):
            return node.id in variables
        return not isinstance(node, ast.BoolOp) and _gets(node, name, "value")

    return any(isinstance(node, ast.BinOp) and (missing(node.left) or missing(node.right)) for node in nodes)


@rule("PS114", bodies)
def state_without_key(subject: Subject, body: Body) -> Iterator[str]:
    """A function uses state, timers or the current key, and its stream is not keyed.

    State and timers belong to a key. On a stream without one the job fails, when the function is opened or at the first
    timer, and `get_current_key()` returns None. Call `key_by` before it.

          class Total(MapFunction):
              def open(self, runtime_context):
                  self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.LONG()))

              def map(self, value):
                  self.total.update((self.total.value() or 0) + value[1])
                  return self.total.value()

        - orders.map(Total()).print()
        + orders.key_by(lambda order: order[0]).map(Total()).print()
    """
    if subject.keyed(body.node) or not body.is_object or body.hooks[0] == "invoke":
        return
    sources = [*body.called("yield")]
    if any(_calls_parameter(source, "get_current_key") for source in sources):
        yield (
            f"{body.title} asks for the current key, and its stream has none: the answer is None. Call key_by() before "
            "it."
        )
    asks = "open" in body.methods and _calls_parameter(body.methods["open"], *ASKS)
    called = [name for source in sources for _, _, name in calls(source.tree)]
    if asks or any(name.startswith("register_") and name.endswith("_timer") for name in called):
        yield (
            f"{body.title} {'asks for state' if asks else 'sets timers'}, and its stream has no key: the job fails. "
            "Call key_by() before it."
        )


def _calls_parameter(source: Source, *methods: str) -> bool:
    """Whether a function calls methods of its parameters."""
    owners = (owner for _, owner, _ in calls(source.tree, *methods))
    return any(isinstance(owner, ast.Name) and owner.id in source.parameters for owner in owners)


@rule("PS115", keyed_bodies)
def state_used_in_open(subject: Subject, body: Body) -> str:
    """A function reads or writes its state in `open()`.

    In `open()` there is no record yet, so no key: the job fails when it starts, or, in PyFlink, what is put into a map
    state is lost. Provide a first value where the state is read: `self.count.value() or 0`.

          class Count(KeyedProcessFunction):
              def open(self, runtime_context):
                  self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        -         self.count.update(0)

              def process_element(self, value, ctx):
                  self.count.update((self.count.value() or 0) + 1)

          orders.key_by(lambda order: order[0]).process(Count()).print()
    """
    used = _used(body.methods["open"], set(handles_of(body))) if "open" in body.methods else ""
    return used and (
        f"open() of {body.title} calls {used}(), and no record has come yet, so there is no key. Use the state where a "
        "record is there, with a first value such as self.state.value() or 0."
    )


def _used(source: Source, handles: set[str]) -> str:
    """The first call in ``open`` that reads or writes state."""
    for _, owner, name in calls(source.tree, *_READS_AND_WRITES):
        attribute = owner.attr if isinstance(owner, ast.Attribute) else None
        is_handle = attribute in handles and attribute_of_self(owner) == attribute
        if is_handle or _asked(assigned_once(source.tree, owner)):
            return f"{ast.unparse(owner) if isinstance(owner, ast.Name | ast.Attribute) else '…'}.{name}"
    return ""


@rule("PS116", keyed_bodies)
def states_of_one_name(subject: Subject, body: Body) -> Iterator[str]:
    """A function asks for two states of the same name.

    The name identifies a state within its operator. Two handles of one name are one state: a value written through the
    first is read through the second. Give each its own name.

          class Range(KeyedProcessFunction):
              def open(self, runtime_context):
        -         self.least = runtime_context.get_state(ValueStateDescriptor("amount", Types.LONG()))
        -         self.most = runtime_context.get_state(ValueStateDescriptor("amount", Types.LONG()))
        +         self.least = runtime_context.get_state(ValueStateDescriptor("least", Types.LONG()))
        +         self.most = runtime_context.get_state(ValueStateDescriptor("most", Types.LONG()))

              def process_element(self, value, ctx):
                  self.least.update(min(self.least.value() or value[1], value[1]))
                  self.most.update(max(self.most.value() or value[1], value[1]))

          orders.key_by(lambda order: order[0]).process(Range()).print()
    """
    handles: dict[str, set[str]] = {}
    for name, handle in _asked_for(body):
        handles.setdefault(name, set()).add(handle)
    for name, attributes in handles.items():
        if len(attributes) > 1:
            one, other = sorted(attributes)[:2]
            yield (
                f"self.{one} and self.{other} of {body.title} are one state, as both have the name {name!r}. Give each "
                "descriptor a name of its own."
            )


def _asked_for(body: Body) -> Iterator[tuple[str, str]]:
    """The names of the states that ``open`` asks for, if they are literals, with the attributes of the handles."""
    pairs = [(source.tree, change) for source in body.sources("open") for change in changes(source.tree)]
    for tree, change in pairs:
        asked = change.value if isinstance(change.node, ast.Assign) and not change.part else None
        if not isinstance(asked, ast.Call) or not _asked(asked) or not asked.args:
            continue
        descriptor = assigned_once(tree, asked.args[0])
        name = descriptor.args[0] if isinstance(descriptor, ast.Call) and descriptor.args else None
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            yield name.value, change.name


@rule("PS117", bodies)
def broadcast_state_written_by_record(subject: Subject, body: Body) -> Message:
    """A function writes into broadcast state while it processes a record of the other stream.

    Broadcast state must be the same in all subtasks, and a record of the other stream reaches only one of them. So
    `process_element` can read it and not write it: the job fails. Write in `process_broadcast_element`.

          RULES = MapStateDescriptor("rules", Types.STRING(), Types.LONG())

          class Check(BroadcastProcessFunction):
              def process_element(self, value, ctx):
        -         ctx.get_broadcast_state(RULES).put(value[0], value[1])
        +         if ctx.get_broadcast_state(RULES).contains(value[0]):
        +             yield value

              def process_broadcast_element(self, value, ctx):
                  ctx.get_broadcast_state(RULES).put(value, 1)

          orders.connect(lines.broadcast(RULES)).process(Check()).print()
    """
    if "process_broadcast_element" not in body.hooks or "process_element" not in body.methods:
        return ""
    tree = body.methods["process_element"].tree
    written = (assigned_once(tree, owner) for _, owner, _ in calls(tree, *_WRITES))
    return any(state is not None and function_called(state) == "get_broadcast_state" for state in written) and (
        f"process_element() of {body.title} writes into broadcast state, which it can only read: the job fails. Write "
        "in process_broadcast_element()."
    )
