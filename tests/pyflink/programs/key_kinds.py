"""Keys of many kinds, and what a process function sees of them."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, KeySelector, StreamExecutionEnvironment


class Second(KeySelector):
    def get_key(self, value):
        return value[1]


class Keys(KeyedProcessFunction):
    def __init__(self, name):
        self.name = name

    def process_element(self, value, ctx):
        key = ctx.get_current_key()
        yield f"{self.name} {type(key).__name__} {key} {value[0]}"


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    triple = Types.ROW([Types.STRING(), Types.INT(), Types.BOOLEAN()])
    stream = env.from_collection([("a", 1, True), ("b", 2, False), ("c", 1, True)], type_info=triple)
    text, number = Types.STRING(), Types.INT()
    stream.key_by(Second(), key_type=number).process(Keys("class"), text).print()
    stream.key_by(lambda v: v[0]).process(Keys("text"), text).print()
    stream.key_by(lambda v: v[2], key_type=Types.BOOLEAN()).process(Keys("truth"), text).print()
    stream.key_by(lambda v: (v[1], v[2])).process(Keys("tuple"), text).print()
    stream.key_by(lambda v: v[1] / 2, key_type=Types.DOUBLE()).process(Keys("double"), text).print()
    env.execute()
