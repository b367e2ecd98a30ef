"""Which key selectors are known to take a field."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import cloudpickle
import pytest

from penstock.datastream.streams.windowed_stream import NullByteKey
from penstock.errors import JobExecutionError
from penstock.local import LocalExecutor
from penstock.runtime.keys.field_selectors import quick, quick_keys
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.elementwise import StreamMap
from tests.job.programs import Program

FIRST = 0
OTHER = {"a": 1}


def named(record):
    return record[1]


def documented(record: tuple) -> object:
    """Takes a field."""
    return record[1]


def by_its_name(record):
    "name"
    return record["name"]


def generated(record):
    yield record[0]


class Selector:
    def get_key(self, record):
        return record[0]


@pytest.mark.parametrize(
    ("selector", "position"), [(lambda t: t[0], 0), (lambda word: word[15], 15), (named, 1), (documented, 1)]
)
def test_fields_are_recognised(selector, position):
    record = tuple("abcdefghijklmnopqrst")
    for function in (selector, cloudpickle.loads(cloudpickle.dumps(selector))):
        assert isinstance(quick(function), itemgetter)
        assert quick(function)(record) == selector(record) == record[position]


@pytest.mark.parametrize(
    "selector",
    [
        lambda t: t[-1],
        lambda t: t[0.0],
        lambda t: t[False],
        lambda t: t[0][0],
        lambda t: t[FIRST],
        lambda t: OTHER[0],
        lambda t: t,
        lambda t: t.x,
        lambda t: t[0] or t[1],
        lambda t, u=1: t[0],
        lambda *t: t[0],
        lambda t: (t[0],),
        lambda t: t[0:1],
        (lambda x: lambda t: x[0])("ab"),
        generated,
        by_its_name,
        Selector().get_key,
        str,
    ],
)
def test_nothing_else_is(selector):
    assert quick(selector) is selector


def test_an_error_shows_the_users_line():
    program = Program()
    node = program.add(StreamMap(str), program.source([1]))
    program.collect(node, partitioner="HASH", spec=KeyPartition(named), p=2)
    with pytest.raises(JobExecutionError, match=r"return record\[1\]"):
        LocalExecutor().execute(program.pipeline())


@pytest.mark.parametrize("header", ["", "from __future__ import annotations\n"])
def test_it_does_not_matter_which_futures_a_program_imports(header: str) -> None:
    program: dict[str, Any] = {}
    exec(compile(f"{header}key = lambda pair: pair[1]", "program.py", "exec", dont_inherit=True), program)
    assert isinstance(quick(program["key"]), itemgetter)


class Constant:
    def get_key(self, value):
        return 0

    def another(self, value):
        return 1


def test_keys_of_many_records():
    records = [(1, "a"), (2, "b")]
    for selector in (lambda pair: pair[1], lambda record: record, Constant().get_key, Constant().another, len):
        keys = quick_keys(selector)
        assert (keys is None) is (selector.__name__ in ("another", "len"))
        assert keys is None or keys(records) == list(map(selector, records))
    assert quick_keys(NullByteKey().get_key) is not None
    assert quick_keys(lambda value, default=0: value) is None
