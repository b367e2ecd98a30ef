from __future__ import annotations

import os
import random
import shutil

import pytest

from penstock.connectors.files.watched_folders import FileMonitor, TextPieces
from penstock.errors import ConfigurationError, InvalidProgramError, JobExecutionError, UnsupportedError
from penstock.local import LocalExecutor
from penstock.runtime.io import file_source
from penstock.runtime.io.file_paths import found_files
from penstock.runtime.io.file_source import pieces_of, read_text
from penstock.runtime.io.sinks import PrintSink, TextSink
from penstock.runtime.io.sources import CollectionSource
from penstock.runtime.io.splits import Split, SplitSource
from penstock.runtime.operators.elementwise import StreamMap
from penstock.runtime.operators.sink import StreamSink
from penstock.runtime.operators.source import FileReader, StreamSource
from penstock.storage.storage import local_path
from tests.job.programs import Program


def splits_of(path, charset="UTF-8", size=1 << 20):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_source, "SPLIT_BYTES", size)
        files = found_files((str(path),), deep=False)
        return [split for file in files for split in pieces_of(file, charset, splittable=True)]


def lines_of(path, charset="UTF-8", size=1 << 20):
    return [
        line
        for split in splits_of(path, charset, size)
        for records in read_text(split, charset)
        for line in records.values
    ]


@pytest.mark.slow
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_every_line_is_read_once_whatever_the_splits(tmp_path, end, last):
    draw = random.Random(end)
    for trial in range(20):
        lines = ["".join(draw.choice("abcä€😀 ") for _ in range(draw.randrange(12))) for _ in range(30)]
        if not last:
            lines[-1] += "x"  # without a line end an empty last line would be none
        path = tmp_path / f"{trial}"
        path.write_bytes((end.join(lines) + (end if last else "")).encode())
        for size in (1, 2, 3, 7, 50, 10_000):
            assert lines_of(path, size=size) == lines


def test_long_lines_cross_blocks(tmp_path):
    lines = ["x" * 3_000_000, "", "y" * 10, "z" * 2_000_000]
    (tmp_path / "f").write_text("\n".join(lines))
    assert lines_of(tmp_path / "f") == lines
    assert lines_of(tmp_path / "f", size=1_500_000) == lines


def test_charsets(tmp_path):
    lines = ["Grüße", "größer", ""]
    for charset in ("ISO-8859-1", "UTF-16", "UTF-16LE", "UTF-8"):
        (tmp_path / charset).write_bytes(("\n".join(lines) + "\n").encode(charset))
        assert lines_of(tmp_path / charset, charset, size=4) == lines
    (tmp_path / "broken").write_bytes(b"a\xffb\n")
    assert lines_of(tmp_path / "broken") == ["a�b"]


def test_a_folder_means_its_files_by_name(tmp_path):
    for name in ("b", "a", ".hidden", "_skipped"):
        (tmp_path / name).write_text(f"{name}\n")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "c").write_text("c\n")
    assert lines_of(tmp_path) == ["a", "b"]


def test_splits_cover_the_file(tmp_path):
    (tmp_path / "f").write_bytes(b"x" * 10)
    cuts = ((0, 4, 4), (4, 8, 4), (8, 10, 2))
    assert splits_of(tmp_path / "f", size=4) == [Split(f"{tmp_path}/f:{s}", s, e, n) for s, e, n in cuts]
    (tmp_path / "empty").write_bytes(b"")
    assert not lines_of(tmp_path / "empty")


def test_uris(tmp_path):
    assert local_path("file:///a%20b/c") == local_path("/a b/c") == local_path("file:/a%20b/c")
    assert local_path("file:///a#b?c") == local_path("/a#b?c") == local_path("file://localhost/a#b?c")
    with pytest.raises(UnsupportedError, match="must be a local one"):
        local_path("hdfs://host/x")


def text_program(path, p=1, sink=None):
    program = Program()
    monitor = program.add(StreamSource(SplitSource(FileMonitor(str(path), TextPieces("UTF-8")))), name="Source: files")
    reader = program.add(FileReader("UTF-8"), monitor, p=p, partitioner="REBALANCE")
    if sink is None:
        program.collect(reader)
    else:
        program.add(StreamSink(sink), reader, p=p)
    return program


def run(program):
    return LocalExecutor().execute(program.pipeline()).collected


