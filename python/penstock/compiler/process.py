"""Process functions: the state of a key, its timers, and the context.

The attributes that ``open`` assigns from ``get_state`` and its like are states, by number in a program. Of the context
a function may ask the key, the timestamp, the watermark and the clock; it may register and delete timers. What a
function does to state takes effect when it has ended, so nothing that Python runs later, a generator, may see it."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from types import FunctionType, MappingProxyType
from typing import Any

from penstock.common.functions.output_tag import OutputTag
from penstock.common.functions.state import TimeDomain
from penstock.compiler.descriptors import Opening
from penstock.compiler.held_lists import held_lists, is_read
from penstock.compiler.lists import is_new
from penstock.compiler.names import Context, Static, written
from penstock.compiler.patterns import Patterns
from penstock.compiler.process_states import COMBINING, KeyedStates
from penstock.compiler.program import Json, RefusedError
from penstock.compiler.signatures import Use
from penstock.compiler.trees import ParsedFile, Trees
from penstock.compiler.trigger_states import asked_state

_GETTERS = {
    "get_state": "value",
    "get_list_state": "list",
    "get_map_state": "map",
    "get_reducing_state": "reducing",
    "get_aggregating_state": "aggregating",
}
_TIMERS = {
    "register_event_time_timer": "register",
    "delete_event_time_timer": "delete",
    "register_processing_time_timer": "register_by_clock",
    "delete_processing_time_timer": "delete_by_clock",
}
_TIMES = {"current_watermark": "watermark", "current_processing_time": "now"}
_DOMAINS = {TimeDomain.EVENT_TIME: 0, TimeDomain.PROCESSING_TIME: 1}
_EQUALITIES = {ast.Eq: "eq", ast.NotEq: "ne", ast.Is: "eq", ast.IsNot: "ne"}
_CHANGES = {
    ("value", "update"): ("update", Use.KEEP),
    ("list", "add"): ("add", Use.KEEP),
    ("list", "add_all"): ("extend", Use.READ),
    ("list", "update"): ("replace", Use.READ),
}
"""By kind of state and method: the statement, and what is done with the argument."""
_MAP_READS = {"get": "map_get", "contains": "map_has", "is_empty": "map_empty"}
_MAP_READS.update({part: f"map_{part}" for part in ("keys", "values", "items")})
"""By method of a map state, with a key or without: the expression."""
_KEYED_READS = ("get", "contains")
OTHER_STATES = (
    "native triggers have values without a default, and reductions, which do not expire, with descriptors that are "
    "attributes of the trigger, and call their methods only"
)


def states_of(
    owner: Any, function: FunctionType, tree: ast.FunctionDef, file: ParsedFile | None, trees: Trees
) -> KeyedStates:
    """The states that ``open`` of an object, ``function``, gets from its runtime context."""
    arguments = [*tree.args.posonlyargs, *tree.args.args]
    if len(arguments) < 2:
        return KeyedStates(owner)
    itself, context = arguments[0].arg, arguments[1].arg
    assigned: dict[str, list[ast.expr | None]] = {}
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == itself:
                assigned.setdefault(target.attr, []).append(getattr(node, "value", None))
    elsewhere = written(type(owner), function)
    once = {name: values[0] for name, values in assigned.items() if len(values) == 1 and name not in elsewhere}
    kinds = {name: kind for name, value in once.items() if (kind := _kind(value, context))}
    if file is None:
        return KeyedStates(owner, kinds)
    opening, functions = Opening(owner, function, tree, file, trees), dict[str, Any]()
    for name, kind in kinds.items():
        call = once[name]
        descriptor = call.args[0] if isinstance(call, ast.Call) and len(call.args) == 1 else None
        if kind in COMBINING:
            functions[name] = opening.combining(descriptor, kind)
    functions = {name: known for name, known in functions.items() if known is not None}
    methods = (trees.of(member) for member in _methods_of(type(owner)) if member is not function)
    values = [name for name, kind in kinds.items() if kind == "value"]
    lists = held_lists(values, [part for part in methods if isinstance(part, ast.FunctionDef)]) if values else {}
    return KeyedStates(owner, kinds, functions, lists)


def _methods_of(cls: type) -> Iterator[FunctionType]:
    """All functions of a class of the program and its bases."""
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] not in ("builtins", "penstock", "abc", "typing"):
            members = (getattr(member, "__func__", member) for member in vars(base).values())
            yield from (member for member in members if isinstance(member, FunctionType))


def _kind(node: ast.expr | None, context: str) -> str:
    """The kind of state that an expression of ``open`` gets; "" for another expression."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return ""
    of = node.func.value
    if not isinstance(of, ast.Name) or of.id != context:
        return ""
    return _GETTERS.get(node.func.attr, "")


