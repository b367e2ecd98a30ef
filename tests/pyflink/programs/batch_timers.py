"""BATCH mode: one key after the other, its timers at its end; reductions once per key."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp) -> int:
        return value[1]


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    pair = Types.TUPLE([Types.STRING(), Types.INT()])
    stream = env.from_collection([("a", 3), ("b", 2), ("a", 1), ("b", 5), ("a", 2)], type_info=pair)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    keyed = stream.assign_timestamps_and_watermarks(strategy).key_by(lambda v: v[0], key_type=Types.STRING())
    keyed.sum(1).print("sum")
    keyed.max_by(1).print("max_by")
    keyed.reduce(lambda x, y: (x[0], x[1] * 10 + y[1])).print("in order")
    env.execute()
