"""Files added to a folder: what is in it stays, several jobs may add at a time, and what is in the way is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from penstock.common import RestartStrategies
from penstock.common.serialization import SimpleStringEncoder
from penstock.connectors.files.buckets import BucketAssigner
from penstock.connectors.files.file_sink import FileOutput
from penstock.errors import ConfigurationError, InvalidProgramError, JobExecutionError
from penstock.job.commit.leftovers import Verdict, pending_at, recover
from penstock.job.deployment import deploy
from penstock.job.folder.manifest import StepManifest, encoded
from penstock.job.steps.commits import SingleRun
from penstock.local import LocalExecutor
from penstock.runtime.io.sinks import TextSink
from penstock.runtime.operators.sink import StreamSink
from tests.job.commit.crashes import (
    clean,
    content,
    crashed,
    hidden,
    manifest_in,
    manifests,
    pipeline,
    refuse,
    run,
    visible,
)
from tests.job.programs import Program, only_step, reports_in

ALONE = (0, 0, 2)
DONE = {
    "more/odd/even/part-1-0": "0\n2\n",
    "more/odd/even/part-1-1": "4\n6\n",
    "more/odd/even/part-1-2": "8\n",
    "more/odd/part-0-0": "1\n3\n",
    "more/odd/part-0-1": "5\n7\n",
    "more/odd/part-0-2": "9\n",
}


def twice(texts: dict[str, str]) -> dict[str, str]:
    return {name: f"{text}|{text}" for name, text in texts.items()}


def into(folder: Path) -> FileOutput:
    return FileOutput(str(folder), SimpleStringEncoder(), BucketAssigner.base_path_bucket_assigner(), None)


def run_sinks(*sinks) -> None:
    program = Program()
    source = program.source("ab")
    for number, sink in enumerate(sinks):
        program.add(StreamSink(sink), source, name=f"Sink: {number}")
    LocalExecutor().execute(program.pipeline())


def test_files_are_added_to_what_is_there(tmp_path):
    (tmp_path / "more" / "odd").mkdir(parents=True)
    (tmp_path / "more" / "odd" / "mine").write_text("precious")
    run(tmp_path, range(10), ALONE)
    assert content(tmp_path) == {**DONE, "more/odd/mine": "precious"}
    run(tmp_path, range(10), ALONE)
    assert content(tmp_path) == {**twice(DONE), "more/odd/mine": "precious"}
    assert hidden(tmp_path) == []


def test_a_failed_task_leaves_nothing(tmp_path):
    run(tmp_path, range(10), ALONE)
    with pytest.raises(JobExecutionError):
        run(tmp_path, range(1000), ALONE, function=lambda x: 1 // (x - 999))
    assert content(tmp_path) == DONE
    assert hidden(tmp_path) == []


def test_nothing_is_visible_while_the_job_runs(tmp_path):
    def look(x):
        assert hidden(tmp_path)
        return x, visible(tmp_path)

    run(tmp_path, range(10), ALONE, function=look)
    assert sorted(content(tmp_path).values()) == [f"{(x, {})}\n" for x in range(10)]


def test_what_a_failed_attempt_wrote_does_not_count(tmp_path):
    marker = tmp_path / "failed"

    def once(x):
        if x == 9 and not marker.exists():
            marker.touch()
            raise ValueError("once")
        return x

    job = pipeline(tmp_path, range(10), ALONE, function=once)
    again = job.settings.restarting(RestartStrategies.fixed_delay_restart(1, 0))
    LocalExecutor().execute(replace(job, settings=again))
    assert content(tmp_path) == {**DONE, "failed": ""}


def test_of_two_attempts_that_both_finish_one_counts(tmp_path):
    deployment = deploy(pipeline(tmp_path, range(10), ALONE))
    with SingleRun(deployment) as output:
        first, _second = [reports_in(only_step(deployment, attempt), deployment) for attempt in (0, 1)]
        manifest = StepManifest(1, "two sinks", deployment.job.job_id, 0, outputs=output.put_together(first))
        output.commit(manifest)
        output.publish(manifest)
    assert content(tmp_path) == DONE
    assert hidden(tmp_path) == []


def test_two_jobs_add_to_one_folder_at_a_time(tmp_path):
    def other(x):
        if x == 5:
            run(tmp_path, range(10), ALONE)
            assert visible(tmp_path) == DONE
            assert clean(tmp_path) == [Verdict.RUNNING]
        return x

    run(tmp_path, range(10), ALONE, function=other)
    assert content(tmp_path) == twice(DONE)


def test_two_sinks_of_a_job_add_to_one_folder(tmp_path):
    run_sinks(into(tmp_path / "more"), into(tmp_path / "more"))
    assert content(tmp_path) == {"more/part-0-0": "a\nb\n|a\nb\n"}


@pytest.mark.parametrize(("one", "other"), [("more", "more"), ("more", "more/text"), ("more/deep", "more")])
def test_nothing_is_replaced_where_files_are_added(tmp_path, one, other):
    adding, replacing = into(tmp_path / one), TextSink(str(tmp_path / other))
    for sinks in ((adding, replacing), (replacing, adding)):
        with pytest.raises(InvalidProgramError, match="both write to"):
            run_sinks(*sinks)
    assert content(tmp_path) == {}


def test_a_folder_that_a_running_job_replaces_gets_no_files(tmp_path):
    def other(x):
        with pytest.raises(ConfigurationError, match="'two sinks' too, which is still running"):
            run_sinks(into(tmp_path / "left"))
        return x

    run(tmp_path, [1], function=other)


def test_what_stands_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "more").write_text("precious")
    with pytest.raises(ConfigurationError, match=r"'.*/more' is not a folder"):
        run(tmp_path, [1], ALONE)
    assert content(tmp_path) == {"more": "precious"}


def test_what_comes_to_stand_in_the_place_of_a_bucket_is_seen_before_the_commit(tmp_path):
    def spoil(x):
        (tmp_path / "more" / "odd").write_text("precious")
        return x

    with pytest.raises(ConfigurationError, match=r"^'.*/more/odd' is not a folder"):
        run(tmp_path, range(10), ALONE, function=spoil)
    assert content(tmp_path) == {"more/odd": "precious"}
    assert hidden(tmp_path) == []


def test_a_file_in_the_place_of_a_bucket_of_a_committed_job_is_waited_for(tmp_path):
    folder = crashed(tmp_path, committed=True, layout=ALONE)
    (folder / "more" / "odd").write_text("precious")
    assert clean(folder) == [Verdict.LEAVE]
    with pytest.raises(ConfigurationError, match=r"unfinished.*is not a folder"):
        run(folder, range(10), ALONE)
    assert visible(folder) == {"more/odd": "precious"}
    (folder / "more" / "odd").unlink()
    run(folder, range(10), ALONE)
    assert content(folder) == twice(DONE)


@pytest.mark.parametrize("committed", [True, False])
def test_what_is_not_known_is_left(tmp_path, committed):
    folder = crashed(tmp_path, committed, ALONE)
    pending = next(folder.glob("more/.pending-*"))
    (pending / "thesis.tex").write_text("years of work")
    before = content(folder)
    assert clean(folder) == [Verdict.LEAVE]
    assert content(folder) == before
    (pending / "thesis.tex").unlink()
    assert clean(folder) == [Verdict.PUBLISH if committed else Verdict.REMOVE]
    assert content(folder) == (DONE if committed else {})


@pytest.mark.parametrize("target", ["{}/more/../odd/x", "{}/x", "{}/more", "{}/more/.pending-y/../../x"])
def test_a_manifest_that_leads_out_of_the_folder_is_left(tmp_path, target):
    folder = crashed(tmp_path, committed=True, layout=ALONE)
    [path] = manifests(folder)
    text, manifest = path.read_bytes(), manifest_in(path)

    def with_first(**changes):
        first, *others = manifest.outputs
        path.write_bytes(encoded(replace(manifest, outputs=(replace(first, **changes), *others))))

    with_first(target=target.format(folder))
    assert clean(folder) == [Verdict.LEAVE]
    with_first(pending=str(folder / "elsewhere"))
    (folder / "elsewhere").write_text("mine")
    assert clean(folder) == [Verdict.LEAVE]
    assert visible(folder) == {"elsewhere": "mine"}
    path.write_bytes(text)
    assert clean(folder) == [Verdict.PUBLISH]
    assert content(folder) == {**DONE, "elsewhere": "mine"}


def test_a_folder_that_is_not_mounted_is_waited_for(tmp_path):
    folder = crashed(tmp_path, committed=True, layout=(1, 0, 2))
    (folder / "more").rename(tmp_path / "away")
    assert clean(folder) == [Verdict.LEAVE]
    (tmp_path / "away").rename(folder / "more")
    assert set(clean(folder)) == {Verdict.PUBLISH}
    assert sorted(content(folder)) == ["left", *sorted(DONE)]


def test_leftovers_are_found_from_the_folder_and_from_the_one_above(tmp_path):
    folder = crashed(tmp_path, committed=True, layout=ALONE)
    before = content(folder)
    for path in (folder, folder / "more", next(folder.glob("more/.pending-*"))):
        [leftover] = [recover(path, dry_run=True) for path in pending_at(str(path))]
        assert leftover is not None
        assert (leftover.verdict, leftover.job, leftover.targets) == (Verdict.PUBLISH, "two sinks", (f"{folder}/more",))
    assert content(folder) == before


def test_without_locks_jobs_go_on_and_leftovers_stay(tmp_path, monkeypatch):
    folder = crashed(tmp_path, committed=True, layout=ALONE)
    monkeypatch.setattr("fcntl.flock", lambda *_: refuse())
    run(folder, range(10), ALONE)
    assert visible(folder) == DONE
    assert clean(folder) == [Verdict.RUNNING]
    monkeypatch.undo()
    assert clean(folder) == [Verdict.PUBLISH]
    assert content(folder) == twice(DONE)
