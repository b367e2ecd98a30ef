"""The variables of a function: those of its own as numbers, and those from outside as the objects that they are when
the program is planned.

An object from outside that can be changed - a list, a dict, a set - is a constant only if nothing in the file changes
it; a global one must also be written in capitals. Looking at objects runs no code of the user's classes.
"""

from __future__ import annotations

import ast
import builtins
import dis
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from penstock.compiler.program import RefusedError
from penstock.compiler.trees import ParsedFile, Tree, Trees, closure_of
from penstock.runtime.constants import article, is_changeable

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LEAVES = (ast.expr_context, ast.Constant, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)
_MISSING = object()


@dataclass(frozen=True)
class Context:
    """Stands for the context of a function while it is compiled: what it can be asked, by method, and the word for it
    in programs; whether it has timers; and why nothing else can be asked."""

    asks: Mapping[str, str]
    timers: bool
    more: str
    registers: bool = False  # whether timers are registered with itself, without a timer service


CONTEXT = Context(
    {"timestamp": "time", "get_current_key": "key"},
    True,
    "the context is used for more than its key, its timestamp, its watermark, the clock and timers",
)
"""That of a process function."""
PAIR_CONTEXT = Context(
    {"get_timestamp": "time", "get_left_timestamp": "left", "get_right_timestamp": "right"},
    False,
    "the context is used for more than its timestamps",
)
"""That of a function of joined pairs."""
TRIGGER_CONTEXT = Context(
    {"get_current_watermark": "watermark", "get_current_processing_time": "now"},
    False,
    "the context of a trigger is used for more than the watermark, the clock, timers and state",
    registers=True,
)
"""That of a trigger."""


@dataclass(frozen=True)
class Static:
    """An object from outside of a function, which is the same in every call."""

    value: Any
    text: str  # how the source calls it
    lasting: bool = True  # whether nothing changes it, if it can be changed


@dataclass(frozen=True)
class Opened:
    """Attributes of a user's object that its ``open`` assigns: constants of the program in the task."""

    owner: Any
    names: frozenset[str]


@dataclass
class Scope:
    """The variables of a function while it is compiled."""

    function: Any  # a FunctionType, which as a field would be taken for a method
    file: ParsedFile
    trees: Trees
    statics: dict[str, Static]  # parameters that are the same in every call, imports in the function
    assigned: frozenset[str]  # its variables
    numbers: dict[str, int] = field(default_factory=dict)
    count: int = 0
    inner: list[dict[str, int]] = field(default_factory=list)  # of comprehensions, from the outside
    opened: Opened | None = None
    states: Any = None  # the KeyedStates of a process function
    tags: list[str] | None = None  # the IDs of the side outputs that it may yield to, so far

    def fresh(self) -> int:
        """The number of a variable without a name."""
        self.count += 1
        return self.count - 1

    def number(self, name: str) -> int | None:
        """The number of a variable of the function, None if the name is not one."""
        for names in reversed(self.inner):
            if name in names:
                return names[name]
        if name in self.numbers:
            return self.numbers[name]
        if name not in self.assigned or name in self.statics:
            return None
        self.numbers[name] = self.fresh()
        return self.numbers[name]

    def static(self, node: ast.AST) -> Static | None:
        """The object from outside that an expression is; None if it depends on the function's variables."""
        if isinstance(node, ast.Name):
            return None if self.number(node.id) is not None else self.outside(node)
        if isinstance(node, ast.Attribute):
            owner = self.static(node.value)
            return None if owner is None else self._attribute(owner, node)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            owner = self.static(node.value)
            return None if owner is None else _item(owner, node.slice.value)
        return None

    def is_opened(self, node: ast.Attribute) -> bool:
        """Whether an expression is an attribute that has its value when the object is open."""
        if self.opened is None or node.attr not in self.opened.names:
            return False
        owner = self.static(node.value)
        return owner is not None and owner.value is self.opened.owner

    def is_state(self, node: ast.Attribute) -> bool:
        """Whether an expression is an attribute that has a state of the key."""
        if self.states is None or node.attr not in self.states.kinds:
            return False
        owner = self.static(node.value)
        return owner is not None and owner.value is self.states.owner

    def outside(self, node: ast.Name) -> Static:
        """The object of a name that is not the function's."""
        name = node.id
        if name in self.statics:
            return self.statics[name]
        changed = self.file.changed
        function = self.function
        for free, value in closure_of(function):
            if free == name:
                self._must_be_constant(name, value, node)
                return Static(value, name, name not in changed)
        variables = function.__globals__
        if name in function.__code__.co_freevars:
            raise RefusedError(f"{name} has no value yet", node)
        if name in variables:
            self._must_be_constant(name, variables[name], node)
            lasting = name.isupper() and name not in changed and self._lasts_at_home(name, variables[name])
            return Static(variables[name], name, lasting)
        known: Any = variables.get("__builtins__", builtins)
        names: Mapping[str, Any] = known if isinstance(known, dict) else vars(known)
        if name not in names:
            raise RefusedError(f"{name} is not defined", node)
        return Static(names[name], name)

    def _must_be_constant(self, name: str, value: Any, node: ast.AST) -> None:
        if name in self.file.reassigned and not isinstance(value, type | FunctionType | ModuleType):
            raise RefusedError(f"reads {name}, which a function of its file assigns", node)

    def _lasts_at_home(self, name: str, value: Any) -> bool:
        """Whether the modules that a global variable is imported from do not change it either."""
        if not is_changeable(value):
            return True
        imports = (node for node in self.file.tree.body if isinstance(node, ast.ImportFrom))
        homes = [
            (node.module, alias) for node in imports for alias in node.names if (alias.asname or alias.name) == name
        ]
        return all(self._lasts_in(sys.modules.get(module or ""), alias.name) for module, alias in homes)

    def _lasts_in(self, module: Any, name: str) -> bool:
        """Whether neither this file nor a module's changes a variable or attribute."""
        file = None if module is None else self.trees.file(getattr(module, "__file__", None) or "", vars(module))
        home = self.file if module is not None and vars(module) is self.function.__globals__ else file
        return home is not None and name not in home.changed and name not in self.file.changed

    def _attribute(self, owner: Static, node: ast.Attribute) -> Static | None:
        """An attribute of a module, a class, an enum's member or an object of a class of the program."""
        name, text = node.attr, f"{owner.text}.{node.attr}"
        value = owner.value
        if isinstance(value, Context):
            return None
        if self.opened is not None and value is self.opened.owner and name in self.opened.names:
            return None
        if self.states is not None and value is self.states.owner and name in self.states.kinds:
            return None
        if isinstance(value, ModuleType):
            inside = vars(value).get(name, _MISSING)
            if inside is _MISSING:
                raise RefusedError(f"{text} is not known before it runs", node)
            return Static(inside, text, name.isupper() and self._lasts_in(value, name))
        if isinstance(value, type):
            return self._member(owner, value, None, node)
        if isinstance(value, Enum):
            if name in ("value", "_value_"):
                return Static(value._value_, text)
            return Static(value._name_, text) if name == "name" else None
        if is_users(type(value)):
            attributes = attributes_of(value)
            if name in attributes:
                if name in written(type(value)):
                    raise RefusedError(f"reads {text}, which a method of {type(value).__name__} assigns", node)
                return Static(attributes[name], text, name not in self.file.changed)
            return self._member(owner, type(value), value, node)
        return None

    def _member(self, owner: Static, cls: type, value: Any, node: ast.Attribute) -> Static:
        text = f"{owner.text}.{node.attr}"
        for base in cls.__mro__:
            member = vars(base).get(node.attr, _MISSING)
            if member is _MISSING:
                continue
            if isinstance(member, staticmethod):
                return Static(member.__func__, text)
            if isinstance(member, FunctionType):
                return Static(member if value is None else MethodType(member, value), text)
            if isinstance(member, classmethod):
                inner: Any = member.__func__
                return Static(MethodType(inner, cls), text)
            if isinstance(member, Enum) or not hasattr(type(member), "__get__"):
                if node.attr in written(cls):
                    raise RefusedError(f"reads {text}, which a method of {cls.__name__} assigns", node)
                home = sys.modules.get(base.__module__)
                return Static(member, text, not is_changeable(member) or self._lasts_in(home, node.attr))
            if base.__module__ in ("builtins", "datetime") and value is None:
                return Static(member, text)
            raise RefusedError(f"{text} is {article(type(member).__name__)}", node)
        raise RefusedError(f"{text} is not known before it runs", node)


