"""Value states whose value is a list or a dict that the function changes where it is: ``items = self.items.value()``,
``items.append(x)``, ``self.items.update(items)``.

Programs have no objects that are shared, so nobody else may have the list: in every method it is read into one
variable, changed there, and nothing but it or a new one becomes the value of the state. As what is done to the
variable is seen in the state at once, the program stores the list after each change, while it is that of the state."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from penstock.compiler.lists import changed_list

_METHODS = frozenset({"process_element", "process_element1", "process_element2", "on_timer"})
_INNER = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)
HeldLists = Mapping[ast.AST, Mapping[str, str]]
"""By the tree of a method: its variables, and the attribute of the state whose list each has."""


@dataclass
class _Method:
    """A method, and its variables that have a list of a state: by attribute."""

    tree: ast.FunctionDef
    names: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict[ast.AST, ast.AST])

    def __post_init__(self) -> None:
        for node in ast.walk(self.tree):
            self.parents.update((child, node) for child in ast.iter_child_nodes(node))

    def is_inner(self, node: ast.AST) -> bool:
        """Whether a node is in a function or a comprehension of the method."""
        while (node := self.parents[node]) is not self.tree:
            if isinstance(node, _INNER):
                return True
        return False

    def use(self, state: ast.Attribute) -> bool:
        """Note a use of a state; whether it is one that lets its list be changed."""
        called = self.parents[state]
        call = self.parents[called]
        if not isinstance(called, ast.Attribute) or not isinstance(call, ast.Call) or call.func is not called:
            return False
        around = self.parents[call]
        if called.attr == "clear":
            return isinstance(around, ast.Expr) and not call.args
        if called.attr == "update" and isinstance(around, ast.Expr) and len(call.args) == 1:
            if isinstance(call.args[0], ast.Name):
                self.names.setdefault(state.attr, set()).add(call.args[0].id)
                return True
            return _is_new(call.args[0])
        if called.attr != "value" or call.args:
            return False
        if isinstance(around, ast.Compare):
            return ast.unparse(around).endswith((".value() is None", ".value() is not None"))
        if is_read(around) is not None:
            around = self.parents[around]
        name = _target(around)
        self.names.setdefault(state.attr, set()).add(name or "")
        return name is not None

    def is_sound(self, name: str, attribute: str) -> bool:
        """Whether a variable has nothing but lists of a state, and new ones."""
        arguments = self.tree.args
        if name in [part.arg for part in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]:
            return False
        for node in ast.walk(self.tree):
            if not isinstance(node, ast.Name) or node.id != name or isinstance(node.ctx, ast.Load):
                continue
            assigned = self.parents[node]
            if isinstance(assigned, ast.AugAssign) and isinstance(assigned.op, ast.Add):
                continue
            if self.is_inner(node) or _target(assigned) is None or not isinstance(assigned, ast.Assign):
                return False
            read = is_read(assigned.value)
            if not _is_new(assigned.value) and (read is None or read.attr != attribute):
                return False
        return True

    def changes(self, name: str) -> bool:
        """Whether the list in a variable is changed, by more than ``+=``."""
        return any(_changed_list(node) == name for node in ast.walk(self.tree))


def held_lists(values: Iterable[str], methods: Iterable[ast.FunctionDef]) -> HeldLists:
    """The variables of an object's methods that have lists of value states, whose attributes are ``values``."""
    trees = [tree for tree in methods if tree.args.args]
    if not any(_changed_list(node) for tree in trees for node in ast.walk(tree)):
        return {tree: {} for tree in trees}  # as most are, and the rest takes longer
    seen, out = list(map(_Method, trees)), set[str]()
    wanted = set(values)
    for method in seen:
        itself = method.tree.args.args[0].arg
        for node in ast.walk(method.tree):
            if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name) or node.value.id != itself:
                continue
            lasting = method.tree.name in _METHODS and not method.is_inner(node)
            if node.attr in wanted and not (lasting and method.use(node)):
                out.add(node.attr)
    for method in seen:
        names = [name for variables in method.names.values() for name in variables]
        for attribute, variables in method.names.items():
            sound = all(names.count(name) == 1 and method.is_sound(name, attribute) for name in variables)
            if len(variables) > 1 or not sound:
                out.add(attribute)
    changed = {a for method in seen for a, names in method.names.items() if any(map(method.changes, names))} - out
    return {
        method.tree: {name: a for a, names in method.names.items() if a in changed for name in names} for method in seen
    }


def _changed_list(node: ast.AST) -> str | None:
    """The variable whose list a node changes, but for ``+=``, which numbers have, too."""
    return None if isinstance(node, ast.AugAssign) else changed_list(node)


def is_read(node: ast.AST) -> ast.Attribute | None:
    """The state of ``self.items.value()``, with ``or []`` or ``or {}`` behind it; None for another expression."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and len(node.values) == 2:
        node = node.values[0] if _is_empty(node.values[1]) else node
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(called, ast.Attribute) and called.attr == "value" and isinstance(called.value, ast.Attribute):
        return called.value
    return None


def _is_empty(node: ast.expr) -> bool:
    return (isinstance(node, ast.List) and not node.elts) or (isinstance(node, ast.Dict) and not node.keys)


def _is_new(node: ast.expr) -> bool:
    """Whether an expression is a list or a dict that is new."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Slice) and isinstance(node.value, ast.Name)
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(node, ast.List | ast.ListComp | ast.Dict | ast.DictComp) or (
        isinstance(called, ast.Name) and called.id in ("list", "sorted", "dict")
    )


def _target(node: ast.AST) -> str | None:
    """The variable that alone is assigned."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else None
