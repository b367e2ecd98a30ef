"""Objects with attributes as records of a declared map."""

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment


class Station:
    def __init__(self, name, level):
        self.name, self.level = name, level


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    texts = Types.MAP(Types.STRING(), Types.STRING())
    stations = env.from_collection([Station("quay", "3"), Station("mill", "5")], type_info=texts)
    stations.map(lambda each: (each["name"], each["level"], type(each).__name__, sorted(each))).print("direct")
    stations.print("printed")
    inner = env.from_collection([(1, Station("quay", "3"))], type_info=Types.TUPLE([Types.INT(), texts]))
    inner.map(lambda each: sorted(each[1].items())).print("inner")
    env.execute()
