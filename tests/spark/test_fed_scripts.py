"""The programs of the run scripts on Spark, fed bit by bit and killed on the way, and random ones."""

from __future__ import annotations

import json
import random

import pytest

from tests.datastream import feeding, pool
from tests.datastream.compare_runs import differences
from tests.datastream.deliberate_differences import PROGRAMS
from tests.datastream.random_fed import End, check
from tests.datastream.test_fed_scripts import OF_ATTEMPTS, chosen
from tests.datastream.test_run_scripts import records
from tests.generator.bounded import random_job
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
    """And random ones what a plain computation gives. All of them die with one Spark, and go on in the next."""
    names = ["trace_two_tasks_p2", "fail_output_written_before"]
    assert not {*names} & {*PROGRAMS, *OF_ATTEMPTS}
    lines = [json.dumps(records()[name]["script"]) for name in names] + ['{"random": 1}']
    options = chosen("random:2", 1)
    options.spark, options.jobs = True, 4
    answers = list(pool.results(lines, options))
    differ = {name: list(differences(answers.pop(0), records()[name]["result"])) for name in names}
    assert differ == {name: [] for name in names}
    assert [list(result) for result in answers] == [["equal"]]
    assert sum(result["equal"] for result in answers) > 5


@pytest.mark.parametrize("seed", range(2))
def test_random_programs(executor, seed):
    draw = random.Random(seed)
    ends = [End(draw.randrange(60), killed=False) for _ in range(2)]
    with feeding.folder() as root:
        check(random_job(seed), draw.choice(list(everything())), "random:1", ends, root, executor)
