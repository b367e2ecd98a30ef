"""Lines of CSV and JSON read by Python's own modules inside functions, wrong ones aside."""

import csv
import io
import json

from pyflink.common import Row, Types
from pyflink.datastream import OutputTag, ProcessFunction, StreamExecutionEnvironment

LINES = [
    'tea,"green, loose",3,1.25',
    '{"item": "milk", "note": null, "pieces": 2, "price": 0.5}',
    "bread,,1",
    '{"item": "tea", "note": "black", "pieces": 1, "price": 2}',
    "{broken",
    'oil,"said ""fine""",1,7.5',
]
WRONG = OutputTag("wrong", Types.STRING())
SALE = Types.ROW_NAMED(
    ["item", "note", "pieces", "price"], [Types.STRING(), Types.STRING(), Types.INT(), Types.DOUBLE()]
)


class Parse(ProcessFunction):
    def process_element(self, value, ctx):
        try:
            if value.startswith("{"):
                found = json.loads(value)
                yield Row(found["item"], found["note"], found["pieces"], float(found["price"]))
            else:
                item, note, pieces, price = next(csv.reader(io.StringIO(value)))
                yield Row(item, note or None, int(pieces), float(price))
        except ValueError as error:
            yield WRONG, f"{value}: {type(error).__name__}"


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    sales = env.from_collection(LINES, type_info=Types.STRING()).process(Parse(), SALE)
    sales.print("sales")
    sales.get_side_output(WRONG).print("wrong")
    pair = Types.TUPLE([Types.STRING(), Types.DOUBLE()])
    sales.map(lambda row: (row["item"], row["pieces"] * row["price"]), pair).key_by(lambda v: v[0]).sum(1).print("paid")
    sales.map(lambda row: json.dumps(row.as_dict(), sort_keys=True), Types.STRING()).print("json")
    env.execute()
