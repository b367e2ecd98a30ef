"""Dates and times in native code are those of CPython, or in doubt; or they are refused."""

from __future__ import annotations

import sys
from datetime import date, datetime, time, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock._native import Pipeline, Program
from penstock.compiler.dates import GIVES
from penstock.compiler.functions import compile_function
from penstock.compiler.program import Compiled, Refusal
from tests.compiler.reference import Doubt
from tests.compiler.reference import Program as Reference
from tests.compiler.test_functions import shown
from tests.compiler.test_machine import DOUBT, on_machine

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
NAIVE = datetime(2024, 2, 29, 23, 59, 59, 999999)
INDIA = timezone(timedelta(hours=5, minutes=30))
HOUR = timedelta(hours=1)
NAMED = timezone(timedelta(hours=1), "here")
CODES = "%Y-%m-%d %H:%M:%S.%f %y %j %I %u %w %F %T %R %D %z %Z %%"


def utc(x: Any) -> datetime:
    return datetime.fromtimestamp(x, timezone.utc)


def fields(x: Any) -> Any:
    at = datetime.fromtimestamp(x, tz=timezone.utc)
    return at.year, at.month, at.day, at.hour, at.minute, at.second, at.microsecond


def texts(x: Any) -> Any:
    at = datetime.fromtimestamp(x, INDIA)
    return str(at), at.isoformat(), at.isoformat(" ", "milliseconds"), f"{at:%Y-%m-%d}|{at}", at.strftime("%H:%M %z%Z")


def precisions(x: Any) -> Any:
    at = datetime.fromtimestamp(x, timezone(timedelta(seconds=-3723)))
    return [
        at.isoformat(timespec="hours"),
        at.isoformat("T", "minutes"),
        at.isoformat(timespec="microseconds"),
        f"{at}",
    ]


def days(x: Any) -> Any:
    at = utc(x)
    day = at.date()
    return (
        day.isoformat(),
        str(day),
        day.weekday(),
        at.isoweekday(),
        at.toordinal(),
        day.month,
        f"{day:%d/%m}",
        day == at.date(),
    )


def codes(x: Any) -> str:
    return datetime.fromtimestamp(x, timezone.utc).strftime(CODES)


def shifted(x: Any) -> Any:
    at = utc(x) + timedelta(days=-1, milliseconds=5) - HOUR
    return (
        at.isoformat(),
        (at - EPOCH).total_seconds(),
        at.timestamp(),
        at > EPOCH,
        at == utc(x),
        (at.date() - HOUR).isoformat(),
    )


def replaced(x: Any) -> Any:
    at = utc(x).replace(hour=0, minute=0, second=0, microsecond=0)
    later = at.astimezone(INDIA)
    return (
        at.isoformat(),
        later.isoformat(),
        later == at,
        str(later.replace(tzinfo=None)),
        str(at.replace(day=31)),
        later.date() > at.date(),
    )


def naive(x: Any) -> Any:
    at = NAIVE + timedelta(seconds=x)
    return str(at), at < NAIVE, at == EPOCH, at - NAIVE == timedelta(seconds=x), at.strftime("%z|%Z|%Y")


def spans(x: Any) -> Any:
    span = timedelta(hours=x, microseconds=1)
    return (
        str(span),
        span.days,
        span.seconds,
        span.microseconds,
        span / HOUR,
        span // HOUR,
        str(-span),
        str(abs(span) * 3),
        not span,
    )


def ordinal(x: Any) -> str:
    return date.fromordinal(x).isoformat()


def read(x: Any) -> Any:
    at = datetime.fromisoformat(x)
    return str(at), at.isoformat(), at.strftime("%z"), at.hour


def read_day(x: Any) -> Any:
    day = date.fromisoformat(x)
    return str(day), day.year, (day + timedelta(days=1)).day


def of_fields(x: Any) -> Any:
    at = datetime(x, 2, 29, 1, tzinfo=timezone.utc)
    return at.timestamp(), str(datetime(x, 1, 31, minute=59)), str(date(x, 12, 31))


def truth(x: Any) -> Any:
    return "some" if utc(x) - EPOCH else "none", bool(utc(x)), isinstance(utc(x), (int, str, tuple))


