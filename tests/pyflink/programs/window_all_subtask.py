"""Which subtask the windows over a whole stream are in."""

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.window import CountTumblingWindowAssigner

if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    env.set_parallelism(4)
    numbers = env.from_collection([1, 2, 3, 4], type_info=Types.INT())
    windows = numbers.window_all(CountTumblingWindowAssigner.of(2))
    windows.reduce(lambda x, y: x + y).print("windows")
    env.execute()
