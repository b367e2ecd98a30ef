"""Writes the tables of ``docs/settings.md`` out of the table of settings: ``python -m tests.docs.settings_page``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from penstock.common.settings.setting import OURS, Choice, Flag, Kind, Setting, Size, Span, Texts, Whole
from penstock.common.settings.settings import TABLE
from tests.docs.documents import ROOT

PAGE = ROOT / "docs" / "settings.md"
_PART = re.compile(r"(<!-- (\w+): written by tests/docs/settings_page\.py -->\n).*?(<!-- end -->\n)", re.DOTALL)


def written(page: str) -> str:
    """The page with its tables anew."""
    parts = {"ours": ours(), "flinks": flinks(), "retired": retired()}
    return _PART.sub(lambda match: f"{match[1]}{parts.pop(match[2])}{match[3]}", page)


def ours() -> str:
    """The settings that only Penstock has."""
    return "".join(_table(setting for setting in TABLE if setting.key.startswith(OURS) and not setting.internal))


def flinks() -> str:
    """The settings of Flink that mean something here."""
    return "".join(_table(setting for setting in TABLE if not setting.key.startswith(OURS)))


def retired() -> str:
    """The names that settings had before."""
    renamed = [(", ".join(f"`{old}`" for old in setting.retired), setting.key) for setting in TABLE if setting.retired]
    rows = "".join(f"| {old} | `{key}` |\n" for old, key in renamed)
    return f"| Old | New |\n| --- | --- |\n{rows}"


def _table(settings: Iterator[Setting]) -> Iterator[str]:
    yield "| Key | Value (default) | Effect |\n| --- | --- | --- |\n"
    for setting in settings:
        default = "" if setting.default in (None, (), {}) else f" (`{setting.kind.text(setting.default)}`)"
        key = " or ".join(f"`{key}`" for key in (setting.key, *setting.others))
        yield f"| {key} | {_values(setting.kind)}{default} | {setting.doc} |\n"


def _values(kind: Kind) -> str:
    """The values of a setting. The page says once how flags, durations and sizes are written."""
    match kind:
        case Choice():
            return ", ".join(f"`{name}`" for name in kind.names)
        case Flag():
            return "a flag"
        case Whole():
            upper = f" to {kind.high}" if kind.high < 2**31 - 1 else ""
            return f"a number from {kind.low}{upper}{', or -1' if kind.or_unset else ''}"
        case Span():
            least = f" from {kind.low} ms" if kind.low else ""
            return f"a duration{least}{', or -1' if kind.or_unset else ''}"
        case Texts():
            return f"texts with `{kind.separator}`"
        case Size():
            return f"a size from {kind.text(kind.low)}"
        case _:
            return kind.wanted


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
