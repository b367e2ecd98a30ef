"""Reducing, aggregating, list and map state."""

from pyflink.common import Types
from pyflink.datastream import AggregateFunction, KeyedProcessFunction, ReduceFunction, StreamExecutionEnvironment
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
)


class Add(ReduceFunction):
    def reduce(self, value1, value2):
        return value1 + value2


class Joined(AggregateFunction):
    def create_accumulator(self):
        return ""

    def add(self, value, accumulator):
        return f"{accumulator}{value}"

    def get_result(self, accumulator):
        return f"<{accumulator}>"

    def merge(self, a, b):
        return a + b


class Kinds(KeyedProcessFunction):
    def open(self, runtime_context):
        self.sum = runtime_context.get_reducing_state(ReducingStateDescriptor("sum", Add(), Types.INT()))
        self.text = runtime_context.get_aggregating_state(AggregatingStateDescriptor("text", Joined(), Types.STRING()))
        self.last = runtime_context.get_list_state(ListStateDescriptor("last", Types.INT()))
        self.counts = runtime_context.get_map_state(MapStateDescriptor("counts", Types.INT(), Types.INT()))

    def process_element(self, value, ctx):
        self.sum.add(value)
        self.text.add(value)
        self.last.add_all([value, value])
        self.last.update(list(self.last)[-3:])
        self.counts.put(value, (self.counts.get(value) or 0) + 1 if self.counts.contains(value) else 1)
        if value == 4:
            self.counts.remove(2)
        yield (
            self.sum.get(),
            self.text.get(),
            list(self.last.get()),
            sorted(self.counts.items()),
            sorted(self.counts.values()),
            self.counts.is_empty(),
        )
        if value == 5:
            self.sum.clear()
            self.counts.clear()
            yield self.sum.get(), self.counts.is_empty(), list(self.counts.keys())


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    numbers = env.from_collection([2, 3, 4, 5, 2], type_info=Types.INT())
    numbers.key_by(lambda value: value % 2, key_type=Types.INT()).process(Kinds()).print()
    env.execute()
