"""The job whose savepoint is beside this file, ported from Java: docs/from-flink.md has it go on from there."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.common import Types, WatermarkStrategy
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import FileSource, StreamFormat
from penstock.datastream.functions import KeyedProcessFunction, RuntimeContext
from penstock.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction[str, str, str]):
    """Counts how often a word has come, in a state of the name that the job in Java has given it."""

    def __init__(self, state: str) -> None:
        self.state = state

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor(self.state, Types.INT()))

    def process_element(self, value: str, ctx: KeyedProcessFunction.Context[str]) -> Iterator[str]:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield f"{value} {self.state} {count}"


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), "inbox").build()
words = env.from_source(files, WatermarkStrategy.no_watermarks(), "words").uid("words")
by_word = words.key_by(lambda word: word, Types.STRING())
by_word.process(Count("count"), Types.STRING()).uid("count").name("count").print()
by_word.process(Count("second"), Types.STRING()).uid("second").name("second").print()
env.execute("counts")
