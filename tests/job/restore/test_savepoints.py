"""Jobs begin from savepoints: in a new checkpoint directory, or in none; from a version of a checkpoint directory; or
not at all."""

from __future__ import annotations

import hashlib
import shutil
from collections import Counter
from pathlib import Path

import pytest

from penstock.common import Configuration, SavepointRestoreSettings
from penstock.errors import InvalidProgramError, JobExecutionError, SavepointError, UnsupportedError
from penstock.job.folder.lease import JobFolder
from penstock.job.savepoint.store import write_savepoint
from tests.job.restore.jobs import environment, some
from tests.job.restore.test_restarts import KEYS, STEP, WHOLE, counts
from tests.running import collected


def program(env):
    return counts(env, lambda stream: stream.uid("count"))


def begun_from(place, folder=None, parallelism=2, **settings):
    return environment(folder, parallelism, execution__savepoint__path=str(place), **STEP, **settings)


@pytest.fixture
def taken(tmp_path):
    """What three steps have emitted; a savepoint lies in ``savepoint``, and the checkpoint directory in ``job``."""
    first = some(program(environment(tmp_path / "job", **STEP)), 3)
    folder = JobFolder(str(tmp_path / "job"))
    write_savepoint(folder.files, folder.newest(), tmp_path / "savepoint", "stop")
    return Counter(first)


def fingerprint(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file() and "lease" not in path.parts)
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.parametrize("parallelism", [2, 1, 5])
def test_a_new_job_folder_goes_on_where_the_savepoint_was(tmp_path, taken, parallelism, capsys):
    shutil.rmtree(tmp_path / "job")
    new = tmp_path / "new"
    second = some(program(begun_from(tmp_path / "savepoint", new, parallelism)), 2)
    assert "Starting the checkpoint directory" in capsys.readouterr().err
    shutil.rmtree(tmp_path / "savepoint") if parallelism == 5 else None
    rest = collected(program(environment(new, parallelism, **STEP)))
    assert taken + Counter(second) + Counter(rest) == WHOLE


def test_the_same_savepoint_again_goes_on_and_another_is_refused(tmp_path, taken):
    new = tmp_path / "new"
    second = some(program(begun_from(tmp_path / "savepoint", new)), 2)
    third = some(program(begun_from(tmp_path / "savepoint", new)), 2)
    folder = JobFolder(str(new))
    write_savepoint(folder.files, folder.newest(), tmp_path / "other")
    with pytest.raises(InvalidProgramError, match="already has a checkpoint 6, of a job that began from another one"):
        collected(program(begun_from(tmp_path / "other", new)))
    with pytest.raises(InvalidProgramError, match="of a job that began without one"):
        collected(program(begun_from(tmp_path / "savepoint", tmp_path / "job")))
    rest = collected(program(begun_from(tmp_path / "savepoint", new, 3)))
    assert taken + Counter(second) + Counter(third) + Counter(rest) == WHOLE


def test_a_temporary_folder_will_do(tmp_path, taken):
    for parallelism in (2, 3):
        assert taken + Counter(collected(program(begun_from(tmp_path / "savepoint", None, parallelism)))) == WHOLE
    assert not list(tmp_path.glob("penstock-*"))


def test_versions_of_a_job_folder_are_savepoints(tmp_path):
    keep = {"penstock__job__retained_manifests": 5}
    first = [Counter(some(program(environment(tmp_path / "job", **STEP, **keep)), 1)) for _ in range(3)]
    versions = JobFolder(str(tmp_path / "job")).versions()
    before = fingerprint(tmp_path / "job")
    newest = begun_from(tmp_path / "job", tmp_path / "a")
    assert sum(first, Counter()) + Counter(collected(program(newest))) == WHOLE
    older = begun_from(f"{tmp_path / 'job'}@{versions[-3]}", tmp_path / "b", 3)
    done = JobFolder(str(tmp_path / "job")).read(versions[-3])
    read = sum(at[1] for source in done.sources.values() for at in source.positions.values())
    assert sum(Counter(collected(program(older))).values()) == 100 - read
    assert fingerprint(tmp_path / "job") == before
    assert collected(program(begun_from(tmp_path / "job", tmp_path / "a"))) == []
    with pytest.raises(InvalidProgramError, match="began from another one"):
        collected(program(begun_from(f"{tmp_path / 'job'}@{versions[-3]}", tmp_path / "a")))
    with pytest.raises(SavepointError, match=r"has no checkpoint 99\. It has: \d"):
        collected(program(begun_from(f"{tmp_path / 'job'}@99", tmp_path / "c")))
    assert not (tmp_path / "c").exists()


def test_a_program_that_fails_in_its_first_step_leaves_all_as_it_was(tmp_path, taken):
    before = fingerprint(tmp_path)

    def failing(record):
        raise ValueError("a new version of the program")

    for place in (tmp_path / "savepoint", tmp_path / "job"):
        with pytest.raises(JobExecutionError, match="a new version"):
            collected(program(begun_from(place, tmp_path / "new")).map(failing))
        after = {name: text for name, text in fingerprint(tmp_path).items() if not name.startswith("new")}
        assert after == before
        shutil.rmtree(tmp_path / "new")
    with pytest.raises(InvalidProgramError, match="no operator with that ID"):
        collected(counts(begun_from(tmp_path / "savepoint", tmp_path / "new"), lambda s: s.uid("other")))
    assert fingerprint(tmp_path) == before
    assert taken + Counter(collected(program(begun_from(tmp_path / "savepoint", tmp_path / "new")))) == WHOLE


def test_after_a_drain_sources_go_on(tmp_path):
    numbers = Counter(collected(program(environment(tmp_path / "job", **STEP))))
    assert numbers == WHOLE
    folder = JobFolder(str(tmp_path / "job"))
    write_savepoint(folder.files, folder.newest(), tmp_path / "savepoint", "drain")
    assert collected(program(begun_from(tmp_path / "savepoint", tmp_path / "new"))) == []


def test_the_settings_have_an_object(tmp_path, taken):
    settings = SavepointRestoreSettings.for_path(str(tmp_path / "savepoint"), True)
    env = environment(None, **STEP)
    env.set_savepoint_restore_settings(settings)
    assert taken + Counter(collected(program(env))) == WHOLE
    configuration = Configuration()
    SavepointRestoreSettings.to_configuration(settings, configuration)
    assert SavepointRestoreSettings.from_configuration(configuration) == settings
    assert settings.restore_savepoint()
    assert settings.allow_non_restored_state()
    assert not SavepointRestoreSettings.none().restore_savepoint()
    assert SavepointRestoreSettings.from_configuration(Configuration()) == SavepointRestoreSettings.none()


def test_what_cannot_begin_from_a_savepoint(tmp_path, taken):
    with pytest.raises(UnsupportedError, match="BATCH mode"):
        collected(program(begun_from(tmp_path / "savepoint", execution__runtime_mode="batch")))
    with pytest.raises(SavepointError, match="There is no savepoint at"):
        collected(program(begun_from(tmp_path / "nothing", tmp_path / "new")))
    state = next((tmp_path / "savepoint" / "state").iterdir())
    state.unlink()
    with pytest.raises(SavepointError, match="is not there"):
        collected(program(begun_from(tmp_path / "savepoint", tmp_path / "new")))
    assert JobFolder(str(tmp_path / "new")).newest() is None
    assert len(KEYS) == 100