FUNCTIONS = [fields, texts, precisions, days, codes, shifted, replaced, naive, spans, of_fields, truth, ordinal]
EXTREMES = [
    *(
        0,
        1,
        -1,
        1_700_000_000,
        253_402_300_799,
        253_402_300_800,
        -62_135_596_800,
        -62_135_596_801,
        2**31,
        2**62,
        -(2**63),
    ),
    *(0.5, -0.5, 1e-7, 5e-7, 1.5e-6, 2.5e-6, -1.5e-6, 0.9999995, -0.9999999, 1.0000005, 1_700_000_000.123457, 1e300),
    *(
        1_700_000_000.9999999,
        float("nan"),
        float("inf"),
        -0.0,
        True,
        86_399.9999996,
        951_782_400,
        -2_208_988_801.000001,
    ),
]
numbers = st.one_of(
    st.sampled_from(EXTREMES),
    st.integers(-70_000_000_000, 260_000_000_000),
    st.floats(-7e10, 3e11),
    st.integers(-20_000_000_000, 20_000_000_000).map(lambda n: n / 2_000_000),
    st.integers(-10, 10_005),
    st.floats(),
)
PARTS = [
    "2024",
    "-",
    "02",
    "29",
    "T",
    " ",
    "23",
    ":",
    "59",
    ".",
    "123",
    "456",
    "+",
    "05",
    "30",
    "Z",
    "0001",
    "9999",
    "12",
]
TIMES = [
    *("2024-02-29", "2024-02-29T23:59:59", "2024-02-29 01:02", "2024-02-29T05", "2024-02-29T05:06:07.123+05:30"),
    *("2024-02-29T05:06:07.123456-00:00", "0001-01-01T00:00:00+00:01", "9999-12-31 23:59:59.999999", "2023-02-29"),
    *(
        "2024-02-29T24:00",
        "2024-02-29T05:06:07.1",
        "20240229T050607",
        "2024-W09-4",
        "2024-02-29T05:06:07Z",
        "2024-02-29T",
    ),
    *(
        "2024-02-29T05:06:60",
        "2024-02-29T05:06+24:00",
        "2024-02-29x05:06",
        "٢024-02-29",
        "2024-02-29T05:06:07+05:30:15",
        "",
    ),
]
times = st.one_of(
    st.sampled_from(TIMES),
    st.datetimes(timezones=st.sampled_from([None, timezone.utc, INDIA])).map(str),
    st.lists(st.sampled_from(PARTS), max_size=12).map("".join),
    st.text(max_size=12),
)


def check(function: Any, value: Any) -> Any:
    """What the machine gives for a value, which is what the function gives, or DOUBT."""
    compiled = compile_function(function, "map")
    assert isinstance(compiled, Compiled), str(compiled)
    result = on_machine(Pipeline([("map", Program(compiled.program))]), "map", value)
    try:
        expected = shown(function(value))
    except (ValueError, OverflowError, OSError, TypeError):
        expected = DOUBT
    assert result in (DOUBT, expected), value
    try:
        meant = shown(Reference(compiled.program).run(value))
    except Doubt:
        meant = DOUBT
    assert meant == expected, value
    return result


@pytest.mark.parametrize("function", FUNCTIONS)
@given(value=numbers)
def test_dates_are_those_of_python(function: Any, value: Any) -> None:
    check(function, value)


@given(value=times)
def test_texts_of_times_are_read_as_python_reads_them(value: str) -> None:
    check(read, value)
    check(read_day, value[:10])


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("value", [0, 1, 1970, 2024])
def test_usual_dates_are_not_in_doubt(function: Any, value: int) -> None:
    assert check(function, value) is not DOUBT or (function in (of_fields, ordinal) and value < 2024)


@pytest.mark.parametrize("text", TIMES[:8])
def test_usual_texts_of_times_are_not_in_doubt(text: str) -> None:
    assert check(read, text) is not DOUBT
    assert check(read_day, text[:10]) is not DOUBT or text.startswith("9999")


def test_the_letter_for_utc_is_read_from_python_3_11_on() -> None:
    assert (check(read, "2024-02-29T05:06:07Z") is DOUBT) == (sys.version_info < (3, 11))


def of_record(x: Any) -> Any:
    """Of a date, a time or a time of day; what one of them does not have is an error, and doubtful."""
    return x, [x], str(x), repr(x), f"{x}", x == NAIVE, {x: 1}[x], not x, x in (NAIVE, NOON), (x, None), x.isoformat()


def of_day(x: Any) -> Any:
    return (
        x.year,
        x.month,
        x.day,
        x.weekday(),
        x.isoweekday(),
        x.toordinal(),
        x - DAY,
        x + HOUR,
        x < DAY,
        (x - DAY).days,
    )


