"""Failures on their way from an executor to the driver.

Spark passes only the text of an exception, which may quote what a stranger wrote. So the executor puts the error
into its text as JSON, behind a mark that the driver has chosen at random for the job. The driver makes it again, with
its causes: nothing is unpickled or imported, and classes are looked up in two tables only, Python's built-in exceptions
and :mod:`penstock.errors`. Others become a ``StandInError``.
"""

from __future__ import annotations

import base64
import builtins
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from penstock import errors
from penstock.errors import JobExecutionError, PenstockError, StandInError
from penstock.runtime.usercode.failure import text_of, user_traceback

_MAX_CAUSES = 20
_MAX_CHARACTERS = 256 << 10
_LONGEST = 20_000  # characters of a text, or bytes; the middle of a longer one is left out
_DEEPEST = 5  # levels of tuples and lists

_ATTRIBUTES = (
    *("flink_class", "flink_message", "operators", "file", "position", "name"),
    *("operator", "uid", "operator_id", "task", "subtask", "attempt", "function"),
)
"""The attributes of Penstock's errors beside their message."""


def _classes(module: Any, base: type[Exception]) -> dict[str, type[Exception]]:
    classes = (item for item in vars(module).values() if isinstance(item, type) and issubclass(item, base))
    return {cls.__name__: cls for cls in classes}


_BUILT_IN = _classes(builtins, Exception)
_OURS = _classes(errors, PenstockError)


class RemoteFailure(Exception):
    """The error of the executor: the message for logs, and the error itself for the driver."""


def remote_failure(error: PenstockError, mark: str | None) -> RemoteFailure | JobExecutionError:
    """The exception to raise on an executor, from nothing, as Spark would add the texts of its causes, whole records
    among them. ``mark`` is that of the job; None where only a person reads the text."""
    text = str(error).encode("utf-8", "backslashreplace").decode("utf-8")  # PySpark loses what it cannot encode
    if mark is None:
        return JobExecutionError(text)
    raised: list[BaseException] = [error]
    while (cause := raised[-1].__cause__) is not None and all(cause is not known for known in raised):
        raised.append(cause)
    failure, *causes = map(_as_data, raised[: _MAX_CAUSES + 1])
    details = json.dumps({"failure": failure, "causes": causes})
    while causes and len(details) > _MAX_CHARACTERS:  # the innermost cause must not keep the others back
        causes.pop()
        details = json.dumps({"failure": failure, "causes": causes})
    return RemoteFailure(f"{text}\nDetails for the driver: {mark} {details}")


def local_failure(error: BaseException, mark: str) -> PenstockError:
    """The error to raise on the driver for what Spark raised there, with its cause."""
    text = str(error)
    _, marked, details = text.partition(f"{mark} ")
    if marked:
        try:
            return _read_failure(details)
        except Exception:  # cut off on its way, say
            failure = JobExecutionError(text.partition("\nDetails for the driver: ")[0].strip())
    elif "spark.driver.maxResultSize" in text:
        failure = JobExecutionError(
            "The job prints or collects more than Spark's driver has memory for. Write to files instead, or set "
            "spark.driver.memory to six times as much as the job prints and collects (spark.driver.maxResultSize is a "
            "fifth of it, unless you set that too)."
        )
    else:
        what = " ".join(filter(None, [advice(text), f"{type(error).__name__}: {text.strip()}"]))
        failure = JobExecutionError(f"Spark could not run the job: {what}")
    failure.__cause__ = error
    return failure


def _read_failure(details: str) -> PenstockError:
    data, _ = json.JSONDecoder().raw_decode(details)
    failure, *causes = (_from_data(described) for described in (data["failure"], *data["causes"]))
    for effect, cause in zip([failure, *causes], [*causes, None], strict=True):
        effect.__cause__ = cause
    assert isinstance(failure, PenstockError)
    return failure


def is_sparks(error: BaseException | None) -> bool:
    """Whether an exception is one that Spark has raised on the driver."""
    from pyspark.errors import PySparkException

    py4j = sys.modules.get("py4j.protocol")  # a client of Spark Connect may be without
    return isinstance(error, (PySparkException, *([] if py4j is None else [py4j.Py4JJavaError])))


