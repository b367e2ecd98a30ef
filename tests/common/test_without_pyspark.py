"""Without PySpark, py4j and Java: what works, and the errors of what does not. Processes cannot find them; what only
asks for the module ``pyspark`` is tested in this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.common import Types
from penstock.common.extras import pyspark
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import SparkSink
from penstock.errors import ConfigurationError, UnsupportedError
from penstock.savepoints.on_spark import frame_of
from penstock.spark import execution_edges
from penstock.spark.session import archive_path, open_session
from tests.pyflink.recorded import PRINTS

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
PACKAGE = Path(penstock.__file__).parent
HIDING = Path(__file__).parent / "without_pyspark"

Run = Callable[..., str]


@pytest.fixture
def bare(tmp_path: Path) -> Run:
    """Runs Python where neither PySpark nor Java can be found, and returns what it prints, on both outputs."""
    paths = [str(HIDING), str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PATH": str(tmp_path / "no-programs")}
    for variable in ("JAVA_HOME", "SPARK_HOME", "PENSTOCK_EXECUTOR"):
        environment.pop(variable, None)

    def run(*arguments: object, fails: bool = False) -> str:
        command = [sys.executable, *map(str, arguments)]
        ended = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert bool(ended.returncode) is fails, ended.stdout + ended.stderr
        return ended.stdout + ended.stderr

    return run


IMPORTS = """
import importlib, json, sys
for module in json.loads(sys.argv[1]):
    importlib.import_module(module)
print(sorted(name for name in sys.modules if name.partition(".")[0] in ("pyspark", "py4j")))
"""


@pytest.mark.slow
def test_spark_is_refused_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(
        UnsupportedError, match=r"^It runs on Spark, and on Windows .* under WSL.* penstock run --local\.$"
    ):
        pyspark("It runs on Spark")


def test_every_module_can_be_imported(bare: Run) -> None:
    places = (path.relative_to(PACKAGE.parent).with_suffix("") for path in sorted(PACKAGE.rglob("*.py")))
    names = [".".join(place.parts).removesuffix(".__init__") for place in places if place.name != "__main__"]
    assert len(names) > 400
    assert bare("-c", IMPORTS, json.dumps(names)).splitlines()[-1] == "[]"


VIEW = """
from penstock.datastream import StreamExecutionEnvironment
from penstock.viewer import view
env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1]).print()
print(view(env.to_pipeline("counts")))
"""
COMMANDS = """
import json, sys
from click.testing import CliRunner
from penstock.cli import group
for arguments in json.loads(sys.argv[1]):
    result = CliRunner().invoke(group, arguments, prog_name="penstock")
    assert result.exit_code == 0, (arguments, result.output, result.exception)
    print(arguments[0], len(result.output))
