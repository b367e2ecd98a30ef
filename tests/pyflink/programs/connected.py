"""Two streams of two types as one: co-map, co-flat-map, and a process function with shared state."""

from pyflink.common import Types
from pyflink.datastream import CoFlatMapFunction, CoMapFunction, StreamExecutionEnvironment
from pyflink.datastream.functions import KeyedCoProcessFunction, RuntimeContext
from pyflink.datastream.state import ValueStateDescriptor


class Texts(CoMapFunction):
    def map1(self, value):
        return f"number {value}"

    def map2(self, value):
        return f"word {value}"


class Parts(CoFlatMapFunction):
    def flat_map1(self, value):
        yield from range(value)

    def flat_map2(self, value):
        yield value.upper()


class Matched(KeyedCoProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.left = runtime_context.get_state(ValueStateDescriptor("left", Types.INT()))
        self.right = runtime_context.get_state(ValueStateDescriptor("right", Types.STRING()))

    def process_element1(self, value, ctx: "KeyedCoProcessFunction.Context"):
        self.left.update(value[1])
        if self.right.value() is not None:
            yield ctx.get_current_key(), value[1], self.right.value()

    def process_element2(self, value, ctx: "KeyedCoProcessFunction.Context"):
        self.right.update(value[1])
        if self.left.value() is not None:
            yield ctx.get_current_key(), self.left.value(), value[1]


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    numbers = env.from_collection([1, 2], type_info=Types.INT())
    words = env.from_collection(["a", "b"], type_info=Types.STRING())
    numbers.connect(words).map(Texts(), output_type=Types.STRING()).print("map")
    numbers.connect(words).flat_map(Parts()).print("flat map")
    left = env.from_collection([("x", 1), ("y", 2)], type_info=Types.TUPLE([Types.STRING(), Types.INT()]))
    right = env.from_collection([("y", "b"), ("x", "a")], type_info=Types.TUPLE([Types.STRING(), Types.STRING()]))
    pairs = left.key_by(lambda v: v[0], key_type=Types.STRING()).connect(right.key_by(lambda v: v[0], Types.STRING()))
    pairs.process(Matched()).print("matched")
    env.execute()
