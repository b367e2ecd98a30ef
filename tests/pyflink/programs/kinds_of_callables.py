"""What may stand for a function: lambdas, functions, partial ones, methods, classes, objects that can be called."""

import operator
from functools import partial

from pyflink.common import Types
from pyflink.datastream import FilterFunction, FlatMapFunction, MapFunction, StreamExecutionEnvironment


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, value):
        return self.factor * value

    def plus(self, value):
        return self.factor + value

    @staticmethod
    def negative(value):
        return -value

    @classmethod
    def named(cls, value):
        return f"{cls.__name__} {value}"


class Halves(MapFunction):
    def map(self, value):
        return value / 2


class Odd(FilterFunction):
    def filter(self, value):
        return value % 2 == 1


class Down(FlatMapFunction):
    def flat_map(self, value):
        yield from range(value, 0, -1)


def power(value, exponent=2):
    return value**exponent


def adder(more):
    def add(value):
        return value + more

    return add


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    numbers = env.from_collection([1, 2, 3], type_info=Types.INT())
    functions = [power, partial(power, exponent=3), adder(10), Scale(5), Scale(100).plus, Scale.negative, Scale.named]
    for index, function in enumerate([*functions, str, float, operator.neg, partial(operator.add, 7), Halves()]):
        numbers.map(function).map(repr, Types.STRING()).print(f"map {index}")
    numbers.filter(Odd()).print("filter")
    numbers.filter({2, 3}.__contains__).print("contains")
    numbers.flat_map(Down(), Types.INT()).print("flat map")
    numbers.key_by(partial(operator.mod, 6), Types.INT()).reduce(operator.add).print("reduce")
    env.execute()
