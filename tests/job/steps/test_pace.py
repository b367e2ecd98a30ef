"""How much a step reads follows from how long the last ones took."""

from __future__ import annotations

from penstock.job.steps.pace import Pace


def test_it_grows_while_steps_are_short_and_shrinks_when_they_are_long():
    pace = Pace(0, 1000)
    first = pace.records
    pace.took(first, 100)
    assert pace.records == 2 * first
    pace.took(pace.records, 4000)
    assert pace.records == first
    for _ in range(20):
        pace.took(pace.records, 60_000)
    assert pace.records == 100


def test_it_settles_where_a_step_takes_its_time():
    pace = Pace(0, 1000)
    for _ in range(30):
        pace.took(pace.records, pace.records / 50)
    assert 40_000 <= pace.records <= 50_000


def test_steps_that_find_little_say_nothing():
    pace = Pace(0, 1000)
    before = pace.records
    pace.took(10, 1)
    pace.took(0, 5000)
    assert pace.records == before


def test_it_can_be_fixed():
    pace = Pace(7, 1000)
    pace.took(7, 1)
    assert pace.records == 7
