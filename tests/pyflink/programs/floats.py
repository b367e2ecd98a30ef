"""Where a FLOAT has 32 bits: behind a source and an exchange, and not for the one function that follows."""

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)

    def typed():
        return env.from_collection([110.1, 0.5], type_info=Types.FLOAT())

    def made():
        return env.from_collection([110.1]).map(lambda x: x, output_type=Types.FLOAT())

    typed().map(repr).print("source")
    typed().map(lambda x: x, output_type=Types.FLOAT()).map(repr).print("source and map")
    made().map(repr).print("map and map")
    made().rebalance().map(repr).print("exchange")
    made().print("printed")
    pairs = env.from_collection([110.1]).map(lambda x: (x, 1), output_type=Types.TUPLE([Types.FLOAT(), Types.INT()]))
    pairs.key_by(lambda v: v[1], key_type=Types.INT()).map(repr).print("keyed")
    rows = env.from_collection([(110.1, 1)], type_info=Types.ROW([Types.FLOAT(), Types.INT()]))
    rows.map(repr).print("row")
    env.execute()
