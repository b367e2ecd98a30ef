"""The mirror of PyFlink's modules: whole, as it is written, and under both names the same objects."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
import textwrap

import pytest

import penstock.common
from penstock import pyflink
from penstock.errors import MissingMethodError, UnsupportedError
from penstock.pyflink import finder, missing
from penstock.pyflink.advice import ADVICE, advice
from penstock.pyflink.common import Configuration
from penstock.pyflink.datastream import StreamExecutionEnvironment
from penstock.pyflink.datastream import async_retry_predicates as predicates
from penstock.pyflink.java.names import get_gateway
from penstock.pyflink.placeholders import is_placeholder
from penstock.pyflink.util.java_utils import get_j_env_configuration
from tests.pyflink.write_modules import TYPE_VARIABLES, modules, written


def in_a_process(program: str) -> str:
    """What a program prints in a process of its own."""
    command = [sys.executable, "-c", textwrap.dedent(program)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_the_modules_are_as_they_are_written() -> None:
    files = written()
    stale = [str(path) for path, text in files.items() if not path.exists() or path.read_text() != text]
    assert len(files) > 60
    assert stale == [], "write them by: python -m tests.pyflink.write_modules"


def test_every_name_can_be_imported() -> None:
    checked = 0
    for module, names in modules().items():
        mirror = importlib.import_module(f"penstock.{module}")
        assert [name for name in names if not hasattr(mirror, name)] == [], module
        assert sorted(getattr(mirror, "__all__", [])) == sorted([*names, *TYPE_VARIABLES.get(module, "").split()])
        checked += len(names)
    assert checked > 700


def test_pyflink_is_the_same_modules() -> None:
    said = in_a_process(
        """
        import penstock.pyflink.install
        import penstock.pyflink.install
        import pickle, sys
        import pyflink.datastream.window as theirs
        from pyflink.common import Row, Types
        from pyflink.version import __version__
        import penstock.pyflink.datastream.window as ours
        import penstock.common
        print(theirs is ours, Row is penstock.common.Row, ours.__spec__.name, ours.__name__, __version__)
        print([name for name in sys.modules if name.startswith("pyspark")])
        for name in ("pyflink.nothing", "pyflink.finder", "pyflink.datastream.nothing"):
            try:
                __import__(name)
            except ModuleNotFoundError as error:
                print(error)
        """
    )
    assert said == (
        "True True penstock.pyflink.datastream.window penstock.pyflink.datastream.window 2.3.0\n[]\n"
        "No module named 'pyflink.nothing'\nNo module named 'pyflink.finder'\n"
        "No module named 'pyflink.datastream.nothing'\n"
    )


def test_the_real_one_must_not_be_loaded() -> None:
    said = in_a_process(
        """
        import sys, types
        sys.modules["pyflink"] = types.ModuleType("pyflink")
        try:
            import penstock.pyflink.install
        except Exception as error:
            print(type(error).__name__, error)
        """
    )
    assert said == (
        "ConfigurationError The real PyFlink is loaded already (None), and a process has one. Write `import "
        "penstock.pyflink.install` before the first import of pyflink, or run the program by `penstock run "
        "--pyflink`.\n"
    )


def test_tasks_are_led_there_if_the_program_is() -> None:
    said = in_a_process(
        """
        from penstock.pyflink.datastream import StreamExecutionEnvironment
        print(StreamExecutionEnvironment.get_execution_environment().settings.imports)
        import penstock.pyflink.install
        print(StreamExecutionEnvironment.get_execution_environment().settings.imports)
        """
    )
    assert said == "()\n('penstock.pyflink.install',)\n"


def test_nothing_is_led_elsewhere_unasked() -> None:
    assert not any(isinstance(each, finder.PyFlinkFinder) for each in sys.meta_path)
    assert pyflink.__name__ == "penstock.pyflink"


def test_a_placeholder_can_be_named_and_derived_from_and_refuses_to_be_used() -> None:
    class Source(missing.FileCompactStrategy):  # type: ignore[misc]
        """A program's own."""

    for use in (missing.FileCompactStrategy, Source, lambda: missing.FileCompactStrategy(1)):
        with pytest.raises(
            UnsupportedError, match=r"file_system\.FileCompactStrategy is PyFlink's, and Penstock has nothing for it"
        ):
            use()
    with pytest.raises(
        MissingMethodError, match=r"FileCompactStrategy\.builder is PyFlink's.*for_row_format"
    ) as refused:
        missing.FileCompactStrategy.builder()
    assert refused.value.name == "builder"
    assert not hasattr(missing.FileCompactStrategy, "builder")
    assert pickle.loads(pickle.dumps(missing.FileCompactStrategy)) is missing.FileCompactStrategy
    assert not isinstance(1, missing.FileCompactStrategy)
    assert (
        repr(missing.FileCompactStrategy)
        == "<placeholder for pyflink.datastream.connectors.file_system.FileCompactStrategy>"
    )


