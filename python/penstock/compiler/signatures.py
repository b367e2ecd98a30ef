"""The functions and methods that programs may call: their parameters, and how they use what they are called with.

All are without effects. Arguments are put in the order of the parameters, defaults that come last are left off.
"""

from __future__ import annotations

import builtins
import json
import math
import operator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any


class Use(IntEnum):
    """What is done with the value of an expression; each allows what those before it allow."""

    KEEP = 0  # it becomes part of a result or a variable
    READ = 1  # it is looked at: a list that may not be changed or kept is allowed
    SIZED = 2  # it is only gone through, or counted: views of dicts and ranges are allowed
    ITERATE = 3  # it is gone through once: iterators are allowed


@dataclass(frozen=True)
class Signature:
    """The parameters of a function."""

    required: int
    names: tuple[str, ...]  # of all; those before ``by_name`` only by position
    by_name: int
    defaults: tuple[Any, ...]  # of those that are not required
    uses: tuple[Use, ...]
    result: Use = Use.KEEP  # the least use for which it is right

    @property
    def most(self) -> int:
        """How many arguments it takes."""
        return len(self.names)


_USES = {"~": Use.READ, "#": Use.SIZED, "*": Use.ITERATE}


def signature(text: str, result: Use = Use.KEEP) -> Signature:
    """The signature of a text such as ``"*items / start=0"``: ``~`` before a parameter that is only looked at, ``#``
    that is counted, ``*`` that is gone through; those before ``/`` are by position."""
    names: list[str] = []
    defaults: list[Any] = []
    uses: list[Use] = []
    by_name = 0
    for part in text.split():
        if part == "/":
            by_name = len(names)
            continue
        name, equals, default = part.partition("=")
        uses.append(_USES.get(name[0], Use.KEEP))
        names.append(name.lstrip("~#*"))
        if equals:
            defaults.append(None if default == "?" else json.loads(default))
    return Signature(len(names) - len(defaults), tuple(names), by_name, tuple(defaults), tuple(uses), result)


_BUILTINS = {
    "abs": "~x /",
    "all": "*items /",
    "any": "*items /",
    "ascii": "~x /",
    "bin": "~x /",
    "bool": "~x=false /",
    "bytes": "~x /",
    "chr": "~x /",
    "dict": "*pairs=? /",
    "divmod": "~a ~b /",
    "float": "~x=0 /",
    "hex": "~x /",
    "int": "~x=0 / ~base=10",
    "len": "#x /",
    "list": "*items=? /",
    "oct": "~x /",
    "ord": "~x /",
    "repr": "~x /",
    "round": "~number ~ndigits=null",
    "str": '~object=""',
    "sum": "*items / ~start=0",
    "tuple": "*items=? /",
}
BUILTINS = {getattr(builtins, name): (name, signature(text)) for name, text in _BUILTINS.items()}
"""Builtins with a fixed number of arguments; ``min``, ``max``, ``sorted``, ``zip`` and others have their rules in
:mod:`penstock.compiler.calls`."""
TYPES = {cls: cls.__name__ for cls in (bool, int, float, str, bytes, tuple, list, dict)}
"""Classes that ``isinstance`` may ask for."""

_TEXT_METHODS = {
    **dict.fromkeys(("capitalize", "casefold", "lower", "swapcase", "title", "upper"), ""),
    **{f"is{kind}": "" for kind in ("alnum", "alpha", "ascii", "decimal", "digit", "identifier", "lower", "numeric")},
    **{f"is{kind}": "" for kind in ("printable", "space", "title", "upper")},
    **dict.fromkeys(("strip", "lstrip", "rstrip"), "chars=? /"),
    **dict.fromkeys(("split", "rsplit"), "sep=null maxsplit=-1"),
    **dict.fromkeys(("partition", "rpartition"), "sep /"),
    **dict.fromkeys(("startswith", "endswith", "find", "rfind", "index", "rindex", "count"), "~sub start=? end=? /"),
    **dict.fromkeys(("removeprefix", "removesuffix"), "part /"),
    **dict.fromkeys(("center", "ljust", "rjust"), "width fillchar=? /"),
    "encode": 'encoding="utf-8" errors="strict"',
    "decode": 'encoding="utf-8" errors="strict"',
    "expandtabs": "tabsize=8",
    "hex": "",
    "join": "*items /",
    "replace": "old new count=-1 /",
    "splitlines": "keepends=false",
    "zfill": "width /",
}
_OTHER_METHODS = {
    **dict.fromkeys(
        ("bit_length", "is_integer", "timestamp", "total_seconds", "date", "time", "weekday", "isoweekday"), ""
    ),
    "get": "key default=null /",
    "isoformat": 'sep="T" timespec="auto"',
    "strftime": "format",
    "toordinal": "",
}
_VIEWS = ("items", "keys", "values")
METHODS = {
    **{name: signature(text) for name, text in (_TEXT_METHODS | _OTHER_METHODS).items()},
    **{name: signature("", Use.SIZED) for name in _VIEWS},
}
"""By name: what the receiver is, the machine sees at run time."""

