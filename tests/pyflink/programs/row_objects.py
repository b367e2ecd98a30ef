"""Rows as objects: equality, membership, names, what they refuse."""

import copy
import pickle

from pyflink.common import Row, RowKind


def refused(kind, call):
    """Whether a call raises a kind of exception."""
    try:
        return call()
    except kind:
        return kind.__name__


def set_unknown(row):
    row.c = 1


def set_item(row, name):
    row[name] = 5
    return list(row)


if __name__ == "__main__":
    named, plain = Row(a=1, b="x"), Row(1, "x")
    Point = Row("x", "y")
    print("texts", named, plain, Point, Point(1, 2), Point(1), Row(), repr(Row(n=Row(2.5, None))))
    print("in", "a" in named, 1 in named, 1 in plain, "a" in plain, "x" in Point, "y" in Point(1))
    print("equal", named == Row(b="x", a=1), named == plain, plain == Row(1, "x"), plain == (1, "x"), plain == [1, "x"])
    print("equal kinds", plain == Row.of_kind(RowKind.DELETE, 1, "x"), Row(1) == Row(1.0), Row(a=1) == Row(b=1))
    print(
        "hashes",
        hash(plain) == hash((1, "x")),
        hash(Row(1)) == hash(Row(1.0)),
        refused(TypeError, lambda: hash(Row([1]))),
    )
    print("by name", named.a, named["b"], named.get_fields_by_names(["b", "a"]), plain.get_fields_by_names(["q", "r"]))
    print("by position", named[0], plain[-1], plain[0:2], named[::-1], len(named), list(named), tuple(plain))
    print("set", set_item(Row(a=1, b=2), "a"), set_item(Row(1, 2), 1), set_item(Row(1, 2), -1))
    print("names", hasattr(named, "_fields"), hasattr(plain, "_fields"), list(named._fields), list(Point(1, 2)._fields))
    print(
        "fields called so", Row(values=1, count=2, index=3).values, Row(count=2).count, Row(field_names=7).field_names
    )
    nested = Row(n=1, inner=Row(a=2), rows=[Row(a=3)], by={"k": Row(a=4)}, pair=(Row(a=5),))
    print("dict", named.as_dict(), nested.as_dict(), nested.as_dict(True))
    print("kinds", named.get_row_kind(), [str(kind) for kind in RowKind], [kind.value for kind in RowKind])
    print("of kind", Row.of_kind(RowKind.UPDATE_AFTER, a=1), Row.of_kind(RowKind.DELETE, 1).get_row_kind())
    print("class keeps kind", Row.of_kind(RowKind.DELETE, "x")(1).get_row_kind())
    for again in (copy.copy(named), copy.deepcopy(named), pickle.loads(pickle.dumps(named))):
        print("copied", again == named, again, again.get_row_kind())
    named.set_field_names(["c", "d"])
    print("renamed", named, named.c)
    print("not there", refused(AttributeError, lambda: plain.a), refused(AttributeError, lambda: named.z))
    print("not there", refused(ValueError, lambda: named["z"]), refused(IndexError, lambda: plain[5]))
    print("not there", refused(AttributeError, lambda: plain["z"]), refused(AttributeError, lambda: Point(1).y))
    print(
        "not set", refused(AttributeError, lambda: set_unknown(plain)), refused(KeyError, lambda: set_item(plain, "z"))
    )
    print("not set", refused(AttributeError, lambda: set_unknown(Row(a=1))))
    print("not set", refused(ValueError, lambda: set_item(Row(a=1), "z")))
    print("not made", refused(ValueError, lambda: Row(1, a=2)), refused(ValueError, lambda: Point(1, 2, 3)))
    print("no dict", refused(TypeError, plain.as_dict), refused(TypeError, lambda: Row(a=Row(1)).as_dict(True)))
    print("no order", refused(TypeError, lambda: Row(1) < Row(2)), refused(TypeError, lambda: plain + plain))
