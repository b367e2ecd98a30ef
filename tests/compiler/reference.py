"""Evaluates programs of the compiler in plain Python: slow and obvious. It says what each part of a program means.

Operations are CPython's own, so it shows whether the *translation* is right; how the machine does an operation is
tested where the machine is. Where CPython raises, it says Doubt.
"""

from __future__ import annotations

import builtins
import json
import math
import operator
import re
import struct
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta, timezone
from typing import Any

from penstock.common.row import Row

_STEPS = 100_000


class Doubt(Exception):
    """The program cannot vouch for its result."""


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class _Return(Exception):
    pass


_UNSET = object()
_MATCHES = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "in": lambda left, right: left in right,
    "not_in": lambda left, right: left not in right,
    "is": operator.is_,
    "is_not": operator.is_not,
}
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")},
    **{name: getattr(operator, name) for name in ("lshift", "rshift", "and_", "or_", "xor")},
}
_UNARY = {"neg": operator.neg, "pos": operator.pos, "invert": operator.invert, "not": operator.not_}
_IN_PLACE = {"iadd": ("add", list), "imul": ("mul", list), "ior_": ("or_", dict)}
_CLASSES = {"Row": Row, **{cls.__name__: cls for cls in (bool, int, float, str, bytes, tuple, list, dict)}}
_VIEWS = ("items", "keys", "values")


def constant(data: Any) -> Any:
    """The constant of some JSON."""
    if not isinstance(data, dict):
        assert data is None or isinstance(data, bool | int | str)
        return data
    ((kind, content),) = data.items()
    match kind:
        case "f":
            return struct.unpack("<d", struct.pack("<Q", int(content)))[0]
        case "b":
            return bytes.fromhex(content)
        case "t":
            return tuple(map(constant, content))
        case "l":
            return list(map(constant, content))
        case "d":
            return {constant(key): constant(value) for key, value in content}
        case "s":
            return set(map(constant, content))
        case "at":
            return (datetime(1, 1, 1) + timedelta(microseconds=content[0])).replace(tzinfo=zone(content[1]))
        case "day":
            return date.fromordinal(content[0] + 1)
        case "span":
            return timedelta(microseconds=content[0])
    raise AssertionError(kind)


def zone(offset: int | None) -> timezone | None:
    """The time zone with an offset in seconds."""
    return None if offset is None else timezone(timedelta(seconds=offset))


_LIBRARY: dict[str, Callable[..., Any]] = {
    "datetime.fromtimestamp": lambda seconds, offset: datetime.fromtimestamp(seconds, zone(offset or 0)).replace(
        tzinfo=zone(offset)
    ),
    "datetime.fromisoformat": lambda text, _: datetime.fromisoformat(text),
    "datetime.strptime": datetime.strptime,
    "datetime.datetime": lambda *fields: datetime(*fields[:7], tzinfo=zone(fields[7])),
    "datetime.date": date,
    "datetime.day_fromordinal": date.fromordinal,
    "datetime.day_fromisoformat": date.fromisoformat,
    "datetime.timedelta": timedelta,
}
_METHODS: dict[str, Callable[..., Any]] = {
    "to_zone": lambda moment, offset: moment.astimezone(zone(offset)),
    "with_zone": lambda moment, offset: moment.replace(tzinfo=zone(offset)),
    "with_fields": lambda moment, *changes: moment.replace(**dict(zip(changes[::2], changes[1::2], strict=True))),
}
_PLACES = {"^": "^", "$": "$", "m": "(?m:^)", "n": "(?m:$)", "A": "\\A", "Z": "\\Z", "b": "\\b"}


def _regex(parts: list[Any]) -> str:
    """The text of a pattern."""
    return "".join(_part(*part) for part in parts)


def _part(kind: str, *rest: Any) -> str:
    match kind, rest:
        case "one", (ranges, classes, negated, _):
            inside = "".join(f"{re.escape(chr(one))}-{re.escape(chr(other))}" for one, other in ranges)
            inside += "".join(f"\\{letter}" for letter in classes)
            return f"[{'^' if negated else ''}{inside}]" if inside else "(?s:.)"
        case "at", (place,):
            return _PLACES[place]
        case "group", (_, parts):
            return f"({_regex(parts)})"
        case "branch", (branches,):
            return f"(?:{'|'.join(map(_regex, branches))})"
        case "repeat", (least, most, greedy, parts):
            often = f"{{{least},{'' if most is None else most}}}"
            return f"(?:{_regex(parts)}){often}{'' if greedy else '?'}"
    raise AssertionError(kind)


def _any_case(parts: Any) -> bool:
    """Whether a part of a pattern says that case does not matter."""
    return isinstance(parts, list) and ((parts[:1] == ["one"] and parts[4]) or any(map(_any_case, parts)))


