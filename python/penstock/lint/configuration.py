"""Which rules are selected where: by ``[tool.penstock.lint]`` of a pyproject.toml, and by the command line.

As in ruff a code may be shortened: ``PS2`` means all rules of event time and windows, ``ALL`` means all rules. If a
rule is both selected and ignored, the longer code counts; of equally long ones the ignoring one.
"""

from __future__ import annotations

import fnmatch
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from penstock.errors import ConfigurationError
from penstock.lint.rules import RULES
from penstock.lint.subject import LARGE

_TOML: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
TABLE = "[tool.penstock.lint]"
ALL = "ALL"
_LISTS = {"select": "select", "extend-select": "extend_select", "ignore": "ignore"}


@dataclass(frozen=True)
class LintConfiguration:
    """Which rules are selected, and their parameters. Rules are given by their codes, or the beginnings of these."""

    select: tuple[str, ...] | None = None  # instead of the default rules
    extend_select: tuple[str, ...] = ()  # additional rules
    ignore: tuple[str, ...] = ()  # rules that are not applied
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])  # by pattern
    long_running: bool = False  # whether to treat all programs as ones that are started again from their state
    large_capture: int = LARGE  # data of at least so many bytes that travels with a function is large
    root: Path = field(default_factory=Path.cwd)  # folder that patterns of file names are relative to

    def __post_init__(self) -> None:
        for where, codes in (
            ("select", self.select or ()),
            ("extend-select", self.extend_select),
            ("ignore", self.ignore),
            *((f"per-file-ignores of {pattern!r}", codes) for pattern, codes in self.per_file_ignores.items()),
        ):
            for pattern in codes:
                if not pattern or not any(matches(code, pattern) for code in RULES):
                    near = get_close_matches(pattern, RULES, 1, 0.5)
                    raise ConfigurationError(
                        f"{where} names the rule {pattern!r}, which does not exist. Give a code such as "
                        f"{near[0] if near else 'PS001'}, the beginning of some, such as PS2, or {ALL}."
                    )

    def selects(self, code: str) -> bool:
        """Whether a rule is selected, apart from ignores of single files."""
        chosen = _closeness(code, self.extend_select)
        if self.select is not None:
            chosen = max(chosen, _closeness(code, self.select))
        elif RULES[code].default:
            chosen = max(chosen, 0)
        return chosen > _closeness(code, self.ignore)

    def ignored_in(self, file: str | None) -> tuple[str, ...]:
        """The codes that are ignored in a file."""
        if file is None or not self.per_file_ignores:
            return ()
        path = os.path.relpath(file, self.root)
        names = (path, os.path.basename(path))
        patterns = [pattern for pattern in self.per_file_ignores if fnmatch.filter(names, pattern)]
        return tuple(code for pattern in patterns for code in self.per_file_ignores[pattern])

    def with_options(
        self, select: Iterable[str], extend_select: Iterable[str], ignore: Iterable[str]
    ) -> LintConfiguration:
        """The same, with the options of a command line: codes to select instead, in addition, and to ignore."""
        chosen = tuple(select)
        before, left_out = ((), ()) if chosen else (self.extend_select, self.ignore)
        more = {"extend_select": (*before, *extend_select), "ignore": (*left_out, *ignore)}
        return replace(self, select=chosen or self.select, **more)


def matches(code: str, pattern: str) -> bool:
    """Whether a code equals or begins with a given one, or that is ``ALL``."""
    return pattern == ALL or code.startswith(pattern)


def _closeness(code: str, pattern: Iterable[str]) -> int:
    """The length of the longest of some codes that match a rule; -1 if none does."""
    return max((0 if prefix == ALL else len(prefix) for prefix in pattern if matches(code, prefix)), default=-1)


def find_configuration(program: Path) -> LintConfiguration:
    """The configuration of the nearest pyproject.toml with the table, in the folder of a program's file or above it; a
    ConfigurationError if that cannot be read, or has an unknown name or a wrong value."""
    for folder in program.resolve().parents:
        file = folder / "pyproject.toml"
        if file.is_file():
            table = _table(file)
            if table is not None:
                return read_configuration(table, folder, str(file))
    return LintConfiguration()


def _table(file: Path) -> Mapping[str, Any] | None:
    try:
        table: Any = _TOML.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{file} cannot be read: {error}. Correct it, or remove it.") from error
    for name in ("tool", "penstock", "lint"):
        table = cast("Mapping[str, Any]", table).get(name) if isinstance(table, Mapping) else None
    return table


def read_configuration(table: Mapping[str, Any], root: Path, where: str) -> LintConfiguration:
    """A configuration from the table of a pyproject.toml in a folder; ``where`` names the file in errors."""
    values: dict[str, Any] = {"root": root}
    for name, value in table.items():
        if name in _LISTS:
            values[_LISTS[name]] = _codes(value, f"{name} of {TABLE} in {where}")
        elif name == "per-file-ignores" and isinstance(value, Mapping):
            pairs, place = cast("Mapping[str, Any]", value).items(), f"{name} of {TABLE} in {where}"
            values["per_file_ignores"] = {pattern: _codes(codes, place) for pattern, codes in pairs}
        elif name == "long-running" and isinstance(value, bool):
            values["long_running"] = value
        elif name == "large-capture" and type(value) is int and value > 0:
            values["large_capture"] = value
        else:
            raise ConfigurationError(
                f"{TABLE} in {where} has {name} = {value!r}. It may have select, extend-select, ignore (lists of "
                "codes), per-file-ignores (a table of these by pattern), long-running (true or false) and "
                "large-capture (bytes)."
            )
    return LintConfiguration(**values)


def _codes(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(code, str) for code in cast("list[Any]", value)):
        raise ConfigurationError(f'{where} is {value!r}. Give a list of codes: ["PS001", "PS2"].')
    return tuple(cast("list[str]", value))
