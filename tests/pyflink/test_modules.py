"""The mirror of PyFlink's modules: whole, as it is written, and under both names the same objects."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
import textwrap
from typing import Any

import cloudpickle
import pytest

import penstock.common
from penstock import pyflink
from penstock.errors import MissingMethodError, UnsupportedError
from penstock.pyflink import finder
from penstock.pyflink.advice import ADVICE, advice
from penstock.pyflink.common import Configuration
from penstock.pyflink.contents import TYPE_VARIABLES
from penstock.pyflink.datastream import StreamExecutionEnvironment, connectors, functions, state_backend
from penstock.pyflink.datastream import async_retry_predicates as predicates
from penstock.pyflink.datastream.connectors import file_system
from penstock.pyflink.java.gateway import get_gateway
from penstock.pyflink.names import ABSENT, BESIDE, modules
from penstock.pyflink.util import exceptions, java_utils
from penstock.pyflink.util.java_utils import get_j_env_configuration


def in_a_process(program: str) -> str:
    """What a program prints in a process of its own."""
    command = [sys.executable, "-c", textwrap.dedent(program)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_every_name_can_be_imported() -> None:
    checked = 0
    for module, names in modules().items():
        mirror = importlib.import_module(f"penstock.{module}")
        assert [name for name in names if not hasattr(mirror, name)] == [], module
        variables = [variable.__name__ for variable in TYPE_VARIABLES.get(module, ())]
        beside = (name for name in BESIDE.get(module, ()) if not name.startswith("_"))
        assert mirror.__all__ == sorted([*names, *beside, *variables])
        checked += len(names)
    assert checked > 700


def test_pyflink_is_the_same_modules() -> None:
    output = in_a_process(
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
    unknown = ": PyFlink has none of this name that Penstock knows. docs/pyflink.md lists what is there.\n"
    assert output == (
        "True True penstock.pyflink.datastream.window penstock.pyflink.datastream.window 2.3.0\n[]\n"
        f"No module named 'pyflink.nothing'{unknown}No module named 'pyflink.finder'{unknown}"
        f"No module named 'pyflink.datastream.nothing'{unknown}"
    )


def test_modules_that_are_made_are_like_those_of_files() -> None:
    output = in_a_process(
        """
        import penstock.pyflink.install
        import importlib, inspect, pickle, pkgutil, pydoc
        import pyflink, pyflink.common.typeinfo as types
        import pyflink.datastream.functions
        from pyflink.datastream.functions import *
        from pyflink.util.java_utils import load_java_class
        found = [module.name for module in pkgutil.walk_packages(pyflink.__path__, "pyflink.")]
        print([name for name in found if name.startswith("pyflink.metrics")], found.count("pyflink.common.time"))
        print(MapFunction is pyflink.datastream.functions.MapFunction, "Types" in dir(types), types.__package__)
        print(importlib.reload(types) is types, inspect.getmodule(load_java_class).__name__)
        print(pickle.loads(pickle.dumps(load_java_class)) is load_java_class, types)
        print("completable_future" in pydoc.render_doc(pyflink.common), types.__doc__)
        """
    )
    assert output == (
        "['pyflink.metrics', 'pyflink.metrics.metricbase'] 1\nTrue True penstock.pyflink.common\n"
        "True penstock.pyflink.util.java_utils\n"
        "True <module 'penstock.pyflink.common.typeinfo' (names.tsv)>\nTrue The names of PyFlink's "
        "``pyflink.common.typeinfo``.\n"
    )


def test_the_mirror_of_modules_that_are_not_there_can_be_pickled() -> None:
    from penstock.pyflink.ml.clustering import KMeans

    assert repr(KMeans) == "<placeholder for pyflink.ml.clustering.KMeans>"
    assert pickle.loads(pickle.dumps(KMeans)) is KMeans


def test_the_real_one_must_not_be_loaded() -> None:
    output = in_a_process(
        """
        import sys, types
        sys.modules["pyflink"] = types.ModuleType("pyflink")
        try:
            import penstock.pyflink.install
        except Exception as error:
            print(type(error).__name__, error)
        """
    )
    assert output == (
        "ConfigurationError The real PyFlink is loaded already (None), and a process has one. Write `import "
        "penstock.pyflink.install` before the first import of pyflink, or run the program by `penstock run "
        "--pyflink`.\n"
    )


def test_tasks_are_led_there_if_the_program_is() -> None:
    output = in_a_process(
        """
        from penstock.pyflink.datastream import StreamExecutionEnvironment
        print(StreamExecutionEnvironment.get_execution_environment().settings.imports)
        import penstock.pyflink.install
        print(StreamExecutionEnvironment.get_execution_environment().settings.imports)
        """
    )
    assert output == "()\n('penstock.pyflink.install',)\n"


def test_nothing_is_led_elsewhere_unasked() -> None:
    assert not any(isinstance(entry, finder.PyFlinkFinder) for entry in sys.meta_path)
    assert pyflink.__name__ == "penstock.pyflink"


def test_a_placeholder_can_be_named_and_derived_from_and_refuses_to_be_used() -> None:
    class Source(file_system.FileCompactStrategy):  # type: ignore[misc]
        """A program's own."""

    for use in (file_system.FileCompactStrategy, Source, lambda: file_system.FileCompactStrategy(1)):
        with pytest.raises(
            UnsupportedError, match=r"file_system\.FileCompactStrategy is PyFlink's, and Penstock has nothing for it"
        ):
            use()
    with pytest.raises(
        MissingMethodError, match=r"FileCompactStrategy\.builder is PyFlink's.*for_row_format"
    ) as refused:
        file_system.FileCompactStrategy.builder()
    assert refused.value.name == "builder"
    assert not hasattr(file_system.FileCompactStrategy, "builder")
    assert pickle.loads(pickle.dumps(file_system.FileCompactStrategy)) is file_system.FileCompactStrategy
    assert not isinstance(1, file_system.FileCompactStrategy)
    assert (
        repr(file_system.FileCompactStrategy)
        == "<placeholder for pyflink.datastream.connectors.file_system.FileCompactStrategy>"
    )


