"""The gateway to Java under PyFlink's name: it can be had and looked into; to call or make something is refused."""

from __future__ import annotations

from typing import NoReturn

from penstock.errors import UnsupportedError

_ADVICE = {
    "org.apache.flink.configuration": "Give the settings to get_execution_environment(Configuration.from_dict({…}))",
    "org.apache.flink.streaming.connectors": "Use the classes of pyflink.datastream.connectors",
    "org.apache.flink.connector": "Use the classes of pyflink.datastream.connectors",
    "org.apache.flink.table": "There is no Table API. Stay with streams",
    "java.time": "Use Duration and Time of pyflink.common",
    "java.util": "Use a list or a dict",
}
_OTHERWISE = "Say what you want of it by pyflink.datastream, or in Python"


class JavaName:
    """A name in Java, such as ``gateway.jvm.java.util.ArrayList``.

    Args:
        path: the name so far.
    """

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        object.__setattr__(self, "_path", path)

    def __getattr__(self, name: str) -> JavaName:
        if name.startswith("__"):
            raise AttributeError(name)
        return JavaName(f"{self._path}.{name}" if self._path else name)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise self._refusal(f"{self._path}.{name} = …")

    def __call__(self, *_: object, **__: object) -> NoReturn:
        """Refuse.

        Raises:
            UnsupportedError: always.
        """
        raise self._refusal(f"{self._path}()")

    def _refusal(self, what: str) -> UnsupportedError:
        advice = next((text for begin, text in _ADVICE.items() if self._path.startswith(begin)), _OTHERWISE)
        return UnsupportedError(f"{what} through the gateway is Java, and no Flink in Java runs here. {advice}.")

    def __repr__(self) -> str:
        return f"<the Java name {self._path}, which leads nowhere>"


class Gateway:
    """What ``get_gateway()`` gives.

    Attributes:
        jvm: the names in Java.
    """

    __slots__ = ("jvm",)

    def __init__(self) -> None:
        self.jvm = JavaName("")

    def __getattr__(self, name: str) -> JavaName:
        if name.startswith("__"):
            raise AttributeError(name)
        return JavaName(name)

    def __repr__(self) -> str:
        return "<the gateway to Java of PyFlink's programs, which leads nowhere>"


def get_gateway() -> Gateway:
    """A gateway whose names can be written down, and refuse to be used: nothing of Flink runs in Java here."""
    return Gateway()
