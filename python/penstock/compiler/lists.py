"""Lists and dicts that a function changes: ``out = []``, ``out.append(x)`` in a loop, ``counts[x] += 1``.

Programs have no objects that are shared, so only a variable's own list or dict can be changed: one that the function
has made, or the accumulator that an aggregate function gets and returns; and it must not be seen by two names while it
can change. Lists and sets *in* an accumulator are the exception: native code keeps these as objects, and where it does
not the record is in doubt. In a ``flat_map`` that only returns a list, it is not built at all: its items are emitted.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from penstock.compiler.names import body_of, own_nodes
from penstock.compiler.program import Json, RefusedError
from penstock.compiler.trees import Tree

_CHANGES = ("append", "extend", "update")
_RESIZES = ("sort", "reverse", "clear", "pop", "insert")
_NEW = {"list", "dict", "each", "sorted", "slice", "or_", "add", "mul", "const", "concat", "compare", "not"}
_NEW_BY_CALL = {
    "builtin": {"list", "sorted", "dict"},
    "lib": {"json.loads"},
    "method": {"split", "rsplit", "splitlines"},
}
_IN_PLACE = frozenset({"append", "add", "extend", "update"})
_CONTAINERS = frozenset({"list", "dict", "each", "new_set"})
_NUMBERS_AND_TEXTS = frozenset({"len", "int", "float", "str", "abs", "round", "bool", "ord", "chr", "repr", "hash"})


@dataclass(frozen=True)
class Lists:
    """The lists and dicts that a function changes, by variable, and the values that its variables take."""

    growing: frozenset[str]
    sink: str | None  # the one whose items are emitted instead
    values: dict[str, list[ast.expr | None]]  # by variable; None for one that is not an expression
    parts: frozenset[str] = frozenset()  # accumulators, and variables that only have what is in them

    def change(self, node: ast.expr) -> tuple[str, str, ast.expr] | None:
        """(list, method, argument) of a call that makes a list grow."""
        change = _change(node)
        return change if change is not None and change[0] in self.growing else None

    def is_sink(self, node: ast.expr) -> bool:
        """Whether it is the list whose items are emitted instead."""
        return self.sink is not None and isinstance(node, ast.Name) and node.id == self.sink

    def item(self, node: ast.expr) -> tuple[str, ast.expr] | None:
        """(variable, index) of an item of a list or dict that the function changes."""
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
            return None
        name = node.value.id
        return (name, node.slice) if name in self.growing and not isinstance(node.slice, ast.Slice) else None

    def is_part(self, node: ast.expr) -> bool:
        """Whether an expression is an accumulator, or what is in one."""
        return _is_part(node, self.parts)

    def part_change(self, node: ast.expr) -> tuple[str, ast.expr, ast.expr] | None:
        """(method, object, argument) of a call that changes something in an accumulator."""
        change = node.func if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords else None
        if not isinstance(change, ast.Attribute) or change.attr not in _IN_PLACE or not self.is_part(change.value):
            return None
        argument = node.args[0]  # type: ignore[attr-defined]
        return None if isinstance(argument, ast.Starred) else (change.attr, change.value, argument)

    def part_item(self, node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
        """(object, index) of an item of something in an accumulator."""
        if not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Slice) or not self.is_part(node.value):
            return None
        return node.value, node.slice

    def check_loop(self, loop: ast.For) -> None:
        """Refuse a loop over a list that grows in it."""
        names = {node.id for node in ast.walk(loop.iter) if isinstance(node, ast.Name)} & self.growing
        for node in ast.walk(loop) if names else ():
            grown = changed_list(node)
            if grown in names:
                raise RefusedError(f"{grown} grows while the loop goes through it", node)


def is_new(value: Json) -> bool:
    """Whether an expression of a program makes a list or dict that nothing else has, if it makes one."""
    if value[0] == "if":
        return is_new(value[2]) and is_new(value[3])
    return value[0] in _NEW or (value[0] in _NEW_BY_CALL and value[1] in _NEW_BY_CALL[value[0]])


def is_new_part(value: Json) -> bool:
    """Whether an expression of a program makes a list, a dict or a set that nothing else has."""
    return value[0] in _CONTAINERS or (value[0] == "builtin" and value[1] in _NEW_BY_CALL["builtin"])


def lists_of(tree: Tree, parameters: set[str], *, emits: bool, accumulators: Sequence[str] = ()) -> Lists:
    """The lists of a function; ``emits`` if what it returns is emitted item by item, ``accumulators`` are those of its
    parameters that it may change."""
    nodes = list(own_nodes(body_of(tree)))
    changes = [_change(node.value) for node in nodes if isinstance(node, ast.Expr)]
    names = {change[0] for change in changes if change is not None}
    for node in nodes:
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            names.add(node.value.id)
        name = sorted_into(node.value) if isinstance(node, ast.Expr) else resized(node)
        if name is None and isinstance(node, ast.Delete):
            names.update(_items_of(node))
        if name is not None:
            names.add(name)
    parts = _parts(nodes, accumulators)
    growing = frozenset(names - (parameters - set(accumulators)) - (parts - set(accumulators)))
    values: dict[str, list[ast.expr | None]] = {name: [None] for name in parameters}
    for node in nodes:
        for name, value in _assigned(node):
            values.setdefault(name, []).append(value)
    sink = None
    if emits and isinstance(tree, ast.FunctionDef):
        sink = next((name for name in sorted(growing) if _is_only_returned(name, tree, nodes)), None)
    return Lists(growing, sink, values, parts)


def _items_of(node: ast.Delete) -> list[str]:
    """The variables whose items are deleted."""
    items = [target.value for target in node.targets if isinstance(target, ast.Subscript)]
    return [item.id for item in items if isinstance(item, ast.Name)]


def _parts(nodes: Sequence[ast.AST], accumulators: Sequence[str]) -> frozenset[str]:
    """Accumulators, and the variables that only have what is in them. O(assignments^2) at the worst."""
    if not accumulators:
        return frozenset()
    sources: dict[str, list[ast.expr | None]] = {}
    for node in nodes:
        pairs: list[tuple[ast.expr, ast.expr]] = []
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, ast.For):
            pairs = [(node.target, node.iter)]
        for target, value in pairs:
            for part in _stored(target):
                sources.setdefault(part.id, []).append(value)
        if isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and isinstance(node.target, ast.Name):
            sources.setdefault(node.target.id, []).append(None)
    parts = frozenset(accumulators)
    while True:
        more = {
            name
            for name, values in sources.items()
            if name not in parts and all(value is not None and _is_part(value, parts) for value in values)
        }
        if not more:
            return parts
        parts |= more


def _is_part(node: ast.expr, parts: frozenset[str]) -> bool:
    while isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
        node = node.value
    return isinstance(node, ast.Name) and node.id in parts


def changed_list(node: ast.AST) -> str | None:
    """The variable whose list or dict a node changes, or would if it has one."""
    change = _change(node)
    if change is not None:
        return change[0]
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
        return node.value.id
    return resized(node) or sorted_into(node)


def resized(node: ast.AST) -> str | None:
    """The list of a call that takes items out, puts others in, or orders them, by the name of the method alone."""
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(called, ast.Attribute) and called.attr in _RESIZES and isinstance(called.value, ast.Name):
        return called.value.id
    return None


def sorted_into(node: ast.AST) -> str | None:
    """The list of a call of ``insort``, by its name alone."""
    if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Name):
        return None
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return node.args[0].id if called.startswith("insort") else None


def _change(node: ast.AST) -> tuple[str, str, ast.expr] | None:
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred):
        return None
    called = node.func
    if isinstance(called, ast.Attribute) and called.attr in _CHANGES and isinstance(called.value, ast.Name):
        return called.value.id, called.attr, node.args[0]
    return None


def _is_only_returned(name: str, tree: ast.FunctionDef, nodes: list[ast.AST]) -> bool:
    """Whether a list begins empty, grows, and every way to the end of the function returns it."""
    places = sum(isinstance(node, ast.Name) and node.id == name for node in nodes)
    growth = sum(isinstance(node, ast.Expr) and (_change(node.value) or ("",))[0] == name for node in nodes)
    growth += sum(
        isinstance(node, ast.AugAssign)
        and isinstance(node.target, ast.Name)
        and node.target.id == name
        and isinstance(node.op, ast.Add)
        for node in nodes
    )
    returns = [node.value for node in nodes if isinstance(node, ast.Return)]
    begins = [node for node in tree.body if _begins(node, name)]
    first = next((node for node in tree.body if any(_names(node, name))), None)
    return (
        len(begins) == 1
        and first is begins[0]
        and isinstance(tree.body[-1], ast.Return)
        and all(isinstance(value, ast.Name) and value.id == name for value in returns)
        and places == 1 + growth + len(returns)
        and not any(isinstance(node, ast.Yield | ast.YieldFrom) for node in nodes)
    )


def _names(node: ast.AST, name: str) -> list[ast.Name]:
    return [part for part in ast.walk(node) if isinstance(part, ast.Name) and part.id == name]


def _begins(node: ast.stmt, name: str) -> bool:
    """Whether a statement is ``name = []``."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target, value = node.targets[0], node.value
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        target, value = node.target, node.value
    else:
        return False
    return isinstance(target, ast.Name) and target.id == name and isinstance(value, ast.List) and not value.elts


