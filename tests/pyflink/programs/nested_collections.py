"""Arrays of rows, maps of lists, lists of maps inside rows, behind a key and printed."""

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

POINT = Types.ROW_NAMED(["x", "y"], [Types.INT(), Types.DOUBLE()])
SHAPE = Types.ROW_NAMED(
    ["name", "points", "tags", "marks", "sizes"],
    [
        Types.STRING(),
        Types.OBJECT_ARRAY(POINT),
        Types.MAP(Types.STRING(), Types.LIST(Types.INT())),
        Types.LIST(Types.MAP(Types.STRING(), Types.BOOLEAN())),
        Types.PRIMITIVE_ARRAY(Types.LONG()),
    ],
)
Point, Shape = Row("x", "y"), Row("name", "points", "tags", "marks", "sizes")
SHAPES = [
    Shape("line", [Point(1, 1.5), Point(2, 2.5)], {"a": [1, 2]}, [{"thin": True}], [3, 4]),
    Shape("dot", [Point(0, 0.0)], {"b": []}, [], [1]),
    Shape("line", [], {}, [{"thin": False}, {"red": True}], []),
]


def joined(one, other):
    tags = {**dict(one["tags"]), **dict(other["tags"])}
    return Row(
        name=one["name"],
        points=[*one["points"], *other["points"]],
        tags=tags,
        marks=[*one["marks"], *other["marks"]],
        sizes=[*one["sizes"], *other["sizes"]],
    )


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    places = env.from_collection([0, 1, 2], type_info=Types.INT())
    shapes = places.map(lambda place: SHAPES[place], SHAPE)
    keyed = shapes.key_by(lambda row: row["name"], Types.STRING())
    keyed.map(lambda row: sum(point["x"] + point.y for point in row["points"]), Types.DOUBLE()).print("sums")
    keyed.map(lambda row: f"{row.tags} {row.marks} {list(row.sizes)}", Types.STRING()).print("values")
    keyed.reduce(joined).map(lambda row: (row["name"], len(row["points"]), len(row["marks"]))).print("joined")
    env.execute()
