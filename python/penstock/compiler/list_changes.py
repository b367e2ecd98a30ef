"""The changes that functions make to their own lists beside appending: sorting, taking items out, putting others in."""

from __future__ import annotations

import ast
import bisect
from types import BuiltinFunctionType

from penstock.compiler.calls import Calls
from penstock.compiler.lists import Lists, resized, sorted_into
from penstock.compiler.program import Json, RefusedError
from penstock.compiler.signatures import Use

_INSORTS: dict[object, bool] = {bisect.insort_right: True, bisect.insort_left: False}
"""Whether what is sorted in comes behind what is equal."""


class ListChanges(Calls):
    """The translator of these. A list is replaced by another one, as nobody else has it."""

    lists: Lists

    def changed(self, node: ast.expr) -> list[Json] | None:
        """A call that changes a list, and whose result is not used; None for another one."""
        name = sorted_into(node)
        if name is not None and name in self.growing and isinstance(node, ast.Call):
            static = self.scope.static(node.func)
            if static is not None and isinstance(static.value, BuiltinFunctionType) and static.value in _INSORTS:
                return [self._insort(name, node, _INSORTS[static.value]), *self.kept_list(name)]
        name = resized(node)
        if name is None or not self._is_own(name) or not isinstance(node, ast.Call):
            return None
        number, method = self.scope.number(name), node.func.attr  # type: ignore[attr-defined]
        taken = self.taken_out(node)
        if taken is not None:
            return taken[0]
        if method == "insert" and len(node.args) == 2 and not node.keywords:
            return self._put_in(name, *node.args)
        new: Json = None
        if method == "sort":
            new = self._in_order(name, node)
        elif not node.keywords:
            new = {"reverse": ["slice", ["local", number], None, None, ["const", -1]], "clear": ["list"]}.get(method)
        if new is None or node.args:
            raise RefusedError(f"this call of {method}() cannot be translated", node)
        return [*_only_lists(number), ["set", number, new], *self.kept_list(name)]

    def _in_order(self, name: str, node: ast.Call) -> Json | None:
        """A list after its ``sort``; None where the key looks at it, as it is empty meanwhile."""
        read = {part.id for keyword in node.keywords for part in ast.walk(keyword.value) if isinstance(part, ast.Name)}
        return None if name in read else self.sorted(["local", self.scope.number(name)], node.keywords, node)

    def taken_out(self, node: ast.expr | None) -> tuple[list[Json], Json] | None:
        """``pop()`` and ``pop(index)`` of a list: the statements, and what was taken out; None for something else."""
        name = resized(node) if node is not None else None
        if name is None or not self._is_own(name) or not isinstance(node, ast.Call):
            return None
        if node.func.attr != "pop" or len(node.args) > 1 or node.keywords:  # type: ignore[attr-defined]
            return None
        return self._out_of(name, node.args[0] if node.args else ast.Constant(-1))

    def deleted(self, target: ast.expr) -> list[Json] | None:
        """``del`` of an item of a list; None for something else."""
        item = self.lists.item(target)
        return None if item is None or not self._is_own(item[0]) else self._out_of(*item)[0]

    def _is_own(self, name: str) -> bool:
        """Whether a variable has a list of the function's own, and no dict as far as is seen."""
        values = [value for value in self.lists.values.get(name, ()) if value is not None]
        if any(_makes_dict(part) for value in values for part in _choices(value)):
            return False
        return name in self.growing and name not in self.lists.parts and name != self.lists.sink

    def _out_of(self, name: str, index: ast.expr) -> tuple[list[Json], Json]:
        number, place, item = self.scope.number(name), self.scope.fresh(), self.scope.fresh()
        whole, at = ["local", number], ["local", place]
        behind = ["add", at, ["const", 1]]
        statements: list[Json] = [
            *_only_lists(number),
            ["set", place, self.expression(index, Use.READ)],
            ["set", item, ["index", whole, at]],  # in doubt where there is none
            ["if", ["compare", at, "lt", ["const", 0]], [["set", place, ["add", at, ["builtin", "len", whole]]]], []],
            ["set", number, ["add", ["slice", whole, None, at, None], ["slice", whole, behind, None, None]]],
            *self.kept_list(name),
        ]
        return statements, ["local", item]

    def _put_in(self, name: str, index: ast.expr, value: ast.expr) -> list[Json]:
        number, place = self.scope.number(name), self.scope.fresh()
        whole, at = ["local", number], ["local", place]
        before, behind = ["slice", whole, None, at, None], ["slice", whole, at, None, None]
        new = ["add", ["add", before, ["list", self.expression(value)]], behind]
        begin = ["set", place, self.expression(index, Use.READ)]
        return [*_only_lists(number), begin, ["set", number, new], *self.kept_list(name)]

    def _insort(self, name: str, node: ast.Call, behind: bool) -> Json:
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        if len(node.args) != 2 or set(keywords) - {"key"} or name == self.lists.sink:
            raise RefusedError("this call of insort() cannot be translated", node)
        number = self.scope.number(name)
        target, key = self._key(keywords.get("key"))
        return ["set", number, ["insorted", ["local", number], target, key, self.expression(node.args[1]), behind]]


def _choices(node: ast.expr) -> list[ast.expr]:
    """The expressions whose value one may have: the operands of ``or``, or both sides of a conditional expression."""
    if isinstance(node, ast.BoolOp):
        return node.values
    return [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node]


def _makes_dict(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(node, ast.Dict | ast.DictComp) or (isinstance(called, ast.Name) and called.id == "dict")


def _only_lists(number: int | None) -> list[Json]:
    """A variable that has something else than a list leaves it to Python."""
    return [["if", ["isinstance", ["local", number], ["list"]], [], [["doubt"]]]]
