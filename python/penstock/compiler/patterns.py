"""Regular expressions: patterns that are constants, read by Python's own parser, as programs have them.

Native code matches as Python does, from left to right, the first way that fits. Refused is what depends on the version
of Python, or on tables of characters: references to groups, looking ahead and behind, groups that are repeated, and
repetitions of what can be empty. A match is a tuple of its groups in a program, so that nothing but its groups, and
whether there is one, can be asked."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import FunctionType
from typing import Any, NamedTuple

from penstock.compiler.expressions import Expressions
from penstock.compiler.names import Scope, Static
from penstock.compiler.program import Json, RefusedError
from penstock.compiler.signatures import Use

_PARSER: Any = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")
_MATCHING = ("search", "match", "fullmatch")
_OTHERS = ("findall", "split", "sub")
_FUNCTIONS: dict[Any, str] = {getattr(re, name): name for name in (*_MATCHING, *_OTHERS)}
_FLAGS = re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE | re.UNICODE
_CLASSES = {"DIGIT": "d", "SPACE": "s", "WORD": "w"}
_PLACES = {"AT_BEGINNING": "^", "AT_BEGINNING_STRING": "A", "AT_END": "$", "AT_END_STRING": "Z", "AT_BOUNDARY": "b"}
_LINES = {"^": "m", "$": "n"}
_LAST_ASCII = 127


@lru_cache(256)
def pattern_program(pattern: re.Pattern[str]) -> Json:
    """A pattern as a part of a program; RefusedError for one that native code does not have."""
    if not isinstance(pattern.pattern, str):
        raise RefusedError("a pattern of bytes is Python's to match")
    if pattern.flags & ~_FLAGS:
        raise RefusedError("a pattern with such flags is Python's to match")
    reading = _Reading(bool(pattern.flags & re.IGNORECASE), pattern.flags)
    parts = reading.parts(_PARSER.parse(pattern.pattern, pattern.flags), repeated=False)
    return [parts, pattern.groups, reading.ascii_texts]


class _Reading:
    """A pattern while it is read. ``ascii_texts`` says whether it is known for texts of ASCII only."""

    def __init__(self, any_case: bool, flags: int) -> None:
        self.any_case, self.ascii_texts = any_case, any_case
        self._multiline, self._dotall = bool(flags & re.MULTILINE), bool(flags & re.DOTALL)

    def parts(self, parsed: Iterable[Any], repeated: bool) -> list[Json]:
        """Parts in order; ``repeated`` ones have no groups. Recursive, as deep as the pattern."""
        return [part for kind, value in parsed for part in self._part(str(kind), value, repeated)]

    def _part(self, kind: str, value: Any, repeated: bool) -> list[Json]:
        if kind in ("LITERAL", "NOT_LITERAL"):
            return [self._one([[value, value]], "", kind == "NOT_LITERAL")]
        if kind == "ANY":
            return [self._one([] if self._dotall else [[10, 10]], "", True)]
        if kind == "IN":
            return [self._set(value)]
        if kind == "AT":
            return [self._at(str(value))]
        if kind == "SUBPATTERN":
            number, added, removed, inside = value
            if added or removed:
                raise RefusedError("a pattern whose flags change is Python's to match")
            if number is None:
                return self.parts(inside, repeated)
            if repeated:
                raise RefusedError("a pattern whose groups are repeated, or one of several, is Python's to match")
            return [["group", number, self.parts(inside, repeated)]]
        if kind == "BRANCH":
            return [["branch", [self.parts(branch, True) for branch in value[1]]]]
        if kind in ("MAX_REPEAT", "MIN_REPEAT"):
            least, most, inside = value
            if inside.getwidth()[0] == 0:
                raise RefusedError("a pattern that repeats what can be empty is Python's to match")
            endless = most is _PARSER.MAXREPEAT
            return [["repeat", least, None if endless else most, kind == "MAX_REPEAT", self.parts(inside, most != 1)]]
        raise RefusedError("a pattern that refers to groups, or looks ahead or behind, is Python's to match")

    def _set(self, items: list[Any]) -> Json:
        ranges: list[list[int]] = []
        classes, negated = "", False
        for kind, value in items:
            if str(kind) == "NEGATE":
                negated = True
            elif str(kind) == "LITERAL":
                ranges.append([value, value])
            elif str(kind) == "RANGE":
                ranges.append([*value])
            else:
                name = str(value).removeprefix("CATEGORY_")
                letter = _CLASSES[name.removeprefix("NOT_")]
                classes += letter.upper() if name.startswith("NOT_") else letter
                self.ascii_texts = True
        return self._one(ranges, classes, negated)

    def _one(self, ranges: list[list[int]], classes: str, negated: bool) -> Json:
        if self.any_case and any(last > _LAST_ASCII for _, last in ranges):
            raise RefusedError("a pattern with letters beyond ASCII, whose case does not matter, is Python's to match")
        return ["one", ranges, classes, negated, self.any_case]

    def _at(self, name: str) -> Json:
        place = _PLACES.get(name)
        if place is None:
            raise RefusedError("a pattern with such a place is Python's to match")
        if place == "b":
            self.ascii_texts = True
        return ["at", _LINES.get(place, place) if self._multiline else place]


class _Call(NamedTuple):
    """A call of a pattern's method."""

    pattern: re.Pattern[str]
    method: str
    arguments: list[ast.expr]


