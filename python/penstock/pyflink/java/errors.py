"""Failures as PyFlink's programs catch them: Penstock's errors that are py4j's ``Py4JJavaError`` too. Where there is no
py4j, which PySpark brings, a program cannot name that class, and they are Penstock's alone."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from penstock.common.java.java_objects import JavaClass, JavaObject
from penstock.errors import PenstockError

Call = TypeVar("Call", bound=Callable[..., Any])


class JavaThrowable(JavaObject):
    """The exception in Java that an error stands for."""

    def __init__(self, error: PenstockError) -> None:
        self.error = error
        self.java_class = error.flink_class or "java.lang.RuntimeException"

    def getMessage(self) -> str:
        return Exception.__str__(self.error)

    getLocalizedMessage = getMessage

    def getCause(self) -> None:
        """None: the cause is an exception of Python, ``__cause__`` of the error."""

    def getClass(self) -> JavaClass:
        return JavaClass(self.java_class)

    def getStackTrace(self) -> list[Any]:
        return []

    def __str__(self) -> str:
        return f"{self.java_class}: {self.getMessage()}"


@cache
def _both(kind: type[PenstockError]) -> type[PenstockError]:
    """A class of errors that are py4j's too."""
    try:
        from py4j.protocol import Py4JJavaError  # takes a while to load
    except ImportError:
        bases: tuple[type[Any], ...] = (kind,)
    else:
        bases = (kind, Py4JJavaError)
    members = {"__module__": kind.__module__, "__str__": kind.__str__, "__doc__": kind.__doc__}
    if "__str__" not in {name for base in kind.__mro__[:-2] for name in vars(base)}:
        members["__str__"] = Exception.__str__
    members["__reduce__"] = lambda self: (as_java, (self.java_exception.error,))
    return type(kind.__name__, bases, members)


def as_java(error: PenstockError) -> PenstockError:
    """The same failure as an error that ``except Py4JJavaError`` catches too, with its cause and traceback."""
    if hasattr(error, "java_exception"):
        return error
    kind = _both(type(error))
    java_error = kind.__new__(kind, *error.args)
    Exception.__init__(java_error, *error.args)
    vars(java_error).update(vars(error), java_exception=JavaThrowable(error), errmsg=error.args[0], exception_cmd=None)
    java_error.__cause__, java_error.__suppress_context__ = error.__cause__, error.__suppress_context__
    return java_error.with_traceback(error.__traceback__)


@contextmanager
def as_javas() -> Generator[None, None, None]:
    """Errors leave the block as :func:`as_java` makes them, where Flink throws an exception too."""
    try:
        yield
    except PenstockError as error:
        java = as_thrown(error)
        if java is error:
            raise
        raise java from error.__cause__


def as_thrown(error: BaseException) -> BaseException:
    """The error as :func:`as_java` makes it, if Flink throws one there, too; else the error."""
    return as_java(error) if isinstance(error, PenstockError) and error.flink_class is not None else error


def convert_py4j_exception(e: BaseException) -> BaseException:
    """The exception to raise for one of Java: the same, as it says what has happened."""
    return e


def capture_java_exception(f: Call) -> Call:
    """A function that raises what :func:`convert_py4j_exception` makes of an exception: the function itself."""
    return f


def install_exception_handler() -> None:
    """Nothing is to be installed: errors are Python's from the start."""


def install_py4j_hooks() -> None:
    """Nothing is to be installed: there is no gateway to hook into."""