def test_reading_in_a_program(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text("".join(f"{name}{i}\n" for i in range(1000)))
    expected = [f"{name}{i}" for name in "ab" for i in range(1000)]
    assert run(text_program(tmp_path))["out"] == expected
    assert sorted(run(text_program(tmp_path, p=3))["out"]) == sorted(expected)


def test_a_missing_input_is_found_before_the_job_starts(tmp_path):
    with pytest.raises(ConfigurationError, match="does not exist"):
        run(text_program(tmp_path / "nothing"))


def test_text_sinks(tmp_path):
    (tmp_path / "in").write_text("a\nb\nc\n")
    run(text_program(tmp_path / "in", sink=TextSink(str(tmp_path / "one"))))
    assert (tmp_path / "one").read_text() == "a\nb\nc\n"
    run(text_program(tmp_path / "in", p=3, sink=TextSink(str(tmp_path / "many"))))
    assert sorted(p.name for p in (tmp_path / "many").iterdir()) == ["1", "2", "3"]
    assert sorted("".join(p.read_text() for p in (tmp_path / "many").iterdir()).split()) == ["a", "b", "c"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "many", "one"]


def test_text_sinks_overwrite_only_when_asked_and_only_their_own(tmp_path):
    (tmp_path / "in").write_text("a\n")
    target = tmp_path / "out"
    run(text_program(tmp_path / "in", p=3, sink=TextSink(str(target))))
    with pytest.raises(ConfigurationError, match="exists already"):
        run(text_program(tmp_path / "in", sink=TextSink(str(target))))
    run(text_program(tmp_path / "in", p=2, sink=TextSink(str(target), overwrite=True)))
    assert sorted(p.name for p in target.iterdir()) == ["1", "2"]
    run(text_program(tmp_path / "in", sink=TextSink(str(target), overwrite=True)))
    assert target.read_text() == "a\n"
    target.unlink()
    target.mkdir()
    (target / "thesis.tex").write_text("years of work")
    with pytest.raises(ConfigurationError, match=r"thesis\.tex"):
        run(text_program(tmp_path / "in", sink=TextSink(str(target), overwrite=True)))


def test_nothing_is_visible_of_a_failed_job(tmp_path):
    program = Program()
    source = program.source(range(10))
    program.add(StreamSink(TextSink(str(tmp_path / "good"))), source)
    bad = program.add(StreamMap(lambda x: 1 // (x - 9)), source, p=2, partitioner="REBALANCE")
    program.add(StreamSink(TextSink(str(tmp_path / "bad"))), bad, p=2)
    with pytest.raises(JobExecutionError):
        run(program)
    assert not list(tmp_path.iterdir())


def test_two_sinks_on_one_path_are_refused(tmp_path):
    program = Program()
    source = program.source([1])
    for _ in range(2):
        program.add(StreamSink(TextSink(str(tmp_path / "x"))), source)
    with pytest.raises(InvalidProgramError, match="both write"):
        run(program)


@pytest.mark.parametrize(
    ("first", "second"), [("x", "f/../x"), ("x", "x/1"), ("x/1", "x"), ("x/y/z", "x"), ("x", "l/x")]
)
def test_outputs_inside_one_another_are_refused(tmp_path, first, second):
    (tmp_path / "f").mkdir()
    (tmp_path / "l").symlink_to(tmp_path)
    program = Program()
    source = program.source([1])
    for path in (first, second):
        program.add(StreamSink(TextSink(f"{tmp_path}/{path}")), source, p=2)
    with pytest.raises(InvalidProgramError, match="both write"):
        run(program)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["f", "l"]


def test_what_is_no_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    program = Program()
    program.add(StreamSink(TextSink(str(tmp_path / "pipe"), overwrite=True)), program.source([1]))
    with pytest.raises(ConfigurationError, match="neither a file nor a folder"):
        run(program)
    assert (tmp_path / "pipe").is_fifo()


def test_a_file_that_appears_during_the_job_is_not_replaced(tmp_path):
    def write(x):
        (tmp_path / "second").write_text("precious")
        return x

    program = Program()
    mapped = program.add(StreamMap(write), program.source([1]))
    program.add(StreamSink(TextSink(str(tmp_path / "first"))), mapped)
    program.add(StreamSink(TextSink(str(tmp_path / "second"))), mapped)
    with pytest.raises(ConfigurationError, match="exists already"):
        run(program)
    assert [p.name for p in tmp_path.iterdir()] == ["second"]
    assert (tmp_path / "second").read_text() == "precious"


def test_a_sink_that_cannot_open_its_file_says_so(tmp_path):
    def remove(x):
        for folder in tmp_path.glob(".out.pending*"):
            shutil.rmtree(folder)
        return x

    program = Program()
    mapped = program.add(StreamMap(remove), program.source([1]))
    program.add(StreamSink(TextSink(str(tmp_path / "out"))), mapped, p=2, name="Sink: lost")
    with pytest.raises(JobExecutionError, match="FileNotFoundError") as caught:
        run(program)
    assert caught.value.operator == "Sink: lost"


def test_a_function_that_changes_the_folder_leaves_nothing_pending(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "else").mkdir()
    program = Program()
    moved = program.add(StreamMap(lambda x: os.chdir(tmp_path / "else")), program.source([1]))
    program.add(StreamSink(TextSink("an öutput")), moved)
    run(program)
    assert sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*")) == ["an öutput", "else"]


def test_printing_what_the_terminal_cannot_show(capsys):
    program = Program()
    program.add(StreamSink(PrintSink()), program.source(["a", "\ud800"]))
    run(program)
    assert capsys.readouterr().out == "a\n\\ud800\n"


def test_a_parallel_collection_is_refused():
    program = Program()
    program.collect(program.add(StreamSource(CollectionSource([1])), p=2), p=2)
    with pytest.raises(InvalidProgramError, match="each subtask would emit"):
        run(program)


def test_relative_paths_mean_the_driver_s_folder(tmp_path, monkeypatch):
    (tmp_path / "in").write_text("a\n")
    monkeypatch.chdir(tmp_path)
    program = text_program("in", sink=TextSink("deep/er/out"))
    pipeline = program.pipeline()
    LocalExecutor().execute(pipeline)
    assert (tmp_path / "deep/er/out").read_text() == "a\n"
