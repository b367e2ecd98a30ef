"""Records to a side output by ``yield tag, value``."""

from pyflink.common import Types
from pyflink.datastream import OutputTag, ProcessFunction, StreamExecutionEnvironment

ODD = OutputTag("odd", Types.STRING())


class Split(ProcessFunction):
    def process_element(self, value, ctx: "ProcessFunction.Context"):
        if value % 2:
            yield ODD, f"odd {value}"
        else:
            yield value
        if value == 4:
            yield ODD, f"stamp {ctx.timestamp()}"


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    split = env.from_collection([1, 2, 3, 4], type_info=Types.INT()).process(Split(), output_type=Types.INT())
    split.print("even")
    split.get_side_output(ODD).print("side")
    env.execute()
