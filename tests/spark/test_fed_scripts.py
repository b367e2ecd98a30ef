"""The programs of the run scripts on Spark, fed bit by bit and killed on the way, and random ones."""

from __future__ import annotations

import argparse
import random

import pytest

from tests.datastream import feeding
from tests.datastream.compare_runs import differences
from tests.datastream.deliberate_differences import PROGRAMS
from tests.datastream.random_fed import End, check
from tests.datastream.random_jobs import random_job
from tests.datastream.test_fed_scripts import OF_ATTEMPTS
from tests.datastream.test_run_scripts import records
from tests.matrix.knobs import everything

SAMPLE = (
    "keyed_reduce",
    "iterate_countdown",
    "trace_two_tasks_p2",
    "fail_at_map",
    "fail_output_written_before",
    "watermarks_idle_source_comes_back",
    "window_session_bridge",
    "state_all_kinds_p2",
    "co_process_timers_settled",
    "async_unordered_watermarks_are_fences",
)


@pytest.mark.parametrize(("feed", "name"), [(("3", "random:1")[at % 2], name) for at, name in enumerate(SAMPLE)])
def test_programs_give_what_flink_gave(executor, name, feed):
    record = records()[name]
    with feeding.folder() as root:
        result = feeding.fed_result(record["script"], executor, root, feed, exact=True)
    assert list(differences(result, record["result"])) == []


def test_programs_whose_process_was_killed_give_what_flink_gave():
    names = ["trace_two_tasks_p2"]
    assert not {*names} & {*PROGRAMS, *OF_ATTEMPTS}
    found = {}
    with feeding.runner(argparse.Namespace(feed="2", kill=1, when=None, spark=True)) as run:
        for name in names:
            result = run(records()[name]["script"])
            found[name] = [result] if "defect" in result else list(differences(result, records()[name]["result"]))
    assert found == {name: [] for name in names}


@pytest.mark.parametrize("seed", range(4))
def test_random_programs(executor, seed):
    draw = random.Random(seed)
    ends = [End(draw.randrange(60), killed=False) for _ in range(2)]
    with feeding.folder() as root:
        check(random_job(seed), draw.choice(list(everything())), "random:1", ends, root, executor)
