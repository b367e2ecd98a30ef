"""Where the signatures of the public API say ``Any``, or nothing at all: read from the source."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections import Counter
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

MODULES = (
    "penstock.common",
    "penstock.common.contexts",
    "penstock.common.state",
    "penstock.datastream",
    "penstock.datastream.evictor",
    "penstock.datastream.functions",
    "penstock.datastream.state",
    "penstock.datastream.window",
    "penstock.errors",
    "penstock.local",
    "penstock.metrics",
    "penstock.plan",
)
"""What users import from."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def classes() -> list[type]:
    """The public classes, and those of the package that they inherit from."""
    found: dict[type, None] = {}
    for name in MODULES:
        module = importlib.import_module(name)
        for each in getattr(module, "__all__", _own(module)):
            value = getattr(module, each)
            if isinstance(value, type) and value.__module__.startswith("penstock."):
                found.update(dict.fromkeys(base for base in value.__mro__ if base.__module__.startswith("penstock.")))
    return [cls for cls in found if cls.__module__ != "penstock.plan"]  # these are native; a stub describes them


def _own(module: ModuleType) -> list[str]:
    """The public names that a module defines itself."""
    mine = (name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__)
    return [name for name in mine if not name.startswith("_")]


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(importlib.import_module(module)))


def _body(cls: type) -> list[ast.stmt]:
    nodes: list[ast.stmt] = _tree(cls.__module__).body
    for part in cls.__qualname__.split("."):
        nodes = next(node for node in nodes if isinstance(node, ast.ClassDef) and node.name == part).body
    return nodes


def _annotations(function: Function) -> Iterator[ast.expr | None]:
    own = function.args
    positional = [*own.posonlyargs, *own.args]
    static = any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in function.decorator_list)
    for argument in [*(positional if static else positional[1:]), *own.kwonlyargs]:
        yield argument.annotation
    for rest in (own.vararg, own.kwarg):
        if rest is not None:
            yield rest.annotation
    if function.name != "__init__":
        yield function.returns


def _anys(annotation: ast.expr | None) -> int:
    """How often an annotation says Any, bare Callable, or is missing."""
    if annotation is None:
        return 1
    subscripted = {id(node.value) for node in ast.walk(annotation) if isinstance(node, ast.Subscript)}
    names = [node for node in ast.walk(annotation) if isinstance(node, ast.Name)]
    return sum(name.id == "Any" or (name.id == "Callable" and id(name) not in subscripted) for name in names)


def anys() -> Counter[str]:
    """How often each public method, and each public field of a class, says Any, by ``Class.method``. Of an overloaded
    method its overloads count, not the implementation, which nobody sees."""
    counts: Counter[str] = Counter()
    for cls in classes():
        functions = [node for node in _body(cls) if isinstance(node, Function)]
        overloaded = {node.name for node in functions if _is_overload(node)}
        for node in functions:
            seen = node.name == "__init__" or not node.name.startswith("_")
            if seen and (_is_overload(node) or node.name not in overloaded):
                counts[f"{cls.__name__}.{node.name}"] += sum(map(_anys, _annotations(node)))
        for field in _body(cls):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and field.target.id[0] != "_":
                counts[f"{cls.__name__}.{field.target.id}"] += _anys(field.annotation)
    return +counts


def _is_overload(function: Function) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "overload" for each in function.decorator_list)


def signatures() -> int:
    """How many public methods there are."""
    return sum(isinstance(node, Function) and node.name[0] != "_" for cls in classes() for node in _body(cls))


def main() -> None:
    """Print the counts: ``python -m tests.typed.signatures``."""
    counts: Any = anys()
    for name, count in sorted(counts.items()):
        print(f"{count:3} {name}")
    print(f"{counts.total()} in {len(counts)} of {signatures()} methods")


if __name__ == "__main__":
    main()
