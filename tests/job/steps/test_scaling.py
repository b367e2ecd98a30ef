"""A job that takes as many subtasks as there are cores: at its start, after a failure, between two steps."""

from __future__ import annotations

import logging
from collections import Counter

import pytest

from penstock.common import RestartStrategies, RuntimeExecutionMode, Types, WatermarkStrategy
from penstock.common.settings import cores
from penstock.datastream import ParallelSourceFunction
from penstock.errors import InvalidProgramError, StreamGraphError, UnsupportedError
from penstock.job.folder.lease import JobFolder
from penstock.job.folder.requests import Request, Requests
from penstock.job.steps import rescale
from penstock.job.steps.loop import StepLoop
from tests.job.restore.jobs import PAIR, Count, environment, some
from tests.job.restore.test_restarts import WHOLE, counts
from tests.running import collected

REACTIVE = {"scheduler_mode": "reactive", "penstock__step__records": 10}


@pytest.fixture
def room(monkeypatch):
    """Says how many cores there are."""
    monkeypatch.setattr(cores, "_configured", [])
    return cores.say_cores


@pytest.fixture
def steps(monkeypatch):
    """What is called after each step, with its number."""
    calls, step = [], StepLoop._step

    def stepping(self, *args):
        step(self, *args)
        for call in calls:
            call(self._version.number)

    monkeypatch.setattr(StepLoop, "_step", stepping)
    monkeypatch.setattr(rescale, "LOOK", 0)
    return calls


def sizes(folder):
    """Subtasks of the operators with state, by uid."""
    return {operator.uid: operator.parallelism for operator in JobFolder(str(folder)).newest().operators.values()}


def program(folder, change=lambda stream: stream, env=None, **settings):
    env = env or environment(folder, 7, **REACTIVE, **settings)
    return counts(env, lambda stream: change(stream.uid("count")))


def test_each_start_takes_the_cores_that_there_are(tmp_path, room):
    totals = Counter()
    for available in (2, 5, 1):
        room(available)
        totals += Counter(some(program(tmp_path), 3))
        assert sizes(tmp_path) == {"count": available}
    room(200)  # more than the state has key groups
    totals += Counter(collected(program(tmp_path)))
    assert sizes(tmp_path) == {"count": 128}
    assert totals == WHOLE


@pytest.mark.parametrize(
    ("change", "size"),
    [(lambda s: s, 6), (lambda s: s.set_parallelism(3), 3), (lambda s: s.set_max_parallelism(4), 4)],
)
def test_what_an_operator_says_itself_stands(tmp_path, room, change, size):
    room(6)
    assert Counter(collected(program(tmp_path, change))) == WHOLE
    assert sizes(tmp_path) == {"count": size}


def test_operators_that_take_the_parallelism_of_another_one_do_so(room):
    room(3)
    env = environment(None, 2, scheduler_mode="reactive")
    times = WatermarkStrategy.for_monotonous_timestamps()
    stream = env.generate_sequence(1, 10).assign_timestamps_and_watermarks(times)
    stream.map(lambda n: n).set_parallelism(env.get_parallelism()).add_sink(lambda n: None)
    client = env.execute_async()
    client.get_job_execution_result().result()
    assert [len(vertex.tasks) for vertex in client.metrics().vertices] == [3, 2, 3]


def test_a_job_that_begins_again_after_a_failure_takes_them(tmp_path, room):
    room(2)
    marker, folder = tmp_path / "failed", tmp_path / "job"

    def once(record):
        if record[1] == 8 and not marker.exists():
            marker.touch()
            cores.say_cores(3)
            raise ValueError("once")
        return record

    env = environment(folder, 1, **REACTIVE)
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(1, 0))
    records = collected(program(folder, lambda s: s.map(once, PAIR), env))
    assert Counter(records) == WHOLE
    assert sizes(folder) == {"count": 3}
    assert marker.exists()


def test_a_job_that_runs_goes_on_with_other_cores(tmp_path, room, steps, capsys):
    room(2)
    offers = {2: 4, 5: 1, 7: 3}  # by the number of steps
    done = iter(range(1, 100))
    steps.append(lambda _: room(offers.get(next(done), cores.cores())))
    env = environment(tmp_path, 1, **REACTIVE)
    assert Counter(collected(program(tmp_path, env=env))) == WHOLE
    assert sizes(tmp_path) == {"count": 3}
    assert capsys.readouterr().err.count("Resuming from checkpoint") == 3


def test_an_offer_counts_that_is_the_same_twice(room):
    job = rescale.Scaling(lambda width, times: None)
    offers = iter([4, 3, 3, 2])
    job._offer, job._refused, job._looked, job._seen, job.width = lambda: next(offers), set(), 0.0, 2, 2
    assert not job.outgrown()
    assert not job.outgrown()  # not asked again so soon
    looked = [setattr(job, "_looked", 0.0) or job.outgrown() for _ in range(3)]
    assert looked == [False, True, False]


