"""Programs whose state has values of many types: each record gives the value that its key had before, and leaves one
made of itself: alone, in a list with the one before, and in a map under a number."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from penstock.common import Instant, Row, TypeInformation, Types
from penstock.datastream import (
    KeyedProcessFunction,
    ListStateDescriptor,
    MapStateDescriptor,
    ValueStateDescriptor,
)
from tests.moves.programs.table import DOUBLE, INT, PROGRAMS, READING, STRING, Program, by_key


class Keep(KeyedProcessFunction):
    def __init__(self, value, value_type):
        self.value, self.value_type = value, value_type

    def open(self, context):
        self.one = context.get_state(ValueStateDescriptor("one", self.value_type))
        self.two = context.get_list_state(ListStateDescriptor("two", self.value_type))
        self.many = context.get_map_state(MapStateDescriptor("many", INT, self.value_type))

    def process_element(self, record, ctx):
        key, number, _ = record
        new = self.value(*record)
        if self.one.value() is not None:
            yield key, "one", self.one.value()
            self.two.update([self.one.value(), new])
        self.one.update(new)
        for kept in self.two.get():
            yield key, "two", kept
        before = dict(self.many.items())
        if before.get(number % 3) is not None:
            yield key, f"many {len(before)}", before[number % 3]
        self.many.put(number % 3, new)


def kept(value: Callable[..., Any], value_type: TypeInformation) -> Program:
    """A program with values that a function makes of key, number and time."""
    output = Types.TUPLE([STRING, STRING, value_type])
    return lambda env, records: by_key(records).process(Keep(value, value_type), output).uid("keep")


EPOCH = datetime(1970, 1, 1)
VALUES: dict[str, tuple[Callable[..., Any], TypeInformation]] = {
    "boolean": (lambda key, number, time: number % 3 == 0, Types.BOOLEAN()),
    "byte": (lambda key, number, time: (number * 13) % 256 - 128, Types.BYTE()),
    "short": (lambda key, number, time: number * 1000 - 10000, Types.SHORT()),
    "float": (lambda key, number, time: number / 4, Types.FLOAT()),
    "double": (lambda key, number, time: number / 7, DOUBLE),
    "integer": (lambda key, number, time: -(time**7), Types.BIG_INT()),
    "decimal": (lambda key, number, time: Decimal(time).scaleb(-(number % 5)), Types.BIG_DEC()),
    "text": (lambda key, number, time: f"€😀({key},{number},{time})", STRING),
    "instant": (lambda key, number, time: Instant.of_epoch_milli(time * 1_000_003), Types.INSTANT()),
    "date": (lambda key, number, time: date(1970, 1, 1) + timedelta(days=number * 400), Types.SQL_DATE()),
    "timestamp": (lambda key, number, time: EPOCH + timedelta(milliseconds=time * 1_000_003), Types.SQL_TIMESTAMP()),
    "bytes": (lambda key, number, time: bytes([number, 255, 0]), Types.PRIMITIVE_ARRAY(Types.BYTE())),
    "ints": (lambda key, number, time: [number, -number], Types.PRIMITIVE_ARRAY(INT)),
    "texts": (lambda key, number, time: [key, f"x{number}"], Types.BASIC_ARRAY(STRING)),
    "list": (lambda key, number, time: [key, f"y{number}"], Types.LIST(STRING)),
    "map": (lambda key, number, time: {key: number}, Types.MAP(STRING, INT)),
    "tuple": (
        lambda key, number, time: ((key, number), number / 2),
        Types.TUPLE([Types.TUPLE([STRING, INT]), DOUBLE]),
    ),
    "row": (lambda key, number, time: Row(name=key, number=number if number % 3 else None, time=time), READING),
    "pojo": (lambda key, number, time: Row(name=key, number=number, time=time), READING),
}
PROGRAMS.update({f"values_{name}": kept(*value) for name, value in VALUES.items()})
