"""Calls of Python's operations, by programs and by CPython, and strategies of their arguments."""

from __future__ import annotations

import json
import math
import operator
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from penstock._native import Batch, Pipeline, Program

DOUBT = object()
"""Native code leaves the result to Python."""


class Call(NamedTuple):
    """An operation with arguments."""

    kind: str
    name: str
    arguments: tuple[Any, ...]

    def native(self) -> Any:
        """The result as ``ascii`` shows it, or DOUBT."""
        constants = [["const", constant(value)] for value in self.arguments]
        if self.kind == "format":
            spec, conversion = self.name, ""
            expr = ["format", constants[0], spec, conversion]
        elif self.kind == "operator":
            expr = (
                ["compare", constants[0], self.name, constants[1]]
                if self.name in COMPARISONS
                else [self.name, *constants]
            )
        else:
            expr = [self.kind, self.name, *constants]
        if self.name in PASSING:
            expr = ["builtin", "list", expr]
        function = {"params": 1, "locals": 1, "body": [["return", ["builtin", "ascii", expr]]]}
        program = Program(json.dumps({"v": 1, "functions": [function]}))
        batch = Batch.of([0])
        assert batch is not None
        out, _, _, doubtful = Pipeline([("map", program)]).run(batch, 0, 1)
        assert doubtful == (out is None)
        return DOUBT if out is None else out.objects()[0]

    def python(self) -> Any:
        """The same by CPython; None where it raises an exception."""
        try:
            result = FUNCTIONS[self.kind](self.name)(*self.arguments)
            return ascii(list(result) if self.name in PASSING else result)
        except Exception:
            return None


PASSING = frozenset({"reversed", "enumerate", "zip", "range", "keys", "values", "items"})
COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "in", "not_in", "is", "is_not"})


def _operator(name: str) -> Callable[..., Any]:
    others: dict[str, Callable[..., Any]] = {
        "in": lambda item, container: item in container,
        "not_in": lambda item, container: item not in container,
        "is": lambda a, b: a is b,
        "is_not": lambda a, b: a is not b,
        "index": operator.getitem,
        "slice": lambda value, low, high, step: value[low:high:step],
    }
    return others.get(name) or getattr(operator, name)


def _builtin(name: str) -> Callable[..., Any]:
    if name == "sorted":
        return lambda items, reverse=False: sorted(items, reverse=reverse)
    import builtins

    return getattr(builtins, name)


def _library(name: str) -> Callable[..., Any]:
    module, function = name.split(".")
    return getattr({"json": json, "math": math}[module], function)


FUNCTIONS: dict[str, Callable[[str], Callable[..., Any]]] = {
    "operator": _operator,
    "builtin": _builtin,
    "method": lambda name: lambda receiver, *rest: getattr(receiver, name)(*rest),
    "lib": _library,
    "format": lambda spec: lambda value: format(value, spec),
}