def _pattern_of(scope: Scope, node: ast.expr, flags: list[ast.expr]) -> re.Pattern[str] | None:
    """The pattern that an argument is: a constant, with flags."""
    static = Static(node.value, "") if isinstance(node, ast.Constant) else scope.static(node)
    number = 0
    for flag in flags:
        known = scope.static(flag)
        if known is None or not isinstance(known.value, int):
            return None
        number |= int(known.value)
    if static is None or (flags and not isinstance(static.value, str)):
        return None
    if isinstance(static.value, re.Pattern):
        return static.value
    try:
        return re.compile(static.value, number) if type(static.value) is str else None
    except (re.error, OverflowError, RecursionError):
        return None


def call_of(scope: Scope, node: ast.AST) -> _Call | None:
    """The call of a pattern's method that an expression is, if programs can do the same."""
    if not isinstance(node, ast.Call):
        return None
    called = node.func
    if isinstance(called, ast.Attribute) and called.attr in (*_MATCHING, *_OTHERS):
        owner = scope.static(called.value)
        if owner is not None and isinstance(owner.value, re.Pattern):
            fits = not node.keywords and len(node.args) == (2 if called.attr == "sub" else 1)
            return _Call(owner.value, called.attr, node.args) if fits else None
    static = scope.static(called)
    method = None if static is None or not isinstance(static.value, FunctionType) else _FUNCTIONS.get(static.value)
    return None if method is None else _call_of_module(scope, node, method)


def _call_of_module(scope: Scope, node: ast.Call, method: str) -> _Call | None:
    """A call such as ``re.match(pattern, text)``."""
    count = 3 if method == "sub" else 2
    flags = [keyword.value for keyword in node.keywords]
    if any(keyword.arg != "flags" for keyword in node.keywords) or len(node.args) < count:
        return None
    flags += node.args[count:]
    if len(flags) > 1 or (len(node.args) > count and method in ("split", "sub")):
        return None  # a number of matches
    pattern = _pattern_of(scope, node.args[0], flags)
    return None if pattern is None else _Call(pattern, method, node.args[1:count])


def matches_of(scope: Scope, values: Mapping[str, list[ast.expr | None]], tree: ast.AST) -> dict[str, re.Pattern[str]]:
    """The variables that are matches of one pattern and nothing else."""
    matches: dict[str, re.Pattern[str]] = {}
    for name, assigned in values.items():
        try:
            calls = [None if value is None else call_of(scope, value) for value in assigned]
        except RefusedError:  # of a name that is not known, which is refused where it stands
            continue
        patterns = {call.pattern for call in calls if call is not None and call.method in _MATCHING}
        if len(patterns) == 1 and all(call is not None for call in calls):
            matches[name] = patterns.pop()
    if matches:
        for node in ast.walk(tree):
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                matches.pop(node.target.id, None)
    return matches


