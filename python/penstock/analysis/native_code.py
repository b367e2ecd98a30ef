"""How native code runs a program: a verdict about each function of its operators, with the reason and its place, and
whether records come out of sources, and go into sinks, as columns.

The verdicts are the compiler's (:mod:`penstock.compiler.operators`), and those of sources and sinks their own
(``why_objects``); nothing is decided here, and nothing runs.
"""

from __future__ import annotations

import json
import linecache
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import zip_longest
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from penstock.analysis.builder import type_of
from penstock.analysis.program import Program
from penstock.analysis.states import functions_of
from penstock.common.settings.settings import Settings
from penstock.common.typeinfo import TypeInformation
from penstock.compiler.operators import Compilation, Verdict, keys_of
from penstock.display.tables import NO, QUIET, TITLE, YES, heading
from penstock.display.text import visible
from penstock.runtime import native
from penstock.runtime.chain.operator import StreamOperator
from penstock.runtime.io.sinks import BuiltinSink
from penstock.runtime.io.sources import BatchSource
from penstock.runtime.operators.record_types import input_type
from penstock.runtime.operators.sink import StreamSink
from penstock.runtime.operators.source import FileReader, FormatReader, StreamSource
from penstock.runtime.usercode.functions import simple_name

FORMAT = 1  # version of :func:`as_json`
NATIVE, COMPILED, PYTHON = "native", "compiled", "Python"
_KEYS = ["first key", "second key"]
_WORDS = {NATIVE: "native", COMPILED: "compiled", PYTHON: "in Python"}
_STYLES = {NATIVE: YES, COMPILED: YES, PYTHON: NO}


@dataclass(frozen=True)
class FunctionVerdict:
    """How a function of an operator runs, or the operator itself."""

    verdict: str  # "native", "compiled" or "Python"
    role: str  # "key" for a key selector, "first key" and "second key" of two; "function"; "source" and "sink", which
    # are native where records are columns, and a function if they are of the program; or "operator" for its own work
    function: str = ""  # its name, where it is of the program
    reason: str = ""  # why it stays in Python
    file: str | None = None  # of what keeps it there, with line and column from 1
    line: int | None = None
    column: int | None = None
    source: str = ""  # that line


@dataclass(frozen=True)
class OperatorVerdicts:
    """The verdicts about an operator."""

    node: int
    name: str
    type: str
    functions: tuple[FunctionVerdict, ...]


def verdicts_of(program: Program) -> tuple[OperatorVerdicts, ...]:
    """The verdicts about the operators of a program that have functions, or a native form, and about its sources and
    sinks, in order of addition. Each function is compiled once: below a millisecond for most."""
    compilation, edges = Compilation(), list(program.stream_graph.edges)
    readers = {node for node, operator in program.operators.items() if isinstance(operator, FileReader | FormatReader)}
    finders = {edge.source for edge in edges if edge.target in readers}  # of the files for one of them
    rows = list[OperatorVerdicts]()
    for node in program.stream_graph.nodes:
        operator = program.operators.get(node.id)
        if isinstance(operator, StreamOperator):
            ends = () if node.id in finders else _of_ends(operator, input_type(program, node, edges), program.settings)
            parts = *ends, *_verdicts(compilation, operator)
            rows.append(OperatorVerdicts(node.id, node.name, type_of(operator), parts))
    return tuple(row for row in rows if row.functions)


def _of_ends(
    operator: StreamOperator, record_type: TypeInformation[Any] | None, settings: Settings
) -> Iterator[FunctionVerdict]:
    """The verdict about a source or a sink of ours: whether records are columns there."""
    functions = native.functions()
    if isinstance(operator, FileReader | FormatReader):
        role, why = "source", operator.why_objects
    elif isinstance(operator, StreamSource) and isinstance(operator.function, BatchSource):
        role, why = "source", operator.function.why_objects
    elif isinstance(operator, StreamSink) and isinstance(operator.function, BuiltinSink):
        role, why = "sink", partial(operator.function.why_objects, record_type=record_type, settings=settings)
    else:
        return
    reason = "the native module is missing" if functions is None else why(functions)
    yield FunctionVerdict(PYTHON if reason else NATIVE, role, reason=reason)


