"""The gateway to Java under PyFlink's name: settings, options, lists and maps; other names refuse to be used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from penstock.errors import UnsupportedError
from penstock.pyflink.java.collections import JavaList, JavaMap
from penstock.pyflink.java.configuration import JavaConfiguration, option
from penstock.pyflink.java.environment import get_j_env_configuration

_ADVICE = {
    "org.apache.flink.configuration": "Give the settings to get_execution_environment(Configuration.from_dict({…}))",
    "org.apache.flink.streaming.connectors": "Use the classes of pyflink.datastream.connectors",
    "org.apache.flink.connector": "Use the classes of pyflink.datastream.connectors",
    "org.apache.flink.table": "There is no Table API. Stay with streams",
    "java.time": "Use Duration and Time of pyflink.common",
}
_OTHERWISE = "Say what you want of it by pyflink.datastream, or in Python"
_KNOWN: dict[str, Any] = {
    "java.util.ArrayList": JavaList,
    "java.util.LinkedList": JavaList,
    "java.util.HashMap": JavaMap,
    "java.util.LinkedHashMap": JavaMap,
    "java.util.Properties": JavaMap,
    "org.apache.flink.configuration.Configuration": JavaConfiguration,
    "org.apache.flink.python.util.PythonConfigUtil.getEnvironmentConfig": get_j_env_configuration,
}


class JavaName:
    """A name in Java, such as ``gateway.jvm.java.util.concurrent.Future``, that leads nowhere yet."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        object.__setattr__(self, "_path", path)

    @classmethod
    def _known(cls, path: str) -> Any:
        """The object of a whole name, None without one."""
        return _KNOWN.get(path) or option(path)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        path = f"{self._path}.{name}" if self._path else name
        known = self._known(path)
        return type(self)(path) if known is None else known

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise self._refusal(f"{self._path}.{name} = …")

    def __call__(self, *_: object, **__: object) -> NoReturn:
        raise self._refusal(f"{self._path}()")

    def _refusal(self, what: str) -> UnsupportedError:
        advice = next((text for begin, text in _ADVICE.items() if self._path.startswith(begin)), _OTHERWISE)
        return UnsupportedError(f"{what} through the gateway is Java, and no Flink in Java runs here. {advice}.")

    def __repr__(self) -> str:
        return f"<the Java name {self._path}, which leads nowhere>"


class Gateway:
    """The result of ``get_gateway()``."""

    names: type[JavaName] = JavaName
    """The class of the names."""

    def __init__(self) -> None:
        self.jvm: Any = self.names("")

    def new_array(self, java_class: object, *sizes: int) -> JavaList[Any]:
        """An array of empty places."""
        first, *others = sizes
        return JavaList(self.new_array(java_class, *others) if others else None for _ in range(first))

    def __getattr__(self, name: str) -> JavaName:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.names(name)

    def __repr__(self) -> str:
        return "<a small part of PyFlink's gateway to Java>"


def get_gateway() -> Gateway:
    """A gateway whose names can be written down; those that lead to nothing here refuse to be used."""
    return Gateway()


def to_jarray(j_type: object, arr: Sequence[Any]) -> JavaList[Any]:
    """An array with the values of a list."""
    return JavaList(arr)
