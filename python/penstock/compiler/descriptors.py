"""The descriptors of states, as far as ``open`` shows them without being run: functions of reducing and aggregating
states.

A descriptor has its function: a lambda, a function, a method, an object, or the call of a class without arguments.
Native code begins in the task, when the function is open, and only if the state has the functions of these *marks*."""

from __future__ import annotations

import ast
from types import CodeType, FunctionType
from typing import Any

from penstock.common.functions.state_descriptor import (
    AggregatingStateDescriptor,
    ReducingStateDescriptor,
)
from penstock.compiler.names import Scope, Static, assigned_names
from penstock.compiler.program import RefusedError
from penstock.compiler.trees import Absence, ParsedFile, Trees

_DESCRIPTORS: dict[str, tuple[type, str]] = {
    "reducing": (ReducingStateDescriptor, "reduce_function"),
    "aggregating": (AggregatingStateDescriptor, "agg_function"),
}


class Opening:
    """``open`` of an object, and what its expressions are before it runs."""

    def __init__(
        self, owner: Any, function: FunctionType, tree: ast.FunctionDef, file: ParsedFile, trees: Trees
    ) -> None:
        itself = tree.args.args[0].arg if tree.args.args else ""
        statics = {itself: Static(owner, itself)}
        self._scope = Scope(function, file, trees, statics, assigned_names(tree))
        self._function, self._tree, self._trees = function, tree, trees

    def combining(self, node: ast.expr | None, kind: str) -> Any:
        """The function of the state for a descriptor, ``node``; None where it is not known."""
        cls, name = _DESCRIPTORS[kind]
        descriptor = self._descriptor(node)
        if descriptor is None or self._static(descriptor.func) is not cls:
            return None
        keywords = {keyword.arg: keyword.value for keyword in descriptor.keywords}
        argument = descriptor.args[1] if len(descriptor.args) > 1 else keywords.get(name)
        if argument is None or None in keywords or any(isinstance(part, ast.Starred) for part in descriptor.args):
            return None
        if isinstance(argument, ast.Lambda):
            return self._lambda(argument)
        if isinstance(argument, ast.Call) and not argument.args and not argument.keywords:
            return _instance(self._static(argument.func))
        return self._static(argument)

    def _descriptor(self, node: ast.expr | None) -> ast.Call | None:
        """The call that makes a descriptor: itself, or what a variable has that is assigned once."""
        if isinstance(node, ast.Name):
            stored = [part for part in ast.walk(self._tree) if isinstance(part, ast.Name) and part.id == node.id]
            stored = [part for part in stored if not isinstance(part.ctx, ast.Load)]
            assigned = [part for part in self._tree.body if isinstance(part, ast.Assign) and part.targets == stored]
            node = assigned[0].value if assigned else None
        return node if isinstance(node, ast.Call) else None

    def _static(self, node: ast.expr) -> Any:
        try:
            static = self._scope.static(node)
        except RefusedError:
            return None
        return None if static is None else static.value

    def _lambda(self, node: ast.Lambda) -> FunctionType | None:
        """The function of a lambda that uses no variables of ``open``."""
        for code in self._function.__code__.co_consts:
            if not isinstance(code, CodeType) or code.co_firstlineno != node.lineno or code.co_freevars:
                continue
            function = FunctionType(code, self._function.__globals__)
            tree = self._trees.of(function)
            defaults = node.args.defaults or node.args.kw_defaults
            if not isinstance(tree, Absence) and ast.dump(tree) == ast.dump(node) and not defaults:
                return function
        return None


def _instance(cls: Any) -> Any:
    """An object of a class whose constructor does nothing; None for another one."""
    if not isinstance(cls, type) or cls.__new__ is not object.__new__:
        return None
    constructor = next(base for base in cls.__mro__ if "__init__" in vars(base))
    ours = constructor.__module__.partition(".")[0] in ("builtins", "penstock", "abc", "typing")
    return object.__new__(cls) if ours else None
