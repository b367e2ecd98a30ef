"""Exceptions as plain data: texts, numbers and lists, which are read without running anything.

A text may quote what a stranger wrote. So nothing is unpickled or imported because of it, and classes are looked up in
two tables only: Python's built-in exceptions and :mod:`penstock.errors`. Others become a ``StandInError``.
"""

from __future__ import annotations

import base64
import builtins
from collections.abc import Callable, Mapping
from typing import Any

from penstock import errors
from penstock.errors import PenstockError, StandInError
from penstock.runtime.usercode.failure import text_of, user_traceback

_LONGEST = 20_000
"""Characters of a text, or bytes; the middle of a longer one is left out."""
_DEEPEST = 5
"""Levels of tuples and lists."""

_ATTRIBUTES = (
    *("flink_class", "flink_message", "operators", "file", "position", "name"),
    *("operator", "uid", "operator_id", "task", "subtask", "attempt", "function"),
)
"""What errors of Penstock have beside their message."""


def _classes(module: Any, base: type[Exception]) -> dict[str, type[Exception]]:
    classes = (item for item in vars(module).values() if isinstance(item, type) and issubclass(item, base))
    return {cls.__name__: cls for cls in classes}


_BUILT_IN = _classes(builtins, Exception)
_OURS = _classes(errors, PenstockError)


def as_data(error: BaseException) -> dict[str, Any]:
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


def from_data(data: Mapping[str, Any]) -> Exception:
    """The exception that data of :func:`as_data` describe; a stand-in if they are of a class that is in no table."""
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
        given = error.__reduce__()[1]  # of an OSError these are more than its args
        assert isinstance(given, tuple)
        data = _plain(given)
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
    raise TypeError(f"a {type(value).__name__} is no plain value")


def _read(data: Any) -> Any:
    """The value of what :func:`_plain` gives."""
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
