"""Formats of texts, ``"%s"`` and ``"{}"``, as parts: texts, and values with their place, format and conversion."""

from __future__ import annotations

import re
from string import Formatter

Part = str | tuple[int, str, str]
_PERCENT = re.compile(
    r"%(?:\((?P<name>[^)]*)\))?(?P<flags>[-+ #0]*)(?P<width>\d*)(?:\.(?P<digits>\d*))?(?P<kind>.)", re.DOTALL
)


def percent_parts(text: str, values: int) -> list[Part] | None:
    """The parts of a format with so many values in a tuple; None if there is no such form."""
    parts: list[Part] = []
    end = count = 0
    for match in _PERCENT.finditer(text):
        if "%" in text[end : match.start()]:
            return None
        parts.append(text[end : match.start()])
        end = match.end()
        kind, flags, width, digits = match["kind"], match["flags"], match["width"], match["digits"]
        if kind == "%" and match[0] == "%%":
            parts.append("%")
            continue
        spec = _spec(kind, flags, width, digits)
        if spec is None or match["name"] is not None:
            return None
        parts.append((count, *spec))
        count += 1
    if "%" in text[end:] or count != values:
        return None
    parts.append(text[end:])
    return [part for part in parts if part != ""]


def _spec(kind: str, flags: str, width: str, digits: str | None) -> tuple[str, str] | None:
    """The format of one value, and its conversion; for numbers only those where both ways mean the same."""
    if kind in "sra":
        if set(flags) - {"-"}:
            return None
        alignment = ("<" if "-" in flags else ">") if width else ""
        return f"{alignment}{width}" + ("" if digits is None else f".{digits or 0}"), kind
    if kind in "di" and digits is None:
        kind, end = "d", ""
    elif kind in "feEgG" and "#" not in flags:
        end = "" if digits is None else f".{digits or 0}"
    else:
        return None
    sign = "+" if "+" in flags else " " if " " in flags else ""
    alignment = ("<" if "-" in flags else ">") if width else ""
    if "0" in flags and "-" not in flags and width:
        return f"{sign}0{width}{end}{kind}", ""
    return f"{alignment}{sign}{width}{end}{kind}", ""


def brace_parts(text: str) -> list[str | tuple[str, str, str]] | None:
    """The parts of a format with braces; a value is (name, format, conversion). None if there is no such form."""
    parts: list[str | tuple[str, str, str]] = []
    count = 0
    try:
        for before, name, spec, conversion in Formatter().parse(text):
            if before:
                parts.append(before)
            if name is None:
                continue
            if "{" in (spec or "") or any(character in name for character in ".["):
                return None
            if name == "":
                name, count = str(count), count + 1
            elif name.isdigit() and count:
                return None
            parts.append((name, spec or "", conversion or ""))
    except ValueError:
        return None
    return parts