class ProcessCalls(Patterns):
    """The translator of what process functions do with state, timers and the context."""

    services: set[str]
    """The variables that are the timer service."""
    aliases: Mapping[str, ast.expr] = MappingProxyType({})
    """The variables that are a state, and the expression that it is."""
    held: Mapping[str, tuple[int, int]] = MappingProxyType({})
    """The variables that have the list of a state: its number, and the variable that says whether it is the state's."""

    @abstractmethod
    def combining(self, function: Any, method: str, count: int, node: ast.AST) -> int:
        """The number of a method of a state's function, which takes so many arguments."""

    def process_call(self, node: ast.Call, use: Use) -> Json | None:
        """A call that reads the state of a key, or asks the context; None for another one."""
        called = node.func
        if not isinstance(called, ast.Attribute):
            return None
        state = self._state(called.value)
        if state is not None:
            return self._read(state, node, called.attr, use)
        if self._is_service(called.value):
            if called.attr in _TIMES and not node.args and not node.keywords:
                return ["around", _TIMES[called.attr]]
            raise RefusedError(f"{called.attr}() of the timer service is Python's", node)
        context = self._context(called.value)
        if context is None:
            return None
        if self._is_of_trigger(called):
            raise RefusedError(OTHER_STATES, node)
        if called.attr not in context.asks or node.args or node.keywords:
            raise RefusedError(context.more, node)
        return ["around", context.asks[called.attr]]

    def domain_compared(self, node: ast.Compare) -> Json | None:
        """``ctx.time_domain() == TimeDomain.EVENT_TIME``; None for something else."""
        called = node.left.func if isinstance(node.left, ast.Call) else None
        operator = _EQUALITIES.get(type(node.ops[0]))
        if not isinstance(called, ast.Attribute) or called.attr != "time_domain":
            return None
        context = self._context(called.value)
        if context is None or not context.timers:
            return None
        static = self.scope.static(node.comparators[0])
        number = _DOMAINS[static.value] if static is not None and isinstance(static.value, TimeDomain) else None
        if number is None or operator is None or len(node.ops) > 1:
            raise RefusedError("time_domain() can only be compared with a TimeDomain", node)
        return ["compare", ["around", "domain"], operator, ["const", number]]

    def process_statement(self, node: ast.expr) -> list[Json] | None:
        """A call that changes the state or the timers of a key; None for another one."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return None
        method, of = node.func.attr, node.func.value
        if self._has_timers(of) and method in _TIMERS:
            return [[_TIMERS[method], self.expression(self._argument(node), Use.READ)]]
        if method == "merge_partitioned_state" and self._is_of_trigger(node.func):
            return self._merge_state(self._argument(node), node)
        state = self._state(of)
        if state is None:
            if isinstance(of, ast.Call) and self._is_of_trigger(of.func):
                raise RefusedError(OTHER_STATES, node)
            return None
        number, kind = state
        name = next((name for name, (of, _) in self.held.items() if of == number), None)
        if name is not None and method in ("clear", "update"):
            return self._give_list(name, node, method)
        if kind in COMBINING and method == "add":
            return self._combine(state, self._argument(node), node)
        if kind == "map" and method in ("put", "put_all", "remove"):
            return [self._map_change(number, method, node)]
        if method == "clear" and not node.args and not node.keywords:
            return [["clear", number]]
        change = _CHANGES.get((kind, method))
        if change is None:
            return None
        return [[change[0], number, self.expression(self._argument(node), change[1])]]

    def side_output(self, node: ast.expr) -> Json | None:
        """``yield tag, value``; None for something else."""
        pair = node.value if isinstance(node, ast.Yield) else None
        tags = self.scope.tags
        if tags is None or not isinstance(pair, ast.Tuple) or len(pair.elts) != 2:
            return None
        static = self.scope.static(pair.elts[0]) if isinstance(pair.elts[0], ast.Name | ast.Attribute) else None
        if static is None or type(static.value) is not OutputTag:
            return None
        tag = static.value.tag_id
        if tag not in tags:
            tags.append(tag)
        return ["side", tags.index(tag), self.expression(pair.elts[1])]

    def is_service(self, node: ast.expr) -> bool:
        """Whether an expression is ``ctx.timer_service()``."""
        called = node.func if isinstance(node, ast.Call) else None
        if not isinstance(called, ast.Attribute) or called.attr != "timer_service":
            return False
        context = self._context(called.value)
        return context is not None and context.timers

    def check_lazy(self, nodes: Iterable[ast.AST]) -> None:
        """Refuse what a generator does with state or the context while others change it."""
        states = self.scope.states
        for node in (part for whole in nodes for part in ast.walk(whole)):
            if isinstance(node, ast.Name) and states is not None:
                static = None if self.scope.number(node.id) is not None else self.scope.statics.get(node.id)
                if (
                    node.id in self.aliases
                    or is_context(static)
                    or (static is not None and static.value is states.owner)
                ):
                    raise RefusedError("a generator uses the object or the context of its function", node)

    def state_items(self, node: ast.expr, use: Use) -> Json | None:
        """A list or map state that is gone through itself; None for something else."""
        number, kind = (self._state(node) if use is Use.ITERATE else None) or (0, "")
        return {"list": ["state", number], "map": ["map_keys", number]}.get(kind)

    def entry(self, node: ast.AST) -> tuple[int, ast.expr] | None:
        """The number and the key of an item of a map state; None for something else."""
        if not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Slice):
            return None
        number, kind = self._state(node.value) or (0, "")
        return (number, node.slice) if kind == "map" else None

    def entry_read(self, node: ast.AST) -> Json | None:
        """An item of a map state: None if the map has no such key, as ``get``."""
        entry = self.entry(node)
        return None if entry is None else ["map_get", entry[0], self.expression(entry[1], Use.READ)]

    def entry_put(self, entry: tuple[int, ast.expr], value: Json) -> Json:
        """The assignment of an item of a map state."""
        return ["put_entry", entry[0], self.expression(entry[1]), value]

    def has_entry(self, key: ast.expr, node: ast.expr) -> Json | None:
        """``key in map``; None for something else than a map state."""
        number, kind = self._state(node) or (0, "")
        return ["map_has", number, self.expression(key, Use.READ)] if kind == "map" else None

    def _give_list(self, name: str, node: ast.Call, method: str) -> list[Json]:
        """``update`` and ``clear`` of a state whose list a variable may have."""
        number, flag = self.held[name]
        if method == "clear":
            return [["clear", number], ["set", flag, ["const", False]]]
        argument = self._argument(node)
        same = isinstance(argument, ast.Name)  # there is one variable that has lists of the state
        value = ["local", self.scope.number(name)] if same else self.expression(argument)
        return [["update", number, value], ["set", flag, ["const", same]]]

    def take_list(self, name: str, node: ast.expr) -> list[Json]:
        """The assignment of a variable that may have the list of a state."""
        (number, flag), place = self.held[name], self.scope.number(name)
        if is_read(node) is not None:
            taken: list[Json] = [["set", place, ["state", number]], ["set", flag, ["held", number]]]
            if isinstance(node, ast.BoolOp):
                empty = ["list"] if isinstance(node.values[-1], ast.List) else ["dict"]
                new = [["set", place, empty], ["set", flag, ["const", False]]]
                taken.append(["if", ["local", place], [], new])
            return taken
        value = self.expression(node)
        if not is_new(value):
            raise RefusedError("the list of a state may be in two places", node)
        return [["set", place, value], ["set", flag, ["const", False]]]

    def kept_list(self, name: str) -> list[Json]:
        """Behind a change of a list that may be the state's: the state has it."""
        if name not in self.held:
            return []
        number, flag = self.held[name]
        return [["if", ["local", flag], [["store", number, ["local", self.scope.number(name)]]], []]]

    def _map_change(self, number: int, method: str, node: ast.Call) -> Json:
        if method == "put" and len(node.args) == 2 and not node.keywords:
            key, value = self.expressions(node.args)
            return ["put_entry", number, key, value]
        argument = self._argument(node)
        if method == "put_all":
            return ["put_all", number, ["builtin", "dict", self.expression(argument, Use.READ)]]
        return ["remove", number, self.expression(argument, Use.READ)]

    def _combine(self, state: tuple[int, str], argument: ast.expr, node: ast.AST) -> list[Json]:
        """The effect of ``add`` of a reducing or aggregating state."""
        number, kind = state
        value, usable = self.scope.fresh(), ["usable", number]
        added, before = ["local", value], ["shown", number]
        begin: Json = ["set", value, self.expression(argument)]
        if kind == "reducing":
            reduced = ["call", self._method_of(state, "reduce", 2, node), before, added]
            return [begin, ["if", usable, [["combine", number, reduced]], [["combine", number, added]]]]
        new = ["call", self._method_of(state, "create_accumulator", 0, node)]
        result = ["call", self._method_of(state, "add", 2, node), added, ["if", usable, before, new]]
        return [begin, ["combine", number, result]]

    def _is_of_trigger(self, called: ast.expr) -> bool:
        """Whether a method of a context is called that gives state to a trigger."""
        of = called.value if isinstance(called, ast.Attribute) and called.attr.endswith("_partitioned_state") else None
        return of is not None and self._context(of) is not None

    def _merge_state(self, descriptor: ast.expr, node: ast.AST) -> list[Json]:
        """The values of a state of windows that have become one: reduced in order, and then with that of the one."""
        state = self._state_of(descriptor)
        if state is None or state[1] != "reducing":
            raise RefusedError(OTHER_STATES, node)
        number, reduce = state[0], self._method_of(state, "reduce", 2, node)
        begun, merged, item = (self.scope.fresh() for _ in range(3))
        first = [["set", merged, ["local", item]], ["set", begun, ["const", True]]]
        more = [["set", merged, ["call", reduce, ["local", merged], ["local", item]]]]
        both = ["call", reduce, ["shown", number], ["local", merged]]
        put = ["if", ["usable", number], [["combine", number, both]], [["combine", number, ["local", merged]]]]
        return [
            ["set", begun, ["const", False]],
            ["for", item, ["merged", number], [["if", ["local", begun], more, first]]],
            ["if", ["local", begun], [put], []],
        ]

    def _method_of(self, state: tuple[int, str], method: str, count: int, node: ast.AST) -> int:
        states = self.scope.states
        return self.combining(states.functions[list(states.native)[state[0]]], method, count, node)

    def _read(self, state: tuple[int, str], node: ast.Call, method: str, use: Use) -> Json:
        number, kind = state
        if kind in COMBINING and method == "get" and not node.args and not node.keywords:
            if kind == "reducing":
                return ["state", number]
            result = ["call", self._method_of(state, "get_result", 1, node), ["shown", number]]
            return ["if", ["readable", number], result, ["const", None]]
        if kind == "map" and method in _MAP_READS:
            if method not in _KEYED_READS and not node.args and not node.keywords:
                return [_MAP_READS[method], number]
            if method in _KEYED_READS:
                return [_MAP_READS[method], number, self.expression(self._argument(node), Use.READ)]
        if node.args or node.keywords or (kind, method) not in (("value", "value"), ("list", "get")):
            raise RefusedError(f"{method}() of this state is Python's, where its result is used", node)
        if kind == "list" and use is not Use.ITERATE:
            raise RefusedError("what a list state gives can only be gone through where it is written", node)
        return ["state", number]

    def _state(self, node: ast.expr) -> tuple[int, str] | None:
        """The number and kind of the state that an expression is."""
        states = self.scope.states
        if isinstance(node, ast.Name) and not any(node.id in names for names in self.scope.inner):
            node = self.aliases.get(node.id, node)
        if states is not None and states.asked:
            node = asked_state(node, self.scope) or ast.Constant(None)
        return self._state_of(node)

    def _state_of(self, node: ast.expr) -> tuple[int, str] | None:
        """The number and kind of the state of an attribute."""
        states = self.scope.states
        if states is None or not isinstance(node, ast.Attribute) or not self.scope.is_state(node):
            return None
        kind, native = states.kinds[node.attr], list(states.native)
        if node.attr not in native:
            raise RefusedError(f"the function of the {kind} state {node.attr} is not known before open() runs", node)
        return native.index(node.attr), kind

    def _argument(self, node: ast.Call) -> ast.expr:
        if len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred):
            raise RefusedError("this call cannot be translated", node)
        return node.args[0]

    def _context(self, node: ast.expr) -> Context | None:
        static = self.scope.static(node) if isinstance(node, ast.Name) else None
        return static.value if static is not None and isinstance(static.value, Context) else None

    def _has_timers(self, node: ast.expr) -> bool:
        context = self._context(node)
        return self._is_service(node) if context is None else context.registers

    def _is_service(self, node: ast.expr) -> bool:
        return self.is_service(node) or (isinstance(node, ast.Name) and node.id in self.services)


def is_context(static: Static | None) -> bool:
    """Whether an object from outside stands for the context."""
    return static is not None and isinstance(static.value, Context)
