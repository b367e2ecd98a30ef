"""BATCH mode without a parallelism: one subtask is enough for little data, so nothing stands before what is printed."""

from pyflink.common import Types
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment

if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    numbers = env.from_collection([1, 2, 3, 4, 5], type_info=Types.INT())
    numbers.print()
    numbers.map(lambda value: (value % 2, value), Types.TUPLE([Types.INT(), Types.INT()])).key_by(
        lambda pair: pair[0], key_type=Types.INT()
    ).sum(1).print("sums")
    env.execute()
