"""The table of programs, and what they share."""

from __future__ import annotations

from collections.abc import Callable

from penstock.common import Types
from penstock.datastream import DataStream, KeyedStream, StreamExecutionEnvironment

Program = Callable[[StreamExecutionEnvironment, DataStream], DataStream]
PROGRAMS: dict[str, Program] = {}

STRING, INT, LONG, DOUBLE = Types.STRING(), Types.INT(), Types.LONG(), Types.DOUBLE()
RECORD = Types.TUPLE([STRING, INT, LONG])
READING = Types.ROW_NAMED(["name", "number", "time"], [STRING, INT, LONG])
"""What a POJO of Java becomes."""


def program(function: Program) -> Program:
    """Put a program into the table, under the name of its function."""
    PROGRAMS[function.__name__] = function
    return function


def by_key(records: DataStream) -> KeyedStream:
    return records.key_by(lambda record: record[0], key_type=STRING)
