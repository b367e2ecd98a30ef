"""Sums per key by value state in a flat map and in a process function."""

from pyflink.common import Time, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import FlatMapFunction, KeyedProcessFunction, RuntimeContext
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor

assert Time is not None


class SumOfTwo(FlatMapFunction):
    def __init__(self):
        self.sum = None

    def open(self, runtime_context: RuntimeContext):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.TUPLE([Types.LONG(), Types.LONG()])))

    def flat_map(self, value):
        count, total = self.sum.value() or (0, 0)
        count, total = count + 1, total + value[1]
        if count == 2:
            self.sum.clear()
            yield value[0], total // count
        else:
            self.sum.update((count, total))


class Collected(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.all = runtime_context.get_list_state(ListStateDescriptor("all", Types.LONG()))
        self.seen = runtime_context.get_map_state(MapStateDescriptor("seen", Types.LONG(), Types.BOOLEAN()))

    def process_element(self, value, ctx: "KeyedProcessFunction.Context"):
        self.all.add(value[1])
        known = self.seen.contains(value[1])
        self.seen.put(value[1], True)
        yield ctx.get_current_key(), list(self.all.get()), known, sorted(self.seen.keys())


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    pairs = [(1, 3), (1, 5), (2, 7), (1, 7), (1, 4), (2, 7)]
    stream = env.from_collection(pairs, type_info=Types.TUPLE([Types.LONG(), Types.LONG()]))
    keyed = stream.key_by(lambda pair: pair[0], key_type=Types.LONG())
    keyed.flat_map(SumOfTwo(), output_type=Types.TUPLE([Types.LONG(), Types.LONG()])).print("two")
    keyed.process(Collected()).print("all")
    env.execute("state access")
