"""What borders make of values of declared types: what the real PyFlink 2.3.0 has made of them, and a slow model."""

from __future__ import annotations

import math
import struct
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Configuration, Row, RowKind, Types
from penstock.common.settings.settings import Settings
from penstock.common.time import Instant
from penstock.common.typeinfo import TypeInformation
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.streams.elements import elements_of
from penstock.errors import JobExecutionError, TypeInfoError
from penstock.runtime.buffers.borders import COLLECT, EDGE, SOURCE, crossing
from penstock.runtime.buffers.value_checks import checked_all, checker, glance

ALL = Settings(pyflink=True)
NAMED = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])
SINGLE = 110.0999984741211
MOMENT = datetime(2020, 1, 2, 3, 4, 5, 678901)
REFUSED = object()


def crossed(value: Any, type_info: TypeInformation[Any], place: str = EDGE) -> Any:
    """The value behind a border; REFUSED where it is."""
    cross = crossing(type_info, ALL, place)
    try:
        if place == SOURCE:
            return elements_of([value], type_info, ALL)[0]
        return value if cross is None else cross(value)
    except TypeInfoError:
        return REFUSED


MEASURED: list[tuple[Any, Any, Any, Any, Any]] = [  # type, value, behind a collection, behind an exchange, collected
    (Types.INT(), 1.5, REFUSED, 1, 1),
    (Types.INT(), True, REFUSED, 1, 1),
    (Types.INT(), 2**31, -(2**31), REFUSED, REFUSED),
    (Types.INT(), 2**40, 0, REFUSED, REFUSED),
    (Types.INT(), Decimal(3), REFUSED, 3, 3),
    (Types.INT(), "x", REFUSED, REFUSED, REFUSED),
    (Types.INT(), None, REFUSED, REFUSED, REFUSED),
    (Types.BOOLEAN(), 2, True, True, True),
    (Types.BOOLEAN(), "x", REFUSED, REFUSED, REFUSED),
    (Types.STRING(), 1, "1", REFUSED, REFUSED),
    (Types.BIG_DEC(), 1.5, Decimal("1.5"), Decimal("1.5"), Decimal("1.5")),
    (Types.BYTE(), 200, -56, REFUSED, REFUSED),
    (Types.BYTE(), -200, 56, REFUSED, REFUSED),
    (Types.FLOAT(), 110.1, SINGLE, SINGLE, 110.1),
    (Types.FLOAT(), 1e300, math.inf, math.inf, math.inf),
    (Types.FLOAT(), "x", REFUSED, REFUSED, REFUSED),
    (Types.INSTANT(), Instant(1, 123456789), Instant(1, 123000000), Instant(1, 123456789), Instant(1, 123456789)),
    (Types.SQL_DATE(), datetime(2020, 1, 2, 3), date(2020, 1, 2), date(2020, 1, 2), date(2020, 1, 2)),
    (Types.SQL_TIME(), time(3, 4, 5, 678901), time(3, 4, 5, 678000), time(3, 4, 5, 678000), time(3, 4, 5)),
    (Types.SQL_TIMESTAMP(), MOMENT, *[MOMENT.replace(microsecond=678000)] * 3),
    (Types.SQL_TIMESTAMP(), datetime(2020, 1, 2, tzinfo=timezone.utc), *[datetime(2020, 1, 2)] * 3),
    (Types.SQL_TIMESTAMP(), date(2020, 1, 2), REFUSED, REFUSED, REFUSED),
    (Types.LIST(Types.INT()), (1, 2), [1, 2], REFUSED, REFUSED),
    (Types.LIST(Types.INT()), [1, None], REFUSED, REFUSED, REFUSED),
    (Types.LIST(Types.FLOAT()), [110.1], [SINGLE], [SINGLE], [110.1]),
    (Types.MAP(Types.STRING(), Types.FLOAT()), {"a": 110.1}, {"a": SINGLE}, {"a": SINGLE}, {"a": 110.1}),
    (Types.MAP(Types.STRING(), Types.INT()), {"a": None}, {"a": None}, {"a": None}, {"a": None}),
    (Types.PRIMITIVE_ARRAY(Types.BYTE()), bytearray(b"ab"), b"ab", b"ab", [97, 98]),
    (Types.PRIMITIVE_ARRAY(Types.BYTE()), [1], REFUSED, REFUSED, REFUSED),
    (Types.BASIC_ARRAY(Types.INT()), [1, None], [1, None], [1, None], [1, None]),
    (Types.PRIMITIVE_ARRAY(Types.INT()), [None], REFUSED, REFUSED, REFUSED),
    (Types.TUPLE([Types.INT(), Types.STRING()]), [1, "a"], (1, "a"), REFUSED, REFUSED),
    (Types.TUPLE([Types.INT(), Types.STRING()]), (1, "a", 2), REFUSED, REFUSED, REFUSED),
    (NAMED, (1, "a"), Row(a=1, b="a"), REFUSED, REFUSED),
    (NAMED, {"a": 1}, Row(a=1, b=None), REFUSED, REFUSED),
    (NAMED, Row(b="a", a=1), *[Row(a=1, b="a")] * 3),
    (NAMED, Row(None, None), *[Row(a=None, b=None)] * 3),
    (NAMED, Row.of_kind(RowKind.DELETE, 1, "a"), *[Row.of_kind(RowKind.DELETE, a=1, b="a")] * 3),
    (Types.ROW([NAMED]), Row(Row(b="a", a=1.5)), REFUSED, Row(f0=Row(a=1, b="a")), Row(f0=Row(a=1, b="a"))),
]


