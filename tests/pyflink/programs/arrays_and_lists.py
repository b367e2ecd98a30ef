"""Arrays, lists and maps of declared types behind an exchange, None in them where it may be."""

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)

    def through(name, type_info, value):
        made = env.from_collection([0], type_info=Types.INT()).map(lambda _: value, output_type=type_info)
        made.rebalance().map(repr).print(name)

    through("primitive", Types.PRIMITIVE_ARRAY(Types.INT()), [1.5, True])
    through("floats", Types.PRIMITIVE_ARRAY(Types.FLOAT()), [110.1])
    through("booleans", Types.PRIMITIVE_ARRAY(Types.BOOLEAN()), [True, False])
    through("bytes", Types.PRIMITIVE_ARRAY(Types.BYTE()), b"a\xff")
    through("bytearray", Types.PRIMITIVE_ARRAY(Types.BYTE()), bytearray(b"ab"))
    through("boxed", Types.BASIC_ARRAY(Types.INT()), [1, None, 2.5])
    through("texts", Types.BASIC_ARRAY(Types.STRING()), ["a", None])
    through("objects", Types.OBJECT_ARRAY(Types.INT()), [1, None])
    through("rows", Types.OBJECT_ARRAY(Types.ROW_NAMED(["a"], [Types.INT()])), [Row(1), None])
    through("list", Types.LIST(Types.INT()), [1, 2.5])
    through("lists", Types.LIST(Types.LIST(Types.FLOAT())), [[110.1], []])
    through("map", Types.MAP(Types.STRING(), Types.INT()), {"a": 1.5})
    through("map with none", Types.MAP(Types.STRING(), Types.INT()), {"a": None})
    through("map of maps", Types.MAP(Types.INT(), Types.MAP(Types.INT(), Types.FLOAT())), {1: {2: 110.1}})
    fields = [Types.INT(), Types.FLOAT(), Types.LIST(Types.INT()), Types.SQL_DATE(), Types.BOOLEAN()]
    through("row of nones", Types.ROW(fields), Row(None, None, None, None, None))
    env.execute()
