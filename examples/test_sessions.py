"""How to test a program: with pytest, on the local executor, in milliseconds.

    pytest examples/test_sessions.py

The function under test takes a stream and gives a stream (``visits`` in sessions.py), so a test feeds it a few records
and looks at what comes out. The local executor runs the same plan and the same operators as Spark does.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from penstock.datastream import StreamExecutionEnvironment
from penstock.errors import JobExecutionError

# Your own tests just import the module; the examples are loose files, so this one is loaded by its path.
_spec = importlib.util.spec_from_file_location("sessions", Path(__file__).with_name("sessions.py"))
assert _spec is not None
assert _spec.loader is not None
sessions = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(sessions)


def visits_of(clicks: list[tuple[str, int, str]], parallelism: int = 1) -> list[str]:
    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    env.set_parallelism(parallelism)
    stream = sessions.visits(env.from_collection(clicks, type_info=sessions.CLICK))
    with stream.execute_and_collect() as results:
        return sorted(results)


def test_clicks_within_half_an_hour_are_one_visit() -> None:
    assert visits_of([("ann", 0, "/"), ("ann", 29, "/b")]) == ["ann: 2 pages in 29 minutes, from / to /b"]


def test_half_an_hour_later_a_new_visit_begins() -> None:
    assert len(visits_of([("ann", 0, "/"), ("ann", 31, "/b")])) == 2


@pytest.mark.parametrize("parallelism", [1, 2, 7])
def test_users_are_kept_apart_whatever_the_parallelism(parallelism: int) -> None:
    users = ("ann", "bob", "cat")
    clicks = [(user, minute, "/") for minute in range(3) for user in users]
    assert visits_of(clicks, parallelism) == [f"{user}: 3 pages in 2 minutes, from / to /" for user in users]


def test_a_click_without_a_time_fails_with_a_name() -> None:
    with pytest.raises(JobExecutionError, match="Timestamps/Watermarks"):
        visits_of([("ann", None, "/")])  # type: ignore[list-item]
