"""Which subtask sees which key: texts, numbers, tuples, dates, of declared types and not."""

import datetime

from pyflink.common import Types
from pyflink.datastream import MapFunction, StreamExecutionEnvironment


class Subtask(MapFunction):
    def open(self, runtime_context):
        self.index = runtime_context.get_index_of_this_subtask()
        self.count = runtime_context.get_number_of_parallel_subtasks()

    def map(self, value):
        return value, self.index, self.count


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(4)
    words = env.from_collection(["a", "b", "c", "hello", "world", "", "é"], type_info=Types.STRING())
    words.key_by(lambda word: word, key_type=Types.STRING()).map(Subtask()).print("declared")
    words.key_by(lambda word: word).map(Subtask()).print("not declared")
    words.key_by(lambda word: (word, len(word))).map(Subtask()).print("tuple")
    numbers = env.from_collection([0, 1, 2, 3, 100, -5], type_info=Types.INT())
    numbers.key_by(lambda number: number, key_type=Types.INT()).map(Subtask()).print("int")
    numbers.key_by(lambda number: number / 2, key_type=Types.DOUBLE()).map(Subtask()).print("double")
    numbers.key_by(lambda number: number > 2, key_type=Types.BOOLEAN()).map(Subtask()).print("boolean")
    numbers.key_by(lambda number: datetime.date.fromordinal(number + 10)).map(Subtask()).print("date")
    pair = Types.TUPLE([Types.INT(), Types.STRING()])
    numbers.key_by(lambda number: (number, str(number)), key_type=pair).map(Subtask()).print("typed tuple")
    env.execute()
