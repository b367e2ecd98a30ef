"""Writes the modules of ``penstock.pyflink`` that mirror PyFlink's: ``python -m tests.pyflink.write_modules``.

A name comes from :mod:`penstock.pyflink.deviating` if that has it, else from where Penstock has a public class of that
name, else from ``missing.py``, which is written too: a placeholder per name. What becomes public in Penstock later
leaves that list when this is run again; a test says so.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import penstock
from tests.pyflink.names import Name, read

FOLDER = Path(penstock.__file__).parent / "pyflink"
DEVIATING, MISSING = "penstock.pyflink.deviating", "penstock.pyflink.missing"
PARTS = ("penstock.common", "penstock.datastream", "penstock.metrics")
EXCEPTIONS = frozenset({"Exception", "JavaException", "TableException"})
VARIABLES = "penstock.pyflink.variables"
TYPE_VARIABLES = {
    "pyflink.datastream.functions": "IN IN1 IN2 KEY OUT W W2",
    "pyflink.datastream.state": "IN K OUT T V",
    "pyflink.datastream.window": "IN KEY OUT T W W2",
}
"""Type variables of modules, which are no public names, and imported by programs all the same."""
_BY = "Written by ``tests/pyflink/write_modules.py``."
IN_TERMINALS = "drawing"
"""Modules of this name draw, and hold nothing public."""


@cache
def homes() -> dict[str, str]:
    """The module to import each public name of Penstock from: the lowest that lists it."""
    found: dict[str, str] = {}
    for part in PARTS:
        package = importlib.import_module(part)
        inside = [f"{part}.{module.name}" for module in pkgutil.iter_modules(package.__path__)]
        for module in (*(name for name in inside if not name.endswith(IN_TERMINALS)), part):
            for name in public(module):
                found.setdefault(name, module)
    return {**found, **dict.fromkeys(importlib.import_module(DEVIATING).__all__, DEVIATING)}


def public(module: str) -> list[str]:
    """The names that a module lists, or else the classes it defines."""
    names = vars(importlib.import_module(module))
    own = [name for name, value in names.items() if isinstance(value, type) and value.__module__ == module]
    return names.get("__all__", [name for name in own if not name.startswith("_")])


@cache
def modules() -> dict[str, dict[str, Name]]:
    """The public names of every module of PyFlink; of one that several versions have, the newest."""
    found: dict[str, dict[str, Name]] = defaultdict(dict)
    listed = read()
    all_modules = {name.module for name in listed}
    for name in listed:
        if "." not in name.path and name.parameters not in all_modules:
            found[name.module][name.path] = name
            parts = name.module.split(".")
            for length in range(2, len(parts)):
                found.setdefault(".".join(parts[:length]), {})
    return dict(sorted(found.items()))


def written() -> dict[Path, str]:
    """Every file with its text."""
    names = modules()
    packages = {module.rpartition(".")[0] for module in names}
    files = {path_of(module, module in packages): mirror(module, list(names[module])) for module in names}
    return {**files, FOLDER / "missing.py": missing()}


def path_of(module: str, package: bool) -> Path:
    """Where the mirror of a module is."""
    path = FOLDER.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if package else path.with_suffix(".py")


def mirror(module: str, names: Iterable[str]) -> str:
    """The text of a module."""
    by_home: dict[str, list[str]] = defaultdict(list)
    by_home.update({VARIABLES: TYPE_VARIABLES[module].split()} if module in TYPE_VARIABLES else {})
    for name in sorted(names):
        by_home[homes().get(name, MISSING)].append(name)
    lines = [f'"""The names of PyFlink\'s ``{module}``.\n\n{_BY}\n"""', ""]
    lines += ["from __future__ import annotations", ""]
    if by_home:
        imports = [f"from {home} import {each}" for home in sorted(by_home) for each in [_tuple(by_home[home])]]
        names = [*names, *by_home.get(VARIABLES, [])]
        lines += [*imports, "", f"__all__ = {_list(sorted(names, key=_isort))}"]
    return "\n".join(lines).rstrip() + "\n"


def missing() -> str:
    """The text of the module of placeholders."""
    lines = [
        f'"""What PyFlink has and Penstock has not: placeholders.\n\n{_BY}\n"""',
        "",
        "from __future__ import annotations",
        "",
        "from penstock.pyflink.placeholders import a_class, a_function, an_exception",
        "",
    ]
    absent: set[str] = set()
    for module, names in modules().items():
        for name in names.values():
            if name.kind != "import" and name.path not in homes():
                assert name.path not in absent, f"{name.path} is in two modules"
                absent.add(name.path)
                lines.append(_line(name.path, _kind(name), f'"{module}", "{name.path}"'))
    return "\n".join(lines) + "\n"


def _line(name: str, made: str, arguments: str) -> str:
    """An assignment as the formatter leaves it."""
    line = f"{name} = {made}({arguments})"
    return line if len(line) <= 120 else f"{name} = {made}(\n    {arguments}\n)"


def _kind(name: Name) -> str:
    if name.kind == "function":
        return "a_function"
    return "an_exception" if name.parameters in EXCEPTIONS else "a_class"


def _is_constant(name: str) -> bool:
    """As linters see it: one letter is a class."""
    return len(name) > 1 and name.isupper()


def _isort(name: str) -> tuple[bool, bool, str]:
    """Constants, classes, functions: as linters sort ``__all__``."""
    return (not _is_constant(name), name[0].islower(), name)


def _in_imports(name: str) -> tuple[bool, bool, str]:
    """As linters sort imports: in any case."""
    return (not _is_constant(name), name[0].islower(), name.lower())


def _tuple(names: list[str]) -> str:
    one_line = ", ".join(sorted(names, key=_in_imports))
    many = "".join(f"    {name},\n" for name in sorted(names, key=_in_imports))
    return one_line if len(one_line) < 60 else f"(\n{many})"  # the formatter joins what fits into a line


def _list(names: list[str]) -> str:
    return "[" + "".join(f"\n    {name!r}," for name in names).replace("'", '"') + "\n]"


def main() -> None:
    """Write the files."""
    for path, text in written().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