def test_functions_and_exceptions() -> None:
    with pytest.raises(UnsupportedError, match=r"java_utils\.load_java_class is PyFlink's.*no Flink runs here"):
        missing.load_java_class("java.lang.String")
    assert issubclass(missing.TableException, Exception)
    assert all(is_placeholder(vars(missing)[name]) for name in vars(missing) if name[0].isupper())


def test_the_table_api_can_be_imported_and_not_used() -> None:
    from penstock.pyflink.table import StreamTableEnvironment

    with pytest.raises(UnsupportedError, match="There is no Table API"):
        StreamTableEnvironment.create()
    said = in_a_process(
        """
        import penstock.pyflink.install
        from pyflink.table.expressions import col
        from pyflink.table import DataTypes
        print(col, DataTypes.INT())
        """
    )
    assert said == "<placeholder for pyflink.table.col> INT\n"


def test_the_gateway_answers_with_advice() -> None:
    jvm = get_gateway().jvm
    with pytest.raises(UnsupportedError, match=r"^org\.apache\.flink\.configuration\.MemorySize\(\) through the"):
        jvm.org.apache.flink.configuration.MemorySize()
    with pytest.raises(UnsupportedError, match=r"There is no Table API"):
        jvm.org.apache.flink.table.api.Schema()
    with pytest.raises(UnsupportedError, match=r"entry_point\.put\(\)"):
        get_gateway().entry_point.put("name", 1)
    with pytest.raises(UnsupportedError, match=r"java\.lang\.x = …"):
        jvm.java.lang.x = 1
    assert not hasattr(jvm, "__len__")


def test_the_settings_of_an_environment_act_on_it() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    settings = Configuration(j_configuration=get_j_env_configuration(env._j_stream_execution_environment))
    assert settings.get_string("penstock.pyflink.floats", "") == "true"
    settings.set_integer("parallelism.default", 3).set_string("pipeline.name", "mine")
    assert (env.get_parallelism(), env.settings.name) == (3, "mine")
    with pytest.raises(UnsupportedError, match=r"remove_config\('pipeline\.name'\) of the settings of an environment"):
        settings.remove_config("pipeline.name")
    other = Configuration(settings)
    assert other.remove_config("pipeline.name")
    assert other.set_string("pipeline.name", "other") is other
    assert env.settings.name == "mine"
    assert Configuration.from_dict({"pipeline.name": "a"}).to_dict() == {"pipeline.name": "a"}
    assert issubclass(Configuration, penstock.common.Configuration)


def test_reasons_to_try_again() -> None:
    assert [predicates.empty_result_predicate(result) for result in (None, [], [None])] == [True, True, False]
    assert [predicates.has_exception_predicate(error) for error in (None, ValueError())] == [False, True]
    assert predicates.exception_type_predicate(ValueError(), ValueError)
    assert not predicates.exception_type_predicate(ValueError(), KeyError)


def test_every_advice_is_for_something() -> None:
    """For a placeholder, as the last resort, or for a table: what has become public needs none."""
    placeholders = [value.pyflinks for value in vars(missing).values() if hasattr(value, "pyflinks")]
    used = {advice(name) for name in (*placeholders, "pyflink.nothing", "pyflink.table.col")}
    assert len(placeholders) > 75
    assert [begin for begin, text in ADVICE.items() if text not in used] == []
    assert [
        begin for begin in ADVICE if not any(name.startswith(begin) for name in (*placeholders, "pyflink.table"))
    ] == []
