"""Values of every type that a column can have: types, and what draws rows of them."""

from __future__ import annotations

from datetime import date, datetime

from hypothesis import strategies as st

from penstock.common import Instant, Row
from penstock.common.data_types import DataTypes as D

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30).filter(lambda text: text != "∅")
CLOCKS = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1))
MOMENTS = st.builds(
    Instant, st.integers(-(10**9), 9 * 10**9), st.integers(0, 10**6 - 1).map(lambda micro: micro * 1000)
)
SINGLES = st.floats(width=32, allow_nan=False)
DECIMALS = st.decimals(-(10**9), 10**9, places=4, allow_nan=False)

SCALARS = {
    "text": (D.STRING(), TEXTS),
    "flag": (D.BOOLEAN(), st.booleans()),
    "tiny": (D.TINYINT(), st.integers(-(2**7), 2**7 - 1)),
    "small": (D.SMALLINT(), st.integers(-(2**15), 2**15 - 1)),
    "whole": (D.INT(), st.integers(-(2**31), 2**31 - 1)),
    "large": (D.BIGINT(), st.integers(-(2**63), 2**63 - 1)),
    "single": (D.FLOAT(), SINGLES),
    "double": (D.DOUBLE(), st.floats(allow_nan=False)),
    "money": (D.DECIMAL(20, 4), DECIMALS),
    "day": (D.DATE(), st.dates(date(1, 1, 1))),
    "hour": (D.TIME(6), st.times()),
    "clock": (D.TIMESTAMP(6), CLOCKS),
    "moment": (D.TIMESTAMP_LTZ(6), MOMENTS),
    "raw": (D.BYTES(), st.binary(max_size=20)),
}
"""Column type and values, by name."""
ROW_TYPE = D.ROW([D.FIELD(name, kind) for name, (kind, _) in SCALARS.items()])


def rows_of(columns):
    """Rows of columns, any value of which may be None."""
    names = tuple(columns)
    values = [st.none() | strategy for _, strategy in columns.values()]
    return st.tuples(*values).map(lambda row: Row.of_values(row, names))


VALUES = rows_of(SCALARS)

NESTED = {
    **SCALARS,
    "list": (D.ARRAY(D.INT()), st.lists(st.none() | st.integers(0, 9), max_size=3)),
    "moments": (D.ARRAY(D.TIMESTAMP_LTZ(6)), st.lists(st.none() | MOMENTS, max_size=2)),
    "map": (D.MAP(D.STRING(), D.DECIMAL(20, 4)), st.dictionaries(TEXTS, st.none() | DECIMALS, max_size=2)),
    "row": (
        D.ROW([D.FIELD("x", D.STRING()), D.FIELD("y", D.ARRAY(D.DOUBLE()))]),
        st.tuples(st.none() | TEXTS, st.lists(st.floats(allow_nan=False), max_size=2)).map(
            lambda pair: Row.of_values(pair, ("x", "y"))
        ),
    ),
    "rows": (
        D.ARRAY(D.ROW([D.FIELD("z", D.DATE())])),
        st.lists(st.dates(date(1, 1, 1)).map(lambda day: Row.of_values((day,), ("z",))), max_size=2),
    ),
}
"""The same, with types that have others inside."""
NESTED_TYPE = D.ROW([D.FIELD(name, kind) for name, (kind, _) in NESTED.items()])
NESTED_VALUES = rows_of(NESTED)
