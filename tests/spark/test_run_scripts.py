"""Programs that Flink ran, on Spark: the same outputs by subtask, traces, record counts and failures."""

from __future__ import annotations

import pytest

from tests.datastream.compare_runs import differences
from tests.datastream.run_scripts import result_of
from tests.datastream.test_run_scripts import records
from tests.effort import one_of
from tests.spark import runs


@pytest.mark.parametrize(
    "name",
    [
        "keyed_reduce",
        "count_window_slide_reduce",
        "state_default_value_and_side_output",
        "partition_rescale_2_4_and_4_2",
        "trace_two_tasks_p2",
        "r146",  # side outputs, broadcast, global, flat map, keys
        "fail_at_map",
        "window_session_bridge",
        "late_sliding_allowed",
        "timers_p1",
        "watermarks_idle_source_comes_back",  # rounds of two sources
        "state_all_kinds_p2",
        "co_process_timers_settled",
        "interval_join_both_exclusive",
        "async_unordered_watermarks_are_fences",
        "restart_facts",
    ],
)
def test_spark_gives_what_flink_gave(executor, name):
    record = records()[name]
    assert list(differences(result_of(record["script"], executor), record["result"])) == []


def test_a_sample_gives_what_flink_gave_several_programs_at_a_time(spark, capsys):
    """`make runs` takes all of them."""
    names = [name for name in records() if "error" not in records()[name]["result"]]
    assert runs.run(names[:: one_of(20)], spark) == 0
    assert " 0 outcomes are not meant" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "outcome", "unmeant"),
    [
        ("keyed_sum", ("equal", []), False),
        ("keyed_sum", ("differs", ["so"]), True),
        ("keyed_sum", ("refused", ["so"]), True),
        ("window_tumbling_p3", ("equal", []), True),
        ("window_tumbling_p3", ("differs", ["so"]), False),
        ("iterate_p2", ("refused", ["so"]), True),
        ("iterate_p2", ("equal", []), False),
    ],
)
def test_what_is_not_meant_is_told_from_what_is(name, outcome, unmeant):
    assert runs.unmeant(name, outcome, local_refuses=False) is unmeant