def _assigned(node: ast.AST) -> list[tuple[str, ast.expr | None]]:
    """The variables that a node assigns, with the expression if there is one."""
    if isinstance(node, ast.Assign):
        plain = [(target.id, node.value) for target in node.targets if isinstance(target, ast.Name)]
        unpacked = [target for target in node.targets if not isinstance(target, ast.Name)]
        return [*plain, *((part.id, None) for target in unpacked for part in _stored(target))]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        return [(node.target.id, node.value)]
    if isinstance(node, ast.NamedExpr):
        return [(node.target.id, node.value)]
    if isinstance(node, ast.For):
        called = node.iter.func if isinstance(node.iter, ast.Call) else None
        numbers = isinstance(called, ast.Name) and called.id == "range"
        return [(part.id, ast.Constant(0) if numbers else None) for part in _stored(node.target)]
    return []


def _stored(node: ast.AST) -> list[ast.Name]:
    return [part for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]


def is_never_list(values: dict[str, list[ast.expr | None]], name: str) -> bool:
    """Whether a variable never is a list or a dict, as far as its assignments show."""
    return bool(values.get(name)) and all(value is not None and _is_plain(value) for value in values[name])


def _is_plain(node: ast.expr) -> bool:
    """Whether an expression is never a list or a dict. Recursive in the nesting of expressions."""
    if isinstance(node, ast.Constant | ast.JoinedStr | ast.Compare | ast.Tuple):
        return True
    if isinstance(node, ast.UnaryOp):
        return True
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Mult):
            return _is_plain(node.left) and _is_plain(node.right)
        if isinstance(node.op, ast.Add | ast.BitOr):
            return _is_plain(node.left) or _is_plain(node.right)
        return True
    if isinstance(node, ast.IfExp):
        return _is_plain(node.body) and _is_plain(node.orelse)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in _NUMBERS_AND_TEXTS
    return False