def _verdicts(compilation: Compilation, operator: StreamOperator) -> Iterator[FunctionVerdict]:
    verdicts = compilation.verdicts(operator)
    keys = len(keys_of(operator))
    roles = _KEYS if keys > 1 else ["key"] * keys
    of_function = "sink" if isinstance(operator, StreamSink) else "function"
    for verdict, role in zip_longest(verdicts, roles):
        yield _described(verdict, role or (of_function if verdict.function else "operator"))
    for function in functions_of(operator) if len(verdicts) == keys else ():
        yield FunctionVerdict(PYTHON, "function", simple_name(function), called_in_python(type_of(operator)))


def called_in_python(operator: str) -> str:
    """The reason why the function of a type of operators stays in Python, where there is no native form of them."""
    return f"{operator} calls its function in Python"


def _described(verdict: Verdict, role: str) -> FunctionVerdict:
    refusal = verdict.refusal
    if refusal is None:
        return FunctionVerdict(verdict.how, role, verdict.function)
    known = refusal.file is not None and refusal.line is not None
    line = linecache.getline(refusal.file or "", refusal.line or 0).rstrip() if known else ""
    place = refusal.file, refusal.line, refusal.column
    return FunctionVerdict(verdict.how, role, verdict.function, refusal.reason, *place, line)


def as_dict(program: Program) -> dict[str, Any]:
    """The verdicts as plain data: ``format``, ``name`` of the job, ``native`` (the setting), ``operators``."""
    setting = "auto" if program.settings.native_plane else "off"
    return {
        "format": FORMAT,
        "name": program.name,
        "native": setting,
        "operators": [asdict(operator) for operator in verdicts_of(program)],
    }


def as_json(program: Program) -> str:
    """One document of :func:`as_dict`."""
    return json.dumps(as_dict(program), indent=2)


def drawn(program: Program) -> Iterator[RenderableType]:
    """The verdicts for a terminal: an operator, then its functions, each with what keeps it in Python."""
    operators = verdicts_of(program)
    yield heading(f'Native code of job "{visible(program.name)}": {_counts(operators)}')
    if not program.settings.native_plane:
        text = "penstock.native is off: all of it runs in Python. With auto it would be so:"
        yield Text(text, style=NO)
    for operator in operators:
        yield Text("")
        yield Text.assemble((f"{operator.node:>3}  ", QUIET), (visible(operator.name), TITLE), overflow="fold")
        for verdict in operator.functions:
            yield from _function(verdict)


def _counts(operators: Sequence[OperatorVerdicts]) -> str:
    counts = Counter(verdict.verdict for operator in operators for verdict in operator.functions)
    parts = [f"{counts[verdict]:,} {words}" for verdict, words in _WORDS.items() if counts[verdict]]
    return ", ".join(parts) or "no functions"


def _function(verdict: FunctionVerdict) -> Iterator[RenderableType]:
    title = Text(f"{verdict.role} {visible(verdict.function)}".rstrip() + ": ", overflow="fold")
    title.append(verdict.verdict, style=_STYLES.get(verdict.verdict, NO))
    if verdict.reason:
        title.append(f": {visible(verdict.reason)}")
    yield Padding(title, (0, 0, 0, 5))
    if verdict.file is None:
        return
    path = os.path.relpath(verdict.file) if os.path.isabs(verdict.file) else verdict.file
    path = verdict.file if path.startswith(os.pardir) else path
    place = ":".join(str(part) for part in (path, verdict.line, verdict.column) if part is not None)
    yield Padding(Text(visible(place), style=QUIET, overflow="fold"), (0, 0, 0, 7))
    source = verdict.source.lstrip()
    if source:
        yield Padding(Text(visible(source), no_wrap=True, overflow="ellipsis"), (0, 0, 0, 9))
        mark = (verdict.column or 1) - 1 - (len(verdict.source) - len(source))
        if 0 <= mark < 90:
            yield Padding(Text(" " * mark + "^", style=NO), (0, 0, 0, 9))