_NEEDS: dict[tuple[str, ...], str] = {
    ("No module named 'penstock'",): (
        "the Python of its workers does not have Penstock. Before the SparkSession starts, set PYSPARK_PYTHON (or "
        f"spark.pyspark.python) to a Python that does; the one of this program is {sys.executable}."
    ),
    ("No module named 'pyarrow'", "PyArrow >="): (
        "the Python of its workers does not have PyArrow, which Penstock cannot send. Install pyarrow>=18 there, or "
        "have Spark bring a packed environment (spark.archives and PYSPARK_PYTHON)."
    ),
    ("PYTHON_VERSION_MISMATCH",): (
        "the Python of its workers has another version than that of this program, "
        f"{sys.version_info.major}.{sys.version_info.minor}. Set PYSPARK_PYTHON (or spark.pyspark.python) to one with "
        "the same version on the workers."
    ),
    ("Cannot run program",): (
        "its workers do not have the Python that they should run. Set PYSPARK_PYTHON (or spark.pyspark.python) "
        "to the path of one on the workers."
    ),
}
"""The advice, by a part of Spark's text."""


def advice(text: str) -> str:
    """The advice about a Python that Spark's workers cannot run tasks with; "" if the text is of something else."""
    return next((needs for signs, needs in _NEEDS.items() if any(sign in text for sign in signs)), "")


def _as_data(error: BaseException) -> dict[str, Any]:
    """An exception as data for JSON; its causes are not in it."""
    notes = [_bounded(note) for note in getattr(error, "__notes__", ()) if isinstance(note, str)]
    data: dict[str, Any] = {"kind": f"{type(error).__module__}.{type(error).__qualname__}", "notes": notes}
    if isinstance(error, StandInError):
        return {**data, "kind": error.kind, "text": error.text, "traceback": error.traceback}
    if isinstance(error, PenstockError) and type(error).__module__.split(".")[0] == "penstock":
        name = next(cls.__name__ for cls in type(error).__mro__ if _OURS.get(cls.__name__) is cls)
        attributes = {key: _plain(value) for key, value in vars(error).items() if key in _ATTRIBUTES}
        return {**data, "penstock": name, "text": _bounded(str(error)), "attributes": attributes}
    arguments = _arguments(error)
    if arguments is not None:
        return {**data, "arguments": arguments}
    return {**data, "text": text_of(error), "traceback": user_traceback(error)}


def _from_data(data: Mapping[str, Any]) -> Exception:
    """The exception that data of :func:`_as_data` describe; a stand-in if they are of a class that is in no table."""
    error: Exception
    if "penstock" in data:
        cls, message = _OURS[data["penstock"]], str(data["text"])
        error = cls.__new__(cls, message)
        Exception.__init__(error, message)  # whatever else its constructor asks for
        vars(error)["flink_class"] = None
        for key in set(_ATTRIBUTES).intersection(data["attributes"]):
            setattr(error, key, _read(data["attributes"][key]))
    elif "arguments" in data and data["kind"].startswith("builtins."):
        error = _BUILT_IN[data["kind"].removeprefix("builtins.")](*_read(data["arguments"]))
    else:
        error = StandInError(str(data["kind"]), str(data["text"]), str(data["traceback"]))
    add: Callable[[str], None] | None = getattr(error, "add_note", None)  # from Python 3.11 on
    for note in data["notes"] if add is not None else ():
        add(str(note))  # type: ignore[misc]
    return error


def _arguments(error: BaseException) -> Any:
    """The arguments that make a built-in exception again; None for any other, or if they are not plain."""
    cls = type(error)
    if _BUILT_IN.get(cls.__name__) is not cls:
        return None
    try:
        arguments = error.__reduce__()[1]  # of an OSError these are more than its args
        assert isinstance(arguments, tuple)
        data = _plain(arguments)
        again = cls(*_read(data))
    except Exception:
        return None
    text = text_of(error)
    same = type(again) is cls and (text_of(again) == text or len(text) >= _LONGEST)
    return data if same else None


def _plain(value: Any, depth: int = 0) -> Any:
    """A value as JSON has it; tuples and bytes are marked, as JSON has neither."""
    if value is None or type(value) in (bool, int, float):
        return value
    if type(value) is str:
        return _bounded(value)
    if type(value) is bytes and len(value) <= _LONGEST:
        return {"bytes": base64.b64encode(value).decode("ascii")}
    if type(value) in (tuple, list) and depth < _DEEPEST and len(value) <= _LONGEST:
        return {type(value).__name__: [_plain(item, depth + 1) for item in value]}
    raise TypeError(f"a {type(value).__name__} is not a plain value")


def _read(data: Any) -> Any:
    if not isinstance(data, dict):
        return data
    ((kind, value),) = data.items()
    if kind == "bytes":
        return base64.b64decode(value, validate=True)
    return {"tuple": tuple, "list": list}[kind](map(_read, value))


def _bounded(text: str) -> str:
    if len(text) <= 3 * _LONGEST:
        return text
    half = _LONGEST // 2
    return f"{text[:half]} [… {len(text) - 2 * half} characters …] {text[-half:]}"
