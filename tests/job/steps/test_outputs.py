"""The outputs of steps: whatever dies when, what every step has written is there once, after the next run."""

from __future__ import annotations

import importlib
import re
import shutil
from pathlib import Path

import pytest

from penstock.common.serialization import SimpleStringEncoder
from penstock.connectors.files.file_sink import FileOutput
from penstock.errors import ConfigurationError, FencedError
from penstock.job.commit.leftovers import Verdict, pending_at, recover
from penstock.job.steps.outputs import Outputs
from penstock.runtime.io.sinks import TextSink
from penstock.runtime.operators.sink import StreamSink
from penstock.storage.stores import Store
from tests.effort import one_of
from tests.job.commit.crashes import ONE_OF, Buckets, dies_at, hidden
from tests.job.programs import Program
from tests.job.steps.looping import Sinks, go, in_steps, newest

STEPS = [range(5), [], range(5, 8), range(8, 12)]
LAYOUTS = [(2, 1, 0), (0, 0, 2), (1, 2, 1)]


def program(root, layout, *, overwrite=False):
    """Sinks of these parallelisms, none of them where it is 0: "left" and "right" of text, "more" of added files."""
    graph = Program()
    source = graph.source([1])
    for name, p in zip(("left", "right", "more"), layout, strict=True):
        sink = TextSink(f"{root}/{name}", overwrite)
        if name == "more":
            sink = FileOutput(f"{root}/{name}", SimpleStringEncoder(), Buckets(), 3)
        if p:
            graph.add(StreamSink(sink), source, p=p, partitioner="REBALANCE", name=f"Sink: {name}")
    return graph.pipeline("steps")


def run(root, layout, steps=STEPS, *, overwrite=False, **kwargs):
    go(lambda: program(root, layout, overwrite=overwrite), f"{root}/job", steps, **kwargs)


def outputs(root) -> dict[str, list[str]]:
    """The lines of each output, in order for text, sorted for added files by bucket."""
    contents: dict[str, list[str]] = {}
    for path in sorted(Path(root).rglob("*")):
        name = str(path.relative_to(root))
        if path.is_file() and not name.startswith("job/"):
            contents.setdefault(re.sub(r"/part-.*", "", name), []).extend(path.read_text().split())
    return {name: sorted(lines) if name.startswith("more") else lines for name, lines in contents.items()}


def expected(layout, steps=STEPS) -> dict[str, list[str]]:
    contents: dict[str, list[str]] = {}
    for name, p in zip(("left", "right"), layout, strict=False):
        for subtask in range(p):
            lines = [str(value) for values in steps for value in list(values)[subtask::p]]
            contents[name if p == 1 else f"{name}/{subtask + 1}"] = lines
    for value in (str(value) for values in steps for value in values):
        if layout[2]:
            contents.setdefault("more/" + Buckets().get_bucket_id(value, None), []).append(value)
    return {name: sorted(lines) if name.startswith("more") else lines for name, lines in contents.items()}


