"""What Python's operations mean natively: the result of CPython in value and type, or doubt."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from penstock._native import Batch, Pipeline, Program
from tests.runtime.columns.meaning_calls import (
    BYTES,
    COUNTS,
    DOUBT,
    FLOATS,
    KEYS,
    LETTERS,
    LISTS,
    NUMBERS,
    PLACES,
    TEXTS,
    VALUES,
    Call,
    documents,
    specs,
    with_part,
)


def check(call: Call) -> None:
    """Native code may doubt; else its result is Python's, and there is one."""
    native = call.native()
    if native is not DOUBT:
        assert native == call.python(), call


def calls(kind: str, names: str, *arguments: SearchStrategy[Any]) -> SearchStrategy[Call]:
    """Calls of any of these names with arguments drawn one by one."""
    return st.builds(Call, st.just(kind), st.sampled_from(names.split()), st.tuples(*arguments))


ARITHMETIC = "add sub mul truediv floordiv mod and_ or_ xor eq ne lt le gt ge"
ANY = st.one_of(VALUES, LISTS, NUMBERS)
PAIRS_OF_TEXTS = with_part(TEXTS)
DICTS = st.dictionaries(KEYS, VALUES, max_size=4)


def on_part(names: str, texts: SearchStrategy[Any], *more: SearchStrategy[Any], least: int = 0) -> SearchStrategy[Call]:
    """Methods of a text with a part of it and perhaps further arguments."""
    ways = [st.tuples(*more[:count]) for count in range(least, len(more) + 1)]
    arguments = st.tuples(with_part(texts), st.one_of(ways)).map(lambda t: (*t[0], *t[1]))
    return st.builds(Call, st.just("method"), st.sampled_from(names.split()), arguments)