assert not {"pyspark", "py4j"} & set(sys.modules)
"""


@pytest.mark.slow
def test_plans_are_explained_guarded_and_seen(bare: Run, tmp_path: Path) -> None:
    built = (PACKAGE / "viewer" / "viewer.html").exists()
    program = tmp_path / "counts.py"
    program.write_text((EXAMPLES / "counts.py").read_text(encoding="utf-8"), encoding="utf-8")
    commands = [
        ["--help"],
        ["explain", program],
        ["explain", "--native", program],
        ["explain", "--pyflink", program],
        *(["explain", "--format", form, program] for form in ("json", "markdown", "mermaid", "dot")),
        *([["view", "-o", tmp_path / "plan.html", program]] if built else []),
        ["lock", program],
        ["check", program],
        ["diff", tmp_path / "penstock.lock", program],
        ["lint", "--rules"],
        ["lint", "--select", "PS2", program],
        ["uid", "counter"],
        ["savepoint", "show", EXAMPLES / "flink-savepoint" / "savepoint-5dd913-a4816598a894"],
    ]
    printed = bare("-c", COMMANDS, json.dumps([[str(word) for word in command] for command in commands]))
    assert [line.split()[0] for line in printed.splitlines()] == [command[0] for command in commands]
    assert json.loads((tmp_path / "penstock.lock").read_text(encoding="utf-8"))
    assert (tmp_path / "plan.html").exists() is built
    assert "Page('counts', 2 operators)" in bare("-c", VIEW)


@pytest.mark.slow
def test_a_program_with_state_runs_is_saved_and_restored(bare: Run, tmp_path: Path) -> None:
    def command(*words: object) -> list[str]:
        return bare("-m", "penstock.cli", *words).splitlines()

    (tmp_path / "inbox").mkdir()
    (tmp_path / "inbox" / "monday").write_text("anna 30\nbob 5\nanna 12\n")
    orders = EXAMPLES / "upgrade" / "orders.py"
    first = command("run", "--local", "--checkpoint-directory", "job", orders)
    assert {"(anna,30)", "(bob,5)", "(anna,42)"} <= set(first)
    (savepoint,) = command("savepoint", "create", "job", "savepoints")
    assert any("totals" in line for line in command("savepoint", "show", savepoint))
    assert any("42" in line for line in command("savepoint", "read", savepoint, "totals", "_op_state"))
    (tmp_path / "inbox" / "tuesday").write_text("anna 1\n")
    options = ("--from-savepoint", savepoint, "--checkpoint-directory", "job-2", "--parallelism", "3")
    assert "(anna,43)" in command("run", "--local", *options, orders)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kafka_to_kafka", "own_source_and_sink", "native_code"])
def test_an_example_runs(bare: Run, name: str) -> None:
    if name == "kafka_to_kafka":
        pytest.importorskip("confluent_kafka")
    bare("-m", "penstock.cli", "run", "--local", EXAMPLES / f"{name}.py")


@pytest.mark.slow
def test_tests_of_programs_run(bare: Run) -> None:
    plain = ("-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", EXAMPLES)
    assert "passed" in bare("-m", "pytest", "-q", *plain, EXAMPLES / "test_sessions.py")


@pytest.mark.slow
def test_a_program_for_pyflink_fails_and_catches_without_py4j(bare: Run, tmp_path: Path) -> None:
    program, _, printed = (
        (ROOT / "tests" / "pyflink" / "programs" / "failures.txt").read_text(encoding="utf-8").partition(PRINTS)
    )
    path = tmp_path / "program.py"
    path.write_text(program, encoding="utf-8")
    message = bare("-m", "penstock.cli", "run", "--local", "--pyflink", path, fails=True)
    assert "No module named 'py4j'. Apache Flink's package brings it" in message
    path.write_text(program.replace("py4j.protocol import Py4JJavaError", "pyflink.util.exceptions import JavaException"
        " as Py4JJavaError"), encoding="utf-8")  # fmt: skip
    output = bare("-m", "penstock.cli", "run", "--local", "--pyflink", path)
    wanted = printed.replace("nothing to run True", "nothing to run False").splitlines()  # another class of ours
    assert [line for line in output.splitlines() if line in wanted] == wanted


WAYS_OUT = (
    "pip install 'penstock[spark]'",
    "Databricks, EMR, Dataproc",
    'executor="local"',
    "penstock.executor=local",
    "PENSTOCK_EXECUTOR=local",
    "penstock run --local",
)


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--master", "local[2]"), ("--pyflink",), ("--master", "sc://host")])
def test_a_run_on_spark_is_refused(bare: Run, options: tuple[str, ...]) -> None:
    message = bare("-m", "penstock.cli", "run", *options, EXAMPLES / "counts.py", fails=True)
    assert "error: ConfigurationError" in message
    assert "Traceback" not in message
    plain = " ".join(message.split())
    assert "'counts' is to run on Spark, and PySpark cannot be imported here: No module named 'pyspark'" in plain
    assert [way for way in WAYS_OUT if way not in plain] == []


def stream() -> Any:
    """A stream of a program that chooses no executor."""
    return StreamExecutionEnvironment.get_execution_environment().from_collection([1], type_info=Types.LONG())


def executed(call: str) -> None:
    """Have a program with a sink run, by one of the environment's calls."""
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([1]).print()
    getattr(env, call)("counts")


DOORS: dict[str, Callable[[], object]] = {
    "The job 'counts' is to run": lambda: executed("execute"),
    "'counts' is to run on Spark": lambda: executed("execute_async"),
    "is to run on Spark": lambda: stream().execute_and_collect(),
    "to run on Spark, and": lambda: stream().to_spark(),
    "to_spark() was given the schema 'n long'": lambda: stream().to_spark("n long"),
    "SparkSink() was given the schema 'n int'": lambda: SparkSink(path="out", schema="n int"),
    "from_spark() reads a DataFrame": lambda: StreamExecutionEnvironment.get_execution_environment().from_spark(None),  # pyright: ignore
    "execution_edges() makes a DataFrame": lambda: execution_edges(None, None),  # pyright: ignore
    "Savepoint.to_spark() makes": lambda: frame_of(None, [("key", Types.LONG())], 1, lambda index: 1 // 0),
    "A Spark is to be started": lambda: open_session("local[1]", {}),
    "Spark's classes are to be kept": archive_path,
}


@pytest.mark.parametrize("beginning", DOORS)
def test_what_needs_pyspark_says_so(monkeypatch: pytest.MonkeyPatch, beginning: str) -> None:
    monkeypatch.delenv("PENSTOCK_EXECUTOR", raising=False)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(ConfigurationError) as raised:
        DOORS[beginning]()
    message = str(raised.value)
    assert beginning in message
    assert "PySpark cannot be imported here: import of pyspark halted" in message
    assert [way for way in WAYS_OUT if way not in message] == []


def test_a_file_of_the_users_by_that_name_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = types.ModuleType("pyspark")
    mine.__file__ = "/home/me/jobs/pyspark.py"
    monkeypatch.setitem(sys.modules, "pyspark", mine)
    with pytest.raises(ConfigurationError, match=r"from '/home/me/jobs/pyspark\.py', is not PySpark\. Rename"):
        pyspark("The job 'counts' is to run on Spark")
