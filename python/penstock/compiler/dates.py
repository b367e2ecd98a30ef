"""Dates and times: calls of the module ``datetime`` as programs have them.

A time zone is a number of seconds in a program, so only ``timezone.utc`` and others with a fixed offset are known, and
these where they are written or constant. What asks for the time zone of the process is refused. Columns have dates, and
times without a zone; others, and timedeltas, are values within a function only, so it may not give one.
"""

from __future__ import annotations

import ast
import re
import sys
from abc import abstractmethod
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta, timezone
from typing import Any

from penstock.compiler.process import ProcessCalls
from penstock.compiler.program import Json, RefusedError, constant
from penstock.compiler.signatures import Signature, Use, signature
from penstock.runtime.constants import NotPlainError, offset_of

_DATETIME: Any = vars(datetime)
_DATE: Any = vars(date)
_CLASSES = (datetime, date, time, timedelta, timezone)
_FIELDS = ("year", "month", "day", "hour", "minute", "second", "microsecond")
_MODERN = sys.version_info >= (3, 11)
_TIMESTAMP = signature("~timestamp")
_CALLS: dict[Any, tuple[str, Signature]] = {
    datetime: ("datetime", signature("~year ~month ~day ~hour=0 ~minute=0 ~second=0 ~microsecond=0")),
    date: ("date", signature("~year ~month ~day")),
    timedelta: (
        "timedelta",
        signature("~days=0 ~seconds=0 ~microseconds=0 ~milliseconds=0 ~minutes=0 ~hours=0 ~weeks=0"),
    ),
    _DATETIME["fromtimestamp"]: ("fromtimestamp", _TIMESTAMP),
    _DATETIME["utcfromtimestamp"]: ("fromtimestamp", signature("~timestamp /")),
    _DATETIME["fromisoformat"]: ("fromisoformat", signature("~text /")),
    _DATETIME["strptime"]: ("strptime", signature("~text ~form /")),
    _DATE["fromordinal"]: ("day_fromordinal", signature("~ordinal /")),
    _DATE["fromisoformat"]: ("day_fromisoformat", signature("~text /")),
}
"""By what is called: the function of a program, and its parameters but for a time zone."""
_ZONES = {datetime: (7, "tzinfo"), _DATETIME["fromtimestamp"]: (1, "tz")}
"""By what is called: the place and the name of its time zone."""
_LETTERS = re.compile("%(.?)", re.DOTALL)
_READ = "YmdHMSf"
_OF_PROCESS = "depends on the time zone of the process: give it timezone.utc"
GIVES = (
    "gives a time with a zone or a timedelta, which columns do not have: isoformat(), timestamp() or total_seconds() "
    "makes a text or a number of it"
)