CALLS: dict[str, SearchStrategy[Call]] = {
    "arithmetic": calls("operator", ARITHMETIC, NUMBERS, NUMBERS),
    "powers": calls(
        "operator", "pow lshift rshift", NUMBERS, st.integers(-3, 80) | FLOATS.filter(lambda f: abs(f) < 400)
    ),
    "operands of any type": calls("operator", ARITHMETIC.replace(" mul", ""), ANY, ANY),
    "repetition": calls("operator", "mul", ANY, st.integers(-2, 5)) | calls("operator", "mul", st.integers(-2, 5), ANY),
    "equal values": ANY.map(lambda value: Call("operator", "eq", (value, value))),
    "one operand": calls("operator", "neg pos invert", ANY),
    "membership": calls("operator", "in not_in", ANY, ANY)
    | with_part(TEXTS).map(lambda t: Call("operator", "in", (t[1], t[0]))),
    "identity": calls("operator", "is is_not", st.none() | st.booleans(), st.none() | st.booleans() | NUMBERS),
    "positions": calls("operator", "index", ANY | DICTS | TEXTS | BYTES, KEYS | COUNTS),
    "slices": calls("operator", "slice", TEXTS | BYTES | LISTS | LISTS.map(tuple), PLACES, PLACES, PLACES),
    "percent": calls(
        "operator", "mod", st.text(st.sampled_from("%%%dsfgxr0-+ #52.a"), max_size=7), ANY | LISTS.map(tuple)
    ),
    "search": on_part("find rfind index rindex count startswith endswith", TEXTS, PLACES, PLACES),
    "search in bytes": on_part("find startswith endswith", BYTES, PLACES, PLACES),
    "cuts": on_part("split rsplit", TEXTS, COUNTS) | on_part("split", BYTES, COUNTS),
    "words": calls("method", "split rsplit", TEXTS, st.none(), COUNTS) | calls("method", "split", TEXTS | BYTES),
    "lines": calls("method", "splitlines", TEXTS, st.booleans()) | calls("method", "splitlines", TEXTS),
    "strips": calls("method", "strip lstrip rstrip", TEXTS | BYTES) | on_part("strip lstrip rstrip", TEXTS),
    "affixes": on_part("removeprefix removesuffix partition rpartition", TEXTS),
    "replacement": on_part("replace", TEXTS, TEXTS, st.integers(-2, 3), least=1),
    "joined": calls("method", "join", TEXTS, LISTS | TEXTS | LISTS.map(tuple)),
    "width": calls("method", "ljust rjust center", TEXTS, st.integers(-2, 20), LETTERS)
    | calls("method", "zfill", TEXTS, st.integers(-2, 20)),
    "characters": calls(
        "method",
        "lower upper title capitalize swapcase casefold isdigit isnumeric isdecimal isalpha isalnum isspace "
        "isprintable isascii isupper islower istitle isidentifier expandtabs",
        TEXTS,
    ),
    "codecs": calls("method", "encode", TEXTS, st.sampled_from(["utf-8", "ascii", "latin-1"]))
    | calls("method", "decode", BYTES, st.sampled_from(["utf-8", "ascii", "latin-1"]))
    | calls("method", "hex", BYTES),
    "dicts": calls("method", "keys values items", DICTS) | calls("method", "get", DICTS, KEYS, VALUES),
    "lists": calls("method", "index count", LISTS, NUMBERS | TEXTS),
    "numbers": calls("builtin", "int float", NUMBERS | TEXTS)
    | calls("builtin", "int", TEXTS, st.sampled_from([0, 2, 8, 10, 16, 36, 1, 37])),
    "rounding": calls("builtin", "round", NUMBERS)
    | calls("builtin", "round", NUMBERS, st.none() | st.integers(-25, 25)),
    "shown": calls("builtin", "str repr ascii bool len", ANY | BYTES),
    "functions": calls(
        "builtin", "abs ord chr tuple list dict reversed enumerate any all sorted min max sum", ANY | LISTS
    ),
    "two numbers": calls("builtin", "divmod min max", NUMBERS, NUMBERS),
    "sums": calls("builtin", "sum", st.lists(NUMBERS, max_size=6))
    | calls("builtin", "sum", st.lists(FLOATS, max_size=5), NUMBERS),
    "sorting": calls(
        "builtin", "sorted", st.lists(st.tuples(st.integers(0, 2), VALUES)) | st.lists(NUMBERS), st.booleans()
    ),
    "zip": calls("builtin", "zip", LISTS, LISTS | TEXTS),
    "range": calls("builtin", "range", st.integers(-20, 20), st.integers(-20, 20), st.integers(-4, 4)),
    "formats": st.builds(Call, st.just("format"), specs(), st.tuples(NUMBERS | TEXTS | VALUES)),
    "templates": calls(
        "method",
        "format",
        st.lists(
            st.sampled_from(["{}", "{0}", "{1}", "{:>5}", "{!r}", "{:.2f}", "{{", "}}", "a", "{x}", "{", "}"]),
            max_size=4,
        ).map("".join),
        ANY,
        NUMBERS,
    ),
    "json": calls("lib", "json.loads", documents()) | calls("lib", "json.dumps", ANY | DICTS),
    "math": calls(
        "lib",
        " ".join(
            f"math.{name}"
            for name in [
                "sqrt",
                "fabs",
                "floor",
                "ceil",
                "trunc",
                "isnan",
                "isinf",
                "isfinite",
                "degrees",
                "radians",
                "isqrt",
                "modf",
                "exp",
                "log",
                "log2",
                "log10",
                "sin",
                "cos",
                "tan",
                "asin",
                "acos",
                "atan",
                "tanh",
            ]
        ),
        NUMBERS | st.floats(-1, 1) | st.floats(0, 700),
    )
    | calls("lib", "math.copysign math.gcd math.pow math.fmod math.log math.comb math.perm", NUMBERS, NUMBERS)
    | calls("lib", "math.comb math.perm", st.integers(-1, 80), st.integers(-1, 80))
    | calls("builtin", "bytes", VALUES | st.lists(st.integers(-1, 256))),
}


@pytest.mark.parametrize("group", CALLS)
@given(data=st.data())
def test_a_call_has_the_result_of_python_or_is_doubtful(group: str, data: st.DataObject) -> None:
    check(data.draw(CALLS[group]))


