"""Which calls of a program may start jobs behind its first one. Commands that look at plans end a program there, so
they have to say what they have not seen.

The program's text is read, not run: a call counts if its method has the name of one that starts a job, or if it calls a
function of the same file that does so.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

_STARTING = frozenset({".execute", ".execute_async", ".execute_and_collect"})
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def other_jobs(text: str, reached: Sequence[int]) -> str:
    """A sentence about what may start other jobs than the first one of a program's text; "" if nothing does. That one
    was started from the lines ``reached``, none if not in this file. Linear in the text, times the depth of functions
    that call each other."""
    try:
        module = ast.parse(text)
    except SyntaxError:
        return ""
    if not reached:
        return ""
    calls = _starting_calls(module)
    first = [call for call in calls if any(call.lineno <= line <= (call.end_lineno or 0) for line in reached)]
    left_out = _alternatives(module, first)
    lines = sorted({call.lineno for call in calls if call not in first and call not in left_out})
    loops = {inner for node in ast.walk(module) if isinstance(node, _LOOPS) for inner in ast.walk(node)}
    again = sorted({call.lineno for call in first if call in loops})
    sentences: list[str] = []
    if lines:
        *front, last = map(str, lines)
        listed = f"s {', '.join(front)} and {last}" if front else f" {last}"
        sentences.append(f"Line{listed} may start others, which were not looked at.")
    if again:
        sentences.append(f"Line {again[0]} is in a loop, and may start others, which were not looked at.")
    return " ".join(sentences)


def _starting_calls(module: ast.Module) -> list[ast.Call]:
    """The calls that start a job, or call a function that does."""
    methods = {part for node in ast.walk(module) if isinstance(node, ast.ClassDef) for part in node.body}
    called = {
        (f".{function.name}" if function in methods else function.name): list(_calls(function))
        for function in ast.walk(module)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    names, more = set(_STARTING), True
    while more:
        callers = {name for name, calls in called.items() if any(_name(call) in names for call in calls)}
        more = not callers <= names
        names |= callers
    return [call for call in _calls(module) if _name(call) in names]


def _calls(within: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(within) if isinstance(node, ast.Call))


def _name(call: ast.Call) -> str | None:
    """Of the function that is called, or of the method, with a dot before it."""
    if isinstance(call.func, ast.Attribute):
        return f".{call.func.attr}"
    return call.func.id if isinstance(call.func, ast.Name) else None


def _alternatives(module: ast.Module, first: list[ast.Call]) -> set[ast.AST]:
    """The parts that run instead of the calls that were reached, in the other branch of an ``if``."""
    alternatives: set[ast.AST] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.If):
            then, instead = (
                {inner for part in parts for inner in ast.walk(part)} for parts in (node.body, node.orelse)
            )
            for taken, other in ((then, instead), (instead, then)):
                if any(call in taken for call in first):
                    alternatives |= other
    return alternatives
