"""Which rules count where: from ``[tool.penstock.lint]`` of a pyproject.toml, and from the command line.

As in ruff a code may be shortened: ``PS2`` is all rules of event time and windows, ``ALL`` is all there are. Where a
rule is selected and ignored, what names it more closely counts; of two that are equally close, ignoring does.
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
    """Which rules count, and what they are told.

    Attributes:
        select: codes or beginnings of codes, instead of the default rules; None for these.
        extend_select: likewise, besides.
        ignore: likewise, that do not count.
        per_file_ignores: likewise, by pattern of file names, relative to ``root``.
        long_running: whether all programs are to be taken for ones that go on from their state.
        large_capture: bytes from which on data that travels with a function is large.
        root: folder that patterns are relative to.
    """

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    long_running: bool = False
    large_capture: int = LARGE
    root: Path = field(default_factory=Path.cwd)

    def __post_init__(self) -> None:
        for where, codes in (
            ("select", self.select or ()),
            ("extend-select", self.extend_select),
            ("ignore", self.ignore),
            *((f"per-file-ignores of {pattern!r}", codes) for pattern, codes in self.per_file_ignores.items()),
        ):
            check_codes(codes, where)

    def selects(self, code: str) -> bool:
        """Whether a rule counts, wherever it is found."""
        chosen = _closeness(code, self.extend_select)
        if self.select is not None:
            chosen = max(chosen, _closeness(code, self.select))
        elif RULES[code].default:
            chosen = max(chosen, 0)
        return chosen > _closeness(code, self.ignore)

    def ignored_in(self, file: str | None) -> tuple[str, ...]:
        """The codes that do not count in a file."""
        if file is None or not self.per_file_ignores:
            return ()
        path = os.path.relpath(file, self.root)
        names = (path, os.path.basename(path))
        return tuple(
            code
            for pattern, codes in self.per_file_ignores.items()
            if any(fnmatch.fnmatch(name, pattern) for name in names)
            for code in codes
        )

    def with_options(
        self, select: Iterable[str], extend_select: Iterable[str], ignore: Iterable[str]
    ) -> LintConfiguration:
        """The same, with what a command line says: what it selects instead, what else, and what it ignores besides."""
        chosen = tuple(select)
        return replace(
            self,
            select=chosen or self.select,
            extend_select=(*(() if chosen else self.extend_select), *extend_select),
            ignore=(*(() if chosen else self.ignore), *ignore),
        )


def matches(code: str, given: str) -> bool:
    """Whether a code is meant by one, or by the beginning of one, or by ``ALL``."""
    return given == ALL or code.startswith(given)


def _closeness(code: str, given: Iterable[str]) -> int:
    """How closely the closest of some codes names a rule; -1 if none does."""
    return max((0 if each == ALL else len(each) for each in given if matches(code, each)), default=-1)


def check_codes(codes: Iterable[str], where: str) -> None:
    """Refuse what means no rule.

    Args:
        codes: as they are given.
        where: for the message.

    Raises:
        ConfigurationError: there is no such rule.
    """
    for given in codes:
        if not given or not any(matches(code, given) for code in RULES):
            near = get_close_matches(given, RULES, 1, 0.5)
            raise ConfigurationError(
                f"{where} names the rule {given!r}, and there is none. Give a code such as "
                f"{near[0] if near else 'PS001'}, the beginning of some, such as PS2, or {ALL}."
            )


def find_configuration(program: Path) -> LintConfiguration:
    """What the pyproject.toml says that is nearest to a program: in its folder, or in one above it, with the table.

    Args:
        program: the file of the program.

    Raises:
        ConfigurationError: the file cannot be read, or has an unknown name or a wrong value.
    """
    for folder in program.resolve().parents:
        file = folder / "pyproject.toml"
        if file.is_file():
            table = _table(file)
            if table is not None:
                return read_configuration(table, folder, str(file))
    return LintConfiguration()


def _table(file: Path) -> Mapping[str, Any] | None:
    try:
        found: Any = _TOML.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{file} cannot be read: {error}. Correct it, or remove it.") from error
    for name in ("tool", "penstock", "lint"):
        found = cast("Mapping[str, Any]", found).get(name) if isinstance(found, Mapping) else None
    return found


def read_configuration(table: Mapping[str, Any], root: Path, where: str) -> LintConfiguration:
    """A configuration of the table of a pyproject.toml.

    Args:
        table: what stands in ``[tool.penstock.lint]``.
        root: the folder of the file.
        where: the file, for messages.

    Raises:
        ConfigurationError: an unknown name or a wrong value.
    """
    values: dict[str, Any] = {"root": root}
    for name, value in table.items():
        if name in _LISTS:
            values[_LISTS[name]] = _codes(value, f"{name} of {TABLE} in {where}")
        elif name == "per-file-ignores" and isinstance(value, Mapping):
            pairs = cast("Mapping[str, Any]", value).items()
            values["per_file_ignores"] = {
                pattern: _codes(each, f"{name} of {TABLE} in {where}") for pattern, each in pairs
            }
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
    if not isinstance(value, list) or not all(isinstance(each, str) for each in cast("list[Any]", value)):
        raise ConfigurationError(f'{where} is {value!r}. Give a list of codes: ["PS001", "PS2"].')
    return tuple(cast("list[str]", value))
