"""Objects as records of a declared map."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from penstock.common import Row, Types
from penstock.datastream import StreamExecutionEnvironment
from penstock.errors import TypeInfoError

TEXTS = Types.MAP(Types.STRING(), Types.STRING())


class Station:
    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)


def collected(records: list[Any], type_info: Any) -> list[Any]:
    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    return list(env.from_collection(records, type_info=type_info).execute_and_collect())


def test_attributes_are_entries() -> None:
    assert collected([Station(name="quay"), {"name": "mill"}, Station()], TEXTS) == [
        {"name": "quay"},
        {"name": "mill"},
        {},
    ]


def test_so_they_are_inside_other_values() -> None:
    rows = Types.MAP(Types.STRING(), Types.ROW_NAMED(["level"], [Types.INT()]))
    assert collected([Station(quay={"level": 3})], rows) == [{"quay": Row(level=3)}]
    assert collected([(1, Station(a="b"))], Types.TUPLE([Types.INT(), TEXTS])) == [(1, {"a": "b"})]


@pytest.mark.parametrize("record", [MappingProxyType({"a": "b"}), Station, "quay", Station(level=3)])
def test_what_is_no_map_is_refused(record: object) -> None:
    with pytest.raises(TypeInfoError, match="from_collection"):
        collected([record], TEXTS)
