"""A moment, as an Instant and as a datetime with a zone."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Instant, Types
from penstock.common.typeinfo import BasicType
from penstock.errors import InvalidProgramError
from penstock.runtime.buffers.borders import conversion
from penstock.runtime.columns.arrow import instant_of, moment_of
from penstock.runtime.io.text import print_text
from penstock.runtime.keys.javahash import BASIC

EAST = timezone(timedelta(hours=9))


@given(st.datetimes(timezones=st.sampled_from([timezone.utc, EAST])))
def test_there_and_back(moment: datetime) -> None:
    instant = Instant.of_datetime(moment)
    assert instant.to_datetime() == moment
    assert 0 <= instant.nanos < 10**9


def test_the_clock_is_that_of_the_zone() -> None:
    moment = Instant(1_600_000_000, 123_456_789)
    assert moment.to_datetime().isoformat() == "2020-09-13T12:26:40.123456+00:00"
    assert moment.to_datetime(EAST).isoformat() == "2020-09-13T21:26:40.123456+09:00"


def test_a_datetime_without_a_zone_is_no_moment() -> None:
    with pytest.raises(InvalidProgramError, match="has no time zone"):
        Instant.of_datetime(datetime(2020, 1, 1))


def test_what_no_datetime_can_be_stays_an_instant() -> None:
    assert moment_of(1_500_000) == datetime(1970, 1, 1, 0, 0, 1, 500_000, timezone.utc)
    assert moment_of(-(10**17)) == instant_of(-(10**17))


@given(st.integers(-(10**15), 10**15))
def test_both_are_one_key_with_one_hash_code(microseconds: int) -> None:
    key, moment = BASIC[BasicType.INSTANT], moment_of(microseconds)
    assert key.hash(moment) == key.hash(instant_of(microseconds))
    assert key.canonical is not None
    assert key.canonical(moment) == key.canonical(instant_of(microseconds)) == instant_of(microseconds)


def test_both_print_alike_and_come_back_from_java_alike() -> None:
    moment = datetime(2020, 2, 29, 1, 2, 3, 500_000, timezone.utc).astimezone(EAST)
    assert print_text(Types.INSTANT())(moment) == "2020-02-29T01:02:03.500Z"
    assert conversion(Types.INSTANT(), "", read=True, collected=False)(moment) == Instant.of_datetime(moment)
