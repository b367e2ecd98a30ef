"""The page of PyFlink's names says what is there."""

from __future__ import annotations

from collections import Counter

import pytest

from penstock.pyflink.names import Name, read
from tests.docs import pyflink_page
from tests.docs.pyflink_page import DEVIATES, NOT_THERE, PAGE, REFUSED, THERE, resolved, status, written

NAMES = {(name.module.removeprefix("pyflink."), name.path): name for name in read()}


def test_the_page_is_as_it_is_written() -> None:
    assert PAGE.read_text(encoding="utf-8") == written(), "write it by: python -m tests.docs.pyflink_page"


def test_every_name_is_on_it() -> None:
    page = PAGE.read_text(encoding="utf-8")
    listed = [name for name in read() if name.kind != "import"]
    assert len(listed) > 1_700
    missing = [name.path for name in listed if f"`{name.path.partition('.')[2] or name.path}" not in page]
    assert missing == []


@pytest.mark.parametrize(
    ("module", "path", "wanted"),
    [
        ("datastream.data_stream", "DataStream.map", THERE),
        ("datastream.data_stream", "DataStream.uid", THERE),
        ("datastream.data_stream", "KeyedStream.rebalance", THERE),
        ("datastream.state", "MapState.put", THERE),
        ("datastream.functions", "KeyedProcessFunction.Context.timer_service", THERE),
        ("common.typeinfo", "Types.ROW_NAMED", THERE),
        ("java_gateway", "get_gateway", THERE),
        ("datastream.window", "PurgingTrigger.__init__", THERE),
        ("datastream.state", "StateDescriptor.__init__", DEVIATES),
        ("common.job_client", "JobClient.trigger_savepoint", THERE),
        ("datastream.utils", "ResultTypeQueryable", NOT_THERE),
        ("datastream.utils", "ResultTypeQueryable.get_produced_type", NOT_THERE),
        ("util.java_utils", "to_jarray", THERE),
        ("util.java_utils", "load_java_class", NOT_THERE),
    ],
)
def test_a_status(module: str, path: str, wanted: str) -> None:
    assert status(NAMES[module, path]) == wanted


def test_every_status_is_of_many() -> None:
    counts = Counter(status(name) for name in read() if name.kind != "import")
    assert counts[THERE] > 500
    assert counts[NOT_THERE] > 100
    assert counts[DEVIATES] > 5


def test_what_programs_use_is_there() -> None:
    """All of P0 and P1, but for what cannot mean anything where a job is bounded."""
    others = {n.path: status(n) for n in read() if n.priority in ("P0", "P1") and n.kind != "import"}
    assert {path: state for path, state in others.items() if state != THERE} == {
        "StateDescriptor.__init__": DEVIATES,
    }


def test_what_is_refused_says_why() -> None:
    for name in read():
        if name.kind != "import" and status(name) == REFUSED:
            assert len(pyflink_page.summary_of(resolved(name))) > 30, name.path


def test_a_method_that_always_raises_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not there for all that it has the name."""
    name = Name("2.3", "pyflink.common.types", "Row.fly", "method", "")
    from typing import NoReturn

    from penstock.common import Row

    def fly(self: Row) -> NoReturn:
        raise NotImplementedError

    assert status(name) == NOT_THERE
    pyflink_page.status.cache_clear()
    resolved.cache_clear()
    monkeypatch.setattr(Row, "fly", fly, raising=False)
    assert resolved(name) is fly
    assert status(name) == REFUSED
    pyflink_page.status.cache_clear()
    resolved.cache_clear()