@pytest.mark.parametrize(("type_info", "value", "source", "edge", "result"), MEASURED)
def test_a_border_does_what_pyflinks_does(type_info: Any, value: Any, source: Any, edge: Any, result: Any) -> None:
    for place, theirs in ((SOURCE, source), (EDGE, edge), (COLLECT, result)):
        ours = crossed(value, type_info, place)
        assert (repr(ours), type(ours)) == (repr(theirs), type(theirs)), place


WORDS = tuple("delta alpha echo kilo bravo zulu yankee tango sierra papa oscar lima mike".split())  # noqa: SIM905
ORDERS = [
    (SOURCE, 2, "delta alpha"),
    (EDGE, 2, "delta alpha"),
    (SOURCE, 5, "bravo delta echo kilo alpha"),
    (EDGE, 5, "delta bravo echo kilo alpha"),
    (SOURCE, 7, "bravo yankee kilo alpha delta echo zulu"),
    (EDGE, 7, "bravo yankee kilo alpha delta echo zulu"),
    (EDGE, 12, "bravo yankee oscar kilo lima sierra papa alpha delta tango echo zulu"),
    (SOURCE, 13, "oscar yankee lima mike sierra delta echo bravo kilo papa alpha tango zulu"),
    (EDGE, 13, "yankee oscar lima mike sierra delta echo bravo kilo papa alpha tango zulu"),
]
"""How PyFlink has given back maps of the first words."""


@pytest.mark.parametrize(("place", "count", "theirs"), ORDERS)
def test_maps_have_the_order_of_a_hash_map(place: str, count: int, theirs: str) -> None:
    numbered = {word: index for index, word in enumerate(WORDS[:count])}
    ours = crossed(numbered, Types.MAP(Types.STRING(), Types.INT()), place)
    assert list(ours) == theirs.split()
    assert ours == numbered


NUMBERS = st.one_of(st.integers(-(2**70), 2**70), st.floats(), st.booleans(), st.none(), st.text(max_size=2))
WIDTHS = {8: Types.BYTE(), 16: Types.SHORT(), 32: Types.INT(), 64: Types.LONG()}


