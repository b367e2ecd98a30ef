"""Objects that programs make: of dataclasses, and of plain classes whose ``__init__`` does no more than to assign
attributes.

Such an object is nothing but its attributes, so a program has a tuple of these, and the number of the class."""

from __future__ import annotations

import ast
import copy
import dataclasses
from dataclasses import MISSING, dataclass
from types import FunctionType
from typing import Any

from penstock.compiler.kept import with_kept
from penstock.compiler.names import is_users
from penstock.compiler.program import RefusedError
from penstock.compiler.trees import Tree

_GENERATED = "<string>"  # the file of the functions that dataclasses write


@dataclass(frozen=True)
class Field:
    """A parameter of a dataclass: its default, if it has one, and what makes another one for each object."""

    name: str
    default: Any = MISSING
    factory: Any = MISSING
    by_name: bool = False


def fields_of(cls: type) -> list[Field] | None:
    """The parameters of a dataclass, which are its attributes, in order; None for another class."""
    init = vars(cls).get("__init__")
    if not dataclasses.is_dataclass(cls) or not isinstance(init, FunctionType) or not _makes_objects(cls):
        return None
    code = init.__code__
    if code.co_filename != _GENERATED:
        return None
    if hasattr(cls, "__post_init__"):
        raise RefusedError(f"{cls.__name__} has a __post_init__()")
    fields = dataclasses.fields(cls)
    if {field.name for field in fields} != set(code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]):
        raise RefusedError(f"{cls.__name__} has other attributes than parameters")
    return [Field(field.name, field.default, field.default_factory, bool(field.kw_only)) for field in fields]


def init_of(cls: type) -> FunctionType | None:
    """The ``__init__`` of a plain class of the program; None where it has none, or makes objects in another way."""
    init = next((vars(base)["__init__"] for base in cls.__mro__ if "__init__" in vars(base)), None)
    plain = is_users(cls) and _makes_objects(cls) and cls.__setattr__ is object.__setattr__
    return init if plain and isinstance(init, FunctionType) else None


def _makes_objects(cls: type) -> bool:
    return type(cls).__call__ is type.__call__ and cls.__new__ is object.__new__


def attributes_of(tree: Tree, itself: str) -> tuple[str, ...]:
    """The attributes that an ``__init__`` assigns in any case, in order. RefusedError if there are others, or none."""
    always: dict[str, None] = {}
    for statement in tree.body if isinstance(tree, ast.FunctionDef) else ():
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            always |= dict.fromkeys(_assigned(statement, itself))
    others = [name for name in _assigned(tree, itself) if name not in always]
    private = [name for name in always if name.startswith("__") and not name.endswith("__")]
    if private:
        raise RefusedError(f"__init__ assigns {itself}.{private[0]}, which has another name outside of the class", tree)
    if others or not always:
        what = f"assigns {itself}.{others[0]} in some cases only" if others else "assigns no attribute"
        raise RefusedError(f"__init__ {what}", tree)
    return tuple(always)


def with_attributes(tree: Tree, itself: str, names: tuple[str, ...]) -> Tree:
    """The same ``__init__``, which gives the attributes as a tuple."""
    if isinstance(tree, ast.FunctionDef):
        tree = copy.copy(tree)
        tree.body = [node for node in tree.body if ast.unparse(node) != "super().__init__()"] or tree.body
    return with_kept(tree, itself, names)


def _assigned(tree: ast.AST, itself: str) -> list[str]:
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)]
    mine = [node for node in nodes if isinstance(node.value, ast.Name) and node.value.id == itself]
    return [node.attr for node in sorted(mine, key=lambda node: (node.lineno, node.col_offset))]
