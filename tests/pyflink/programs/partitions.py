"""How records are dealt out: by a partitioner of one's own, to all, to the first."""

from pyflink.common import Types
from pyflink.datastream import MapFunction, StreamExecutionEnvironment
from pyflink.datastream.functions import Partitioner


class Subtask(MapFunction):
    def open(self, runtime_context):
        self.subtask = runtime_context.get_index_of_this_subtask()
        self.subtasks = runtime_context.get_number_of_parallel_subtasks()

    def map(self, value):
        return f"{value} in {self.subtask} of {self.subtasks}"


class Modulo(Partitioner):
    def partition(self, key, num_partitions):
        return key % num_partitions


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    numbers = env.from_collection([1, 2, 3, 4, 5], type_info=Types.INT())
    text = Types.STRING()
    numbers.partition_custom(Modulo(), lambda value: value).map(Subtask(), text).print("class")
    numbers.partition_custom(lambda key, n: (key + 1) % n, lambda value: value).map(Subtask(), text).print("lambda")
    numbers.broadcast().map(Subtask(), text).print("broadcast")
    numbers.key_by(lambda value: value % 2, key_type=Types.INT()).map(lambda value: value % 2).print("key")
    env.execute()
