"""Calls: of methods by name, and of functions that are known when the program is planned.

What is called is looked up as the object it is, so a name that hides a builtin is never mistaken for it. Functions of
the program are compiled themselves.
"""

from __future__ import annotations

import ast
import functools
import operator
from abc import abstractmethod
from collections.abc import Sequence
from types import (
    BuiltinFunctionType,
    BuiltinMethodType,
    ClassMethodDescriptorType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
)
from typing import Any

from penstock.common.row import Row
from penstock.compiler.dates import Dates
from penstock.compiler.names import Static
from penstock.compiler.program import Json, RefusedError
from penstock.compiler.signatures import (
    BUILTINS,
    COMPARISONS,
    EFFECTS,
    IMPURE_MODULES,
    LIBRARY,
    METHODS,
    OPERATORS,
    TYPES,
    UNTRANSLATED,
    Signature,
    Use,
)
from penstock.compiler.texts import brace_parts
from penstock.compiler.trees import MUTATORS

_PLAIN = (type, FunctionType, BuiltinFunctionType, MethodDescriptorType, ClassMethodDescriptorType)
_ITERATORS = {enumerate: "enumerate", zip: "zip", reversed: "reversed"}


class Calls(Dates):
    """The translator of calls."""

    @abstractmethod
    def new_object(self, static: Static, node: ast.Call) -> Json | None:
        """An object of a class of the program; None for another class."""

    @abstractmethod
    def program_call(self, static: Static, node: ast.Call, use: Use) -> Json:
        """A call of a function of the program, which is compiled."""

    @abstractmethod
    def inlined(self, node: ast.expr, arguments: Sequence[Json], use: Use) -> Json | None:
        """The result of a lambda or function for arguments that are variables; None if it is neither."""

    def call(self, node: ast.Call, use: Use) -> Json:
        matched = self.pattern_call(node)
        if matched is not None:
            return matched
        processed = self.process_call(node, use)
        if processed is not None:
            return processed
        dated = self.date_call(node)
        if dated is not None:
            return dated
        called = node.func
        static = self.scope.static(called)
        if static is not None:
            return self._static_call(static, node, use)
        if isinstance(called, ast.Attribute):
            return self._method(called, node, use)
        if isinstance(called, ast.Call):
            return self._call_of_call(called, node, use)
        raise RefusedError("calls what is only known when it runs", node)

    # methods

    def _method(self, called: ast.Attribute, node: ast.Call, use: Use) -> Json:
        """A method of a value, which is chosen by the value's type when it runs."""
        name = called.attr
        if name == "format" and isinstance(called.value, ast.Constant) and isinstance(called.value.value, str):
            return self._text_format(called.value.value, node)
        signature = METHODS.get(name)
        if signature is None:
            effect = name in MUTATORS or name in ("write", "send", "reverse", "setdefault")
            raise RefusedError(
                f".{name}() changes an object" if effect else f".{name}() is not a method that can be translated", node
            )
        receiver = self.expression(called.value, Use.READ)
        arguments = self.arguments(signature, node, f".{name}()")
        return self._fitting(["method", name, receiver, *arguments], signature, use, node, f".{name}()")

    def _text_format(self, text: str, node: ast.Call) -> Json:
        parts = brace_parts(text)
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        if parts is None or None in keywords or any(isinstance(value, ast.Starred) for value in node.args):
            raise RefusedError("this call of format() cannot be translated", node)
        values: dict[str, ast.expr] = {str(index): value for index, value in enumerate(node.args)}
        values.update((name, value) for name, value in keywords.items() if name is not None)
        if any(part[0] not in values for part in parts if not isinstance(part, str)):
            return ["index", ["tuple"], ["const", 0]]  # an exception, which is Python's to raise
        result: Json = ["concat"]
        for part in parts:
            if isinstance(part, str):
                result.append(["const", part])
            else:
                result.append(["format", self.expression(values[part[0]], Use.READ), part[1], part[2]])
        return ["const", ""] if len(result) == 1 else result

    def arguments(self, signature: Signature, node: ast.Call, title: str) -> list[Json]:
        """The arguments in the order of the parameters."""
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            raise RefusedError(f"{title} with * cannot be translated", node)
        nodes: dict[int, ast.expr] = dict(enumerate(node.args))
        for keyword in node.keywords:
            if keyword.arg not in signature.names[signature.by_name :]:
                raise RefusedError(f"{title} with {keyword.arg or '**'} cannot be translated", node)
            place = signature.names.index(keyword.arg)
            if place in nodes:
                raise RefusedError(f"{title} has two values for {keyword.arg}", node)
            nodes[place] = keyword.value
        if len(node.args) > signature.most or any(place not in nodes for place in range(signature.required)):
            raise RefusedError(f"{title} is called with {len(node.args)} arguments", node)
        result: list[Json] = []
        for place in range(max(nodes, default=-1) + 1):
            if place in nodes:
                result.append(self.expression(nodes[place], signature.uses[place]))
            else:
                result.append(["const", signature.defaults[place - signature.required]])
        return result

    def _fitting(self, result: Json, signature: Signature, use: Use, node: ast.AST, title: str) -> Json:
        if signature.result > use:
            raise RefusedError(f"the result of {title} is not a value that a program can keep", node)
        return result

    # functions that are known

    def _static_call(self, static: Static, node: ast.Call, use: Use) -> Json:
        value = static.value
        title = f"{static.text}()"
        if isinstance(value, FunctionType | functools.partial) or _is_bound(value):
            library = LIBRARY.get(value) if isinstance(value, FunctionType) else None
            if library is None:
                self._check_effects(static, node)
                return self.program_call(static, node, use)
        if value is bool and len(node.args) == 1 and not node.keywords:
            return ["builtin", "bool", self.condition(node.args[0])]
        if isinstance(value, operator.itemgetter | operator.attrgetter):
            return self._getter(value, node)
        known = _lookup(value)
        if known is not None:
            kind, name, signature = known
            return self._fitting([kind, name, *self.arguments(signature, node, title)], signature, use, node, title)
        if value is set and self.makes_sets and not node.args and not node.keywords:
            return ["new_set"]
        special = self._special(value, node, use, title)
        if special is not None:
            return special
        instance = self.new_object(static, node) if isinstance(value, type) else None
        if instance is not None:
            return instance
        if isinstance(value, MethodDescriptorType) and value.__objclass__ is str and node.args:
            return self._text_method(value, node, use)
        self._check_effects(static, node)
        raise RefusedError(f"calls {title}, which is not known to have no effects", node)

    def _check_effects(self, static: Static, node: ast.AST) -> None:
        """Refuse what is known for its effects, in words."""
        value = static.value
        name = getattr(value, "__name__", "")
        module = (getattr(value, "__module__", None) or "").partition(".")[0]
        owner = getattr(value, "__self__", None)
        if module == "builtins" and name in EFFECTS:
            raise RefusedError(f"{name}() {EFFECTS[name]}", node)
        if isinstance(value, MethodType):
            module = type(owner).__module__.partition(".")[0]
        elif isinstance(value, BuiltinMethodType) and owner is not None and not module:
            module = (type(owner).__module__ or "").partition(".")[0]
        elif isinstance(value, ClassMethodDescriptorType):  # such as datetime.fromtimestamp
            module = value.__objclass__.__module__
        module = "time" if module == "datetime" and name in ("now", "today", "utcnow") else module.lstrip("_")
        if module in IMPURE_MODULES:
            raise RefusedError(f"{static.text}() {IMPURE_MODULES[module]}", node)
        if module in UNTRANSLATED:
            raise RefusedError(f"calls {static.text}(): {UNTRANSLATED[module]}", node)

    def _special(self, value: Any, node: ast.Call, use: Use, title: str) -> Json | None:
        """Functions whose arguments have rules of their own; None for all others."""
        if not isinstance(value, type | BuiltinFunctionType):
            return None
        name = OPERATORS.get(value)
        compared = COMPARISONS.get(value)
        if name is not None:
            return [name, *self._plain(node, title, 1 if name in ("neg", "pos", "invert", "not") else 2)]
        if compared is not None:
            left, right = self._plain(node, title, 2)
            return ["compare", left, compared, right]
        if value is Row:
            return self._row(node)
        if value is isinstance:
            return self._isinstance(node)
        if value is range:
            return self._sequence(
                ["builtin", "range", *self._plain(node, title, (1, 2, 3))], Use.SIZED, use, node, title
            )
        if value in (min, max):
            return self._extreme(value.__name__, node)
        if value is sorted:
            return self._sorted(node)
        if value in (map, filter):
            return self._sequence(self._mapped(value, node), Use.ITERATE, use, node, title)
        if isinstance(value, type) and value in _ITERATORS:
            return self._sequence(self._iterator(_ITERATORS[value], node), Use.ITERATE, use, node, title)
        return None

    def _sequence(self, result: Json, least: Use, use: Use, node: ast.AST, title: str) -> Json:
        if use < least:
            raise RefusedError(f"the result of {title} can only be gone through where it is written", node)
        return result

    def _plain(self, node: ast.Call, title: str, count: int | tuple[int, ...]) -> list[Json]:
        """Arguments by position."""
        counts = count if isinstance(count, tuple) else (count,)
        starred = any(isinstance(argument, ast.Starred) for argument in node.args)
        if node.keywords or starred or len(node.args) not in counts:
            raise RefusedError(f"this call of {title} cannot be translated", node)
        return self.expressions(node.args, Use.READ)

    def _row(self, node: ast.Call) -> Json:
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            raise RefusedError("Row() with * cannot be translated", node)
        names = [keyword.arg for keyword in node.keywords]
        if None in names or (names and node.args):
            raise RefusedError("this call of Row() cannot be translated", node)
        values = node.args or [keyword.value for keyword in node.keywords]
        return ["row", names or None, *self.expressions(values)]

    def _isinstance(self, node: ast.Call) -> Json:
        if len(node.args) != 2 or node.keywords:
            raise RefusedError("this call of isinstance() cannot be translated", node)
        asked = node.args[1]
        parts = asked.elts if isinstance(asked, ast.Tuple) else [asked]
        names: list[str] = []
        for part in parts:
            static = self.scope.static(part)
            classes = () if static is None else static.value if isinstance(static.value, tuple) else (static.value,)
            for cls in classes or (None,):
                name = "Row" if cls is Row else TYPES.get(cls) if isinstance(cls, type) else None
                if name is None:
                    raise RefusedError("isinstance() of a class that programs do not have", part)
                names.append(name)
        return ["isinstance", self.expression(node.args[0], Use.READ), names]

    def _extreme(self, name: str, node: ast.Call) -> Json:
        """``min`` and ``max``: of an iterable, or of several values; with a key."""
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        if any(isinstance(argument, ast.Starred) for argument in node.args) or set(keywords) - {"key", "default"}:
            raise RefusedError(f"this call of {name}() cannot be translated", node)
        if not node.args or ("default" in keywords and len(node.args) > 1):
            raise RefusedError(f"this call of {name}() cannot be translated", node)
        values = self.expressions(node.args, Use.ITERATE if len(node.args) == 1 else Use.KEEP)
        default = self.expression(keywords["default"]) if "default" in keywords else None
        target, value = self._key(keywords.get("key"))
        if target is None and default is None:
            return ["builtin", name, *values]
        items = values[0] if len(values) == 1 else ["tuple", *values]
        return ["extreme", name, items, target, value, default]

    def _sorted(self, node: ast.Call) -> Json:
        if len(node.args) != 1 or isinstance(node.args[0], ast.Starred):
            raise RefusedError("this call of sorted() cannot be translated", node)
        return self.sorted(self.expression(node.args[0], Use.ITERATE), node.keywords, node)

    def sorted(self, items: Json, keywords: Sequence[ast.keyword], node: ast.AST) -> Json:
        """Items in order, by ``key`` and ``reverse``."""
        by_name = {keyword.arg: keyword.value for keyword in keywords}
        if set(by_name) - {"key", "reverse"}:
            raise RefusedError("sorting with these arguments cannot be translated", node)
        target, value = self._key(by_name.get("key"))
        if target is None and "reverse" not in by_name:
            return ["builtin", "sorted", items]
        reverse = self.expression(by_name["reverse"], Use.READ) if "reverse" in by_name else ["const", False]
        return ["sorted", items, target, value, reverse]

    def _key(self, key: ast.expr | None) -> tuple[int | None, Json]:
        """A key function as the variable of an item and what is compared; None and None without a function."""
        if key is None or (isinstance(key, ast.Constant) and key.value is None):
            return None, None
        item = self.scope.fresh()
        return item, self._applied(key, [["local", item]])

    def _applied(self, function: ast.expr, arguments: list[Json], use: Use = Use.KEEP) -> Json:
        """The result of a function for variables."""
        result = self.inlined(function, arguments, use)
        if result is None:
            raise RefusedError("a function that is only known when it runs", function)
        return result

    def _mapped(self, value: Any, node: ast.Call) -> Json:
        """``map`` and ``filter`` as a comprehension."""
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            raise RefusedError(f"this call of {value.__name__}() cannot be translated", node)
        if len(node.args) < 2 or (value is filter and len(node.args) != 2):
            raise RefusedError(f"this call of {value.__name__}() cannot be translated", node)
        self.check_lazy(node.args[:1])
        items = self.expressions(node.args[1:], Use.ITERATE)
        numbers = [self.scope.fresh() for _ in items]
        variables = [["local", number] for number in numbers]
        iterable = items[0] if len(items) == 1 else ["builtin", "zip", *items]
        target: Json = numbers[0] if len(items) == 1 else numbers
        if value is map:
            return ["each", self._applied(node.args[0], variables), [[target, iterable, []]]]
        test = node.args[0]
        truth = isinstance(test, ast.Constant) and test.value is None
        condition = variables[0] if truth else self._applied(test, variables, Use.READ)
        return ["each", variables[0], [[target, iterable, [condition]]]]

    def _iterator(self, name: str, node: ast.Call) -> Json:
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            raise RefusedError(f"{name}() with * cannot be translated", node)
        if name == "zip":
            strict = keywords.pop("strict", None)
            if keywords or not (strict is None or (isinstance(strict, ast.Constant) and strict.value is False)):
                raise RefusedError("this call of zip() cannot be translated", node)
            return ["builtin", "zip", *self.expressions(node.args, Use.ITERATE)]
        if name == "reversed":
            if keywords or len(node.args) != 1:
                raise RefusedError("this call of reversed() cannot be translated", node)
            return ["builtin", "reversed", self.expression(node.args[0], Use.SIZED)]
        start = keywords.pop("start", None)
        if keywords or not node.args or len(node.args) + (start is not None) > 2:
            raise RefusedError("this call of enumerate() cannot be translated", node)
        first = [start] if start is not None else node.args[1:]
        return [
            "builtin",
            "enumerate",
            self.expression(node.args[0], Use.ITERATE),
            *self.expressions(first, Use.READ),
        ]

    def _getter(self, getter: Any, node: ast.Call) -> Json:
        """``itemgetter(1)(value)``, ``attrgetter("a.b")(value)``."""
        (value,) = self._plain(node, type(getter).__name__, 1)
        parts = [self._gotten(getter, key, value) for key in getter.__reduce__()[1]]
        return parts[0] if len(parts) == 1 else ["tuple", *parts]

    def _gotten(self, getter: Any, key: Any, value: Json) -> Json:
        if isinstance(getter, operator.itemgetter):
            return ["index", value, self.static_value(Static(key, "the key"), Use.KEEP, ast.Constant(key))]
        for name in key.split("."):
            value = ["attr", value, name]
        return value

    def _text_method(self, method: Any, node: ast.Call, use: Use) -> Json:
        """``str.lower(value)``: the value must be a text, as what a text is added to."""
        name = method.__name__
        signature = METHODS.get(name)
        if signature is None:
            raise RefusedError(f"str.{name}() is not a method that can be translated", node)
        receiver = ["add", ["const", ""], self.expression(node.args[0], Use.READ)]
        rest = ast.copy_location(ast.Call(node.func, node.args[1:], node.keywords), node)
        arguments = self.arguments(signature, rest, f"str.{name}()")
        return self._fitting(["method", name, receiver, *arguments], signature, use, node, f"str.{name}()")

    def _call_of_call(self, called: ast.Call, node: ast.Call, use: Use) -> Json:
        """``itemgetter(1)(value)``, written so."""
        static = self.scope.static(called.func)
        makers = (operator.itemgetter, operator.attrgetter)
        keys = [argument.value for argument in called.args if isinstance(argument, ast.Constant)]
        known = keys and len(keys) == len(called.args) and not called.keywords
        if known and static is not None and any(static.value is maker for maker in makers):
            return self._getter(static.value(*keys), node)
        raise RefusedError("calls what is only known when it runs", node)


def _is_bound(value: Any) -> bool:
    """Whether a callable is a method of an object or class that is written in Python."""
    return isinstance(value, MethodType) and isinstance(value.__func__, FunctionType)


def _lookup(value: Any) -> tuple[str, str, Signature] | None:
    """The kind, name and signature of a builtin or library function."""
    if not isinstance(value, _PLAIN):
        return None
    builtin = BUILTINS.get(value)
    library = LIBRARY.get(value)
    if builtin is not None:
        return "builtin", *builtin
    if library is not None:
        return "lib", *library
    return None
