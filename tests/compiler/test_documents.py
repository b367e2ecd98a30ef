"""Functions that look at some fields of documents of JSON: the rest is checked as Python checks it, and not made."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock._native import Pipeline, Program
from penstock.compiler.functions import compile_function
from penstock.compiler.program import Compiled
from tests.compiler.test_functions import shown
from tests.compiler.test_machine import DOUBT, RAISED, of_python, on_machine, together


def two_fields(text: str) -> Any:
    document = json.loads(text)
    return document["a"], document.get("b", -1)


def within(text: str) -> Any:
    document = json.loads(text)
    return document.get("a", {}).get("b"), document["c"]["b"]["a"]


def or_nothing(text: str) -> Any:
    return (json.loads(text).get("a") or {}).get("b", 0)


def is_there(text: str) -> Any:
    document = json.loads(text)
    return "a" in document, "b" not in document, "c" in document["a"], document["a"] is None


def truths(text: str) -> Any:
    document = json.loads(text)
    if not document:
        return "empty"
    return bool(document.get("a")), "b" if document["b"] else "c", document["c"] and "full"


def kinds(text: str) -> Any:
    document = json.loads(text)
    return isinstance(document["a"], dict), isinstance(document["a"], (list, str)), document["b"] is not None


def lengths(text: str) -> Any:
    document = json.loads(text)
    return len(document["a"]), len(document)


def first_item(text: str) -> Any:
    return json.loads(text)["a"][0]["b"], json.loads(text)["a"][-1].get("c")


def of_items(text: str) -> Any:
    return [item["b"] for item in json.loads(text)["a"] if item.get("c")]


def of_items_unpacked(text: str) -> Any:
    return [left for left, right in json.loads(text)["a"] if right]


def of_pairs(text: str) -> Any:
    document = json.loads(text)
    return sorted(document["a"].items()), list(document["b"]), [key for key in document if key]


def either(text: str) -> Any:
    document = json.loads(text)
    part = document["a"] if "a" in document else document  # noqa: SIM401
    return part["b"]


def deeper(text: str) -> Any:
    document = json.loads(text)
    while "a" in document:
        document = document["a"]
    return document.get("b")


def deepest(text: str) -> Any:
    document = json.loads(text)
    while document.get("a"):
        document = document["a"]
    return document


def assigned_late(text: str) -> Any:
    last = result = None
    for part in json.loads(text)["a"]:
        if last is not None:
            result = last["b"]
        last = part
    return result


def unpacked(text: str) -> Any:
    document = json.loads(text)
    one, (other, third) = document["a"], document["b"]
    return one, other, third["a"]


def compared(text: str) -> Any:
    document = json.loads(text)
    return document["a"] == document["b"], json.dumps(document["c"])


def put(text: str) -> Any:
    document = json.loads(text)
    document["b"] = 5
    return document["b"], document.get("a")


def fallback(text: str) -> Any:
    try:
        return json.loads(text)["a"]["b"]
    except (ValueError, KeyError):
        return "wrong"


def of_part(part: Any) -> Any:
    return part["b"]


def parsed(text: str) -> Any:
    document = json.loads(text)
    if not document:
        return None
    return document


def of_others(text: str) -> Any:
    document = parsed(text)
    return of_part(document["a"]), of_part(document)


def any_key(text: str) -> Any:
    document = json.loads(text)
    return document[document["a"]], document.get(document["b"])


def emitted(text: str) -> Iterator[Any]:
    document = json.loads(text)
    for item in document["a"]:
        yield item["b"], document["c"]


def listed(text: str) -> Any:
    return json.loads(text)["a"]


MAPS = [
    two_fields,
    within,
    or_nothing,
    is_there,
    truths,
    kinds,
    lengths,
    first_item,
    of_items,
    of_items_unpacked,
    of_pairs,
    either,
    deeper,
    deepest,
    assigned_late,
    unpacked,
    compared,
    put,
    fallback,
    of_others,
    any_key,
    listed,
    json.loads,
]
FLAT_MAPS = [emitted, listed]
CHAINS: list[list[tuple[str, Callable[[Any], Any]]]] = [
    [("map", json.loads), ("map", lambda d: d["a"])],
    [("map", json.loads), ("filter", lambda d: d["a"]), ("filter", lambda d: "c" in d), ("map", lambda d: d.get("b"))],
    [("map", json.loads), ("filter", lambda d: d.get("a"))],
    [("map", parsed), ("map", lambda d: d["a"]), ("map", lambda d: (d["b"], d["c"]))],
    [("flat_map", listed), ("map", lambda item: item["b"])],
    [("flat_map", listed), ("filter", lambda item: item.get("a") is None), ("map", lambda item: len(item["b"]))],
    [("map", json.loads), ("flat_map", lambda d: d["a"]), ("map", lambda item: item["b"]["c"])],
]


def pipeline_of(*stages: tuple[str, Callable[[Any], Any]]) -> Pipeline:
    programs = []
    for kind, function in stages:
        compiled = compile_function(function, kind)
        assert isinstance(compiled, Compiled), f"{function}: {compiled}"
        programs.append((kind, Program(compiled.program)))
    return Pipeline(programs)


PIPELINES = {f"{function.__name__}": pipeline_of(("map", function)) for function in MAPS}

numbers = st.sampled_from(
    ["0", "-0", "1", "-7", "2.5", "-0.0", "1e3", "1E-400", "1e400", "123456789012345678901234567890"]
)
longs = st.sampled_from(["1" * 640, "-" + "9" * 641, "7" * 4300, "7" * 4301, "1" * 5000 + ".5", "0." + "3" * 5000])
wrong = st.sampled_from(
    ["01", "1.", ".5", "-", "+1", "1e", "1e+", "tru", "nul", "", "'a'", "--1", "0x1", "1_0", "Nan", "{", "]"]
)
words = st.sampled_from(["null", "true", "false", "NaN", "Infinity", "-Infinity"])
texts = st.sampled_from(
    [
        '""',
        '"a"',
        '"b\\u0063"',
        '"é日\U0001f600"',
        '"\\ud83d\\ude00"',
        '"\\ud800"',
        '"\\ud800\\u0041"',
        '"\\ud83d\\ud83d\\ude00"',
        '"\\udc00x"',
        '"\\n\\t\\"\\\\\\/\\b\\f\\r"',
        '"\\x"',
        '"\\u12"',
        '"\\u00g0"',
        '"\\u 123"',
        '"\n"',
        '"\x00"',
        '"\x7f"',
        '"open',
        '"\\',
    ]
)
keys = st.sampled_from(
    ['"a"', '"b"', '"c"', '"a"', '"b"', '"\\u0061"', '""', '"aa"', '"\\ud800"', '"ключ"', "a", '"\\q"', "1", '"a']
)
plain_keys = st.sampled_from(['"a"', '"b"', '"c"', '"\\u0061"', '"x"'])
spaces = st.sampled_from(["", "", "", " ", "\n\t\r ", "\u00a0", "\x0c"])


def arrays(items: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(lambda parts, space: f"[{space}{','.join(parts)}{space}]", st.lists(items, max_size=3), spaces)


def objects(keys: st.SearchStrategy[str], values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.builds(lambda key, space, value: f"{key}{space}:{space}{value}{space}", keys, spaces, values)
    return st.builds(lambda parts: "{" + ", ".join(parts) + "}", st.lists(pairs, max_size=5))


odd = st.recursive(
    st.one_of(numbers, numbers, words, texts, longs, wrong),
    lambda inner: st.one_of(arrays(inner), objects(keys, inner), objects(plain_keys, inner)),
    max_leaves=12,
)
right = st.recursive(
    st.sampled_from(
        ["0", "1", "2.5", '"a"', '""', '"b"', "null", "true", "123456789012345678901234567890", '"\\ud800"', "[]", "{}"]
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda parts: f"[{', '.join(parts)}]"),
        st.lists(st.tuples(plain_keys, inner), max_size=5).map(
            lambda pairs: "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"
        ),
    ),
    max_leaves=20,
)


@st.composite
def damaged(draw: Any) -> str:
    """A document with a character more, less, or another one."""
    text = draw(right)
    at = draw(st.integers(0, len(text)))
    return (
        text[:at]
        + draw(st.sampled_from(["", ",", "}", "]", '"', "\\", "\n", "0", "x"]))
        + text[at + draw(st.integers(0, 1)) :]
    )


documents = st.one_of(right, right, odd, damaged())


def check(pipeline: Pipeline, function: Any, kind: str, text: str) -> None:
    result = on_machine(pipeline, kind, text)
    expected = of_python(function, kind, text)
    if result is not DOUBT:
        assert expected != [RAISED], (function, text)
        assert result == shown(expected if kind == "flat_map" else expected[0]), (function, text)


@given(documents)
def test_documents_give_what_python_gives(text: str) -> None:
    for function in MAPS:
        check(PIPELINES[function.__name__], function, "map", text)
    for function in FLAT_MAPS:
        check(pipeline_of(("flat_map", function)), function, "flat_map", text)


@given(st.lists(documents, min_size=2, max_size=6))
def test_many_documents_at_a_time_give_what_python_gives(rows: list[str]) -> None:
    for function in MAPS:
        results = together(PIPELINES[function.__name__], function, "map", rows)
        assert results is None or shown(results) == shown([r for row in rows for r in of_python(function, "map", row)])


@given(st.lists(documents, min_size=1, max_size=4), st.sampled_from(CHAINS))
def test_chains_give_what_python_gives(rows: list[str], stages: list[tuple[str, Callable[[Any], Any]]]) -> None:
    def all_of(text: str) -> list[Any]:
        records: list[Any] = [text]
        for kind, function in stages:
            records = [result for record in records for result in of_python(function, kind, record)]
            if RAISED in records:
                raise ValueError
        return records

    results = together(pipeline_of(*stages), all_of, "flat_map", rows)
    assert results is None or shown(results) == shown([r for row in rows for r in of_python(all_of, "flat_map", row)])


MANY = "123456789012345678901234567890"
"""A whole number that native code does not have."""
UNSEEN: list[tuple[Callable[[Any], Any], str, str]] = [
    (two_fields, "map", f'{{"a": 1, "x": {MANY}, "y": [{{"a": {MANY}}}], "b": 2}}'),
    (within, "map", f'{{"a": {{"b": 1, "a": {MANY}}}, "c": {{"b": {{"a": 3, "b": {MANY}}}}}}}'),
    (or_nothing, "map", f'{{"a": {{"b": 1, "a": {MANY}}}, "b": {MANY}}}'),
    (is_there, "map", f'{{"a": {{"c": {MANY}}}, "c": {MANY}}}'.replace(MANY, f"[{MANY}]")),
    (truths, "map", f'{{"a": {{"b": {MANY}}}, "b": [{MANY}], "c": {{"x": [{MANY}]}}, "x": {MANY}}}'),
    (kinds, "map", f'{{"a": {{"b": {MANY}}}, "b": [{MANY}]}}'),
    (first_item, "map", f'{{"a": [{{"b": 1, "c": 2, "x": {MANY}}}], "x": {MANY}}}'),
    (of_items, "map", f'{{"a": [{{"b": 1, "c": [{MANY}], "x": {MANY}}}]}}'),
    (either, "map", f'{{"a": {{"b": 1, "c": {MANY}}}, "c": {MANY}}}'),
    (put, "map", f'{{"a": 1, "c": {MANY}}}'),
    (fallback, "map", f'{{"a": {{"b": 1, "c": {MANY}}}, "c": "\\ud800"}}'),
    (of_others, "map", f'{{"a": {{"b": 1, "c": {MANY}}}, "b": 2, "c": {MANY}}}'),
    (emitted, "flat_map", f'{{"a": [{{"b": 1, "c": {MANY}}}], "b": {MANY}, "c": 7}}'),
]


@pytest.mark.parametrize(("function", "kind", "text"), UNSEEN)
def test_what_is_not_looked_at_is_not_made(function: Any, kind: str, text: str) -> None:
    result = on_machine(pipeline_of((kind, function)), kind, text)
    assert result is not DOUBT
    expected = of_python(function, kind, text)
    assert result == shown(expected if kind == "flat_map" else expected[0])


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, f'{{"a": 1, "x": {MANY}}}'),
        (1, f'{{"a": [{MANY}], "b": 2, "c": [{MANY}]}}'),
        (3, f'{{"a": {{"b": 1, "c": 2, "x": {MANY}}}, "b": {MANY}}}'),
        (4, f'{{"a": [{{"b": 1, "x": {MANY}}}], "x": {MANY}}}'),
        (5, f'{{"a": [{{"b": [[{MANY}]], "x": {MANY}}}], "x": {MANY}}}'),
        (6, f'{{"a": [{{"b": {{"c": 1, "x": {MANY}}}, "x": {MANY}}}], "x": {MANY}}}'),
    ],
)
def test_a_chain_makes_what_its_functions_look_at(number: int, text: str) -> None:
    assert on_machine(pipeline_of(*CHAINS[number]), "flat_map", text) is not DOUBT


def test_a_filter_keeps_all_of_a_document() -> None:
    assert on_machine(pipeline_of(*CHAINS[2]), "flat_map", f'{{"a": 1, "x": {MANY}}}') is DOUBT


@pytest.mark.parametrize(
    "bad", ["01", '"\n"', '"\\x"', "[1,]", "{1: 2}", "tru", '{"a" 1}', "1" * 5000, "[" * 100 + "]" * 100]
)
def test_what_is_not_looked_at_is_checked(bad: str) -> None:
    assert on_machine(PIPELINES["two_fields"], "map", f'{{"a": 1, "x": {bad}, "b": 2}}') is DOUBT
