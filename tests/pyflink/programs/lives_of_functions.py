"""``open`` before the first record, ``close`` after the last, of every kind of function."""

from pyflink.common import Types
from pyflink.datastream import (
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessFunction,
    ReduceFunction,
    StreamExecutionEnvironment,
)


class Told:
    opened = 0

    def open(self, runtime_context):
        self.opened += 1


class Map(Told, MapFunction):
    def map(self, value):
        return value + self.opened


class FlatMap(Told, FlatMapFunction):
    def flat_map(self, value):
        yield from [value] * self.opened


class Filter(Told, FilterFunction):
    def filter(self, value):
        return self.opened == 1


class Process(Told, ProcessFunction):
    def process_element(self, value, ctx):
        yield value, self.opened


class KeyedProcess(Told, KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield value, self.opened


class Reduce(Told, ReduceFunction):
    def reduce(self, value1, value2):
        return value1 + value2 + 100 * self.opened


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    numbers = env.from_collection([1, 2, 3], type_info=Types.INT())
    numbers.map(Map()).print("map")
    numbers.flat_map(FlatMap()).print("flat_map")
    numbers.filter(Filter()).print("filter")
    numbers.process(Process()).print("process")
    keyed = numbers.key_by(lambda value: value % 2, key_type=Types.INT())
    keyed.process(KeyedProcess()).print("keyed process")
    keyed.reduce(Reduce()).print("reduce")
    env.execute()
