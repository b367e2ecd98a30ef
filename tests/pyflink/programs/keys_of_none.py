"""None as a key: it has its state, its timers' place and its windows as any other."""

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    pairs = env.from_collection([(None, 1), ("a", 2), (None, 3), ("a", 4), (None, 5)])
    pairs.key_by(lambda pair: pair[0]).reduce(lambda x, y: (x[0], x[1] + y[1])).print("reduced")
    pairs.key_by(lambda pair: pair[0], key_type=Types.STRING()).reduce(lambda x, y: (y[0], x[1] + y[1])).print(
        "declared"
    )
    pairs.key_by(lambda pair: pair[0]).count_window(2).reduce(lambda x, y: (x[0], x[1] * y[1])).print("windows")
    env.execute()
