"""Savepoints are folders that can be moved; what is no savepoint is an error that says what it is."""

from __future__ import annotations

import json
import os
import random
import shutil
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import CheckpointDirectoryError, SavepointError
from penstock.job.folder.files import Files
from penstock.job.folder.lease import JobFolder
from penstock.job.folder.manifest import Pickled, plain_manifest
from penstock.job.savepoint.format import AboutSavepoint, StoredSavepoint, bare, parsed, written
from penstock.job.savepoint.store import bring_in, new_place, read_savepoint, write_savepoint
from penstock.storage.storage import join
from penstock.storage.stores import storage_of
from tests.job.folder.examples import everything
from tests.job.savepoint.jobs import At, folder_with_state, numbers_read


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return folder_with_state(tmp_path_factory.mktemp("jobs") / "job")


@pytest.fixture
def taken(job: Files, tmp_path: Path) -> StoredSavepoint:
    manifest = job.newest()
    assert manifest is not None
    return write_savepoint(job, manifest, tmp_path / "savepoint")


def files_of(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def test_what_was_written_is_read(job: Files, taken: StoredSavepoint) -> None:
    newest = job.newest()
    assert newest is not None
    assert taken.manifest.operators == newest.operators
    assert taken.manifest.sources == newest.sources
    assert taken.about.version == newest.version
    assert (taken.about.job, taken.about.kind, taken.about.parallelism) == ("sums", "savepoint", 2)
    for path in (taken.place, f"{taken.place}/", f"{taken.place}/savepoint.json", f"file://{taken.place}"):
        assert read_savepoint(path) == taken
    assert set(files_of(taken.state)) == set(newest.files())
    assert {name for name in files_of(job.state) if name in set(newest.files())} == set(newest.files())


def test_it_costs_no_copy_on_one_file_system(job: Files, taken: StoredSavepoint) -> None:
    for name in taken.manifest.files():
        assert os.path.samefile(join(taken.state, name), join(job.state, name))


def test_people_can_read_it(taken: StoredSavepoint) -> None:
    head, _, body = Path(taken.place, "savepoint.json").read_text().partition("\n")
    assert json.loads(head)["kind"] == "penstock savepoint"
    assert len(body.splitlines()) > 50
    document = json.loads(body)
    assert document["about"]["job"] == "sums"
    assert {operator["uid"] for operator in document["state"]["operators"].values()} == {"sum"}
    assert taken.place not in body


@pytest.mark.parametrize("way", ["mv", "cp"])
def test_it_can_be_moved_and_copied(taken: StoredSavepoint, tmp_path: Path, way: str) -> None:
    elsewhere = tmp_path / "else" / "where"
    elsewhere.parent.mkdir()
    (shutil.move if way == "mv" else shutil.copytree)(taken.place, elsewhere)
    if way == "cp":
        shutil.rmtree(taken.place)
    savepoint = read_savepoint(elsewhere)
    assert savepoint == replace(taken, place=str(elsewhere))
    new = Files(str(tmp_path / "new"))
    manifest = bring_in(savepoint, new)
    assert set(files_of(new.state)) == set(manifest.files())
    assert (manifest.version, manifest.origin) == (1, taken.about.id)
    assert manifest.operators == taken.manifest.operators


def test_files_are_copied_where_links_cannot_be(job: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: Any) -> None:
        raise OSError("another file system")

    manifest = job.newest()
    assert manifest is not None
    monkeypatch.setattr(os, "link", no_links)
    taken = write_savepoint(job, manifest, tmp_path / "copied")
    name = next(iter(manifest.files()))
    assert not os.path.samefile(join(taken.state, name), join(job.state, name))
    assert files_of(taken.state).items() <= files_of(job.state).items()


def base_of(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if kind == "memory":
        pytest.importorskip("fsspec")
        return f"memory://savepoints/{tmp_path.name}"
    return str(tmp_path) if kind == "local" else request.getfixturevalue(kind)


KINDS = ["local", "memory", "bucket", pytest.param("hdfs", marks=pytest.mark.hdfs)]


@pytest.mark.parametrize("second", KINDS)
@pytest.mark.parametrize("first", KINDS)
def test_any_storage_to_any(
    first: str, second: str, job: Files, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    manifest = job.newest()
    assert manifest is not None
    one, two = (base_of(kind, request, tmp_path) for kind in (first, second))
    taken = write_savepoint(job, manifest, join(one, "savepoint"))
    target = Files(join(two, "job"))
    bring_in(read_savepoint(join(one, "savepoint")), target)
    assert {entry.path.rpartition("/")[2] for entry in target.storage.list(target.state)} == set(manifest.files())
    for name in manifest.files():
        assert target.storage.get(join(target.state, name)) == job.storage.get(join(job.state, name))
    again = write_savepoint(target, manifest, join(one, "again"))
    assert replace(again, place=taken.place, about=taken.about) == taken


def test_a_second_savepoint_has_a_place_of_its_own(job: Files, taken: StoredSavepoint, tmp_path: Path) -> None:
    manifest = job.newest()
    assert manifest is not None
    with pytest.raises(SavepointError, match="There is a savepoint already"):
        write_savepoint(job, manifest, taken.place)
    assert read_savepoint(taken.place) == taken
    for place in (job.place, f"{job.state}/within"):
        with pytest.raises(SavepointError, match="inside of what it is taken of"):
            write_savepoint(job, manifest, place)
    first, second = (new_place(tmp_path, "abcdef0123") for _ in range(2))
    assert first != second
    assert Path(first).name.startswith("savepoint-abcdef-")


def test_what_is_not_there_is_not_taken(job: Files, tmp_path: Path) -> None:
    shutil.copytree(job.place, tmp_path / "job")
    files = Files(str(tmp_path / "job"))
    manifest = files.newest()
    assert manifest is not None
    os.unlink(join(files.state, next(iter(manifest.files()))))
    with pytest.raises(SavepointError, match="could not be made"):
        write_savepoint(files, manifest, tmp_path / "savepoint")
    with pytest.raises(SavepointError, match="was not finished"):
        read_savepoint(tmp_path / "savepoint")


def test_a_version_of_a_job_is_one_too(job: Files, tmp_path: Path) -> None:
    versions = JobFolder(job.place).versions()
    newest = read_savepoint(job.place)
    assert (newest.about.version, newest.about.kind, newest.state) == (versions[-1], "version", job.state)
    older = read_savepoint(f"{job.place}@{versions[0]}")
    assert older.about.version == versions[0]
    assert older.about.id != newest.about.id == read_savepoint(f"{job.place}@{versions[-1]}").about.id
    manifest = bring_in(older, Files(str(tmp_path / "new")))
    assert manifest.outputs == ()
    with pytest.raises(SavepointError, match="has no checkpoint 99"):
        read_savepoint(f"{job.place}@99")
    odd = tmp_path / "odd@3"
    shutil.copytree(job.place, odd)
    assert read_savepoint(odd).about.version == versions[-1]


def test_nothing_is_unpickled_before_it_is_brought_in(tmp_path: Path) -> None:
    job = numbers_read(tmp_path / "job")
    At.calls = 0
    manifest = read_savepoint(job.place).manifest
    taken = write_savepoint(job, manifest, tmp_path / "savepoint")
    savepoint = read_savepoint(taken.place)
    assert At.calls == 0
    [source] = savepoint.manifest.sources.values()
    assert [type(position) for position in source.positions.values()] == [Pickled]
    [source] = bring_in(savepoint, Files(str(tmp_path / "new"))).sources.values()
    assert source.positions == {"numbers": [0, At(10)]} or source.positions == {"numbers": [1, At(10)]}
    assert At.calls == 1


def test_a_position_whose_class_is_gone_is_said(
    taken: StoredSavepoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = numbers_read(tmp_path / "job")
    savepoint = read_savepoint(job.place)
    monkeypatch.delattr("tests.job.savepoint.jobs.at")
    with pytest.raises(SavepointError, match="position of a source that this program cannot read"):
        bring_in(savepoint, Files(str(tmp_path / "new")))
    assert not Path(tmp_path, "new").exists()


@pytest.mark.parametrize("what", ["nothing", "empty", "file", "flink", "unfinished", "other", "no steps"])
def test_what_is_no_savepoint_is_said(what: str, tmp_path: Path) -> None:
    place, says = tmp_path / "place", "no savepoint.json, nor is it a checkpoint directory"
    if what == "file":
        place.write_text("x")
        says = "it is a file"
    elif what != "nothing":
        place.mkdir()
    if what == "nothing":
        says = "there is no such folder"
    elif what == "flink":
        (place / "_metadata").write_bytes(b"\x49\x60\x67\x2d")
        says = "Apache Flink"
    elif what == "unfinished":
        (place / "state").mkdir()
        says = "not finished"
    elif what == "other":
        (place / "savepoint.json").write_text('{"a": 1}\n')
        says = "not a Penstock savepoint"
    elif what == "no steps":
        JobFolder(str(place)).open("x").close()
        says = "has no checkpoint yet"
    with pytest.raises(SavepointError, match=says):
        read_savepoint(place)
    assert issubclass(SavepointError, CheckpointDirectoryError)


def test_a_newer_one_is_refused(taken: StoredSavepoint) -> None:
    path = Path(taken.place, "savepoint.json")
    path.write_bytes(path.read_bytes().replace(b'"format": 1', b'"format": 3', 1))
    with pytest.raises(SavepointError, match="format 3: a newer Penstock"):
        read_savepoint(taken.place)


def test_every_byte_counts_and_every_length(taken: StoredSavepoint) -> None:
    text, chance = Path(taken.place, "savepoint.json").read_bytes(), random.Random(13)
    for length in [*range(300), *chance.sample(range(300, len(text)), 300)]:
        with pytest.raises(SavepointError):
            parsed(text[:length], "place")
    for _ in range(1000):
        at = chance.randrange(len(text))
        other = text[:at] + bytes([text[at] ^ (1 << chance.randrange(8))]) + text[at + 1 :]
        with pytest.raises(SavepointError):
            parsed(other, "place")


def sealed(document: Any) -> bytes:
    """The text of a savepoint by somebody who can compute a checksum."""
    body = json.dumps(document, indent=1).encode() + b"\n"
    head = {"kind": "penstock savepoint", "format": 1, "sha256": sha256(body).hexdigest()}
    return json.dumps(head).encode() + b"\n" + body


ODD: list[Any] = [None, True, -1, 1.5, "x", "../../../etc/passwd", [], [[]], {}, {"pickle": 1}, 10**30, "0" * 32]


def places_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All places in a document."""
    places = [path]
    for key, part in value.items() if type(value) is dict else enumerate(value) if type(value) is list else ():
        places += places_in(part, (*path, key))
    return places


def test_one_with_a_right_checksum_and_odd_values_is_refused_or_harmless(taken: StoredSavepoint) -> None:
    """Never another exception; and no file outside of the folder is named."""
    about = AboutSavepoint("1" * 32, "job", "2" * 32, 5, 6, "savepoint", 2)
    chance = random.Random(5)
    examples = [taken, StoredSavepoint("place", about, bare(everything()))]
    refused = 0
    for example in examples:
        text = written(example).partition(b"\n")[2]
        for path in places_in(json.loads(text)):
            for odd in chance.sample(ODD, 4):
                document = holder = json.loads(text)
                for key in path[:-1]:
                    holder = holder[key]
                if path:
                    holder[path[-1]] = odd
                else:
                    document = odd
                try:
                    read_back = parsed(sealed(document), "place")
                    assert not any("/" in name or name.startswith(".") for name in read_back.manifest.files())
                    json.dumps(plain_manifest(read_back.manifest))
                except SavepointError:
                    refused += 1
    assert refused > 500


@pytest.mark.parametrize("damage", ["missing", "cut", "longer"])
def test_files_of_another_length_are_not_brought_in(taken: StoredSavepoint, tmp_path: Path, damage: str) -> None:
    path = Path(taken.state, next(iter(taken.manifest.files())))
    data = path.read_bytes()
    path.unlink()  # the checkpoint directory has it, too
    if damage != "missing":
        path.write_bytes(data[:-1] if damage == "cut" else data + b"x")
    with pytest.raises(SavepointError, match="is not there" if damage == "missing" else "should have .* bytes"):
        bring_in(read_savepoint(taken.place), Files(str(tmp_path / "new")))
    assert not Path(tmp_path, "new").exists()


def test_what_was_left_half_copied_is_copied_again(job: Files, tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    manifest, place = job.newest(), f"memory://half/{tmp_path.name}"
    assert manifest is not None
    name = next(iter(manifest.files()))
    storage = storage_of(place)
    storage.put(join(place, "state", name), b"half")
    taken = write_savepoint(job, manifest, place)
    assert storage.get(join(taken.state, name)) == job.storage.get(join(job.state, name))
