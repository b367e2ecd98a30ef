"""Values that do not fit their declared type, and so fail the job."""

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)

    def refused(name, type_info, value, collection=False):
        if collection:
            stream = env.from_collection([value], type_info=type_info)
        else:
            stream = env.from_collection([0], type_info=Types.INT()).map(lambda _: value, output_type=type_info)
        stream.rebalance().map(lambda x: x).print(name)
        env.execute()

    cases = [
        ("text for int", Types.INT(), "x"),
        ("int that is too large", Types.INT(), 2**31),
        ("byte that is too large", Types.BYTE(), 128),
        ("long that is too large", Types.LONG(), 2**63),
        ("none for int", Types.INT(), None),
        ("text for float", Types.FLOAT(), "x"),
        ("tuple for row", Types.ROW([Types.INT()]), (1,)),
        ("dict for row", Types.ROW_NAMED(["a"], [Types.INT()]), {"a": 1}),
        ("other names", Types.ROW_NAMED(["a"], [Types.INT()]), Row(b=1)),
        ("list for tuple", Types.TUPLE([Types.INT()]), [1]),
        ("tuple for list", Types.LIST(Types.INT()), (1,)),
        ("none in list", Types.LIST(Types.INT()), [None]),
        ("list for bytes", Types.PRIMITIVE_ARRAY(Types.BYTE()), [1]),
        ("number for date", Types.SQL_DATE(), 1),
    ]
    cases += [
        ("collected text for int", Types.INT(), "x", True),
        ("collected too short", Types.ROW([Types.INT()] * 2), (1,), True),
    ]
    for case in cases:
        try:
            refused(*case)
        except Exception:
            print("refused:", case[0])
