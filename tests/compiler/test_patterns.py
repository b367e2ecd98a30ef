"""Regular expressions in native code match what Python's match, or doubt; or they are refused."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from penstock._native import Batch, Pipeline, Program
from penstock.compiler.patterns import pattern_program
from penstock.compiler.program import RefusedError
from tests.compiler.reference import Program as Reference

METHODS = ["search", "match", "fullmatch", "findall", "split", "sub"]
ATOMS = ["a", "b", ".", "[ab]", "[^a]", "\\w", "\\W", "\\d", "\\s", "[b-d,]", "é", "\\.", "[\\w-]", "ab", "a,"]
PLACES = ["^", "$", "\\b", "\\A", "\\Z"]
OFTEN = ["*", "+", "?", "{2}", "{1,2}", "{,3}", "{2,}", "*?", "+?", "??", "{1,2}?"]
texts = st.one_of(st.text("ab,1 \n", max_size=10), st.text("abé.\n-", max_size=6), st.just("ab" * 6))


def within(inner: Any) -> Any:
    part = inner.map(lambda text: f"(?:{text})")
    return st.one_of(
        st.tuples(part, st.sampled_from(OFTEN)).map("".join),
        inner.map(lambda text: f"({text})"),
        st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner, inner).map("".join),
    )


pieces = st.tuples(st.sampled_from(ATOMS), st.sampled_from(OFTEN)).map("".join)
leaves = st.one_of(st.sampled_from(ATOMS), st.sampled_from(PLACES), pieces)
flags = st.sampled_from(["", "", "", "(?i)", "(?m)", "(?s)"])
patterns = st.tuples(flags, st.recursive(leaves, within, max_leaves=6)).map("".join)


def on_machine(text: str, pipeline: Any) -> Any:
    """The result in a list, or None where it is in doubt."""
    output, _, _, doubtful = pipeline.run(Batch.of([text]), 0, 1)
    return None if doubtful else output.objects()


def program_of(pattern: re.Pattern[str], method: str) -> str:
    more = [["const", "<>"]] if method == "sub" else []
    result = ["pattern", pattern_program(pattern), method, *more, ["local", 0]]
    return json.dumps({"v": 1, "functions": [{"params": 1, "locals": 1, "body": [["return", result]]}]})


def expected(pattern: re.Pattern[str], method: str, text: str) -> Any:
    result = pattern.sub("<>", text) if method == "sub" else getattr(pattern, method)(text)
    return (result[0], *result.groups()) if isinstance(result, re.Match) else result


@given(patterns, st.sampled_from(METHODS), st.lists(texts, min_size=1, max_size=5))
def test_native_patterns_match_what_those_of_python_match(written: str, method: str, subjects: list[str]) -> None:
    note(written)
    pattern = re.compile(written)
    try:
        program = program_of(pattern, method)
    except RefusedError:
        return
    pipeline, reference = Pipeline([("map", Program(program))]), Reference(program)
    for text in subjects:
        result = on_machine(text, pipeline)
        assert result in (None, [expected(pattern, method, text)]), text
        assert reference.run(text) == expected(pattern, method, text)


@pytest.mark.parametrize("text", ["to be, or not", "", "a=1;b=2", "2026-11-28T16:00", "x" * 1000])
@pytest.mark.parametrize(
    "written",
    ["\\w+", "\\W+", "(\\w)=(\\d)", "(\\d{4})-(\\d\\d)(?:T(\\d+))?", "(?i)[A-Z]+", "^.*$", "x*y?", "(?:ab|x)+$"],
)
def test_usual_patterns_of_usual_texts_are_never_in_doubt(written: str, text: str) -> None:
    for method in METHODS:
        pattern = re.compile(written)
        result = on_machine(text, Pipeline([("map", Program(program_of(pattern, method)))]))
        assert result == [expected(pattern, method, text)]


def test_a_pattern_that_takes_for_ever_is_pythons() -> None:
    pipeline = Pipeline([("map", Program(program_of(re.compile("(?:a|a|aa)+$"), "match")))])
    assert on_machine("a" * 40 + "b", pipeline) is None
