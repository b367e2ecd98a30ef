"""What runs on a Python that lacks what Windows lacks; what needs a lock of files is refused, and leaves nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

AS_ON_WINDOWS = """
import os, sys
for module in ("fcntl", "grp", "pwd", "resource"):
    sys.modules[module] = None
for name in ("fork", "getuid", "register_at_fork"):
    delattr(os, name)

from penstock.common import Configuration, Types
from penstock.common.serialization import Encoder
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.file_system import FileSink
from penstock.errors import UnsupportedError

def program(**settings):
    configuration = Configuration()
    for name, value in settings.items():
        configuration.set_string(name.replace("_", "."), value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration, executor="local")
    env.set_parallelism(2)
    return env, env.from_collection(["b", "a", "b"], type_info=Types.STRING())

def file_sink(place):
    return FileSink.for_row_format(place, Encoder.simple_string_encoder()).build()

def refused(env):
    try:
        env.execute("windows")
    except UnsupportedError as error:
        print("refused:", error)
"""


def output(program: str) -> str:
    """What a program prints on such a Python."""
    run = subprocess.run([sys.executable, "-c", AS_ON_WINDOWS + program], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_a_bounded_program_reads_files_and_prints(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("b\na\nb\n")
    text = f"""
env, _ = program()
letters = env.read_text_file({str(tmp_path)!r}).map(lambda text: (text, 1))
letters.key_by(lambda pair: pair[0]).sum(1).map(str).print().set_parallelism(1)
env.execute("windows")
"""
    assert sorted(output(text).splitlines()) == ["('a', 1)", "('b', 1)", "('b', 2)"]


@pytest.mark.parametrize(
    "text",
    [
        "env, texts = program()\ntexts.sink_to(file_sink({place!r}))",
        "env, texts = program(execution_checkpointing_dir={place!r})\ntexts.print()",
    ],
    ids=["output", "checkpoints"],
)
def test_what_writes_a_local_folder_is_refused_and_leaves_nothing(text: str, tmp_path: Path) -> None:
    message = output(text.format(place=str(tmp_path / "place")) + "\nrefused(env)")
    assert message.startswith("refused: Files and checkpoints in a local folder, here ")
    assert "on Linux and macOS only" in message
    assert "WSL" in message
    assert list(tmp_path.iterdir()) == []


def test_a_program_without_an_end_is_refused(tmp_path: Path) -> None:
    text = f"""
import tempfile
from penstock.common import Duration, WatermarkStrategy
from penstock.datastream.connectors.file_system import FileSource, StreamFormat

tempfile.tempdir = {str(tmp_path)!r}
env, _ = program()
source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), {str(tmp_path)!r})
source = source.monitor_continuously(Duration.of_seconds(1)).build()
env.from_source(source, WatermarkStrategy.no_watermarks(), "texts").print()
refused(env)
"""
    assert output(text).startswith("refused: Files and checkpoints in a local folder, here ")
    assert list(tmp_path.iterdir()) == []
