"""Writes ``docs/pyflink-names.md``, PyFlink's names with their status: ``python -m tests.docs.pyflink_page``."""

from __future__ import annotations

import importlib
import inspect
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from penstock.datastream import SingleOutputStreamOperator
from penstock.datastream.program import missing_methods
from penstock.pyflink.advice import advice
from penstock.pyflink.names import Name, read
from tests.docs.documents import ROOT

PAGE = ROOT / "docs" / "pyflink-names.md"
THERE, DEVIATES, REFUSED, NOT_THERE = "there", "deviates", "refused", "not there"
STATUSES = (THERE, DEVIATES, REFUSED, NOT_THERE)

RESULTS = {"DataStream": SingleOutputStreamOperator}
"""The classes of what methods return, where PyFlink has one class for several of ours."""

REASONS = {
    "StreamExecutionEnvironment": missing_methods.ENVIRONMENT,
    "DataStream": missing_methods.STREAM,
    "KeyedStream": {**missing_methods.STREAM, **missing_methods.KEYED},
    "WindowedStream": missing_methods.WINDOWED,
    "AllWindowedStream": missing_methods.WINDOWED,
    "ConnectedStreams": missing_methods.CONNECTED,
    "BroadcastConnectedStream": missing_methods.CONNECTED,
    "DataStreamSink": missing_methods.SINK,
}
"""What there is instead of methods, by class."""

_OWN = "PyFlink's way to Java, which is not here"
PYFLINKS_OWN = dict.fromkeys(("java", "internal_type", "need_conversion", "serializer", "j_", "transformer"), _OWN)
"""Parts of the names of methods that no program calls."""

HEAD = """\
# PyFlink's names

Written by `python -m tests.docs.pyflink_page`, and held true by a test. Every public name of PyFlink 1.20.1 and 2.3.0
in
`pyflink.common`, `pyflink.datastream`, `pyflink.metrics`, `pyflink.util` and `pyflink.java_gateway`, with its status in
[`penstock.pyflink`](pyflink.md):

- *there*: it is there, by that name and with parameters of those names (or refused, as in PyFlink);
- *deviates*: it is there with other parameters, which stand behind it;
- *refused*: it is there with PyFlink's parameters, and raises `UnsupportedError`, which says why it can mean nothing
  here and what to use;
- *not there*: using it raises `UnsupportedError`. A class that is not there can be imported all the same.

A name that only one version has is marked. Of the methods that public programs use, P0 are those of nearly every
program, P1 the common ones.

"""


def written() -> str:
    modules: dict[str, list[Name]] = defaultdict(list)
    for name in read():
        if name.kind != "import":
            modules[name.module].append(name)
    return HEAD + summary() + "".join(f"\n## `{module}`\n\n{table(names)}" for module, names in modules.items())


def summary() -> str:
    """How many names have which status, by priority."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for name in read():
        if name.kind != "import":
            counts[name.priority if name.priority in ("P0", "P1") else "others"][status(name)] += 1
    rows = (
        f"| {part} | {' | '.join(f'{counts[part][word]:,}' for word in STATUSES)} |\n"
        for part in ("P0", "P1", "others")
    )
    return f"| | there | deviate | refused | not there |\n| --- | --- | --- | --- | --- |\n{''.join(rows)}"


def table(names: list[Name]) -> str:
    """The names of a module: a row per class, with its members, and per function."""
    owners: dict[str, list[Name]] = defaultdict(list)
    for name in names:
        owners[name.path.partition(".")[0]].append(name)
    head = "| Name | There | Deviates | Refused | Not there | Instead |\n| --- | --- | --- | --- | --- | --- |\n"
    return head + "".join(map(row, owners, owners.values()))


def row(owner: str, names: list[Name]) -> str:
    itself = next(name for name in names if name.path == owner)
    members = [name for name in names if name.path != owner]
    cells: dict[str, list[str]] = {word: [] for word in STATUSES}
    for member in members:
        cells[status(member)].append(shown(member))
    columns = " | ".join(", ".join(dict.fromkeys(cells[word])) for word in cells)
    reason = "; ".join(dict.fromkeys(reasons(itself, members)))
    of_all = "" if status(itself) == THERE else f" ({status(itself)})"
    return f"| {shown(itself)}{of_all} | {columns} | {reason} |\n"


def shown(name: Name) -> str:
    """A name with the version, if only one has it; one that deviates with our parameters."""
    text = name.path.partition(".")[2] or name.path
    if status(name) == DEVIATES:
        text += f"({', '.join(ours(resolved(name)))})"
    return f"`{text}`" if "+" in name.versions else f"`{text}` ({name.versions})"


def reasons(itself: Name, members: Iterable[Name]) -> Iterator[str]:
    """What there is instead of what is not there."""
    if status(itself) == NOT_THERE:
        yield advice(f"{itself.module}.{itself.path}")
        return
    known = REASONS.get(itself.path, {})
    for member in members:
        method = member.path.rpartition(".")[2]
        if status(member) == REFUSED:
            yield f"`{method}`: {summary_of(resolved(member))}"
        elif status(member) == NOT_THERE:
            text = known.get(method) or next((why for part, why in PYFLINKS_OWN.items() if part in method), None)
            yield from [] if text is None else [f"`{method}`: {text}"]


def summary_of(value: Any) -> str:
    """The first sentence of what a function's documentation says."""
    return (inspect.getdoc(value) or "").partition("\n")[0].rstrip(".")


@cache
def status(name: Name) -> str:
    value = resolved(name)
    if name.kind == "refused":  # as in PyFlink
        return THERE
    if value is None or hasattr(value, "pyflinks"):
        return NOT_THERE
    function = value.__func__ if isinstance(value, staticmethod | classmethod) else value
    if "NoReturn" in str(getattr(function, "__annotations__", {}).get("return", "")):
        return REFUSED
    return DEVIATES if name.kind in ("method", "staticmethod", "classmethod") and renamed(name, value) else THERE


@cache
def resolved(name: Name) -> Any:
    """What has the name, None if nothing has."""
    owner, *inner = name.path.split(".")
    value: Any = vars(importlib.import_module(f"penstock.{name.module}")).get(owner)
    if inner and value is not None and not hasattr(value, "pyflinks"):
        value = RESULTS.get(owner, value)
    for part in inner:
        if value is None or hasattr(value, "pyflinks"):
            return value
        value = inspect.getattr_static(value, part, None)
        if isinstance(value, classmethod) or (isinstance(value, staticmethod) and isinstance(value.__func__, type)):
            value = value.__func__
    return value


def ours(value: Any) -> list[str]:
    """The names of our parameters; those that users override are positional, and have any name."""
    function = value.__func__ if isinstance(value, staticmethod | classmethod) else value
    if not callable(function):
        return []
    parameters = list(inspect.signature(function).parameters.values())
    return [
        str(parameter).partition(":")[0].partition("=")[0]
        for parameter in parameters
        if parameter.name not in ("self", "cls")
    ]


def renamed(name: Name, value: Any) -> bool:
    """Whether a parameter of PyFlink's has another name with us, so that it cannot be given by name."""
    theirs = [text.rstrip("=") for text in name.parameters.split(", ") if text and not text.startswith("*")]
    function = value.__func__ if isinstance(value, staticmethod | classmethod) else value
    if not callable(function):
        return False
    parameters = inspect.signature(function).parameters.values()
    if any(
        parameter.kind is parameter.POSITIONAL_ONLY or parameter.kind is parameter.VAR_KEYWORD
        for parameter in parameters
    ):
        return False
    known = {parameter.name for parameter in parameters}
    return not known.issuperset(theirs)


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")
