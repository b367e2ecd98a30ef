"""A program that has changed since Flink 2.3 took a savepoint of it: docs/savepoints.md checks it."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.common import Types
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.functions import KeyedProcessFunction, RuntimeContext
from penstock.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction[str, str, tuple[str, int]]):
    """Counts how often a word has come."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.INT()))

    def process_element(self, value: str, ctx: KeyedProcessFunction.Context[str]) -> Iterator[tuple[str, int]]:
        total = (self.total.value() or 0) + 1
        self.total.update(total)
        yield value, total


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
words = env.from_collection(["to", "be", "or"], type_info=Types.STRING()).set_parallelism(1).uid("src").name("words")
counted = words.key_by(lambda word: word, Types.STRING()).process(Count(), Types.TUPLE([Types.STRING(), Types.INT()]))
counted.uid("count").name("count").print().uid("out")
env.execute("counts")
