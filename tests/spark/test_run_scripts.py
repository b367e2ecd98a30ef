"""Programs that Flink ran, on Spark: the same outputs by subtask, traces, record counts and failures."""

from __future__ import annotations

import pytest

from tests.datastream.compare_runs import differences
from tests.datastream.run_scripts import result_of
from tests.datastream.test_run_scripts import records


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
    ],
)
def test_spark_gives_what_flink_gave(executor, name):
    record = records()[name]
    assert list(differences(result_of(record["script"], executor), record["result"])) == []
