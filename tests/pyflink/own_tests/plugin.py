"""The plugin of pytest with which PyFlink's own tests run: ``pyflink`` means Penstock, and what only they need."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from penstock.datastream.state_backend import CustomStateBackend, StateBackend
from penstock.pyflink import deviations, finder, test_cases
from penstock.pyflink.java import environment, gateway
from penstock.pyflink.java.collections import JavaList
from penstock.pyflink.names import Name
from penstock.pyflink.placeholders import placeholder
from tests.pyflink.own_tests.classes import CLASSES, STATICS, Statics
from tests.pyflink.own_tests.graphs import JavaStreamGraph, StreamingJobGraphGenerator


class JavaTuple(tuple[Any, ...]):
    """A tuple with the method of Java's tuples."""

    def getField(self, position: int) -> Any:
        return self[position]


class JavaEnvironment(environment.JavaEnvironment):
    """An environment by Java's methods, those that only tests call among them."""

    def getStreamGraph(self, clear_transformations: bool = True) -> JavaStreamGraph:
        groups = dict(self._environment.slot_sharing_groups)
        return JavaStreamGraph(super().getStreamGraph(clear_transformations).graph, groups)

    def generateStreamGraph(self, transformations: Any = None) -> JavaStreamGraph:
        """The graph of the program so far, which stays as it is."""
        return self.getStreamGraph(False)

    def getCachedFiles(self) -> JavaList[JavaTuple]:
        """Names and paths of the files that were registered."""
        return JavaList(JavaTuple((name, path)) for name, path, _ in self._environment.settings.cached_files)


class StreamExecutionEnvironment(deviations.StreamExecutionEnvironment):
    @property
    def _j_stream_execution_environment(self) -> JavaEnvironment:
        return JavaEnvironment(self)


class JavaName(gateway.JavaName):
    """A name in Java, with those of the classes that only tests use."""

    __slots__ = ()

    @classmethod
    def _known(cls, path: str) -> Any:
        if path == "org.apache.flink.streaming.api.graph.StreamingJobGraphGenerator":
            return StreamingJobGraphGenerator
        if path in STATICS:
            return Statics(path, STATICS[path])
        return CLASSES.get(path) or super()._known(path)


class Gateway(gateway.Gateway):
    names = JavaName


class TestBase:
    """Gives test cases the environment of this module."""

    @classmethod
    def _environment(cls) -> StreamExecutionEnvironment:
        env = StreamExecutionEnvironment.get_execution_environment()
        return env.set_runtime_mode(cls.mode).set_parallelism(2)  # type: ignore[attr-defined]


class PythonAPICompletenessTestCase:
    """A base of tests that compare Python's classes with Java's, which are not there: they find nothing to do."""


def from_j_state_backend(j_state_backend: object) -> StateBackend | None:
    """The state backend for what stands for one of Java's."""
    if j_state_backend is None or isinstance(j_state_backend, StateBackend):
        return j_state_backend
    return CustomStateBackend(j_state_backend)


class JavaClassOfTests:
    """A class in Java that only PyFlink's tests load, such as the factory of a state backend."""

    def __init__(self, name: str) -> None:
        self._name = name

    def newInstance(self) -> JavaClassOfTests:
        return self

    def createFromConfig(self, *_: object) -> object:
        return object()


def invoke_java_object_method(obj: Any, method_name: str) -> Any:
    """What a method of a stand-in for an object of Java's gives."""
    return getattr(obj, method_name)()


def to_java_data_structure(value: Any) -> Any:
    """What stands for a value in Java: the value itself."""
    return value


def _case(name: str) -> type[Any]:
    return type(name, (TestBase, getattr(test_cases, name)), {"__module__": "pyflink.testing.test_case_utils"})


_TEST_CASES = "pyflink.testing.test_case_utils"
_ENVIRONMENT = {"StreamExecutionEnvironment": StreamExecutionEnvironment}
OVERRIDES: Mapping[str, Mapping[str, Any]] = {
    "pyflink.datastream": _ENVIRONMENT,
    "pyflink.datastream.state_backend": {"_from_j_state_backend": from_j_state_backend},
    "pyflink.datastream.stream_execution_environment": _ENVIRONMENT,
    "pyflink.java_gateway": {"get_gateway": Gateway},
    _TEST_CASES: {
        "PythonAPICompletenessTestCase": PythonAPICompletenessTestCase,
        "exec_insert_table": placeholder(Name("", _TEST_CASES, "exec_insert_table", "function", "")),
        "invoke_java_object_method": invoke_java_object_method,
        "to_java_data_structure": to_java_data_structure,
        **{name: _case(name) for name in test_cases.__all__ if name != "PyFlinkTestCase"},
    },
    "pyflink.util.java_utils": {"load_java_class": JavaClassOfTests},
}
"""Other objects than Penstock's, by module and name."""


class OverridingFinder(MetaPathFinder, Loader):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in OVERRIDES:
            return None
        original = importlib.import_module(f"penstock.{fullname}")
        spec = ModuleSpec(fullname, self, is_package=hasattr(original, "__path__"))
        spec.submodule_search_locations = getattr(original, "__path__", None)
        return spec

    def exec_module(self, module: ModuleType) -> None:
        original = vars(importlib.import_module(f"penstock.{module.__name__}"))
        names = {name: value for name, value in original.items() if not name.startswith("__")}
        vars(module).update(names, **OVERRIDES[module.__name__])


def install() -> None:
    """Let ``pyflink`` mean Penstock with what its own tests need, in this process."""
    finder.install()
    sys.meta_path.insert(0, OverridingFinder())


def pytest_configure(config: object) -> None:
    """As pytest calls it, before tests are imported."""
    install()
