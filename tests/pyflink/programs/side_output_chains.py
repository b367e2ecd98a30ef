"""Side outputs of what came by a side output: records sorted out in three steps, some to two places."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, OutputTag, ProcessFunction, StreamExecutionEnvironment

EVEN = OutputTag("even", Types.INT())
FOURTH = OutputTag("fourth", Types.INT())
NOTES = OutputTag("notes", Types.STRING())
MANY = OutputTag("many", Types.TUPLE([Types.INT(), Types.INT()]))


class Even(ProcessFunction):
    def process_element(self, value, ctx):
        yield (EVEN, value) if value % 2 == 0 else value


class Fourth(ProcessFunction):
    def process_element(self, value, ctx):
        if value % 4 == 0:
            yield FOURTH, value
            yield NOTES, f"{value} is a multiple of four"
        else:
            yield value


class Sizes(KeyedProcessFunction):
    def process_element(self, value, ctx):
        if value > 10:
            yield MANY, (ctx.get_current_key(), value)
        yield value


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    odd = env.from_collection(list(range(1, 17)), type_info=Types.INT()).process(Even(), Types.INT())
    even = odd.get_side_output(EVEN).process(Fourth(), Types.INT())
    fourth = even.get_side_output(FOURTH)
    sizes = fourth.union(odd).key_by(lambda value: value % 3, Types.INT()).process(Sizes(), Types.INT())
    even.print("even")
    even.get_side_output(NOTES).print("notes")
    fourth.map(lambda value: value // 4, Types.INT()).print("quarters")
    sizes.get_side_output(MANY).print("many")
    sizes.filter(lambda value: value < 4).print("few")
    env.execute()