def test_functions_and_exceptions() -> None:
    with pytest.raises(UnsupportedError, match=r"java_utils\.load_java_class is PyFlink's.*no Flink runs here"):
        java_utils.load_java_class("java.lang.String")
    with pytest.raises(UnsupportedError, match=r"state_backend\._from_j_state_backend is PyFlink's"):
        state_backend._from_j_state_backend(None)
    assert "_from_j_state_backend" not in state_backend.__all__
    assert issubclass(exceptions.TableException, Exception)
    assert pickle.loads(pickle.dumps(java_utils.load_java_class)) is java_utils.load_java_class
    assert pickle.loads(pickle.dumps(exceptions.TableException)) is exceptions.TableException


def test_the_table_api_can_be_imported_and_not_used() -> None:
    from penstock.pyflink.table import StreamTableEnvironment

    with pytest.raises(UnsupportedError, match="There is no Table API"):
        StreamTableEnvironment.create()
    output = in_a_process(
        """
        import penstock.pyflink.install
        from pyflink.table.expressions import col
        from pyflink.table import DataTypes
        print(col, DataTypes.INT())
        """
    )
    assert output == "<placeholder for pyflink.table.expressions.col> INT\n"


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
    assert settings.get_string("penstock.pyflink", "") == "true"
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
    values = [value for module in modules() for value in vars(importlib.import_module(f"penstock.{module}")).values()]
    placeholders = sorted({value.pyflinks for value in values if hasattr(value, "pyflinks")})
    placeholders += ABSENT
    used = {advice(name) for name in (*placeholders, "pyflink.nothing", "pyflink.table.col")}
    assert len(placeholders) > 75
    assert [begin for begin, text in ADVICE.items() if text not in used] == []
    assert [
        begin for begin in ADVICE if not any(name.startswith(begin) for name in (*placeholders, "pyflink.table"))
    ] == []


def test_names_of_modules_that_are_not_there_can_be_imported_and_give_advice() -> None:
    output = in_a_process(
        """
        import penstock.pyflink.install
        from pyflink.table import DataTypes
        from pyflink.table.udf import udf, ScalarFunction
        from pyflink.table.types import DataTypes as same
        from pyflink.table.expressions import col
        from pyflink.ml.classification.logisticregression import LogisticRegression
        from pyflink.datastream.formats.protobuf import ProtobufDeserializationSchema
        from pyflink.fn_execution.state_impl import RemoteKeyedStateBackend
        import pyflink.fn_execution.metrics.process, pyflink.shell
        class Own(ScalarFunction):
            pass
        for use in (lambda: udf(lambda x: x), Own, lambda: col("a"), LogisticRegression,
                    lambda: ProtobufDeserializationSchema(), lambda: RemoteKeyedStateBackend()):
            try:
                print(use())
            except Exception as error:
                print(type(error).__name__, str(error))
        print(DataTypes is same)
        """
    )
    nothing = "is PyFlink's, and Penstock has nothing for it yet."
    *refusals, same = output.splitlines()
    assert [line.split(f" {nothing} ") for line in refusals] == [
        ["UnsupportedError pyflink.table.udf.udf", f"{ADVICE['pyflink.table']}."],
        ["UnsupportedError pyflink.table.udf.ScalarFunction", f"{ADVICE['pyflink.table']}."],
        ["UnsupportedError pyflink.table.expressions.col", f"{ADVICE['pyflink.table']}."],
        [
            "UnsupportedError pyflink.ml.classification.logisticregression.LogisticRegression",
            f"{ADVICE['pyflink.ml']}.",
        ],
        [
            "UnsupportedError pyflink.datastream.formats.protobuf.ProtobufDeserializationSchema",
            f"{ADVICE['pyflink.datastream.formats.protobuf']}.",
        ],
        [
            "UnsupportedError pyflink.fn_execution.state_impl.RemoteKeyedStateBackend",
            f"{ADVICE['pyflink.fn_execution']}.",
        ],
    ]
    assert same == "True"


BASES = [functions.SourceFunction, functions.SinkFunction, connectors.Source, connectors.Sink]


@pytest.mark.parametrize("base", BASES)
def test_a_class_of_java_is_refused_with_advice(base: Any) -> None:
    with pytest.raises(UnsupportedError, match=rf"^{base.__name__}\('com\.Mine'\) wraps a class of Java.*[Dd]eriv|Use"):
        base("com.Mine")

    class Mine(base):
        def __init__(self, argument: str) -> None:
            self.argument = argument

        def run(self, ctx: Any) -> None: ...
        def invoke(self, value: Any, context: Any) -> None: ...
        def runtime(self) -> Any: ...

    assert Mine("x").argument == pickle.loads(cloudpickle.dumps(Mine("x"))).argument == "x"