NATIVE = [
    Call("operator", "add", (1, 2.5)),
    Call("operator", "add", ("é", "中")),
    Call("operator", "floordiv", (-7, 2)),
    Call("operator", "mod", (-7.5, 2)),
    Call("operator", "truediv", (2**63 - 1, 3)),
    Call("operator", "pow", (2, -1)),
    Call("operator", "pow", (1.5, 2)),
    Call("operator", "eq", ({"a": [1, 2.0]}, {"a": [1.0, 2]})),
    Call("operator", "lt", ((1, "a"), (1, "b"))),
    Call("operator", "in", ("b", ["a", "b"])),
    Call("operator", "index", ({"a": 1}, "a")),
    Call("operator", "slice", ("añb", None, None, -1)),
    Call("operator", "mod", ("%s has %5.2f%%, %d", ("a", 1.5, 3))),
    Call("method", "split", (" a b\tc ",)),
    Call("method", "split", ("a,b", ",", 1)),
    Call("method", "strip", ("--a-", "-")),
    Call("method", "replace", ("a-b", "-", "")),
    Call("method", "join", (", ", ("a", "b"))),
    Call("method", "lower", ("ÄÖÜ ЖÉ",)),
    Call("method", "upper", ("straße café",)),
    Call("method", "title", ("a tale",)),
    Call("method", "isalpha", ("word",)),
    Call("method", "format", ("{}: {:>5} {!r}", "a", 1, "b")),
    Call("method", "encode", ("é",)),
    Call("method", "get", ({"a": 1}, "b", 0)),
    Call("method", "items", ({"a": 1},)),
    Call("builtin", "int", (" -1_000 ",)),
    Call("builtin", "int", ("ff", 16)),
    Call("builtin", "int", (-2.7,)),
    Call("builtin", "float", ("1e-3",)),
    Call("builtin", "str", (1e16,)),
    Call("builtin", "repr", ([None, True, "it's", b"a", (1,), {"é": 0.1}],)),
    Call("builtin", "round", (2.675, 2)),
    Call("builtin", "round", (2.5,)),
    Call("builtin", "sum", ([0.5, 0.25, 1],)),
    Call("builtin", "sum", ([0.1] * 10,)),
    Call("builtin", "sum", ([1, 0.1, 2, 1e16, -1e16], 0.5)),
    Call("builtin", "max", ([1, 2.5, True],)),
    Call("builtin", "sorted", (["b", "a"], True)),
    Call("builtin", "enumerate", ("ab",)),
    Call("builtin", "zip", ([1, 2], "ab")),
    Call("builtin", "range", (5,)),
    Call("format", ",.2f", (1234567.891,)),
    Call("format", "010,", (1234,)),
    Call("format", "#x", (255,)),
    Call("format", ">8", ("a",)),
    Call("format", ".3%", (0.5,)),
    Call("lib", "json.loads", ('{"a": [1, 2.5, "\\u00e9\\ud83d\\ude00", null, true, NaN], "a": {}}',)),
    Call("lib", "json.dumps", ({"a": [1, 0.1, None], "é": "\x7f😀"},)),
    Call("lib", "math.sqrt", (2,)),
    Call("lib", "math.floor", (-0.5,)),
    Call("lib", "math.log", (10,)),
    Call("lib", "math.sin", (1.0,)),
]


@pytest.mark.parametrize("call", NATIVE, ids=lambda call: f"{call.name} {call.arguments}")
def test_a_usual_call_is_native(call: Call) -> None:
    assert call.native() == call.python() is not None


METHODS = "lower upper title capitalize swapcase casefold isspace isprintable isalpha isalnum isdigit isdecimal isupper"


@pytest.mark.parametrize("name", [*METHODS.split(), "strip", "split", "splitlines"])
def test_each_character_is_as_in_this_version_of_unicode_or_doubtful(name: str) -> None:
    some = [code for code in range(sys.maxunicode) if code < 0x3500 or code % 7 == 0]
    texts = [f"a{chr(code)}" if name in METHODS else f"a{chr(code)}b" for code in some if not 0xD800 <= code < 0xE000]
    if name.startswith(("is", "lower", "upper")):
        texts = [text[1:] for text in texts]
    body = [["return", ["method", name, ["local", 0]]]]
    pipeline = Pipeline([("map", Program(_program(body)))])
    at, seen = 0, 0
    batch = Batch.of(texts)
    assert batch is not None
    while at < len(texts):
        out, _, end, doubtful = pipeline.run(batch, at, len(texts))
        results = [] if out is None else out.objects()
        assert results == [getattr(text, name)() for text in texts[at:end]]
        seen += end - at
        at = end + doubtful
    assert seen > 120


def _program(body: list[Any]) -> str:
    return json.dumps({"v": 1, "functions": [{"params": 1, "locals": 1, "body": body}]})


def test_functions_of_the_c_library_have_the_same_bits() -> None:
    for name in ["exp", "log", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "tanh"]:
        for n in range(1, 200):
            value = math.ldexp(n * 0.618033988749895 % 1, n % 12 - 11)
            call = Call("lib", f"math.{name}", (value,))
            assert call.native() == call.python()


@pytest.mark.parametrize(
    "call",
    [
        Call("operator", "mul", ("a", 10**9)),
        Call("operator", "pow", (10, 10**10)),
        Call("operator", "lshift", (1, 2**40)),
        Call("builtin", "range", (2**62,)),
        Call("method", "ljust", ("a", 2**62)),
        Call("method", "expandtabs", ("\t", 2**31 - 1)),
        Call("format", "1000000000", (1,)),
        Call("format", ".1000000000f", (1.0,)),
        Call("lib", "json.loads", ("[" * 100_000,)),
    ],
    ids=lambda call: call.name,
)
def test_what_takes_much_room_is_doubtful(call: Call) -> None:
    assert call.native() is DOUBT