def of_time(x: Any) -> Any:
    later = x + timedelta(days=1, microseconds=-1)
    return (
        later,
        later.date(),
        later.time(),
        x.hour,
        x.microsecond,
        x <= NAIVE,
        (NAIVE - x).total_seconds(),
        max(x, NAIVE),
    )


def of_clock(x: Any) -> Any:
    return x.hour, x.minute, x.second, x.microsecond, x < NOON, min(x, NOON), sorted([NOON, x])


DAY, NOON = date(2024, 2, 29), time(12, 30)
RECORDS = st.one_of(
    st.dates(),
    st.datetimes(),
    st.times(),
    st.datetimes(timezones=st.just(timezone.utc)),
    st.sampled_from([date.min, date.max, datetime.min, datetime.max, time.min, time.max, DAY, NAIVE, NOON]),
    st.sampled_from(
        [datetime(2024, 1, 1, fold=1), time(1, fold=1), time(1, tzinfo=timezone.utc), None, 5, "2024-02-29"]
    ),
)


@pytest.mark.parametrize("function", [of_record, of_day, of_time, of_clock])
@given(value=RECORDS)
def test_dates_in_records_are_those_of_python(function: Any, value: Any) -> None:
    compiled = compile_function(function, "map")
    assert isinstance(compiled, Compiled), str(compiled)
    result = on_machine(Pipeline([("map", Program(compiled.program))]), "map", value)
    try:
        expected = shown(function(value))
    except (ValueError, OverflowError, TypeError, AttributeError):
        expected = DOUBT
    assert result in (DOUBT, expected), value


@pytest.mark.parametrize(
    ("function", "value"), [(of_record, DAY), (of_record, NAIVE), (of_record, NOON), (of_time, NAIVE), (of_clock, NOON)]
)
def test_usual_dates_in_records_are_not_in_doubt(function: Any, value: Any) -> None:
    compiled = compile_function(function, "map")
    assert isinstance(compiled, Compiled), str(compiled)
    assert on_machine(Pipeline([("map", Program(compiled.program))]), "map", value) == shown(function(value))


def test_a_time_without_a_zone_in_utc() -> None:
    compiled = compile_function(lambda x: str(datetime.utcfromtimestamp(x)), "map")
    assert isinstance(compiled, Compiled)
    pipeline = Pipeline([("map", Program(compiled.program))])
    assert on_machine(pipeline, "map", 1.5) == shown("1970-01-01 00:00:01.500000")


REFUSED = [
    (lambda x: str(datetime.fromtimestamp(x)), "depends on the time zone of the process"),
    (lambda x: str(datetime.fromtimestamp(x, None)), "depends on the time zone of the process"),
    (lambda x: str(date.fromtimestamp(x)), "depends on the time zone of the process"),
    (lambda x: str(utc(x).astimezone()), "depends on the time zone of the process"),
    (lambda x: str(datetime.fromtimestamp(x, NAMED)), "a time zone must be timezone.utc"),
    (lambda x: str(datetime.fromtimestamp(x[0], x[1])), "a time zone must be timezone.utc"),
    (lambda x: str(datetime.strptime(x, "%A")), "is translated with %Y, %m, %d"),
    (lambda x: str(datetime.now(timezone.utc)), "reads a clock or waits"),
    (lambda x: datetime.fromtimestamp(x, timezone.utc), GIVES),
    (lambda x: (x, [EPOCH]), GIVES),
    (lambda x: EPOCH + timedelta(seconds=x), GIVES),
]


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_what_depends_on_the_process_or_leaves_a_function_is_refused(case: int) -> None:
    function, reason = REFUSED[case]
    compiled = compile_function(function, "map")
    assert isinstance(compiled, Refusal)
    assert reason in compiled.reason


def test_a_time_that_leaves_a_function_by_a_variable_is_refused() -> None:
    def later(x: int) -> Any:
        at = datetime.fromtimestamp(x, timezone.utc)
        if x:
            return x, at
        return None

    compiled = compile_function(later, "map")
    assert isinstance(compiled, Refusal)
    assert compiled.reason == GIVES


def test_a_time_that_is_seen_to_leave_only_when_it_runs_is_in_doubt() -> None:
    compiled = compile_function(lambda x: utc(x), "map")
    assert isinstance(compiled, Compiled)
    assert on_machine(Pipeline([("map", Program(compiled.program))]), "map", 1) is DOUBT
