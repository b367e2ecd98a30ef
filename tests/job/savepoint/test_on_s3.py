"""Savepoints of a job whose folder is on a store: asked for by others, begun from, rescaled."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.job.folder.lease import JobFolder
from penstock.job.savepoint import commands
from penstock.job.savepoint.contents import verify
from penstock.job.savepoint.store import read_savepoint
from tests.job.savepoint.jobs import At, Numbers, environment, look_often
from tests.job.savepoint.test_running import SECONDS, lines, sink_to, sums, version, when, windows


@pytest.fixture
def numbers() -> type[Numbers]:
    class Own(Numbers):
        end = 25

    return Own


def test_one_is_asked_for_begun_from_and_rescaled(
    bucket: str, tmp_path: Path, numbers: type[Numbers], monkeypatch: pytest.MonkeyPatch
) -> None:
    job, kept = f"{bucket}/job", f"{bucket}/savepoints"
    look_often(monkeypatch)
    sums(env := environment(job), numbers).add_sink(lambda value: None)
    client = env.execute_async("sums")
    when(lambda: version(client) >= 1)
    beside = commands.create(job, kept, seconds=SECONDS)
    stopped = commands.stop(job, kept, taken=True, drain=False, seconds=SECONDS)
    assert stopped is not None
    assert client.get_job_execution_result().exception(SECONDS) is None
    for place, kind in ((beside, "savepoint"), (stopped, "stop")):
        assert place.startswith(f"{kept}/savepoint-")
        assert read_savepoint(place).about.kind == kind
        assert verify(read_savepoint(place)).problems == ()

    numbers.end = 27
    once = {"penstock__step__available_now": "true"}
    for number, more in ((3, {"execution__savepoint__path": stopped}), (1, {})):
        env = environment(f"{bucket}/new", number, **once, **more)
        sink_to(tmp_path / f"out-{number}", sums(env, numbers))
        env.execute("sums")
        newest = JobFolder(f"{bucket}/new").newest()
        assert newest is not None
        assert [operator.parallelism for operator in newest.operators.values()] == [number]
        [source] = newest.sources.values()
        assert source.positions["numbers"][1] == At(numbers.end)
        numbers.end += 1
    assert sorted(lines(tmp_path / "out-3")) == ["117", "126"]  # with 25 and 26, by remainder
    assert lines(tmp_path / "out-1") == ["135"]


def test_a_job_is_drained_from_outside(bucket: str, tmp_path: Path, numbers: type[Numbers]) -> None:
    env = environment(f"{bucket}/job")
    sink_to(tmp_path / "out", windows(env, numbers))
    client = env.execute_async("windows")
    when(lambda: version(client) >= 1)
    place = client.stop_with_savepoint(True, f"{bucket}/savepoints").result(SECONDS)
    assert sorted(lines(tmp_path / "out")) == ["(0, 10)", "(0, 10)", "(0, 5)"]
    assert verify(read_savepoint(place)).problems == ()
