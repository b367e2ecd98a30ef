"""How many functions of the recorded PyFlink programs are compiled, and why the others are not.

``python -m tests.compiler.coverage`` prints it, with each function that stays in Python; with ``--write`` it writes
``docs/native_functions.md``.
"""

from __future__ import annotations

import contextlib
import functools
import io
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MethodType
from typing import Any
from unittest import mock

from penstock.cli.program import ALL, Planning
from penstock.common import checks
from penstock.common.callables import shown
from penstock.compiler.functions import compile_aggregate
from penstock.compiler.operators import Compilation
from penstock.compiler.program import Compiled, Refusal
from penstock.datastream.program import keys
from tests.docs.documents import ROOT
from tests.pyflink.recorded import HERE, unpacked

PAGE = ROOT / "docs" / "native_functions.md"
PROGRAMS = "programs"
KINDS = {
    "map": "map",
    "filter": "filter",
    "flat_map": "flat_map",
    "key_by": "key",
    "reduce": "reduce",
    "aggregate": "aggregate",
    "with_timestamp_assigner": "time",
}
"""The kinds of functions by the call that takes them."""
_QUOTED = re.compile(r"^(?:calls|reads|changes|assigns) (?P<name>[\w.\[\]'\"]+(?:\(\))?)")
_GROUPS = (
    (re.compile("has its own (open|close)"), "the class has its own `open()` or `close()`"),
    (re.compile("prints$"), "prints"),
    (
        re.compile("assigns an attribute|changes an object|may be changed|which a method of"),
        "changes an object or a variable that lasts",
    ),
    (re.compile("is shared|can be changed|must be a new list"), "a list or a dict is shared, or could be changed"),
    (
        re.compile("reads a clock|is random|writes a log|looks outside|depends on the process"),
        "has an effect, or depends on more than its records",
    ),
    (re.compile(": of dates and times"), "what is not translated of dates and times"),
    (re.compile("not known to have no effects|, a \\w+$"), "calls a class or function that is not known"),
)
"""Reasons that are one row of the table."""


@dataclass(frozen=True)
class Passed:
    """A function that a program passes to an operator, and why it stays in Python, if it does."""

    program: str
    call: str
    name: str
    refusal: Refusal | None


def passed(records: str = PROGRAMS) -> list[Passed]:
    """The functions of all programs of a folder of records."""
    return [function for file in sorted(unpacked(records).glob("*.py")) for function in of_program(file)]


def of_program(file: Path, arguments: Sequence[str] = ()) -> list[Passed]:
    """The functions of a program, each once, in the order in which they are passed."""
    compilation = Compilation()
    functions = functions_of(file, arguments)
    return [Passed(file.stem, call, shown(f), _refusal(compilation, f, call)) for call, f in functions]


def functions_of(file: Path, arguments: Sequence[str] = ()) -> list[tuple[str, Any]]:
    """The same functions themselves, with the calls that take them."""
    with noting() as functions, warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        with contextlib.suppress(Exception):  # one that needs the results of its jobs ends early
            Planning(pyflink=True, arguments=arguments, job=ALL).plans(str(file))
        unlike = {(call, _place(function)): function for call, function in functions}
        return [(call, function) for (call, _), function in unlike.items()]


def _refusal(compilation: Compilation, function: Any, call: str) -> Refusal | None:
    if call == "aggregate":
        result: Any = compile_aggregate(function)
    else:
        result = compilation.function(function, KINDS[call])
    if isinstance(result, Refusal) and call in ("map", "filter", "flat_map"):
        of_key = compilation.function(function, f"{call}_of_key")
        if isinstance(of_key, Compiled) and of_key.states:  # such a function is on a keyed stream
            return None
    return result if isinstance(result, Refusal) else None


def _place(function: Any) -> object:
    """Where a function is written, which tells it from others."""
    plain = function.__func__ if isinstance(function, MethodType) else function
    code = getattr(plain, "__code__", None)
    return (code.co_filename, code.co_firstlineno, code.co_code, code.co_consts) if code else type(function)


@contextlib.contextmanager
def noting() -> Generator[list[tuple[str, Any]], None, None]:
    """The functions that are passed to operators meanwhile, by the call."""
    functions: list[tuple[str, Any]] = []

    def noted(plain: Callable[..., Any], of: Callable[..., tuple[str, Any]]) -> Callable[..., Any]:
        @functools.wraps(plain)
        def call(*arguments: Any, **keywords: Any) -> Any:
            name, function = of(*arguments)
            if name in KINDS and not isinstance(function, str | int):
                functions.append((name, function))
            return plain(*arguments, **keywords)

        return call

    with (
        mock.patch.object(checks, "function", noted(checks.function, lambda f, call, *_: (call, f))),
        mock.patch.object(
            checks, "methods", noted(checks.methods, lambda f, call, *_: (call * (call == "aggregate"), f))
        ),
        mock.patch.object(keys, "key_by", noted(keys.key_by, lambda _, f, *__: ("key_by", f))),
    ):
        yield functions


def reason(refusal: Refusal) -> str:
    """A reason as it is counted: without the names of the program."""
    for pattern, text in _GROUPS:
        if pattern.search(refusal.reason):
            return text
    return _QUOTED.sub(lambda match: match[0].replace(match["name"], "…"), refusal.reason)


def tables(functions: Iterable[Passed]) -> str:
    """The tables of the page."""
    functions = list(functions)
    lines = ["| Passed to | Functions | Compiled |", "| --- | --: | --: |"]
    for call in KINDS:
        some = [function for function in functions if function.call == call]
        if some:
            lines.append(f"| `{call}` | {len(some)} | {_share(some)} |")
    lines += [f"| all | {len(functions)} | {_share(functions)} |", ""]
    reasons = Counter(reason(function.refusal) for function in functions if function.refusal is not None)
    lines += ["| Functions | Why they stay in Python |", "| --: | --- |"]
    lines += [f"| {count} | {text} |" for text, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))]
    return "\n".join(lines) + "\n"


def _share(functions: Sequence[Passed]) -> str:
    count = compiled(functions)
    return f"{count} ({100 * count // len(functions)} %)"


def compiled(functions: Iterable[Passed]) -> int:
    """How many of them are compiled."""
    return sum(function.refusal is None for function in functions)


def page(functions: Iterable[Passed]) -> str:
    """The page of tables."""
    count = len(list((HERE / PROGRAMS).glob("*.txt")))
    return (
        "<!-- written by python -m tests.compiler.coverage --write -->\n"
        f"Functions of the {count} recorded PyFlink programs (`tests/pyflink/programs`), each once for a program:\n\n"
        f"{tables(functions)}"
    )


if __name__ == "__main__":
    everything = passed()
    for one in everything:
        if one.refusal is not None:
            print(f"{one.program}: {one.call}({one.name}): {one.refusal.reason} (line {one.refusal.line})")
    print(page(everything))
    if "--write" in sys.argv:
        PAGE.write_text(page(everything), encoding="utf-8")
