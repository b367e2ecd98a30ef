"""Recognises functions that are one expression of fields and constants, ``lambda bid: (bid[0], bid[5])``, so that
generated code has the expression in the place of a call. It is read from the bytecode, and what it is compiled to must
equal, byte for byte and constant for constant, the function's own code.

Where such an expression raises, the function is called once more, for the user's own line: :func:`again`."""

from __future__ import annotations

import dis
import inspect
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import CellType, CodeType, FunctionType
from typing import Any, NamedTuple

from penstock.runtime.keys.field_selectors import quick_keys, shape_of

_NOTHING = frozenset({"CACHE", "COPY_FREE_VARS", "EXTENDED_ARG", "NOP", "RESUME"})
_OPERATIONS = frozenset({"+", "-", "*", "//", "%", "<", "<=", "==", "!=", ">", ">="})
_CONSTANTS = frozenset({int, str, bool})
_OTHER_KINDS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR | inspect.CO_COROUTINE
_MOST = 64  # instructions of an expression


class Expression(NamedTuple):
    """An expression; in ``text`` are ``{0}``, ``{1}``, … where the arguments are."""

    text: str

    def of(self, *arguments: str) -> str:
        """The expression of some arguments."""
        return self.text.format(*arguments)

    def asks(self, number: int) -> bool:
        """Whether an argument is in it."""
        return f"{{{number}}}" in self.text


def expression_of(function: Any, arguments: int) -> Expression | None:
    """The expression that a function of so many arguments gives; None if it is another kind of function."""
    if type(function) is not FunctionType:
        return None
    code = function.__code__
    if code.co_argcount != arguments or code.co_nlocals != arguments or code.co_kwonlyargcount or code.co_cellvars:
        return None
    cells = _constants(function.__closure__ or ())
    if code.co_flags & _OTHER_KINDS or cells is None:
        return None
    text = _text_of(code)
    if text is None:
        return None
    return Expression(text.format(*(f"{{{number}}}" for number in range(arguments)), *map(repr, cells)))


@lru_cache(1 << 10)  # each task has its own copies of functions, of equal code
def _text_of(code: CodeType) -> str | None:
    """The expression that is all of some code, in which ``{0}``, ``{1}``, … are arguments and then free variables."""
    function = FunctionType(code, {}, closure=tuple(CellType() for _ in code.co_freevars))
    names = *code.co_varnames, *code.co_freevars
    text = _guess(function, {name: f"{{{number}}}" for number, name in enumerate(names)})
    return text if text is not None and _is_code_of(function, text.format(*names)) else None


def _constants(cells: tuple[CellType, ...]) -> list[Any] | None:
    """The contents of a function's cells; None unless they are constants, as no other function has these cells and
    could assign to them."""
    alone = _references((CellType(0),)) * len(cells)
    try:
        contents = [cell.cell_contents for cell in cells]
    except ValueError:  # one is empty
        return None
    return contents if _references(cells) == alone and all(map(_is_constant, contents)) else None


def _references(cells: tuple[CellType, ...]) -> list[int]:
    return [sys.getrefcount(cell) for cell in cells]


def _is_constant(value: Any) -> bool:
    """Whether a value can be in a text, whose braces are for arguments."""
    return type(value) in _CONSTANTS and not {*"{}"} & {*str(value)}


def keys_by(selector: Callable[[Any], Any]) -> Callable[[list[Any]], list[Any]] | None:
    """Gives the keys of many records without a call for each; None where only the selector can. Its exceptions lack the
    user's line."""
    expression = expression_of(selector, 1)
    text = None if expression is None else expression.of("record")
    return quick_keys(selector) or (None if text is None else eval(f"lambda records: [{text} for record in records]"))


def _guess(function: FunctionType, names: Mapping[str, str]) -> str | None:
    stack: list[str] = []
    instructions = list(dis.get_instructions(function))
    for instruction in instructions[:_MOST]:
        kind, value = instruction.opname, instruction.argval
        if kind == "RETURN_VALUE":
            return stack[0] if len(stack) == 1 and instruction is instructions[-1] else None
        if kind in _NOTHING:
            continue
        if kind.startswith("LOAD_FAST") or kind == "LOAD_DEREF":
            stack += [names[name] for name in (value if isinstance(value, tuple) else (value,))]
        elif kind in ("LOAD_CONST", "LOAD_SMALL_INT") and _is_constant(value):
            stack.append(repr(value))
        elif kind == "BUILD_TUPLE" and 0 < value <= len(stack):
            stack[-value:] = [f"({', '.join(stack[-value:])},)"]
        elif (operation := _operation(instruction)) is not None and len(stack) > 1:
            right, left = stack.pop(), stack.pop()
            stack.append(f"{left}[{right}]" if operation == "[]" else f"({left} {operation} {right})")
        else:
            return None
    return None


def _operation(instruction: dis.Instruction) -> str | None:
    """The operator between two operands; ``[]`` for a subscript."""
    if instruction.opname == "BINARY_SUBSCR":
        return "[]"
    text = instruction.argrepr.removeprefix("bool(").removesuffix(")")
    if instruction.opname == "BINARY_OP" and text == "[]":
        return text
    return text if instruction.opname in ("BINARY_OP", "COMPARE_OP") and text in _OPERATIONS else None


def _is_code_of(function: FunctionType, expression: str) -> bool:
    code = function.__code__
    text = f"def make({', '.join(code.co_freevars)}):\n return lambda {', '.join(code.co_varnames)}: {expression}"
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    return shape_of(namespace["make"](*code.co_freevars)) == shape_of(function)


def again(function: Callable[..., Any], error: Exception, *arguments: Any) -> Exception:
    """The error of a function whose expression has raised one."""
    try:
        function(*arguments)
    except Exception as same:
        same.__context__ = error.__context__
        return same
    return error
