"""A partitioner of one's own that is given negative numbers, texts and parts of rows."""

from pyflink.common import Row, Types
from pyflink.datastream import MapFunction, StreamExecutionEnvironment
from pyflink.datastream.functions import KeySelector, Partitioner


class Subtask(MapFunction):
    def open(self, runtime_context):
        self.subtask = runtime_context.get_index_of_this_subtask()

    def map(self, value):
        return f"{value} in {self.subtask}"


class Modulo(Partitioner):
    def partition(self, key, num_partitions):
        return key % num_partitions


class Length(Partitioner):
    def partition(self, key, num_partitions):
        return len(key) % num_partitions


class City(KeySelector):
    def get_key(self, value):
        return value.city


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(3)
    numbers = env.from_collection([-7, -3, -1, 0, 2, 4], type_info=Types.INT())
    text = Types.STRING()
    numbers.partition_custom(Modulo(), lambda value: value).map(Subtask(), text).set_parallelism(3).map(
        lambda line: f"number {line}", text
    ).print()
    numbers.partition_custom(lambda key, n: 0 if key < 0 else n - 1, lambda value: value).map(Subtask(), text).print(
        "sign"
    )
    city = Types.ROW_NAMED(["city", "people"], [Types.STRING(), Types.LONG()])
    cities = env.from_collection([Row("Rome", 3), Row("Bonn", 1), Row("Turin", 2), Row("Oslo", 1)], type_info=city)
    cities.partition_custom(Length(), City()).map(lambda row: row.city, text).map(Subtask(), text).print("cities")
    env.execute()