class Dates(ProcessCalls):
    """The translator of dates and times."""

    @abstractmethod
    def arguments(self, signature: Signature, node: ast.Call, title: str) -> list[Json]:
        """The arguments of a call in the order of the parameters."""

    def date_call(self, node: ast.Call) -> Json | None:
        """A call of the module ``datetime``, or of a method that takes a time zone or fields; None for another call."""
        called = node.func
        static = self.scope.static(called)
        if static is None:
            return self._date_method(called, node) if isinstance(called, ast.Attribute) else None
        value = static.value
        if value is _DATE["fromtimestamp"]:
            raise RefusedError(f"{static.text}() {_OF_PROCESS}", node)
        if not isinstance(value, type | type(_DATETIME["fromtimestamp"])) or (
            value not in _CALLS and value is not time
        ):
            return None
        known = self._known(node)
        if known is not None:
            return ["const", constant(known)]
        if value is time:
            raise RefusedError("time() is called with what is not constant", node)
        name, parameters = _CALLS[value]
        title = f"{static.text}()"
        zone: Json = ["const", None]
        plain = node
        if value in _ZONES:
            zone, plain = self._without_zone(node, *_ZONES[value])
        if value is _DATETIME["fromtimestamp"] and zone == ["const", None]:
            raise RefusedError(f"{title} {_OF_PROCESS}", node)
        arguments = self.arguments(parameters, plain, title)
        if name == "strptime":
            self._check_form(node.args[1], title)
        if name in ("datetime", "timedelta"):
            arguments += [["const", 0]] * (7 - len(arguments))
        if name in ("datetime", "fromtimestamp"):
            arguments.append(zone)
        elif name == "fromisoformat":
            arguments.append(["const", _MODERN])
        return ["lib", f"datetime.{name}", *arguments]

    def _check_form(self, node: ast.expr, title: str) -> None:
        """Refuse a form whose meaning depends on the version or the locale, or that native code does not read."""
        static = self.scope.static(node)
        form = node.value if isinstance(node, ast.Constant) else None if static is None else static.value
        letters = [letter for letter in _LETTERS.findall(form) if letter != "%"] if isinstance(form, str) else ["?"]
        if not set(letters) <= set(_READ) or len(set(letters)) < len(letters):
            raise RefusedError(
                f"{title} is translated with %Y, %m, %d, %H, %M, %S and %f of a constant text, each once", node
            )
        if "d" in letters and "Y" not in letters:
            raise RefusedError(f"{title} of a day without a year warns from Python 3.13 on", node)

    def _date_method(self, called: ast.Attribute, node: ast.Call) -> Json | None:
        """``astimezone`` and ``replace`` by names; None for other methods."""
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        if called.attr == "astimezone":
            if len(node.args) + len(keywords) != 1 or not (node.args or "tz" in keywords):
                raise RefusedError(f".astimezone() {_OF_PROCESS}", node)
            zone = self._zone([*node.args, *keywords.values()][0])
            if zone == ["const", None]:
                raise RefusedError(f".astimezone() {_OF_PROCESS}", node)
            return ["method", "to_zone", self.expression(called.value, Use.READ), zone]
        if called.attr != "replace" or node.args or not keywords or not set(keywords) <= {*_FIELDS, "tzinfo"}:
            return None
        result = self.expression(called.value, Use.READ)
        changes: list[Json] = []
        for keyword in node.keywords:
            if keyword.arg != "tzinfo":
                changes += [["const", keyword.arg], self.expression(keyword.value, Use.READ)]
        if changes:
            result = ["method", "with_fields", result, *changes]
        return ["method", "with_zone", result, self._zone(keywords["tzinfo"])] if "tzinfo" in keywords else result

    def _without_zone(self, node: ast.Call, place: int, name: str) -> tuple[Json, ast.Call]:
        """The time zone of a call, None if it has none, and the call without it."""
        zones = [*node.args[place:], *(keyword.value for keyword in node.keywords if keyword.arg == name)]
        if len(zones) > 1:
            raise RefusedError("this call has more arguments than a time zone at the end", node)
        rest = ast.Call(node.func, node.args[:place], [k for k in node.keywords if k.arg != name])
        return self._zone(zones[0]) if zones else ["const", None], ast.copy_location(rest, node)

    def _zone(self, node: ast.expr) -> Json:
        """The offset of a time zone that is constant, in seconds; None for None."""
        static = self.scope.static(node)
        zone = static.value if static is not None else self._known(node)
        if zone is None and isinstance(node, ast.Constant):
            return ["const", None]
        try:
            return ["const", offset_of(zone)]
        except NotPlainError:
            raise RefusedError("a time zone must be timezone.utc, or another one with a fixed offset", node) from None

    def _known(self, node: ast.expr) -> Any:
        """The value of a call with numbers as arguments, such as ``timedelta(hours=2)``; None for others."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            number = node.operand.value
            return -number if isinstance(number, int | float) else None
        if not isinstance(node, ast.Call):
            static = self.scope.static(node)
            return None if static is None or type(static.value) not in _CLASSES else static.value
        called = self.scope.static(node.func)
        if called is None or not isinstance(called.value, type) or called.value not in _CLASSES:
            return None
        arguments = [self._known(argument) for argument in node.args]
        keywords = {keyword.arg or "": self._known(keyword.value) for keyword in node.keywords}
        if None in arguments or "" in keywords or None in keywords.values():
            return None
        try:
            result = called.value(*arguments, **keywords)
            if called.value is not timezone:
                constant(result)
        except Exception:  # at run time it is the function's
            return None
        return result


_AWARE, _NAIVE, _SPAN, _DAY = "aware", "naive", "span", "day"


def gives_no_columns(body: list[Json]) -> bool:
    """Whether statements of a program return or yield a time with a zone, or a timedelta, as far as it can be seen."""
    statements = list(_statements(body))
    assigned: dict[int, list[Json]] = {}
    for statement in statements:
        if statement[0] == "set" and isinstance(statement[1], int):
            assigned.setdefault(statement[1], []).append(statement[2])
    variables: dict[int, str] = {}
    for number, values in assigned.items():
        kinds = {_kind(value, variables) for value in values}
        if len(kinds) == 1 and (kind := kinds.pop()) is not None:
            variables[number] = kind
    return any(statement[0] in ("return", "yield") and _has_kind(statement[1], variables) for statement in statements)


def _statements(body: list[Json]) -> Iterator[Json]:
    """All statements, those in others included."""
    for statement in body:
        yield statement
        if statement[0] in ("if", "for", "while"):
            for part in statement[2:]:
                if isinstance(part, list) and all(isinstance(inner, list) for inner in part):
                    yield from _statements(part)


def _has_kind(expression: Json, variables: dict[int, str]) -> bool:
    """Whether a value is one that columns do not have, or has one in it."""
    if expression[0] in ("tuple", "list"):
        return any(_has_kind(part, variables) for part in expression[1:])
    return _kind(expression, variables) in (_AWARE, _SPAN)


def _kind(expression: Json, variables: dict[int, str]) -> str | None:
    """The kind of date or time that an expression surely is; None where it may be something else."""
    kind = expression[0]
    if kind == "local":
        return variables.get(expression[1])
    if kind == "const":
        return _of_constant(expression[1])
    if kind in ("add", "sub"):
        return _of_sum(kind, *(_kind(part, variables) for part in expression[1:3]))
    if kind == "lib":
        return _of_call(expression[1], expression[2:])
    if kind != "method":
        return None
    method, receiver = expression[1], expression[2]
    if method == "with_fields":
        return _kind(receiver, variables)
    return {"date": _DAY, "to_zone": _AWARE, "with_zone": _of_zone(expression[-1])}.get(method)


def _of_zone(zone: Json) -> str:
    return _NAIVE if zone == ["const", None] else _AWARE


def _of_constant(value: Json) -> str | None:
    if not isinstance(value, dict):
        return None
    if "at" in value:
        return _NAIVE if value["at"][1] is None else _AWARE
    return _DAY if "day" in value else _SPAN if "span" in value else None


def _of_call(name: str, arguments: list[Json]) -> str | None:
    if name in ("datetime.datetime", "datetime.fromtimestamp"):
        return _of_zone(arguments[-1])
    return {"datetime.date": _DAY, "datetime.timedelta": _SPAN}.get(name)


def _of_sum(operation: str, one: str | None, other: str | None) -> str | None:
    if operation == "sub" and one in (_AWARE, _NAIVE, _DAY) and one == other:
        return _SPAN
    if other == _SPAN:
        return one
    return other if operation == "add" and one == _SPAN else None