def test_a_job_that_cannot_have_other_cores_stays_as_it_is(tmp_path, room, steps, caplog):
    room(1)
    steps.append(lambda number: room(2) if number == 3 else None)
    out = tmp_path / "out.txt"  # a text file of one subtask does not become a folder
    env = environment(tmp_path / "job", 1, **REACTIVE)
    counted = program(tmp_path / "job", env=env)
    counted.map(str, Types.STRING()).write_as_text(str(out))
    with caplog.at_level(logging.WARNING, "penstock"):
        env.execute()
    assert len(out.read_text().splitlines()) == 100
    assert sizes(tmp_path / "job") == {"count": 1}
    assert "The job stays at 1 subtasks, as it cannot have 2: The output" in caplog.text


def test_what_is_seen_of_a_job_has_the_max_parallelism_that_is_taken_over(tmp_path, room):
    room(2)
    some(program(tmp_path, lambda stream: stream.set_max_parallelism(20)), 2)
    room(3)
    env = environment(tmp_path, 1, **REACTIVE)
    program(tmp_path, env=env).add_sink(lambda record: None)
    client = env.execute_async()
    client.get_job_execution_result().result()
    by_name = {vertex.name: vertex for vertex in client.execution_graph().graph.vertices}
    assert [by_name[name].max_parallelism for name in by_name if name.startswith("count")] == [20]
    assert [by_name[name].parallelism for name in by_name if name.startswith("count")] == [3]


def test_who_waits_for_a_savepoint_comes_first(tmp_path, room, steps):
    """Whoever has asked the driver that has the folder would not be answered by the next one."""
    room(1)
    done, places = iter(range(1, 100)), []

    def ask(_):
        if next(done) == 3:
            room(2)
            files = JobFolder(str(tmp_path / "job")).files
            request = Request("savepoint", str(tmp_path))
            Requests(files.storage, files.owners, files.owners.highest()).ask(request)
            places.append((files, request, files.owners.highest()))

    steps.append(ask)
    assert Counter(collected(program(tmp_path / "job"))) == WHOLE
    [(files, request, epoch)] = places
    answer = Requests(files.storage, files.owners, epoch).answered(request)
    assert answer is None or answer.error is None  # the files of owners before go
    assert len(list(tmp_path.glob("savepoint-*"))) == 1
    assert sizes(tmp_path / "job") == {"count": 2}


@pytest.mark.parametrize("uid", ["count", None])
def test_state_that_other_cores_would_lose_is_told_of(tmp_path, room, caplog, uid):
    """Its sink has a parallelism of its own, and is chained to it if that is the same."""

    def build():
        counted = counts(environment(tmp_path, 1, **REACTIVE), lambda stream: stream.uid(uid))
        return counted.map(lambda record: record, PAIR).set_parallelism(2)

    room(2)
    some(build(), 3)
    message = "The operators 'count' have no uid, and their IDs depend on the parallelism"
    assert (message in caplog.text) is (uid is None)
    room(3)
    if uid is None:
        with pytest.raises(InvalidProgramError, match="state for operator 'count'"):
            collected(build())
    else:
        assert len(collected(build())) == 70


class Pushing(ParallelSourceFunction):
    """Each subtask pushes a few numbers."""

    def run(self, context):
        for number in range(40):
            context.collect((f"k{number % 7}", 1))

    def cancel(self):
        """It ends by itself."""


def test_a_source_that_pushes_keeps_its_subtasks_and_so_its_place(tmp_path, room):
    def pushed():
        env = environment(tmp_path, 1, **REACTIVE, execution__checkpointing__interval="10ms")
        stream = env.add_source(Pushing(), type_info=PAIR).uid("pushed")
        return stream.key_by(lambda record: record[0], Types.STRING()).process(Count(), PAIR).uid("count")

    room(2)
    first = some(pushed(), 2)
    room(3)
    rest = collected(pushed())
    assert sizes(tmp_path) == {"count": 3}
    assert len(first) + len(rest) == 2 * 40


def test_without_steps_too_and_not_in_batch_mode(room):
    room(3)
    env = environment(None, 1, scheduler_mode="reactive")
    env.generate_sequence(1, 10).add_sink(lambda number: None)
    client = env.execute_async()
    client.get_job_execution_result().result()
    assert [len(vertex.tasks) for vertex in client.metrics().vertices] == [3]
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    env.generate_sequence(1, 10).add_sink(lambda number: None)
    with pytest.raises(UnsupportedError, match="scheduler-mode is reactive"):
        env.execute()


def test_what_the_planner_refuses_at_such_a_parallelism_is_refused(room):
    room(3)
    env = environment(None, 1, scheduler_mode="reactive")
    env.from_collection([1], Types.LONG()).forward().map(lambda number: number, Types.LONG()).print()
    with pytest.raises(StreamGraphError, match="FORWARD edge cannot change parallelism"):
        env.execute()
