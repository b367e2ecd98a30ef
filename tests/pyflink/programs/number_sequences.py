"""A source of numbers, with watermarks."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.number_seq import NumberSequenceSource

if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    source = NumberSequenceSource(1, 6)
    numbers = env.from_source(source, WatermarkStrategy.for_monotonous_timestamps(), "numbers", Types.LONG())
    numbers.filter(lambda x: x % 2 == 0).print("even")
    numbers.key_by(lambda x: x % 3, key_type=Types.LONG()).reduce(lambda x, y: x + y).print("sums")
    env.execute()
