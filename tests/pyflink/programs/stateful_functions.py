"""Map, flat map, filter and reduce functions of a keyed stream with state of their own, in STREAMING mode."""

from pyflink.common import Types
from pyflink.datastream import (
    FilterFunction,
    FlatMapFunction,
    MapFunction,
    ReduceFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor


class Numbered(MapFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def map(self, value):
        self.count.update((self.count.value() or 0) + 1)
        return f"{value[0]} number {self.count.value()}"


class Changed(FilterFunction):
    def open(self, runtime_context):
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.INT()))

    def filter(self, value):
        before = self.last.value()
        self.last.update(value[1])
        return before != value[1]


class InPairs(FlatMapFunction):
    def open(self, runtime_context):
        self.waiting = runtime_context.get_list_state(ListStateDescriptor("waiting", Types.INT()))

    def flat_map(self, value):
        self.waiting.add(value[1])
        if len(pair := list(self.waiting)) == 2:
            self.waiting.clear()
            yield value[0], pair


class Larger(ReduceFunction):
    def open(self, runtime_context):
        self.calls = runtime_context.get_state(ValueStateDescriptor("calls", Types.INT()))

    def reduce(self, value1, value2):
        self.calls.update((self.calls.value() or 0) + 1)
        return value1[0], max(value1[1], value2[1]) + 100 * self.calls.value()


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    records = [("a", 1), ("b", 1), ("a", 1), ("a", 2), ("b", 3), ("a", 1), ("b", 3)]
    pairs = env.from_collection(records, type_info=Types.TUPLE([Types.STRING(), Types.INT()]))
    keyed = pairs.key_by(lambda pair: pair[0], key_type=Types.STRING())
    keyed.map(Numbered(), Types.STRING()).print("map")
    keyed.filter(Changed()).print("filter")
    keyed.flat_map(InPairs()).print("flat_map")
    keyed.reduce(Larger()).print("reduce")
    env.execute()
