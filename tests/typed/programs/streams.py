"""What the methods of streams give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from typing_extensions import assert_type

from penstock.common import Duration, OutputTag, Row, Types, WatermarkStrategy
from penstock.common.contexts import Context
from penstock.datastream import (
    AsyncDataStream,
    AsyncFunction,
    AsyncRetryStrategy,
    BroadcastConnectedStream,
    BroadcastStream,
    CachedDataStream,
    CloseableIterator,
    CoMapFunction,
    ConnectedStreams,
    DataStream,
    DataStreamSink,
    DataStreamSource,
    DataStreamUtils,
    FlatMapFunction,
    IterativeStream,
    KeyedCoProcessFunction,
    KeyedStream,
    KeySelector,
    MapFunction,
    MapStateDescriptor,
    ProcessFunction,
    ReduceFunction,
    SinkFunction,
    SourceFunction,
    StreamExecutionEnvironment,
)
from penstock.datastream import SingleOutputStreamOperator as Operator

env = StreamExecutionEnvironment.get_execution_environment(executor="local").set_parallelism(2)
assert_type(env, StreamExecutionEnvironment)

# --- sources
words = env.from_collection(["a", "b"], type_info=Types.STRING())
assert_type(words, DataStreamSource[str])
assert_type(env.from_collection([("a", 1)], Types.ROW([Types.STRING(), Types.INT()])), DataStreamSource[Row])
assert_type(env.generate_sequence(1, 3), DataStreamSource[int])
assert_type(env.read_text_file("lines.txt").set_parallelism(3).name("lines"), DataStreamSource[str])


class Numbers(SourceFunction[int]):
    def run(self, ctx: SourceFunction.SourceContext[int]) -> None:
        ctx.collect(1)
        ctx.collect_with_timestamp(2, 2_000)


assert_type(env.add_source(Numbers()), DataStreamSource[int])


# --- one record after the other
class Length(MapFunction[str, int]):
    def map(self, word: str) -> int:
        return len(word)


class Letters(FlatMapFunction[str, str]):
    def flat_map(self, word: str) -> Iterator[str]:
        yield from word


def pair(word: str) -> tuple[str, int]:
    return word, 1


assert_type(words.map(len), Operator[int])
assert_type(words.map(len, output_type=Types.LONG()), Operator[int])
assert_type(words.map(Length()), Operator[int])
assert_type(words.map(str.upper).set_parallelism(2).uid("upper"), Operator[str])
assert_type(words.map(lambda word: word.split(",")), Operator[list[str]])
assert_type(words.flat_map(Letters()), Operator[str])
assert_type(words.flat_map(str.split), Operator[str])
assert_type(words.flat_map(lambda word: (len(word), len(word))), Operator[int])
assert_type(words.filter(str.isdigit), Operator[str])
assert_type(words.map(len).union(env.generate_sequence(1, 2)), DataStream[int])
assert_type(words.rebalance(), DataStream[str])
assert_type(words.partition_custom(lambda key, n: key % n, len), DataStream[str])
assert_type(words.iterate(), IterativeStream[str])
pairs = words.map(pair)
assert_type(pairs.project(1), Operator[tuple[Any, ...]])

# --- process functions and side outputs
late = OutputTag("late", Types.STRING())
assert_type(late, OutputTag[str])
assert_type(OutputTag("rows", [Types.STRING()]), OutputTag[Row])


class Split(ProcessFunction[str, int]):
    def process_element(self, word: str, ctx: ProcessFunction.Context) -> Iterator[int | tuple[OutputTag[str], str]]:
        assert_type(ctx.timestamp(), int | None)
        assert_type(ctx.timer_service().current_watermark(), int)
        yield len(word)
        yield late, word


def split(word: str, ctx: Context) -> Iterator[int]:
    yield len(word)


assert_type(words.process(Split()), Operator[int])
assert_type(words.process(split), Operator[int])
assert_type(words.process(Split()).get_side_output(late), DataStream[str])


# --- keys
class First(KeySelector[str, str]):
    def get_key(self, word: str) -> str:
        return word[0]


class Sum(ReduceFunction[tuple[str, int]]):
    def reduce(self, one: tuple[str, int], other: tuple[str, int]) -> tuple[str, int]:
        return one[0], one[1] + other[1]


keyed = pairs.key_by(lambda pair: pair[0], key_type=Types.STRING())
assert_type(keyed, KeyedStream[tuple[str, int], str])
assert_type(words.key_by(First(), Types.STRING()), KeyedStream[str, str])
assert_type(pairs.key_by(0), KeyedStream[tuple[str, int], tuple[Any, ...]])
assert_type(DataStreamUtils.reinterpret_as_keyed_stream(words, len), KeyedStream[str, int])
assert_type(keyed.reduce(Sum()), Operator[tuple[str, int]])
assert_type(keyed.reduce(lambda a, b: (a[0], a[1] + b[1])), Operator[tuple[str, int]])
assert_type(words.map(lambda w: (w, 1)).key_by(First.__name__).reduce(Sum()), Operator[tuple[str, int]])
assert_type(keyed.sum(1), Operator[tuple[str, int]])
assert_type(keyed.max_by(1), Operator[tuple[str, int]])
assert_type(keyed.fold("", lambda so_far, pair: so_far + pair[0]), Operator[str])

# --- time
bounded = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(2))
assert_type(bounded, WatermarkStrategy[object])
pairs.assign_timestamps_and_watermarks(
    bounded.with_idleness(Duration.of_seconds(9)).with_timestamp_assigner(lambda pair, _: pair[1])
)
assert_type(
    pairs.assign_timestamps_and_watermarks(
        WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda pair, _: pair[1])
    ),
    Operator[tuple[str, int]],
)


# --- two streams
class Either(CoMapFunction[str, int, float]):
    def map1(self, word: str) -> float:
        return float(word)

    def map2(self, number: int) -> float:
        return float(number)


class Both(KeyedCoProcessFunction[str, str, tuple[str, int], str]):
    def process_element1(self, word: str, ctx: KeyedCoProcessFunction.Context[str]) -> Iterator[str]:
        yield ctx.get_current_key()

    def process_element2(self, pair: tuple[str, int], ctx: KeyedCoProcessFunction.Context[str]) -> Iterator[str]:
        yield pair[0]


connected = words.connect(words.map(len))
assert_type(connected, ConnectedStreams[str, int])
assert_type(connected.map(Either()), Operator[float])
assert_type(
    words.connect(pairs).key_by(lambda word: word, lambda pair: pair[0], Types.STRING()).process(Both()), Operator[str]
)

rules = MapStateDescriptor("rules", Types.STRING(), Types.INT())
assert_type(rules, MapStateDescriptor[str, int])
assert_type(pairs.broadcast(), DataStream[tuple[str, int]])
assert_type(pairs.broadcast(rules), BroadcastStream[tuple[str, int]])
assert_type(words.connect(pairs.broadcast(rules)), BroadcastConnectedStream[str, tuple[str, int]])


# --- ends
class Ask(AsyncFunction[str, int]):
    async def async_invoke(self, word: str) -> list[int]:
        return [len(word)]


class Rows(SinkFunction[str]):
    rows = 0

    def invoke(self, word: str) -> None:
        self.rows += len(word)


class Out(SinkFunction[str]):
    def invoke(self, word: str, context: SinkFunction.Context) -> None:
        print(word, context.timestamp())


assert_type(AsyncDataStream.unordered_wait(words, Ask(), timeout=1_000), Operator[int])
failing = AsyncRetryStrategy.fixed_delay(3, 10, None, lambda error: isinstance(error, OSError))
asked = AsyncDataStream.ordered_wait_with_retry(words, Ask(), 1_000, failing, output_type=Types.INT())
assert_type(asked, Operator[int])


def is_empty(lengths: list[int]) -> bool:
    return not lengths


empty = AsyncRetryStrategy.exponential_backoff(3, 10, 100, 1.5, is_empty)
assert_type(AsyncDataStream.unordered_wait_with_retry(words, Ask(), 1_000, empty), Operator[int])
never = AsyncRetryStrategy.no_restart()
assert_type(AsyncDataStream.unordered_wait_with_retry(words, Ask(), 1_000, never), Operator[int])
assert_type(words.print(), DataStreamSink[str])
assert_type(words.add_sink(Out()).name("out").set_parallelism(1), DataStreamSink[str])
assert_type(words.add_sink(Rows()), DataStreamSink[str])
assert_type(pairs.cache(), CachedDataStream[tuple[str, int]])
assert_type(pairs.cache().map(lambda pair: pair[1]), Operator[int])
assert_type(pairs.execute_and_collect(), CloseableIterator[tuple[str, int]])
assert_type(pairs.execute_and_collect(limit=3), list[tuple[str, int]])
assert_type(list(words.map(len).execute_and_collect()), list[int])