class Program:
    """A program; ``run`` gives the result of its first function, a list of what it yields if it has yields."""

    def __init__(self, text: str) -> None:
        data = json.loads(text)
        assert data["v"] == 1
        self.functions = data["functions"]
        self.classes = getattr(text, "classes", ())
        self.steps = 0

    def run(self, *arguments: Any) -> Any:
        """The result, or Doubt for whatever CPython would raise."""
        self.steps = 0
        try:
            return self.call(0, list(arguments))
        except Doubt:
            raise
        except RecursionError:
            raise
        except Exception as error:
            raise Doubt(repr(error)) from error

    def call(self, number: int, arguments: list[Any]) -> Any:
        """The result of a function."""
        function = self.functions[number]
        assert len(arguments) == function["params"] <= function["locals"]
        return _Frame(self, arguments, function).run()


class _Frame:
    """A call of a function."""

    def __init__(self, program: Program, arguments: list[Any], function: Any) -> None:
        self.program = program
        self.body = function["body"]
        self.locals = arguments + [_UNSET] * (function["locals"] - len(arguments))
        self.yielded: list[Any] = []

    def run(self) -> Any:
        result = None
        try:
            self.statements(self.body)
        except _Return as end:
            (result,) = end.args
        return self.yielded if '"yield"' in json.dumps(self.body) else result

    def statements(self, statements: list[Any]) -> None:
        for statement in statements:
            self.program.steps += 1
            if self.program.steps > _STEPS:
                raise Doubt("too long")
            self.statement(*statement)

    def statement(self, kind: str, *parts: Any) -> None:
        match kind:
            case "set":
                self.assign(parts[0], self.value(parts[1]))
            case "append":
                old = self.local(parts[0])
                if not isinstance(old, list):
                    raise Doubt("not a list")
                self.locals[parts[0]] = [*old, self.value(parts[1])]
            case "put":
                self.put(*parts)
            case "change" if parts[0] in ("put", "put_new") and parts[1][0] == "local":  # where it is no object
                self.put(parts[1][1], *parts[2:])
            case "change":
                raise Doubt("not an object")
            case "if":
                self.statements(parts[1] if self.value(parts[0]) else parts[2])
            case "for":
                self.loop(*parts)
            case "while":
                while self.value(parts[0]):
                    try:
                        self.statements(parts[1])
                    except _Break:
                        break
                    except _Continue:
                        continue
            case "break":
                raise _Break
            case "continue":
                raise _Continue
            case "return":
                raise _Return(self.value(parts[0]))
            case "yield":
                self.yielded.append(self.value(parts[0]))
            case "doubt":
                raise Doubt("said by the program")
            case _:
                raise AssertionError(kind)

    def put(self, number: int, index: Any, value: Any) -> None:
        old, key, item = self.local(number), self.value(index), self.value(value)
        if not isinstance(old, list | dict):
            raise Doubt("not a list or dict")
        new = old.copy()
        new[key] = item
        self.locals[number] = new

    def loop(self, target: Any, iterable: Any, body: Any) -> None:
        for item in self.value(iterable):
            self.assign(target, item)
            try:
                self.statements(body)
            except _Break:
                break
            except _Continue:
                continue

    def assign(self, target: Any, value: Any) -> None:
        if isinstance(target, int):
            self.locals[target] = value
            return
        values = list(value)
        if len(values) != len(target):
            raise Doubt("cannot be unpacked")
        for part, item in zip(target, values, strict=True):
            self.assign(part, item)

    def local(self, number: int) -> Any:
        if self.locals[number] is _UNSET:
            raise Doubt("has no value yet")
        return self.locals[number]

    def value(self, expression: Any) -> Any:
        kind, *parts = expression
        self.program.steps += 1
        if self.program.steps > _STEPS:
            raise Doubt("too long")
        if kind in _BINARY:
            return _BINARY[kind](self.value(parts[0]), self.value(parts[1]))
        if kind in _UNARY:
            return _UNARY[kind](self.value(parts[0]))
        if kind in _IN_PLACE:
            name, changed = _IN_PLACE[kind]
            left = self.value(parts[0])
            if isinstance(left, changed):
                raise Doubt("changed in place")
            return _BINARY[name](left, self.value(parts[1]))
        return getattr(self, f"of_{kind}")(*parts)

    def values(self, expressions: Any) -> list[Any]:
        return [self.value(expression) for expression in expressions]

    def of_local(self, number: int) -> Any:
        return self.local(number)

    def of_const(self, data: Any) -> Any:
        return constant(data)

    def of_if(self, test: Any, one: Any, other: Any) -> Any:
        return self.value(one) if self.value(test) else self.value(other)

    def of_and(self, *parts: Any) -> Any:
        result = True
        for part in parts:
            result = self.value(part)
            if not result:
                break
        return result

    def of_or(self, *parts: Any) -> Any:
        result = False
        for part in parts:
            result = self.value(part)
            if result:
                break
        return result

    def of_tuple(self, *parts: Any) -> Any:
        return tuple(self.values(parts))

    def of_list(self, *parts: Any) -> Any:
        return self.values(parts)

    def of_object(self, number: int, attributes: Any) -> Any:
        cls, names = self.program.classes[number]
        instance = object.__new__(cls)
        for name, value in zip(names, self.value(attributes), strict=True):
            object.__setattr__(instance, name, value)
        return instance

    def of_dict(self, *pairs: Any) -> Any:
        return {self.value(key): self.value(value) for key, value in pairs}

    def of_index(self, value: Any, index: Any) -> Any:
        return self.value(value)[self.value(index)]

    def of_slice(self, value: Any, *bounds: Any) -> Any:
        return self.value(value)[slice(*(None if b is None else self.value(b) for b in bounds))]

    def of_attr(self, value: Any, name: str) -> Any:
        receiver = self.value(value)
        if not isinstance(receiver, Row | date | timedelta) and name not in getattr(receiver, "__dict__", ()):
            raise Doubt("has no fields")
        return getattr(receiver, name)

    def of_compare(self, first: Any, *rest: Any) -> Any:
        left = self.value(first)
        result: Any = True
        for name, operand in zip(rest[::2], rest[1::2], strict=True):
            right = self.value(operand)
            result = _MATCHES[name](left, right)
            if not result:
                break
            left = right
        return result

    def of_builtin(self, name: str, *parts: Any) -> Any:
        result = getattr(builtins, name)(*self.values(parts))
        return list(result) if name in ("zip", "enumerate", "reversed", "range") else result

    def of_method(self, name: str, receiver: Any, *parts: Any) -> Any:
        value = self.value(receiver)
        if name in _METHODS:
            return _METHODS[name](value, *self.values(parts))
        if not isinstance(value, str | bytes | int | float | tuple | list | dict | date | timedelta):
            raise Doubt("methods of plain data only")
        result = getattr(value, name)(*self.values(parts))
        return list(result) if name in _VIEWS else result

    def of_lib(self, name: str, *parts: Any) -> Any:
        if name in _LIBRARY:
            return _LIBRARY[name](*self.values(parts))
        module, function = name.split(".")
        home: Any = {"math": math, "json": json}[module]
        return getattr(home, function)(*self.values(parts))

    def of_format(self, value: Any, spec: str, conversion: str) -> Any:
        shown = {"r": repr, "s": str, "a": ascii, "": lambda plain: plain}[conversion](self.value(value))
        return format(shown, spec)

    def of_concat(self, *parts: Any) -> Any:
        return "".join(self.values(parts))

    def of_pattern(self, pattern: Any, method: str, *parts: Any) -> Any:
        parts_of, groups, _ = pattern
        compiled = re.compile(_regex(parts_of), re.IGNORECASE if _any_case(parts_of) else 0)
        assert compiled.groups == groups
        result = getattr(compiled, method)(*self.values(parts))
        return (result[0], *result.groups()) if isinstance(result, re.Match) else result

    def of_isinstance(self, value: Any, names: list[str]) -> Any:
        return isinstance(self.value(value), tuple(_CLASSES[name] for name in names))

    def of_each(self, element: Any, generators: Any) -> Any:
        return list(self._through(element, generators))

    def _through(self, element: Any, generators: Any) -> Iterator[Any]:
        if not generators:
            yield self.value(element)
            return
        (target, iterable, conditions), *rest = generators
        for item in self.value(iterable):
            self.assign(target, item)
            if all(self.value(condition) for condition in conditions):
                yield from self._through(element, rest)

    def _key(self, target: Any, key: Any) -> Callable[[Any], Any] | None:
        if key is None:
            return None

        def of(item: Any) -> Any:
            self.assign(target, item)
            return self.value(key)

        return of

    def of_sorted(self, iterable: Any, target: Any, key: Any, reverse: Any) -> Any:
        items = self.value(iterable)
        return sorted(items, key=self._key(target, key), reverse=self.value(reverse))

    def of_extreme(self, name: str, iterable: Any, target: Any, key: Any, default: Any) -> Any:
        items = self.value(iterable)
        options = {} if default is None else {"default": self.value(default)}
        return getattr(builtins, name)(items, key=self._key(target, key), **options)

    def of_row(self, names: list[str] | None, *parts: Any) -> Any:
        values = self.values(parts)
        return Row(*values) if names is None else Row(**dict(zip(names, values, strict=True)))

    def of_call(self, number: int, *parts: Any) -> Any:
        return self.program.call(number, self.values(parts))
