"""Programs that count by keys of other types than texts, and set a timer for each."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from penstock.common import Row, TypeInformation, Types
from penstock.datastream import KeyedProcessFunction, ValueStateDescriptor
from tests.moves.programs.table import DOUBLE, INT, LONG, PROGRAMS, STRING, Program

BOOLEAN = Types.BOOLEAN()


class Count(KeyedProcessFunction):
    def open(self, context):
        self.count = context.get_state(ValueStateDescriptor("count", LONG))

    def process_element(self, record, ctx):
        self.count.update((self.count.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(record[2] // 3000 * 3000 + 2999)
        yield ctx.get_current_key(), -1, self.count.value()

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, self.count.value()


def counted(key: Callable[..., Any], key_type: TypeInformation) -> Program:
    """A program with keys that a function makes of key, number and time."""

    def program(env: Any, records: Any) -> Any:
        keyed = records.key_by(lambda record: key(*record), key_type)
        return keyed.process(Count(), Types.TUPLE([key_type, LONG, LONG])).uid("count")

    return program


KEYS: dict[str, tuple[Callable[..., Any], TypeInformation]] = {
    "text": (lambda key, number, time: f"grün € {key}{number % 4}", STRING),
    "int": (lambda key, number, time: number - 10, INT),
    "long": (lambda key, number, time: (number - 10) * 10_000_000_000, LONG),
    "short": (lambda key, number, time: number * 100 - 1000, Types.SHORT()),
    "byte": (lambda key, number, time: number * 7 - 70, Types.BYTE()),
    "boolean": (lambda key, number, time: number % 2 == 0, BOOLEAN),
    "double": (lambda key, number, time: number / 4 - 2, DOUBLE),
    "decimal": (lambda key, number, time: Decimal(number).scaleb(-2), Types.BIG_DEC()),
    "tuple": (lambda key, number, time: (key, number % 3), Types.TUPLE([STRING, INT])),
    "nested": (
        lambda key, number, time: ((key, number % 2 == 0), time // 2000),
        Types.TUPLE([Types.TUPLE([STRING, BOOLEAN]), LONG]),
    ),
    "row": (lambda key, number, time: Row(key, number % 3), Types.ROW([STRING, INT])),
}
PROGRAMS.update({f"key_{name}": counted(*key) for name, key in KEYS.items()})
