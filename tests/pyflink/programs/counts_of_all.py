"""Windows by count over a whole stream: full ones are processed, reduced and aggregated."""

from pyflink.common import Types
from pyflink.datastream import AggregateFunction, StreamExecutionEnvironment
from pyflink.datastream.functions import AllWindowFunction, ProcessAllWindowFunction
from pyflink.datastream.window import (
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    GlobalWindows,
    PurgingTrigger,
)


class Listed(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield list(elements)


class Ends(AllWindowFunction):
    def apply(self, window, inputs):
        numbers = list(inputs)
        yield numbers[0], numbers[-1]


class Text(AggregateFunction):
    def create_accumulator(self):
        return ""

    def add(self, value, accumulator):
        return accumulator + str(value)

    def get_result(self, accumulator):
        return f"<{accumulator}>"

    def merge(self, a, b):
        return a + b


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    numbers = env.from_collection(list(range(1, 9)), type_info=Types.INT())
    threes = numbers.window_all(CountTumblingWindowAssigner.of(3))
    threes.process(Listed()).print("three")
    threes.reduce(lambda one, other: one * other).print("product")
    threes.apply(Ends()).print("ends")
    numbers.window_all(CountSlidingWindowAssigner.of(4, 2)).process(Listed()).print("sliding")
    purging = numbers.window_all(GlobalWindows.create()).trigger(PurgingTrigger.of(CountTrigger.of(2)))
    purging.aggregate(Text(), output_type=Types.STRING()).print("text")
    env.execute()