def _item(owner: Static, key: Any) -> Static | None:
    """A container from a container, such as one of a dict of dicts."""
    if not owner.lasting or type(owner.value) not in (dict, list, tuple):
        return None
    try:
        item = owner.value[key]
    except (LookupError, TypeError):
        return None
    return Static(item, f"{owner.text}[{key!r}]") if is_changeable(item) else None


def is_users(cls: type) -> bool:
    """Whether a class is written in Python, so that its objects have their attributes in a dict."""
    return bool(cls.__flags__ & (1 << 9)) and cls.__getattribute__ is object.__getattribute__


def attributes_of(value: object) -> Mapping[str, Any]:
    """The attributes of an object itself, without running code of its class."""
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:  # it has slots
        return {}


def written(cls: type, but: Any = None) -> set[str]:
    """The attributes that methods of a class assign, apart from its constructor, and one function."""
    names: set[str] = set()
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] in ("builtins", "penstock", "abc", "typing"):
            continue
        for name, member in vars(base).items():
            method: Any = getattr(member, "__func__", member)
            if isinstance(method, FunctionType) and name != "__init__" and method is not but:
                names.update(_stored(method.__code__))
    return names


@lru_cache(1 << 12)
def _stored(code: CodeType) -> frozenset[str]:
    """The attributes of any object that code assigns, from its instructions."""
    steps = dis.get_instructions(code)
    return frozenset(step.argval for step in steps if step.opname in ("STORE_ATTR", "DELETE_ATTR"))


def own_nodes(body: list[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a function, without those of functions and classes defined in it, comprehensions included."""
    pending = list(reversed(body))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _SCOPES):
            pending.extend(reversed(list(ast.iter_child_nodes(node))))


def body_of(tree: Tree) -> list[ast.AST]:
    """The statements of a function, or the expression of a lambda."""
    return [tree.body] if isinstance(tree, ast.Lambda) else [*tree.body]


def assigned_names(tree: Tree) -> frozenset[str]:
    """The variables of a function: its parameters, and those that it assigns outside of comprehensions."""
    arguments = tree.args
    names = {argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    names.update(argument.arg for argument in (arguments.vararg, arguments.kwarg) if argument is not None)
    pending = [(node, False) for node in body_of(tree)]
    while pending:
        node, inside = pending.pop()
        if type(node) is ast.Name:
            if not inside and type(node.ctx) is not ast.Load:
                names.add(node.id)
            continue
        if isinstance(node, _LEAVES):
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.NamedExpr):
            names.add(node.target.id)
        if not isinstance(node, _SCOPES):
            inner = inside or isinstance(node, _COMPREHENSIONS)
            pending.extend((child, inner) for child in ast.iter_child_nodes(node))
    return frozenset(names)
