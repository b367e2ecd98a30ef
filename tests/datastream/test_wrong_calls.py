"""Every wrong call is refused with an error that names the call and says what to do; the tables are in
``wrong_calls``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import JobExecutionError, PenstockError
from tests.datastream.wrong_calls import arguments, functions, plans, programs
from tests.datastream.wrong_calls.world import World

TABLES = functions, arguments, programs, plans
ROWS = {row[0]: row for table in TABLES for row in table.ROWS}
PYTHONS_OWN = {"keyword", "class", "missing: private"}
"""Rows whose errors Python raises itself."""
NATIVE = {"graph", "builder", "plan"}
"""Rows whose errors the planner raises: they begin with what they are about and end with what is possible."""
ADVICE = re.compile(
    r"(Give|Use|Call|Write|Pass|Leave|Set|Put|Add|Make|Take|Convert|Derive|Swap|Drop|Bring|Clear|Close)\b"
)
INSIDE = re.compile(
    r"[\s'(]_[a-z]\w+|penstock\.(runtime|datastream|common|plan|job)\.|object at 0x| <[a-z]|Transformation\("
)
"""Private names, our modules, addresses, nodes of the program: what nobody outside can make use of."""


def error_of(case: str, folder: Path) -> Any:
    _, call, expected, words = ROWS[case]
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
    if case.partition(":")[0] not in NATIVE:
        sentences = len(re.findall(r"[.?…](\s|$)", message))
        assert ADVICE.search(message) or sentences > 1, message


def test_there_are_enough() -> None:
    assert len(ROWS) == sum(len(table.ROWS) for table in TABLES)
    assert len(ROWS) > 300
