"""Which module of the package imports which, read from the source: at the top, in functions, under TYPE_CHECKING."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import penstock

ROOT = Path(penstock.__file__).parent
NATIVE = "penstock._native"
"""The one module that is not Python."""


def module_of(file: Path) -> str:
    """The dotted name of a file of the package; of an ``__init__.py`` that of its folder."""
    parts = file.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports() -> dict[str, set[str]]:
    """The modules of the package that each module imports by name."""
    known = {*trees(), NATIVE}
    needed = {module: set(_named(tree, known)) & known for module, tree in trees().items()}
    return {**needed, NATIVE: set()}


@cache
def trees() -> dict[str, ast.Module]:
    return {module_of(file): ast.parse(file.read_text()) for file in ROOT.rglob("*.py")}


def reached(first: Iterable[str], needs: Mapping[str, set[str]]) -> set[str]:
    """The modules that some need, directly or not; with each, the packages it is in."""
    modules: set[str] = set()
    waiting = list(first)
    while waiting:
        name = waiting.pop()
        if name not in modules:
            modules.add(name)
            waiting += [*needs[name], *filter(None, [name.rpartition(".")[0]])]
    return modules


def between_rooms(part: str) -> set[tuple[str, str]]:
    """(room, room it imports) of all imports within a part of the package, or within the package itself."""
    above = part.split(".")
    pairs = set()
    for module, imported in imports().items():
        for other in imported:
            source, target = module.split("."), other.split(".")
            inside = source[: len(above)] == target[: len(above)] == above and len(source) > len(above) < len(target)
            if inside and source[len(above)] != target[len(above)]:
                pairs.add((source[len(above)], target[len(above)]))
    return pairs


def _named(tree: ast.AST, modules: Collection[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            inside = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in modules else node.module for name in inside)
