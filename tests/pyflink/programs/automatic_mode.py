"""AUTOMATIC mode: a program whose sources all end is a batch, so sums come once per key."""

from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.datastream import KeyedProcessFunction, RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.state import ValueStateDescriptor


class Last(KeyedProcessFunction):
    def open(self, runtime_context):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))

    def process_element(self, value, ctx):
        self.sum.update((self.sum.value() or 0) + value)
        ctx.timer_service().register_event_time_timer(0)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), self.sum.value()


if __name__ == "__main__":
    settings = Configuration().set_string("python.execution-mode", "thread")
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_runtime_mode(RuntimeExecutionMode.AUTOMATIC)
    env.set_parallelism(1)
    source = NumberSequenceSource(1, 10)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    keyed = numbers.key_by(lambda value: value % 3, key_type=Types.LONG())
    keyed.reduce(lambda one, other: one + other).print("reduced")
    keyed.process(Last(), Types.TUPLE([Types.LONG(), Types.LONG()])).print("timer")
    numbers.map(lambda value: (value % 2, value)).key_by(lambda pair: pair[0]).max_by(1).print("largest")
    env.execute()
