"""Patterns of Java's DateTimeFormatter; the expected texts are those of Java 17 with English names."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from penstock.connectors.files.buckets import formatter, zone
from penstock.errors import InvalidProgramError, UnsupportedError

PARIS = zone("Europe/Paris", "test")
MOMENT = datetime(2026, 3, 7, 0, 5, 9, 45_000, PARIS)
EVENING = datetime(2026, 11, 22, 19, 45, 30, 0, timezone(timedelta(hours=-3, minutes=-30)))


@pytest.mark.parametrize(
    ("pattern", "morning", "evening"),
    [
        ("yyyy-MM-dd--HH", "2026-03-07--00", "2026-11-22--19"),
        ("yyyy/MM/dd/HH/mm/ss", "2026/03/07/00/05/09", "2026/11/22/19/45/30"),
        ("uu.M.d H:m:s", "26.3.7 0:5:9", "26.11.22 19:45:30"),
        ("y yyyyy", "2026 02026", "2026 02026"),
        ("MMM MMMM MMMMM", "Mar March M", "Nov November N"),
        ("E EEEE EEEEE", "Sat Saturday S", "Sun Sunday S"),
        ("h:mm a, k, K", "12:05 AM, 24, 0", "7:45 PM, 19, 7"),
        ("D DDD", "66 066", "326 326"),
        ("Q QQ QQQ", "1 01 Q1", "4 04 Q4"),
        ("s.S ss.SSS SSSSSS", "9.0 09.045 045000", "30.0 30.000 000000"),
        ("n A", "45000000 309045", "0 71130000"),
        ("X XX XXX x Z", "+01 +0100 +01:00 +01 +0100", "-0330 -0330 -03:30 -0330 -0330"),
        ("'dt='yyyy-MM-dd", "dt=2026-03-07", "dt=2026-11-22"),
        ("'o''clock' HH''", "o'clock 00'", "o'clock 19'"),
        ("yyyy[-MM]", "2026-03", "2026-11"),
        ("G", "AD", "AD"),
        ("", "", ""),
    ],
)
def test_patterns(pattern, morning, evening):
    text = formatter(pattern, "test")
    assert text(MOMENT) == morning
    assert text(EVENING) == evening


def test_zero_offset():
    assert formatter("X x XXX Z", "test")(datetime(2026, 1, 1, tzinfo=timezone.utc)) == "Z +00 Z +0000"


@pytest.mark.parametrize("pattern", ["yyyy-MM-dd'T", "b", "ddd", "HHH", "MMMMMM", "yyyy{", "aa", "SSSSSSSSSS", "XXXX"])
def test_what_is_no_pattern_is_refused(pattern):
    with pytest.raises(InvalidProgramError, match=r"test\(\) was given the pattern") as caught:
        formatter(pattern, "test")
    assert caught.value.flink_class == "java.lang.IllegalArgumentException"


@pytest.mark.parametrize("letter", "YwWecVzOB")
def test_what_depends_on_the_machine_is_refused(letter):
    with pytest.raises(UnsupportedError, match=f"The meaning of '{letter}' depends"):
        formatter(f"yyyy-{letter}", "test")


@pytest.mark.parametrize(
    ("name", "hours"),
    [("UTC", 0), ("Z", 0), ("GMT", 0), ("+02:00", 2), ("-0330", -3.5), ("UTC+8", 8), ("+5", 5), ("Asia/Tokyo", 9)],
)
def test_zones(name, hours):
    assert zone(name, "test").utcoffset(datetime(2026, 1, 1)) == timedelta(hours=hours)


@pytest.mark.parametrize("name", ["", "Europe/Pari", "+25:00", "../etc/passwd", "+1:0"])
def test_what_is_no_zone_is_refused(name):
    with pytest.raises(InvalidProgramError, match="time zone"):
        zone(name, "test")
