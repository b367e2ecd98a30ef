"""BATCH mode: map, flat map, filter and reduce with state see one key after the other, each with its own."""

from pyflink.common import Configuration, Types
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.datastream.functions import FilterFunction, FlatMapFunction, MapFunction, ReduceFunction
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


class Total(MapFunction):
    def open(self, runtime_context):
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.INT()))

    def map(self, value):
        self.total.update((self.total.value() or 0) + value[1])
        return value[0], self.total.value()


class SoFar(FlatMapFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.INT()))

    def flat_map(self, value):
        self.seen.add(value[1])
        if value[1] > 1:
            yield value[0], list(self.seen.get())


class First(FilterFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_map_state(MapStateDescriptor("seen", Types.INT(), Types.BOOLEAN()))

    def filter(self, value):
        if value[1] % 2 in self.seen:
            return False
        self.seen[value[1] % 2] = True
        return True


class Counted(ReduceFunction):
    def open(self, runtime_context):
        self.calls = runtime_context.get_state(ValueStateDescriptor("calls", Types.INT()))

    def reduce(self, value1, value2):
        self.calls.update((self.calls.value() or 0) + 1)
        return value1[0], value1[1] + value2[1] + 100 * self.calls.value()


def environment():
    settings = Configuration()
    settings.set_string("python.execution-mode", "thread")
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    env.set_parallelism(1)
    return env


if __name__ == "__main__":
    env = environment()
    pairs = env.from_collection([("a", 1), ("b", 2), ("a", 3), ("c", 4), ("b", 5), ("a", 6)], type_info=PAIR)
    keyed = pairs.key_by(lambda pair: pair[0], key_type=Types.STRING())
    keyed.map(Total(), output_type=PAIR).print("map")
    keyed.flat_map(SoFar()).print("flat_map")
    keyed.filter(First()).print("filter")
    keyed.reduce(Counted()).print("reduce")
    env.execute()
