"""What functions print arrives where the program prints."""

from pyflink.common import Types
from pyflink.datastream import MapFunction, StreamExecutionEnvironment


class Loud(MapFunction):
    def open(self, runtime_context):
        print("open", runtime_context.get_index_of_this_subtask())

    def map(self, value):
        print("map", value)
        return value + 1

    def close(self):
        print("close")


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    env.from_collection([1, 2, 3], type_info=Types.INT()).map(Loud(), output_type=Types.INT()).print()
    env.execute()
