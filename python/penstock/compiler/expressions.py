"""Expressions of Python as expressions of programs.

An expression is translated for a *use* (:class:`~penstock.compiler.signatures.Use`). Programs have no iterators, no
views and no objects that are shared, so what would show the difference is refused: a generator that is kept, a global
list that becomes a result. Recursive in the nesting of expressions.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from penstock.compiler.names import Scope, Static
from penstock.compiler.program import Json, RefusedError, constant, is_constant
from penstock.compiler.signatures import Use
from penstock.compiler.texts import percent_parts
from penstock.runtime.constants import article, is_changeable

BINARY = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
}
UNARY = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert", ast.Not: "not"}
_COMPARISONS = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.In: "in",
    ast.NotIn: "not_in",
    ast.Is: "is",
    ast.IsNot: "is_not",
}
_SINGLE = (None, True, False)


class Expressions(ABC):
    """The translator of the expressions of one function; calls are in :mod:`penstock.compiler.calls`."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.growing: set[str] = set()  # lists that the function appends to
        self.makes_sets = False  # whether it makes accumulators, which may have sets in them
        self.ends = False  # whether the function ends with the expression, so that growing lists may leave it

    @abstractmethod
    def call(self, node: ast.Call, use: Use) -> Json:
        """A call."""

    @abstractmethod
    def state_items(self, node: ast.expr, use: Use) -> Json | None:
        """The items of a list state, or the keys of a map state; None for something else."""

    @abstractmethod
    def entry_read(self, node: ast.AST) -> Json | None:
        """An item of a map state; None for something else."""

    @abstractmethod
    def domain_compared(self, node: ast.Compare) -> Json | None:
        """Whether a timer is of some kind; None for something else."""

    @abstractmethod
    def has_entry(self, key: ast.expr, node: ast.expr) -> Json | None:
        """Whether a key is in a map state; None for something else."""

    @abstractmethod
    def check_lazy(self, nodes: Iterable[ast.AST]) -> None:
        """Refuse what a generator may not do."""

    def expression(self, node: ast.AST, use: Use = Use.KEEP) -> Json:
        """An expression, for a use of its value."""
        translate = getattr(self, f"_{type(node).__name__.lower()}", None)
        if translate is None:
            raise RefusedError(f"{_title(node)} cannot be translated", node)
        return translate(node, use)

    def expressions(self, nodes: Sequence[ast.AST], use: Use = Use.KEEP) -> list[Json]:
        """Several expressions, for the same use."""
        return [self.expression(node, use) for node in nodes]

    def static_value(self, static: Static, use: Use, node: ast.AST) -> Json:
        """An object from outside as a constant."""
        value = static.value
        if is_changeable(value):
            if use is Use.KEEP:
                raise RefusedError(f"{static.text} is shared: the result would hold the {_kind(value)} itself", node)
            if not static.lasting:
                raise RefusedError(
                    f"reads {static.text}, {article(_kind(value))} that may be changed; a constant is written in "
                    "capitals and changed nowhere in its file",
                    node,
                )
            items = [*value, *value.values()] if isinstance(value, dict) else value
            if any(map(is_changeable, items)):
                raise RefusedError(f"reads {static.text}, whose items can be changed", node)
            if isinstance(value, set):
                raise RefusedError(f"goes through {static.text}, a set, whose order differs from run to run", node)
        try:
            return ["const", constant(value)]
        except RefusedError as error:
            raise RefusedError(f"reads {static.text}, {error.reason}", node) from None

    def _constant(self, node: ast.Constant, _: Use) -> Json:
        try:
            return ["const", constant(node.value)]
        except RefusedError as error:
            raise RefusedError(f"has {error.reason}", node) from None

    def _name(self, node: ast.Name, use: Use) -> Json:
        items = self.state_items(node, use)
        if items is not None:
            return items
        number = self.scope.number(node.id)
        if number is None:
            return self.static_value(self.scope.outside(node), use, node)
        if node.id in self.growing and use is Use.KEEP and not self.ends:
            raise RefusedError(f"{node.id} is kept elsewhere while it can still grow", node)
        return ["local", number]

    def _attribute(self, node: ast.Attribute, use: Use) -> Json:
        static = self.scope.static(node)
        if static is not None:
            return self.static_value(static, use, node)
        if self.scope.is_opened(node):
            return ["opened", node.attr, use is Use.KEEP]
        items = self.state_items(node, use)
        if items is not None:
            return items
        if self.scope.is_state(node):
            raise RefusedError(f"{ast.unparse(node)} is used for more than its own methods", node)
        return ["attr", self.expression(node.value, Use.READ), node.attr]

    def _subscript(self, node: ast.Subscript, use: Use) -> Json:
        static = self.scope.static(node)
        if static is not None:
            return self.static_value(static, use, node)
        entry = self.entry_read(node)
        if entry is not None:
            return entry
        value = self.expression(node.value, Use.READ)
        if isinstance(node.slice, ast.Slice):
            bounds = (node.slice.lower, node.slice.upper, node.slice.step)
            return ["slice", value, *(None if b is None else self.expression(b, Use.READ) for b in bounds)]
        return ["index", value, self.expression(node.slice, Use.READ)]

    def _tuple(self, node: ast.Tuple, _: Use) -> Json:
        return self._display(node.elts, "tuple")

    def _list(self, node: ast.List, _: Use) -> Json:
        return self._display(node.elts, "list")

    def _display(self, nodes: list[ast.expr], kind: str) -> Json:
        """A tuple or a list; one of starred parts is put together."""
        if not any(isinstance(node, ast.Starred) for node in nodes):
            items = self.expressions(nodes)
            if kind == "tuple" and all(map(is_constant, items)):
                return ["const", {"t": [item[1] for item in items]}]
            return [kind, *items]
        parts: list[Json] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                parts.append(["builtin", kind, self.expression(node.value, Use.ITERATE)])
            elif parts and parts[-1][0] == kind:
                parts[-1].append(self.expression(node))
            else:
                parts.append([kind, self.expression(node)])
        result = parts[0]
        for part in parts[1:]:
            result = ["add", result, part]
        return result

    def _dict(self, node: ast.Dict, _: Use) -> Json:
        result: Json = None
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                result = ["or_", ["dict"] if result is None else result, self.expression(value, Use.READ)]
                continue
            part = [self.expression(key), self.expression(value)]
            if result is None:
                result = ["dict", part]
            elif result[0] == "dict":
                result.append(part)
            else:
                result = ["or_", result, ["dict", part]]
        return ["dict"] if result is None else result

    def _set(self, node: ast.Set, _: Use) -> Json:
        raise RefusedError("a set can only be asked whether something is in it", node)

    def _unaryop(self, node: ast.UnaryOp, _: Use) -> Json:
        value = self.expression(node.operand, Use.READ)
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            number = node.operand.value
            if type(number) in (int, float):
                return ["const", constant(-number)]  # type: ignore[operator]
        return [UNARY[type(node.op)], value]

    def _binop(self, node: ast.BinOp, _: Use) -> Json:
        left = node.left
        if isinstance(node.op, ast.Mod) and isinstance(left, ast.Constant) and isinstance(left.value, str):
            return self._percent(left.value, node)
        operator = BINARY.get(type(node.op))
        if operator is None:
            raise RefusedError(f"the operator {type(node.op).__name__} cannot be translated", node)
        return [operator, self.expression(left, Use.READ), self.expression(node.right, Use.READ)]

    def _percent(self, text: str, node: ast.BinOp) -> Json:
        """A text with ``%s`` and such, if what fills them is written as a tuple or a constant."""
        values = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
        one = isinstance(node.right, ast.Tuple | ast.Constant | ast.JoinedStr | ast.BinOp | ast.Compare)
        if not one or any(isinstance(value, ast.Starred) for value in values):
            raise RefusedError("what fills % of a text must be written as a tuple", node)
        if isinstance(node.right, ast.BinOp) and not isinstance(node.right.op, ast.Sub | ast.Div | ast.FloorDiv):
            raise RefusedError("what fills % of a text must be written as a tuple", node)
        parts = percent_parts(text, len(values))
        if parts is None:
            raise RefusedError("this format with % cannot be translated", node)
        return self.joined(parts, [lambda value=value: self.expression(value, Use.READ) for value in values])

    def joined(self, parts: Sequence[Any], values: Sequence[Any]) -> Json:
        """Texts and formatted values, one after the other; a value is (position, spec, conversion)."""
        result: Json = ["concat"]
        for part in parts:
            if isinstance(part, str):
                result.append(["const", constant(part)])
            else:
                position, spec, conversion = part
                result.append(["format", values[position](), spec, conversion])
        return ["const", ""] if len(result) == 1 else result

    def _boolop(self, node: ast.BoolOp, use: Use) -> Json:
        return ["and" if isinstance(node.op, ast.And) else "or", *self.expressions(node.values, min(use, Use.READ))]

    def _ifexp(self, node: ast.IfExp, use: Use) -> Json:
        return ["if", self.condition(node.test), self.expression(node.body, use), self.expression(node.orelse, use)]

    def condition(self, node: ast.expr) -> Json:
        """An expression whose truth is asked."""
        return self.expression(node, Use.READ)

    def _compare(self, node: ast.Compare, _: Use) -> Json:
        domain = self.domain_compared(node)
        if domain is not None:
            return domain
        operands = [node.left, *node.comparators]
        if len(operands) == 2 and isinstance(node.ops[0], ast.In | ast.NotIn):
            has = self.has_entry(*operands)
            if has is not None:
                return has if isinstance(node.ops[0], ast.In) else ["not", has]
        result: Json = ["compare"]
        for index, operand in enumerate(operands):
            operator = None if index == 0 else node.ops[index - 1]
            if isinstance(operator, ast.In | ast.NotIn):
                result += [_COMPARISONS[type(operator)], self._container(operand)]
                continue
            if operator is not None:
                if isinstance(operator, ast.Is | ast.IsNot):
                    self._check_identity(operands[index - 1], operand)
                result.append(_COMPARISONS[type(operator)])
            result.append(self.expression(operand, Use.READ))
        return result

    def _check_identity(self, left: ast.expr, right: ast.expr) -> None:
        if not any(isinstance(side, ast.Constant) and side.value in _SINGLE for side in (left, right)) or any(
            isinstance(side, ast.Constant) and type(side.value) in (int, float) for side in (left, right)
        ):
            raise RefusedError("only None, True and False can be compared with is", right)

    def _container(self, node: ast.expr) -> Json:
        """The right side of ``in``."""
        of = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
        if isinstance(of, ast.Name) and ast.unparse(node).endswith(".keys()") and self.scope.number(of.id) is not None:
            whole = self.expression(of, Use.READ)  # its keys are its own items, if it is a dict
            return ["if", ["isinstance", whole, ["dict"]], whole, ["index", ["tuple"], ["const", 0]]]
        members: Any = None
        text = ""
        if isinstance(node, ast.Set):
            if not all(isinstance(item, ast.Constant) for item in node.elts):
                raise RefusedError("a set can only have constants", node)
            members = {item.value for item in node.elts if isinstance(item, ast.Constant)}
        else:
            static = self.scope.static(node)
            if static is not None and type(static.value) in (set, frozenset):
                members, text = static.value, static.text
                if not static.lasting and type(members) is set:
                    raise RefusedError(
                        f"reads {text}, a set that may be changed; a constant is written in capitals and changed "
                        "nowhere in its file",
                        node,
                    )
        if members is None:
            return self.expression(node, Use.ITERATE)
        try:
            return ["const", constant(members, sets=True)]
        except RefusedError as error:
            raise RefusedError(f"reads {text or 'a set'}, {error.reason}", node) from None

    def _joinedstr(self, node: ast.JoinedStr, _: Use) -> Json:
        result: Json = ["concat"]
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                result.append(self._formatted(part))
            else:
                result.append(self.expression(part))
        return ["const", ""] if len(result) == 1 else result

    def _formatted(self, node: ast.FormattedValue) -> Json:
        conversion = "" if node.conversion < 0 else chr(node.conversion)
        spec = ""
        if isinstance(node.format_spec, ast.JoinedStr):
            for part in node.format_spec.values:
                known = part.value if isinstance(part, ast.Constant) else self._known_text(part)
                if not isinstance(known, str):
                    raise RefusedError("a format that depends on values cannot be translated", node)
                spec += known
        return ["format", self.expression(node.value, Use.READ), spec, conversion]

    def _known_text(self, node: ast.expr) -> str | None:
        """A part of a format that is the same in every call."""
        if not isinstance(node, ast.FormattedValue) or node.conversion >= 0 or node.format_spec is not None:
            return None
        if isinstance(node.value, ast.Constant):
            return str(node.value.value)
        static = self.scope.static(node.value)
        return str(static.value) if static is not None and type(static.value) in (str, int) else None

    def _listcomp(self, node: ast.ListComp, _: Use) -> Json:
        return self._comprehension(node.elt, node.generators)

    def _generatorexp(self, node: ast.GeneratorExp, use: Use) -> Json:
        if use is not Use.ITERATE:
            raise RefusedError("a generator is not a value: it can only be gone through where it is written", node)
        first, *others = node.generators
        self.check_lazy([node.elt, *first.ifs, *others])
        return self._comprehension(node.elt, node.generators)

    def _dictcomp(self, node: ast.DictComp, _: Use) -> Json:
        pair = ast.copy_location(ast.Tuple([node.key, node.value], ast.Load()), node)
        return ["builtin", "dict", self._comprehension(pair, node.generators)]

    def _comprehension(self, element: ast.expr, generators: list[ast.comprehension]) -> Json:
        """``["each", …]``: targets are variables of their own."""
        parts: Json = []
        depth = len(self.scope.inner)
        ends, self.ends = self.ends, False
        try:
            for generator in generators:
                if generator.is_async:
                    raise RefusedError("async cannot be translated", element)
                iterable = self.expression(generator.iter, Use.ITERATE)
                names = [part.id for part in ast.walk(generator.target) if isinstance(part, ast.Name)]
                self.scope.inner.append({name: self.scope.fresh() for name in names})
                target = self.target(generator.target)
                parts.append([target, iterable, [self.condition(test) for test in generator.ifs]])
            return ["each", self.expression(element), parts]
        finally:
            self.ends = ends
            del self.scope.inner[depth:]

    def target(self, node: ast.expr) -> Json:
        """What is assigned to: a variable, or several."""
        if isinstance(node, ast.Name):
            number = self.scope.number(node.id)
            if number is None:
                raise RefusedError(f"assigns {node.id}, which is not its own", node)
            return number
        if isinstance(node, ast.Tuple | ast.List):
            return [self.target(part) for part in node.elts]
        if isinstance(node, ast.Attribute):
            raise RefusedError("assigns an attribute, which other code could see", node)
        if isinstance(node, ast.Subscript):
            raise RefusedError("assigns an item, which other code could see", node)
        raise RefusedError(f"{_title(node)} cannot be assigned to", node)

    def _starred(self, node: ast.Starred, _: Use) -> Json:
        raise RefusedError("* cannot be translated here", node)

    def _lambda(self, node: ast.Lambda, _: Use) -> Json:
        raise RefusedError("a function cannot be a value", node)

    def _call(self, node: ast.Call, use: Use) -> Json:
        return self.call(node, use)


def _kind(value: object) -> str:
    return type(value).__name__


_TITLES = {
    "Await": "await",
    "SetComp": "a set",
    "NamedExpr": "an assignment within an expression",
    "Yield": "the value of yield",
    "YieldFrom": "the value of yield from",
    "TemplateStr": "a template string",
}


def _title(node: ast.AST) -> str:
    """A kind of expression or statement in words."""
    name = type(node).__name__
    return _TITLES.get(name, name.lower())
