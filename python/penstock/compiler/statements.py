"""Statements of Python as statements of programs. Recursive in the nesting of statements."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from penstock.compiler.expressions import BINARY
from penstock.compiler.list_changes import ListChanges
from penstock.compiler.lists import Lists, is_never_list, is_new, is_new_part
from penstock.compiler.names import Scope, Static
from penstock.compiler.program import Json, RefusedError
from penstock.compiler.signatures import Use
from penstock.runtime.constants import article
from penstock.runtime.windows.triggers import TriggerResult

IN_PLACE = {"add": "iadd", "mul": "imul", "or_": "ior_"}
"""Operators that change a list or a dict in place: the machine sees at run time that it is neither."""
_NOT_NEW = "what is changed must be a new list or dict of this function"
_REFUSED = {
    "With": "with cannot be translated: what it opens has effects",
    "Global": "assigns a global variable",
    "Nonlocal": "assigns a variable of an enclosing function",
    "FunctionDef": "defines a function",
    "AsyncFunctionDef": "defines a function",
    "ClassDef": "defines a class",
    "Match": "match cannot be translated",
    "Import": "imports where it may not be reached",
    "ImportFrom": "imports where it may not be reached",
}


class Statements(ListChanges):
    """The translator of the statements of one function."""

    def __init__(self, scope: Scope, lists: Lists, iterators: frozenset[str], result: Use, is_generator: bool) -> None:
        super().__init__(scope)
        self.growing = set(lists.growing)
        self.services = {name for name, values in lists.values.items() if self._are_services(values)}
        self.lists = lists
        self.iterators = iterators
        self.result = result  # what is done with the function's result
        self.is_generator = is_generator
        self.merges = False  # whether it makes two accumulators one
        self.answers = False  # whether it is a method of a trigger that answers with a TriggerResult

    def _are_services(self, values: Sequence[ast.expr | None]) -> bool:
        return all(value is not None and self.is_service(value) for value in values)

    def statements(self, nodes: Sequence[ast.stmt]) -> list[Json]:
        """Some statements."""
        return [statement for node in nodes for statement in self._statement(node)]

    def _statement(self, node: ast.stmt) -> list[Json]:
        name = type(node).__name__
        if name in _REFUSED:
            if isinstance(node, ast.Import | ast.ImportFrom) and self._is_imported(node):
                return []
            raise RefusedError(_REFUSED[name], node)
        translate = getattr(self, f"_do_{name.lower()}", None)
        if translate is None:
            raise RefusedError(f"{name.lower()} cannot be translated", node)
        return translate(node)

    def _is_imported(self, node: ast.Import | ast.ImportFrom) -> bool:
        return all((alias.asname or alias.name).partition(".")[0] in self.scope.statics for alias in node.names)

    def _do_pass(self, _: ast.Pass) -> list[Json]:
        return []

    def _do_break(self, _: ast.Break) -> list[Json]:
        return [["break"]]

    def _do_continue(self, _: ast.Continue) -> list[Json]:
        return [["continue"]]

    def _do_raise(self, _: ast.Raise) -> list[Json]:
        return [["doubt"]]

    def _do_assert(self, node: ast.Assert) -> list[Json]:
        return [["if", self.condition(node.test), [], [["doubt"]]]] if __debug__ else []

    def _do_delete(self, node: ast.Delete) -> list[Json]:
        statements: list[Json] = []
        for target in node.targets:
            entry, deleted = self.entry(target), self.deleted(target)
            if entry is None and deleted is None:
                raise RefusedError("del cannot be translated", node)
            statements += deleted or []
            if entry is not None:
                statements.append(["remove", entry[0], self.expression(entry[1], Use.READ)])
        return statements

    def _do_return(self, node: ast.Return) -> list[Json]:
        if self.is_generator:
            if node.value is not None and not self.lists.is_sink(node.value):
                raise RefusedError("a generator that returns a value", node)
            return [["return", ["const", None]]]
        if self.answers:
            return [["return", self._answer(node.value, node)]]
        if node.value is None:
            return [["return", ["const", None]]]
        self.ends = True
        try:
            return [["return", self.expression(node.value, self.result)]]
        finally:
            self.ends = False

    def _answer(self, answer: ast.expr | None, node: ast.stmt) -> Json:
        """The answer of a trigger as a number: 1 to fire, 2 to purge, 3 for both. Nobody else sees it."""
        if isinstance(answer, ast.IfExp):
            test = self.condition(answer.test)
            return ["if", test, self._answer(answer.body, node), self._answer(answer.orelse, node)]
        static = None if answer is None else self.scope.static(answer)
        if static is None or type(static.value) is not TriggerResult:
            raise RefusedError("a trigger returns something else than one of TriggerResult where it ends", node)
        return ["const", static.value.fire + 2 * static.value.purge]

    def _do_expr(self, node: ast.Expr) -> list[Json]:
        value = node.value
        if isinstance(value, ast.Constant):
            return []
        side = self.side_output(value)
        if side is not None:
            return [side]
        if isinstance(value, ast.Yield):
            return [["yield", ["const", None] if value.value is None else self.expression(value.value)]]
        if isinstance(value, ast.YieldFrom):
            return self._yield_all(value.value)
        processed = self.process_statement(value)
        if processed is not None:
            return processed
        change = self.lists.change(value)
        if change is not None and not (change[1] == "update" and change[0] in self.lists.parts):
            name, method, item = change
            if method == "append":
                kept = self._part_value(item) if name in self.lists.parts else self.expression(item)
                if name in self.lists.parts and is_new_part(kept):
                    return [["change", "append_new", ["local", self._number(name, node)], kept]]
                append = ["yield", kept] if name == self.lists.sink else self._append(name, kept, node)
                return [append, *self.kept_list(name)]
            if method == "update":
                number = self._number(name, node)
                added = ["builtin", "dict", self.expression(item, Use.ITERATE)]
                return [["set", number, ["or_", ["local", number], added]], *self.kept_list(name)]
            return [*self._extend(name, item, node), *self.kept_list(name)]
        part = self.lists.part_change(value)
        if part is not None:
            method, changed, item = part
            return [self._change_part(method, changed, item)]
        changed = self.changed(value)
        if changed is not None:
            return changed
        return [["set", self.scope.fresh(), self.expression(value, Use.READ)]]

    def _yield_all(self, items: ast.expr) -> list[Json]:
        iterable = self.expression(items, Use.ITERATE)
        item = self.scope.fresh()
        return [["for", item, iterable, [["yield", ["local", item]]]]]

    def _append(self, name: str, value: Json, node: ast.AST) -> Json:
        return ["append", self._number(name, node), value]

    def _put(self, name: str, index: ast.expr, value: Json, node: ast.AST) -> Json:
        return ["put", self._number(name, node), self.expression(index), value]

    def _change_part(self, method: str, changed: ast.expr, item: ast.expr) -> Json:
        """The call of a method that changes something in an accumulator."""
        if method in ("extend", "update"):
            return ["change", method, self.expression(changed, Use.READ), self.expression(item, Use.ITERATE)]
        value = self._part_value(item) if method == "append" else self.expression(item)
        method = "append_new" if method == "append" and is_new_part(value) else method
        return ["change", method, self.expression(changed, Use.READ), value]

    def _part_value(self, node: ast.expr) -> Json:
        """A value that will be in an accumulator: a set among others."""
        before, self.makes_sets = self.makes_sets, isinstance(node, ast.Call)
        try:
            return self.expression(node)
        finally:
            self.makes_sets = before

    def _change_item(self, changed: ast.expr, index: ast.expr, value: Json) -> Json:
        method = "put_new" if is_new_part(value) else "put"
        return ["change", method, self.expression(changed, Use.READ), self.expression(index), value]

    def _extend(self, name: str, items: ast.expr, node: ast.AST) -> list[Json]:
        if name == self.lists.sink:
            return self._yield_all(items)
        if any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(items)):
            raise RefusedError(f"{name} grows by itself", node)
        iterable = self.expression(items, Use.ITERATE)
        item = self.scope.fresh()
        return [["for", item, iterable, [self._append(name, ["local", item], node)]]]

    def _number(self, name: str, node: ast.AST) -> int:
        number = self.scope.number(name)
        if number is None:
            raise RefusedError(f"changes {name}, which is not its own", node)
        return number

    # assignments

    def _do_assign(self, node: ast.Assign) -> list[Json]:
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id in self.aliases:
            return []
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id in self.held:
            return self.take_list(node.targets[0].id, node.value)
        taken = self.taken_out(node.value) if len(node.targets) == 1 else None
        if taken is not None:
            return [*taken[0], *self._assign_value(node.targets[0], taken[1])]
        entry = self.entry(node.targets[0])
        if entry is not None and len(node.targets) == 1:
            return [self.entry_put(entry, self.expression(node.value))]
        item = self.lists.item(node.targets[0])
        if item is not None and len(node.targets) == 1 and item[0] in self.lists.parts:
            value, whole = self._part_value(node.value), ast.Name(item[0], ast.Load())
            return [self._change_item(whole, item[1], value) if is_new_part(value) else self._put(*item, value, node)]
        if item is not None and len(node.targets) == 1:
            return [self._put(*item, self.expression(node.value), node), *self.kept_list(item[0])]
        part = self.lists.part_item(node.targets[0])
        if part is not None and len(node.targets) == 1:
            return [self._change_item(*part, self._part_value(node.value))]
        names = {part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)}
        if names & {self.lists.sink} or names & self.services:
            return []
        if names & self.growing and (len(node.targets) > 1 or not isinstance(node.targets[0], ast.Name)):
            raise RefusedError(_NOT_NEW, node)
        if len(node.targets) == 1:
            return self._assign(node.targets[0], node.value)
        value = self.expression(node.value)
        shared = self.scope.fresh()
        result: list[Json] = [["set", shared, value]]
        for target in node.targets:
            result += self._assign_value(target, ["local", shared])
        return result

    def _assign(self, target: ast.expr, node: ast.expr) -> list[Json]:
        unpacked = isinstance(target, ast.Tuple | ast.List)
        if isinstance(target, ast.Name) and target.id in self.iterators:
            items = self.expression(node, Use.ITERATE)
            return [["set", self.target(target), items if items[0] == "state" else ["builtin", "list", items]]]
        if isinstance(target, ast.Name) and target.id in self.matches:
            return [["set", self.target(target), self.assigned_match(node)]]
        return self._assign_value(target, self.expression(node, Use.ITERATE if unpacked else Use.KEEP))

    def _assign_value(self, target: ast.expr, value: Json) -> list[Json]:
        if not isinstance(target, ast.Tuple | ast.List):
            if isinstance(target, ast.Name) and target.id in self.growing and not is_new(value):
                raise RefusedError(_NOT_NEW, target)
            return [["set", self.target(target), value]]
        if all(map(self.entry, target.elts)):
            items = [self.scope.fresh() for _ in target.elts]
            entries = [entry for part in target.elts if (entry := self.entry(part)) is not None]
            puts = [self.entry_put(entry, ["local", item]) for entry, item in zip(entries, items, strict=True)]
            return [["set", items, value], *puts]
        stars = [index for index, part in enumerate(target.elts) if isinstance(part, ast.Starred)]
        if not stars:
            return [["set", self.target(target), value]]
        if any(isinstance(part, ast.Tuple | ast.List) for part in target.elts):
            raise RefusedError("* among nested targets cannot be translated", target)
        star, items = stars[0], self.scope.fresh()
        behind = len(target.elts) - star - 1
        whole: Json = ["local", items]
        short = ["compare", ["builtin", "len", whole], "lt", ["const", star + behind]]
        result: list[Json] = [["set", items, ["builtin", "list", value]], ["if", short, [["doubt"]], []]]
        for index, part in enumerate(target.elts):
            if isinstance(part, ast.Starred):
                end = ["const", -behind] if behind else None
                result.append(["set", self.target(part.value), ["slice", whole, ["const", star], end, None]])
            else:
                place = index if index < star else index - len(target.elts)
                result.append(["set", self.target(part), ["index", whole, ["const", place]]])
        return result

    def _do_annassign(self, node: ast.AnnAssign) -> list[Json]:
        if node.value is None:
            return []
        plain = ast.copy_location(ast.Assign([node.target], node.value), node)
        return self._do_assign(plain)

    def _do_augassign(self, node: ast.AugAssign) -> list[Json]:
        target = node.target
        entry = self.entry(target)
        if entry is not None:
            operator = _operator(node)
            new = [IN_PLACE.get(operator, operator), self.entry_read(target), self.expression(node.value, Use.READ)]
            return [self.entry_put(entry, new)]
        item = None if self.merges else self.lists.item(target)
        if item is not None:
            name, index = item
            old = ["index", ["local", self._number(name, node)], self.expression(index, Use.READ)]
            operator = _operator(node)
            new = [IN_PLACE.get(operator, operator), old, self.expression(node.value, Use.READ)]
            return [self._put(name, index, new, node), *self.kept_list(name)]
        part = self.lists.part_item(target)
        if part is not None:
            operator = _operator(node)
            old = ["index", *(self.expression(side, Use.READ) for side in part)]
            new = [IN_PLACE.get(operator, operator), old, self.expression(node.value, Use.READ)]
            return [self._change_item(*part, new)]
        if not isinstance(target, ast.Name):
            self.target(target)
            raise RefusedError("this assignment cannot be translated", node)
        if target.id in self.growing:
            if not isinstance(node.op, ast.Add):
                raise RefusedError(_NOT_NEW, node)
            return [*self._extend(target.id, node.value, node), *self.kept_list(target.id)]
        number = self.target(target)
        operator = _operator(node)
        if operator in IN_PLACE and not is_never_list(self.lists.values, target.id):
            operator = IN_PLACE[operator]
        return [["set", number, [operator, ["local", number], self.expression(node.value, Use.READ)]]]

    # flow

    def _do_if(self, node: ast.If) -> list[Json]:
        return [["if", self.condition(node.test), self.statements(node.body), self.statements(node.orelse)]]

    def _do_while(self, node: ast.While) -> list[Json]:
        if node.orelse:
            raise RefusedError("else of a loop cannot be translated", node.orelse[0])
        return [["while", self.condition(node.test), self.statements(node.body)]]

    def _do_for(self, node: ast.For) -> list[Json]:
        if node.orelse:
            raise RefusedError("else of a loop cannot be translated", node.orelse[0])
        names = {part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)}
        if names & self.growing:
            raise RefusedError(_NOT_NEW, node.target)
        self.lists.check_loop(node)
        iterable = self.expression(node.iter, Use.ITERATE)
        if isinstance(node.target, ast.Tuple | ast.List) and any(isinstance(t, ast.Starred) for t in node.target.elts):
            item = self.scope.fresh()
            parts = self._assign_value(node.target, ["local", item])
            return [["for", item, iterable, parts + self.statements(node.body)]]
        return [["for", self.target(node.target), iterable, self.statements(node.body)]]

    def _do_try(self, node: ast.Try) -> list[Json]:
        """The body alone: if it raises, the record goes to Python, where the handlers are."""
        if any(not isinstance(part, ast.Pass) for part in node.finalbody):
            raise RefusedError("finally cannot be translated", node.finalbody[0])
        return self.statements([*node.body, *node.orelse])

    def inlined(self, node: ast.expr, arguments: Sequence[Json], use: Use) -> Json | None:
        numbers = [argument[1] for argument in arguments]
        if isinstance(node, ast.Lambda):
            rest = node.args
            names = [argument.arg for argument in (*rest.posonlyargs, *rest.args)]
            if rest.vararg or rest.kwarg or rest.kwonlyargs or rest.defaults or len(names) != len(numbers):
                raise RefusedError(f"this lambda is called with {len(numbers)} arguments", node)
            self.scope.inner.append(dict(zip(names, numbers, strict=True)))
            try:
                return self.expression(node.body, use)
            finally:
                self.scope.inner.pop()
        if not isinstance(node, ast.Call) and self.scope.static(node) is None:
            return None
        names = [f"<{index}>" for index in range(len(numbers))]
        call = ast.Call(node, [ast.Name(name, ast.Load()) for name in names], [])
        self.scope.inner.append(dict(zip(names, numbers, strict=True)))
        try:
            return self.call(ast.copy_location(call, node), use)
        finally:
            self.scope.inner.pop()


def _operator(node: ast.AugAssign) -> str:
    operators: dict[type[ast.operator], str] = {**BINARY}
    operator = operators.get(type(node.op))
    if operator is None:
        raise RefusedError(f"the operator {type(node.op).__name__} cannot be translated", node)
    return operator


def refused_class(static: Static, node: ast.AST) -> RefusedError:
    """The refusal of a call of something that is not a function."""
    return RefusedError(f"calls {static.text}, {article(type(static.value).__name__)}", node)
