"""What functions may return: generators, lists, tuples, nothing at all."""

from pyflink.common import Types
from pyflink.datastream import FlatMapFunction, KeyedProcessFunction, ProcessFunction, StreamExecutionEnvironment


class Generator(ProcessFunction):
    def process_element(self, value, ctx):
        for _ in range(value):
            yield value


class Listed(ProcessFunction):
    def process_element(self, value, ctx):
        return [value, -value]


class Sometimes(ProcessFunction):
    def process_element(self, value, ctx):
        if value == 2:
            return (value * 10, value * 100)
        return None


class Lazily(KeyedProcessFunction):
    def process_element(self, value, ctx):
        return (value + more for more in (10, 20))


class Chosen(FlatMapFunction):
    def flat_map(self, value):
        if value == 1:
            return ()
        if value == 2:
            return range(value)
        return iter("abc")


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    numbers = env.from_collection([0, 1, 2, 3], type_info=Types.INT())
    numbers.process(Generator(), Types.INT()).print("generator")
    numbers.process(Listed(), Types.INT()).print("list")
    numbers.process(Sometimes(), Types.INT()).print("sometimes")
    numbers.key_by(lambda value: value, Types.INT()).process(Lazily(), Types.INT()).print("lazily")
    numbers.flat_map(Chosen()).map(str, Types.STRING()).print("flat map")
    numbers.flat_map(lambda value: [value] * value, Types.INT()).print("lambda")
    numbers.flat_map(lambda value: {"k": 1} if value == 3 else ()).print("keys of a dict")
    numbers.map(lambda value: None if value == 1 else value).map(str, Types.STRING()).print("none")
    env.execute()