_NUMBERS = (
    "acos asin atan cbrt ceil cos cosh degrees exp exp2 expm1 fabs factorial floor isfinite isinf isnan isqrt log10 "
    "log1p log2 modf radians sin sinh sqrt tan tanh trunc"
)
_TWO_NUMBERS = "atan2 comb copysign fmod perm pow"
LIBRARY: dict[Any, tuple[str, Signature]] = {
    **{getattr(math, n): (f"math.{n}", signature("~x /")) for n in _NUMBERS.split() if hasattr(math, n)},
    **{getattr(math, n): (f"math.{n}", signature("~x ~y /")) for n in _TWO_NUMBERS.split() if hasattr(math, n)},
    math.log: ("math.log", signature("~x ~base=? /")),
    math.prod: ("math.prod", signature("*items /")),
    math.gcd: ("math.gcd", signature("~a=0 ~b=0 ~c=0 ~d=0 /")),
    json.loads: ("json.loads", signature("text /")),
    json.dumps: ("json.dumps", signature("~x /")),
}
"""Functions of Python's library, by the function."""

OPERATORS: dict[Any, str] = {
    operator.add: "add",
    operator.sub: "sub",
    operator.mul: "mul",
    operator.truediv: "truediv",
    operator.floordiv: "floordiv",
    operator.mod: "mod",
    operator.pow: "pow",
    operator.lshift: "lshift",
    operator.rshift: "rshift",
    operator.and_: "and_",
    operator.or_: "or_",
    operator.xor: "xor",
    operator.neg: "neg",
    operator.pos: "pos",
    operator.inv: "invert",
    operator.not_: "not",
    operator.getitem: "index",
    operator.concat: "add",
}
COMPARISONS: dict[Any, str] = {
    operator.eq: "eq",
    operator.ne: "ne",
    operator.lt: "lt",
    operator.le: "le",
    operator.gt: "gt",
    operator.ge: "ge",
}
"""Functions of the module ``operator``."""
EFFECTS = {
    "print": "prints",
    "input": "reads from the terminal",
    "open": "opens a file",
    "exec": "runs a text",
    "eval": "runs a text",
    "compile": "runs a text",
    "setattr": "changes an object",
    "delattr": "changes an object",
    "next": "changes an iterator",
    "iter": "makes an iterator, which is not a value",
    "hash": "depends on the process",
    "id": "depends on the process",
    "globals": "looks at variables by name",
    "locals": "looks at variables by name",
    "vars": "looks at an object's variables",
}
"""Builtins that no program may call, with what they do."""
IMPURE_MODULES = {
    "logging": "writes a log",
    "random": "is random",
    "secrets": "is random",
    "time": "reads a clock or waits",
    "uuid": "is random",
    "os": "looks outside of the function",
    "socket": "looks outside of the function",
    "subprocess": "looks outside of the function",
    "sys": "looks outside of the function",
    "urllib": "looks outside of the function",
    "requests": "looks outside of the function",
}
"""Modules whose functions have effects or differ from call to call."""
UNTRANSLATED = {
    "datetime": "of dates and times this is not translated",
    "json": "only json.loads(text) and json.dumps(value) are translated",
    "math": "its result is not known to be the same on every platform",
    "re": "search, match, fullmatch, findall, split and sub of a constant pattern are translated",
}
"""Modules that have no other translated function, and why."""
