"""Programs with asynchronous calls, some of which are under way when the savepoint is taken."""

from __future__ import annotations

from penstock.common import Time, Types
from penstock.datastream import AsyncDataStream, AsyncFunction
from tests.moves.programs.table import INT, STRING, program

SQUARED = Types.TUPLE([STRING, INT])
CAPACITY = 100


class Square(AsyncFunction):
    async def async_invoke(self, value):
        return [(value[0], value[1] * value[1])]


@program
def async_ordered(env, records):
    return AsyncDataStream.ordered_wait(records, Square(), Time.hours(1), CAPACITY, SQUARED).uid("square")


@program
def async_unordered(env, records):
    return AsyncDataStream.unordered_wait(records, Square(), Time.hours(1), CAPACITY, SQUARED).uid("square")
