"""What types are called where a program prints them."""

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

if __name__ == "__main__":
    number, text = Types.INT(), Types.STRING()
    for type_info in (
        text,
        number,
        Types.LONG(),
        Types.SHORT(),
        Types.BYTE(),
        Types.CHAR(),
        Types.FLOAT(),
        Types.DOUBLE(),
        Types.BOOLEAN(),
        Types.BIG_INT(),
        Types.BIG_DEC(),
        Types.SQL_DATE(),
        Types.SQL_TIME(),
        Types.SQL_TIMESTAMP(),
        Types.PICKLED_BYTE_ARRAY(),
        Types.TUPLE([text, number]),
        Types.ROW([text, number]),
        Types.ROW_NAMED(["a", "b"], [text, Types.LIST(number)]),
        Types.MAP(text, Types.TUPLE([number])),
        Types.LIST(Types.SQL_DATE()),
        Types.PRIMITIVE_ARRAY(number),
        Types.BASIC_ARRAY(number),
        Types.OBJECT_ARRAY(Types.ROW([number])),
    ):
        print(type_info)
    env = StreamExecutionEnvironment.get_execution_environment()
    pairs = env.from_collection([("a", 1)], type_info=Types.TUPLE([text, number]))
    print(pairs.get_type(), pairs.map(lambda pair: pair[0]).get_type())
    print(pairs.map(lambda pair: pair[0], output_type=text).get_type())