@pytest.mark.parametrize("rebuilt", [False, True], ids=["living", "rebuilt"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_step_becomes_visible_when_it_is_published(tmp_path, layout, rebuilt):
    seen = []
    run(tmp_path, layout, rebuilt=rebuilt, after=lambda version, *_: seen.append((version, shown(tmp_path))))
    assert [version for version, _ in seen] == [1, 2, 3, 4]
    for version, content in seen:
        assert content == expected(layout, STEPS[:version])
    assert not hidden(tmp_path)
    assert outputs(tmp_path) == expected(layout)


def shown(root):
    return {name: lines for name, lines in outputs(root).items() if "/." not in f"/{name}"}


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_driver_that_dies_anywhere_loses_and_repeats_nothing(tmp_path, layout):
    n, versions = sum(layout) % ONE_OF, set()
    while True:
        root = tmp_path / str(n)
        root.mkdir()
        if not dies_at(n, lambda root=root: run(root, layout)):
            break
        manifest = newest(str(root / "job")) if (root / "job").exists() else None
        versions.add(manifest["version"] if manifest else 0)
        run(root, layout, rebuilt=n % 2 == 1)
        assert outputs(root) == expected(layout), n
        assert not hidden(root), n
        shutil.rmtree(root)
        n += ONE_OF
    assert n > 30
    assert versions == {0, 1, 2, 3, 4}


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_recovery_that_dies_is_recovered(tmp_path, layout):
    n, m = 0, 0
    while True:
        root = tmp_path / str(n)
        root.mkdir()
        if not dies_at(n, lambda root=root: run(root, layout)):
            break
        while dies_at(m, lambda root=root: run(root, layout)):
            m += 7 * ONE_OF
        m %= 11  # another place to begin each time
        assert outputs(root) == expected(layout), n
        assert not hidden(root), n
        shutil.rmtree(root)
        n += 7 * ONE_OF
    assert n > 30


def test_what_a_step_that_does_not_count_has_written_goes(tmp_path):
    deployment = in_steps(program(tmp_path, (2, 1, 1)), str(tmp_path / "job"))
    with Outputs(deployment) as pending:
        pending.recover((), 0)
        for _ in range(2):
            committed = pending.put_together(Sinks(deployment, {}).step(1, range(5)))
            pending.recover((), 0)
        assert shown(tmp_path) == {}
        sinks = Sinks(deployment, {})
        committed = pending.put_together(sinks.step(1, range(5)))
        pending.publish(committed, 1)
        pending.publish(committed, 1)
        assert shown(tmp_path) == expected((2, 1, 1), [range(5)])
        failed = pending.put_together(sinks.step(2, ["lost"]))
        assert len(failed) == 3
        pending.recover(committed, 1)
    assert outputs(tmp_path) == expected((2, 1, 1), [range(5)])
    assert not hidden(tmp_path)


def test_a_driver_that_wakes_up_behind_its_successor_changes_nothing(tmp_path):
    """It is in the middle of publishing; the next one has published the same and gone on."""
    deployment = in_steps(program(tmp_path, (2, 1, 1)), str(tmp_path / "job"))
    (tmp_path / "job").mkdir()
    sleeper = Outputs(deployment).__enter__()
    sinks = Sinks(deployment, {})
    first = sleeper.put_together(sinks.step(1, range(5)))
    sleeper.publish(first, 1)
    second = sleeper.put_together(sinks.step(2, range(5, 8)))
    successor = in_steps(program(tmp_path, (2, 1, 1)), str(tmp_path / "job"), resumed=True)
    with Outputs(successor, resumed=True) as awake:
        awake.recover(second, 2)
        new = Sinks(successor, sinks.handed_over())
        third = awake.put_together(new.step(3, range(8, 12)))
        sleeper.publish(first, 1)
        sleeper.publish(second, 2)
        sleeper.__exit__(None, None, None)
        awake.publish(third, 3)
        sleeper.publish(second, 2)
    assert outputs(tmp_path) == expected((2, 1, 1), [range(5), range(5, 8), range(8, 12)])
    assert not hidden(tmp_path)


def test_a_driver_that_was_replaced_removes_nothing_of_its_successor(tmp_path):
    """It cleans up after a failure while its successor's files wait to be published."""
    taken = []

    def check():
        if taken:
            raise FencedError("the folder was taken over")

    deployment = in_steps(program(tmp_path, (2, 1, 1)), str(tmp_path / "job"))
    with Outputs(deployment, check=check) as sleeper:
        sleeper.recover((), 0)
        taken.append(True)
        successor = in_steps(program(tmp_path, (2, 1, 1)), str(tmp_path / "job"))
        with Outputs(successor) as awake:
            awake.recover((), 0)
            first = awake.put_together(Sinks(successor, {}).step(1, range(5)))
            with pytest.raises(FencedError):
                sleeper.recover((), 0)
            awake.publish(first, 1)
    assert outputs(tmp_path) == expected((2, 1, 1), [range(5)])


def test_what_is_in_doubt_stays_for_the_next_run(tmp_path):
    deployment = in_steps(program(tmp_path, (1, 0, 1)), str(tmp_path / "job"))
    with Outputs(deployment) as pending:
        committed = pending.put_together(Sinks(deployment, {}).step(1, range(5)))
    assert len(hidden(tmp_path)) == 3  # of the two sinks, and in the checkpoint directory, what they would pass on
    assert [leftover and leftover.verdict for leftover in map(recover, pending_at(str(tmp_path)))] == [
        Verdict.LEAVE,
        Verdict.LEAVE,
    ]
    again = in_steps(program(tmp_path, (1, 0, 1)), str(tmp_path / "job"), resumed=True)
    with Outputs(again, resumed=True) as pending:
        pending.recover(committed, 1)
    assert outputs(tmp_path) == expected((1, 0, 1), [range(5)])
    assert not hidden(tmp_path)


def test_other_job_folders_leftovers_are_left_alone(tmp_path):
    deployment = in_steps(program(tmp_path, (0, 0, 1)), str(tmp_path / "other"), "e" * 32)
    with Outputs(deployment) as pending:
        pending.put_together(Sinks(deployment, {}).step(1, range(5)))
    run(tmp_path, (0, 0, 1))
    assert len(hidden(tmp_path)) == 2  # of the sink, and in the checkpoint directory


def test_text_is_replaced_only_when_asked_and_by_the_first_step(tmp_path):
    (tmp_path / "left").mkdir()
    (tmp_path / "left" / "7").write_text("old\n")
    (tmp_path / "right").write_text("old\n")
    with pytest.raises(ConfigurationError, match="exists already"):
        run(tmp_path, (2, 1, 0))
    seen = []
    run(tmp_path, (1, 2, 0), [[], [1]], overwrite=True, after=lambda *_: seen.append(shown(tmp_path)))
    assert seen[0] == {"left": [], "right/1": [], "right/2": []}
    assert outputs(tmp_path) == {"left": ["1"], "right/1": ["1"], "right/2": []}


def test_a_file_that_was_moved_away_begins_anew_and_one_that_was_cut_is_an_error(tmp_path):
    run(tmp_path, (0, 1, 0), [[1, 2]])
    (tmp_path / "right").rename(tmp_path / "moved")
    run(tmp_path, (0, 1, 0), [[1, 2], [3]])
    assert outputs(tmp_path) == {"moved": ["1", "2"], "right": ["3"]}
    deployment = in_steps(program(tmp_path, (0, 1, 0)), str(tmp_path / "job"), resumed=True)
    with Outputs(deployment, resumed=True) as pending:
        committed = pending.put_together(Sinks(deployment, {}).step(3, [4]))
        (tmp_path / "right").write_text("")
        with pytest.raises(ConfigurationError, match="has 0 bytes, and 2 had been written"):
            pending.publish(committed, 3)
        (tmp_path / "right").write_text("3\n")
        pending.publish(committed, 3)
    assert outputs(tmp_path)["right"] == ["3", "4"]


def test_a_name_that_is_taken_is_no_commit(tmp_path):
    deployment = in_steps(program(tmp_path, (0, 0, 1)), str(tmp_path / "job"))
    with Outputs(deployment) as pending:
        pending.publish(pending.put_together(Sinks(deployment, {}).step(1, [1])), 1)
        with pytest.raises(ConfigurationError, match="exists already"):
            pending.put_together(Sinks(deployment, {}).step(2, [1]))


def texts(root, name) -> dict[str, str]:
    """The files of a text output on a store, by what follows its name."""
    place, store = f"{root}/{name}", Store(root)
    paths = [entry.path for entry in store.list(root, deep=True) if entry.path.startswith(place)]
    return {path.removeprefix(place): store.get(path).decode() for path in paths}


@pytest.mark.parametrize("kind", ["memory", "s3"])
def test_text_on_a_store_gets_a_numbered_file_with_each_version(kind, tmp_path, request):
    pytest.importorskip("fsspec")
    root = f"memory://texts/{tmp_path.name}" if kind == "memory" else request.getfixturevalue("bucket") + "/out"
    for name in ("left", "right/1", "right/12"):
        Store(root).put(f"{root}/{name}", b"old\n")
    with pytest.raises(ConfigurationError, match="exists already"):
        run(root, (1, 2, 0))
    seen = []
    run(root, (1, 2, 0), [[], *STEPS], overwrite=True, after=lambda *_: seen.append(texts(root, "left")))
    first, second = {"/1": "0\n1\n2\n3\n4\n"}, {"/2": "5\n6\n7\n"}
    whole = {**first, **second, "/3": "8\n9\n10\n11\n"}
    assert seen == [{"": "old\n"}, first, first, {**first, **second}, whole]
    assert list(texts(root, "right").values()) == ["0\n2\n4\n", "1\n3\n", "5\n7\n", "6\n", "8\n10\n", "9\n11\n"]
    run(root, (1, 2, 0), [[], *STEPS, [12]], overwrite=True)
    assert texts(root, "left") == {**whole, "/4": "12\n"}
    assert texts(root, "right")["/7"] == "12\n"


def on_store(root) -> list[str]:
    store = Store(root)
    paths = [entry.path for name in ("left", "more") for entry in store.list(f"{root}/{name}", deep=True)]
    assert not [path for path in paths if "/." in path]
    return sorted(line for path in paths for line in store.get(path).decode().split())


@pytest.mark.parametrize("kind", ["memory", "s3"])
def test_added_files_on_stores(kind, tmp_path, request):
    pytest.importorskip("fsspec")
    root = f"memory://steps/{tmp_path.name}" if kind == "memory" else request.getfixturevalue("bucket") + "/out"
    seen = []
    run(root, (0, 0, 2), after=lambda version, *_: seen.append(version))
    assert seen == [1, 2, 3, 4]
    assert on_store(root) == sorted(map(str, range(12)))
    run(root, (0, 0, 2), [*STEPS, [12]])
    assert on_store(root) == sorted(map(str, range(13)))


@pytest.mark.slow
@pytest.mark.parametrize("layout", [(0, 0, 2), (2, 0, 0)], ids=["added files", "text"])
def test_on_a_store_a_driver_that_dies_anywhere_loses_and_repeats_nothing(tmp_path, layout):
    pytest.importorskip("fsspec")
    stores = importlib.import_module("tests.job.commit.test_stores")
    n = 0
    while True:
        root = f"memory://steps/{tmp_path.name}-{n}"

        def work(root=root, n=n):
            go(lambda: program(root, layout), str(tmp_path / f"job-{n}"), STEPS, rebuilt=True)

        died = stores.dies_at(n, work)
        if died:
            work()
        assert on_store(root) == sorted(map(str, range(12))), n
        if not died:
            break
        n += one_of(5)
    assert n >= 20
