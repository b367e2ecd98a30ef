"""Windows by count: full ones, and PyFlink's own way with a slide."""

from collections.abc import Iterable

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment, WindowFunction
from pyflink.datastream.window import CountWindow


class Listed(WindowFunction[tuple, tuple, str, CountWindow]):
    def apply(self, key: str, window: CountWindow, inputs: Iterable[tuple]):
        yield key, [value[0] for value in inputs]


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    numbers = [(i, "even" if i % 10 == 0 else "odd") for i in range(1, 9)]
    stream = env.from_collection(numbers, type_info=Types.TUPLE([Types.INT(), Types.STRING()]))
    keyed = stream.key_by(lambda value: value[1])
    keyed.count_window(3).apply(Listed()).print("3")
    keyed.count_window(5, 2).apply(Listed()).print("5 by 2")
    keyed.count_window(2, 3).apply(Listed()).print("2 by 3")
    keyed.count_window(2, 2).apply(Listed()).print("2 by 2")
    env.execute()