class Patterns(Expressions):
    """The translator of regular expressions."""

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self.matches: dict[str, re.Pattern[str]] = {}

    def _match(self, node: ast.AST) -> tuple[Json, re.Pattern[str]] | None:
        """A match, which is None or a tuple of its groups, and its pattern; None for another expression."""
        if isinstance(node, ast.Name):
            if node.id not in self.matches or any(node.id in names for names in self.scope.inner):
                return None
            return ["local", self.scope.number(node.id)], self.matches[node.id]
        call = call_of(self.scope, node)
        return None if call is None or call.method not in _MATCHING else (self._matched(call, node), call.pattern)

    def _matched(self, call: _Call, node: ast.AST) -> Json:
        try:
            pattern = pattern_program(call.pattern)
        except RefusedError as error:
            raise RefusedError(error.reason, node) from None
        if any(isinstance(argument, ast.Starred) for argument in call.arguments):
            raise RefusedError("a pattern with * cannot be translated", node)
        return ["pattern", pattern, call.method, *self.expressions(call.arguments, Use.READ)]

    def pattern_call(self, node: ast.Call) -> Json | None:
        """The result of a pattern's method, or of a match's; None for another call."""
        called = node.func
        if isinstance(called, ast.Attribute) and (match := self._match(called.value)) is not None:
            return self._groups(called.attr, node, *match)
        call = call_of(self.scope, node)
        if call is None:
            return None
        if call.method in _MATCHING:
            raise RefusedError("a match is used for more than its groups", node)
        if call.method == "sub" and _escapes(call.arguments[0]):
            raise RefusedError("what takes the place of a pattern refers to groups, or is a function", node)
        return self._matched(call, node)

    def _groups(self, method: str, node: ast.Call, match: Json, pattern: re.Pattern[str]) -> Json:
        if method == "groups" and not node.args and not node.keywords:
            return ["slice", match, ["const", 1], None, None]
        if method != "group" or node.keywords:
            raise RefusedError("a match is used for more than its groups", node)
        groups = [self._group(match, pattern, key) for key in node.args or [ast.Constant(0)]]
        return groups[0] if len(groups) == 1 else ["tuple", *groups]

    def _group(self, match: Json, pattern: re.Pattern[str], key: ast.expr) -> Json:
        """One group, by a number or name that is written."""
        number = key.value if isinstance(key, ast.Constant) else None
        if type(number) is str:
            number = pattern.groupindex.get(number)
        if type(number) is not int or not 0 <= number <= pattern.groups:
            raise RefusedError("a group of a match must be a number or name that is written, and be there", key)
        return ["index", match, ["const", number]]

    def assigned_match(self, node: ast.AST) -> Json | None:
        """A match that becomes a variable; None for another expression."""
        match = None if isinstance(node, ast.Name) else self._match(node)
        return None if match is None else match[0]

    # where matches may stand

    def _is_there(self, node: ast.AST, operator: str) -> Json | None:
        match = self._match(node)
        return None if match is None else ["compare", match[0], operator, ["const", None]]

    def condition(self, node: ast.expr) -> Json:
        return self._is_there(node, "is_not") or super().condition(node)

    def _name(self, node: ast.Name, use: Use) -> Json:
        if self._match(node) is not None:
            raise RefusedError("a match is used for more than its groups", node)
        return super()._name(node, use)

    def _unaryop(self, node: ast.UnaryOp, use: Use) -> Json:
        matched = self._is_there(node.operand, "is") if isinstance(node.op, ast.Not) else None
        return matched or super()._unaryop(node, use)

    def _subscript(self, node: ast.Subscript, use: Use) -> Json:
        match = self._match(node.value)
        return super()._subscript(node, use) if match is None else self._group(*match, node.slice)

    def _boolop(self, node: ast.BoolOp, use: Use) -> Json:
        """A match before ``and`` is the result if it is None, and nothing else can be."""
        first = self._match(node.values[0]) if isinstance(node.op, ast.And) else None
        if first is None:
            return super()._boolop(node, use)
        return ["and", first[0], *(self.expression(value, min(use, Use.READ)) for value in node.values[1:])]

    def _compare(self, node: ast.Compare, use: Use) -> Json:
        last = node.comparators[-1]
        none = len(node.ops) == 1 and isinstance(last, ast.Constant) and last.value is None
        if none and isinstance(node.ops[0], ast.Is | ast.IsNot):
            matched = self._is_there(node.left, "is" if isinstance(node.ops[0], ast.Is) else "is_not")
            if matched is not None:
                return matched
        return super()._compare(node, use)


def _escapes(node: ast.expr) -> bool:
    """Whether what takes the place of matches is written with a backslash, or is not a text."""
    return isinstance(node, ast.Lambda) or (isinstance(node, ast.Constant) and "\\" in str(node.value))
