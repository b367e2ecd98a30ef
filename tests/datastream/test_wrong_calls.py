"""Every wrong call is refused with an error that names the call and says what to do; the tables are in
``wrong_calls``."""

from __future__ import annotations

import functools
import operator
import re
from pathlib import Path
from typing import Any

import pytest

from penstock import common, datastream
from penstock.common.callables import ROLES
from penstock.errors import JobExecutionError, PenstockError
from tests.datastream.wrong_calls.world import World, table

TABLES = [table(name) for name in ("functions", "arguments", "files", "programs", "plans", "kafka")]
ROWS = {case: row for rows in TABLES for case, row in rows.items()}
PYTHONS_OWN = {"keyword", "class", "missing: private", "missing: of a config"}
"""Rows whose errors Python raises itself."""
NATIVE = {"graph", "builder", "plan"}
"""Rows whose errors the planner raises: they may end with what is possible instead of saying to give it."""
ADVICE = re.compile(
    r"(Give|Use|Call|Write|Pass|Leave|Set|Put|Add|Make|Take|Convert|Derive|Swap|Drop|Bring|Clear|Close)\b"
)
INSIDE = re.compile(
    r"[\s'(]_[a-z]\w+|penstock\.(runtime|datastream|common|plan|job)\.|object at 0x| <[a-z]|Transformation\("
)
"""Private names, our modules, addresses, nodes of the program: what nobody outside can make use of."""


def error_of(case: str, folder: Path) -> Any:
    call, expected, words = ROWS[case]
    with pytest.raises(expected, match=words) as caught:
        call(World(folder))
    assert type(caught.value) is expected
    return caught.value


@pytest.mark.parametrize("case", ROWS)
def test_a_wrong_call_is_refused(case: str, tmp_path: Path) -> None:
    error_of(case, tmp_path)


OURS = [case for case in ROWS if case.partition(":")[0] not in PYTHONS_OWN and case not in PYTHONS_OWN]


@pytest.mark.parametrize("case", OURS)
def test_the_message_helps(case: str, tmp_path: Path) -> None:
    error = error_of(case, tmp_path)
    assert isinstance(error, PenstockError)
    message = str(error)
    if isinstance(error, JobExecutionError):  # its advice is that of the user's exception
        assert re.match(r"(Operator|The [a-z ]+ of) ", message)
        return
    assert INSIDE.search(message) is None, message
    sentences = len(re.findall(r"[.?…](\s|$)", message))
    possible = case.partition(":")[0] in NATIVE and ", expected " in message
    assert ADVICE.search(message) or sentences > 1 or possible, message


def test_there_are_enough() -> None:
    assert len(ROWS) == sum(map(len, TABLES))
    assert len(ROWS) > 300


def test_the_classes_that_messages_name_are_there() -> None:
    assert len(ROLES) > 20
    for method, role in ROLES.items():
        cls = getattr(datastream, role.base, None) or getattr(common, role.base, None) if role.base else None
        assert (cls is None) == (role.base == "")
        assert cls is None or callable(getattr(cls, method))


@pytest.mark.parametrize(
    "function",
    [
        lambda *values: values,
        lambda value, other=1: value,
        lambda value, *, other=1: value,
        functools.wraps(max)(lambda *values, **named: values),
        functools.partial(lambda value, other: value, other=1),
        operator.itemgetter(0),
        str,
        str.upper,
        "a b".split,
        World.run.__get__(World(Path())),
        type("Holder", (), {"__init__": lambda self, value: None}),
        type("Called", (), {"__call__": lambda self, value: value})(),
    ],
)
def test_what_can_take_a_record_is_taken(function: Any, tmp_path: Path) -> None:
    World(tmp_path).pairs.map(function)
