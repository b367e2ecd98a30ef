"""Programs that an editor must refuse: each line says by which rule."""

from __future__ import annotations

from typing import IO

from penstock.common import OutputTag, Time, Types, WatermarkStrategy
from penstock.common.serialization import Encoder
from penstock.datastream import (
    KeyedProcessFunction,
    KeyedStream,
    MapFunction,
    MapStateDescriptor,
    ProcessFunction,
    ProcessWindowFunction,
    RuntimeContext,
    SinkFunction,
    StreamExecutionEnvironment,
    ValueStateDescriptor,
)
from penstock.datastream.connectors import FileSink
from penstock.datastream.window import GlobalWindow, TumblingEventTimeWindows

env = StreamExecutionEnvironment.get_execution_environment()
words = env.from_collection(["a", "b"])
numbers = env.generate_sequence(1, 3)
keyed = words.key_by(len)


def increment(number: int) -> int:
    return number + 1


def time_of(number: int, _: int | None) -> int:
    return number


class Increment(MapFunction[int, int]):
    def map(self, number: int) -> int:
        return number + 1


class OfBytes(KeyedProcessFunction[bytes, str, str]):
    def open(self, runtime_context: RuntimeContext) -> None:
        state = runtime_context.get_state(ValueStateDescriptor("n", Types.INT()))
        state.update("one")  # error: reportArgumentType
        runtime_context.get_list_state(ValueStateDescriptor("n", Types.INT()))  # error: reportArgumentType
        runtime_context.get_stat("n")  # error: reportAttributeAccessIssue

    def process_element(self, word: str, ctx: KeyedProcessFunction.Context[bytes]) -> list[str]:
        ctx.time_domain()  # error: reportAttributeAccessIssue
        ctx.timer_service().register_timer(1)  # error: reportAttributeAccessIssue
        return [ctx.get_current_key()]  # error: reportReturnType


class Wrong(MapFunction[str, int]):
    def map(self, word: str) -> str:  # error: reportIncompatibleMethodOverride
        return word


class NoElement(ProcessFunction[str, str]):
    pass


class Global(ProcessWindowFunction[str, str, int, GlobalWindow]):
    def process(self, key: int, context: ProcessWindowFunction.Context[GlobalWindow], elements: object) -> list[str]:
        return []


class OfNumbers(SinkFunction[int]):
    def invoke(self, number: int, context: SinkFunction.Context) -> None: ...


class OfNumber(Encoder[int]):
    def encode(self, number: int, stream: IO[bytes]) -> None: ...


words.map(increment)  # error: reportArgumentType
words.map(Increment())  # error: reportArgumentType
words.map(lambda word: word + 1)  # error: reportOperatorIssue
words.map(len, output_type=int)  # error: reportArgumentType
words.flat_map(len)  # error: reportArgumentType
words.filter(increment)  # error: reportArgumentType
words.key_by(increment)  # error: reportCallIssue
words.sum(0)  # error: reportAttributeAccessIssue
words.rebalance().uid("u")  # error: reportAttributeAccessIssue
words.process(NoElement())  # error: reportAbstractUsage
words.process(OfBytes())  # error: reportArgumentType
keyed.process(OfBytes())  # error: reportArgumentType
keyed.reduce(increment)  # error: reportArgumentType
keyed.window(5)  # error: reportArgumentType
keyed.window(TumblingEventTimeWindows.of(Time.seconds(1))).process(Global())  # error: reportArgumentType
keyed.window(TumblingEventTimeWindows.of(Time.seconds(1))).map(len)  # error: reportAttributeAccessIssue
words.add_sink(OfNumbers())  # error: reportArgumentType
words.sink_to(print)  # error: reportArgumentType
words.sink_to(FileSink.for_row_format("words", OfNumber()).build())  # error: reportArgumentType
words.connect([1])  # error: reportCallIssue
words.broadcast(ValueStateDescriptor("n", Types.INT()))  # error: reportArgumentType
words.map(len).get_side_output("late")  # error: reportArgumentType
strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(time_of)
words.assign_timestamps_and_watermarks(strategy)  # error: reportArgumentType
env.set_parallelism("2")  # error: reportArgumentType
env.execute_job()  # error: reportAttributeAccessIssue
tag: OutputTag[int] = OutputTag("late", Types.STRING())  # error: reportAssignmentType
rules: MapStateDescriptor[str, int] = MapStateDescriptor("r", Types.INT(), Types.INT())  # error: reportAssignmentType
by_text: KeyedStream[str, str] = keyed  # error: reportAssignmentType
rules.enable_time_to_live(5)  # error: reportArgumentType
