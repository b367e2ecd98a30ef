"""Functions: of the wrong kind, not called, called too early, of the wrong number of arguments."""

from __future__ import annotations

from penstock.common import Types
from penstock.datastream import AsyncDataStream, AsyncRetryStrategy, ListStateDescriptor
from penstock.errors import InvalidProgramError as P
from penstock.errors import MissingMethodError as M
from penstock.errors import TypeInfoError as T
from penstock.runtime.operators.elementwise import StreamMap
from tests.datastream.wrong_calls.world import (
    PAIR,
    Both,
    Counting,
    Empty,
    Greedy,
    Mapper,
    Mean,
    Passing,
    Reducer,
    RichReducer,
    Shown,
    Shy,
)

ROWS = [
    ("map: none", lambda w: w.pairs.map(None), P, "map"),
    ("map: text", lambda w: w.pairs.map("upper"), P, "map"),
    ("map: number", lambda w: w.pairs.map(3), P, "map"),
    ("map: class", lambda w: w.pairs.map(Mapper), P, "map"),
    ("map: class of nothing", lambda w: w.pairs.map(Empty), P, "map"),
    ("map: object of nothing", lambda w: w.pairs.map(Empty()), P, "map"),
    ("map: reducer", lambda w: w.pairs.map(Reducer()), P, "map"),
    ("map: process function", lambda w: w.pairs.map(Passing()), P, "map"),
    ("map: list", lambda w: w.pairs.map([len]), P, "map"),
    ("map: no argument", lambda w: w.pairs.map(lambda: 1), P, "map"),
    ("map: two arguments", lambda w: w.pairs.map(lambda a, b: a), P, "map"),
    ("map: keyword-only", lambda w: w.pairs.map(lambda a, *, b: a), P, "map"),
    ("map: method of no argument", lambda w: w.pairs.map(Shy()), P, "map"),
    ("filter: two arguments", lambda w: w.pairs.filter(lambda a, b: True), P, "filter"),
    ("filter: bool", lambda w: w.pairs.filter(True), P, "filter"),
    ("filter: none", lambda w: w.pairs.filter(None), P, "filter"),
    ("flat_map: no argument", lambda w: w.pairs.flat_map(lambda: [1]), P, "flat_map"),
    ("flat_map: mapper", lambda w: w.pairs.flat_map(Mapper()), P, "flat_map"),
    ("flat_map: generator", lambda w: w.pairs.flat_map(x for x in [1]), P, "flat_map"),
    ("process: no context", lambda w: w.pairs.process(lambda v: [v]), P, "process"),
    ("process: class", lambda w: w.pairs.process(Passing), P, "process"),
    ("process: mapper", lambda w: w.pairs.process(Mapper()), P, "process"),
    ("process: keyed on plain", lambda w: w.pairs.process(Counting()), P, "process"),
    ("process: collector of 1.9", lambda w: w.pairs.process(Greedy()), P, "process"),
    ("keyed process: object", lambda w: w.keyed.process(Empty()), P, "process"),
    ("keyed process: three arguments", lambda w: w.keyed.process(lambda a, b, c: a), P, "process"),
    ("reduce: one argument", lambda w: w.keyed.reduce(lambda a: a), P, "reduce"),
    ("reduce: three arguments", lambda w: w.keyed.reduce(lambda a, b, c: a), P, "reduce"),
    ("reduce: none", lambda w: w.keyed.reduce(None), P, "reduce"),
    ("reduce: mapper", lambda w: w.keyed.reduce(Mapper()), P, "reduce"),
    ("reduce: not keyed", lambda w: w.pairs.reduce(max), M, "reduce"),
    ("fold: one argument", lambda w: w.keyed.fold(0, lambda a: a), P, "fold"),
    ("fold: swapped", lambda w: w.keyed.fold(lambda a, b: a, 0), P, "fold"),
    ("key_by: none", lambda w: w.pairs.key_by(None), P, "key_by"),
    ("key_by: two arguments", lambda w: w.pairs.key_by(lambda a, b: a), P, "key_by"),
    ("key_by: no argument", lambda w: w.pairs.key_by(lambda: 1), P, "key_by"),
    ("key_by: list", lambda w: w.pairs.key_by([0, 1]), P, "key_by"),
    ("key_by: tuple", lambda w: w.pairs.key_by((0, 1)), P, "key_by"),
    ("key_by: bool", lambda w: w.pairs.key_by(True), P, "key_by"),
    ("key_by: float", lambda w: w.pairs.key_by(1.0), P, "key_by"),
    ("key_by: mapper", lambda w: w.pairs.key_by(Mapper()), P, "key_by"),
    ("partition_custom: swapped", lambda w: w.pairs.partition_custom(0, max), P, "partition_custom"),
    ("partition_custom: one argument", lambda w: w.pairs.partition_custom(lambda k: 0, 0), P, "partition_custom"),
    ("partition_custom: selector", lambda w: w.pairs.partition_custom(max, lambda a, b: a), P, "partition_custom"),
    ("partition_custom: none", lambda w: w.pairs.partition_custom(max, None), P, "partition_custom"),
    ("add_sink: none", lambda w: w.pairs.add_sink(None), P, "add_sink"),
    ("add_sink: path", lambda w: w.pairs.add_sink("out.txt"), P, "add_sink"),
    ("add_sink: no argument", lambda w: w.pairs.add_sink(lambda: None), P, "add_sink"),
    ("add_sink: mapper", lambda w: w.pairs.add_sink(Mapper()), P, "add_sink"),
    ("connected map: lambda", lambda w: w.both.map(lambda v: v), P, "map"),
    ("connected map: two lambdas", lambda w: w.both.map(len, len), P, "map"),
    ("connected map: mapper", lambda w: w.both.map(Mapper()), P, "map"),
    ("connected map: class", lambda w: w.both.map(Both), P, "map"),
    ("connected flat_map: CoMap", lambda w: w.both.flat_map(Both()), P, "flat_map"),
    ("connected process: process function", lambda w: w.both.process(Passing()), P, "process"),
    ("window reduce: one argument", lambda w: w.windowed.reduce(lambda a: a), P, "reduce"),
    ("window reduce: window lambda", lambda w: w.windowed.reduce(max, lambda k, v, i: i), P, "reduce"),
    ("window reduce: type as function", lambda w: w.windowed.reduce(max, int), P, "reduce"),
    ("window aggregate: lambda", lambda w: w.windowed.aggregate(max), P, "aggregate"),
    ("window aggregate: class", lambda w: w.windowed.aggregate(Mean), P, "aggregate"),
    ("window aggregate: text", lambda w: w.windowed.aggregate("sum"), P, "aggregate"),
    ("window aggregate: swapped", lambda w: w.windowed.aggregate(Mean(), Mean()), P, "aggregate"),
    ("window apply: lambda", lambda w: w.windowed.apply(lambda k, v, i: i), P, "apply"),
    ("window apply: none", lambda w: w.windowed.apply(None), P, "apply"),
    ("window apply: reducer alone", lambda w: w.windowed.apply(Reducer()), P, "apply"),
    ("window apply: two of three", lambda w: w.windowed.apply(max, Shown(), Types.INT(), Types.INT()), P, "apply"),
    ("window apply: type twice", lambda w: w.windowed.apply(Shown(), PAIR, output_type=PAIR), P, "apply"),
    ("window apply: no type", lambda w: w.windowed.apply(Shown(), 5), T, "apply"),
    ("window apply: rich reducer", lambda w: w.windowed.apply(RichReducer(), Shown()), P, "apply"),
    ("window apply: reducer of one", lambda w: w.windowed.apply(lambda a: a, Shown()), P, "apply"),
    ("connected transform: one input", lambda w: w.both.transform("t", None, StreamMap(len)), P, "transform"),
    ("connected transform: lambda", lambda w: w.both.transform("t", None, len), P, "transform"),
    ("queryable: no name", lambda w: w.keyed.as_queryable_state(None), P, "as_queryable_state"),
    ("queryable: list", lambda w: w.keyed.as_queryable_state("q", ListStateDescriptor("l")), P, "as_queryable_state"),
    ("queryable: not keyed", lambda w: w.pairs.as_queryable_state("q"), M, "as_queryable_state"),
    ("window process: process function", lambda w: w.windowed.process(Passing()), P, "process"),
    ("window process: two arguments", lambda w: w.windowed.process(lambda a, b: a), P, "process"),
    ("window process: class", lambda w: w.windowed.process(Counting), P, "process"),
    ("window fold: sessions", lambda w: w.sessions.fold(0, max), P, "fold"),
    ("async: lambda", lambda w: AsyncDataStream.ordered_wait(w.pairs, Mapper(), 1000), P, "ordered_wait"),
    ("async: no stream", lambda w: AsyncDataStream.unordered_wait([1], lambda v: [v], 1000), P, "unordered_wait"),
    ("async: timeout", lambda w: AsyncDataStream.unordered_wait(w.pairs, Async(), "1 s"), P, "unordered_wait"),
    ("async: capacity text", lambda w: AsyncDataStream.unordered_wait(w.pairs, Async(), 5, "9"), P, "unordered_wait"),
    ("retry: no strategy", lambda w: RETRIED(w.pairs, Async(), 1000, 3), P, "ordered_wait_with_retry"),
    ("retry: no timeout", lambda w: RETRIED(w.pairs, Async(), 0, ONCE), P, "ordered_wait_with_retry"),
    ("retry: lambda", lambda w: RETRIED(w.pairs, Mapper(), 1000, ONCE), P, "ordered_wait_with_retry"),
    ("retry: predicate", lambda w: AsyncRetryStrategy.fixed_delay(3, 10, True, None), P, "fixed_delay"),
    ("retry: attempts", lambda w: AsyncRetryStrategy.fixed_delay(0, 10, None, bool), P, "fixed_delay"),
    ("retry: wait", lambda w: AsyncRetryStrategy.fixed_delay(3, 0.5, None, bool), P, "fixed_delay"),
    ("retry: multiplier", lambda w: AsyncRetryStrategy.exponential_backoff(3, 1, 9, 0), P, "exponential_backoff"),
    ("retry: longest", lambda w: AsyncRetryStrategy.exponential_backoff(3, 1, 0, 2), P, "exponential_backoff"),
    ("join: one argument", lambda w: joined(w).apply(lambda a: a), P, "apply"),
    ("join: none", lambda w: joined(w).apply(None), P, "apply"),
    ("join: where two", lambda w: w.pairs.join(w.ints).where(max, 3), T, "where"),
    ("join: where selector", lambda w: w.pairs.join(w.ints).where(lambda a, b: a), P, "where"),
    ("join: equal_to none", lambda w: w.pairs.join(w.ints).where(len).equal_to(None), P, "equal_to"),
    ("type: int", lambda w: w.pairs.map(len, int), T, "map"),
    ("type: str", lambda w: w.pairs.flat_map(list, str), T, "flat_map"),
    ("type: name", lambda w: w.pairs.map(len, "INT"), T, "map"),
    ("type: list", lambda w: w.pairs.map(len, [int]), T, "map"),
    ("type: instance", lambda w: w.pairs.process(Passing(), 5), T, "process"),
    ("type: float", lambda w: w.keyed.process(Counting(), float), T, "process"),
    ("type: accumulator", lambda w: w.windowed.aggregate(Mean(), accumulator_type=float), T, "aggregate"),
    ("type: window", lambda w: w.windowed.aggregate(Mean(), output_type=bool), T, "aggregate"),
    ("type: co map", lambda w: w.both.map(Both(), dict), T, "map"),
    ("type: key", lambda w: w.pairs.key_by(len, int), T, "key_by"),
    ("type: key keyword", lambda w: w.pairs.key_by(len, key_type=str), T, "key_by"),
]


RETRIED = AsyncDataStream.ordered_wait_with_retry
ONCE = AsyncRetryStrategy.fixed_delay(1, 10, None, bool)


class Async:
    async def async_invoke(self, value):
        return [value]


def joined(w):
    from tests.datastream.wrong_calls.world import SECOND

    return w.pairs.join(w.pairs).where(len).equal_to(len).window(SECOND)
