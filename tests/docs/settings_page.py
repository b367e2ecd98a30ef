"""Writes the tables of ``docs/settings.md`` out of the table of settings: ``python -m tests.docs.settings_page``."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from penstock.common.settings.flink_keys import PREFIXES
from penstock.common.settings.setting import OURS, Choice, Setting
from penstock.common.settings.settings import TABLE
from tests.docs.documents import ROOT

PAGE = ROOT / "docs" / "settings.md"
_PART = re.compile(r"(<!-- (\w+): written by tests/docs/settings_page\.py -->\n).*?(<!-- end -->\n)", re.DOTALL)


def written(page: str) -> str:
    """The page with its tables anew."""
    parts = {"ours": ours(), "flinks": flinks(), "without": without(), "retired": retired()}
    return _PART.sub(lambda match: f"{match[1]}{parts.pop(match[2])}{match[3]}", page)


def ours() -> str:
    """The settings that only Penstock has."""
    return "".join(_table(setting for setting in TABLE if setting.key.startswith(OURS) and not setting.internal))


def flinks() -> str:
    """The settings of Flink that mean something here."""
    return "".join(_table(setting for setting in TABLE if not setting.key.startswith(OURS)))


def retired() -> str:
    """The names that settings had before."""
    renamed = [(old, setting.key) for setting in TABLE for old in setting.retired]
    rows = "".join(f"| `{old}` | `{key}` |\n" for old, key in renamed)
    return f"| Old | New |\n| --- | --- |\n{rows}"


def without() -> str:
    """The beginnings of Flink's keys that mean nothing here."""
    listed = ", ".join(f"`{prefix}`" for prefix in sorted(PREFIXES))
    return textwrap.fill(listed, 120, break_on_hyphens=False) + "\n"


def _table(settings: Iterator[Setting]) -> Iterator[str]:
    yield "| Key | Value | Default | For | |\n| --- | --- | --- | --- | --- |\n"
    for setting in settings:
        default = "" if setting.default in (None, (), {}) else f"`{setting.kind.text(setting.default)}`"
        key = " or ".join(f"`{key}`" for key in (setting.key, *setting.others))
        value = (
            ", ".join(f"`{name}`" for name in setting.kind.names)
            if isinstance(setting.kind, Choice)
            else setting.kind.wanted
        )
        yield f"| {key} | {value} | {default} | {setting.part} | {setting.doc} |\n"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
