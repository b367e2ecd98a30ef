"""A tag and a value where nobody asks for the side output, and where somebody does."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, OutputTag, ProcessFunction, StreamExecutionEnvironment

SIDE = OutputTag("side", Types.INT())
OTHER = OutputTag("other", Types.INT())


class Sides(ProcessFunction):
    def process_element(self, value, ctx):
        yield value
        yield SIDE, value * 10


class Two(ProcessFunction):
    def process_element(self, value, ctx):
        yield value
        yield SIDE, value * 10
        yield OTHER, value * 100


class Keyed(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield value
        yield SIDE, value * 10


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    numbers = env.from_collection([1, 2], type_info=Types.INT())
    numbers.process(Sides()).map(lambda value: type(value).__name__).print("unread, seen")
    read = numbers.process(Sides(), Types.INT())
    read.print("read")
    read.get_side_output(SIDE).print("side")
    numbers.key_by(lambda x: x).process(Keyed()).map(lambda value: type(value).__name__).print("keyed, unread")
    other = numbers.process(Two())
    other.map(lambda value: type(value).__name__).print("one of two")
    other.get_side_output(SIDE).print("the other")
    env.execute()