def constant(value: Any) -> Any:
    """A constant of a program."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return {"f": str(struct.unpack("<Q", struct.pack("<d", value))[0])}
    if isinstance(value, bytes):
        return {"b": value.hex()}
    if isinstance(value, dict):
        return {"d": [[constant(key), constant(item)] for key, item in value.items()]}
    return {"t" if isinstance(value, tuple) else "l": [constant(item) for item in value]}


EDGES = [0, 1, -1, 7, -7, 63, 64, 2**53, 2**53 + 1, -(2**53) - 1, 2**62, 2**63 - 513, 2**63 - 1, -(2**63), 1 - 2**63]
INTS = st.integers(-9, 9) | st.sampled_from(EDGES) | st.integers(-(2**63), 2**63 - 1)
FLOATS = (
    st.sampled_from([0.0, -0.0, 0.5, 1.5, 2.5, -2.5, 2.675, 1e16, 1e-4, 9e-5, 2.0**63, -(2.0**63), 575152954832377.25])
    | st.floats()
    | st.integers(-9999, 9999).map(lambda n: n / 8)
)
NUMBERS = INTS | FLOATS | st.booleans()
LETTERS = st.sampled_from(
    "abXY01_ -+.,:'\"\\\n\t\r\x00\x1c\x1f\x7f\x85\xa0\xad\xb5ßàÿİŉſΣσςΐЖ\u0301\u2003\u2028中한😀ǅﬁ٣²\u0378"
)
WORDS = [
    "",
    "a",
    "aa",
    "aaa",
    "a,b,,c",
    " a b  c ",
    " 12 ",
    "1_000",
    "0x1F",
    "1e5",
    "nan",
    "-Infinity",
    "\x1c1",
    "it's",
    "007",
    "1e400",
]
TEXTS = (
    st.sampled_from(WORDS)
    | st.text(st.sampled_from("ab, \n1"), max_size=8)
    | st.text(LETTERS, max_size=6)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
    | NUMBERS.map(str)
)
BYTES = st.binary(max_size=6) | st.text(st.sampled_from("ab, \n"), max_size=8).map(str.encode)
SCALARS = st.none() | NUMBERS | TEXTS | BYTES
KEYS = SCALARS | st.tuples(INTS, TEXTS)
VALUES: SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda values: (
        st.lists(values, max_size=4)
        | st.lists(values, max_size=3).map(tuple)
        | st.dictionaries(KEYS, values, max_size=3)
    ),
    max_leaves=6,
)
LISTS = (
    st.lists(NUMBERS, max_size=5)
    | st.lists(TEXTS, max_size=5)
    | st.lists(st.tuples(st.integers(0, 2), TEXTS))
    | st.lists(VALUES)
)
COUNTS = st.integers(-3, 12) | st.sampled_from([True, 2**60, 2**63 - 1, -(2**63)])
PLACES = st.none() | COUNTS


def with_part(texts: SearchStrategy[Any]) -> SearchStrategy[tuple[Any, Any]]:
    """A text or bytes, and often a part of it."""
    parts = st.tuples(texts, st.integers(0, 5), st.integers(1, 3)).map(lambda t: (t[0], t[0][t[1] : t[1] + t[2]]))
    return parts | st.tuples(texts, texts)


def documents() -> SearchStrategy[str]:
    """Documents of JSON, some of them damaged."""
    leaves = st.none() | st.booleans() | INTS | FLOATS | TEXTS
    values = st.recursive(
        leaves, lambda v: st.lists(v, max_size=4) | st.dictionaries(TEXTS, v, max_size=4), max_leaves=8
    )
    whole = st.tuples(values, st.booleans(), st.sampled_from([None, 0, 1])).map(
        lambda t: json.dumps(t[0], ensure_ascii=t[1], indent=t[2])
    )
    more = [
        "",
        '"',
        "\\",
        ",",
        "0",
        "-",
        "e",
        "\\ud83d",
        "\\ud83d\\ude00",
        "{",
        "]",
        "\x01",
        ".",
        "NaN",
        "-Infinity",
        "\ufeff",
        "\xa0",
    ]
    hurt = st.tuples(whole, st.integers(0, 30), st.sampled_from(more), st.integers(0, 2)).map(
        lambda t: t[0][: t[1]] + t[2] + t[0][t[1] + t[3] :]
    )
    equal_keys = whole.map(lambda text: f'{{"a": 1, "b": {text}, "a": {text}}}')
    return whole | hurt | equal_keys


def specs() -> SearchStrategy[str]:
    """Format specifications, many of them wrong."""
    parts = [
        ["", "", "<", ">", "^", "=", "*<", "é>", "0="],
        ["", "", "+", "-", " "],
        ["", "", "#"],
        ["", "", "0"],
        ["", "5", "12", "40"],
        ["", "", ",", "_"],
        ["", ".0", ".1", ".2", ".17"],
        ["", "", "d", "f", "e", "g", "%", "s", "x", "X", "b", "o", "E", "G", "n"],
    ]
    return st.tuples(*map(st.sampled_from, parts)).map("".join)