def model(value: Any, bits: int, place: str) -> Any:
    """A whole number by Java's rules, through bytes of its width."""
    if value is None or isinstance(value, str) or (place == SOURCE and type(value) is not int):
        return REFUSED
    if isinstance(value, float) and not math.isfinite(value):
        return REFUSED
    whole = math.trunc(value)
    if place == SOURCE:
        return int.from_bytes((whole % 2**bits).to_bytes(bits // 8, "big"), "big", signed=True)
    try:
        return int.from_bytes(whole.to_bytes(bits // 8, "big", signed=True), "big", signed=True)
    except OverflowError:
        return REFUSED


@given(NUMBERS, st.sampled_from(sorted(WIDTHS)), st.sampled_from([SOURCE, EDGE, COLLECT]))
def test_whole_numbers_are_those_of_the_model(value: Any, bits: int, place: str) -> None:
    ours, theirs = crossed(value, WIDTHS[bits], place), model(value, bits, place)
    assert (ours, type(ours)) == (theirs, type(theirs))


@given(st.floats(allow_nan=False))
def test_collected_floats_have_the_bits_that_were_sent(value: float) -> None:
    passed, shown = crossed(value, Types.FLOAT()), crossed(value, Types.FLOAT(), COLLECT)
    assert struct.pack("f", shown) == struct.pack("f", passed)
    assert digits(shown) <= digits(passed)


def digits(value: float) -> int:
    """How many digits its text needs, zeros at its ends apart."""
    return len(Decimal(repr(abs(value))).normalize().as_tuple().digits)


TEXTS = st.text(max_size=2)
SCALARS: dict[Any, Any] = {
    Types.STRING(): st.text(max_size=3),
    Types.INT(): st.integers(-(2**31), 2**31 - 1),
    Types.LONG(): st.integers(-(2**63), 2**63 - 1),
    Types.DOUBLE(): st.floats(allow_nan=False),
    Types.BOOLEAN(): st.booleans(),
    Types.BIG_DEC(): st.decimals(allow_nan=False, allow_infinity=False),
    Types.SQL_DATE(): st.dates(),
    Types.SQL_TIMESTAMP(): st.datetimes().map(
        lambda moment: moment - timedelta(microseconds=moment.microsecond % 1000)
    ),
}


def composites(inner: Any) -> Any:
    """Types with fields and elements of other types, each with values of it."""
    pairs = st.lists(inner, min_size=1, max_size=3)

    def fields(make: Any, build: Any) -> Any:
        return pairs.map(lambda some: (make([t for t, _ in some]), st.tuples(*(v for _, v in some)).map(build)))

    return st.one_of(
        fields(Types.TUPLE, tuple),
        fields(Types.ROW, lambda values: Row.of_values(values, tuple(f"f{i}" for i in range(len(values))))),
        inner.map(lambda pair: (Types.LIST(pair[0]), st.lists(pair[1], max_size=3))),
        inner.map(
            lambda pair: (Types.MAP(Types.STRING(), pair[0]), st.dictionaries(st.text(max_size=2), pair[1], max_size=3))
        ),
    )


TYPED = st.recursive(st.sampled_from(list(SCALARS.items())), composites, max_leaves=6).flatmap(
    lambda pair: st.tuples(st.just(pair[0]), pair[1])
)


@given(TYPED)
def test_values_of_their_type_pass_every_border_as_they_are(pair: tuple[Any, Any]) -> None:
    type_info, value = pair
    for place in (SOURCE, EDGE, COLLECT):
        assert crossed(value, type_info, place) == value
    check, plain = checked_all(type_info), glance(type_info)
    assert check is not None
    check([value])
    assert plain is None or plain(value)


@given(TYPED, NUMBERS)
def test_a_glance_passes_nothing_that_the_check_refuses(pair: tuple[Any, Any], value: Any) -> None:
    check, plain = checker(pair[0]), glance(pair[0])
    assert check is not None
    if plain is not None and plain(value):
        check(value)


class Thing:
    """An object with attributes."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


@pytest.mark.parametrize(
    "record",
    [Row(1, Row(2, "x")), (1, (2, "x")), [1, [2, "x"]], {"n": 1, "in": {"b": "x", "a": 2}}, Row(1, Thing(a=2, b="x"))],
)
def test_all_that_stands_for_a_row_becomes_one(record: Any) -> None:
    nested = Types.ROW_NAMED(["n", "in"], [Types.INT(), NAMED])
    row = Row.of_values((1, Row(a=2, b="x")), ("n", "in"))
    for settings in (Settings(), ALL):
        assert repr(elements_of([record], nested, settings)) == repr([row])
        assert repr(elements_of([[record]], Types.LIST(nested), settings)) == repr([[row]])
        assert repr(elements_of([(record, 1)], Types.TUPLE([nested, Types.INT()]), settings)) == repr([(row, 1)])
        assert repr(elements_of([{1: record}], Types.MAP(Types.INT(), nested), settings)) == repr([{1: row}])
    assert elements_of([None], nested, Settings()) == [None]


MISFITS: list[tuple[Any, Any, str]] = [
    (Types.INT(), "x", r"The record 'x' does not fit its declared type Types\.INT\(\): it is a str"),
    (Types.INT(), True, "it is a bool"),
    (Types.INT(), 2**31, "it has more than 32 bits"),
    (Types.DOUBLE(), None, "it cannot be None"),
    (Types.CHAR(), "ab", "it is not one character"),
    (Types.TUPLE([Types.INT(), Types.STRING()]), (1, 2), "The value 2 of field f1"),
    (Types.TUPLE([Types.INT()]), (1, 2), "it has 2 fields, not 1"),
    (Types.TUPLE([Types.INT()]), [1], "it is a list, not a tuple"),
    (NAMED, (1, "a"), "it is a tuple, not a Row"),
    (NAMED, Row(a=1, c=2), r"its fields are \['a', 'c'\]"),
    (NAMED, Row(b=1, a=1), "The value 1 of field b"),
    (Types.ROW([Types.LIST(NAMED)]), Row([Row("x", "y")]), r"The value 'x' of field f0\[\]\.a"),
    (Types.MAP(Types.STRING(), Types.INT()), {"a": "b"}, r"The value 'b' of field \[value\]"),
    (Types.MAP(Types.STRING(), Types.INT()), [1], "not a dict"),
    (Types.PRIMITIVE_ARRAY(Types.INT()), [None], "it cannot be None"),
]


@pytest.mark.parametrize(("type_info", "value", "message"), MISFITS)
def test_a_misfit_names_field_and_value(type_info: Any, value: Any, message: str) -> None:
    check = checked_all(type_info)
    assert check is not None
    with pytest.raises(TypeInfoError, match=message):
        check([value])


@pytest.mark.parametrize("leaves", ["exchange", "print", "collect"])
@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_a_checked_program_fails_where_a_record_leaves(leaves: str, mode: str) -> None:
    def program(check: str) -> Any:
        settings = {"penstock.types.check": check, "execution.runtime-mode": mode}
        env = StreamExecutionEnvironment.get_execution_environment(Configuration(settings), executor="local")
        stream = env.from_collection([1]).map(lambda x: (x, "y"), Types.TUPLE([Types.INT(), Types.INT()])).name("maker")
        if leaves == "exchange":
            return stream.key_by(lambda pair: pair[0]).map(str)
        return stream

    def run(stream: Any) -> None:
        if leaves == "collect":
            list(stream.execute_and_collect())
        else:
            stream.print()
            stream.get_execution_environment().execute()

    run(program("false"))
    with pytest.raises(JobExecutionError, match=r"(?s)(maker|Print).*The value 'y' of field f1 does not fit"):
        run(program("true"))
