"""Whole numbers of declared types: they wrap out of a collection, and lose their fractions out of a function."""

from decimal import Decimal

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)

    def made(value, type_info):
        return env.from_collection([0], type_info=Types.INT()).map(lambda _: value, output_type=type_info)

    types = {"byte": Types.BYTE(), "short": Types.SHORT(), "int": Types.INT(), "long": Types.LONG()}
    collections = {"byte": [200, -129], "short": [40000, -40000], "int": [2**31, 2**40], "long": [2**40, -1]}
    for name, type_info in types.items():
        source = env.from_collection(collections[name], type_info=type_info)
        source.map(repr).print(f"{name} source")
        source.print(f"{name} printed")
        for value in (1.9, -1.9, True, Decimal("3.5"), 100):
            made(value, type_info).rebalance().map(repr).print(f"{name} of {value!r}")
        made(7.5, type_info).print(f"{name} of 7.5 printed")
    for name, value in {"double of int": 3, "double of bool": True, "double of decimal": Decimal("1.5")}.items():
        made(value, Types.DOUBLE()).rebalance().map(repr).print(name)
        made(value, Types.FLOAT()).rebalance().map(repr).print(name.replace("double", "float"))
    made(2**70, Types.DOUBLE()).print("large")
    pair = Types.TUPLE([Types.INT(), Types.DOUBLE()])
    made((1.5, 2), pair).rebalance().map(repr).print("tuple")
    made((1.5, 2), pair).print("tuple printed")
    env.execute()
