"""Which module of the package imports which, read from the source: at the top, in functions, under TYPE_CHECKING."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

import penstock

ROOT = Path(penstock.__file__).parent


def module_of(file: Path) -> str:
    """The dotted name of a file of the package; of an ``__init__.py`` that of its folder."""
    parts = file.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports() -> dict[str, set[str]]:
    """The modules of the package that each module imports by name."""
    files = {module_of(file): file for file in ROOT.rglob("*.py")}
    return {
        module: {name for name in _named(ast.parse(file.read_text()), files.keys()) if name in files}
        for module, file in files.items()
    }


def _named(tree: ast.AST, modules: Collection[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            inside = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in modules else node.module for name in inside)
